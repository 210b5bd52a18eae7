/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/bpf/map_sizes.h"

#include <stdio.h>

#include "bpf/knobs.h"
#include "bpf/wire.h"
#include "src/base/memory_limit.h"
#include "unwind/unwind_limits.h"

#define MIB (1ull << 20)
#define RING_BYTES (8u << 20)
/* At higher rates the usual ring is full after 0.1 s in which the recorder does not get to run. */
#define FAST_HZ 5000
#define FAST_ALL_HZ 65536		/* of all CPUs together */
#define FAST_RING_BYTES (32u << 20)
/* At lower rates it is enough for a second of the longest rows, stack memory included. */
#define SLOW_HZ 256			/* of all CPUs together */
#define SLOW_RING_BYTES (2u << 20)
#define PROCESSES 16384u
#define FEW_PROCESSES_MAPPINGS 65536u	/* of 700 processes with 87 mappings */
/* The smallest sizes that are of use: a second of samples, 94 processes of 87 mappings. */
#define LEAST_RING_BYTES (256u << 10)
#define LEAST_MAPPINGS 8192u
#define LEAST_PROCESSES 1024u
/* So many full mirrors take 8.3 MiB; 64 small ones take 17. */
#define FULL_MIRRORS 16u
#define SHARED_SLOTS 64u
/* The threads of a CPU share its memos; a CPU of a large machine has few that run. */
#define MEMOS 32u
#define LEAST_EACH 2u

/* Measured with 2 CPUs: bytes of an entry of the four maps by process; all other maps together. */
#define PROCESS_BYTES 328u
#define OTHER_BYTES (7 * MIB)
/*
 * With less the kernel killed every recording of one process while it was loading; and every one
 * with scans, whose program is several times as large, so that checking it takes 10 MiB.
 */
#define LEAST_ROOM_BYTES (16 * MIB)
#define LEAST_SCAN_ROOM_BYTES (28 * MIB)
#define LEAST_RUNTIMES_ROOM_BYTES (48 * MIB)
#define FEW_PAGES (UNWIND_MAX_PAGES / 8)	/* for 1 GiB of code */

static uint64_t all_bytes(const struct map_sizes *s)
{
	return s->ring_bytes + (uint64_t)s->mappings * sizeof(struct unwind_mapping) +
	       (uint64_t)s->processes * PROCESS_BYTES + OTHER_BYTES;
}

static uint32_t ring_bytes_for(const struct map_needs *n)
{
	if (n->samples_hz > FAST_HZ || n->samples_hz * n->nr_cpus > FAST_ALL_HZ)
		return FAST_RING_BYTES;
	if (n->few_processes && n->only_samples && n->samples_hz > 0 &&
	    n->samples_hz * n->nr_cpus <= SLOW_HZ)
		return SLOW_RING_BYTES;
	return RING_BYTES;
}

bool map_sizes_init(struct map_sizes *s, const struct map_needs *needs,
		    const struct memory_limit *limit)
{
	uint64_t room = UINT64_MAX / 2;

	*s = (struct map_sizes){ .ring_bytes = ring_bytes_for(needs),
				 .mappings = needs->few_processes ? FEW_PROCESSES_MAPPINGS
								  : UNWIND_MAX_MAPPINGS,
				 .processes = PROCESSES };
	s->full_ring_bytes = s->ring_bytes;
	s->full_mappings = s->mappings;
	if (limit)
		room = limit->used_bytes < limit->limit_bytes
			       ? limit->limit_bytes - limit->used_bytes
			       : 0;
	s->is_tight = needs->has_scans && room < LEAST_RUNTIMES_ROOM_BYTES;
	s->pages = s->is_tight ? FEW_PAGES : UNWIND_MAX_PAGES;
	/* Loading and probee itself need several times as much for a moment. */
	while (all_bytes(s) > room / 4 && map_sizes_halve(s))
		;
	return room >= (needs->has_scans ? LEAST_SCAN_ROOM_BYTES : LEAST_ROOM_BYTES);
}

static bool halve(uint32_t *n, uint32_t least)
{
	if (*n / 2 < least)
		return false;
	*n /= 2;
	return true;
}

bool map_sizes_halve(struct map_sizes *s)
{
	bool ring = halve(&s->ring_bytes, LEAST_RING_BYTES);
	bool mappings = halve(&s->mappings, LEAST_MAPPINGS);
	bool processes = halve(&s->processes, LEAST_PROCESSES);

	s->is_reduced |= ring || mappings || processes;
	return ring || mappings || processes;
}

uint32_t map_sizes_part_pages(const struct map_sizes *s, uint32_t nr_cpus)
{
	return nr_cpus <= FULL_MIRRORS && !s->is_tight ? WIRE_PART_PAGES : WIRE_PART_PAGES / 4;
}

uint32_t map_sizes_shared_slots(uint32_t nr_cpus)
{
	return nr_cpus < SHARED_SLOTS ? nr_cpus : SHARED_SLOTS;
}

/* All CPUs together get no more than 64 would, but each gets some. */
static uint32_t for_each(uint32_t full, uint32_t nr_cpus)
{
	uint32_t each = full * SHARED_SLOTS / nr_cpus;

	return each > full ? full : each > LEAST_EACH ? each : LEAST_EACH;
}

uint32_t map_sizes_leaving_sets(uint32_t nr_cpus)
{
	return for_each(MEMO_SETS, nr_cpus);
}

uint32_t map_sizes_memos(const struct map_sizes *s, uint32_t nr_cpus)
{
	return s->is_reduced ? 0 : for_each(MEMOS, nr_cpus);
}

void map_sizes_text(const struct map_sizes *s, char *buf, size_t size)
{
	snprintf(buf, size,
		 "the ring buffer has %.2f MiB instead of %.2f, and there is room for %u processes "
		 "with %u mappings instead of %u with %u%s",
		 (double)s->ring_bytes / MIB, (double)s->full_ring_bytes / MIB, s->processes,
		 s->mappings, PROCESSES, s->full_mappings,
		 s->is_tight ? ", and none for frames of interpreters" : "");
}
