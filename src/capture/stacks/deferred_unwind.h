/*
 * A stack unwound in user space from its registers and memory, by the kernel's own walker (unwind/walk.h) over the very
 * tables that the kernel reads, but with the mappings that its process had at the time of the sample.
 *
 *	late_walk_new(&deps, &w)
 *	late_walk(w, process, stack, &out)	any number of times
 *	late_walk_free(w)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "src/model/process.h"

struct binaries;
struct late_walk;
struct unwind_loader;
struct wire_stack;

struct late_walk_result {
	const uint64_t *frames;		/* with WALK_ flags, innermost first; valid until the next walk */
	uint32_t nr;
	uint8_t end;			/* enum walk_end */
	bool guessed;
	bool is_cut;			/* it ended where the memory that was kept ends: the stack goes on */
	uint32_t binary;		/* with WALK_NO_TABLE: whose table is missing */
};

int late_walk_new(struct unwind_loader *loader, uint32_t mode, uint32_t max_frames, struct late_walk **wp);
void late_walk_free(struct late_walk *w);	/* NULL is fine */

/* stack->raw is not NULL. 0 or -ENOMEM. */
int late_walk(struct late_walk *w, const struct binaries *bs, const struct process *p, const struct wire_stack *stack,
	      struct late_walk_result *out);
