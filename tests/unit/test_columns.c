/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/render/columns.h"

static char *text;

static const char *name(const char *s, size_t room)
{
	size_t size, columns;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	columns = columns_put_name(out, s, strlen(s), room);
	fclose(out);
	assert_int_equal(columns, columns_of(text, size));
	assert_true(columns <= room);
	return text;
}

static void test_what_fits_stays(void **state)
{
	(void)state;
	assert_string_equal(name("f<int>(char)", 12), "f<int>(char)");
	assert_string_equal(name("f<int>(char)", COLUMNS_ANY), "f<int>(char)");
	assert_string_equal(name("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 8),
			    "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
	assert_string_equal(name("", 8), "");
}

static void test_templates_go_first(void **state)
{
	static const char tree[] = "std::_Rb_tree<std::__cxx11::basic_string<char>, int>::"
				   "_M_insert_unique<int>(std::pair<int, int>&&)";

	(void)state;
	assert_string_equal(name(tree, 60), "std::_Rb_tree::_M_insert_unique(std::pair&&)");
	assert_string_equal(name(tree, 40), "std::_Rb_tree::_M_insert_unique");
	assert_string_equal(name("a<b>::f(int, std::vector<long>) const [clone .cold]", 32),
			    "a::f [clone .cold]");
	assert_string_equal(name("(anonymous namespace)::run<int, int, int>(long, long)", 30),
			    "(anonymous namespace)::run");
}

static void test_operators_are_names(void **state)
{
	(void)state;
	assert_string_equal(name("ns::operator<<(std::ostream<char>&, int)", 20),
			    "ns::operator<<");
	assert_string_equal(name("ns::functor<int, int>::operator()(long) const", 24),
			    "ns::functor::operator()");
	assert_string_equal(name("main::{lambda(int)#1}::operator()(int, int) const", 34),
			    "main::{lambda(int)#1}::operator()");
	assert_string_equal(name("f<decltype(a->b)>(int)", 8), "f(int)");
}

static void test_rust(void **state)
{
	(void)state;
	assert_string_equal(name("<alloc::vec::Vec<T> as core::fmt::Debug>::fmt", 44),
			    "<alloc::vec::Vec as core::fmt::Debug>::fmt");
	assert_string_equal(name("core::ptr::drop_in_place<alloc::string::String>", 30),
			    "core::ptr::drop_in_place");
}

static void test_the_middle_goes(void **state)
{
	(void)state;
	assert_string_equal(name("abcdefghijklmnopqrstuvwxyz", 13), "abcd...uvwxyz");
	assert_string_equal(name("not<closed_and_long_enough", 13), "not<...enough");
	assert_string_equal(name("\xc3\xa9\xc3\xa9zzzzzzzzzzzzzzzz\xc3\xa8\xc3\xa8\xc3\xa8", 8),
			    "\xc3\xa9\xc3\xa9...\xc3\xa8\xc3\xa8\xc3\xa8");
}

static const char *wrap(const char *s, size_t width)
{
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	columns_wrap(out, s, strlen(s), width);
	fclose(out);
	return text;
}

static void test_wrap(void **state)
{
	(void)state;
	assert_string_equal(wrap("short\n\nshort too\n", 20), "short\n\nshort too\n");
	assert_string_equal(wrap("no newline", 20), "no newline");
	assert_string_equal(wrap("walks     one two three four five\nnext\n", 20),
			    "walks     one two\n          three four\n          five\nnext\n");
	assert_string_equal(wrap("  warn: one two three four\n", 16),
			    "  warn: one two\n  three four\n");
	assert_string_equal(wrap("one two three four five", 9), "one two\nthree\nfour five");
	assert_string_equal(wrap("file      /a/very/long/path/without/spaces and more", 20),
			    "file      /a/very/long/path/without/spaces\n          and more");
	assert_string_equal(wrap("one two three      ", 9), "one two\nthree");
	assert_string_equal(wrap("1234  \xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9 x", 13),
			    "1234  \xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9\n      x");
	assert_string_equal(wrap("a long line of words\n", COLUMNS_ANY), "a long line of words\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fits_stays),
		cmocka_unit_test(test_templates_go_first),
		cmocka_unit_test(test_operators_are_names),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_the_middle_goes),
		cmocka_unit_test(test_wrap),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	free(text);
	return rc;
}
