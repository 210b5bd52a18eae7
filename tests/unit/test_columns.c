/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static void test_return_types_go_last(void **state)
{
	static const char sort[] = "void std::sort<int*, std::less<int> >(int*, int*, std::less<int>) [clone .cold]";
	static const char get[] = "unsigned long const& (anonymous namespace)::get<int>(int) const &";

	(void)state;
	assert_string_equal(name(sort, 60), "void std::sort(int*, int*, std::less) [clone .cold]");
	assert_string_equal(name(sort, 40), "void std::sort [clone .cold]");
	assert_string_equal(name(sort, 25), "std::sort [clone .cold]");
	assert_string_equal(name(get, 50), "unsigned long const& (anonymous namespace)::get");
	assert_string_equal(name(get, 30), "(anonymous namespace)::get");
	assert_string_equal(name("decltype (x) f<int>(long, long, long)", 12), "f");
	/* what looks like one and is none */
	assert_string_equal(name("ns::Text::operator unsigned long() const", 32), "ns::Text::operator unsigned long");
	assert_string_equal(name("LazyCompile:*sum(int) /srv/lib/sum.js:12", 35), "LazyCompile:*sum /srv/lib/sum.js:12");
	assert_string_equal(name("LazyCompile:*sum(int) /srv/lib/sum.js:12", 20), "LazyCo...b/sum.js:12");
}

/* A name with brackets that are never closed is looked through once, not from each bracket. */
static void test_many_brackets_are_quick(void **state)
{
	static const char *const pieces[] = { "a<", "a(", "{" };
	size_t len = 256 * 1024;
	char *s = malloc(len + 1);
	clock_t begin = clock();

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		for (size_t j = 0; j < len; j++)
			s[j] = pieces[i][j % strlen(pieces[i])];
		s[len] = 0;
		name(s, 20);
	}
	/* 0.02 s; from each bracket it would be a minute */
	assert_true((clock() - begin) / CLOCKS_PER_SEC < 10);
	free(s);
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

static const char *end_of(const char *s, size_t room)
{
	size_t size, columns;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	columns = columns_put_end(out, s, strlen(s), room);
	fclose(out);
	assert_int_equal(columns, columns_of(text, size));
	assert_true(columns <= room);
	return text;
}

static void test_the_beginning_goes(void **state)
{
	(void)state;
	assert_string_equal(end_of("data from pipe:[12]", 19), "data from pipe:[12]");
	assert_string_equal(end_of("data from pipe:[12]", 12), "...pipe:[12]");
	assert_string_equal(end_of("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4), "...\xc3\xa9");
	assert_string_equal(end_of("abcdef", 2), "..");
	assert_string_equal(end_of("abcdef", 0), "");
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
		cmocka_unit_test(test_return_types_go_last),
		cmocka_unit_test(test_many_brackets_are_quick),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_the_middle_goes),
		cmocka_unit_test(test_the_beginning_goes),
		cmocka_unit_test(test_wrap),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	free(text);
	return rc;
}
