/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files behind mappings: who they are, when their tables are built, and copies that share one. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/model/process.h"
#include "src/model/record.h"
#include "tests/unit/capture_world.h"

struct world {
	struct capture_world c;
	char dir[32];
	struct worker_job blocker;	/* keeps the only thread of the pool busy */
	sem_t begun, go;
};

static int open_world(void **state, bool at_once)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	strcpy(w->dir, "/tmp/binary-store-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	sem_init(&w->begun, 0, 0);
	sem_init(&w->go, 0, 0);
	capture_world_open_with(&w->c, at_once);
	return 0;
}

static int setup(void **state)
{
	return open_world(state, false);
}

static int setup_at_once(void **state)
{
	return open_world(state, true);
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[64];

	capture_world_close(&w->c);
	snprintf(command, sizeof(command), "rm -r %s", w->dir);
	assert_int_equal(system(command), 0);
	test_free(w);
	return 0;
}

/* ---- files ---- */

static struct proc_map file_map(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (struct proc_map){
		.start = 0x1000, .end = 0x2000, .path = path, .ino = st.st_ino,
		.dev = (uint64_t)(st.st_dev >> 8 & 0xfff) << 20 | (st.st_dev & 0xff),
	};
}

static uint32_t map_path(struct world *w, const char *path)
{
	struct proc_map map = file_map(path);

	return binary_store_map(w->c.store, getpid(), &map, false);
}

/* The page of its unwind table in which this test's own code is: a table may be built in pages. */
static uint32_t own_page(const struct world *w)
{
	const struct proc_map *m = &w->c.own;

	return (uint32_t)(((uintptr_t)own_page - m->start + m->pgoff_bytes) >> UNWIND_PAGE_SHIFT);
}

static uint32_t map_own(struct world *w)
{
	return binary_store_map(w->c.store, getpid(), &w->c.own, false);
}

static const char *path_in(struct world *w, const char *name, char path[96])
{
	snprintf(path, 96, "%s/%s", w->dir, name);
	return path;
}

static void write_file(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

/* A copy of this test's executable; more bytes at its end make it another file. */
static const char *copy_own(struct world *w, const char *name, size_t more, char path[96])
{
	char command[256];
	struct stat st;

	path_in(w, name, path);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), path);
	assert_int_equal(system(command), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size + (off_t)more), 0);
	return path;
}

/* An ELF file for a machine that probee has no unwinder for. */
static const char *write_foreign(struct world *w, char path[96])
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr load;
		uint8_t code[64];
	} elf = {
		.head = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN, .e_machine = EM_68K, .e_version = EV_CURRENT,
			.e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		},
		.load = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(elf),
			.p_memsz = sizeof(elf), .p_align = 4096,
		},
	};

	write_file(path_in(w, "foreign", path), &elf, sizeof(elf));
	return path;
}

static struct binary_store_stats stats_of(const struct world *w)
{
	struct binary_store_stats st;

	binary_store_stats(w->c.store, &st);
	return st;
}

/* ---- identity ---- */

static void test_file(void **state)
{
	struct world *w = *state;
	uint32_t index = map_own(w);
	const struct binary *b = binaries_get(&w->c.binaries, index);

	assert_non_null(b);
	assert_true(b->is_elf);
	assert_int_equal(b->kind, BINARY_ELF);
	assert_string_equal(b->path, w->c.own.path);
	assert_true(b->nr_segments > 0);
	assert_true(b->vaddr_hi > b->vaddr_lo);
	assert_int_not_equal(b->size_bytes, 0);
	assert_true(symbolizer_fd(w->c.symbolizer, index) >= 0);
	/* Once is enough, also when it was a while ago. */
	assert_int_equal(map_own(w), index);
	usleep(20000);
	assert_int_equal(map_own(w), index);
	assert_int_equal(stats_of(w).opened, 1);
	assert_int_equal(stats_of(w).unreadable, 0);
	/* Its table has not been asked for. */
	assert_int_equal(binary_store_pending(w->c.store), 0);
}

/* At most twice as many files may be open as are now. */
static struct rlimit lower_limit(void)
{
	struct rlimit before, lim;
	int fd = dup(STDERR_FILENO);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	lim = before;
	lim.rlim_cur = 2 * (rlim_t)fd - 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &lim), 0);
	return before;
}

static void test_unused_files_are_closed(void **state)
{
	struct world *w = *state;
	uint32_t own = map_own(w);
	char path[96];
	uint32_t copy = map_path(w, copy_own(w, "copy", 1, path));
	struct processes ps;
	struct process *p;
	struct rlimit before;

	processes_init(&ps);
	p = processes_add(&ps, 1, 0);
	assert_non_null(p);
	assert_int_equal(process_map(p, &(struct mapping){ .start = 1, .end = 2, .binary = copy,
							   .died_ns = TIME_NEVER }), 0);
	binary_store_close_unused(w->c.store, &ps, now_ns());
	assert_true(symbolizer_fd(w->c.symbolizer, own) >= 0);	/* there is room */
	before = lower_limit();
	binary_store_close_unused(w->c.store, &ps, now_ns());
	assert_int_equal(symbolizer_fd(w->c.symbolizer, own), -1);
	assert_true(symbolizer_fd(w->c.symbolizer, copy) >= 0);
	setrlimit(RLIMIT_NOFILE, &before);
	process_exit(p, now_ns());
	before = lower_limit();
	binary_store_close_unused(w->c.store, &ps, now_ns());
	assert_true(symbolizer_fd(w->c.symbolizer, copy) >= 0);	/* its last samples may come yet */
	p->awaited = true;
	binary_store_close_unused(w->c.store, &ps, now_ns() + 10 * NSEC_PER_SEC);
	assert_true(symbolizer_fd(w->c.symbolizer, copy) >= 0);
	p->awaited = false;
	binary_store_close_unused(w->c.store, &ps, now_ns() + 10 * NSEC_PER_SEC);
	assert_int_equal(symbolizer_fd(w->c.symbolizer, copy), -1);
	setrlimit(RLIMIT_NOFILE, &before);
	usleep(20000);
	assert_int_equal(map_own(w), own);			/* it is the same, and open again */
	assert_true(symbolizer_fd(w->c.symbolizer, own) >= 0);
	assert_int_equal(stats_of(w).opened, 2);
	processes_release(&ps);
}

static void test_no_file(void **state)
{
	struct world *w = *state;
	struct proc_map map = { .start = 0x1000, .end = 0x2000, .path = "" };

	assert_int_equal(binary_store_map(w->c.store, getpid(), &map, false), 0);
	map.path = "[heap]";
	assert_int_equal(binary_store_map(w->c.store, getpid(), &map, false), 0);
	assert_int_equal(stats_of(w).unreadable, 0);
}

static void test_vdso(void **state)
{
	struct world *w = *state;
	struct proc_map map = { .start = 0x1000, .end = 0x2000, .path = "[vdso]" };
	uint32_t index = binary_store_map(w->c.store, getpid(), &map, false);

	assert_int_not_equal(index, 0);
	assert_int_equal(binaries_get(&w->c.binaries, index)->kind, BINARY_VDSO);
	assert_int_equal(binary_store_map(w->c.store, 1, &map, false), index);
	assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	tables_are_built(&w->c);
	assert_int_equal(stats_of(w).tables, 1);
}

/* No ELF file has no table, and that is known at once. */
static void test_no_elf_file(void **state)
{
	struct world *w = *state;
	char path[96];
	uint32_t index;

	write_file(path_in(w, "text", path), "#!/bin/sh\n", 10);
	index = map_path(w, path);
	assert_int_not_equal(index, 0);
	assert_false(binaries_get(&w->c.binaries, index)->is_elf);
	assert_int_equal(w->c.nr_none, 1);
	assert_int_equal(w->c.tables[0], index);
	assert_false(binary_store_want_table(w->c.store, index, own_page(w)));
	assert_false(binary_store_table_pending(w->c.store, index, own_page(w)));
}

/* It has gone before it could be opened: a name is all there is. */
static void test_vanished_file(void **state)
{
	struct world *w = *state;
	struct proc_map map, deleted;
	char path[96], gone[96];
	uint32_t index;

	copy_own(w, "copy", 0, path);
	map = file_map(path);
	unlink(path);
	index = binary_store_map(w->c.store, getpid(), &map, false);
	assert_int_not_equal(index, 0);
	assert_false(binaries_get(&w->c.binaries, index)->is_elf);
	assert_int_equal(stats_of(w).unreadable, 1);
	assert_int_equal(w->c.nr_none, 1);
	assert_false(binary_store_want_table(w->c.store, index, own_page(w)));
	/* One that was opened before is that one. (Its inode may be the one of the last.) */
	usleep(20000);
	copy_own(w, "known", 0, gone);
	deleted = file_map(gone);
	index = binary_store_map(w->c.store, getpid(), &deleted, false);
	unlink(gone);
	usleep(20000);
	assert_int_equal(binary_store_map(w->c.store, getpid(), &deleted, false), index);
	assert_int_equal(stats_of(w).unreadable, 2);
	/* Memory with a name is no file. */
	map = (struct proc_map){
		.path = "/memfd:jit", .ino = 0x7777777, .dev = 1, .deleted = true
	};
	assert_int_equal(binary_store_map(w->c.store, getpid(), &map, false), 0);
}

/* What one process cannot have opened is there for the next one at once, whoever was first. */
static void test_file_that_one_process_hides(void **state)
{
	struct world *w = *state;
	char path[96], elsewhere[96];
	struct proc_map map, hidden;
	uint32_t index;

	map = hidden = file_map(copy_own(w, "shown", 0, path));
	hidden.path = path_in(w, "nowhere", elsewhere);
	index = binary_store_map(w->c.store, getpid(), &hidden, false);
	assert_false(binaries_get(&w->c.binaries, index)->is_elf);
	index = binary_store_map(w->c.store, getpid(), &map, false);
	assert_true(binaries_get(&w->c.binaries, index)->is_elf);
}

/* A compiler writes another file with the name, and maybe the inode, of the old one. */
static void test_replaced_file(void **state)
{
	struct world *w = *state;
	char path[96];
	uint32_t before, after;

	before = map_path(w, copy_own(w, "out", 0, path));
	assert_int_equal(truncate(path, 300000000), 0);
	usleep(20000);
	after = map_path(w, path);
	assert_int_not_equal(after, before);
	assert_int_equal(stats_of(w).opened, 2);
}

/* ---- tables ---- */

static void test_table_that_is_wanted(void **state)
{
	struct world *w = *state;
	uint32_t index = map_own(w);

	assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	assert_true(binary_store_table_pending(w->c.store, index, own_page(w)));
	assert_int_equal(binary_store_pending(w->c.store), 1);
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 1);
	assert_int_equal(w->c.tables[0], index);
	assert_int_equal(w->c.nr_none, 0);
	assert_false(binary_store_want_table(w->c.store, index, own_page(w)));
	assert_false(binary_store_table_pending(w->c.store, index, own_page(w)));
	assert_int_equal(binary_store_pending(w->c.store), 0);
	assert_int_equal(stats_of(w).tables, 1);
	assert_true(binaries_get(&w->c.binaries, index)->flags & BINARY_HAS_UNWIND_TABLE);
	assert_false(binary_store_want_table(w->c.store, 0, 0));
	assert_false(binary_store_want_table(w->c.store, 999999, 0));
}

static void test_thrown_out(void **state)
{
	struct world *w = *state;
	uint32_t index = map_own(w);

	binary_store_drop_table(w->c.store, index);	/* not there yet */
	assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	binary_store_drop_table(w->c.store, index);	/* is being built */
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 1);
	binary_store_drop_table(w->c.store, index);
	assert_int_equal(binary_store_pending(w->c.store), 0);
	assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 2);
	assert_int_equal(stats_of(w).tables, 2);
}

/* It found no room: it stays wanted, but is not built over and over. */
static void test_no_room(void **state)
{
	struct world *w = *state;
	uint32_t index = map_own(w);
	uint64_t begin = now_ns();

	w->c.refuse = -EAGAIN;
	assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 1);
	assert_int_equal(stats_of(w).tables, 0);
	assert_int_equal(binary_store_pending(w->c.store), 0);
	assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	if (now_ns() < begin + NSEC_PER_SEC)	/* this machine may be busy */
		assert_false(binary_store_table_pending(w->c.store, index, own_page(w)));
	w->c.refuse = 0;
	while (!binary_store_table_pending(w->c.store, index, own_page(w)))
		assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	tables_are_built(&w->c);
	assert_int_equal(stats_of(w).tables, 1);
	assert_false(binary_store_want_table(w->c.store, index, own_page(w)));
}

/* There will never be room for it. */
static void test_too_big_for_all(void **state)
{
	struct world *w = *state;
	uint32_t index = map_own(w);

	w->c.refuse = -E2BIG;
	assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	tables_are_built(&w->c);
	assert_int_equal(stats_of(w).without_table, 1);
	assert_int_equal(w->c.nr_none, 1);
	assert_false(binary_store_want_table(w->c.store, index, own_page(w)));
}

static void test_nothing_to_unwind_by(void **state)
{
	struct world *w = *state;
	char path[96];
	uint32_t index = map_path(w, write_foreign(w, path));

	assert_true(binaries_get(&w->c.binaries, index)->is_elf);
	assert_true(binary_store_want_table(w->c.store, index, own_page(w)));
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_none, 1);
	assert_int_equal(stats_of(w).without_table, 1);
	assert_int_equal(stats_of(w).tables, 0);
	assert_false(binary_store_want_table(w->c.store, index, own_page(w)));
	/* Nor does that change when room is made. */
	binary_store_drop_table(w->c.store, index);
	assert_false(binary_store_want_table(w->c.store, index, own_page(w)));
}

/* ---- which comes first ---- */

static void block(struct worker_job *job)
{
	struct world *w = (struct world *)((char *)job - offsetof(struct world, blocker));

	sem_post(&w->begun);
	while (sem_trywait(&w->go) && !*job->unwanted)
		usleep(1000);
}

static void unblocked(struct worker_job *job, bool cancelled)
{
	(void)job;
	(void)cancelled;
}

static void block_pool(struct world *w)
{
	w->blocker = (struct worker_job){ .run = block, .done = unblocked, .priority = -1000 };
	worker_submit(w->c.pool, &w->blocker);
	sem_wait(&w->begun);
}

static void test_order(void **state)
{
	struct world *w = *state;
	char paths[4][96];
	uint32_t v[4];

	block_pool(w);
	v[0] = map_path(w, copy_own(w, "huge", 64 << 20, paths[0]));
	v[1] = map_path(w, write_foreign(w, paths[1]));
	rename(paths[1], path_in(w, "first", paths[2]));
	usleep(20000);		/* a file that was opened a moment ago is not opened again */
	v[2] = map_path(w, write_foreign(w, paths[1]));
	v[3] = map_path(w, copy_own(w, "wanted", 200 << 20, paths[3]));
	/* What a large file needs is known when a stack comes. */
	assert_int_equal(binary_store_pending(w->c.store), 2);
	assert_true(binary_store_want_table(w->c.store, v[3], own_page(w)));
	assert_int_equal(binary_store_pending(w->c.store), 3);
	/* Tables that a stack waits for come first. */
	sem_post(&w->go);
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 3);
	assert_int_equal(w->c.tables[0], v[3]);
	assert_int_equal(w->c.tables[1], v[1]);
	assert_int_equal(w->c.tables[2], v[2]);
}

/* The end of a recording: what has not begun is given up. */
static void test_cancelled(void **state)
{
	struct world *w = *state;

	block_pool(w);
	assert_true(binary_store_want_table(w->c.store, map_own(w), own_page(w)));
	assert_int_equal(binary_store_pending(w->c.store), 1);
	worker_pool_free(w->c.pool);
	w->c.pool = NULL;
	assert_int_equal(binary_store_pending(w->c.store), 0);
	assert_int_equal(w->c.nr_tables, 0);	/* no callback says that there is none */
}

/* ---- copies ---- */

static void test_copies_share_a_table(void **state)
{
	struct world *w = *state;
	char a[96], b[96], c[96];
	uint32_t own = map_own(w), first = map_path(w, copy_own(w, "first", 0, a)), second;

	assert_int_not_equal(first, own);
	if (!binaries_get(&w->c.binaries, own)->build_id_len) {
		print_message("the linker gives no build-id\n");
		skip();
	}
	assert_int_equal(stats_of(w).shared, 1);
	/* The copy is asked for: the original's table is built. */
	assert_true(binary_store_want_table(w->c.store, first, own_page(w)));
	assert_true(binary_store_table_pending(w->c.store, own, own_page(w)));
	assert_int_equal(w->c.nr_same, 0);
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 1);
	assert_int_equal(w->c.tables[0], own);
	assert_int_equal(w->c.nr_same, 1);
	assert_int_equal(w->c.same[0], first);
	assert_false(binary_store_want_table(w->c.store, first, own_page(w)));
	/* One that comes later has it at once. */
	second = map_path(w, copy_own(w, "second", 0, b));
	assert_int_equal(w->c.nr_same, 2);
	assert_int_equal(w->c.same[1], second);
	/* All of them lose it together, and get it together. */
	binary_store_drop_table(w->c.store, second);
	assert_true(binary_store_want_table(w->c.store, own, own_page(w)));
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 2);
	assert_int_equal(w->c.nr_same, 4);
	/* The same build-id is not enough. */
	map_path(w, copy_own(w, "longer", 1, c));
	assert_int_equal(stats_of(w).shared, 2);
	assert_int_equal(w->c.nr_same, 4);
}

/* Whoever makes a file with the build-id of another user's must not decide how that is unwound. */
static void test_files_of_two_users_share_nothing(void **state)
{
	struct world *w = *state;
	char a[96], b[96];

	if (geteuid())
		skip();
	map_own(w);
	copy_own(w, "forged", 0, a);
	assert_int_equal(chown(a, 4711, 4711), 0);
	map_path(w, a);
	assert_int_equal(stats_of(w).shared, 0);
	/* His own files do. */
	copy_own(w, "again", 0, b);
	assert_int_equal(chown(b, 4711, 4711), 0);
	map_path(w, b);
	assert_int_equal(stats_of(w).shared, 1);
}

static void test_no_tables_at_all(void **state)
{
	struct world *w = *state;
	struct binary_store_deps deps = {
		.binaries = &w->c.binaries, .pool = w->c.pool, .symbolizer = w->c.symbolizer,
		.opener = w->c.helpers.opener, .parsers = w->c.helpers.parsers,
		.at_once = true, .on_table = cw_on_table, .on_same = cw_on_same, .ctx = &w->c,
	};
	struct binary_store *st;
	uint32_t index;

	assert_int_equal(binary_store_new(&deps, &st), 0);
	index = binary_store_map(st, getpid(), &w->c.own, false);
	assert_int_not_equal(index, 0);
	assert_false(binary_store_want_table(st, index, 0));
	assert_int_equal(binary_store_pending(st), 0);
	binary_store_free(st);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_file),
		T(test_unused_files_are_closed),
		T(test_no_file),
		T(test_vdso),
		T(test_no_elf_file),
		T(test_vanished_file),
		T(test_file_that_one_process_hides),
		T(test_replaced_file),
		T(test_table_that_is_wanted),
		T(test_thrown_out),
		T(test_no_room), T(test_too_big_for_all),
		T(test_nothing_to_unwind_by),
		cmocka_unit_test_setup_teardown(test_order, setup_at_once, teardown),
		cmocka_unit_test_setup_teardown(test_cancelled, setup_at_once, teardown),
		T(test_copies_share_a_table),
		T(test_files_of_two_users_share_nothing),
		T(test_no_tables_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
