/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Offsets in CPython's structs. That they are right for real interpreters, tests/oracle/python_codes.sh and python_stacks.sh find
 * out; here: which versions there are, and what an interpreter may say of itself.
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/runtime.h"

static void rows_are_sound(void **state)
{
	struct python_layout l;

	(void)state;
	for (uint32_t minor = 0; minor < 40; minor++) {
		int known = minor >= 8 && minor <= 12;

		assert_int_equal(python_layout_of(minor, &l), known ? 0 : -ENOTSUP);
		if (known)
			assert_true(python_layout_is_sound(&l) && l.minor == minor);
	}
}

/* Says that the field in word i is at 8 * i. */
static void make_told(uint64_t v[PYTHON_OFFSETS_BYTES / 8], uint32_t version)
{
	for (size_t i = 0; i < PYTHON_OFFSETS_BYTES / 8; i++)
		v[i] = i * 8;
	memcpy(v, "xdebugpy", 8);
	v[1] = version;
}

static void told_offsets_are_taken(void **state)
{
	uint64_t v[PYTHON_OFFSETS_BYTES / 8];
	struct python_layout l;

	(void)state;
	make_told(v, 0x030d0000);
	assert_int_equal(python_layout_told(v, sizeof(v), &l), 0);
	assert_int_equal(l.minor, 13);
	assert_int_equal(l.interpreters_head, 40);	/* word 5: cookie, version, free_threaded, size, finalizing before it */
	assert_int_equal(l.thread_frame, 184);
	assert_int_equal(l.code_bytes, 344);
	make_told(v, 0x030e0af0);
	assert_int_equal(python_layout_told(v, sizeof(v), &l), 0);
	assert_int_equal(l.minor, 14);
	assert_int_equal(l.thread_frame, 208);
	assert_int_equal(l.code_bytes, 384);
}

/* What `probee doctor` says: the versions that the other tests here are of. */
static void what_is_said_to_be_known_is(void **state)
{
	char text[RUNTIME_KNOWN_BYTES];

	(void)state;
	runtime_known(EM_X86_64, text);
	assert_non_null(strstr(text, "python 3.8 to 3.14"));
	assert_non_null(strstr(text, ", ruby "));
	runtime_known(EM_AARCH64, text);
	assert_string_equal(text, "python 3.11");
}

static void what_cannot_be_is_refused(void **state)
{
	uint64_t v[PYTHON_OFFSETS_BYTES / 8];
	struct python_layout l;

	(void)state;
	make_told(v, 0x030f0000);
	assert_int_equal(python_layout_told(v, sizeof(v), &l), -ENOTSUP);
	make_told(v, 0x030c0000);
	assert_int_equal(python_layout_told(v, sizeof(v), &l), -ENOTSUP);
	make_told(v, 0x030d0000);
	assert_int_equal(python_layout_told(v, 15, &l), -EBADMSG);
	assert_int_equal(python_layout_told(v, 560, &l), -EBADMSG);
	v[23] = 1ull << 40;
	assert_int_equal(python_layout_told(v, sizeof(v), &l), -EBADMSG);
	make_told(v, 0x030d0000);
	v[29] = 4096;					/* a frame has no such field */
	assert_int_equal(python_layout_told(v, sizeof(v), &l), -EBADMSG);
	v[29] = 12;					/* not aligned */
	assert_int_equal(python_layout_told(v, sizeof(v), &l), -EBADMSG);
	make_told(v, 0x030d0000);
	memcpy(v, "xdebugpx", 8);
	assert_int_equal(python_layout_told(v, sizeof(v), &l), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sound), cmocka_unit_test(told_offsets_are_taken),
		cmocka_unit_test(what_is_said_to_be_known_is),
		cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
