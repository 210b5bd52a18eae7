/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a stack has frames of a runtime whose code was not met lately. Such code may be gone soon
 * (a script of PHP, an eval), and its name with it, so the reader is woken at once and reads it.
 *
 * A table that all CPUs share has a few bits of each code that was met. Two that share a place take
 * it from each other, which wakes the reader more often than necessary, and never less.
 */
#pragma once

#include "bpf/stack.bpf.h"

#define CODE_PLACES (1u << 14)
#define CODE_PLACE_BITS 14

uint32_t codes_met[CODE_PLACES] = {};

struct code_loop {
	struct gather *g;
	uint32_t is_second;		/* the word is the second one of a frame */
	uint32_t is_new;
};

static long look_at_code(uint32_t i, struct code_loop *l)
{
	struct gather *g = l->g;
	uint64_t word, hash;
	uint32_t place, tag;

	if (i >= WIRE_DUMP_FRAMES - 1)
		return 1;
	word = g->frames[i];
	if (l->is_second || !(word & UNWIND_RUNTIME)) {
		l->is_second = 0;
		return 0;
	}
	l->is_second = 1;
	/* All but the instruction, and the process. */
	hash = (word ^ (g->frames[i + 1] >> 32 << 25)) * 0x9fb21c651e98df25ull;
	hash = (hash ^ hash >> 29 ^ g->head.tgid) * 0x87c37b91114253d5ull;
	place = hash >> (64 - CODE_PLACE_BITS);
	tag = (uint32_t)(hash >> 8) | 1;
	if (place >= CODE_PLACES || codes_met[place] == tag)
		return 0;
	codes_met[place] = tag;
	l->is_new = 1;
	return 0;
}

static __always_inline bool has_new_code(struct gather *g)
{
	struct code_loop l = { .g = g };

	if (!knobs.runtimes || !g->unwinder.run.turns)
		return false;
	bpf_loop(g->head.nr_user, look_at_code, &l, 0);
	return l.is_new;
}
