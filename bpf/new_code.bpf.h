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

/* Words of a stack that are looked at in one turn, since a turn costs more than they do. */
#define CODE_WORDS 8

struct code_loop {
	struct gather *g;
};

/* Whether the code of a frame was not met lately. It is from now on. */
static __always_inline bool meet_code(struct gather *g, uint64_t word, uint64_t second)
{
	/* All but the instruction, and the process. */
	uint64_t hash = (word ^ (second >> 32 << 25)) * 0x9fb21c651e98df25ull;
	uint32_t place, tag;

	hash = (hash ^ hash >> 29 ^ g->head.tgid) * 0x87c37b91114253d5ull;
	place = hash >> (64 - CODE_PLACE_BITS);
	tag = (uint32_t)(hash >> 8) | 1;
	if (place >= CODE_PLACES || codes_met[place] == tag)
		return false;
	codes_met[place] = tag;
	return true;
}

/* The words of turn i. A global function, which the verifier goes through once. */
__noinline int look_at_code(struct gather *g, uint32_t i)
{
	uint64_t is_second, is_new = 0;

	if (!g)
		return 0;
	is_second = g->in_frame;
	for (uint32_t k = 0; k < CODE_WORDS; k++) {
		uint64_t at = (uint64_t)i * CODE_WORDS + k;

		/* The compiler is to test the number itself, and no pointer that goes with it. */
		asm volatile("" : "+r"(at));
		if (at >= WIRE_DUMP_FRAMES - 1 || at >= g->head.nr_user)
			break;
		/* The verifier is to follow one path here, and not one for each sort of word. */
		asm volatile("" : "+r"(is_second), "+r"(is_new));
		is_second = !is_second && g->frames[at] & UNWIND_RUNTIME;
		if (is_second)
			is_new |= meet_code(g, g->frames[at], g->frames[at + 1]);
	}
	g->in_frame = is_second;
	g->new_code |= is_new;
	return 0;
}

static long next_words(uint32_t i, struct code_loop *l) { return look_at_code(l->g, i) != 0; }

static __always_inline bool has_new_code(struct gather *g)
{
	struct code_loop l = { .g = g };

	if (!knobs.runtimes || !g->unwinder.run.turns)
		return false;
	g->in_frame = g->new_code = 0;
	bpf_loop((g->head.nr_user + CODE_WORDS - 1) / CODE_WORDS, next_words, &l, 0);
	return g->new_code;
}
