/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a probe is called: the parts of each form, and what is no name. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/probes/probe_spec.h"
#include "tests/unit/stderr_text.h"

static const struct {
	const char *text;
	enum probe_kind kind;
	const char *name, *file, *function;
	enum function_match match;
	uint64_t offset;
} good[] = {
	{ "malloc", PROBE_UPROBE, "uprobe:malloc", "", "malloc", MATCH_EXACT, 0 },
	{ "u:malloc", PROBE_UPROBE, "uprobe:malloc", "", "malloc", MATCH_EXACT, 0 },
	{ "uprobe:libc:malloc", PROBE_UPROBE, "uprobe:libc:malloc", "libc", "malloc", MATCH_EXACT, 0 },
	{ "ret:free", PROBE_URETPROBE, "uretprobe:free", "", "free", MATCH_EXACT, 0 },
	{ "u:ret:free", PROBE_URETPROBE, "uretprobe:free", "", "free", MATCH_EXACT, 0 },
	{ "ur:libc:free", PROBE_URETPROBE, "uretprobe:libc:free", "libc", "free", MATCH_EXACT, 0 },
	{ "u:/usr/bin/x:main", PROBE_UPROBE, "uprobe:/usr/bin/x:main", "/usr/bin/x", "main",
	  MATCH_EXACT, 0 },
	{ "u:malloc+0x10", PROBE_UPROBE, "uprobe:malloc+0x10", "", "malloc", MATCH_EXACT, 16 },
	{ "u:malloc+16", PROBE_UPROBE, "uprobe:malloc+16", "", "malloc", MATCH_EXACT, 16 },
	{ "u:operator+", PROBE_UPROBE, "uprobe:operator+", "", "operator+", MATCH_EXACT, 0 },
	{ "u:pthread_*", PROBE_UPROBE, "uprobe:pthread_*", "", "pthread_*", MATCH_GLOB, 0 },
	{ "u:[a-c]?x", PROBE_UPROBE, "uprobe:[a-c]?x", "", "[a-c]?x", MATCH_GLOB, 0 },
	{ "u:operator[]", PROBE_UPROBE, "uprobe:operator[]", "", "operator[]", MATCH_EXACT, 0 },
	{ "u:/^sql_.*q$/", PROBE_UPROBE, "uprobe:/^sql_.*q$/", "", "^sql_.*q$", MATCH_REGEX, 0 },
	{ "u:libpq:/^PQ(exec|send)$/", PROBE_UPROBE, "uprobe:libpq:/^PQ(exec|send)$/", "libpq",
	  "^PQ(exec|send)$", MATCH_REGEX, 0 },
	{ "u:libx:/a:b/", PROBE_UPROBE, "uprobe:libx:/a:b/", "libx", "a:b", MATCH_REGEX, 0 },
	{ "u:std::vector::push_back", PROBE_UPROBE, "uprobe:std::vector::push_back", "",
	  "std::vector::push_back", MATCH_DEMANGLED, 0 },
	{ "u:/opt/app:Ns::f", PROBE_UPROBE, "uprobe:/opt/app:Ns::f", "/opt/app", "Ns::f",
	  MATCH_DEMANGLED, 0 },
	{ "main.c:42", PROBE_UPROBE, "uprobe:main.c:42", "", "main.c", MATCH_LINE, 0 },
	{ "u:src/a.c:7", PROBE_UPROBE, "uprobe:src/a.c:7", "", "src/a.c", MATCH_LINE, 0 },
	{ "u:/opt/app:a.c:7", PROBE_UPROBE, "uprobe:/opt/app:a.c:7", "/opt/app", "a.c",
	  MATCH_LINE, 0 },
	{ "u:libx:/home/me/a.c:7", PROBE_UPROBE, "uprobe:libx:/home/me/a.c:7", "libx",
	  "/home/me/a.c", MATCH_LINE, 0 },
	{ "k:vfs_write", PROBE_KPROBE, "kprobe:vfs_write", "", "vfs_write", MATCH_EXACT, 0 },
	{ "kr:vfs_*", PROBE_KRETPROBE, "kretprobe:vfs_*", "", "vfs_*", MATCH_GLOB, 0 },
	{ "t:sched:sched_switch", PROBE_TRACEPOINT, "tracepoint:sched:sched_switch", "",
	  "sched:sched_switch", MATCH_EXACT, 0 },
	{ "fentry:vfs_read", PROBE_FENTRY, "fentry:vfs_read", "", "vfs_read", MATCH_EXACT, 0 },
	{ "fexit:vfs_read", PROBE_FEXIT, "fexit:vfs_read", "", "vfs_read", MATCH_EXACT, 0 },
	{ "usdt:python:line", PROBE_USDT, "usdt:python:line", "", "python:line", MATCH_EXACT, 0 },
	{ "usdt:libc:libc:mem*", PROBE_USDT, "usdt:libc:libc:mem*", "libc", "libc:mem*", MATCH_GLOB, 0 },
	{ "usdt:/bin/a:b:c-d", PROBE_USDT, "usdt:/bin/a:b:c-d", "/bin/a", "b:c-d", MATCH_EXACT, 0 },
	{ "usdt:./a:b", PROBE_USDT, "usdt:./a:b", "./a", "*:b", MATCH_GLOB, 0 },
	{ "usdt:/x:y/a:b:c", PROBE_USDT, "usdt:/x:y/a:b:c", "/x:y/a", "b:c", MATCH_EXACT, 0 },
	{ "raw_tp:sched_switch", PROBE_RAW_TRACEPOINT, "raw_tp:sched_switch", "", "sched_switch",
	  MATCH_EXACT, 0 },
};

static void parts_of_good_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct probe_spec s;

		assert_int_equal(probe_spec_parse("-e", good[i].text, &s), 0);
		assert_int_equal(s.kind, good[i].kind);
		assert_string_equal(s.name, good[i].name);
		assert_string_equal(s.file, good[i].file);
		assert_string_equal(s.function, good[i].function);
		assert_int_equal(s.match, good[i].match);
		assert_int_equal(s.offset, good[i].offset);
	}
}

static void bad_ones_are_explained(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "u:main.c:0", "numbered from 1" }, { "ur:main.c:4", "a line does not return" },
		{ "u:", "there is no function" },	{ "u:libc:", "there is no function" },
		{ "u::f", "no file before the colon" }, { "u:f+0x", "is no offset" },
		{ "u:f*+4", "an offset is for one" },	{ "ur:f+4", "returns to one place" },
		{ "t:sched", "a category and a name" }, { "t::x", "a category and a name" },
		{ "fentry:vfs_*", "the name of one function" }, { "fexit:libc:read", "the name of one" },
		{ "raw_tp:a:b", "has no category" },	{ "k:", "a name is missing" },
		{ "usdt:a", "a provider and a name" }, { "usdt:a:", "a provider and a name" },
		{ "usdt::a", "a provider and a name" }, { "usdt:a::b", "a provider and a name" },
		{ "usdt::a:b", "a provider and a name" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct probe_spec s;
		int err;

		stderr_begin();
		err = probe_spec_parse("-e", bad[i].text, &s);
		assert_non_null(strstr(stderr_end(), bad[i].why));
		assert_int_equal(err, -EINVAL);
	}
}

static void prefixes(void **state)
{
	(void)state;
	assert_true(probe_spec_has_prefix("u:x"));
	assert_true(probe_spec_has_prefix("tracepoint:a:b"));
	assert_false(probe_spec_has_prefix("cpu-clock"));
	assert_false(probe_spec_has_prefix("cycles/period=100/"));
	assert_true(probe_glob_matches("pthread_*", "pthread_join"));
	assert_false(probe_glob_matches("pthread_*", "xpthread_join"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_good_ones),
		cmocka_unit_test(bad_ones_are_explained),
		cmocka_unit_test(prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
