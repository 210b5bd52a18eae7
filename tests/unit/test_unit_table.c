/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/debug_info/debug_index.h"
#include "src/debug_info/unit_table.h"

/* main() at 0x1000, in which max() is inlined at a.c:31, in which min() is inlined at util.h:7. */
struct made {
	struct unit_head head;
	struct unit_segment segments[4];
	struct unit_node nodes[3];
	struct unit_func funcs[3];
	char text[32];
};

enum { NAME_MAIN = 1, NAME_MAX = 6, NAME_MIN = 10, FILE_A = 14, FILE_UTIL = 18 };

static const struct made good = {
	.head = { .base = 0x1000, .nr_segments = 4, .nr_nodes = 3, .nr_funcs = 3, .text_len = 32 },
	.segments = { { 0, 30 << UNIT_COLUMN_BITS | 5, FILE_A, 0 },
		      { 0x10, 7 << UNIT_COLUMN_BITS, FILE_UTIL, 1 },
		      { 0x14, 9 << UNIT_COLUMN_BITS, FILE_UTIL, 2 },
		      { 0x20, 0, UNIT_NONE, UNIT_NONE } },
	.nodes = { { UNIT_NONE, 0, 0, UNIT_NONE, 0 },
		   { 0, 1, 31 << UNIT_COLUMN_BITS | 3, FILE_A, UNIT_NONE },
		   { 1, 2, 7 << UNIT_COLUMN_BITS, FILE_UTIL, UNIT_NONE } },
	.funcs = { { NAME_MAIN, FILE_A, 29 }, { NAME_MAX, FILE_UTIL, 5 }, { NAME_MIN, FILE_UTIL, 8 } },
	.text = "\0main\0max\0min\0a.c\0util.h",
};

static size_t find(const struct made *m, uint64_t addr, struct unit_place *v, size_t max)
{
	struct unit_table t;

	assert_int_equal(unit_table_open(m, sizeof(*m), &t), 0);
	return unit_table_find(&t, addr, v, max);
}

static void test_chains(void **state)
{
	struct unit_place v[4];

	(void)state;
	assert_int_equal(find(&good, 0xfff, v, 4), 0);
	assert_int_equal(find(&good, 0x1000, v, 4), 1);
	assert_string_equal(v[0].name, "main");
	assert_string_equal(v[0].file, "a.c");
	assert_int_equal(v[0].line, 30);
	assert_int_equal(v[0].column, 5);
	assert_int_equal(v[0].decl_line, 29);
	assert_int_equal(v[0].entry, 0x1000);
	assert_int_equal(find(&good, 0x101f, v, 4), 3);
	assert_string_equal(v[0].name, "min");
	assert_int_equal(v[0].line, 9);
	assert_string_equal(v[1].name, "max");
	assert_int_equal(v[1].line, 7);
	assert_string_equal(v[2].name, "main");
	assert_string_equal(v[2].file, "a.c");
	assert_int_equal(v[2].line, 31);
	assert_int_equal(v[2].column, 3);
	assert_int_equal(find(&good, 0x1020, v, 4), 0);
	assert_int_equal(find(&good, UINT64_MAX, v, 4), 0);
}

/* The outermost function is never left out, and its line is that of the call in it. */
static void test_fewer_places(void **state)
{
	struct unit_place v[2];

	(void)state;
	assert_int_equal(find(&good, 0x1014, v, 1), 1);
	assert_string_equal(v[0].name, "main");
	assert_int_equal(v[0].line, 31);
	assert_int_equal(find(&good, 0x1014, v, 2), 2);
	assert_string_equal(v[0].name, "min");
	assert_string_equal(v[1].name, "main");
	assert_int_equal(find(&good, 0x1014, v, 0), 0);
}

static void test_damage(void **state)
{
	struct unit_table t;
	struct unit_place v[4];
	struct made m = good;

	(void)state;
	assert_int_not_equal(unit_table_open(&m, sizeof(m) - 1, &t), 0);
	assert_int_not_equal(unit_table_open(&m, 8, &t), 0);
	m.head.nr_nodes = UINT32_MAX;
	assert_int_not_equal(unit_table_open(&m, sizeof(m), &t), 0);
	m = good;
	m.text[31] = 'x';
	assert_int_not_equal(unit_table_open(&m, sizeof(m), &t), 0);
	m = good;
	m.nodes[1].parent = 2;		/* a chain without an end */
	assert_int_equal(find(&m, 0x1014, v, 4), 2);
	m.nodes[2].parent = 2;
	assert_int_equal(find(&m, 0x1014, v, 4), 1);
	m = good;
	m.segments[2].node = 77;
	assert_int_equal(find(&m, 0x1014, v, 4), 1);
	assert_null(v[0].name);
	m = good;
	m.funcs[2].name = 32;
	m.segments[2].file = 4000000000;
	assert_int_equal(find(&m, 0x1014, v, 4), 3);
	assert_null(v[0].name);
	assert_null(v[0].file);
	m.nodes[2].func = 3;
	assert_int_equal(find(&m, 0x1014, v, 4), 3);
}

static void test_lines_that_do_not_fit(void **state)
{
	(void)state;
	assert_int_equal(unit_line(1 << 22, 1), 0);
	assert_int_equal(unit_line((1 << 22) - 1, 1024), ((1u << 22) - 1) << UNIT_COLUMN_BITS);
	assert_int_equal(unit_line(3, 1023), 3 << UNIT_COLUMN_BITS | 1023);
}

static void test_index(void **state)
{
	struct index_range v[] = { { 50, 60, 3 }, { 10, 40, 1 }, { 20, 25, 2 } };
	struct byte_buf b = { 0 };
	struct debug_index ix;
	uint64_t unit = 0;

	(void)state;
	assert_int_equal(debug_index_make(v, 3, &b), 0);
	assert_int_not_equal(debug_index_open(b.v, b.nr - 1, &ix), 0);
	assert_int_equal(debug_index_open(b.v, b.nr, &ix), 0);
	assert_int_not_equal(debug_index_find(&ix, 9, &unit), 0);
	assert_int_equal(debug_index_find(&ix, 24, &unit), 0);
	assert_int_equal(unit, 2);
	assert_int_equal(debug_index_find(&ix, 25, &unit), 0);
	assert_int_equal(unit, 1);
	assert_int_not_equal(debug_index_find(&ix, 40, &unit), 0);
	assert_int_equal(debug_index_find(&ix, 59, &unit), 0);
	assert_int_equal(unit, 3);
	assert_int_not_equal(debug_index_find(&ix, 60, &unit), 0);
	bb_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_fewer_places),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_lines_that_do_not_fit),
		cmocka_unit_test(test_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
