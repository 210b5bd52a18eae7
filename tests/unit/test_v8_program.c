/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frame programs of V8 are sound for all versions that are known, and no other version is taken for one of these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/runtimes/v8/v8_program.h"

static void all_versions_have_a_program(void **state)
{
	static const uint8_t versions[][2] = { { 10, 2 }, { 11, 3 }, { 12, 4 }, { 13, 6 } };
	static struct frame_program program;
	uint32_t nr;

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct v8_layout l;

		assert_int_equal(v8_layout_of(versions[i][0], versions[i][1], &l), 0);
		assert_true(v8_layout_is_sound(&l));
		assert_int_equal(v8_program(&l, &program), 0);
		assert_in_range(program.nr, 60, PROGRAM_MAX_OPS);
		nr = program.nr;
		/* With copies of the builtin that enters the interpreter: the type is that of a build. */
		l.type_interpreter = 160;
		assert_true(v8_layout_is_sound(&l));
		assert_int_equal(v8_program(&l, &program), 0);
		assert_in_range(program.nr, nr + 1, PROGRAM_MAX_OPS);
	}
}

static void other_versions_have_none(void **state)
{
	struct v8_layout l;

	(void)state;
	assert_int_equal(v8_layout_of(10, 3, &l), -ENOTSUP);
	assert_int_equal(v8_layout_of(11, 2, &l), -ENOTSUP);
	assert_int_equal(v8_layout_of(0, 0, &l), -ENOTSUP);
}

static void far_offsets_are_refused(void **state)
{
	struct v8_layout l;

	(void)state;
	assert_int_equal(v8_layout_of(11, 3, &l), 0);
	l.stream_header = 4096;
	assert_false(v8_layout_is_sound(&l));
	assert_int_equal(v8_layout_of(11, 3, &l), 0);
	l.nr_bytecodes = V8_MAX_BYTECODES + 1;
	assert_false(v8_layout_is_sound(&l));
}

static void cookies_tell_functions_apart(void **state)
{
	(void)state;
	assert_int_not_equal(v8_cookie(1, 2), v8_cookie(2, 1));
	assert_int_not_equal(v8_cookie(1, 2), v8_cookie(1, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_versions_have_a_program),
		cmocka_unit_test(other_versions_have_none),
		cmocka_unit_test(far_offsets_are_refused),
		cmocka_unit_test(cookies_tell_functions_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
