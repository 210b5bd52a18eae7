/*
 * Writes what the BPF walker reads: tables of binaries into slabs, and for each process the sorted slice of its
 * executable mappings. Rows, rules and slices go through mmap by plain stores, in the order rows, rules, pages,
 * binary, slice, process, so a walk never meets a reference to something that is not there.
 *
 *	unwind_loader_new(&fds, &l)		fds stay the caller's
 *	unwind_loader_table(l, binary, table)	once per binary
 *	unwind_loader_process(l, binaries, p)	after each change of p's mappings
 *	unwind_loader_forget(l, p)		p is gone
 *	unwind_loader_free(l)
 *
 * A slice that was replaced is reused after a second: a walk that still reads it has ended by then.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/model/binary.h"
#include "src/model/process.h"
#include "unwind/unwind_table.h"
#include "unwind/walk_limits.h"

struct unwind_loader;

struct unwind_loader_fds {
	int slabs, pages, rules, mappings, binaries, processes;
};

int unwind_loader_new(const struct unwind_loader_fds *fds, struct unwind_loader **lp);
void unwind_loader_free(struct unwind_loader *l);	/* NULL is fine */

/* 0, or -ENOSPC: some table is full; the binary stays without (counted). */
int unwind_loader_table(struct unwind_loader *l, uint32_t binary, const struct unwind_table *t);
int unwind_loader_process(struct unwind_loader *l, const struct binaries *bs, struct process *p);

/* child runs on its parent's slice, as the kernel side arranged at the fork. */
void unwind_loader_inherit(struct unwind_loader *l, struct process *child, const struct process *parent);
void unwind_loader_forget(struct unwind_loader *l, struct process *p);

/* Publishes p's slice again when the kernel side has dropped it (an exec that was seen late). 1: it had. */
int unwind_loader_check(struct unwind_loader *l, struct process *p);

/* The file has no unwind information and never will. */
void unwind_loader_no_table(struct unwind_loader *l, uint32_t binary);

/* What the kernel reads, for a walker in user space. */
struct unwind_loader_view {
	const struct unwind_page *pages;
	const struct unwind_rule *rules;
	const struct unwind_binary *binaries;
};
void unwind_loader_view(const struct unwind_loader *l, struct unwind_loader_view *out);
const struct unwind_row *unwind_loader_rows(struct unwind_loader *l, uint32_t first);	/* base of the slab that holds it */
void unwind_loader_mapping(struct unwind_mapping *to, const struct mapping *m, const struct binary *b);

struct unwind_loader_stats {
	uint64_t rows, pages, rules, slabs, binaries, mappings, processes;
	uint64_t refused;		/* tables and slices that found no room */
};
void unwind_loader_stats(const struct unwind_loader *l, struct unwind_loader_stats *out);
