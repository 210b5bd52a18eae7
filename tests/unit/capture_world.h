/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What records processes, binaries and tables, put together as a recorder does it but without BPF:
 * the kernel's maps are memory files, events are told by the test, and the unwind table of a file
 * is one that the test made. Include behind cmocka.h.
 *
 *	struct capture_world w;
 *	capture_world_open(&w)
 *	told(&w, &(struct task_event){ ... })	as if the kernel had told it
 *	map_own_file(&w, tgid, start, time)	this test's executable, mapped by that process
 *	tables_are_built(&w)			waits for the workers, and takes what they have made
 *	capture_world_close(&w)
 *
 * Processes are invented: their numbers begin at NO_PID, above the kernel's limit, so that /proc
 * knows nothing of them. What happens to others on this machine is not looked at, unless real is
 * set to the number of one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/worker.h"
#include "src/capture/processes/binary_store.h"
#include "src/capture/processes/process_tracker.h"
#include "src/capture/processes/task_events.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/model/binary.h"
#include "src/model/process.h"
#include "src/proc/procfs.h"
#include "src/symbolize/symbolizer.h"
#include "unwind/unwind_table.h"
#include "tests/unit/helper_processes.h"

#define NO_PID 0x3ffffffu
#define CW_PAGE 4096ull

struct capture_world {
	struct helper_processes helpers;
	struct processes processes;
	struct binaries binaries;
	struct worker_pool *pool;
	struct symbolizer *symbolizer;
	struct unwind_loader *loader;
	struct unwind_loader_fds fds;
	struct binary_store *store;
	struct process_tracker *tracker;
	uint32_t real;			/* a process of this machine that is wanted, too */
	struct proc_map own;		/* the mapping of this test's own code */
	struct cfi_rows rows;		/* the table that every file gets; none: it has no table */
	bool own_tables;		/* files get the tables that they have instead */
	int refuse;			/* on_table() answers this, when it is not 0 */
	uint32_t tables[64], nr_tables;	/* binaries of on_table(), as they came */
	uint32_t nr_none;		/* of these: there is no table and never will be */
	uint32_t same[64], nr_same;
	bool is_whole;			/* all pages of a runtime are wanted when it is known */
	uint32_t nr_runtimes;
	uint32_t nr_asked;		/* cw_wanted() */
};

static inline int cw_memory(size_t bytes)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

static inline int cw_new_slab(void *ctx, uint32_t key)
{
	(void)ctx;
	(void)key;
	return cw_memory(UNWIND_SLAB_ROWS * sizeof(struct unwind_row));
}

static inline void cw_on_evict(void *ctx, uint32_t binary, const char *what)
{
	(void)what;
	binary_store_drop_table(((struct capture_world *)ctx)->store, binary);
}

/* The file's own table is thrown away, unless own_tables: the test says how its code is unwound. */
static inline int cw_on_table(void *ctx, uint32_t binary, const struct unwind_table *t)
{
	struct capture_world *w = ctx;
	const struct binary *b = binaries_get(&w->binaries, binary);
	struct unwind_table *made;
	int err;

	w->tables[w->nr_tables++ % 64] = binary;
	w->nr_none += !t;
	if (w->refuse)
		return w->refuse;
	if (w->own_tables && t)
		return unwind_loader_table(w->loader, binary, t);
	if (!t || !w->rows.nr) {
		unwind_loader_no_table(w->loader, binary);
		return 0;
	}
	assert_int_equal(unwind_table_build(&w->rows, b->vaddr_lo, b->vaddr_hi, &made), 0);
	err = unwind_loader_table(w->loader, binary, made);
	unwind_table_free(made);
	return err;
}

static inline void cw_on_same(void *ctx, uint32_t binary, uint32_t other)
{
	struct capture_world *w = ctx;

	w->same[w->nr_same++ % 64] = binary;
	unwind_loader_same(w->loader, binary, other);
}

static inline void cw_on_runtime(void *ctx, uint32_t binary, const struct runtime_image *image)
{
	struct capture_world *w = ctx;

	(void)image;
	w->nr_runtimes++;
	if (w->is_whole)
		binary_store_want_all(w->store, binary);
}

static inline bool cw_wanted(void *ctx, uint32_t tgid)
{
	struct capture_world *w = ctx;

	w->nr_asked++;
	return tgid >= NO_PID || (w->real && tgid == w->real);
}

static inline int cw_find_own(void *ctx, const struct proc_map *map)
{
	struct capture_world *w = ctx;

	if (!map->ino || w->own.path)
		return 0;
	w->own = *map;
	w->own.path = strdup(map->path);
	return 0;
}

static inline void cw_open_loader(struct capture_world *w)
{
	struct unwind_loader_options o = { .new_slab = cw_new_slab,
					   .on_evict = cw_on_evict,
					   .ctx = w };

	w->fds = o.fds = (struct unwind_loader_fds){
		.pages = cw_memory(UNWIND_MAX_PAGES * sizeof(struct unwind_page)),
		.rules = cw_memory(UNWIND_MAX_RULES * sizeof(struct unwind_rule)),
		.mappings = cw_memory(UNWIND_MAX_MAPPINGS * sizeof(struct unwind_mapping)),
		.binaries = cw_memory(UNWIND_MAX_BINARIES * sizeof(struct unwind_binary)),
		.rule_cache = cw_memory(UNWIND_CACHE_WORDS * sizeof(uint64_t)),
		.processes = -1,
	};
	assert_int_equal(unwind_loader_new(&o, &w->loader), 0);
}

static inline void capture_world_open_with(struct capture_world *w, bool at_once)
{
	struct binary_store_deps store = {
		.binaries = &w->binaries, .want_tables = true, .at_once = at_once,
		.on_table = cw_on_table, .on_runtime = cw_on_runtime, .on_same = cw_on_same,
		.ctx = w,
	};
	struct process_tracker_deps tracker = {
		.processes = &w->processes, .binaries = &w->binaries, .wanted = cw_wanted, .ctx = w,
	};
	struct symbolizer_options names = { .look_up = parse_names, .look_up_lines = parse_lines };

	*w = (struct capture_world){ 0 };
	helper_processes_start(&w->helpers);
	store.opener = w->helpers.opener;
	store.parsers = w->helpers.parsers;
	processes_init(&w->processes);
	assert_int_equal(binaries_init(&w->binaries), 0);
	assert_int_equal(procfs_maps(getpid(), cw_find_own, w), 0);
	assert_non_null(w->own.path);
	w->pool = store.pool = worker_pool_new(1);
	assert_non_null(w->pool);
	names.ctx = w->helpers.parsers;
	w->symbolizer = store.symbolizer = symbolizer_new(w->pool, &names);
	assert_non_null(w->symbolizer);
	cw_open_loader(w);
	assert_int_equal(binary_store_new(&store, &w->store), 0);
	tracker.store = w->store;
	assert_int_equal(process_tracker_new(&tracker, &w->tracker), 0);
}

static inline void capture_world_open(struct capture_world *w)
{
	capture_world_open_with(w, false);
}

static inline void capture_world_close(struct capture_world *w)
{
	worker_pool_free(w->pool);
	process_tracker_free(w->tracker);
	binary_store_free(w->store);
	symbolizer_free(w->symbolizer);
	helper_processes_end(&w->helpers);
	unwind_loader_free(w->loader);
	processes_release(&w->processes);
	binaries_release(&w->binaries);
	cfi_rows_release(&w->rows);
	close(w->fds.pages);
	close(w->fds.rules);
	close(w->fds.mappings);
	close(w->fds.binaries);
	close(w->fds.rule_cache);
	free((char *)w->own.path);
}

static inline void told(struct capture_world *w, const struct task_event *ev)
{
	struct task_event copy = *ev;

	if (!copy.text)
		copy.text = "";
	if (!copy.tid)
		copy.tid = copy.tgid;
	assert_int_equal(process_tracker_event(w->tracker, &copy), 0);
}

static inline void forked(struct capture_world *w, uint32_t tgid, uint32_t parent, uint64_t time_ns)
{
	told(w, &(struct task_event){ .kind = TASK_EVENT_FORK, .tgid = tgid, .parent_tgid = parent,
				      .time_ns = time_ns });
}

static inline void exited(struct capture_world *w, uint32_t tgid, uint64_t time_ns)
{
	told(w, &(struct task_event){ .kind = TASK_EVENT_EXIT, .tgid = tgid, .time_ns = time_ns });
}

/* The thread that opens the file is ours: /proc knows nothing of the process. */
static inline const struct mapping *map_own_file(struct capture_world *w, uint32_t tgid,
						 uint64_t start, uint64_t time_ns)
{
	struct process *p;

	told(w, &(struct task_event){ .kind = TASK_EVENT_MAP, .tgid = tgid,
				      .tid = (uint32_t)getpid(), .start = start, .len = w->own.end - w->own.start,
				      .pgoff_bytes = w->own.pgoff_bytes, .dev = w->own.dev,
				      .ino = w->own.ino, .prot = PROT_READ | PROT_EXEC,
				      .text = w->own.path, .time_ns = time_ns });
	p = processes_find(&w->processes, tgid, TIME_NEVER);
	return p ? process_find_mapping(p, start, time_ns) : NULL;
}

static inline void map_anonymous(struct capture_world *w, uint32_t tgid, uint64_t start,
				 uint64_t len, uint64_t time_ns)
{
	told(w, &(struct task_event){ .kind = TASK_EVENT_MAP, .tgid = tgid, .start = start,
				      .len = len, .prot = PROT_READ | PROT_EXEC, .text = "//anon",
				      .time_ns = time_ns });
}

static inline void tables_are_built(struct capture_world *w)
{
	worker_wait(w->pool);
}
