/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How good the user stacks of a trace are, and what to do about those that are not whole: by the
 * binary to blame and by cause, the most frequent first. All from the trace alone: how a stack
 * ended, and whose code its last frames are in.
 *
 *	stack_health_init(&h, &tally, tables_of, ctx)	after the last sample; 0 or -ENOMEM,
 *							silently
 *	h.broken[i], h.guesses[i], h.processes[i]
 *	stack_health_release(&h)
 *
 * Binaries are told apart by path, so those of several recordings in one file come together. To
 * blame are
 *	for a stack that is not whole: the code of its outermost frame, whose caller was not found;
 *	when that address is mapped nowhere, the code one frame further in, whose return address it
 *	was taken for;
 *	for a guessed frame: the code that it was found from, the frame it called.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/profile/stack_tally.h"

struct intern;
struct stack_tally;
struct definition_store;

struct health_row {			/* one binary and one cause */
	uint32_t path;			/* stack_health_path(); "" where no binary is to blame */
	uint8_t end;			/* enum stack_end; 0 in guesses */
	bool has_addr;
	uint64_t samples;		/* guesses: by the innermost guess of each stack */
	uint64_t frames;		/* guesses: guessed frames in all samples */
	uint64_t addr;			/* where most of them are: virtual address in the binary, or
					   absolute without one */
	uint64_t addr_samples;		/* internal: how many of them */
};

struct health_process {
	uint32_t segment, process;	/* process 0: not known */
	struct tally_process n;
};

struct health_frames {			/* of user stacks, each as often as it was sampled */
	uint64_t exact, return_address, guessed;
};

struct stack_health {
	struct tally_process all;
	uint64_t guessed;		/* samples with a guessed frame, whole or not */
	struct health_frames frames;
	struct health_row *broken;	/* stacks that are not whole */
	size_t nr_broken, cap_broken;
	struct health_row *guesses;	/* whose callers were guessed */
	size_t nr_guesses, cap_guesses;
	struct health_process *processes;	/* that have stacks which are not whole, the most of
						   them first */
	size_t nr_processes, cap_processes;
	struct intern *paths;
};

/* NULL: no such segment */
typedef const struct definition_store *(*health_tables_fn)(const void *ctx, uint32_t segment);

/* The tally's counts are used up: all it is good for afterwards is its release. */
int stack_health_init(struct stack_health *h, struct stack_tally *t, health_tables_fn tables_of,
		      const void *ctx);
void stack_health_release(struct stack_health *h);
const char *stack_health_path(const struct stack_health *h, const struct health_row *row,
			      size_t *len);
