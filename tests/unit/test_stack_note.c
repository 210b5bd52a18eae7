/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "src/profile/stack_note.h"
#include "src/report/stack_cause.h"

static void shown_is(const char *name, const char *wanted)
{
	char buf[STACK_NOTE_MAX];

	assert_int_equal(stack_note_shown(name, strlen(name), buf), strlen(wanted));
	if (*wanted)
		assert_string_equal(buf, wanted);
}

static void test_words(void **state)
{
	(void)state;
	shown_is("[truncated: no-fde]", "[cut: no unwind table for this address]");
	shown_is("[no-mapping]", "[no stack: an address in no known file]");
	shown_is("[truncated]", "[cut: deeper than the frame limit]");
	shown_is("[truncated: jit]", "[cut: generated code without frame pointers]");
}

/* Names of other things stay. */
static void test_others(void **state)
{
	static const char *const others[] = {
		"", "[]", "[jit]", "[idle: events]", "[hidden]", "[root]", "[none]", "no-fde",
		"[truncated: ]", "[truncated: x]", "[truncated: no-fde", "[no-fde] ",
		"[truncated: truncated: no-fde]", "[no-fde.............................................."
		"................................................................................]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		shown_is(others[i], "");
}

/* Each note that a tree may have is shown in words, which fit. */
static void test_all(void **state)
{
	char note[STACK_NOTE_MAX], shown[STACK_NOTE_MAX];

	(void)state;
	for (unsigned end = 0; end < STACK_ENDS; end++) {
		for (int has_frames = 0; has_frames < 2; has_frames++) {
			const char *s = stack_note(end, has_frames, note);
			size_t n = s ? stack_note_shown(s, strlen(s), shown) : 0;

			if (!s || (end == END_JIT && !has_frames))
				continue;
			assert_true(n && n < STACK_NOTE_MAX && n == strlen(shown));
			assert_non_null(strstr(shown, stack_cause_brief(end)));
		}
		if (stack_cause_brief(end))
			assert_true(strlen(stack_cause_brief(end)) <= 40);
	}
	assert_null(stack_cause_brief(STACK_ENDS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
