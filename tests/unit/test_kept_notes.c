/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/kept_notes.h"

#undef fail
#include <cmocka.h>

static void test_in_order(void **state)
{
	char text[KEPT_NOTE_MAX];

	(void)state;
	assert_false(kept_note_take(text));
	note_kept("process %u is %s", 7, "late");
	note_kept("another one");
	assert_true(kept_note_take(text));
	assert_string_equal(text, "process 7 is late");
	note_kept("a third one");
	assert_true(kept_note_take(text));
	assert_string_equal(text, "another one");
	assert_true(kept_note_take(text));
	assert_string_equal(text, "a third one");
	assert_false(kept_note_take(text));
}

/* Too many are counted, and there is room again. */
static void test_too_many(void **state)
{
	char text[KEPT_NOTE_MAX];

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < KEPT_NOTES + 3; i++)
			note_kept("%u", i);
		for (unsigned i = 0; i < KEPT_NOTES; i++)
			assert_true(kept_note_take(text));
		assert_string_equal(text, "63");
		assert_true(kept_note_take(text));
		assert_string_equal(text, "3 more messages came too fast to be kept");
		assert_false(kept_note_take(text));
	}
}

static void test_long(void **state)
{
	char text[KEPT_NOTE_MAX], name[2 * KEPT_NOTE_MAX];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	note_kept("%s", name);
	assert_true(kept_note_take(text));
	assert_int_equal(strlen(text), KEPT_NOTE_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_long),
	};

	fail_set_verbosity(-1);		/* as with -q: not printed, but kept */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
