/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Against c++filt of binutils on the names of this machine's C++ library, and against bombs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/model/record.h"
#include "src/symbolize/demangle.h"
#include "tests/unit/elf_oracle.h"

#define LIBSTDCXX "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"

static const char *plain(const char *sysname)
{
	static struct byte_buf out;

	out.nr = 0;
	switch (demangle(sysname, &out)) {
	case 0:
		assert_int_equal(out.nr, 0);
		return sysname;
	case 1:
		assert_int_equal(out.nr, strlen((char *)out.v) + 1);
		return (const char *)out.v;
	default:
		fail_msg("no memory");
		return NULL;
	}
}

static void test_known_names(void **state)
{
	static const struct { const char *sysname, *name; uint8_t lang; } rows[] = {
		{ "main", "main", LANG_C },
		{ "read_line.constprop.0", "read_line.constprop.0", LANG_C },
		{ "_start", "_start", LANG_C },
		{ "", "", LANG_UNKNOWN },
		{ "a b", "a b", LANG_UNKNOWN },
		{ "_ZN3foo3barEi", "foo::bar(int)", LANG_CXX },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)", LANG_CXX },
		{ "_ZN3FooC1Ev", "Foo::Foo()", LANG_CXX },
		{ "_ZN3FooD0Ev", "Foo::~Foo()", LANG_CXX },
		{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const", LANG_CXX },
		{ "_Z3runi", "run(int)", LANG_CXX },
		{ "_Z3runl", "run(long)", LANG_CXX },
		{ "_Z3runi.cold", "run(int) [clone .cold]", LANG_CXX },
		{ "_Z3runi.isra.0.part.1", "run(int) [clone .isra.0] [clone .part.1]", LANG_CXX },
		{ "_ZNKR3Foo3getEv", "Foo::get() const &", LANG_CXX },
		{ "_ZNVO3Foo3getEv", "Foo::get() volatile &&", LANG_CXX },
		{ "_Z4sortIiEvPT_S1_", "void sort<int>(int*, int*)", LANG_CXX },
		{ "_ZN3Foo4nameB5cxx11Ev", "Foo::name[abi:cxx11]()", LANG_CXX },
		{ "_Z4openRKSs", "open(std::string const&)", LANG_CXX },
		{ "_GLOBAL__I_main", "global constructors keyed to main", LANG_CXX },
		{ "_Zzz", "_Zzz", LANG_CXX },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", LANG_RUST },
		{ "_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "core::fmt::write", LANG_RUST },
		{ "_ZN4core3fmt5write17h0123456789abcdefE.4392", "core::fmt::write", LANG_RUST },
		{ "_ZN4core3fmt5write17h0123456789abcdefE.cold", "core::fmt::write.cold", LANG_RUST },
		{ "_ZN9hashbrown3raw21RawTable$LT$T$C$A$GT$14reserve_rehash17h0123456789abcdefE",
		  "hashbrown::raw::RawTable<T,A>::reserve_rehash", LANG_RUST },
		{ "_RNvC7mycrate4main", "mycrate::main", LANG_RUST },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar", LANG_RUST },
		{ "_RNvC7mycrate4main.llvm.77", "mycrate::main", LANG_RUST },
		{ "_RNvMs0_C7mycrateNtB5_3Foo3new", "<mycrate::Foo>::new", LANG_RUST },
		{ "_Rb_tree", "_Rb_tree", LANG_C },
		{ "_Dmain", "D main", LANG_D },
		{ "_D3std5stdio4File7writelnMFAyaZv", "std.stdio.File.writeln(immutable(char)[])", LANG_D },
		{ "_D4test3fooFiZi", "test.foo(int)", LANG_D },
		{ "_D3foo", "_D3foo", LANG_D },
		{ "_Draw", "_Draw", LANG_C },
		{ "$s4main3fooyyF", "$s4main3fooyyF", LANG_SWIFT },
		{ "_$s4main3fooyyF", "_$s4main3fooyyF", LANG_SWIFT },
		{ "_T04main3fooyyF", "_T04main3fooyyF", LANG_SWIFT },
		{ "pack__proc", "pack__proc", LANG_C },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(plain(rows[i].sysname), rows[i].name);
		assert_int_equal(demangle_lang(rows[i].sysname), rows[i].lang);
	}
}

static void test_ada(void **state)
{
	/* The program is known to have Ada, and still not each name with "__" is one of GNAT's. */
	static const char *const rows[][2] = {
		{ "_ada_main", "main" },
		{ "pack__proc", "pack.proc" },
		{ "ada__text_io__put_line__2", "ada.text_io.put_line" },
		{ "pack__Oadd", "pack.\"+\"" },
		{ "a__b___elabb", "a.b'Elab_Body" },
		{ "pack__tskTKB", "pack.tsk" },
		{ "main", NULL },
		{ "__gnat_malloc", NULL },
		{ "Foo__Bar", NULL },
		{ "foo__B12b__bar", NULL },
		{ "_ada_", NULL },
		{ "", NULL },
	};
	struct byte_buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		out.nr = 0;
		assert_int_equal(demangle_ada(rows[i][0], &out), rows[i][1] != NULL);
		if (rows[i][1])
			assert_string_equal((char *)out.v, rows[i][1]);
		assert_int_equal(out.nr, rows[i][1] ? strlen(rows[i][1]) + 1 : 0);
	}
	bb_release(&out);
}

/* As people type names: overloads are the same. */
static void test_bare(void **state)
{
	static const char *const rows[][2] = {
		{ "_ZN3foo3barEi", "foo::bar" }, { "_Z4sortIiEvPT_S1_", "sort<int>" },
		{ "_Z3runi.cold", "run" }, { "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
	};
	struct byte_buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		out.nr = 0;
		assert_int_equal(demangle_bare(rows[i][0], &out), 1);
		assert_string_equal((char *)out.v, rows[i][1]);
	}
	bb_release(&out);
}

/* All exported functions of libstdc++; -i: std::string is not spelt out, -r: long names as well. */
static void test_as_cxxfilt(void **state)
{
	char mangled[8192], want[65536];
	size_t checked = 0;
	FILE *names, *filtered;

	(void)state;
	if (access(LIBSTDCXX, R_OK) || !have_tool("c++filt"))
		skip();
	names = run_tool("nm -D --defined-only --without-symbol-versions '%s' | awk '{print $3}' | grep ^_Z", LIBSTDCXX);
	filtered = run_tool("nm -D --defined-only --without-symbol-versions '%s' | awk '{print $3}' | grep ^_Z | c++filt -i -r",
			    LIBSTDCXX);
	while (fgets(mangled, sizeof(mangled), names) && fgets(want, sizeof(want), filtered)) {
		mangled[strcspn(mangled, "\n")] = 0;
		want[strcspn(want, "\n")] = 0;
		assert_string_equal(plain(mangled), want);
		checked++;
	}
	pclose(names);
	pclose(filtered);
	assert_true(checked > 3000);
}

/* f<A<i,i>, B, C, ...>, each a pair of the one before: twice as long. */
static void cxx_bomb(char *name, unsigned levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *p = name + sprintf(name, "_Z1fI1AIiiES_IS0_S0_E");

	for (unsigned i = 1; i < levels; i++)
		p += sprintf(p, "S_IS%c_S%c_E", digits[i], digits[i]);
	strcpy(p, "Evv");
}

static char *put_base62(char *p, size_t n)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (n && n - 1 >= 62)
		*p++ = digits[(n - 1) / 62];
	if (n)
		*p++ = digits[(n - 1) % 62];
	*p++ = '_';
	return p;
}

/* a::b::<((), ()), ...>: each a tuple of two of the one before, by back references counted from behind "_R". */
static void rust_bomb(char *name, unsigned levels)
{
	char *p = name + sprintf(name, "_RINvC1a1b"), *before = p;

	p += sprintf(p, "TuuE");
	for (unsigned i = 0; i < levels; i++) {
		char *here = p;

		*p++ = 'T';
		*p++ = 'B';
		p = put_base62(p, (size_t)(before - name - 2));
		*p++ = 'B';
		p = put_base62(p, (size_t)(before - name - 2));
		*p++ = 'E';
		before = here;
	}
	strcpy(p, "E");
}

/* Small ones are names like others; big ones would be megabytes to years of output. */
static void check_bomb(void (*make)(char *name, unsigned levels))
{
	uint64_t start = now_ns();
	struct byte_buf out = { 0 };
	char name[2048];
	int done;

	make(name, 4);
	assert_int_equal(demangle(name, &out), 1);
	assert_true(out.nr > 50);
	for (unsigned levels = 5; levels <= 35; levels++) {
		out.nr = 0;
		make(name, levels);
		done = demangle(name, &out);
		assert_int_equal(done, out.nr != 0);
		assert_true(out.nr <= DEMANGLE_MAX_OUT + 1);
		assert_true(levels < 30 || !out.nr);
	}
	assert_true(now_ns() - start < NSEC_PER_SEC);
	bb_release(&out);
}

static void test_bombs(void **state)
{
	(void)state;
	check_bomb(cxx_bomb);
	check_bomb(rust_bomb);
}

/* f<A<A<...>, A<...> >...>: a pair of pairs, inside out, which a search for packs walks 2^levels times. */
static void pack_bomb(char *name, unsigned levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *p = name + sprintf(name, "_Z1fIDp1AI");

	for (unsigned i = 1; i < levels; i++)
		p += sprintf(p, "S0_I");
	p += sprintf(p, "iiE");
	for (unsigned i = 1; i < levels; i++)
		p += sprintf(p, "S%c_E", digits[i]);
	strcpy(p, "Evv");
}

/* A::operator T<T<...> >(): the type of a conversion is tried with arguments, and then without them. */
static void conversion_bomb(char *name, unsigned levels)
{
	char *p = name + sprintf(name, "_ZN1AcvT_");

	for (unsigned i = 0; i < levels; i++)
		p += sprintf(p, "IT_");
	p += sprintf(p, "Ii");
	memset(p, 'E', levels + 2);
	strcpy(p + levels + 2, "v");
}

/* a.f(T, U, ...): each is T[T] of the one before it, by references back. */
static void d_bomb(char *name, unsigned levels)
{
	char *p = name + sprintf(name, "_D1a1fFHiiHQeQg");

	for (unsigned i = 1; i < levels; i++)
		p += sprintf(p, "HQgQi");
	strcpy(p, "Zv");
}

/* Functions that take classes in functions: each is tried as a function, and then as a class. */
static void d_function_bomb(char *name, unsigned levels)
{
	char *p = name + sprintf(name, "_D1a");

	for (unsigned i = 0; i < levels; i++)
		p += sprintf(p, "FC1aM");
	strcpy(p, "Qzz");
}

/* Names that mean years of work without a word of output are left mangled; small ones are not. */
static void test_silent_bombs(void **state)
{
	static void (*const makers[])(char *, unsigned) = {
		pack_bomb, conversion_bomb, d_bomb, d_function_bomb,
	};
	char name[2048], message[64] = "";
	struct byte_buf out = { 0 };
	uint64_t start = now_ns();

	(void)state;
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		for (unsigned levels = 12; levels <= 35; levels++) {
			out.nr = 0;
			makers[i](name, levels);
			assert_int_equal(demangle(name, &out), 0);
			snprintf(message, sizeof(message), "bomb %zu, %u levels", i, levels);
			if (now_ns() - start > NSEC_PER_SEC)
				fail_msg("%s", message);
		}
	pack_bomb(name, 8);
	assert_int_equal(demangle(name, &out), 1);
	out.nr = 0;
	d_bomb(name, 4);
	assert_int_equal(demangle(name, &out), 1);
	assert_int_equal(strlen((char *)out.v), 313);
	bb_release(&out);
}

static void test_long_input(void **state)
{
	char *name = malloc(20000);
	struct byte_buf out = { 0 };

	(void)state;
	strcpy(name, "_ZN");
	for (size_t n = 3; n < 18000; n += 2)
		strcpy(name + n, "1a");
	strcat(name, "Ev");
	assert_int_equal(demangle(name, &out), 0);
	assert_int_equal(demangle_lang(name), LANG_UNKNOWN);
	strcpy(name + 3 + 2 * 900, "Ev");	/* 900 nested names are fine: libiberty alone stops at 1024 bytes */
	assert_int_equal(demangle(name, &out), 1);
	/* Depth: thousands of pointers, within the input cap. */
	memset(name, 'P', 4000);
	memcpy(name, "_Z1f", 4);
	strcpy(name + 4000, "i");
	out.nr = 0;
	assert_true(demangle(name, &out) >= 0);
	bb_release(&out);
	free(name);
}

/* What was in the buffer stays. */
static void test_appends(void **state)
{
	struct byte_buf out = { 0 };

	(void)state;
	bb_bytes(&out, "x", 2);
	assert_int_equal(demangle("_ZN3foo3barEi", &out), 1);
	assert_string_equal((char *)out.v, "x");
	assert_string_equal((char *)out.v + 2, "foo::bar(int)");
	assert_int_equal(demangle("_Znonsense", &out), 0);
	assert_int_equal(out.nr, 16);
	bb_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_names),
		cmocka_unit_test(test_ada),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_as_cxxfilt),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_silent_bombs),
		cmocka_unit_test(test_long_input),
		cmocka_unit_test(test_appends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
