/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What parser processes answer equals what the same code answers here. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/elf/elf_image.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/parse/kernel_file.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/kernel_text.h"
#include "src/symbolize/symbol_batch.h"
#include "tests/unit/helper_processes.h"

struct world {
	struct helper_processes helpers;
	int self;			/* this program */
	struct elf_image *img;
};

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	helper_processes_start(&w->helpers);
	w->self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	return w->self < 0 ? -1 : elf_image_open(w->self, &w->img);
}

static int teardown(void **state)
{
	struct world *w = *state;

	helper_processes_end(&w->helpers);
	elf_image_close(w->img);
	close(w->self);
	test_free(w);
	return 0;
}

static int file_of(const char *bytes, size_t len)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	return fd;
}

static void test_identity(void **state)
{
	struct world *w = *state;
	struct elf_identity id;
	size_t n = 0;
	int text = file_of("#!/bin/sh\n", 10);

	assert_int_equal(parse_identity(w->helpers.parsers, &(struct parse_file){ w->self, 0, 0 }, getpid(), &id), 0);
	assert_int_equal(id.vaddr_lo, w->img->vaddr_lo);
	assert_int_equal(id.vaddr_hi, w->img->vaddr_hi);
	assert_int_equal(id.build_id_len, w->img->build_id_len);
	assert_memory_equal(id.build_id, w->img->build_id, id.build_id_len);
	for (size_t i = 0; i < w->img->nr_segments; i++) {
		if (!w->img->segments[i].exec)
			continue;
		assert_int_equal(id.segments[n].vaddr, w->img->segments[i].vaddr);
		assert_int_equal(id.segments[n++].offset, w->img->segments[i].offset);
	}
	assert_int_equal(id.nr_segments, n);
	free(id.segments);
	assert_int_equal(parse_identity(w->helpers.parsers, &(struct parse_file){ text, 0, 0 }, getpid(), &id), -ENOEXEC);
	assert_true(parse_identity(w->helpers.parsers, &(struct parse_file){ -1, 0, 0 }, getpid(), &id) < 0);
	close(text);
}

static bool is_called(pid_t pid, const char *name)
{
	char path[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "r");
	if (f && !fgets(comm, sizeof(comm), f))
		comm[0] = 0;
	if (f)
		fclose(f);
	return !strncmp(comm, name, strlen(name));
}

/* The last child of parent with this name that is not in v; 0: none. Of this test only. */
static pid_t child_besides(pid_t parent, const char *name, const pid_t *v, size_t nr)
{
	char path[64], text[4096] = "", *next;
	pid_t found = 0;
	FILE *list;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	list = fopen(path, "r");
	if (!list || !fgets(text, sizeof(text), list))
		text[0] = 0;
	if (list)
		fclose(list);
	for (char *p = text;; p = next) {
		pid_t pid = (pid_t)strtol(p, &next, 10);
		bool is_known = false;

		if (next == p)
			return found;
		for (size_t i = 0; i < nr; i++)
			is_known |= v[i] == pid;
		if (!is_known && is_called(pid, name))
			found = pid;
	}
}

static pid_t child_called(pid_t parent, const char *name)
{
	return child_besides(parent, name, NULL, 0);
}

static bool is_alive(pid_t pid)
{
	char path[64], line[512] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	return *line && strncmp(strrchr(line, ')'), ") Z", 3);
}

/* A parser that was taken over by a file of one user is asked about no file of another one. */
static void test_owners(void **state)
{
	struct world *w = *state;
	pid_t pids[3] = { 0 }, keeper = 0;
	struct elf_identity id;

	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(parse_identity(w->helpers.parsers, &(struct parse_file){ w->self, 1000 + i, 0 }, getpid(),
						&id), 0);
		free(id.segments);
		keeper = keeper ? keeper : child_called(getpid(), "probee-keeper");
		pids[i] = child_besides(keeper, "probee-parser", pids, i);
		assert_true(pids[i] > 0);
		assert_int_equal(parse_identity(w->helpers.parsers, &(struct parse_file){ w->self, 1000 + i, 0 }, getpid(),
						&id), 0);
		free(id.segments);
		assert_int_equal(child_besides(keeper, "probee-parser", pids, i + 1), 0);
	}
	while (is_alive(pids[0]))
		usleep(1000);
	assert_true(is_alive(pids[1]) && is_alive(pids[2]));
}

static void *kill_soon(void *pid)
{
	usleep(100000);
	kill(*(pid_t *)pid, SIGKILL);
	return NULL;
}

/* What ends a parser need not be the file that it has just been given. */
static void test_killed_while_it_parses(void **state)
{
	struct world *w = *state;
	struct elf_identity id;
	pthread_t thread;
	pid_t keeper, parser;
	int err;

	assert_int_equal(parse_identity(w->helpers.parsers, &(struct parse_file){ w->self, 0, 0 }, getpid(), &id), 0);
	free(id.segments);
	keeper = child_called(getpid(), "probee-keeper");
	parser = child_called(keeper, "probee-parser");
	assert_true(parser > 0);
	assert_int_equal(kill(parser, SIGSTOP), 0);
	assert_int_equal(pthread_create(&thread, NULL, kill_soon, &parser), 0);
	err = parse_identity(w->helpers.parsers, &(struct parse_file){ w->self, 0, 0 }, getpid(), &id);
	pthread_join(thread, NULL);
	if (err == -ETIMEDOUT)	/* a busy machine: the second parser had less than a second */
		err = parse_identity(w->helpers.parsers, &(struct parse_file){ w->self, 0, 0 }, getpid(), &id);
	assert_int_equal(err, 0);
	free(id.segments);
}

static int table_of(struct world *w, int fd, const atomic_bool *unwanted,
		    struct unwind_table **tp)
{
	const struct parse_table_request r = { .file.fd = fd, .unwanted = unwanted };

	return parse_table(w->helpers.parsers, &r, tp);
}

/* The parts come as the whole does, and what they leave out is absent. */
static void test_part_of_a_table(void **state)
{
	struct world *w = *state;
	uint32_t page = 0;
	const struct parse_table_request r = { .file.fd = w->self, .pages = &page, .nr_pages = 1 };
	struct unwind_table *here, *there;
	uint64_t lo;

	assert_int_equal(unwind_table_from_image(w->img, &here), 0);
	while (here->pages[page].nr < 100)
		page++;
	assert_int_equal(parse_table(w->helpers.parsers, &r, &there), 0);
	assert_true(there->nr_pages > page && there->pages[page].nr > 10);
	for (uint32_t i = 0; i < there->nr_pages; i++)
		assert_int_equal(there->pages[i].first == UNWIND_PAGE_ABSENT, i != page);
	lo = there->vaddr_lo + ((uint64_t)page << UNWIND_PAGE_SHIFT);
	for (uint64_t at = lo; at < lo + 0x10000; at += 7) {
		struct unwind_rule a = unwind_table_find(here, at), b = unwind_table_find(there, at);

		assert_memory_equal(&a, &b, sizeof(a));
	}
	unwind_table_free(here);
	unwind_table_free(there);
}

static void test_table(void **state)
{
	struct world *w = *state;
	struct unwind_table *here, *there;
	atomic_bool unwanted = false;
	int text = file_of("\177ELF but no more", 16);

	assert_int_equal(unwind_table_from_image(w->img, &here), 0);
	assert_int_equal(table_of(w, w->self, &unwanted, &there), 0);
	assert_int_equal(there->vaddr_lo, here->vaddr_lo);
	assert_int_equal(there->nr_pages, here->nr_pages);
	assert_int_equal(there->nr_rows, here->nr_rows);
	assert_int_equal(there->nr_rules, here->nr_rules);
	assert_true(there->nr_rows > 100);
	assert_memory_equal(there->pages, here->pages, here->nr_pages * sizeof(*here->pages));
	assert_memory_equal(there->rows, here->rows, here->nr_rows * sizeof(*here->rows));
	assert_memory_equal(there->rules, here->rules, here->nr_rules * sizeof(*here->rules));
	assert_true(unwind_table_is_sound(here));
	unwind_table_free(here);
	unwind_table_free(there);
	assert_true(table_of(w, text, &unwanted, &there) < 0);
	assert_null(there);
	atomic_store(&unwanted, true);
	assert_int_equal(table_of(w, w->self, &unwanted, &there), -ECANCELED);
	close(text);
}

static void test_tables_that_are_not_sound(void **state)
{
	struct world *w = *state;
	struct unwind_table *t;
	uint32_t page = 0;

	assert_int_equal(unwind_table_from_image(w->img, &t), 0);
	while (t->pages[page].nr < 2)
		page++;
	t->rows[t->pages[page].first].rule ^= 0xffff;
	assert_false(unwind_table_is_sound(t));
	t->rows[t->pages[page].first].rule ^= 0xffff;
	t->rows[t->pages[page].first].pc_lo = 0xffff;
	assert_false(unwind_table_is_sound(t));
	t->rows[t->pages[page].first].pc_lo = 0;
	assert_true(unwind_table_is_sound(t));
	t->pages[page].nr++;
	assert_false(unwind_table_is_sound(t));
	t->pages[page].nr--;
	t->pages[page].carry = 0xffff;
	assert_false(unwind_table_is_sound(t));
	t->pages[page].carry = 0;
	t->pages[page].first++;
	assert_false(unwind_table_is_sound(t));
	t->pages[page].first--;
	t->rules[0].cfa = CFA_SP;
	assert_false(unwind_table_is_sound(t));
	unwind_table_free(t);
}

static uint64_t own_vaddr(struct world *w)
{
	uint64_t start = 0, offset = 0, at = (uintptr_t)own_vaddr;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	uint64_t hi, off;

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &hi, &off) == 3 && at >= start &&
		    at < hi)
			offset = at - start + off;
	fclose(f);
	for (size_t i = 0; i < w->img->nr_segments; i++)
		if (w->img->segments[i].exec && offset >= w->img->segments[i].offset)
			return offset - w->img->segments[i].offset + w->img->segments[i].vaddr;
	return 0;
}

static void ask_name(struct world *w, uint32_t binary, uint64_t addr, const char *want)
{
	struct symbol_answer v[1] = { { .addr = addr, .cookie = 77, .name = SYMBOL_NO_NAME,
					.sysname = SYMBOL_NO_NAME } };
	struct symbol_batch b = { .v = v, .nr = 1 };
	struct symbol_file_notes notes = { 0 };
	struct symbol_file file = { .binary = binary, .fd = w->self, .path = "/bin/self",
				    .notes = &notes };
	atomic_bool unwanted = false;

	assert_int_equal(parse_names(w->helpers.parsers, &file, &b, &unwanted), 0);
	assert_int_equal(v[0].cookie, 77);
	assert_int_equal(v[0].addr, addr);
	if (want)
		assert_string_equal((char *)b.text.v + v[0].name, want);
	else
		assert_int_equal(v[0].name, SYMBOL_NO_NAME);
	symbol_batch_release(&b);
}

static void test_names(void **state)
{
	struct world *w = *state;
	uint64_t addr = own_vaddr(w);
	struct helper_stats stats;

	assert_true(addr > 0);
	ask_name(w, 5, addr, "own_vaddr");
	ask_name(w, 5, addr + 1, "own_vaddr");
	ask_name(w, 5, 1, NULL);
	helper_keeper_stats(w->helpers.keeper, &stats);
	/* The first batch took two calls and one of the opener, because of its debug file. */
	assert_int_equal(stats.calls, 5);
	for (uint32_t binary = 6; binary < 30; binary++)
		ask_name(w, binary, addr, "own_vaddr");
}

/* Makes this program look like the file of a kernel. */
int kernel_begin(void) __asm__("_stext");
__attribute__((used, noinline)) int kernel_begin(void)
{
	return 1;
}

/* A kernel was moved, and is asked for addresses of where it runs. */
static void test_names_of_a_kernel(void **state)
{
	const uint64_t runs_at = 0xffffffff91000000;
	struct world *w = *state;
	uint64_t addr = own_vaddr(w) - (uintptr_t)own_vaddr + (uintptr_t)kernel_begin, begin = 0;
	struct symbol_answer v[1] = { { .addr = runs_at + 1, .name = SYMBOL_NO_NAME,
					.sysname = SYMBOL_NO_NAME } };
	struct symbol_batch b = { .v = v, .nr = 1 };
	struct symbol_file_notes notes = { 0 };
	struct symbol_file file = { .binary = 3, .fd = w->self, .path = "/boot/vmlinux", .notes = &notes,
				    .is_kernel = true, .text_start = runs_at };
	atomic_bool unwanted = false;
	int libc = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);

	assert_int_equal(kernel_text_of_file(w->img, &begin), 0);
	assert_int_equal(begin, addr);
	assert_int_equal(parse_names(w->helpers.parsers, &file, &b, &unwanted), 0);
	assert_int_equal(v[0].addr, runs_at + 1);
	assert_int_equal(v[0].func_addr, runs_at);
	assert_string_equal((char *)b.text.v + v[0].name, "_stext");
	symbol_batch_release(&b);
	b = (struct symbol_batch){ .v = v, .nr = 1 };
	file.fd = libc;
	file.binary = 4;
	assert_true(parse_names(w->helpers.parsers, &file, &b, &unwanted) < 0);
	symbol_batch_release(&b);
	close(libc);
}

static const char *const places_of_5_4[] = {
	".build-id/ab/cdef.debug", "boot/vmlinux-5.4-x", "boot/vmlinux-5.4-x.debug",
	"lib/modules/5.4-x/vmlinux", "lib/modules/5.4-x/vmlinux.debug",
};

static void test_places_of_a_kernel(void **state)
{
	static const uint8_t id[] = { 0xab, 0xcd, 0xef };
	struct world *w = *state;
	struct kernel_wanted wanted = { "5.4-x", id, sizeof(id) };
	char path[KERNEL_PLACE_MAX];
	struct stat st;
	size_t i;

	for (i = 0; kernel_debug_place(&wanted, i, path); i++)
		assert_string_equal(path, places_of_5_4[i]);
	assert_int_equal(i, 5);
	assert_int_equal(kernel_file_find(w->helpers.opener, w->helpers.parsers, &wanted, &st), -ENOENT);
	/* The release may be a trace's words. */
	wanted.release = "../../etc";
	for (i = 0; kernel_root_place(&wanted, i, path); i++)
		assert_false(strchr(path, '.') || strstr(path, "etc"));
	wanted.build_id_len = 0;
	assert_true(kernel_debug_place(&wanted, 0, path));
	assert_string_equal(path, "");
	assert_int_equal(kernel_text_begin(0x1000, 0x2000), 0x1000);
	assert_int_equal(kernel_text_begin(0, 0x2000), 0x2000);
	assert_int_equal(kernel_text_begin(0x1000, 0), 0x1000);
}

static void test_perf_map(void **state)
{
	static const char map[] = "100 10 first\n200 10 second\n100 10 third\n";
	struct world *w = *state;
	struct perf_map_query v[3] = {
		{ .addr = 0x20f, .cookie = 1, .name = PERF_MAP_NO_NAME },
		{ .addr = 0x300, .cookie = 2, .name = PERF_MAP_NO_NAME },
		{ .addr = 0x101, .cookie = 3, .name = PERF_MAP_NO_NAME },
	};
	struct helper_wait wait = { .until_ns = now_ns() + 20 * NSEC_PER_SEC };
	struct byte_buf names = { 0 };
	struct map_search s = { .v = v, .nr = 3, .names = &names };
	int fd = file_of(map, strlen(map));
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(parse_perf_map(w->helpers.parsers, fd, &st, &wait, &s), 0);
	assert_int_equal(s.mark.bytes, strlen(map));
	assert_int_equal(v[0].cookie, 3);
	assert_string_equal((char *)names.v + v[0].name, "third");
	assert_int_equal(v[0].start, 0x100);
	assert_int_equal(v[1].cookie, 1);
	assert_string_equal((char *)names.v + v[1].name, "second");
	assert_int_equal(v[2].name, PERF_MAP_NO_NAME);
	bb_release(&names);
	close(fd);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_identity), T(test_owners), T(test_killed_while_it_parses), T(test_table),
		T(test_part_of_a_table),
		T(test_tables_that_are_not_sound),
		T(test_names),	  T(test_names_of_a_kernel), T(test_places_of_a_kernel), T(test_perf_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
