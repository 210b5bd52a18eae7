/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes what the BPF walker reads: tables of binaries into slabs, and for each process the sorted
 * slice of its executable mappings. Rows, rules and slices go through mmap by plain stores, in the
 * order rows, rules, pages, binary, slice, process, so a walk never meets a reference to something
 * that is not there.
 *
 *	unwind_loader_new(&opts, &l)		fds stay the caller's
 *	unwind_loader_table(l, binary, table)	once per binary, and again after on_evict
 *	unwind_loader_process(l, binaries, p)	after each change of p's mappings
 *	unwind_loader_touch(l, binary, time)	a stack with it was seen
 *	unwind_loader_forget(l, p)		p is gone
 *	unwind_loader_free(l)
 *
 * When rows, pages or rules run short, the tables that were not seen in a stack for longest are
 * thrown out: their binaries are unpublished at once, so that walks end there with UNWIND_NO_TABLE,
 * and what they held is used again when no walk can be reading it any more: after the grace time,
 * and when the pass of the iterator (unwind_loader_iterating()) that was under way has ended. The
 * same holds for slices that were replaced.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/binary.h"
#include "src/model/process.h"
#include "unwind/unwind_table.h"
#include "unwind/unwind_limits.h"

struct unwind_loader;

struct unwind_loader_fds {
	int pages, rules, mappings, binaries, rule_cache, processes;
};

struct unwind_loader_options {
	struct unwind_loader_fds fds;	/* BPF maps; all but processes are mapped */
	/*
	 * Makes slab number key for the kernel side: an fd for mmap, which the loader owns then, or
	 * -errno.
	 */
	int (*new_slab)(void *ctx, uint32_t key);
	/*
	 * The table of binary was thrown out because what ("unwind rows") was full; once for each
	 * binary that used it.
	 */
	void (*on_evict)(void *ctx, uint32_t binary, const char *what);
	void *ctx;
	uint64_t max_rows;		/* 0: as many as fit */
	uint64_t epoch_ns;		/* 0: a second */
	uint64_t attached_ns;		/* the kernel side has not seen execs that were before */
};

int unwind_loader_new(const struct unwind_loader_options *opts, struct unwind_loader **lp);
void unwind_loader_free(struct unwind_loader *l);	/* NULL is fine */

/*
 * 0; -EAGAIN: others were thrown out for it, ask again after a second; -ENOSPC: no room for it at
 * all (counted).
 */
int unwind_loader_table(struct unwind_loader *l, uint32_t binary, const struct unwind_table *t);

/* binary uses the table of other, or has as little as that. */
void unwind_loader_same(struct unwind_loader *l, uint32_t binary, uint32_t other);

/* The file has no unwind information and never will. */
void unwind_loader_no_table(struct unwind_loader *l, uint32_t binary);

/* A stack of that time went through binary. */
void unwind_loader_touch(struct unwind_loader *l, uint32_t binary, uint64_t time_ns);

/* An iterator begins to pass over the tasks, or has ended. */
void unwind_loader_iterating(struct unwind_loader *l, bool running);

/* -ENOSPC, -E2BIG, -EFBIG: no room, and counted; the kernel side does not know p then. */
int unwind_loader_process(struct unwind_loader *l, const struct binaries *bs, struct process *p);

/* child runs on its parent's slice, as the kernel side arranged at the fork. false: it has none. */
bool unwind_loader_inherit(struct unwind_loader *l, struct process *child,
			   const struct process *parent);
void unwind_loader_forget(struct unwind_loader *l, struct process *p);

/*
 * Publishes p's slice again when the kernel side has dropped it (an exec that was seen late). 1: it
 * had.
 */
int unwind_loader_check(struct unwind_loader *l, struct process *p);

/* What the kernel reads, for a walker in user space. */
struct unwind_loader_view {
	const struct unwind_page *pages;
	const struct unwind_rule *rules;
	const struct unwind_binary *binaries;
};
void unwind_loader_view(const struct unwind_loader *l, struct unwind_loader_view *out);
/* base of its slab; until the next call */
const struct unwind_row *unwind_loader_rows(struct unwind_loader *l, uint32_t first);

struct unwind_loader_stats {
	uint64_t rows, pages, rules, slabs, binaries, mappings;	/* in use now; binaries: tables */
	uint64_t processes;		/* slices published, all in all */
	uint64_t evicted;		/* tables thrown out to make room */
	uint64_t refused;		/* tables and slices that found no room */
};
void unwind_loader_stats(const struct unwind_loader *l, struct unwind_loader_stats *out);
