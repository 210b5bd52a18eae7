/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a frame program on the host, with the code of the kernel's side, without the native frames
 * around it: for tests and fuzzing. At each loop the C stack is taken to be endless (LOW 0, HIGH
 * UINT64_MAX), or as in->loops say. A program that owns generated code (.runtimes
 * has RUNTIME_OWNS_CODE) is run once, at .regs, until it leaves to the native walker; with
 * RUNTIME_HAS_LOOPS, at the loops behind that, too.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind/frame_program.h"
#include "unwind/unwind_limits.h"

struct frame_loop {
	uint64_t low, high;
};

struct frame_replay_input {
	const struct frame_program *program;
	uint64_t consts[PROGRAM_CONSTS];
	uint64_t thread_pointer;	/* 0: the kernel does not know it */
	/* Copies len bytes at addr; 0 unless they are unreadable. */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
	void *ctx;
	/* The native loops, innermost first. NULL: as many as the program asks for. */
	const struct frame_loop *loops;
	size_t nr_loops;
	/* NULL: no flags, no heaps. Else the first counts, with its constants. */
	const struct unwind_runtimes *runtimes;
	const uint64_t *regs;		/* ARCH_NR_REGS words, as the kernel saves them; or NULL */
};

struct frame_replay_result {
	uint64_t words[UNWIND_MAX_FRAMES];	/* two for each frame, as they go out */
	uint32_t nr;			/* of words */
	uint32_t end;			/* UNWIND_TRUNCATED; UNWIND_NOT_DONE: all are there */
	uint32_t failure;		/* enum runtime_failure of the mark at the end; 0: none */
	uint32_t turns, pages_read;
	uint64_t pc, sp;		/* where the walker is behind generated code */
	uint32_t nr_loops;		/* how often it was begun or went on */
	uint32_t loop_at[UNWIND_MAX_FRAMES];	/* .words at which each of these begins */
};

void frame_replay(const struct frame_replay_input *in, struct frame_replay_result *out);
