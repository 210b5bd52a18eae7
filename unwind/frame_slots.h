/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which runtime of a process a frame belongs to, and what is kept of the others' programs
 * meanwhile. frame_step.h includes this file in its middle.
 */
#pragma once

/* Puts away what the program has that ran last. */
UNWIND_INLINE void frame_keep(struct unwinder *w)
{
	struct frame_kept *k = &w->kept[w->run.slot & (PROGRAM_SLOTS - 1)];

	for (int i = 0; i < PROGRAM_REG_LOW; i++)
		k->r[i] = w->run.r[i];
	k->state = w->run.state;
	k->at = w->run.at;
}

UNWIND_INLINE void frame_resume(struct unwinder *w)
{
	const struct frame_kept *k = &w->kept[w->run.slot & (PROGRAM_SLOTS - 1)];

	for (int i = 0; i < PROGRAM_REG_LOW; i++)
		w->run.r[i] = k->r[i];
	w->run.state = k->state;
	w->run.at = k->at;
}

UNWIND_INLINE void frame_first(struct unwinder *w, const struct unwind_runtime *rt)
{
	for (int i = 0; i < PROGRAM_CONSTS; i++)
		w->run.r[i] = rt->consts[i];
	for (int i = PROGRAM_CONSTS; i <= PROGRAM_REG_THREAD; i++)
		w->run.r[i] = 0;
	w->run.at = 0;
	w->run.state = RUN_WAITS;
	w->run.begun |= 1u << (w->run.slot & (PROGRAM_SLOTS - 1));
}

/* The slot of the runtime whose loop or code has w->run.pc, or PROGRAM_SLOTS. */
UNWIND_INLINE uint32_t frame_slot(struct unwinder *w, const struct unwind_runtimes *all,
				  uint32_t owns_code)
{
	uint32_t slot = PROGRAM_SLOTS, nr = 0;

	for (uint32_t i = 0; i < PROGRAM_SLOTS; i++) {
		const struct unwind_runtime *rt = &all->slots[i];

		if (w->run.pc - rt->lo < rt->bytes ||
		    (rt->flags & owns_code && slot == PROGRAM_SLOTS))
			slot = i;
		nr += rt->flags & RUNTIME_IS_THERE;
	}
	w->run.is_only = nr == RUNTIME_IS_THERE && slot < PROGRAM_SLOTS;
	return slot;
}

/*
 * Goes over to the runtime whose loop or code it is: RUN_WAITS, RUN_ENDED or RUN_OVER. 1: for the
 * first time, and PROGRAM_REG_THREAD is still to be set.
 */
UNWIND_INLINE int frame_select(void *env, struct unwinder *w, uint32_t owns_code)
{
	const struct unwind_runtimes *all = unwind_runtimes_of(env, w->tgid);
	const struct unwind_runtime *rt;
	uint32_t slot = all ? frame_slot(w, all, owns_code) : PROGRAM_SLOTS;

	if (slot < PROGRAM_SLOTS && slot == w->run.slot)
		return 0;
	if (w->run.slot < PROGRAM_SLOTS)
		frame_keep(w);
	w->run.slot = slot;
	w->run.state = all ? RUN_ENDED : RUN_OVER;
	if (!all || slot >= PROGRAM_SLOTS)
		return 0;
	rt = &all->slots[slot];
	w->run.program = rt->program;
	w->run.flags = rt->flags;
	w->run.hop = 0;
	for (int i = 0; i < FRAME_MEMO; i++) {
		w->run.memo[i].code = 0;
		w->run.known[i].function = 0;
	}
	if (rt->flags & RUNTIME_OWNS_CODE)
		for (int i = 0; i < PROGRAM_HEAPS; i++)
			w->run.heaps[i] = rt->heaps[i];
	if (w->run.begun >> slot & 1) {
		frame_resume(w);
		return 0;
	}
	frame_first(w, rt);
	return 1;
}
