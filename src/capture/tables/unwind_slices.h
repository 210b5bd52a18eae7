/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of processes as the kernel side reads them: for each process one sorted
 * slice of a big array, written once and replaced as a whole. A child shares its parent's slice
 * until the mappings of either change. Part of the unwind loader.
 *
 * Entries have the numbers of tables (table_numbers.h). When a binary gets another number, that is
 * put into all its entries where they are, each by one store.
 *
 * When there is no room for the slice of a process, and its owner would have less than another one,
 * the largest slices of that one are taken back (room_owners.h), and their processes are unwound in
 * user space, which is slower, but right.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/extents.h"
#include "src/capture/tables/epoch.h"
#include "src/model/binary.h"
#include "src/model/per_process.h"
#include "src/model/process.h"
#include "unwind/unwind_limits.h"

struct mapped_array;
struct process_runtimes;
struct room_owners;
struct slice;

/* What slices need to know of tables and owners. Without functions a number is the binary. */
struct slice_numbers {
	uint32_t (*number_of)(void *ctx, uint32_t binary);
	unsigned (*owner_of)(void *ctx, uint32_t tgid);	/* his place in owners */
	void *ctx;
	struct room_owners *owners;
};

struct unwind_slices {
	const struct epoch *epoch;
	int processes_fd;		/* BPF map: tgid -> struct unwind_process */
	struct unwind_mapping *v;	/* what is in the kernel's array; borrowed */
	struct mapped_array *array;	/* which that is; borrowed; NULL: all of v can be written */
	uint64_t *versions;		/* UNWIND_VERSIONS of them; borrowed */
	struct extents free;
	struct slice *oldest, **newest;	/* replaced ones that a program may still read */
	struct per_process shown;	/* the slice of each process */
	uint32_t max;
	uint64_t attached_ns;		/* see unwind_loader_options */
	struct process_runtimes *runtimes;	/* published with slices; borrowed, or NULL */
	struct slice_numbers numbers;
	uint32_t *binary_of;		/* by entry: whose mapping it is; 0: unused, or a window */
	uint32_t end;			/* no entry from here on was ever used */
	uint32_t *nr_entries;		/* by binary */
	size_t cap_entries;
	uint64_t retired_room;		/* of slices that wait for the end of their epoch */
	uint64_t nr_published;
	uint64_t nr_taken;		/* slices taken back */
};

void unwind_slices_init(struct unwind_slices *s, struct unwind_mapping *v, uint32_t max,
			int processes_fd, uint64_t *versions, const struct epoch *epoch);
void unwind_slices_release(struct unwind_slices *s);

/* binary has that number from now on. */
void unwind_slices_renumber(struct unwind_slices *s, uint32_t binary, uint32_t number);

/*
 * See unwind_loader.h. -EAGAIN: others were taken back, p is still dirty; -ENOSPC: the array is
 * full; -E2BIG: the map of processes is full; -EFBIG:
 * the process has too many mappings.
 */
int unwind_slices_process(struct unwind_slices *s, const struct binaries *bs, struct process *p);
bool unwind_slices_inherit(struct unwind_slices *s, const struct process *child,
			   const struct process *parent);
void unwind_slices_forget(struct unwind_slices *s, struct process *p);
int unwind_slices_check(struct unwind_slices *s, struct process *p);

uint64_t unwind_slices_used(const struct unwind_slices *s);	/* mappings */

/*
 * The entries for one mapping of p, of which there are several if it has code whose windows were
 * read. b: its binary; NULL: none. Returns their number; to NULL: only counts them.
 */
size_t unwind_slices_stretches(struct unwind_mapping *to, const struct process *p,
			       const struct mapping *m, const struct binary *b);

/* The one entry of these that holds addr. false: none does. */
bool unwind_slices_stretch_at(struct unwind_mapping *to, const struct process *p,
			      const struct mapping *m, const struct binary *b, uint64_t addr);

/* Fills in one mapping as the kernel side reads it. b: its binary; NULL: none. */
void unwind_slices_mapping(struct unwind_mapping *to, const struct mapping *m,
			   const struct binary *b);
