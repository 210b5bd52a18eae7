/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that are kept: what is read is what was written, for that file and that program alone, whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/hash_index.h"
#include "src/parse/parse_protocol.h"
#include "src/parse/table_cache.h"
#include "src/runtimes/runtime.h"
#include "unwind/cfi_rows.h"
#include "unwind/unwind_table.h"

#define PROGRAM 77u
#define NR 500u

struct world {
	char dir[64];
	struct cache_folder *folder;
	struct unwind_table *table;
	struct runtime_image runtime;
};

static const uint8_t build_id[] = { 0xab, 0xcd };
static const struct cache_key key = { build_id, sizeof(build_id), 1000, 8, 9, { 10, 11 } };

/* A table of several pages with some rules. */
static struct unwind_table *make_table(void)
{
	struct cfi_rows rows = { 0 };
	struct unwind_table *t;

	for (uint64_t i = 0; i < NR; i++) {
		const struct unwind_rule rule = { .cfa = CFA_SP, .cfa_off = (int32_t)(8 + i % 7 * 8) };

		assert_int_equal(cfi_rows_append(&rows, 0x400000 + i * 1000, &rule), 0);
	}
	assert_int_equal(unwind_table_build(&rows, 0x400000, 0x400000 + NR * 1000, &t), 0);
	cfi_rows_release(&rows);
	return t;
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	strcpy(w->dir, "/tmp/test_table_cacheXXXXXX");
	assert_non_null(mkdtemp(w->dir));
	setenv("XDG_CACHE_HOME", w->dir, 1);
	assert_int_equal(cache_folder_new(&w->folder), 0);
	w->table = make_table();
	w->runtime.kind = RUNTIME_NONE + 1;
	w->runtime.version = 0x03000000;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[128];

	unwind_table_free(w->table);
	cache_folder_free(w->folder);
	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	test_free(w);
	return 0;
}

static void put(const struct world *w, const struct cache_key *k)
{
	table_cache_put(w->folder, k, PROGRAM, w->table, &w->runtime);
}

/* Whether something is kept under the key; then it is right. */
static bool has(const struct world *w, const struct cache_key *k, uint64_t program)
{
	struct helper_message answer;
	struct runtime_image runtime;
	struct unwind_table *t = NULL;
	int err = table_cache_get(w->folder, k, program, &answer);

	if (!err) {
		assert_int_equal(parse_take_table(&answer, &t, &runtime), 0);
		assert_int_equal(t->vaddr_lo, w->table->vaddr_lo);
		assert_int_equal(t->nr_rows, w->table->nr_rows);
		assert_memory_equal(t->rows, w->table->rows, t->nr_rows * sizeof(*t->rows));
		assert_int_equal(t->nr_pages, w->table->nr_pages);
		assert_memory_equal(t->pages, w->table->pages, t->nr_pages * sizeof(*t->pages));
		assert_int_equal(t->nr_rules, w->table->nr_rules);
		assert_memory_equal(t->rules, w->table->rules, t->nr_rules * sizeof(*t->rules));
		assert_memory_equal(&runtime, &w->runtime, sizeof(runtime));
	}
	unwind_table_free(t);
	helper_message_release(&answer);
	return !err;
}

static int open_only_file(const struct world *w)
{
	char command[160], path[512];
	FILE *f;
	int fd;

	snprintf(command, sizeof(command), "ls -d %s/probee/*.table", w->dir);
	f = popen(command, "r");
	assert_non_null(f);
	assert_non_null(fgets(path, sizeof(path), f));
	path[strcspn(path, "\n")] = 0;
	assert_int_equal(pclose(f), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void test_kept(void **state)
{
	const struct world *w = *state;

	assert_false(has(w, &key, PROGRAM));
	put(w, &key);
	assert_true(has(w, &key, PROGRAM));
	put(w, &key);			/* over the old one */
	assert_true(has(w, &key, PROGRAM));
}

/* Neither another file's nor what another program has made; and without a build-id nothing is kept. */
static void test_only_its_own(void **state)
{
	const struct world *w = *state;
	struct cache_key others[] = { key, key, key, key, key, key };

	others[0].owner++;
	others[1].dev++;
	others[2].ino++;
	others[3].changed.tv_sec++;
	others[4].changed.tv_nsec++;
	others[5].build_id_len = 0;
	put(w, &key);
	put(w, &others[5]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(has(w, &others[i], PROGRAM));
	assert_false(has(w, &key, PROGRAM + 1));
	assert_false(has(w, &key, 0));
	assert_true(table_cache_program());
	assert_int_equal(table_cache_program(), table_cache_program());
}

/* A writer may be ended anywhere, and a disk may lose what was written last. */
static void test_damaged(void **state)
{
	const struct world *w = *state;
	struct stat st;
	int fd;

	put(w, &key);
	fd = open_only_file(w);
	assert_int_equal(fstat(fd, &st), 0);
	for (off_t at = 0; at < st.st_size; at += at < 100 ? 1 : 97) {
		uint8_t byte, other;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		other = byte ^ 0x10;
		assert_int_equal(pwrite(fd, &other, 1, at), 1);
		assert_false(has(w, &key, PROGRAM));
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_true(has(w, &key, PROGRAM));
	for (off_t len = st.st_size - 1; len > 0; len /= 2) {
		assert_int_equal(ftruncate(fd, len), 0);
		assert_false(has(w, &key, PROGRAM));
	}
	close(fd);
	put(w, &key);
	assert_true(has(w, &key, PROGRAM));
}

/* A sum can be right of a table that no parser makes: it is refused as an answer is. */
static void test_unsound(void **state)
{
	struct world *w = *state;
	struct helper_message answer;
	struct runtime_image runtime;
	struct unwind_table *t = NULL;

	w->table->rows[0].rule = UINT16_MAX;
	put(w, &key);
	assert_int_equal(table_cache_get(w->folder, &key, PROGRAM, &answer), 0);
	assert_int_equal(parse_take_table(&answer, &t, &runtime), -EPROTO);
	unwind_table_free(t);
	helper_message_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unsound, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
