/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinds a stack in user space from a copy of its registers and memory. It uses the code of the
 * BPF programs (unwind/unwind_step.h) and the same tables that they read, but the mappings that the
 * process had at the time of the sample.
 *
 *	deferred_unwind_new(loader, binaries, mode, max_frames, &w)
 *	deferred_unwind(w, process, stack, &out)	any number of times
 *	deferred_unwind_free(w)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "src/capture/stacks/code_windows.h"
#include "src/model/process.h"

struct binaries;
struct deferred_unwind;
struct unwind_loader;
struct wire_stack;

struct deferred_unwind_result {
	/* With UNWIND_ flags, innermost first; valid until the next deferred_unwind(). */
	const uint64_t *frames;
	uint32_t nr;
	uint8_t end;			/* enum unwind_end */
	bool guessed;
	bool is_cut;			/* it ended where the memory ends: the stack goes on */
	/*
	 * It may go on in memory of which nothing came: a goroutine's stack, which is found by the
	 * thread pointer.
	 */
	bool is_elsewhere;
	/*
	 * UNWIND_NO_PROCESS, _MAPPING or _TABLE: what was not known where it ended or, with
	 * UNWIND_LEAF_BY_TABLE, at an interrupted frame. 0: nothing.
	 */
	uint8_t lacks;
	/* With UNWIND_LEAF_BY_TABLE: the tables did not tell an interrupted frame's caller. */
	bool leaf_guessed;
	uint64_t pc;			/* the address for which that was not known */
	uint32_t binary;		/* lacks UNWIND_NO_TABLE: the one whose table is missing, */
	uint32_t page;			/* and the page of it that is */
	uint64_t wants_code;		/* generated code that no window tells of; 0: none */
	struct code_wait wait;		/* for code that is being read */
};

int deferred_unwind_new(struct unwind_loader *loader, const struct binaries *bs, uint32_t mode,
			uint32_t max_frames, struct deferred_unwind **wp);
void deferred_unwind_free(struct deferred_unwind *w);	/* NULL is fine */
/* Where generated code is read from now on; before, none is. */
void deferred_unwind_set_code(struct deferred_unwind *w, struct code_pages *code);

/* Whether a stack that ended so lacks what may become known. */
bool deferred_unwind_lacks(uint32_t end);

/*
 * The binary that p had mapped at an address, and the page of its table that is meant; 0: none, or
 * its file was not read.
 */
uint32_t deferred_unwind_page_at(const struct deferred_unwind *w, const struct process *p,
				 uint64_t pc, uint64_t time_ns, uint32_t *page);

/*
 * For code_windows_deps; w is a deferred_unwind. The first says that p is meant, with the mappings
 * that it has now, until w does something else; the second finds the rule in force at an address
 * there; CFA_NONE: there is none.
 */
void deferred_unwind_look_at(void *w, const struct process *p);
enum code_place deferred_unwind_look_up(void *w, uint64_t addr, struct unwind_rule *rule);

/* The stack has registers, and its memory or blocks. */
void deferred_unwind(struct deferred_unwind *w, const struct process *p,
		    const struct wire_stack *stack, struct deferred_unwind_result *out);

/*
 * Calls fn for the page of each address of code that lies on the stack, as of the last
 * deferred_unwind(): most are return addresses, and their rules will be needed to unwind it.
 */
void deferred_unwind_hints(struct deferred_unwind *w,
			   void (*fn)(void *ctx, uint32_t binary, uint32_t page), void *ctx);
