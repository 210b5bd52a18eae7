/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a Go program made by hand, whole and damaged; tests/oracle/lines_peers.sh has real ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/debug_info/debug_cache.h"
#include "src/debug_info/debug_index.h"
#include "src/debug_info/debug_lines.h"
#include "src/debug_info/go_lines.h"
#include "src/debug_info/go_pcs.h"
#include "src/model/record.h"
#include "tests/unit/go_lines_fixture.h"

#define LATE (UINT64_MAX / 2)
#define MAX_PLACES 8

static int file_of(const struct byte_buf *b)
{
	int fd = memfd_create("go", MFD_CLOEXEC);

	assert_int_equal(write(fd, b->v, b->nr), b->nr);
	return fd;
}

static struct debug_lines *open_lines(const struct gl_program *p)
{
	int fd = file_of(&p->file);
	const struct debug_lines_source src = { .fds = &fd, .nr_fds = 1, .cache_fd = -1, .keeps_news = true };
	struct debug_lines *d;

	assert_int_equal(debug_lines_open(&src, &d, &(uint32_t){ 0 }), 0);
	close(fd);
	return d;
}

static void check_place(const struct unit_place *p, const char *name, const char *file, uint32_t line)
{
	assert_string_equal(p->name, name);
	assert_string_equal(p->file ? p->file : "?", file);
	assert_int_equal(p->line, line);
	assert_int_equal(p->column, 0);
}

static void test_versions(void **state)
{
	struct unit_place v[MAX_PLACES];
	struct gl_program p;
	uint8_t lang = 0;

	(void)state;
	for (enum gl_version version = 0; version < GL_VERSIONS; version++) {
		struct debug_lines *d;

		gl_make(&p, version);
		d = open_lines(&p);
		assert_int_equal(debug_lines_find(d, GL_TEXT + 15, LATE, v, MAX_PLACES, &lang), 3);
		assert_int_equal(lang, LANG_GO);
		check_place(&v[0], "main.inner", "b.go", 5);
		check_place(&v[1], "main.mid", "a.go", 20);
		check_place(&v[2], "main.outer", "a.go", 10);
		assert_int_equal(v[2].entry, GL_TEXT);
		assert_string_equal(v[0].decl_file, "b.go");
		assert_string_equal(v[1].decl_file, "a.go");
		assert_int_equal(v[0].decl_line, version == GL_1_20 ? 4 : 0);
		assert_int_equal(v[2].decl_line, version == GL_1_20 ? 9 : 0);
		assert_int_equal(debug_lines_find(d, GL_TEXT + 16, LATE, v, MAX_PLACES, &lang), 2);
		check_place(&v[0], "main.mid", "a.go", 20);
		assert_int_equal(debug_lines_find(d, GL_TEXT + 24, LATE, v, MAX_PLACES, &lang), 1);
		check_place(&v[0], "main.outer", "a.go", 11);
		assert_int_equal(debug_lines_find(d, GL_TEXT + 32, LATE, v, MAX_PLACES, &lang), 0);
		assert_int_equal(debug_lines_find(d, GL_TEXT + 64, LATE, v, MAX_PLACES, &lang), 1);
		check_place(&v[0], "main.last", "a.go", 30);
		assert_int_equal(v[0].entry, GL_TEXT + 64);
		assert_int_equal(debug_lines_find(d, GL_TEXT + 80, LATE, v, MAX_PLACES, &lang), 0);
		debug_lines_close(d);
		bb_release(&p.file);
	}
}

/* Files with a part of what was kept: nothing, the index, and the table as well. */
static void test_cache(void **state)
{
	static const int places[] = { 0, 0, 3 };
	struct byte_buf news = { 0 }, file = { 0 };
	struct unit_place v[MAX_PLACES];
	struct debug_lines *d;
	struct gl_program p;
	uint8_t lang;
	size_t index;

	(void)state;
	gl_make(&p, GL_1_20);
	d = open_lines(&p);
	assert_int_equal(debug_lines_find(d, GL_TEXT + 15, LATE, v, MAX_PLACES, &lang), 3);
	assert_int_equal(debug_lines_news(d, &news), 0);
	debug_lines_close(d);
	index = sizeof(struct cache_record) + ((struct cache_record *)(void *)news.v)->len;
	for (size_t i = 0; i < 3; i++) {
		const size_t lens[] = { 0, index, news.nr };
		const struct cache_head head = { CACHE_MAGIC, sizeof(head) + lens[i] };
		struct debug_lines_source src = { 0 };

		file.nr = 0;
		bb_bytes(&file, &head, sizeof(head));
		bb_bytes(&file, news.v, lens[i]);
		src.cache_fd = file_of(&file);
		assert_int_equal(debug_lines_open(&src, &d, &(uint32_t){ 0 }), i ? 0 : -ENOENT);
		if (i)
			assert_int_equal(debug_lines_find(d, GL_TEXT + 15, LATE, v, MAX_PLACES, &lang), places[i]);
		if (i)
			debug_lines_close(d);
		close(src.cache_fd);
	}
	bb_release(&news);
	bb_release(&file);
	bb_release(&p.file);
}

/* In main.inner, which is not known any more: so the line there is not one of main.outer. */
static void check_unknown(const struct gl_program *p)
{
	struct debug_lines *d = open_lines(p);
	struct unit_place v[MAX_PLACES];
	uint8_t lang;

	assert_int_equal(debug_lines_find(d, GL_TEXT + 8, LATE, v, MAX_PLACES, &lang), 1);
	check_place(&v[0], "main.outer", "?", 0);
	assert_int_equal(debug_lines_find(d, GL_TEXT, LATE, v, MAX_PLACES, &lang), 1);
	check_place(&v[0], "main.outer", "a.go", 10);
	debug_lines_close(d);
}

static void test_damaged_tree(void **state)
{
	struct gl_program p;

	(void)state;
	for (enum gl_version version = 0; version < GL_VERSIONS; version++) {
		size_t inner;

		gl_make(&p, version);
		inner = p.tree + p.entry_len;
		gl_set(&p, inner + p.entry_name, 1u << 30, 4);
		check_unknown(&p);
		gl_make_at(&p, version, p.tree);
		gl_set(&p, inner + p.entry_call, 64, 4);	/* not in the function */
		check_unknown(&p);
		gl_set(&p, inner + p.entry_call, 8, 4);		/* inlined in itself */
		check_unknown(&p);
		gl_set(&p, inner + p.entry_call, 18, 4);
		gl_set(&p, p.tree + p.entry_call, 8, 4);	/* each in the other */
		check_unknown(&p);
		gl_make_at(&p, version, UINT32_MAX - 1);	/* nowhere in the file */
		check_unknown(&p);
		bb_release(&p.file);
	}
}

static void ask(struct go_lines *g, const struct index_range *r)
{
	struct unit_place v[MAX_PLACES];
	struct byte_buf table = { 0 };
	struct unit_table t;

	if (!go_lines_unit(g, r->unit, LATE, &table)) {
		assert_int_equal(unit_table_open(table.v, table.nr, &t), 0);
		for (uint64_t at = 0; at < 100; at++)
			unit_table_find(&t, r->lo + at, v, MAX_PLACES);
	}
	bb_release(&table);
}

/* Reads exactly these bytes: a copy, so that reading behind them is an error of memory. */
static void read_all(const struct byte_buf *file, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	struct byte_buf index = { 0 };
	struct go_lines *g = NULL;
	struct debug_index ix;

	assert_non_null(copy);
	memcpy(copy + 1, file->v, len);
	if (!go_lines_open_memory(copy + 1, len, &g) && !go_lines_index(g, LATE, &index)) {
		assert_int_equal(debug_index_open(index.v, index.nr, &ix), 0);
		for (size_t i = 0; i < ix.nr && i < 4; i++)
			ask(g, &ix.v[i]);
	}
	go_lines_close(g);
	bb_release(&index);
	free(copy);
}

/* Nothing is read outside the file, whatever is in it: this is for the sanitizers. */
static void test_damaged_files(void **state)
{
	struct gl_program p;

	(void)state;
	for (enum gl_version version = 0; version < GL_VERSIONS; version++) {
		gl_make(&p, version);
		for (size_t i = GL_TABLE; i < p.file.nr; i++) {
			static const uint8_t changes[] = { 0x01, 0x80, 0xff };

			read_all(&p.file, i);
			for (size_t k = 0; k < sizeof(changes); k++) {
				p.file.v[i] ^= changes[k];
				read_all(&p.file, p.file.nr);
				p.file.v[i] ^= changes[k];
			}
		}
		bb_release(&p.file);
	}
}

static void test_units_that_are_not_there(void **state)
{
	struct byte_buf out = { 0 };
	struct go_lines *g;
	struct gl_program p;

	(void)state;
	gl_make(&p, GL_1_20);
	assert_int_equal(go_lines_open_memory(p.file.v, p.file.nr, &g), 0);
	assert_int_equal(go_lines_unit(g, UNITS_OF_GO | GL_NR, LATE, &out), -EBADMSG);
	assert_int_equal(go_lines_unit(g, UINT64_MAX, LATE, &out), -EBADMSG);
	assert_int_equal(out.nr, 0);
	go_lines_close(g);
	bb_release(&p.file);
	bb_release(&out);
	assert_int_equal(go_lines_open_memory("no ELF file", 11, &g), -ENOEXEC);
}

static void check_list(const char *bytes, size_t len, unsigned quantum, size_t nr, uint32_t end)
{
	struct go_pcs p = { 0 };

	assert_int_equal(go_pcs_read(&p, bytes, len, quantum, 100), 0);
	assert_int_equal(p.nr, nr);
	assert_int_equal(go_pcs_end(&p), end);
	assert_int_equal(go_pcs_find(&p, end), GO_NO_VALUE);
	go_pcs_release(&p);
}

static void test_lists(void **state)
{
	struct go_pcs p = { 0 };

	(void)state;
	assert_int_equal(go_pcs_read(&p, "\x02\x04\x03\x05\0\x07", 6, 4, 100), 0);
	assert_int_equal(go_pcs_find(&p, 15), 0);
	assert_int_equal(go_pcs_find(&p, 16), -2);
	assert_int_equal(go_pcs_find(&p, 36), GO_NO_VALUE);
	go_pcs_release(&p);
	check_list("", 0, 1, 0, 0);
	check_list("\0\x04\0", 3, 1, 1, 4);		/* only the first change may be 0 */
	check_list("\x02\0\x02\x01\0", 5, 1, 0, 0);	/* for no instruction */
	check_list("\x02\x04\x02", 3, 1, 1, 4);		/* cut off */
	check_list("\x02\xff\xff\xff\x0f\0", 6, 255, 1, 100);	/* behind the function's end */
	check_list("\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0", 12, 255, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_damaged_tree),
		cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_units_that_are_not_there),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
