/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks as the kernel handed them out become nodes of the trace: FRAME and NODE records for what
 * is new, and questions to those who look up names.
 *
 *	struct stack_definer d = { .deps = { ... } };
 *	stack_definer_user(&d, process, stack, &end)	the node of the user stack, 0: it is empty
 *	stack_definer_kernel(&d, stack)			the node of the kernel stack
 *	stack_definer_release(&d)
 *
 * Stacks met before are recognised as a whole (src/model/stacks.h), so each frame of a stack is
 * only looked up once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"

struct binaries;
struct definitions;
struct jit_names;
struct kernel_symbols;
struct process;
struct region_binary;
struct stacks;
struct symbolizer;

/* All borrowed. */
struct stack_definer_deps {
	record_fn sink;
	void *sink_ctx;
	struct definitions *defs;
	struct stacks *stacks;
	struct jit_names *jit;
	struct binaries *binaries;
	struct symbolizer *symbolizer;
	struct kernel_symbols *kernel;	/* NULL: no kernel stacks were asked for */
	/* A new stack goes through this binary. NULL: nobody asks. */
	void (*on_binary)(void *ctx, uint32_t binary, uint64_t time_ns);
	void *ctx;
};

struct stack_definer {
	struct stack_definer_deps deps;
	uint64_t unresolved;		/* kernel frames without a name */
	struct region_binary *regions;	/* binaries that stand for regions of kernel text */
	size_t nr_regions, cap_regions;
};

void stack_definer_release(struct stack_definer *d);

/*
 * p: the process, NULL: unknown. *end: why the stack ends; the kernel's answer, unless a mapping
 * was newer than the tables that the kernel used.
 */
uint32_t stack_definer_user(struct stack_definer *d, struct process *p, const struct wire_stack *w,
			    uint8_t *end);
uint32_t stack_definer_kernel(struct stack_definer *d, const struct wire_stack *w);
