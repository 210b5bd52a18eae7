/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack unwound in user space from its registers and memory, by the kernel's own walker
 * (unwind/unwind_step.h) over the very tables that the kernel reads, but with the mappings that its
 * process had at the time of the sample.
 *
 *	deferred_unwind_new(&deps, &w)
 *	deferred_unwind(w, process, stack, &out)	any number of times
 *	deferred_unwind_free(w)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "src/model/process.h"

struct binaries;
struct deferred_unwind;
struct unwind_loader;
struct wire_stack;

struct deferred_unwind_result {
	const uint64_t *frames;		/* with UNWIND_ flags, innermost first; valid until the next
					   walk */
	uint32_t nr;
	uint8_t end;			/* enum unwind_end */
	bool guessed;
	bool is_cut;			/* it ended where the memory that was kept ends: the stack
					   goes on */
	uint32_t binary;		/* with UNWIND_NO_TABLE: whose table is missing */
};

int deferred_unwind_new(struct unwind_loader *loader, uint32_t mode, uint32_t max_frames,
			struct deferred_unwind **wp);
void deferred_unwind_free(struct deferred_unwind *w);	/* NULL is fine */

/* stack->raw is not NULL. 0 or -ENOMEM. */
int deferred_unwind(struct deferred_unwind *w, const struct binaries *bs, const struct process *p,
		    const struct wire_stack *stack, struct deferred_unwind_result *out);
