/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One reading of the names that a process gives the code it makes: the part of jit_names.h that
 * runs in a thread. It touches nothing but its own struct, and asks helper processes to open and
 * to parse the files.
 *
 *	jit_reading_new(nr)		the caller fills in v, places and the helpers
 *	worker_submit(pool, &r->job)	until r->done
 *	jit_reading_free(r)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/base/worker.h"
#include "src/parse/parsers.h"
#include "src/proc/procfs.h"
#include "src/symbolize/perf_map.h"

struct file_opener;
struct parsers;

#define WATCHED 0	/* as a cookie: nobody asks, but other code may come there */
#define JIT_PLACES 2			/* its own map, and that of its parent */

/* Where a map may be, and how far it was read. */
struct jit_place {
	struct process_tmp tmp;		/* .dir is borrowed */
	struct perf_map_mark mark;
};

/* Code that a dump says came to a watched address. */
struct jit_change {
	uint64_t addr, since_ns;
	uint32_t sysname;		/* offset in names */
};

struct jit_reading {
	struct worker_job job;
	struct jit_place places[JIT_PLACES];
	size_t nr_places;
	struct parse_file dump;		/* a jitdump; its fd is closed with this; -1: none */
	struct perf_map_mark dump_mark;
	uint64_t dump_read_ns;		/* answer: it was read up to then; 0: there is none */
	uint64_t since_ns;		/* what came to watched addresses before is known */
	struct jit_change *changes;	/* by time */
	size_t nr_changes, cap_changes;
	struct file_opener *opener;
	struct parsers *parsers;
	uint64_t begin_ns, until_ns;
	bool is_growing;		/* the process runs, so more will come */
	struct perf_map_query *v;
	size_t nr, nr_new;		/* nr_new: that are not old */
	struct byte_buf names;
	uint64_t cost_bytes;		/* that were sent and read, at most */
	/*
	 * 0; -ENOENT: there is neither a dump nor a map; -EACCES: it must not be used; or as
	 * parse_perf_map().
	 */
	int err;
	bool done;
};

struct jit_reading *jit_reading_new(size_t nr);		/* NULL: out of memory */
void jit_reading_free(struct jit_reading *r);		/* NULL is fine */
