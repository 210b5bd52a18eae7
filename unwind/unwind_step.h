/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step outwards: from a frame's registers to its caller's. Freestanding: the same code runs in
 * the BPF programs (bpf/stack.bpf.h) and on the host (unwind/host_unwind.c), so what is tested is
 * what the kernel runs.
 *
 * Before including this file, the including file defines how to reach memory and tables. env is for
 * its own use. The functions must be inlined; pointers they return are valid until the next call:
 *
 *	int unwind_load_page(env, w, addr, from)	copy the aligned 4 KiB of user memory at
 *							addr to w->page, from byte from on: 0, or
 *							the code that unwinding ends with
 *							(UNWIND_BUSY) or 1
 *	int unwind_read_code(env, w, addr)		copy 16 bytes of code at addr to w->code:
 *							0, or 1: unknown
 *	int unwind_thread_pointer(env, &value)		of thread-local storage: 0; 1: unknown
 *	int unwind_process_slice(env, tgid, &first, &nr)	of the mappings: 0 or 1
 *	const struct unwind_mapping *unwind_mapping_at(env, i)
 *	const struct unwind_binary *unwind_binary_at(env, i)
 *	const struct unwind_page *unwind_page_at(env, i)
 *	const struct unwind_row *unwind_rows_at(env, first, nr)	base of the slab with these rows
 *	const struct unwind_rule *unwind_rule_at(env, i)
 *	uint64_t *unwind_cache_word(env, i)			word i of the rule cache, or NULL
 *
 * UNWIND_SEARCH(env, w, pc, &mapping) may be defined instead of the first two: it finds the mapping
 * that holds pc. UNWIND_REPLACED_RETURN(w) may be defined: it is called when a return address is
 * w->trampoline, which the kernel puts there for uretprobes, and sets w->pc to what stood there.
 *
 * So may UNWIND_LOOK_UP(env, w, pc) and UNWIND_PROLOGUE_MASK(code, next), as calls of functions
 * that do the same as those below: the verifier checks a global function once, others on each path.
 *
 * unwind_begin() takes the registers, unwind_step() is called until it returns 1 (at most
 * UNWIND_MAX_STEPS times). Frames come out innermost first; w->end says why unwinding ended.
 */
#pragma once

#include <stdint.h>

#include ARCH_HEADER
#include "unwind/frame_program.h"
#include "unwind/frame_state.h"
#include "unwind/row.h"
#include "unwind/unwind_limits.h"

struct unwinder {
	uint64_t pc, sp, fp;		/* of the frame being unwound */
	uint64_t signal_context;	/* user address of the interrupted registers; 0: in regs */
	uint64_t interrupted_sp;	/* the sp among them */
	uint64_t page_addr;		/* user address of page[]; 1: none */
	uint64_t page_from;		/* its first byte that is there */
	uint64_t map_begin, map_end, map_bias;	/* the last mapping used; empty at first */
	uint32_t map_page0, map_nr_pages, map_binary, map_flags;
	uint32_t tgid;
	uint32_t nr;			/* frames so far */
	uint32_t end;			/* enum unwind_end */
	uint32_t exact;			/* pc is the exact instruction, no return address */
	uint32_t flags_next;		/* top half of the UNWIND_ flags for the next frame */
	uint32_t mode, max_frames;
	uint32_t saw_guess, pages_read;
	uint32_t next_goroutine;	/* RULE_NEXT_GOROUTINE if a frame's rule has it */
	uint32_t guess;			/* enum unwind_guess: what is tried for this frame; or 0 */
	uint32_t guess_end;		/* how unwinding ends if no caller is found */
	uint32_t leaf_end;		/* --unwind fp: why no table told a leaf's caller; or 0 */
	uint32_t may_skip;		/* --unwind fp: the next step may leave a frame out */
	uint64_t leaf_pc;		/* with leaf_end: where a table was missing */
	uint64_t scan_at, scan_prev;	/* the next word to look at, and the stack word below it */
	uint32_t scan_left, scan_budget;	/* steps left for this frame, for this stack */
	int64_t frame_bytes;		/* from arch_prologue_at() */
	int32_t fp_off;			/* GUESS_GENERATED: from the CFA */
	uint32_t fp_kind;		/* enum unwind_fp */
	/* The first pc in generated code that no window tells of, or whose window is outdated. */
	uint64_t wants_code;
	uint32_t may_want;		/* GUESS_GENERATED: it may be this pc */
	uint64_t code[2];		/* from unwind_read_code() */
	struct unwind_rule rule;	/* of this frame */
	uint32_t generated;		/* this frame is in code made at run time */
	struct unwind_recall recall;	/* see unwind_memo.h */
	uint64_t trampoline;		/* of uretprobes; 0: none is pending */
	uint64_t return_instance;	/* in the kernel: the next that is pending */
	uint64_t regs[ARCH_NR_REGS];	/* the kernel's saved user registers */
	struct frame_run run;		/* see frame_step.h */
	struct frame_kept kept[PROGRAM_SLOTS];
	struct frame_objects objects;
	uint64_t record_addr;		/* user address of record_page[]; 1: none */
	union {
		struct {
			uint8_t page[UNWIND_MEMORY_PAGE], record_page[UNWIND_MEMORY_PAGE];
		};
		uint8_t pages[2 * UNWIND_MEMORY_PAGE];
	};
};

/* A frame pointer that is lost: not aligned, so it is never followed; not 0, which ends a chain. */
#define UNWIND_LOST_FP 1

/* Reads a struct unwind_binary or a struct unwind_page at once. */
typedef uint64_t __attribute__((may_alias)) unwind_word;

#define UNWIND_INLINE static inline __attribute__((always_inline))

/* No end code has this bit. */
#define UNWIND_FOUND (1u << 31)

#ifndef UNWIND_LOOK_UP
#define UNWIND_LOOK_UP unwind_find_other_mapping
#define UNWIND_SEARCH_PAGE unwind_search_page
#define UNWIND_GUESS_ON unwind_guess_on
#define UNWIND_STEP_PLAIN unwind_step_plain
#define UNWIND_PROLOGUE_MASK arch_prologue_mask
#endif

#define UNWIND_END(w, code) ({ (w)->end = (code); 1; })

#include "unwind/unwind_memo.h"

/*
 * Reads a field of a rule again. Otherwise the verifier would keep what it learnt about the value
 * at a branch, and check all following code once for each side of the branch.
 */
#define UNWIND_ANEW(x) (*(const volatile typeof(x) *)&(x))

#include "unwind/frame_step.h"

/* Starts to unwind at w->regs. */
UNWIND_INLINE void unwind_begin(struct unwinder *w, uint32_t tgid, uint32_t mode,
				uint32_t max_frames)
{
	w->pc = w->regs[ARCH_REG_PC];
	w->sp = w->regs[ARCH_REG_SP];
	w->fp = w->regs[ARCH_REG_FP];
	w->signal_context = 0;
	w->interrupted_sp = w->sp;
	w->page_addr = 1;
	w->map_begin = 1;
	w->map_end = 0;
	w->tgid = tgid;
	w->nr = 0;
	w->end = UNWIND_NOT_DONE;
	w->exact = 1;
	w->flags_next = 0;
	w->mode = mode;
	w->max_frames = max_frames;
	w->saw_guess = 0;
	w->next_goroutine = 0;
	w->pages_read = 0;
	w->guess = 0;
	w->leaf_end = 0;
	w->may_skip = 0;
	w->leaf_pc = 0;
	w->scan_budget = UNWIND_SEARCH_TOTAL;
	w->wants_code = 0;
	w->recall.use = 0;
	w->trampoline = 0;
	frame_run_init(w);
}

#include "unwind/unwind_read.h"

#ifndef UNWIND_SEARCH
#define UNWIND_SEARCH unwind_search_slice

/* Finds the mapping that holds pc in the slice of the process. 0 or an end code. */
UNWIND_INLINE int unwind_search_slice(void *env, struct unwinder *w, uint64_t pc,
				      const struct unwind_mapping **mp)
{
	const struct unwind_mapping *m;
	uint32_t first = 0, nr = 0;

	if (unwind_process_slice(env, w->tgid, &first, &nr))
		return UNWIND_NO_PROCESS;
	if (!nr)
		return UNWIND_NO_MAPPING;
	for (int i = 0; i < 14 && nr > 1; i++) {
		uint32_t half = nr / 2;

		m = unwind_mapping_at(env, first + half);
		if (!m)
			return UNWIND_BUG;
		if (m->begin <= pc)
			first += half;
		nr -= half;
	}
	*mp = m = unwind_mapping_at(env, first);
	return !m ? UNWIND_BUG : pc < m->begin || pc >= m->end ? UNWIND_NO_MAPPING : 0;
}
#endif

/* Finds the mapping that holds pc and keeps it in w. 0 or an end code. */
UNWIND_INLINE int unwind_find_other_mapping(void *env, struct unwinder *w, uint64_t pc)
{
	const struct unwind_mapping *m = NULL;
	const struct unwind_binary *b;
	uint64_t place;
	int end = UNWIND_SEARCH(env, w, pc, &m);

	if (end)
		return end;
	w->map_begin = m->begin;
	w->map_end = m->end;
	w->map_bias = m->bias;
	w->map_binary = m->binary;
	w->map_flags = m->flags;
	b = unwind_binary_at(env, w->map_binary);
	place = b ? *(const volatile unwind_word *)b : 0;
	w->map_page0 = (uint32_t)place;
	w->map_nr_pages = place >> 32;
	return 0;
}

/* Finds the mapping that holds pc, but first looks at the one that is kept. 0 or an end code. */
UNWIND_INLINE int unwind_find_mapping(void *env, struct unwinder *w, uint64_t pc)
{
	return pc >= w->map_begin && pc < w->map_end ? 0 : UNWIND_LOOK_UP(env, w, pc);
}

/* A register as it was at the interrupted instruction. */
UNWIND_INLINE int unwind_interrupted_register(void *env, struct unwinder *w, uint32_t dwarf,
					      uint64_t *value)
{
	uint32_t i;

	if (dwarf > ARCH_DWARF_REGS_MASK)
		return 1;
	dwarf &= ARCH_DWARF_REGS_MASK;
	if (w->signal_context) {
		i = arch_dwarf_to_signal[dwarf];
		return unwind_read(env, w, w->signal_context + i * 8, value);
	}
	i = arch_dwarf_to_reg[dwarf];
	if (i >= ARCH_NR_REGS)
		return 1;
	*value = w->regs[i];
	return 0;
}

/* Notes that w is now a frame that was found through a return address. */
UNWIND_INLINE void unwind_found_caller(struct unwinder *w, int guessed)
{
	w->exact = 0;
	w->flags_next = (uint32_t)((guessed ? UNWIND_RETURN_ADDRESS | UNWIND_GUESSED
					    : UNWIND_RETURN_ADDRESS) >>
				   32);
	if (guessed)
		w->saw_guess = 1;
}

#include "unwind/unwind_frame_pointer.h"
#include "unwind/unwind_rule_of.h"
#include "unwind/unwind_goroutine.h"
#include "unwind/unwind_guess.h"

/* Steps to the registers that a signal interrupted, in the ucontext above the trampoline. */
UNWIND_INLINE int unwind_step_signal(void *env, struct unwinder *w)
{
	uint64_t context = w->sp + ARCH_SIGNAL_CONTEXT, pc = 0, sp = 0, fp = 0;
	int err = unwind_read(env, w, context + ARCH_SIGNAL_PC * 8, &pc);

	if (!err)
		err = unwind_read(env, w, context + ARCH_SIGNAL_SP * 8, &sp);
	if (!err)
		err = unwind_read(env, w, context + ARCH_SIGNAL_FP * 8, &fp);
	if (err)
		return unwind_unread(w, err, UNWIND_READ_RA);
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->signal_context = context;
	w->interrupted_sp = sp;
	w->exact = 1;
	w->flags_next = 0;
	return 0;
}

/*
 * The register that a CFA counts from. It is known in the interrupted frame, and in a caller if the
 * callee keeps it. If the callee has not pushed it yet, or has popped it, the place for it is below
 * the interrupted stack pointer, and the register still holds the value.
 */
UNWIND_INLINE int unwind_base_register(void *env, struct unwinder *w, const struct unwind_rule *r,
				       uint32_t kind, uint64_t *value)
{
	uint64_t slot = w->sp + r->aux;

	if ((kind == CFA_CALLEE_SAVED) == !!w->exact)
		return 1;
	if (kind == CFA_CALLEE_SAVED && slot >= w->interrupted_sp)
		return unwind_read(env, w, slot, value);
	return unwind_interrupted_register(env, w, r->reg, value);
}

/* Finds the canonical frame address by the rule: 0, or the code that ends unwinding. */
UNWIND_INLINE int unwind_find_cfa(void *env, struct unwinder *w, const struct unwind_rule *r,
				  uint32_t kind, uint64_t *cfa)
{
	uint64_t base = w->sp;
	int err = 0;

	if (kind == CFA_SP) {
		*cfa = base + r->cfa_off;
		return 0;
	}
	if (kind == CFA_PLT) {
		*cfa = base + 8 + ((w->pc & 15) >= (uint32_t)r->aux ? 8 : 0);
		return 0;
	}
	if (kind == CFA_FP || kind == CFA_DEREF_FP || kind == CFA_OTHER_STACK ||
	    kind == CFA_EH_RETURN)
		base = w->fp;
	else if (kind == CFA_REG || kind == CFA_DEREF_REG || kind == CFA_CALLEE_SAVED)
		err = unwind_base_register(env, w, r, kind, &base);
	if (err)
		return err > 1 ? err : UNWIND_BAD_RULE;
	base += r->cfa_off;
	if (kind == CFA_DEREF_FP && !w->exact && base == w->fp && r->aux == 16) {
		*cfa = base + 16;
		return 0;
	}
	if (kind == CFA_DEREF_SP || kind == CFA_DEREF_FP || kind == CFA_DEREF_REG ||
	    kind == CFA_EH_RETURN) {
		err = unwind_read(env, w, base, &base);
		if (err)
			return err > 1 ? err : UNWIND_READ_RA;
		base += r->aux;
	}
	if (kind == CFA_CALLEE_SAVED && base - w->sp > UNWIND_MAX_KEPT_BYTES)
		return UNWIND_BAD_RULE;
	*cfa = base;
	return 0;
}

/* One step by a rule of the table. */
UNWIND_INLINE int unwind_step_rule(void *env, struct unwinder *w, const struct unwind_rule *r,
				   uint32_t kind)
{
	uint64_t cfa = 0, fp = w->fp, ra = 0;
	uint32_t fp_kind, ra_kind;
	int err = unwind_find_cfa(env, w, r, kind, &cfa);

	if (err)
		return UNWIND_END(w, err);
	fp_kind = UNWIND_ANEW(r->fp);
	/*
	 * The saved frame pointer is below the return address, so it is read first: the page in w
	 * then often serves both.
	 */
	if (fp_kind == FP_CFA || fp_kind == FP_DEREF_FP) {
		uint64_t at = (fp_kind == FP_CFA ? cfa : w->fp) + r->fp_off;

		err = unwind_read(env, w, at, &fp);
		if (err)
			return unwind_unread(w, err, UNWIND_READ_FP);
	} else if (fp_kind == FP_UNDEFINED) {
		fp = UNWIND_LOST_FP;
	}
	ra_kind = UNWIND_ANEW(r->ra) & RULE_RA_MASK;
	if (ra_kind == RA_REG)
		err = w->exact ? unwind_interrupted_register(env, w, r->reg, &ra) : 1;
	else
		err = unwind_read(env, w, cfa + (ra_kind == RA_CFA_OFF ? r->aux : ARCH_RA_CFA_OFF),
				  &ra);
	if (err)
		return unwind_unread(w, err, ra_kind == RA_REG ? UNWIND_BAD_RULE : UNWIND_READ_RA);
	ra = arch_strip(ra);
	/*
	 * A new coroutine has 0 where others have a return address. After a guessed frame, 0 means
	 * that the guess was wrong; in an interrupted frame, that it was just changing stacks.
	 */
	if (!ra)
		return UNWIND_END(w, w->exact || w->saw_guess || r->ra & RULE_GUESSED
					     ? UNWIND_RA_ZERO
					     : UNWIND_ROOT_GUESS);
	/*
	 * Only an interrupted frame may have pushed nothing yet; with others, unwinding would loop.
	 */
	if (cfa <= w->sp && !w->exact && UNWIND_ANEW(r->cfa) != CFA_OTHER_STACK)
		return UNWIND_END(w, UNWIND_SP_BACK);
	w->pc = ra;
	w->sp = cfa;
	w->fp = fp;
	w->next_goroutine |= r->ra & RULE_NEXT_GOROUTINE;
	unwind_found_caller(w, r->ra & RULE_GUESSED);
	if (r->ra & RULE_EXACT) {
		w->exact = 1;
		w->flags_next = 0;
	}
	return 0;
}

/*
 * Whether the stack pointer that was just found can be told from its neighbours: where a step by a
 * frame pointer does not find the CFA, that of all frames behind it is not known. A frame program
 * would take its frames for those of another loop then.
 */
UNWIND_INLINE int unwind_cfa_is_known(const struct unwinder *w)
{
	return ARCH_FP_TELLS_CFA || (w->mode & UNWIND_BY_TABLES && !w->saw_guess);
}

#define UNWIND_AUTO_BITS (UNWIND_BY_TABLES | UNWIND_BY_FRAME_POINTERS)

/*
 * Where the tables do not tell: unwinding ends with code, or with --unwind fp the caller of the
 * interrupted frame (or of a signal's trampoline) is guessed, and the stack may be worth another
 * try later. After that no table is asked any more, so that w keeps the mapping of this frame.
 */
UNWIND_INLINE int unwind_without_table(struct unwinder *w, int code)
{
	if (w->mode & UNWIND_BY_TABLES)
		return UNWIND_END(w, code);
	w->leaf_end = (uint32_t)code;
	w->leaf_pc = w->exact ? w->pc : w->pc - 1;
	w->may_skip = 1;
	unwind_begin_guess(w, UNWIND_FP_END);
	return 0;
}

/*
 * Stores the current frame and moves to its caller, or sets w->guess if the caller must be guessed.
 */
UNWIND_INLINE int unwind_step_known(void *env, struct unwinder *w, uint64_t *frames)
{
	uint32_t n = w->nr, kind;
	const struct unwind_rule *r = &w->rule;
	uint32_t here = w->run.here;
	uint64_t low = w->sp, pc;
	int code;

	w->run.here = HERE_ASK;
	if (n >= UNWIND_MAX_FRAMES || n >= w->max_frames)
		return UNWIND_END(w, UNWIND_TRUNCATED);
#ifdef UNWIND_REPLACED_RETURN
	if (w->trampoline && w->pc == w->trampoline)
		UNWIND_REPLACED_RETURN(w);
#endif
	frames[n & (UNWIND_MAX_FRAMES - 1)] =
		(w->pc & UNWIND_ADDRESS_MASK) | (uint64_t)w->flags_next << 32;
	w->nr = n + 1;
	pc = w->exact ? w->pc : w->pc - 1;

	if (!(w->mode & UNWIND_BY_TABLES) && !unwind_fp_asks_table(env, w)) {
		unwind_begin_guess(w, UNWIND_FP_END);
		return 0;
	}
	code = unwind_rule_of(env, w, pc);
	if (UNWIND_MAY_RUN && w->run.state < RUN_OVER && here == HERE_ASK &&
	    (w->generated || (!code && frame_is_owned(r)))) {
		frame_ask(w, n, pc);
		return 0;
	}
	if (here == HERE_EMITTED)
		w->nr = n;
	if (code && code != UNWIND_JIT && code != UNWIND_NO_FDE &&
	    (code != UNWIND_NO_TABLE || !w->generated))
		return unwind_without_table(w, code);
	if (w->mode & UNWIND_BY_TABLES && unwind_was_planted(env, w, code))
		return UNWIND_END(w, UNWIND_ROOT_GUESS);
	kind = CFA_NONE;
	if (!code) {
		kind = w->exact && r->ra & RULE_ENTERED ? CFA_SP : r->cfa;
		code = UNWIND_NO_FDE;
	}
	if (!(w->mode & UNWIND_BY_TABLES) && !w->exact && kind != CFA_SIGNAL) {
		unwind_begin_guess(w, UNWIND_FP_END);
		return 0;
	}
	if (w->generated)
		return unwind_begin_generated(w, r, kind);
	if (kind == CFA_NONE) {
		if ((w->mode & UNWIND_AUTO_BITS) != UNWIND_AUTO_BITS)
			return unwind_without_table(w, code);
		unwind_begin_guess(w, code);
		return 0;
	}
	if (kind == CFA_ROOT)
		return UNWIND_END(w, r->ra & RULE_GUESSED ? UNWIND_ROOT_GUESS : UNWIND_ROOT);
	if (kind == CFA_SIGNAL)
		return unwind_step_signal(env, w);
	if (kind == CFA_GOROUTINE)
		return unwind_step_goroutine(env, w, r);
	if (kind == CFA_UNSUPPORTED)
		return unwind_without_table(w, UNWIND_BAD_RULE);
	code = unwind_step_rule(env, w, r, kind);
	if (r->ra & RULE_RUNTIME && !code && unwind_cfa_is_known(w))
		frame_begin(w, low, pc);
	return code;
}

/* Runs the frame program. 1: there is no room for more frames. */
UNWIND_INLINE int unwind_step_runtime(void *env, struct unwinder *w, uint64_t *frames)
{
	FRAME_TURN(env, w, frames);
	return w->end != UNWIND_NOT_DONE;
}

/* One step of guessing: what w->guess says, other than GUESS_NOTHING and GUESS_FRAME_POINTER. */
UNWIND_INLINE int unwind_guess_on(void *env, struct unwinder *w)
{
	if (w->guess == GUESS_LEAF)
		return unwind_leaf(env, w);
	if (w->guess == GUESS_PROLOGUE)
		return unwind_search_prologue(env, w);
	if (w->guess == GUESS_IS_PROLOGUE)
		return unwind_is_prologue(env, w);
	if (w->guess == GUESS_FRAME_SIZE)
		return unwind_by_frame_size(env, w);
	if (w->guess == GUESS_GENERATED)
		return unwind_generated(env, w);
	if (w->guess == GUESS_WAY_OUT)
		return unwind_way_out(env, w);
	return unwind_search_here(env, w);
}

/* A step that runs no frame program and guesses nothing but the frame pointer. */
UNWIND_INLINE int unwind_step_plain(void *env, struct unwinder *w, uint64_t *frames)
{
	if (w->guess == GUESS_NOTHING && unwind_step_known(env, w, frames))
		return 1;
	return w->guess == GUESS_FRAME_POINTER ? unwind_guess_fp(env, w, frames) : 0;
}

/*
 * One step. Each kind of step has its own path through this function, so that the verifier's work
 * is a sum and not a product.
 */
UNWIND_INLINE int unwind_step(void *env, struct unwinder *w, uint64_t *frames)
{
	if (UNWIND_MAY_RUN && w->run.state >= RUN_ON)
		return unwind_step_runtime(env, w, frames);
	if (w->guess != GUESS_NOTHING && w->guess != GUESS_FRAME_POINTER)
		return UNWIND_GUESS_ON(env, w);
	return UNWIND_STEP_PLAIN(env, w, frames);
}
