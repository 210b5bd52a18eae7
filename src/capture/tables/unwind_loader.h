/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the tables that the BPF programs unwind with: for each binary its unwind table, for each
 * process the sorted slice of its executable mappings.
 *
 *	unwind_loader_new(&opts, &l)		fds stay the caller's
 *	unwind_loader_table(l, binary, table)	once per binary, and again after on_evict; for
 *						each part of a table that comes in parts. One
 *						without pages: as unwind_loader_no_table()
 *	unwind_loader_process(l, binaries, p)	after each change of p's mappings
 *	unwind_loader_touch(l, binary, time)	a stack with it was seen
 *	unwind_loader_forget(l, p)		p is gone
 *	unwind_loader_free(l)
 *
 * The problem. The programs read at any moment and take no lock. They must not meet a reference to
 * something that is not there yet, or that has become another file's. And room is limited
 * (unwind/unwind_limits.h): a machine may have more files than fit.
 *
 * Writing. The tables are mapped and written by plain stores. Each entry refers to one in the next
 * line, which is written before it:
 *
 *	process 4711		mappings 96-107				written last
 *	mapping 97		addresses, binary 7
 *	binary 7		pages 300-330
 *	page 305		rows 8192-8231
 *	row 8195		address in the page, rule 18
 *	rule 18			CFA = sp + 16 ...			written first
 *
 * A binary is published by one store of 64 bits, and so is a page; a slice by one update of the map
 * of processes. Pages that are absent from a table (unwind_table.h) are added later, when they are
 * built.
 *
 * Numbers. The kernel side knows a table by a number, which it has only as long as it is there; so
 * there may be any number of binaries. Mappings of a binary without a table have none. When it gets
 * or loses its table, the number is put into all entries of its mappings, each by one store.
 *
 * Evicting. When rows, pages, rules or numbers run short, the owner who has most of what is short
 * loses those tables that were not seen in a stack for longest (room_owners.h). Their binaries are
 * unpublished at once, so that unwinding ends there with UNWIND_NO_TABLE. What they held is used
 * again when their epoch is over (epoch.h), until then unwind_loader_table() answers -EAGAIN. The
 * same holds for slices that were replaced.
 *
 * Limits. Stacks that go through an evicted binary are deferred until its table is built anew. If
 * the stacks of one owner need more tables than fit, these drive each other out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/binary.h"
#include "src/model/process.h"
#include "unwind/unwind_table.h"
#include "unwind/unwind_limits.h"

struct process_runtimes;
struct unwind_loader;

struct unwind_loader_fds {
	int pages, rules, mappings, binaries, rule_cache, processes;
	uint32_t nr_mappings;		/* 0: UNWIND_MAX_MAPPINGS */
	uint32_t nr_pages;		/* 0: UNWIND_MAX_PAGES */
};

struct unwind_loader_options {
	struct unwind_loader_fds fds;	/* BPF maps; all but processes are mapped */
	/*
	 * Makes slab number key for the kernel side: an fd for mmap, which the loader owns then, or
	 * -errno.
	 */
	int (*new_slab)(void *ctx, uint32_t key);
	/*
	 * The table of binary was evicted because what ("unwind rows") was full. Called once for
	 * each binary that used it.
	 */
	void (*on_evict)(void *ctx, uint32_t binary, const char *what);
	void *ctx;
	/* Whose the table of a binary or window, and a process are: a uid; NULL: all are root's. */
	uint32_t (*table_owner)(void *ctx, uint32_t binary);
	uint32_t (*process_owner)(void *ctx, uint32_t tgid);
	uint64_t max_rows;		/* 0: as many as fit */
	uint32_t max_numbers;		/* tables of files at a time; 0: UNWIND_NUMBERS */
	uint64_t epoch_ns;		/* 0: a second */
	struct process_runtimes *runtimes;	/* published with processes; borrowed, or NULL */
	uint64_t attached_ns;		/* the programs have not seen execs before that time */
};

int unwind_loader_new(const struct unwind_loader_options *opts, struct unwind_loader **lp);
void unwind_loader_free(struct unwind_loader *l);	/* NULL is fine */

/*
 * 0; -EAGAIN: other tables were evicted for it, ask again after a second; -ENOSPC: there is no room
 * for it at all (counted); -E2BIG: nor would there be without all others (counted).
 */
int unwind_loader_table(struct unwind_loader *l, uint32_t binary, const struct unwind_table *t);

/* A stack waits for the table of binary: where room is short, what most wait for comes first. */
void unwind_loader_wanted(struct unwind_loader *l, uint32_t binary);

/* binary uses the table of other, or has none if other has none. */
void unwind_loader_same(struct unwind_loader *l, uint32_t binary, uint32_t other);

/* Takes the table of a window of code back: there is none until the next unwind_loader_table(). */
void unwind_loader_drop(struct unwind_loader *l, uint32_t window);

/* The file has no unwind information and never will. */
void unwind_loader_no_table(struct unwind_loader *l, uint32_t binary);

/* A stack of that time went through binary. */
void unwind_loader_touch(struct unwind_loader *l, uint32_t binary, uint64_t time_ns);

/* A scan begins (running), or has ended: epoch.h. */
void unwind_loader_iterating(struct unwind_loader *l, bool running);

/*
 * 0; -EAGAIN: others were taken back for it, and p is still dirty; -ENOSPC, -E2BIG, -EFBIG: there
 * is no room (counted), and the kernel side does not know p.
 */
int unwind_loader_process(struct unwind_loader *l, const struct binaries *bs, struct process *p);

/*
 * child shares its parent's slice, as the kernel side arranged at the fork. false: there is none.
 */
bool unwind_loader_inherit(struct unwind_loader *l, struct process *child,
			   const struct process *parent);
void unwind_loader_forget(struct unwind_loader *l, struct process *p);

/*
 * Publishes p's slice again if the kernel side has dropped it (an exec that it saw late). 1: it
 * had.
 */
int unwind_loader_check(struct unwind_loader *l, struct process *p);

/* The tables that the kernel reads, for unwinding in user space. */
struct unwind_loader_view {
	const struct unwind_page *pages;
	uint32_t nr_pages;
	const struct unwind_rule *rules;
};
void unwind_loader_view(const struct unwind_loader *l, struct unwind_loader_view *out);
/* Where the table of a binary or window is; valid until the next call. NULL: nothing is known. */
const struct unwind_binary *unwind_loader_place(struct unwind_loader *l, uint32_t binary);
/* The base of the slab that holds nr rows from first on, which hold until the next call. */
const struct unwind_row *unwind_loader_rows(struct unwind_loader *l, uint32_t first, uint32_t nr);

struct unwind_loader_stats {
	uint64_t rows, pages, rules, slabs, binaries, mappings;	/* in use now; binaries: tables */
	uint64_t processes;		/* slices published, all in all */
	uint64_t evicted;		/* tables evicted to make room */
	uint64_t refused;		/* found no room: tables, slices; slices taken back */
};
void unwind_loader_stats(const struct unwind_loader *l, struct unwind_loader_stats *out);
