/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the stack before each instruction that can be reached. Internal to code_rows.c.
 *
 *	code_flow_begin(&f, in, stats)
 *	code_flow_starts(&f)		follows all paths from the starts of functions and from
 *					linkage stubs
 *	code_trial_run(&f)		code_trial.c: tries what was not reached
 *	f.at				for each byte the index of its state in f.states
 *	code_flow_release(&f)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "unwind/code_rows.h"
#include "unwind/code_starts.h"
#include "unwind/code_state.h"

/* Numbers in at[] that are no states, and the bit of those that come from a trial. */
enum {
	CODE_NOT_REACHED = 0,
	CODE_NOTHING_KNOWN = 1,
	CODE_INSIDE = 0x7fff,
	CODE_TENTATIVE = 0x8000
};

/* A change of at[] during a trial. */
struct code_change {
	uint32_t at;
	uint16_t old;
};

/* A trial follows code from an assumed state, and is undone unless what it finds speaks for it. */
struct code_trial {
	bool is_on;
	bool confirmed, contradicted;
	struct code_change *changes;
	size_t nr_changes, cap_changes;
	uint64_t steps_left;		/* instructions left for all trials together */
};

struct code_flow {
	const struct code_input *in;
	struct code_stats *stats;
	struct code_starts starts;
	uint16_t *at;			/* by byte: the state before it, or one of the above */
	struct code_state *states;	/* distinct; [0] is not used */
	size_t nr_states, cap_states;
	struct hash_index index;
	uint32_t *todo;			/* reached and not followed yet */
	size_t nr_todo, cap_todo;
	uint32_t *unknown_jumps;	/* offsets of indirect jumps inside of functions */
	size_t nr_unknown_jumps, cap_unknown_jumps;
	struct code_trial trial;
};

/* in must be valid (code_rows_build checks). 0, -ENOMEM or -ECANCELED; release in any case. */
int code_flow_begin(struct code_flow *f, const struct code_input *in, struct code_stats *stats);
int code_flow_starts(struct code_flow *f);
void code_flow_release(struct code_flow *f);

bool code_flow_is_unwanted(const struct code_flow *f);

/* Follows all paths from an instruction that is reached in state s. 0 or -ENOMEM. */
int code_flow_from(struct code_flow *f, uint64_t at, const struct code_state *s);

/* Tries all code in gaps that was not reached. 0 or -ENOMEM. */
int code_trial_run(struct code_flow *f);
