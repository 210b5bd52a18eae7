/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "src/profile/display_name.h"

struct name_case {
	const char *s, *want;		/* want NULL: the name stays */
};

/* The result is in memory of exactly the name's size, so that sanitizers see what is too long. */
static void check(const struct name_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t len = strlen(cases[i].s), n;
		char *in = malloc(len + !len), *out = malloc(len + !len), *text;

		memcpy(in, cases[i].s, len);
		n = display_name(out, in, len);
		text = strndup(out, n);
		assert_string_equal(text, cases[i].want ? cases[i].want : cases[i].s);
		free(text);
		free(in);
		free(out);
	}
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof((cases)[0]))
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static void the_standard_library(void **state)
{
	static const struct name_case cases[] = {
		{ STRING "::find(char)", "std::string::find(char)" },
		{ STRING "::basic_string(" STRING " const&)", "std::string::basic_string(std::string const&)" },
		{ "f(" STRING ", " STRING ")", "f(std::string, std::string)" },
		{ "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::npos", "std::string::npos" },
		{ "std::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >::size()", "std::wstring::size()" },
		{ "std::basic_string<char16_t, std::char_traits<char16_t>, std::allocator<char16_t> >::size()", "std::basic_string<char16_t>::size()" },
		{ "std::basic_string_view<char, std::char_traits<char> >::data() const", "std::string_view::data() const" },
		{ "std::basic_ostream<char, std::char_traits<char> >::flush()", "std::ostream::flush()" },
		{ "std::__cxx11::basic_stringbuf<char, std::char_traits<char>, std::allocator<char> >::str() const", "std::stringbuf::str() const" },
		{ "mystd::basic_string<char>::f()", NULL }, { "a::std::basic_string<char>::f()", NULL },
		{ "std::__1::vector<int, std::__1::allocator<int>>::push_back(int&&)", "std::vector<int>::push_back(int&&)" },
		{ "std::__ndk1::basic_string<char, std::__ndk1::char_traits<char>, std::__ndk1::allocator<char> >::append(char const*)", "std::string::append(char const*)" },
		{ "std::_V2::error_category::name() const", "std::error_category::name() const" },
		{ "std::chrono::_V2::steady_clock::now()", "std::chrono::steady_clock::now()" },
		{ "std::filesystem::__cxx11::path::path()", "std::filesystem::path::path()" },
		{ "[abi:x]", NULL }, { "__1::f()", NULL }, { "std::__1", NULL }, { "std::__10::f", NULL },
		{ "std::to_string[abi:cxx11](int)", "std::to_string(int)" }, { "f[abi:cxx11", NULL },
		{ "std::vector<int, std::allocator<int> >::size() const", "std::vector<int>::size() const" },
		{ "std::map<int, A, std::less<int>, std::allocator<std::pair<int const, A> > >::clear()", "std::map<int, A>::clear()" },
		{ "std::unordered_map<int, A, std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, A> > >::find(int const&)", "std::unordered_map<int, A>::find(int const&)" },
		{ "std::unique_ptr<Node, std::default_delete<Node> >::~unique_ptr()", "std::unique_ptr<Node>::~unique_ptr()" },
		{ "std::set<std::vector<int, std::allocator<int> >, std::less<std::vector<int, std::allocator<int> > >, std::allocator<std::vector<int, std::allocator<int> > > >::end()", "std::set<std::vector<int>>::end()" },
	};

	(void)state;
	CHECK(cases);
}

/* What somebody has chosen stays, also if it is what is a default elsewhere. */
static void chosen_arguments(void **state)
{
	static const struct name_case cases[] = {
		{ "std::allocator_traits<std::allocator<int> >::allocate()", "std::allocator_traits<std::allocator<int>>::allocate()" },
		{ "std::map<int, A, std::less<int>, Pool<A> >::clear()", "std::map<int, A, std::less<int>, Pool<A>>::clear()" },
		{ "std::map<int, A, std::greater<int>, std::allocator<A> >::clear()", "std::map<int, A, std::greater<int>>::clear()" },
		{ "std::pair<int, std::less<int> >::swap()", "std::pair<int, std::less<int>>::swap()" },
		{ "std::tuple<A, std::allocator<int>>::tuple()", NULL },
		{ "void std::sort<int*, std::less<int> >(int*, int*)", "void std::sort<int*, std::less<int>>(int*, int*)" },
		{ "f<A, std::allocator<int>::value_type>::g()", NULL }, { "f<A, mystd::allocator<int>>::g()", NULL },
		{ "f(int, std::allocator<int>)", NULL }, { "{lambda(int, std::allocator<int>)#1}::operator()", NULL },
	};

	(void)state;
	CHECK(cases);
}

static void long_arguments(void **state)
{
	static const struct name_case cases[] = {
		{ "f(std::tuple<std::map<unsigned long, std::vector<unsigned char> >, int>)", "f(std::tuple<std::map<...>, int>)" },
		{ "A<B<unsigned long long, unsigned long long> >::f()", "A<B<...>>::f()" },
		{ "A<B<unsigned long, int> >::f()", "A<B<unsigned long, int>>::f()" },
		{ "A<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>::f()", "A<...>::f()" },
		{ "A<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbb>::f()", NULL },
		{ "f(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb) const", "f(...) const" },
		{ "f(int)", NULL }, { "f(long)", NULL }, { "(anonymous namespace)::f()", NULL },
		{ "f<(anonymous namespace)::A>()", NULL },
	};

	(void)state;
	CHECK(cases);
}

static void operators(void **state)
{
	static const struct name_case cases[] = {
		{ "bool std::operator< <char, std::char_traits<char>, std::allocator<char> >(" STRING " const&, " STRING " const&)",
		  "bool std::operator< <char, std::char_traits<char>, std::allocator<char>>(std::string const&, std::string const&)" },
		{ "std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&, char const*)",
		  "std::ostream& std::operator<< <std::char_traits<char>>(std::ostream&, char const*)" },
		{ "bool std::operator==<char, std::char_traits<char>, std::allocator<char> >(int)", "bool std::operator==<char, std::char_traits<char>, std::allocator<char>>(int)" },
		{ "A::operator()(std::vector<int, std::allocator<int> >) const", "A::operator()(std::vector<int>) const" },
		{ "A::operator()<std::vector<int, std::allocator<int> > >(int)", "A::operator()<std::vector<int>>(int)" },
		{ "A::operator->() const", NULL }, { "A::operator->*(int)", NULL }, { "A::operator<=>(A const&)", NULL },
		{ "A::operator>>(int)", NULL }, { "A::operator<", NULL }, { "operator<", NULL }, { "A::operator,(B)", NULL },
		{ "A::operator[](int)", NULL }, { "A::operator bool() const", NULL }, { "operator new(unsigned long)", NULL },
		{ "A::operator " STRING "() const", "A::operator std::string() const" }, { "my_operator<int>::f()", NULL },
		{ "operator", NULL },
	};

	(void)state;
	CHECK(cases);
}

static void other_languages(void **state)
{
	static const struct name_case cases[] = {
		{ "Bank$$Lambda$4/0x00007fcff8002a40.run", "Bank$$Lambda.run" },
		{ "Bank$$Lambda/0x00007fcff8002a40.run()", "Bank$$Lambda.run()" },
		{ "Bank$$Lambda$14/791452441.run", "Bank$$Lambda.run" }, { "Bank$$Lambda$14.0x0000000800c03000.run", "Bank$$Lambda.run" },
		{ "Bank$$Lambda", NULL }, { "Bank$$Lambda$x.run", NULL }, { "Bank.lambda$main$0", NULL },
		{ "java.lang.invoke.LambdaForm$MH/0x00007f3010002000.invoke(Object)", "java.lang.invoke.LambdaForm$MH.invoke(Object)" },
		{ "main+0x12345678", NULL }, { "a.0x12345678", NULL }, { "kworker/0:1", NULL }, { "net/0x12.f", NULL },
		{ "java.util.HashMap.<init>(int)", NULL }, { "Foo$Bar.put(java.lang.Object, int[])", NULL },
		{ "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", NULL }, { "app::run::{{closure}}", NULL },
		{ "alloc::vec::Vec<u8, alloc::alloc::Global>::push", "alloc::vec::Vec<u8>::push" },
		{ "core::ops::function::FnOnce::call_once{{vtable.shim}}", NULL }, { "f::<fn(u8) -> u8>", NULL },
		{ "<[u8; 32] as core::fmt::Debug>::fmt", NULL },
		{ "main.(*T).Get", NULL }, { "main.Map[go.shape.int]", NULL }, { "main.main.func1", NULL },
		{ "<module>", NULL }, { "Foo.<listcomp>", NULL }, { "Integer#<=>", NULL }, { "Integer#<<", NULL }, { "Foo->bar", NULL },
		{ "{closure}", NULL }, { "{closure:/srv/a.php:12}", NULL }, { "(anonymous)", NULL }, { "get size", NULL },
		{ "block in Array#each", NULL }, { "do_syscall_64_[k]", NULL }, { "sort.cold", NULL }, { "a [clone .cold]", NULL },
		{ "main", NULL }, { "", NULL }, { "_ZN1AC2Ev", NULL }, { "[libfoo.so.1+0x1a40]", NULL },
	};

	(void)state;
	CHECK(cases);
}

static void brackets_without_end(void **state)
{
	static const struct name_case cases[] = {
		{ "f<", NULL }, { "f<int", NULL }, { "f>", NULL }, { "f)", NULL }, { "f(int", NULL }, { "f(int>)", NULL },
		{ "f<(>)", NULL }, { "}", NULL }, { "std::__1::f<", NULL }, { ",", NULL }, { "<,>", NULL }, { "f<,,>::g", NULL },
		{ "a<b::c", NULL }, { "f< >::g", "f<>::g" }, { "f<std::allocator<int>, std::allocator<int> >::g", "f<std::allocator<int>>::g" },
	};
	char deep[200], out[200];

	(void)state;
	CHECK(cases);
	memset(deep, '(', 100);
	memset(deep + 100, ')', 100);
	assert_int_equal(display_name(out, deep, 200), 200);
	assert_memory_equal(out, deep, 200);
}

/* What is long is not searched again for each of its parts. */
static void time_grows_with_length_alone(void **state)
{
	static const char *const parts[] = { "[abi:", "std::allocator<>,", "f<std::less<int>,", "<>", "$$Lambda/0x" };
	enum { SIZE = 4 << 20 };
	char *in = malloc(SIZE), *out = malloc(SIZE);

	(void)state;
	assert_true(in && out);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t len = strlen(parts[i]), n = SIZE / len * len;
		clock_t begin = clock();

		for (size_t at = 0; at < n; at += len)
			memcpy(in + at, parts[i], len);
		assert_true(display_name(out, in, n) <= n);
		assert_true(clock() - begin < 2 * CLOCKS_PER_SEC);
	}
	free(in);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_standard_library), cmocka_unit_test(chosen_arguments),
		cmocka_unit_test(long_arguments),	cmocka_unit_test(operators),
		cmocka_unit_test(other_languages),	cmocka_unit_test(brackets_without_end),
		cmocka_unit_test(time_grows_with_length_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
