/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/visible.h"
#include "tests/unit/terminal_safe.h"

#include <cmocka.h>

static void check_copy(const char *s, size_t len, const char *want)
{
	char got[256];

	assert_int_equal(visible_copy(got, sizeof(got), s, len), strlen(want));
	assert_string_equal(got, want);
}

static void keeps_what_can_be_read(void **state)
{
	(void)state;
	check_copy("", 0, "");
	check_copy("a b/c.so", 8, "a b/c.so");
	check_copy("na\xc3\xafve \xe6\x97\xa5 \xf0\x9f\x90\x9d", 14 + 1, "na\xc3\xafve \xe6\x97\xa5 \xf0\x9f\x90\x9d");
}

static void shows_what_a_terminal_acts_upon(void **state)
{
	(void)state;
	check_copy("\x1b[0m\n\0", 6, "\\x1b[0m\\x0a\\x00");
	check_copy("\xc2\x9b" "2J", 4, "\\xc2\\x9b2J");
	check_copy("\xe2\x80\xae\xd8\x9c", 5, "\\xe2\\x80\\xae\\xd8\\x9c");
	check_copy("\xf3\xa0\x81\x81", 4, "\\xf3\\xa0\\x81\\x81");
	check_copy("\xff\xc3", 2, "\\xff\\xc3");
}

static void cuts_at_the_end_of_a_character(void **state)
{
	static const char text[] = "ab\xe6\x97\xa5\xc2\x9bz";
	static const char *const want[] = { "", "a", "ab", "ab", "ab", "ab\xe6\x97\xa5" };
	char got[32];

	(void)state;
	for (size_t size = 1; size <= 6; size++) {
		assert_int_equal(visible_copy(got, size, text, strlen(text)), strlen(want[size - 1]));
		assert_string_equal(got, want[size - 1]);
	}
	/* An escape of two bytes is whole or not there. */
	visible_copy(got, 13, text, strlen(text));
	assert_string_equal(got, "ab\xe6\x97\xa5");
	visible_copy(got, 14, text, strlen(text));
	assert_string_equal(got, "ab\xe6\x97\xa5\\xc2\\x9b");
}

static size_t put_char(char *s, uint32_t c)
{
	if (c < 0x80)
		s[0] = (char)c;
	if (c >= 0x80 && c < 0x800)
		s[0] = (char)(0xc0 | c >> 6);
	if (c >= 0x800 && c < 0x10000)
		s[0] = (char)(0xe0 | c >> 12);
	if (c >= 0x10000)
		s[0] = (char)(0xf0 | c >> 18);
	for (int i = 1, n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; i < n; i++)
		s[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

/* All characters there are: what is copied as it is may stand on a terminal, and what may, is. */
static void every_character_is_judged(void **state)
{
	(void)state;
	for (uint32_t c = 0; c < 0x110000; c++) {
		char text[4], got[32];
		size_t at, len = put_char(text, c);
		bool shown;

		visible_copy(got, sizeof(got), text, len);
		shown = !memcmp(got, text, len);
		if (shown != (terminal_safe(text, len, &at) && c != '\n' && c != '\t' && (c & 0xfffe) != 0xfffe &&
			      (c < 0xfdd0 || c > 0xfdef)))
			fail_msg("U+%04X is %s", c, shown ? "shown" : "not shown");
	}
}

/* Whatever the bytes are, the copy can be shown, and a copy of the copy is the same. */
static void any_bytes_become_safe(void **state)
{
	uint64_t seed = 1;
	size_t at;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char bytes[24], once[128], twice[128];
		size_t len;

		for (size_t k = 0; k < sizeof(bytes); k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[k] = (char)(seed >> 56 & (k % 3 ? 0xbf : 0xff));
		}
		len = visible_copy(once, sizeof(once), bytes, sizeof(bytes));
		assert_true(terminal_safe(once, len, &at) && !memchr(once, '\n', len));
		assert_int_equal(visible_copy(twice, sizeof(twice), once, len), len);
		assert_string_equal(once, twice);
	}
}

static void lines_stay_lines(void **state)
{
	/* Longer than any piece, with characters of several bytes on its borders. */
	char text[1500], *got = NULL;
	size_t size, at;
	FILE *out = open_memstream(&got, &size);

	(void)state;
	for (size_t i = 0; i + 3 <= sizeof(text); i += 3)
		memcpy(text + i, i % 31 ? "\xe6\x97\xa5" : i % 2 ? "\xe2\x80\xae" : "a\nb", 3);
	visible_put_lines(out, text, sizeof(text));
	visible_put(out, "x\ny");
	fclose(out);
	assert_true(terminal_safe(got, size, &at));
	assert_non_null(strstr(got, "a\nb\xe6\x97\xa5"));
	assert_string_equal(got + size - 6, "x\\x0ay");
	free(got);
}

static size_t said(char *text, size_t size, void (*say)(void))
{
	int before = dup(STDERR_FILENO), file = memfd_create("said", MFD_CLOEXEC);
	ssize_t n;

	dup2(file, STDERR_FILENO);
	say();
	dup2(before, STDERR_FILENO);
	n = pread(file, text, size - 1, 0);
	assert_true(n > 0);
	text[n] = 0;
	close(file);
	close(before);
	return (size_t)n;
}

#define BAD "\x1b]0;t\a\xc2\x9b" "31m\xe2\x80\xae\xe2\x81\xa6\xf3\xa0\x81\x81\xff\n"

static void say_all(void)
{
	char longest[3000];

	memset(longest, 0x9b, sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	(fail)(-2, "open %s", BAD);
	fail_try(-2, BAD, "open %s", BAD);
	fail_why(-2, "%s", BAD);
	note("%s", BAD);
	fail_try(-2, longest, "%s", longest);
	note_status(BAD);
}

static void messages_are_safe(void **state)
{
	char text[16384];
	size_t len = said(text, sizeof(text), say_all), lines = 0, at;
	char *status = strstr(text, "\r\033[K");

	(void)state;
	assert_non_null(status);
	assert_true(terminal_safe(text, (size_t)(status - text), &at));
	assert_true(terminal_safe(status + 4, len - (size_t)(status + 4 - text), &at));
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	assert_int_equal(lines, 5);
	assert_non_null(strstr(text, "probee: open \\x1b]0;t\\x07\\xc2\\x9b31m\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xf3\\xa0\\x81\\x81\\xff"
				     "\\x0a: No such file or directory\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_can_be_read),
		cmocka_unit_test(shows_what_a_terminal_acts_upon),
		cmocka_unit_test(cuts_at_the_end_of_a_character),
		cmocka_unit_test(any_bytes_become_safe),
		cmocka_unit_test(every_character_is_judged),
		cmocka_unit_test(lines_stay_lines),
		cmocka_unit_test(messages_are_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
