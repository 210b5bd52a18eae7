/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/definition_store.h"
#include "src/model/record.h"
#include "src/profile/program_name.h"

static const char *const strings[] = {
	NULL, "MainThread", "/usr/bin/node", "/opt/x (deleted)", "no_directory", "/", "",
	"postgres: walwriter ", "sshd: alice [priv]", "/opt/a: b", "node --title x:", ": x", "nginx:",
	"server: 23456789 123456789 123456789 123456789 123456789 123456789 123456789",
};

enum { S_COMM = 1, S_NODE, S_DELETED, S_BARE, S_ROOT, S_EMPTY, S_WRITER, S_SSH, S_PATH, S_LATE, S_COLON, S_WORD, S_LONG };

static struct definition_store *store(void)
{
	struct definition_store *t = definition_store_new();

	assert_non_null(t);
	for (uint32_t i = 1; i < sizeof(strings) / sizeof(strings[0]); i++) {
		const struct record s = { .tag = REC_STRING,
					  .string = { i, strings[i], (uint32_t)strlen(strings[i]) } };
		const struct record b = { .tag = REC_BINARY, .binary = { .id = i, .path = i } };

		assert_int_equal(definition_store_record(t, &s), 0);
		assert_int_equal(definition_store_record(t, &b), 0);
	}
	return t;
}

static void check(const struct definition_store *t, uint32_t exe, const char *name)
{
	const struct rec_process p = { .id = 1, .comm = S_COMM, .exe = exe };
	size_t len = 99;
	const char *got = program_name(t, &p, &len);

	assert_int_equal(len, strlen(name));
	assert_memory_equal(got, name, len);
}

static void test_names(void **state)
{
	struct definition_store *t = store();

	(void)state;
	check(t, S_NODE, "node");
	check(t, S_DELETED, "x");
	check(t, 0, "MainThread");
	check(t, S_BARE, "MainThread");
	check(t, S_ROOT, "MainThread");
	check(t, S_EMPTY, "MainThread");
	check(t, 77, "MainThread");
	definition_store_free(t);
}

static void check_title(const struct definition_store *t, uint32_t cmdline, const char *name)
{
	const struct rec_process p = { .id = 1, .comm = S_COMM, .cmdline = cmdline };
	size_t len = 99;
	const char *got = process_title(t, &p, &len);

	assert_int_equal(len, strlen(name));
	assert_memory_equal(got, name, len);
}

static void test_titles(void **state)
{
	struct definition_store *t = store();

	(void)state;
	check_title(t, S_WRITER, "postgres: walwriter");
	check_title(t, S_SSH, "sshd: alice [priv]");
	check_title(t, 0, "MainThread");
	check_title(t, S_PATH, "MainThread");
	check_title(t, S_LATE, "MainThread");
	check_title(t, S_COLON, "MainThread");
	check_title(t, S_WORD, "MainThread");
	check_title(t, S_LONG, "server: 23456789 123456789 123456789 123456789 123456789 1234567");
	definition_store_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_titles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
