/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units whose bytes were written by hand, whole and damaged; tests/oracle/lines_peers.sh has real ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/debug_info/die_units.h"
#include "src/debug_info/unit_reader.h"
#include "src/debug_info/unit_source.h"
#include "src/debug_info/unit_table.h"
#include "src/model/record.h"
#include "tests/unit/dwarf_fixture.h"
#include "tests/unit/split_fixture.h"

#define LATE (UINT64_MAX / 2)
#define MAX_PLACES 8

static const struct addr_range code = { 0x1000, 0x2000 };

static int read_wanted(struct dwarf_parts *d, const struct split_parts *split, const struct unit_wanted *wanted, uint64_t until_ns,
		       struct byte_buf *out)
{
	struct unit_source src = { .code = &code, .nr_code = 1, .until_ns = until_ns, .wanted = *wanted };
	struct die_units *us;
	int err = -ENOENT;

	assert_int_equal(die_units_new(&d->s, &us), 0);
	if (die_units_nr(us)) {
		src.number = die_units_entry(us, 0);
		err = unit_read(&src, us, split, out);
	}
	die_units_free(us);
	return err;
}

static int read_split(struct dwarf_parts *d, const struct split_parts *split, uint64_t until_ns, struct byte_buf *out)
{
	return read_wanted(d, split, &(struct unit_wanted){ 0 }, until_ns, out);
}

static int read_first(struct dwarf_parts *d, uint64_t until_ns, struct byte_buf *out)
{
	return read_split(d, NULL, until_ns, out);
}

static void check_place(const struct unit_place *p, const char *name, const char *file, uint32_t line)
{
	assert_string_equal(p->name ? p->name : "?", name);
	assert_string_equal(p->file ? p->file : "?", file);
	assert_int_equal(p->line, line);
}

static void check_outer(const struct unit_table *t, uint64_t addr, uint32_t line)
{
	struct unit_place v[MAX_PLACES];

	assert_int_equal(unit_table_find(t, addr, v, MAX_PLACES), 1);
	check_place(&v[0], "outer", "/d/a.c", line);
	assert_string_equal(v[0].decl_file, "/d/a.c");
	assert_int_equal(v[0].decl_line, 9);
	assert_int_equal(v[0].entry, DW_LO);
}

static void check_inner(const struct unit_table *t, uint64_t addr, uint32_t line)
{
	struct unit_place v[MAX_PLACES];

	assert_int_equal(unit_table_find(t, addr, v, MAX_PLACES), 2);
	check_place(&v[0], "_Z5innerv", "/d/inc/b.h", line);
	assert_string_equal(v[0].decl_file, "/d/inc/b.h");
	assert_int_equal(v[0].decl_line, 4);
	check_place(&v[1], "outer", "/d/a.c", 12);
	assert_int_equal(v[1].column, 3);
}

static void check_program(const struct byte_buf *b)
{
	struct unit_place v[MAX_PLACES];
	struct unit_table t;

	assert_int_equal(unit_table_open(b->v, b->nr, &t), 0);
	assert_int_equal(t.head->lang, LANG_CXX);
	check_outer(&t, 0x1000, 10);
	check_outer(&t, 0x100f, 10);
	check_inner(&t, 0x1010, 5);
	check_inner(&t, 0x1017, 5);
	check_outer(&t, 0x1018, 13);
	check_inner(&t, 0x1023, 6);
	check_outer(&t, 0x1024, 14);
	check_outer(&t, 0x103f, 14);
	assert_int_equal(unit_table_find(&t, 0x1040, v, MAX_PLACES), 1);
	check_place(&v[0], "?", "/d/a.c", 20);
	assert_int_equal(unit_table_find(&t, 0x1050, v, MAX_PLACES), 0);
	assert_int_equal(unit_table_find(&t, 0xfff, v, MAX_PLACES), 0);
}

static void test_versions(void **state)
{
	struct byte_buf out = { 0 };
	struct dwarf_parts d;

	(void)state;
	for (unsigned version = 2; version <= 5; version++) {
		dw_program(&d, version);
		out.nr = 0;
		assert_int_equal(read_first(&d, LATE, &out), 0);
		check_program(&out);
		dw_release(&d);
	}
	bb_release(&out);
}

/* Lines count where the unit has code, and nothing is known of the line behind it. */
static void test_code_of_unit(void **state)
{
	struct byte_buf out = { 0 };
	struct unit_place v[MAX_PLACES];
	struct unit_table t;
	struct dwarf_parts d;

	(void)state;
	dw_program(&d, 4);
	dw_set32(&d.part[DEBUG_INFO], d.size_at, 0x20);
	dw_sections(&d, NR_DEBUG_PARTS, 0);
	assert_int_equal(read_first(&d, LATE, &out), 0);
	assert_int_equal(unit_table_open(out.v, out.nr, &t), 0);
	check_outer(&t, 0x1018, 13);
	assert_int_equal(unit_table_find(&t, 0x1030, v, MAX_PLACES), 1);
	check_place(&v[0], "outer", "?", 0);
	assert_int_equal(unit_table_find(&t, 0x1040, v, MAX_PLACES), 0);
	dw_release(&d);
	bb_release(&out);
}

/* Sections that end early: an error or a smaller table, and nothing is read behind them. */
static void test_cut(void **state)
{
	struct byte_buf out = { 0 };
	struct unit_table t;
	struct dwarf_parts d;

	(void)state;
	for (unsigned version = 4; version <= 5; version++) {
		dw_program(&d, version);
		for (unsigned i = 0; i < NR_DEBUG_PARTS; i++)
			for (size_t len = 0; len < d.part[i].nr; len++) {
				out.nr = 0;
				dw_sections(&d, i, len);
				if (!read_first(&d, LATE, &out))
					assert_int_equal(unit_table_open(out.v, out.nr, &t), 0);
				else
					assert_int_equal(out.nr, 0);
			}
		dw_release(&d);
	}
	bb_release(&out);
}

/* Each byte of each section is another one. */
static void test_damaged(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct byte_buf out = { 0 };
	struct unit_table t;
	struct dwarf_parts d;

	(void)state;
	dw_program(&d, 5);
	for (unsigned i = 0; i < NR_DEBUG_PARTS; i++)
		for (size_t at = 0; at < d.part[i].nr; at++) {
			uint8_t *x = &d.part[i].v[at], before = *x;

			for (size_t k = 0; k < sizeof(values); k++) {
				out.nr = 0;
				*x = values[k];
				dw_sections(&d, NR_DEBUG_PARTS, 0);
				if (!read_first(&d, LATE, &out))
					assert_int_equal(unit_table_open(out.v, out.nr, &t), 0);
			}
			*x = before;
		}
	dw_release(&d);
	bb_release(&out);
}

/* A function that is its own origin, and one that is made of the other: the chain has an end. */
static void test_cycles(void **state)
{
	struct byte_buf out = { 0 }, *info;
	struct unit_place v[MAX_PLACES];
	struct unit_table t;
	struct dwarf_parts d;

	(void)state;
	dw_program(&d, 5);
	info = &d.part[DEBUG_INFO];
	dw_set32(info, d.inner + 1, d.inner);
	dw_sections(&d, NR_DEBUG_PARTS, 0);
	assert_int_equal(read_first(&d, LATE, &out), 0);
	assert_int_equal(unit_table_open(out.v, out.nr, &t), 0);
	assert_int_equal(unit_table_find(&t, 0x1010, v, MAX_PLACES), 2);
	check_place(&v[0], "_Z5innerv", "/d/inc/b.h", 5);
	assert_null(v[0].decl_file);
	dw_release(&d);
	bb_release(&out);
}

/* Siblings are followed forward only: one that leads back would make a loop. */
static void test_sibling_back(void **state)
{
	struct byte_buf out = { 0 }, *info;
	struct dwarf_parts d;
	size_t at = 0;

	(void)state;
	dw_program(&d, 4);
	info = &d.part[DEBUG_INFO];
	while (info->v[at] != DW_NOT_READ)
		at++;
	dw_set32(info, at - 6, d.inner);
	info->v[at] = 0;
	dw_sections(&d, NR_DEBUG_PARTS, 0);
	assert_int_equal(read_first(&d, LATE, &out), 0);
	check_program(&out);
	dw_release(&d);
	bb_release(&out);
}

/* A unit of 100,000 entries in each other, and one with as many side by side. */
static void test_depth_and_time(void **state)
{
	struct byte_buf out = { 0 }, *info;
	struct dwarf_parts d;

	(void)state;
	for (unsigned code_of = 7; code_of <= 8; code_of++) {
		dw_program(&d, 4);
		info = &d.part[DEBUG_INFO];
		info->nr--;
		for (unsigned i = 0; i < 100000; i++) {
			bb_u8(info, (uint8_t)code_of);
			bb_fixed(info, 0, code_of == 7 ? 1 : 4);
		}
		dw_end(&d, DEBUG_LINE);
		dw_set32(info, 0, (uint32_t)info->nr - 4);
		dw_sections(&d, NR_DEBUG_PARTS, 0);
		out.nr = 0;
		assert_int_equal(read_first(&d, LATE, &out), 0);
		check_program(&out);
		out.nr = 0;
		assert_int_equal(read_first(&d, 0, &out), -ETIMEDOUT);
		assert_int_equal(out.nr, 0);
		dw_release(&d);
	}
	bb_release(&out);
}

/* ---- split units ---- */

static void test_split(void **state)
{
	struct byte_buf out = { 0 };
	struct split_program p;

	(void)state;
	for (unsigned version = 4; version <= 5; version++) {
		sp_program(&p, version);
		out.nr = 0;
		assert_int_equal(read_split(&p.main, &p.parts, LATE, &out), 0);
		check_program(&out);
		sp_package(&p, version);
		out.nr = 0;
		assert_int_equal(read_split(&p.main, &p.parts, LATE, &out), 0);
		check_program(&out);
		sp_release(&p);
	}
	bb_release(&out);
}

/* Without the other half, or with that of another unit, the lines are all that is known. */
static void test_split_alone(void **state)
{
	struct byte_buf out = { 0 }, other = { 0 };
	struct unit_place v[MAX_PLACES];
	struct split_program p, q;
	struct unit_table t;

	(void)state;
	sp_program(&p, 5);
	assert_int_equal(read_first(&p.main, LATE, &out), 0);
	assert_int_equal(unit_table_open(out.v, out.nr, &t), 0);
	assert_int_equal(unit_table_find(&t, 0x1010, v, MAX_PLACES), 1);
	check_place(&v[0], "?", "/d/inc/b.h", 5);
	sp_program(&q, 5);
	q.main.part[DEBUG_INFO].v[12] ^= 1;	/* its id */
	sp_parts(&q);
	assert_int_equal(read_split(&q.main, &q.parts, LATE, &other), 0);
	assert_int_equal(other.nr, out.nr);
	assert_memory_equal(other.v, out.v, out.nr);
	sp_release(&p);
	sp_release(&q);
	bb_release(&out);
	bb_release(&other);
}

/* gcc makes a section of its own for each type. */
static void test_split_sections(void **state)
{
	struct debug_bytes infos[3];
	struct byte_buf out = { 0 };
	struct split_program p;
	size_t types;

	(void)state;
	sp_program(&p, 5);
	infos[0] = p.dwo.s.part[DEBUG_INFO];
	types = 4 + infos[0].v[0];
	infos[2] = (struct debug_bytes){ infos[0].v + types, infos[0].len - types };
	infos[1] = (struct debug_bytes){ NULL, 0 };
	infos[0].len = types;
	p.parts.s.part[DEBUG_INFO] = infos[0];
	p.parts.infos = infos;
	p.parts.nr_infos = 3;
	assert_int_equal(read_split(&p.main, &p.parts, LATE, &out), 0);
	check_program(&out);
	sp_release(&p);
	bb_release(&out);
}

/* As test_cut() and test_damaged(), of both files and the index. */
static void read_damaged(struct split_program *p, struct byte_buf *b, struct byte_buf *out)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0xff };
	struct unit_table t;

	for (size_t at = 0; at < b->nr; at++)
		for (size_t k = 0; k <= sizeof(values); k++) {
			struct debug_bytes index = p->parts.index;
			uint8_t before = b->v[at];
			size_t len = b->nr;

			if (k < sizeof(values))
				b->v[at] = values[k];
			else
				b->nr = at;
			sp_parts(p);
			p->parts.index = index;
			out->nr = 0;
			if (!read_split(&p->main, &p->parts, LATE, out))
				assert_int_equal(unit_table_open(out->v, out->nr, &t), 0);
			b->v[at] = before;
			b->nr = len;
		}
}

static void test_split_damaged(void **state)
{
	struct byte_buf out = { 0 };
	struct split_program p;

	(void)state;
	for (unsigned version = 4; version <= 5; version++) {
		sp_program(&p, version);
		sp_package(&p, version);
		for (unsigned i = 0; i < NR_DEBUG_PARTS; i++) {
			read_damaged(&p, &p.main.part[i], &out);
			read_damaged(&p, &p.dwo.part[i], &out);
		}
		read_damaged(&p, &p.index, &out);
		sp_release(&p);
	}
	bb_release(&out);
}

/* ---- partial tables ---- */

/* Both tables know the same of an address. */
static void check_same(const struct unit_table *whole, const struct unit_table *part, uint64_t addr)
{
	struct unit_place v[MAX_PLACES], w[MAX_PLACES];
	size_t nr = unit_table_find(whole, addr, v, MAX_PLACES);

	assert_int_equal(unit_table_find(part, addr, w, MAX_PLACES), nr);
	for (size_t i = 0; i < nr; i++) {
		check_place(&w[i], v[i].name ? v[i].name : "?", v[i].file ? v[i].file : "?", v[i].line);
		assert_int_equal(w[i].column, v[i].column);
		assert_int_equal(w[i].entry, v[i].entry);
	}
}

/* For one or two wanted addresses anywhere: they are covered, and what is covered is as in the whole table. */
static void check_partial(struct dwarf_parts *d, const struct split_parts *split, uint64_t a, uint64_t b, const struct unit_table *whole)
{
	const uint64_t v[] = { a, b };
	struct byte_buf out = { 0 };
	struct unit_table part;

	assert_int_equal(read_wanted(d, split, &(struct unit_wanted){ v, 2, 1 }, LATE, &out), 0);
	assert_int_equal(unit_table_open(out.v, out.nr, &part), 0);
	assert_int_equal(part.head->nr_partial, 1);
	assert_true(unit_table_covers(&part, a) && unit_table_covers(&part, b));
	for (uint64_t addr = 0xff0; addr < 0x1060; addr++)
		if (unit_table_covers(&part, addr))
			check_same(whole, &part, addr);
	bb_release(&out);
}

static void test_partial(void **state)
{
	struct byte_buf whole = { 0 };
	struct split_program p;
	struct unit_table t;
	struct dwarf_parts d;

	(void)state;
	dw_program(&d, 4);
	sp_program(&p, 5);
	for (unsigned k = 0; k < 2; k++) {
		struct dwarf_parts *of = k ? &p.main : &d;
		const struct split_parts *split = k ? &p.parts : NULL;

		whole.nr = 0;
		assert_int_equal(read_split(of, split, LATE, &whole), 0);
		assert_int_equal(unit_table_open(whole.v, whole.nr, &t), 0);
		for (uint64_t a = 0xff0; a < 0x1060; a += 4)
			for (uint64_t b = a; b < 0x1060; b += 8)
				check_partial(of, split, a, b, &t);
	}
	dw_release(&d);
	sp_release(&p);
	bb_release(&whole);
}

/* What is not wanted is not there: neither inner(), beneath a line of outer(), nor outer() for what is behind it. */
static void test_partial_leaves_out(void **state)
{
	static const uint64_t in_outer[] = { 0x1000 }, behind[] = { 0x1044 };
	struct byte_buf out = { 0 };
	struct unit_table t;
	struct dwarf_parts d;

	(void)state;
	dw_program(&d, 5);
	assert_int_equal(read_wanted(&d, NULL, &(struct unit_wanted){ in_outer, 1, 1 }, LATE, &out), 0);
	assert_int_equal(unit_table_open(out.v, out.nr, &t), 0);
	assert_int_equal(t.head->nr_nodes, 1);
	assert_true(unit_table_covers(&t, 0x1018) && !unit_table_covers(&t, 0x1010) && !unit_table_covers(&t, 0x1040));
	out.nr = 0;
	assert_int_equal(read_wanted(&d, NULL, &(struct unit_wanted){ behind, 1, 1 }, LATE, &out), 0);
	assert_int_equal(unit_table_open(out.v, out.nr, &t), 0);
	assert_int_equal(t.head->nr_nodes, 0);
	assert_true(unit_table_covers(&t, 0x104f) && !unit_table_covers(&t, 0x103f));
	dw_release(&d);
	bb_release(&out);
}

/* Versions that are unknown. */
static void test_not_supported(void **state)
{
	struct byte_buf out = { 0 };
	struct dwarf_parts d;

	(void)state;
	dw_program(&d, 4);
	d.part[DEBUG_INFO].v[4] = 6;
	dw_sections(&d, NR_DEBUG_PARTS, 0);
	assert_int_equal(read_first(&d, LATE, &out), -ENOTSUP);
	d.part[DEBUG_INFO].v[4] = 4;
	d.part[DEBUG_INFO].v[10] = 2;		/* bytes of an address */
	dw_sections(&d, NR_DEBUG_PARTS, 0);
	assert_int_equal(read_first(&d, LATE, &out), -ENOTSUP);
	dw_release(&d);
}

struct ranges {
	struct addr_range v[8];
	size_t nr;
};

static int put(void *ctx, uint64_t lo, uint64_t hi)
{
	struct ranges *r = ctx;

	assert_true(r->nr < 8);
	r->v[r->nr++] = (struct addr_range){ lo, hi };
	return 0;
}

/* DWARF 2 has no word for code in several places, so its sequences of lines count. */
static void test_code(void **state)
{
	struct unit_source src = { .code = &code, .nr_code = 1, .until_ns = LATE };

	(void)state;
	for (unsigned version = 2; version <= 5; version++) {
		struct ranges r = { .nr = 0 };
		struct dwarf_parts d;
		struct die_units *us;

		dw_program(&d, version);
		assert_int_equal(die_units_new(&d.s, &us), 0);
		src.number = die_units_entry(us, 0);
		assert_int_equal(unit_read_code(&src, us, put, &r), 0);
		assert_int_equal(r.v[0].lo, 0x1000);
		assert_int_equal(r.v[r.nr - 1].hi, 0x1050);
		if (version == 2)
			assert_true(r.nr >= 2);
		else
			assert_int_equal(r.nr, 1);
		die_units_free(us);
		dw_release(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_code_of_unit),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_sibling_back),
		cmocka_unit_test(test_depth_and_time),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_alone),
		cmocka_unit_test(test_split_sections),
		cmocka_unit_test(test_split_damaged),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_partial_leaves_out),
		cmocka_unit_test(test_not_supported),
		cmocka_unit_test(test_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
