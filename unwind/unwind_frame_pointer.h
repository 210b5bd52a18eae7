/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of unwind_step.h, which includes it: steps by frame pointers, and the frames at which
 * --unwind fp asks a table all the same.
 */
#pragma once

/*
 * One step by the frame pointer: 0, or the code that unwinding ends with. With check, the code at
 * pc has no table but other frames may have one; code is then the reason why there is no table, and
 * the result if the frame pointer is not plausible. Without check (--unwind fp) the chain is
 * followed as it is, and it is not known whether its end is the end of the stack. Then only the
 * caller of an interrupted frame is a guess: if that frame is not set up, its caller is left out;
 * and so is that of a signal's trampoline which no table told of.
 */
UNWIND_INLINE int unwind_step_fp(void *env, struct unwinder *w, int code, const int check)
{
	uint64_t fp = w->fp, next = 0, ra = 0;
	int at_zero = check ? UNWIND_ROOT_GUESS : UNWIND_FP_END;
	int err;

	if (!fp)
		return w->nr > 1 ? at_zero : code;
	if (fp < w->sp || (check && fp - w->sp > UNWIND_MAX_GUESS_BYTES))
		return check ? code : UNWIND_FP_END;
	err = unwind_read(env, w, fp, &next);
	if (!err)
		err = unwind_read(env, w, fp + 8, &ra);
	if (err)
		return err > 1 ? err : check ? code : UNWIND_READ_RA;
	ra = arch_strip(ra);
	if (!ra)
		return at_zero;
	if (check && unwind_find_mapping(env, w, ra - 1))
		return code;
	w->pc = ra;
	w->sp = fp + 16;
	w->fp = next;
	unwind_found_caller(w, check || w->exact || w->may_skip);
	w->may_skip = 0;
	return 0;
}

/*
 * Whether a caller's frame may be a signal's trampoline: whether the stack pointer is at a
 * ucontext as the kernel writes it. uc_flags is the same in all, but for one bit; uc_link is 0.
 * Source: setup_ucontext() and frame_uc_flags() of arch/x86/kernel/signal_64.c.
 */
UNWIND_INLINE int unwind_may_be_trampoline(void *env, struct unwinder *w)
{
	uint64_t flags = 0, link = 0;

	if (!ARCH_FP_CHAIN_MEETS_SIGNALS || unwind_read(env, w, w->sp, &flags) ||
	    (flags | ARCH_UCONTEXT_ANY) != ARCH_UCONTEXT_FLAGS)
		return 0;
	return !unwind_read(env, w, w->sp + 8, &link) && !link;
}

/*
 * Whether --unwind fp asks a table for the frame in w. The frame pointer leads from a signal's
 * handler to the caller of what was interrupted, so its trampoline is looked for.
 */
UNWIND_INLINE int unwind_fp_asks_table(void *env, struct unwinder *w)
{
	if (!(w->mode & UNWIND_LEAF_BY_TABLE))
		return 0;
	if (w->exact)
		return !w->leaf_end;
	if (!unwind_may_be_trampoline(env, w))
		return 0;
	w->may_skip = !!w->leaf_end;
	return !w->leaf_end;
}
