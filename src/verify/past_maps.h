/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory mappings of the processes of one recording and the files in them, by time: the MAPPING
 * and BINARY records of one segment of a trace.
 *
 *	past_maps_record(&pm, rec) ...		a record_fn; all records of the segment, in their
 *						order
 *	past_maps_at(&pm, process, time, &list)	any number of times
 *	past_maps_release(&pm)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"

struct past_map {
	uint64_t start, end;
	uint64_t to_vaddr;		/* address + to_vaddr = virtual address of the binary */
	uint64_t pgoff_bytes;
	uint64_t born_ns, died_ns;
	uint32_t process, binary;	/* ids of records; binary 0: anonymous memory */
};

/* A copy of a BINARY record; the path is an id of the segment's strings. */
struct past_binary {
	struct rec_binary rec;		/* .id 0: there is none; .segments is owned */
};

struct past_maps {
	struct past_map *maps;
	size_t nr_maps, cap_maps;
	struct past_binary *binaries;	/* by id */
	size_t nr_binaries, cap_binaries;
	uint64_t work;			/* mappings looked at so far: see PAST_MAPS_WORK */
};

/*
 * A small trace can have millions of mappings, and looking for those of one time is a pass over all
 * of them. Beyond these limits the functions return -E2BIG.
 */
#define PAST_MAPS_MAX (1u << 20)
#define PAST_MAPS_WORK 1000000000ull

struct past_list {
	struct past_map *v;		/* sorted by start, no two overlap */
	size_t nr, cap;
};

int past_maps_record(void *pm, const struct record *rec);	/* 0, -ENOMEM, -E2BIG */
void past_maps_release(struct past_maps *pm);

/* A binary by id; NULL: unknown. */
const struct rec_binary *past_maps_binary(const struct past_maps *pm, uint32_t id);

/*
 * The mappings of the process at that time. Where there was none, one that became known later
 * counts. The list is reused by the next call; free list->v at the end. 0, -ENOMEM or -E2BIG.
 */
int past_maps_at(struct past_maps *pm, uint32_t process, uint64_t time_ns,
		 struct past_list *list);

/* The mapping that holds addr, or NULL. */
const struct past_map *past_list_find(const struct past_list *list, uint64_t addr);
