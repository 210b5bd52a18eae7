/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A number for a stack, by which it is known again (off_cpu.bpf.h). */
#pragma once

#include "bpf/stack.bpf.h"

#define STACK_OF_ONE_STAY (1ull << 63)	/* in ids that are no hash, and come once */
#define HASHED_AT_ONCE 4

struct hash_loop {
	struct gather *g;
	uint64_t hash;
};

static __always_inline uint64_t mix(uint64_t hash, uint64_t word)
{
	word *= 0x87c37b91114253d5ull;
	hash ^= word ^ word >> 29;
	hash *= 0x9fb21c651e98df25ull;
	return hash ^ hash >> 32;
}

static long hash_frames(uint32_t i, struct hash_loop *l)
{
	uint32_t at = i * HASHED_AT_ONCE;
	const uint64_t *word;

	if (at > WIRE_DUMP_FRAMES - HASHED_AT_ONCE)
		return 1;
	word = &l->g->frames[at];
	/* Behind the compiler's back: it would add with |, which the verifier cannot follow. */
	asm volatile("" : "+r"(word));
	for (int k = 0; k < HASHED_AT_ONCE; k++)
		l->hash = mix(l->hash, word[k]);
	return 0;
}

/* The words behind the frames up to a multiple of HASHED_AT_ONCE are made 0. */
static __always_inline void clear_tail(struct gather *g, uint32_t n)
{
	for (int k = 0; k < HASHED_AT_ONCE - 1; k++) {
		uint32_t at = n + k;

		if (at < WIRE_DUMP_FRAMES)
			g->frames[at] = 0;
	}
}

/*
 * The process and a secret number are part of the hash. A hostile process chooses its own return
 * addresses, but it can neither meet the id of a stack of another process nor foresee its own ids.
 */
static __always_inline uint64_t stack_hash(struct gather *g)
{
	uint32_t n = g->head.nr_user + g->head.nr_kernel;
	struct hash_loop l = { .g = g };

	l.hash = mix(knobs.hash_seed, g->head.tgid);
	l.hash = mix(l.hash, (uint64_t)g->head.nr_user << 16 | g->head.nr_kernel);
	l.hash = mix(l.hash, (uint64_t)g->head.flags << 8 | g->head.end);
	clear_tail(g, n);
	bpf_loop((n + HASHED_AT_ONCE - 1) / HASHED_AT_ONCE, hash_frames, &l, 0);
	return l.hash & ~STACK_OF_ONE_STAY;
}
