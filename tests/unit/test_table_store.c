/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables that are built page by page: of this very program, made as large as files are for which
 * that is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/capture/processes/table_store.h"
#include "src/elf/elf_image.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "tests/unit/capture_world.h"
#include "unwind/unwind_limits.h"

#define LARGE (4u << 20)

struct world {
	struct capture_world c;
	char dir[64];
	struct unwind_table *whole;
	uint32_t binary;
	struct unwind_loader_view view;
};

static void read_whole(struct world *w)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_image *img;

	assert_true(fd >= 0);
	assert_int_equal(elf_image_open(fd, &img), 0);
	assert_int_equal(unwind_table_from_image(img, &w->whole), 0);
	elf_image_close(img);
	close(fd);
	assert_true(w->whole->nr_pages > 2);
}

static uint32_t map_copy_of(struct world *w, const char *file, const char *name)
{
	char path[96], command[256];
	struct stat st;
	struct proc_map map = { .start = 0x1000, .end = 0x2000, .path = path };

	snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	snprintf(command, sizeof(command), "cp %s %s", file, path);
	assert_int_equal(system(command), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size < LARGE ? LARGE : st.st_size), 0);
	map.ino = st.st_ino;
	map.dev = (uint64_t)(st.st_dev >> 8 & 0xfff) << 20 | (st.st_dev & 0xff);
	return binary_store_map(w->c.store, getpid(), &map, false);
}

static uint32_t map_copy(struct world *w, const char *name)
{
	char own[32];

	snprintf(own, sizeof(own), "/proc/%d/exe", getpid());
	return map_copy_of(w, own, name);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	*state = w;
	capture_world_open_with(&w->c, true);
	w->c.own_tables = true;
	snprintf(w->dir, sizeof(w->dir), "/tmp/table_store.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	read_whole(w);
	unwind_loader_view(w->c.loader, &w->view);
	w->binary = map_copy(w, "large");
	assert_int_not_equal(w->binary, 0);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[128];

	capture_world_close(&w->c);
	unwind_table_free(w->whole);
	snprintf(command, sizeof(command), "rm -r %s", w->dir);
	assert_int_equal(system(command), 0);
	free(w);
	return 0;
}

static const struct unwind_page *page_at(const struct world *w, uint32_t binary, uint32_t page)
{
	assert_true(page < unwind_loader_place(w->c.loader, binary)->nr_pages);
	return &w->view.pages[unwind_loader_place(w->c.loader, binary)->page0 + page];
}

/* Number of pages that are not built. */
static uint32_t nr_absent(const struct world *w, uint32_t binary)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < unwind_loader_place(w->c.loader, binary)->nr_pages; i++)
		nr += page_at(w, binary, i)->first == UNWIND_PAGE_ABSENT;
	return nr;
}

static bool is_there(const struct world *w, uint32_t page)
{
	return page_at(w, w->binary, page)->first != UNWIND_PAGE_ABSENT;
}

/* The rule that the kernel side would find. */
static struct unwind_rule rule_at(const struct world *w, const struct unwind_page *p, uint32_t key)
{
	const struct unwind_row *rows = unwind_loader_rows(w->c.loader, p->first, p->nr);
	uint16_t rule = p->carry;

	for (uint32_t i = 0; i < p->nr; i++) {
		const struct unwind_row *row = &rows[(p->first & (UNWIND_SLAB_ROWS - 1)) + i];

		if (row->pc_lo > key)
			break;
		rule = row->rule;
	}
	return w->view.rules[rule];
}

/* The loader's page has the rules of the table that was built as a whole. */
static void assert_page(const struct world *w, uint32_t binary, uint32_t page)
{
	uint64_t begin = w->whole->vaddr_lo + ((uint64_t)page << UNWIND_PAGE_SHIFT);

	for (uint32_t key = 0; key < 1u << UNWIND_PAGE_SHIFT; key += 13) {
		struct unwind_rule got = rule_at(w, page_at(w, binary, page), key),
				   want = unwind_table_find(w->whole, begin + key);

		assert_memory_equal(&got, &want, sizeof(want));
	}
}

static uint64_t rows_used(const struct world *w)
{
	struct unwind_loader_stats st;

	unwind_loader_stats(w->c.loader, &st);
	return st.rows;
}

static void want(struct world *w, uint32_t page)
{
	assert_true(binary_store_want_table(w->c.store, w->binary, page));
	tables_are_built(&w->c);
	assert_false(binary_store_want_table(w->c.store, w->binary, page));
	assert_false(binary_store_table_pending(w->c.store, w->binary, page));
}

/* Even of a process whose tables are built at once, only what stacks need is built of it. */
static void test_only_what_is_wanted(void **state)
{
	struct world *w = *state;

	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 0);
	want(w, 1);
	assert_int_equal(w->c.nr_tables, 1);
	assert_page(w, w->binary, 1);
	assert_false(is_there(w, 0) || is_there(w, 2));
	assert_int_equal(rows_used(w), page_at(w, w->binary, 1)->nr);
	want(w, 2);
	assert_page(w, w->binary, 1);
	assert_page(w, w->binary, 2);
	assert_false(is_there(w, 0));
	assert_int_equal(rows_used(w), page_at(w, w->binary, 1)->nr + page_at(w, w->binary, 2)->nr);
}

static void test_hints_come_with_the_next_page(void **state)
{
	struct world *w = *state;

	binary_store_hint_table(w->c.store, w->binary, 2);
	binary_store_hint_table(w->c.store, w->binary, 0);
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 0);
	want(w, 1);
	assert_int_equal(w->c.nr_tables, 1);
	assert_true(is_there(w, 0) && is_there(w, 1) && is_there(w, 2));
	/* Nonsense: an address that is not in this file, and binaries that do not exist. */
	binary_store_hint_table(w->c.store, w->binary, 1u << 30);
	binary_store_hint_table(w->c.store, 0, 0);
	binary_store_hint_table(w->c.store, 99999, 0);
}

static void test_all_pages(void **state)
{
	struct world *w = *state;

	binary_store_hint_table(w->c.store, w->binary, BINARY_STORE_ALL_PAGES);
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 0);
	want(w, 1);
	assert_int_equal(nr_absent(w, w->binary), 0);
	assert_int_equal(w->c.nr_tables, 1);
}

/* No stack has to ask, and it is built once: what was thrown out since is not. */
static void test_all_at_once(void **state)
{
	struct world *w = *state;

	want(w, 1);
	assert_int_not_equal(nr_absent(w, w->binary), 0);
	binary_store_want_all(w->c.store, w->binary);
	assert_true(table_store_lacks_interpreter(binary_store_tables(w->c.store)));
	tables_are_built(&w->c);
	assert_false(table_store_lacks_interpreter(binary_store_tables(w->c.store)));
	assert_int_equal(nr_absent(w, w->binary), 0);
	assert_page(w, w->binary, 1);
	assert_page(w, w->binary, 2);
	assert_int_equal(w->c.nr_tables, 2);
	binary_store_drop_table(w->c.store, w->binary);
	binary_store_want_all(w->c.store, w->binary);
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 2);
	want(w, 1);
	binary_store_want_all(w->c.store, 0);
	binary_store_want_all(w->c.store, 99999);
}

/* After table_store_stop() no table is begun: not by a request, and not for a new file. */
static void test_none_at_the_end(void **state)
{
	struct world *w = *state;

	assert_true(binary_store_want_table(w->c.store, w->binary, 1));
	assert_int_equal(binary_store_pending(w->c.store), 1);
	binary_store_want_table(w->c.store, w->binary, 2);
	binary_store_stop_tables(w->c.store);
	binary_store_want_all(w->c.store, w->binary);
	assert_int_not_equal(map_copy_of(w, "/usr/bin/python3", "python-late"), 0);
	assert_int_equal(binary_store_pending(w->c.store), 1);
	tables_are_built(&w->c);
	assert_int_equal(binary_store_pending(w->c.store), 0);
	assert_true(is_there(w, 1));
}

/* One of them is being built just then. */
static void test_all_meanwhile(void **state)
{
	struct world *w = *state;

	assert_true(binary_store_want_table(w->c.store, w->binary, 1));
	binary_store_want_all(w->c.store, w->binary);
	tables_are_built(&w->c);
	assert_int_equal(nr_absent(w, w->binary), 0);
}

/* An interpreter whose name does not say so: its first page tells, and all others come at once. */
static void test_a_runtime_is_built_as_a_whole(void **state)
{
	struct world *w = *state;

	if (access("/usr/bin/python3", R_OK))
		skip();
	w->binary = map_copy_of(w, "/usr/bin/python3", "snake");
	assert_int_not_equal(w->binary, 0);
	w->c.is_whole = true;
	assert_true(binary_store_want_table(w->c.store, w->binary, 1));
	tables_are_built(&w->c);
	assert_int_not_equal(w->c.nr_runtimes, 0);
	assert_int_equal(w->c.nr_tables, 2);
	assert_int_equal(nr_absent(w, w->binary), 0);
}

/* Pages that are wanted while others are being built come right after them. */
static void test_wanted_meanwhile(void **state)
{
	struct world *w = *state;

	assert_true(binary_store_want_table(w->c.store, w->binary, 0));
	assert_true(binary_store_want_table(w->c.store, w->binary, 1));
	assert_true(binary_store_want_table(w->c.store, w->binary, 2));
	assert_true(binary_store_table_pending(w->c.store, w->binary, 2));
	assert_int_equal(binary_store_pending(w->c.store), 1);
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 2);
	assert_true(is_there(w, 0) && is_there(w, 1) && is_there(w, 2));
}

/* What lies behind the last page is no code, and the kernel side knows that when it has a page. */
static void test_behind_the_end(void **state)
{
	struct world *w = *state;

	want(w, 1u << 20);
	assert_int_equal(w->c.nr_tables, 1);
	assert_true(unwind_loader_place(w->c.loader, w->binary)->nr_pages < 1u << 20);
}

static void test_thrown_out(void **state)
{
	struct world *w = *state;

	want(w, 1);
	binary_store_drop_table(w->c.store, w->binary);
	want(w, 1);
	assert_int_equal(w->c.nr_tables, 2);
}

static void test_copies_have_the_same_pages(void **state)
{
	struct world *w = *state;
	uint32_t before, after;

	before = map_copy(w, "before");
	want(w, 1);
	usleep(20000);		/* a file that was opened a moment ago is not opened again */
	after = map_copy(w, "after");
	assert_true(before != w->binary && after != w->binary && before != after);
	assert_int_equal(page_at(w, before, 1), page_at(w, w->binary, 1));
	assert_int_equal(page_at(w, after, 1), page_at(w, w->binary, 1));
	want(w, 2);
	assert_page(w, before, 2);
	assert_false(binary_store_want_table(w->c.store, after, 2));
}

/* It finds no room: it stays wanted, and the pages that are there stay. */
static void test_no_room(void **state)
{
	struct world *w = *state;
	uint64_t begin;

	want(w, 1);
	w->c.refuse = -EAGAIN;
	begin = now_ns();
	assert_true(binary_store_want_table(w->c.store, w->binary, 2));
	tables_are_built(&w->c);
	assert_true(binary_store_want_table(w->c.store, w->binary, 2));
	if (now_ns() < begin + NSEC_PER_SEC)	/* this machine may be busy */
		assert_false(binary_store_table_pending(w->c.store, w->binary, 2));
	w->c.refuse = 0;
	while (!binary_store_table_pending(w->c.store, w->binary, 2))
		assert_true(binary_store_want_table(w->c.store, w->binary, 2));
	tables_are_built(&w->c);
	assert_page(w, w->binary, 1);
	assert_page(w, w->binary, 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_only_what_is_wanted), T(test_hints_come_with_the_next_page),
		T(test_all_pages), T(test_all_at_once), T(test_all_meanwhile), T(test_none_at_the_end),
		T(test_a_runtime_is_built_as_a_whole), T(test_wanted_meanwhile), T(test_behind_the_end), T(test_thrown_out),
		T(test_copies_have_the_same_pages), T(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
