/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of processes as the kernel side reads them: for each process one sorted
 * slice of a big array, written once and replaced as a whole. A child shares its parent's slice
 * until the mappings of either change. Part of the unwind loader.
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

struct process_runtimes;
struct slice;

struct unwind_slices {
	const struct epoch *epoch;
	int processes_fd;		/* BPF map: tgid -> struct unwind_process */
	struct unwind_mapping *v;	/* the kernel's array; borrowed */
	uint64_t *versions;		/* UNWIND_VERSIONS of them; borrowed */
	struct extents free;
	struct slice *oldest, **newest;	/* replaced ones that a program may still read */
	struct per_process shown;	/* the slice of each process */
	uint32_t max;
	uint64_t attached_ns;		/* see unwind_loader_options */
	struct process_runtimes *runtimes;	/* published with slices; borrowed, or NULL */
	uint64_t nr_published;
};

void unwind_slices_init(struct unwind_slices *s, struct unwind_mapping *v, uint32_t max,
			int processes_fd, uint64_t *versions, const struct epoch *epoch);
void unwind_slices_release(struct unwind_slices *s);

/*
 * See unwind_loader.h. -ENOSPC: the array is full; -E2BIG: the map of processes is full; -EFBIG:
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
