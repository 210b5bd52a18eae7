/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guesses callers in code without unwind information, by reading the code. A frame found this way
 * is marked as guessed. Only two things are evidence for a return address: the instruction at pc
 * (in a prologue or an epilogue the code says where the return address is), or a call right before
 * the address that leads to the function at pc. unwind_step.h includes this file in its middle.
 *
 * Leaves. A function that keeps frame pointers has not set up its own during its first and last
 * instructions, and a small function never does. The chain of frame pointers then begins with the
 * caller's frame, and the interrupted function's caller would be lost. unwind_leaf() finds it:
 * after push %rbp, for example, the return address is at sp + 8.
 *
 * Code made at run time. It may use the frame pointer for something else (HotSpot's C2): there is
 * no chain, or one that leaves functions out. unwind_search_prologue() looks for the prologue
 * nearest below pc, some words each time unwind_step() is called; the prologue says how large the
 * frame is. If there is none and the frame pointer leads nowhere either, unwind_search_here() looks
 * at one stack word at a time, upwards from sp, for a saved frame pointer with a return address
 * above it. A return address alone is not enough: dead stack slots are full of old ones.
 *
 * If the window of that code was read (code_window.h), its rule is tried before all this. Code may
 * have changed since, so the rule counts only if the word that it leads to is a return address:
 * unwind_generated().
 *
 * Limits: UNWIND_SEARCH_GAP steps for a frame, UNWIND_SEARCH_TOTAL for a stack; x86-64 only,
 * because arm64's arch_ functions answer "unknown".
 */
#pragma once

/* What a possible return address says about the code at pc. */
enum unwind_callee {
	CALLEE_NONE,			/* no call before it */
	CALLEE_SOMEWHERE,		/* a call, of an unknown function */
	CALLEE_OTHER,			/* a call of a function that has a frame by now */
	CALLEE_NEAR,			/* a call of an entry near pc that makes no frame */
};

#define UNWIND_NEAR_BYTES 4096

UNWIND_INLINE int unwind_is_above(uint64_t addr, uint64_t sp)
{
	return !(addr & 7) && addr >= sp && addr - sp <= UNWIND_MAX_GUESS_BYTES;
}

/*
 * Whether code is looked for that few programs have: coroutines without unwind information,
 * generated trampolines. The kernel needs memory to verify that, which there may not be.
 */
#ifndef UNWIND_KNOWS_RARE
#define UNWIND_KNOWS_RARE 1
#endif

/* Which enum arch_call is before ra. */
UNWIND_INLINE int unwind_call_before(void *env, struct unwinder *w, uint64_t ra, uint64_t *target)
{
	return unwind_read_code(env, w, ra - 16) ? ARCH_CALL_NONE
						 : (int)arch_call_before(w->code[1], ra, target);
}

/*
 * Whether the return address at which w is was not put there by a call, in code of a file that has
 * no unwind information (code: UNWIND_NO_FDE; or its rule is guessed). Whoever makes the first
 * frame of a coroutine writes such an address, and nothing of that coroutine is beyond it
 * (make_fcontext() of Boost.Context). It counts only behind frames whose callers are known: a guess
 * may have led anywhere.
 */
UNWIND_INLINE int unwind_was_planted(void *env, struct unwinder *w, int code)
{
	uint64_t target;

	if (!UNWIND_KNOWS_RARE || !ARCH_KNOWS_CALLS || w->exact || w->saw_guess || w->generated ||
	    (!code && !(w->rule.ra & RULE_GUESSED)) || (code && code != UNWIND_NO_FDE))
		return 0;
	return !unwind_read_code(env, w, w->pc - 16) &&
	       arch_call_before(w->code[1], w->pc, &target) == ARCH_CALL_NONE;
}

/* enum unwind_callee: whether the code at w->pc, if it has no frame, returns to ra. */
UNWIND_INLINE int unwind_callee(void *env, struct unwinder *w, uint64_t ra, uint64_t *entry)
{
	int call = unwind_call_before(env, w, ra, entry);

	if (call != ARCH_CALL_DIRECT)
		return call == ARCH_CALL_NONE ? CALLEE_NONE : CALLEE_SOMEWHERE;
	/* Further away it may be a stub that jumps here, or a function whose last call did. */
	if (w->pc - *entry > UNWIND_NEAR_BYTES)
		return CALLEE_SOMEWHERE;
	return unwind_read_code(env, w, *entry) || arch_has_frame(w->code) ? CALLEE_OTHER
									   : CALLEE_NEAR;
}

/*
 * Whether the function at pc is a leaf without a frame that returns to ra, the word at sp. The
 * frame pointer is then that of the function around ra, so the return address beside it belongs to
 * a call of that function, not to a call of the function at pc.
 */
UNWIND_INLINE int unwind_is_frameless(void *env, struct unwinder *w, uint64_t ra)
{
	uint64_t entry = 0, caller = 0, outer = 0;
	int callee = unwind_callee(env, w, ra, &entry), call = ARCH_CALL_NONE;

	if (callee != CALLEE_NEAR && callee != CALLEE_SOMEWHERE)
		return 0;
	if (unwind_is_above(w->fp, w->sp) && !unwind_read(env, w, w->fp + 8, &outer))
		call = unwind_call_before(env, w, outer, &caller);
	if (call != ARCH_CALL_DIRECT)
		return callee == CALLEE_NEAR;
	if (callee == CALLEE_NEAR)
		return caller < entry || caller > w->pc;
	return outer != ra && ra - caller <= UNWIND_NEAR_BYTES;
}

/* What unwind_step() tries for a frame in code without unwind information, in this order. */
enum unwind_guess {
	GUESS_NOTHING,
	GUESS_LEAF,			/* interrupted: code at pc and the word at sp */
	GUESS_PROLOGUE,			/* scan_at: code, downwards from pc */
	GUESS_IS_PROLOGUE,		/* scan_at: what looks like one */
	GUESS_FRAME_SIZE,		/* frame_bytes, from the prologue */
	GUESS_FRAME_POINTER,
	GUESS_STACK,			/* scan_at: stack, upwards from sp */
	GUESS_GENERATED,		/* scan_at: where a window's rule has the return address */
	GUESS_WAY_OUT,			/* generated, no rule: code from pc on that returns */
};

/* Moves w to the caller that ra at slot leads to. */
UNWIND_INLINE void unwind_guessed_caller(struct unwinder *w, uint64_t ra, uint64_t slot,
					 uint64_t fp)
{
	w->pc = ra;
	w->sp = slot + 8;
	w->fp = fp;
	w->guess = GUESS_NOTHING;
	unwind_found_caller(w, 1);
}

UNWIND_INLINE uint32_t unwind_guess_after_leaf(struct unwinder *w)
{
	if (w->guess_end != UNWIND_JIT || !w->scan_budget)
		return GUESS_FRAME_POINTER;
	w->scan_at = (w->pc & ~7ull) + 16;
	w->scan_left = UNWIND_SEARCH_GAP;
	return GUESS_PROLOGUE;
}

/* Begins to guess the caller of the frame in w. */
UNWIND_INLINE void unwind_begin_guess(struct unwinder *w, int code)
{
	w->guess_end = code;
	w->guess = w->exact ? GUESS_LEAF : unwind_guess_after_leaf(w);
}

/*
 * Finds the caller of an interrupted function that may keep frame pointers, if its frame is not set
 * up yet, is gone already, or never exists. Always 0: the next step continues either way.
 */
UNWIND_INLINE int unwind_leaf(void *env, struct unwinder *w)
{
	uint64_t word = 0, ra = 0;
	int slot;

	w->guess = unwind_guess_after_leaf(w);
	if (unwind_read(env, w, w->sp, &word) || unwind_read_code(env, w, w->pc - 1))
		return 0;
	slot = arch_return_slot(w->code, word == w->fp);
	ra = word;
	if (slot > 0 && unwind_read(env, w, w->sp + 8, &ra))
		return 0;
	/* Without tables the mappings are not known, but code can be read. */
	if (w->mode & UNWIND_BY_TABLES ? unwind_find_mapping(env, w, ra - 1)
				       : unwind_read_code(env, w, ra - 16))
		return 0;
	/* After push and before pop, the frame pointer is saved below the return address. */
	if (slot >= 0 || unwind_is_frameless(env, w, ra))
		unwind_guessed_caller(w, ra, w->sp + (slot > 0 ? 8 : 0), slot > 0 ? word : w->fp);
	return 0;
}

/*
 * Looks for the prologue in the 48 bytes below scan_at, downwards; the word at scan_at itself is
 * what follows them. Always 0.
 */
UNWIND_INLINE int unwind_search_prologue(void *env, struct unwinder *w)
{
	uint64_t code[3] = { 0 }, at = w->scan_at;

	w->guess = GUESS_FRAME_POINTER;
	if (!w->scan_left || !w->scan_budget)
		return 0;
	w->scan_left--;
	w->scan_budget--;
	for (int k = 0; k < 8; k++, at -= 8) {
		code[2] = code[1];
		code[1] = code[0];
		if (unwind_read(env, w, at, &code[0]))
			return 0;
		if (k >= 2 && UNWIND_PROLOGUE_MASK(code[1], code[2])) {
			w->scan_at = at + 8;
			w->guess = GUESS_IS_PROLOGUE;
			return 0;
		}
	}
	w->scan_at -= 6 * 8;
	w->guess = GUESS_PROLOGUE;
	return 0;
}

/* Checks whether a prologue is in the word at scan_at; the uppermost one counts. Always 0. */
UNWIND_INLINE int unwind_is_prologue(void *env, struct unwinder *w)
{
	uint64_t code[3] = { 0 }, at = w->scan_at;

	w->guess = GUESS_FRAME_POINTER;
	for (int k = 0; k < 3; k++)
		if (unwind_read(env, w, at - 8 + 8 * k, &code[k]))
			return 0;
	for (int i = 7; i >= 0; i--) {
		int64_t behind = (int64_t)(w->pc - at - i), bytes;

		bytes = behind < -1 ? ARCH_FRAME_UNKNOWN : arch_prologue_at(code, i, behind);
		if (bytes == ARCH_FRAME_UNKNOWN)
			continue;
		w->frame_bytes = bytes;
		if (bytes != ARCH_FRAME_BY_FP)
			w->guess = GUESS_FRAME_SIZE;
		return 0;
	}
	w->guess = GUESS_PROLOGUE;
	return 0;
}

/*
 * Takes the return address at frame_bytes above sp, and the frame pointer below it, if they are
 * plausible. Always 0.
 */
UNWIND_INLINE int unwind_by_frame_size(void *env, struct unwinder *w)
{
	uint64_t slot = w->sp + w->frame_bytes, ra = 0, fp = w->fp, entry = 0;

	w->guess = GUESS_FRAME_POINTER;
	if (slot > w->sp && unwind_read(env, w, slot - 8, &fp))
		return 0;
	if (unwind_read(env, w, slot, &ra) || unwind_find_mapping(env, w, ra - 1))
		return 0;
	/*
	 * An interpreter's return address is not after a call, but its code is made at run time
	 * too.
	 */
	if (!w->map_binary || unwind_read_code(env, w, ra - 16) ||
	    arch_call_before(w->code[1], ra, &entry) != ARCH_CALL_NONE)
		unwind_guessed_caller(w, ra, slot, fp);
	return 0;
}

/*
 * Whether {saved frame pointer, ra} is at slot - 8. The saved frame pointer must lead to a return
 * address too.
 */
UNWIND_INLINE int unwind_is_pair(void *env, struct unwinder *w, uint64_t slot, uint64_t saved,
				 uint64_t ra)
{
	uint64_t outer = 0, entry = 0;

	return unwind_is_above(saved, slot + 8) &&
	       unwind_call_before(env, w, ra, &entry) != ARCH_CALL_NONE &&
	       !unwind_read(env, w, saved + 8, &outer) && !unwind_find_mapping(env, w, outer - 1);
}

/* Looks at the next word of the stack. 0, or 1 when unwinding ended. */
UNWIND_INLINE int unwind_search_here(void *env, struct unwinder *w)
{
	uint64_t slot = w->scan_at, saved = w->scan_prev, word = 0;

	if (!w->scan_left || !w->scan_budget || unwind_read(env, w, slot, &word))
		return UNWIND_END(w, w->guess_end);
	w->scan_left--;
	w->scan_budget--;
	w->scan_at = slot + 8;
	w->scan_prev = word;
	/* Most words are small numbers or stack addresses, which are cheap to rule out. */
	if (word - UNWIND_MEMORY_PAGE > UNWIND_ADDRESS_MASK ||
	    word - slot + UNWIND_MAX_GUESS_BYTES < 2 * UNWIND_MAX_GUESS_BYTES)
		return 0;
	if (!unwind_find_mapping(env, w, word - 1) && unwind_is_pair(env, w, slot, saved, word))
		unwind_guessed_caller(w, word, slot, saved);
	return 0;
}

/*
 * Whether ra is a return address, as far as its code tells. Code of files is not read by programs
 * that may sleep, nor outside of the kernel; there any address of a file will do.
 */
UNWIND_INLINE int unwind_is_return(void *env, struct unwinder *w, uint64_t ra)
{
	uint64_t entry = 0;

	if (unwind_find_mapping(env, w, ra - 1))
		return 0;
	if (unwind_read_code(env, w, ra - 16))
		return w->map_binary && !(w->map_flags & UNWIND_MAP_GENERATED) && !w->scan_left;
	return arch_call_before(w->code[1], ra, &entry) != ARCH_CALL_NONE;
}

/* Tries the word where the rule of a window has the return address. Always 0. */
UNWIND_INLINE int unwind_generated(void *env, struct unwinder *w)
{
	uint64_t slot = w->scan_at, ra = 0, fp = w->fp;

	w->scan_budget -= !!w->scan_budget;
	if (unwind_is_above(slot, w->sp) && !unwind_read(env, w, slot, &ra) &&
	    unwind_is_return(env, w, ra)) {
		if (w->fp_kind == FP_UNDEFINED)
			fp = UNWIND_LOST_FP;
		if (w->fp_kind != FP_CFA || !unwind_read(env, w, slot + 8 + w->fp_off, &fp)) {
			unwind_guessed_caller(w, ra, slot, fp);
			return 0;
		}
	}
	if (w->scan_left && w->scan_budget) {
		w->scan_left--;
		w->scan_at = slot + 8;
		return 0;
	}
	if (w->may_want)
		w->wants_code = w->pc;
	unwind_begin_guess(w, UNWIND_JIT);
	return 0;
}

/*
 * Looks whether the code at pc leads straight to a return, as that of a trampoline does. Such code
 * needs no window, and is seen at once where nobody may wait for one (a stack with frames of a
 * runtime). Always 0.
 */
UNWIND_INLINE int unwind_way_out(void *env, struct unwinder *w)
{
	uint64_t slot, ra = 0, fp = w->fp, pops_fp = 0;
	int64_t room;

	if (!UNWIND_KNOWS_RARE)
		return 0;
	w->scan_budget -= !!w->scan_budget;
	room = unwind_read_code(env, w, w->pc) ? ARCH_FRAME_UNKNOWN
					       : arch_way_out(w->code, &pops_fp);
	slot = w->sp + (uint64_t)room;
	if (room != ARCH_FRAME_UNKNOWN && !unwind_read(env, w, slot, &ra) &&
	    unwind_is_return(env, w, ra) && (!pops_fp || !unwind_read(env, w, slot - 8, &fp))) {
		unwind_guessed_caller(w, ra, slot, fp);
		return 0;
	}
	/* Bytes in front of a function may have been taken for an instruction that it is in. */
	if (w->may_want)
		w->wants_code = w->pc;
	unwind_begin_guess(w, UNWIND_JIT);
	return 0;
}

/*
 * Begins to look for the caller of a frame in generated code: where the rule of a window says, if
 * there is one (r; kind), else by guessing. Always 0, or 1 when unwinding ended.
 */
UNWIND_INLINE int unwind_begin_generated(struct unwinder *w, const struct unwind_rule *r,
					 uint32_t kind)
{
	uint64_t base = kind == CFA_FP ? w->fp : w->sp;
	uint32_t is_unknown = kind == CFA_NONE || kind == CFA_UNSUPPORTED;

	if (!(w->mode & UNWIND_BY_FRAME_POINTERS))
		return UNWIND_END(w, UNWIND_JIT);
	w->guess_end = UNWIND_JIT;
	/* A stack that is unwound again in user space would lose the frames of its runtime. */
	w->may_want = !w->wants_code && !(w->map_flags & UNWIND_MAP_ASKED) && !w->run.flags;
	w->scan_left = 0;
	if (UNWIND_KNOWS_RARE && is_unknown && w->scan_budget) {
		w->guess = GUESS_WAY_OUT;
		return 0;
	}
	if (is_unknown && w->may_want)
		w->wants_code = w->pc;
	if ((kind != CFA_SP && kind != CFA_FP) || !w->scan_budget) {
		unwind_begin_guess(w, UNWIND_JIT);
		return 0;
	}
	w->guess = GUESS_GENERATED;
	w->scan_at = base + UNWIND_ANEW(r->cfa_off) - 8;
	w->scan_left = UNWIND_ANEW(r->aux);
	w->fp_kind = UNWIND_ANEW(r->fp);
	w->fp_off = UNWIND_ANEW(r->fp_off);
	return 0;
}

/* A step by the frame pointer, in code without unwind information or with --unwind fp. */
UNWIND_INLINE int unwind_guess_fp(void *env, struct unwinder *w, uint64_t *frames)
{
	const uint32_t code = w->guess_end;
	uint64_t low = w->sp, pc = w->exact ? w->pc : w->pc - 1;

	(void)frames;
	w->guess = GUESS_NOTHING;
	w->guess_end = w->mode & UNWIND_BY_TABLES ? unwind_step_fp(env, w, code, 1)
						  : unwind_step_fp(env, w, code, 0);
	if (ARCH_FP_TELLS_CFA && !w->guess_end && !(w->mode & UNWIND_BY_TABLES) &&
	    w->run.state < RUN_OVER && FRAME_IS_LOOP(env, w, frames, pc))
		frame_begin(w, low, pc);
	if (!w->guess_end)
		return 0;
	/*
	 * The FDE of clone()'s code ends before the system call; in a new thread the stack is still
	 * empty.
	 */
	if (w->exact && w->guess_end == UNWIND_NO_FDE && arch_is_new_task(w->regs))
		w->guess_end = UNWIND_ROOT_GUESS;
	/* In code made at run time the frame pointer may hold anything, even 0. */
	if (code != UNWIND_JIT || (w->guess_end != UNWIND_JIT && w->guess_end != UNWIND_ROOT_GUESS))
		return UNWIND_END(w, w->guess_end);
	w->guess_end = UNWIND_JIT;
	w->guess = GUESS_STACK;
	w->scan_at = w->sp;
	w->scan_prev = 0;
	w->scan_left = UNWIND_SEARCH_GAP;
	return 0;
}
