/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/render/escape.h"

typedef void (*escape_fn)(FILE *out, const char *s, size_t len);

static void check(escape_fn escape, const char *s, size_t len, const char *want)
{
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	assert_non_null(out);
	escape(out, s, len);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(got, want);
	assert_int_equal(size, strlen(want));
	free(got);
}

#define CHECK(escape, s, want) check(escape, s, sizeof(s) - 1, want)

static void keeps_what_is_harmless(void **state)
{
	static const escape_fn all[] = { escape_text, escape_folded, escape_csv, escape_json,
					 escape_xml };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK(all[i], "", "");
		CHECK(all[i], "std::vector(int, char)::operator[](unsigned long) const", 
		      "std::vector(int, char)::operator[](unsigned long) const");
		CHECK(all[i], "na\xc3\xafve \xe6\x97\xa5 \xf0\x9f\x90\x9d", "na\xc3\xafve \xe6\x97\xa5 \xf0\x9f\x90\x9d");
	}
}

static void text_shows_control_characters(void **state)
{
	(void)state;
	CHECK(escape_text, "a\0b\n\x1b[31m\x7f", "a\\x00b\\x0a\\x1b[31m\\x7f");
	CHECK(escape_text, "\xc2\x9b" "2J", "\\xc2\\x9b2J");		/* C1: one-character CSI */
	CHECK(escape_text, "\xe2\x80\xae" "txt", "\\xe2\\x80\\xaetxt");	/* right-to-left override */
	CHECK(escape_text, "\xe2\x80\xa8", "\\xe2\\x80\\xa8");
	CHECK(escape_text, "a;b|c<d>&\"'", "a;b|c<d>&\"'");
}

static void text_shows_bytes_that_are_no_utf8(void **state)
{
	(void)state;
	CHECK(escape_text, "\xff\xfe", "\\xff\\xfe");
	CHECK(escape_text, "\xc0\x80", "\\xc0\\x80");			/* overlong NUL */
	CHECK(escape_text, "\xed\xa0\x80", "\\xed\\xa0\\x80");		/* surrogate */
	CHECK(escape_text, "\xe6\x97", "\\xe6\\x97");			/* cut */
	CHECK(escape_text, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");	/* above U+10FFFF */
	CHECK(escape_text, "\xc3x", "\\xc3x");
}

static void folded_keeps_frames_apart(void **state)
{
	(void)state;
	CHECK(escape_folded, "a;b|c\nd", "a:b|c\\x0ad");
}

static void csv_keeps_cells_apart(void **state)
{
	(void)state;
	CHECK(escape_csv, "a;b|c\nd=e", "a:b!c\\x0ad=e");
	for (const char *formula = "=+-@"; *formula; formula++)
		assert_true(escape_is_formula(formula, 1));
	assert_false(escape_is_formula("a=b", 3) || escape_is_formula("=", 0));
}

static void json_is_safe_in_a_script(void **state)
{
	(void)state;
	CHECK(escape_json, "</script>&", "\\u003c/script\\u003e\\u0026");
	CHECK(escape_json, "\"\\\n\0\x1b", "\\\"\\\\\\u000a\\u0000\\u001b");
	CHECK(escape_json, "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029");
	CHECK(escape_json, "\xff" "a\xc3", "\xef\xbf\xbd" "a\xef\xbf\xbd");
	CHECK(escape_json, "\xf3\xa0\x80\x81", "\\udb40\\udc01");	/* U+E0001: invisible tag */
}

static void xml_is_well_formed(void **state)
{
	(void)state;
	CHECK(escape_xml, "<a b=\"c\" d='e'>&]]>", "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;]]&gt;");
	CHECK(escape_xml, "\0\x01\xef\xbf\xbf\xff", "\\x00\\x01\\xef\\xbf\\xbf\\xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_harmless),
		cmocka_unit_test(text_shows_control_characters),
		cmocka_unit_test(text_shows_bytes_that_are_no_utf8),
		cmocka_unit_test(folded_keeps_frames_apart),
		cmocka_unit_test(csv_keeps_cells_apart),
		cmocka_unit_test(json_is_safe_in_a_script),
		cmocka_unit_test(xml_is_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
