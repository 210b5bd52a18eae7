/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the walker keeps of the frame program that runs: part of struct unwinder (unwind_step.h). */
#pragma once

#include <stdint.h>

#include "unwind/frame_program.h"
#include "unwind/unwind_limits.h"

/*
 * RUN_WAITS: for the next loop. RUN_ENDED: the program of this runtime is not run again, others may
 * be. RUN_OVER: no program is run for the rest of the stack. Those from
 * RUN_ON on have steps of their own. RUN_HERE: it is to be seen whether the program knows the
 * generated code that the walker is in; RUN_LOOP: the walker has gone from a loop to its caller.
 */
enum frame_run_state {
	RUN_UNKNOWN, RUN_WAITS, RUN_ENDED, RUN_OVER, RUN_ON, RUN_HERE, RUN_LOOP
};

/* What the walker does at the next pc in generated code. */
enum frame_here {
	HERE_ASK,			/* runs the program */
	HERE_NATIVE,			/* steps: the program has left it */
	HERE_EMITTED,			/* steps: the program has emitted what stands for it */
};

#define FRAME_MEMO 16		/* a power of two */

/* A function that this stack has shown (OP_KEEP). */
struct frame_known {
	uint64_t function;		/* 0: none */
	uint64_t code, cookie;		/* that went out for it */
	uint64_t begin, size;		/* its own code; size UINT64_MAX: nothing is known of it */
	uint64_t is_compiled;		/* in generated code it is never interpreted */
};

/* A frame program that runs. */
struct frame_run {
	uint64_t r[PROGRAM_REGS];
	uint32_t state;			/* enum frame_run_state */
	uint32_t here;			/* enum frame_here */
	uint32_t was;			/* RUN_HERE, RUN_LOOP: the state before */
	uint32_t flags;			/* of struct unwind_runtime */
	uint32_t stepped;		/* the program has moved the walker */
	uint32_t program, at;		/* its number; of the next operation */
	uint32_t turns;
	uint32_t nr_at_loop;		/* words of frames when it was begun or went on */
	uint32_t slot;			/* of its runtime; PROGRAM_SLOTS: none */
	uint32_t is_only;		/* the process has no other runtime */
	uint32_t begun;			/* a bit for each slot whose program was begun */
	uint32_t no_loops;		/* the process has no runtime */
	uint64_t low;			/* RUN_LOOP: stack pointer of the loop's frame */
	uint64_t pc;			/* RUN_LOOP, RUN_HERE: the instruction there */
	uint64_t hop;			/* OP_SEGMAP: where it looks again; 0: at its operand */
	struct {
		uint64_t code, cookie;
	} memo[FRAME_MEMO];		/* of code that this stack has shown; code 0: none */
	struct frame_known known[FRAME_MEMO];
	struct unwind_heap heaps[PROGRAM_HEAPS];
};

/* Powers of two. */
#define FRAME_OBJECT_PAGES 2
#define FRAME_HINTS 64

/* See frame_objects.h. Hints stay from one stack to the next. */
struct frame_objects {
	uint64_t addr[FRAME_OBJECT_PAGES];	/* user address of each page of pages[]; 1: none */
	uint64_t page[FRAME_OBJECT_PAGES];	/* of the last one that was there; it has */
	uint32_t served[FRAME_OBJECT_PAGES];	/* answered so many words */
	uint32_t hints[FRAME_HINTS];		/* numbers of pages of which all is to be read */
	uint64_t alone;				/* page of the last word that was read alone */
	uint64_t word;				/* the answer */
	uint8_t pages[FRAME_OBJECT_PAGES * UNWIND_MEMORY_PAGE];
};

/* What a program has that waits while the program of another runtime runs. */
struct frame_kept {
	uint64_t r[PROGRAM_REG_LOW];
	uint32_t state, at;
};
