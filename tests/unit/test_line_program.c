/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line programs written by hand: the order of their sequences, their opcodes, their files, and damage. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/debug_info/die_units.h"
#include "src/debug_info/line_program.h"
#include "src/debug_info/unit_table.h"
#include "src/debug_info/work_limit.h"
#include "tests/unit/dwarf_fixture.h"

static struct work_limit late = { .until_ns = UINT64_MAX / 2 };

struct world {
	struct dwarf_parts d;
	struct die_units *us;
	struct line_rows rows;
};

/* Begins a program whose opcodes are still to be written. */
static struct byte_buf *begin(struct world *w, unsigned version)
{
	struct byte_buf *b = &w->d.part[DEBUG_LINE];

	memset(w, 0, sizeof(*w));
	dw_program(&w->d, version);
	b->nr = 0;
	dw_line_header(&w->d, version);
	return b;
}

static struct line_program *open_program(struct world *w)
{
	const struct die_unit *u;
	int err;

	dw_sections(&w->d, NR_DEBUG_PARTS, 0);
	assert_int_equal(die_units_new(&w->d.s, &w->us), 0);
	u = die_units_open(w->us, die_units_entry(w->us, 0), &late, &err);
	assert_non_null(u);
	return die_units_lines(w->us, u, &late);
}

static int run(struct world *w, uint64_t from)
{
	struct line_program *p;

	dw_end(&w->d, DEBUG_LINE);
	p = open_program(w);
	assert_non_null(p);
	return line_program_run(p, from, NULL, &w->rows, &late);
}

static void end(struct world *w)
{
	die_units_free(w->us);
	free(w->rows.v);
	dw_release(&w->d);
}

/* rows: { address, line }, line 0: the end of a sequence. */
static void check_rows(const struct world *w, const uint64_t (*rows)[2], size_t nr)
{
	assert_int_equal(w->rows.nr, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(w->rows.v[i].addr, rows[i][0]);
		assert_int_equal(w->rows.v[i].is_end, !rows[i][1]);
		if (rows[i][1])
			assert_int_equal(w->rows.v[i].line >> UNIT_COLUMN_BITS, rows[i][1]);
	}
}
#define CHECK_ROWS(w, ...)                                                                          \
	do {                                                                                        \
		static const uint64_t rows[][2] = { __VA_ARGS__ };                                  \
		check_rows(w, rows, sizeof(rows) / sizeof(rows[0]));                                \
	} while (0)

/* A sequence at addr: rows of lines from line on, 4 bytes apart. */
static void sequence(struct byte_buf *b, uint64_t addr, int line, unsigned nr)
{
	dw_set_address(b, addr);
	bb_u8(b, DW_LNS_advance_line);
	bb_u8(b, (uint8_t)(line - 1));
	bb_u8(b, DW_LNS_copy);
	for (unsigned i = 1; i < nr; i++)
		dw_special(b, 4, 1);
	dw_end_sequence(b, 4);
}

static void test_apart(void **state)
{
	struct world w;
	struct byte_buf *b = begin(&w, 4);

	(void)state;
	sequence(b, 0x2000, 20, 2);
	sequence(b, 0x1000, 10, 2);
	sequence(b, 0x1008, 30, 1);
	assert_int_equal(run(&w, 0), 0);
	CHECK_ROWS(&w, { 0x1000, 10 }, { 0x1004, 11 }, { 0x1008, 0 }, { 0x1008, 30 }, { 0x100c, 0 }, { 0x2000, 20 },
		   { 0x2004, 21 }, { 0x2008, 0 });
	end(&w);
}

static void test_overlap(void **state)
{
	struct world w;
	struct byte_buf *b = begin(&w, 4);

	(void)state;
	sequence(b, 0x1002, 20, 2);
	sequence(b, 0x1000, 10, 3);
	assert_int_equal(run(&w, 0), 0);
	CHECK_ROWS(&w, { 0x1000, 10 }, { 0x1002, 20 }, { 0x1004, 11 }, { 0x1006, 21 }, { 0x1008, 12 }, { 0x100a, 0 },
		   { 0x100c, 0 });
	end(&w);
}

/* An end at the address of the last row stands before it, as it does where all rows are sorted. */
static void test_empty_end(void **state)
{
	struct world w;
	struct byte_buf *b = begin(&w, 4);

	(void)state;
	dw_set_address(b, 0x1000);
	bb_u8(b, DW_LNS_copy);
	dw_special(b, 4, 1);
	dw_special(b, 0, 1);
	dw_end_sequence(b, 0);
	sequence(b, 0x1004, 9, 1);
	assert_int_equal(run(&w, 0), 0);
	CHECK_ROWS(&w, { 0x1000, 1 }, { 0x1004, 0 }, { 0x1004, 2 }, { 0x1004, 3 }, { 0x1004, 9 }, { 0x1008, 0 });
	end(&w);
}

/* What the linker has thrown away, and a row behind the last end. */
static void test_left_out(void **state)
{
	struct world w;
	struct byte_buf *b = begin(&w, 4);

	(void)state;
	sequence(b, 0, 20, 2);
	sequence(b, 0x1000, 10, 1);
	sequence(b, 0x10, 30, 1);
	dw_set_address(b, 0x3000);
	bb_u8(b, DW_LNS_copy);
	assert_int_equal(run(&w, 0x800), 0);
	CHECK_ROWS(&w, { 0x1000, 10 }, { 0x1004, 0 }, { 0x3000, 0 });
	end(&w);
}

/* Rows that go back within a sequence are sorted. */
static void test_backward(void **state)
{
	struct world w;
	struct byte_buf *b = begin(&w, 3);

	(void)state;
	dw_set_address(b, 0x1010);
	dw_special(b, 0, 1);
	dw_set_address(b, 0x1000);
	dw_special(b, 0, 1);
	dw_end_sequence(b, 0x20);
	assert_int_equal(run(&w, 0), 0);
	CHECK_ROWS(&w, { 0x1000, 3 }, { 0x1010, 2 }, { 0x1020, 0 });
	end(&w);
}

static void test_columns_and_unknown_opcodes(void **state)
{
	struct world w;
	struct byte_buf *b = begin(&w, 5);

	(void)state;
	dw_set_address(b, 0x1000);
	DW_NUMBERS(b, DW_LNS_set_column, 300, DW_LNS_set_isa, 200, DW_LNS_set_basic_block, DW_LNS_set_prologue_end);
	bb_bytes(b, "\0\3\x80zz", 5);
	bb_u8(b, DW_LNS_const_add_pc);
	bb_u8(b, DW_LNS_copy);
	dw_end_sequence(b, 1);
	assert_int_equal(run(&w, 0), 0);
	CHECK_ROWS(&w, { 0x1014, 1 }, { 0x1015, 0 });
	assert_int_equal(w.rows.v[0].line, unit_line(1, 300));
	end(&w);
}

static void check_path(const struct line_program *p, uint64_t file, const char *want)
{
	char buf[LINE_PATH_BYTES];
	const char *path = line_program_path(p, file, buf);

	assert_string_equal(path ? path : "none", want);
}

static void test_paths(void **state)
{
	struct line_program *p;
	struct world w;

	(void)state;
	for (unsigned version = 2; version <= 5; version++) {
		begin(&w, version);
		dw_end(&w.d, DEBUG_LINE);
		p = open_program(&w);
		assert_int_equal(line_program_nr_files(p), 3);
		check_path(p, 0, version == 5 ? "/d/a.c" : "none");
		check_path(p, 1, "/d/a.c");
		check_path(p, 2, "inc/b.h");
		check_path(p, 3, "none");
		check_path(p, UINT64_MAX, "none");
		end(&w);
	}
}

/* A program that is cut has no rows; so has one that steps by special opcodes of no range. */
static void test_damage(void **state)
{
	struct world w;
	struct byte_buf *b = begin(&w, 4);

	(void)state;
	sequence(b, 0x1000, 10, 1);
	bb_bytes(b, "\0\x09\x02", 3);
	assert_int_equal(run(&w, 0), -EBADMSG);
	end(&w);
	b = begin(&w, 4);
	b->v[14] = 0;			/* the range */
	dw_special(b, 0, 1);
	assert_int_equal(run(&w, 0), -EBADMSG);
	end(&w);
}

static void test_no_time(void **state)
{
	struct work_limit none = { .until_ns = 0 };
	struct world w;
	struct byte_buf *b = begin(&w, 4);

	(void)state;
	for (unsigned i = 0; i < 5000; i++)
		bb_u8(b, DW_LNS_negate_stmt);
	dw_end(&w.d, DEBUG_LINE);
	assert_int_equal(line_program_run(open_program(&w), 0, NULL, &w.rows, &none), -ETIMEDOUT);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_empty_end),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_backward),
		cmocka_unit_test(test_columns_and_unknown_opcodes),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
