/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large the biggest BPF maps are made: the ring of samples, the mappings of processes, and the
 * maps that are indexed by process. A control group may not have the 28 MiB that all maps together
 * take, and the memory that probee itself needs comes from the same group: if the maps took all of
 * it, the kernel would kill probee. So they are halved until they fit.
 *
 * Where even the smallest leave little room, the programs of scans come without those parts that
 * find the frames of interpreters: to verify them takes memory, too.
 *
 *	map_sizes_init(&s, &needs, limit)	as the recording needs, and the group's room allows
 *	map_sizes_halve(&s)			after -ENOMEM; false: they are at their smallest
 *	map_sizes_text(&s, ...)			what is smaller now, for the user
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_limit;

struct map_needs {
	double samples_hz;		/* of a CPU; 0: not known */
	uint32_t nr_cpus;
	bool has_scans;
	bool only_samples;		/* beside scans: nothing else fills a ring */
	bool few_processes;
};

struct map_sizes {
	uint32_t ring_bytes;		/* a power of two */
	uint32_t mappings, processes;	/* entries */
	uint32_t pages;
	uint32_t full_ring_bytes, full_mappings;
	bool is_reduced;
	bool is_tight;			/* so little room that no frame programs are run */
};

/*
 * limit: of the control group; NULL: there is none. false: not even the smallest sizes can fit.
 */
bool map_sizes_init(struct map_sizes *s, const struct map_needs *needs,
		    const struct memory_limit *limit);
bool map_sizes_halve(struct map_sizes *s);

/*
 * What only some samples need, in the first tenths of a second, is shared where there are many CPUs
 * (bpf/stack_dump.bpf.h): as many as there are CPUs, at most 64.
 */
uint32_t map_sizes_shared_slots(uint32_t nr_cpus);

/*
 * Pages of each part of the mirrors of stack memory (struct wire_delta): 128 KiB, or 32 KiB where
 * there are many CPUs or memory is tight.
 */
uint32_t map_sizes_part_pages(const struct map_sizes *s, uint32_t nr_cpus);

/* Sets of memos of kernel stacks for each CPU: 32 of 5.3 KiB, and less beyond 64 CPUs. */
uint32_t map_sizes_leaving_sets(uint32_t nr_cpus);

/*
 * Memos of rules for each CPU (unwind/unwind_memo.h), 129 KiB of them, and less where all CPUs
 * would have more than 8 MiB; 0 where memory is little, because then the verifier need not look at
 * the code for them.
 */
uint32_t map_sizes_memos(const struct map_sizes *s, uint32_t nr_cpus);

/* "the ring buffer has 2.0 MiB instead of 8.0 MiB, ..." */
void map_sizes_text(const struct map_sizes *s, char *buf, size_t size);
