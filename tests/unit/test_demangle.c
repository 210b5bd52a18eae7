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
		{ "_ZN3foo3barEi", "foo::bar", LANG_CXX },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back", LANG_CXX },
		{ "_ZN3FooC1Ev", "Foo::Foo", LANG_CXX },
		{ "_ZN3FooD0Ev", "Foo::~Foo", LANG_CXX },
		{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()", LANG_CXX },
		{ "_GLOBAL__sub_I_main", "global constructors keyed to main", LANG_CXX },
		{ "_Zoops", "_Zoops", LANG_CXX },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", LANG_RUST },
		{ "_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "core::fmt::write", LANG_RUST },
		{ "_ZN4core3fmt5write17h0123456789abcdefE.cold", "core::fmt::write.cold", LANG_RUST },
		{ "_ZN9hashbrown3raw21RawTable$LT$T$C$A$GT$14reserve_rehash17h0123456789abcdefE",
		  "hashbrown::raw::RawTable<T,A>::reserve_rehash", LANG_RUST },
		{ "_RNvC7mycrate4main", "mycrate::main", LANG_RUST },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar", LANG_RUST },
		{ "_RNvC7mycrate4main.llvm.77", "mycrate::main", LANG_RUST },
		{ "_RNvMs0_C7mycrateNtB5_3Foo3new", "<mycrate::Foo>::new", LANG_RUST },
		{ "_Rb_tree", "_Rb_tree", LANG_C },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(plain(rows[i].sysname), rows[i].name);
		assert_int_equal(demangle_lang(rows[i].sysname), rows[i].lang);
	}
}

/* All exported functions of libstdc++: c++filt -p leaves parameters out, too. */
static void test_as_cxxfilt(void **state)
{
	char mangled[8192], want[65536];
	size_t checked = 0;
	FILE *names, *filtered;

	(void)state;
	if (access(LIBSTDCXX, R_OK) || !have_tool("c++filt"))
		skip();
	names = run_tool("nm -D --defined-only --without-symbol-versions '%s' | awk '{print $3}' | grep ^_Z", LIBSTDCXX);
	filtered = run_tool("nm -D --defined-only --without-symbol-versions '%s' | awk '{print $3}' | grep ^_Z | c++filt -p",
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

/* f(x), then f of what was last, ...: each step doubles the output. */
static void bomb(char *name, unsigned levels)
{
	char *p = name + sprintf(name, "_Z1fI1AIiEE");

	for (unsigned i = 0; i < levels; i++)
		p += sprintf(p, i ? "1AIS%c_S%c_E" : "v1AIT_T_E", '0' + (i - 1) % 10, '0' + (i - 1) % 10);
	*p = 0;
}

static void test_bombs(void **state)
{
	char cxx[2048], rust[2048], *p;
	uint64_t start = now_ns();
	struct byte_buf out = { 0 };
	unsigned i;

	(void)state;
	for (i = 5; i < 40; i++) {
		bomb(cxx, i);
		assert_true(demangle(cxx, &out) >= 0);
		assert_true(out.nr <= DEMANGLE_MAX_OUT + 1);
		out.nr = 0;
	}
	/* A pair of the type before, 60 times over: 2^60 ints. */
	p = cxx + sprintf(cxx, "_Z1fSt4pairIiiE");
	for (i = 0; i < 60; i++) {
		if (i < 2)
			p += sprintf(p, "St4pairIS%.*s_S%.*s_E", (int)i, "0", (int)i, "0");
		else
			p += sprintf(p, "St4pairIS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) % 36],
				     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) % 36]);
	}
	assert_true(demangle(cxx, &out) >= 0);
	out.nr = 0;
	/* Rust v0: a tuple of two of the tuple before; back references count from behind "_R". */
	p = rust + sprintf(rust, "_RINvC1a1bTuuE");
	for (i = 0; i < 60; i++) {
		static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		size_t before = i ? (size_t)(p - rust) - 2 - (i == 1 ? 6 : 8) : 7;
		char ref[8];

		/* base 62, minus one */
		if (before - 1 < 62)
			sprintf(ref, "B%c_", digits[before - 1]);
		else
			sprintf(ref, "B%c%c_", digits[(before - 1) / 62], digits[(before - 1) % 62]);
		p += sprintf(p, "T%s%sE", ref, ref);
	}
	strcpy(p, "E");
	assert_true(demangle(rust, &out) >= 0);
	assert_true(out.nr <= DEMANGLE_MAX_OUT + 1);
	bb_release(&out);
	assert_true(now_ns() - start < NSEC_PER_SEC);
}

/* 250 bytes that mean hundreds of megabytes: f<A<A<...>, A<...>>>. */
static void test_known_bomb_is_refused(void **state)
{
	char name[512], *p = name + sprintf(name, "_Z1fI");
	struct byte_buf out = { 0 };
	uint64_t start = now_ns();

	(void)state;
	p += sprintf(p, "1AIiiE");	/* S1_ is A<int, int> */
	for (unsigned i = 0; i < 30; i++)
		p += sprintf(p, "S_I%.*s%.*sE", 3, i ? i < 36 ? (char[4]){ 'S', "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i], '_', 0 } : "S0_" : "S0_", 3,
			     i ? (char[4]){ 'S', "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i], '_', 0 } : "S0_");
	strcpy(p, "Evv");
	assert_int_equal(demangle(name, &out), 0);
	assert_int_equal(out.nr, 0);
	assert_true(now_ns() - start < NSEC_PER_SEC / 4);
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
	name[3 + 2 * 1000] = 'E';	/* 1000 nested names are fine */
	name[4 + 2 * 1000] = 'v';
	name[5 + 2 * 1000] = 0;
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
	assert_string_equal((char *)out.v + 2, "foo::bar");
	assert_int_equal(demangle("_Znonsense", &out), 0);
	assert_int_equal(out.nr, 11);
	bb_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_names),
		cmocka_unit_test(test_as_cxxfilt),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_known_bomb_is_refused),
		cmocka_unit_test(test_long_input),
		cmocka_unit_test(test_appends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
