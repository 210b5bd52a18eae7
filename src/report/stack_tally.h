/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts, sample by sample, how user stacks ended, by the ids of each segment. Memory grows with
 * definitions (nodes, processes), never with samples; nothing is looked up here that stack_health.h
 * can look up once, later. Embedded; all zero is empty.
 *
 *	stack_tally_add(&t, segment, tables, sample) ...	0 or -ENOMEM, silently
 *	stack_health_init(&h, &t, tables_of, ctx)
 *	stack_tally_release(&t)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

struct rec_sample;
struct definition_store;

struct tally_process {
	/* User stacks that should exist, and those of them that reached the outermost frame. */
	uint64_t stacks, whole;
	uint64_t whole_guessed;		/* whole stacks that rest on a guess */
};

struct tally_segment {
	uint64_t *stacks;		/* by node id: number of samples with this user stack */
	size_t cap_stacks;
	uint64_t *kernel_stacks;	/* likewise, of all samples */
	size_t cap_kernel_stacks;
	struct tally_process *processes;	/* by process id; 0: process not known */
	size_t cap_processes;
};

struct tally_broken {			/* stacks that are not whole */
	uint32_t segment, ustack;
	uint8_t end;			/* enum stack_end */
	uint64_t count;
};

struct stack_tally {
	struct tally_process all;
	uint64_t guessed;		/* samples with a guessed frame, whole or not */
	struct tally_segment *segments;
	size_t nr_segments, cap_segments;
	struct tally_broken *broken;
	size_t nr_broken, cap_broken;
	struct hash_index broken_index;
};

int stack_tally_add(struct stack_tally *t, uint32_t segment, const struct definition_store *tables,
		    const struct rec_sample *s);
/* Adds nr samples that are like this one. */
int stack_tally_add_many(struct stack_tally *t, uint32_t segment,
			 const struct definition_store *tables, const struct rec_sample *s,
			 uint64_t nr);
/* A sample like this one, not necessarily a good one, will be added soon: fetches its counters. */
void stack_tally_expect(const struct stack_tally *t, uint32_t segment, const struct rec_sample *s);
void stack_tally_release(struct stack_tally *t);
