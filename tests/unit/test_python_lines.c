/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of lines, written by hand after the documents that python_lines.h names. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "src/runtimes/python/python_lines.h"

#define FIRST 100

static void is(uint32_t minor, const char *table, size_t len, int64_t offset, int err, uint32_t want)
{
	uint32_t line = 0;

	assert_int_equal(python_line_of(minor, FIRST, (const uint8_t *)table, len, offset, &line), err);
	if (!err)
		assert_int_equal(line, want);
}

/* The example of lnotab_notes.txt: 0 1, 6 1, 44 5, 300 300 beyond what a byte holds, and a step back. */
static void up_to_3_9(void **state)
{
	static const char table[] = "\0\1\6\1\54\5\xff\0\1\x7f\0\x7f\0\x2e\x32\xfe";
	const size_t len = sizeof(table) - 1;

	(void)state;
	is(9, table, len, -1, 0, 100);
	is(9, table, len, 0, 0, 101);
	is(9, table, len, 5, 0, 101);
	is(8, table, len, 6, 0, 102);
	is(8, table, len, 49, 0, 102);
	is(9, table, len, 50, 0, 107);
	is(9, table, len, 305, 0, 107);
	is(9, table, len, 306, 0, 107 + 300);
	is(9, table, len, 356, 0, 107 + 298);
	is(9, table, len, 1 << 20, 0, 107 + 298);
	is(9, table, 0, 4, 0, 100);
	is(9, table, 1, 4, 0, 100);
}

static void in_3_10(void **state)
{
	static const char table[] = "\4\0\4\2\2\x80\6\xff\xfe\0\4\1";
	const size_t len = sizeof(table) - 1;

	(void)state;
	is(10, table, len, -2, 0, 100);
	is(10, table, len, 0, 0, 100);
	is(10, table, len, 4, 0, 102);
	is(10, table, len, 7, 0, 102);
	is(10, table, len, 8, -ENODATA, 0);
	is(10, table, len, 10, 0, 101);
	is(10, table, len, 16, 0, 101);
	is(10, table, len, 270, 0, 102);
	is(10, table, len, 274, -ESTALE, 0);
	is(10, table, 3, 4, -ESTALE, 0);
	is(10, table, 0, 0, -ESTALE, 0);
}

static void since_3_11(void **state)
{
	static const char table[] = {
		(char)(0x80 | 0 << 3 | 0), 0x11,		/* short: one unit, the line as it was */
		(char)(0x80 | 11 << 3 | 1), 0, 0,		/* one line on, 2 units */
		(char)(0x80 | 13 << 3 | 7), 0x40 | 0x10, 3,	/* +104, 8 units */
		(char)(0x80 | 15 << 3 | 0),			/* no line */
		(char)(0x80 | 14 << 3 | 0), 5, 0, 1, 1,		/* -2, with columns */
		(char)(0x80 | 12 << 3 | 0), 0, 0,		/* +2 */
	};
	const size_t len = sizeof(table);

	(void)state;
	is(11, table, len, -2, 0, 100);
	is(11, table, len, 0, 0, 100);
	is(12, table, len, 2, 0, 101);
	is(13, table, len, 5, 0, 101);
	is(14, table, len, 6, 0, 205);
	is(14, table, len, 21, 0, 205);
	is(14, table, len, 22, -ENODATA, 0);
	is(14, table, len, 24, 0, 203);
	is(14, table, len, 26, 0, 205);
	is(14, table, len, 28, -ESTALE, 0);
	is(14, table, 0, 0, -ESTALE, 0);
}

static void the_beginning_of_a_module_has_no_line(void **state)
{
	static const char table[] = { (char)(0x80 | 13 << 3 | 0), 0x40 | 9, 3 };	/* -100 */

	(void)state;
	is(12, table, sizeof(table), 0, -ENODATA, 0);
}

/* A number without an end, and tables that end in the middle of an entry. */
static void damaged_tables_end(void **state)
{
	static const char endless[] = { (char)(0x80 | 13 << 3), 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f };

	(void)state;
	for (size_t len = 1; len <= sizeof(endless); len++) {
		uint32_t line;

		int err = python_line_of(12, FIRST, (const uint8_t *)endless, len, 0, &line);

		assert_true(err == -ENODATA || (!err && (int32_t)line > 0));
		assert_int_equal(python_line_of(12, FIRST, (const uint8_t *)endless, len, 2, &line), -ESTALE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(up_to_3_9), cmocka_unit_test(in_3_10), cmocka_unit_test(since_3_11),
		cmocka_unit_test(the_beginning_of_a_module_has_no_line),
		cmocka_unit_test(damaged_tables_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
