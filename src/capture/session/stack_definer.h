/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the stacks of the BPF programs into nodes of the trace's stack tree. FRAME and NODE records
 * are written for frames and nodes that are new, and names are requested for new frames.
 *
 *	struct stack_definer d = { .deps = { ... } };
 *	stack_definer_user(&d, process, stack, &end)	the node of the user stack, 0: it is empty
 *	stack_definer_kernel(&d, stack)			the node of the kernel stack, 0: as well
 *	stack_definer_variable(&d, process, address)	the frame of a static variable, 0: none
 *	stack_definer_release(&d)
 *
 * A stack that was met before is recognised as a whole (src/model/stacks.h), so the frames of a
 * stack are only looked up the first time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"
#include "src/symbolize/symbolizer.h"

struct binaries;
struct definitions;
struct jit_names;
struct kernel_code;
struct kernel_symbols;
struct process;
struct mapping;
struct region_binary;
struct runtime_names;
struct shadow_names;
struct stacks;

/* The file with the kernel's debug information, sealed. fd -1: there is none. */
struct kernel_debug {
	int fd;
	struct symbol_inode inode;
};

/* All borrowed. */
struct stack_definer_deps {
	record_fn sink;
	void *sink_ctx;
	struct definitions *defs;
	struct stacks *stacks;
	struct jit_names *jit;
	struct runtime_names *runtimes;	/* NULL: frames of runtimes are not shown */
	struct binaries *binaries;
	struct symbolizer *symbolizer;
	const struct kernel_symbols *kernel;	/* NULL: there are none (session_kernel()) */
	/* The descriptor is taken, and -1 then. NULL: there is no such file. */
	struct kernel_debug *kernel_debug;
	const struct kernel_code *kernel_code;	/* NULL: not known */
	/* Told of each binary that a new stack goes through. NULL: not wanted. */
	void (*on_binary)(void *ctx, uint32_t binary, uint64_t time_ns);
	/*
	 * A stack goes through addr, which m holds: its file may not be read, or not be held any
	 * more. true: more is known of p now, and m is no longer valid. NULL: all files are there.
	 */
	bool (*meet)(void *ctx, struct process *p, const struct mapping *m, uint64_t addr);
	bool no_names;			/* none are requested, nor written for the kernel */
	void *ctx;
};

struct stack_definer {
	struct stack_definer_deps deps;
	uint64_t marks;		/* different stacks in which frames of a runtime are missing */
	uint64_t unresolved;	/* kernel frames without a name, and all that none is wanted for */
	struct region_binary *regions;	/* binaries that stand for regions of kernel text */
	size_t nr_regions, cap_regions;
	struct region_binary *made;	/* binaries that stand for code made at run time */
	size_t nr_made, cap_made;
	struct shadow_names *shadows;	/* owned */
	uint64_t rewound;		/* see session_shadow_rewound() */
	uint32_t kernel_with_lines;	/* the binary whose names come with lines; 0: none */
};

void stack_definer_release(struct stack_definer *d);

/*
 * p: the process, NULL: unknown. Sets *end to the reason for which the stack ends. That is the
 * kernel side's, unless a mapping was newer than those that the kernel side used.
 */
/*
 * Whether it is not known yet which code was there when the stack was taken, so that it may wait.
 * Such stacks are asked about before they are defined.
 */
bool stack_definer_must_wait(const struct stack_definer *d, const struct process *p,
			     const struct wire_stack *w);
uint32_t stack_definer_user(struct stack_definer *d, struct process *p, const struct wire_stack *w,
			    uint8_t *end);
/* Names the shadow frame of this id, whose name has come after it. */
void stack_definer_shadow(struct stack_definer *d, uint64_t id);
uint32_t stack_definer_kernel(struct stack_definer *d, const struct wire_stack *w);
/*
 * Variables lie behind the code of their file, as linkers order them. What is mapped there is not
 * looked up: a loader keeps the whole range for the file.
 */
uint32_t stack_definer_variable(struct stack_definer *d, const struct process *p, uint64_t addr);
