/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwinder of the kernel side, compiled for the host: unit tests and replays of recorded stacks
 * run the same code of unwind_step.h over tables in memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind_table.h"
#include "unwind/unwind_limits.h"

struct host_mapping {
	uint64_t begin, end;
	uint64_t to_vaddr;		/* address + to_vaddr = virtual address of the binary */
	/* NULL: not known yet, and unwinding ends there; or has_no_table is set. */
	const struct unwind_table *table;
	uint32_t is_file;		/* 0: anonymous code */
	uint32_t has_no_table;		/* 1: the code has no unwind information at all */
};

struct host_unwind_input {
	const uint64_t *regs;		/* as the kernel saves them: ARCH_NR_REGS words */
	const struct host_mapping *mappings;	/* sorted by begin */
	size_t nr_mappings;
	uint32_t mode;			/* UNWIND_BY_TABLES | UNWIND_BY_FRAME_POINTERS */
	uint32_t max_frames;		/* 0: UNWIND_MAX_FRAMES */
	/* Copies the aligned page at addr. 0 unless it is unreadable. */
	int (*read_page)(void *ctx, uint64_t addr, uint8_t page[4096]);
	/*
	 * Copies 16 bytes of code; 0 unless they are unknown. NULL: no code is known. Callers that
	 * only code can tell are then not guessed.
	 */
	int (*read_code)(void *ctx, uint64_t addr, uint8_t code[16]);
	void *ctx;
	uint64_t thread_pointer;	/* 0: unknown */
	/*
	 * NULL, or the runtimes whose loops have rules with RULE_RUNTIME, and the programs that
	 * they number. Records and words are read by read_page.
	 */
	const struct unwind_runtimes *runtimes;
	const struct frame_program *programs;
	uint32_t nr_programs;
	/* NULL, or what is kept from stack to stack; the key says when anything has changed. */
	struct unwind_memo *memo;
	struct unwind_memo_key memo_key;
};

/* Writes frames with UNWIND_ flags, innermost first; returns an enum unwind_end. */
uint32_t host_unwind(const struct host_unwind_input *in, uint64_t frames[UNWIND_MAX_FRAMES],
		     uint32_t *nr_frames);
