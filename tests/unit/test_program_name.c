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
};

enum { S_COMM = 1, S_NODE, S_DELETED, S_BARE, S_ROOT, S_EMPTY };

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
