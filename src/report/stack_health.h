/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The quality of the user stacks of a trace. Stacks that are not whole are grouped by the binary
 * whose code is the cause and by the kind of cause, the most frequent first. The trace alone tells
 * this: how a stack ended, and which code its last frames are in.
 *
 *	stack_health_init(&h, &tally, tables_of, ctx)	after the last sample; 0 or -ENOMEM,
 *							silently
 *	h.broken[i], h.guesses[i], h.processes[i]
 *	stack_health_release(&h)
 *
 * Binaries are told apart by path, so those of several recordings in one file come together.
 * stack_health.c says which code counts as the cause.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/report/stack_tally.h"

struct intern;
struct stack_tally;
struct definition_store;

struct health_row {			/* one binary and one cause */
	uint32_t path;			/* stack_health_path(); "" if no binary is the cause */
	uint8_t end;			/* enum stack_end; 0 in guesses */
	bool has_addr;
	uint64_t samples;		/* in guesses: by the innermost guess of each stack */
	uint64_t frames;		/* in guesses: guessed frames of all samples */
	/* The most frequent address: virtual in the binary, absolute without one. */
	uint64_t addr;
	uint64_t addr_samples;		/* internal: how many samples are at addr */
};

struct health_process {
	uint32_t segment, process;	/* process 0: not known */
	struct tally_process n;
};

struct health_frames {			/* frames of user stacks, each as often as sampled */
	uint64_t exact, return_address, guessed;
};

struct stack_health {
	struct tally_process all;
	uint64_t guessed;		/* samples with a guessed frame, whole or not */
	struct health_frames frames;
	struct health_row *broken;	/* causes of stacks that are not whole */
	size_t nr_broken, cap_broken;
	struct health_row *guesses;	/* code whose callers were guessed */
	size_t nr_guesses, cap_guesses;
	/* Processes with stacks that are not whole, the one with most such stacks first. */
	struct health_process *processes;
	size_t nr_processes, cap_processes;
	struct intern *paths;
};

/* NULL: there is no such segment. */
typedef const struct definition_store *(*health_tables_fn)(const void *ctx, uint32_t segment);

/* The counts in the tally are used up; afterwards it can only be released. */
int stack_health_init(struct stack_health *h, struct stack_tally *t, health_tables_fn tables_of,
		      const void *ctx);
void stack_health_release(struct stack_health *h);
const char *stack_health_path(const struct stack_health *h, const struct health_row *row,
			      size_t *len);
