/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A memo of the rules that the last stack of a thread was unwound by. unwind_step.h includes this
 * file in its middle.
 *
 * The problem. A tick that finds nothing in the caches waits for memory most of the time: for each
 * frame there is a word of the rule cache and often one of the rules, anywhere in several pages.
 *
 * The idea. The rule of a frame depends on pc and on what the process has mapped, and on nothing
 * else. So the rules are kept once more, in the order in which the frames needed them, with the
 * addresses that each holds for. The next stack of the thread has most of its frames in common with
 * this one, at the same addresses, and reads them one after the other:
 *
 *	memo		sp 7f00 in f30	sp 7f40 in f29	sp 7f80 in f28	sp 8100 in main
 *	next stack	sp 7ee0 in g	sp 7f40 in f29	sp 7f80 in k	sp 8100 in main
 *			looked up	the same	looked up, kept	the same
 *
 * What is on the stack is read all the same. sp only says which entry belongs to a frame; pc
 * decides.
 *
 * When a memo holds. Its key has the thread, and the versions of the process's mappings and of the
 * tables (unwind_limits.h). Whoever publishes something changes the version afterwards, and a tick
 * reads the versions before it looks anything up. So what a tick keeps is dropped if anything that
 * it may have read was replaced then or later. Frames without a rule are not kept.
 *
 * Limits. The innermost UNWIND_MEMO_FRAMES frames. One program at a time may use a memo.
 *
 * Before including unwind_step.h, a file may define UNWIND_MEMO_AT(env, w), the memo that
 * unwind_begin_memo() was called for, or NULL.
 */
#pragma once

#ifndef UNWIND_MEMO_AT
#define UNWIND_MEMO_AT(env, w) ((struct unwind_memo *)0)
#endif

enum unwind_memo_use { MEMO_NONE, MEMO_RECALL, MEMO_FILL };

/* Called after unwind_begin(). What m holds under another key is dropped. */
UNWIND_INLINE void unwind_begin_memo(struct unwinder *w, struct unwind_memo *m,
				     const struct unwind_memo_key *key)
{
	w->recall.use = MEMO_RECALL;
	w->recall.at = 0;
	w->recall.hits = 0;
	w->recall.asked = 0;
	w->recall.nr = (uint32_t)m->nr;
	if (m->key.mappings == key->mappings && m->key.tables == key->tables &&
	    m->key.thread == key->thread && m->nr)
		return;
	w->recall.use = MEMO_FILL;
	m->key = *key;
	m->nr = 0;
}

/*
 * Called when unwinding has ended. A memo that has not known half of the frames it was asked for is
 * made anew. Frames of runtimes have no rules.
 */
UNWIND_INLINE void unwind_end_memo(struct unwinder *w, struct unwind_memo *m)
{
	uint32_t nr = w->recall.asked < UNWIND_MEMO_FRAMES ? w->recall.asked : UNWIND_MEMO_FRAMES;

	if (w->recall.use == MEMO_FILL)
		m->nr = w->recall.at;
	else if (w->recall.use == MEMO_RECALL && w->recall.hits * 2 < nr)
		m->nr = 0;
}

/* Notes that the rule looked up for pc holds from begin to end - 1, in the mapping kept in w. */
UNWIND_INLINE void unwind_note_range(struct unwinder *w, const struct unwind_memo *m,
				     uint64_t begin, uint64_t end)
{
	if (!m)
		return;
	if (begin < w->map_begin)
		begin = w->map_begin;
	if (end > w->map_end)
		end = w->map_end;
	w->recall.begin = begin;
	w->recall.size = (uint32_t)(end - begin);
}

/* Puts the rule at pc into w->rule and returns 1, or 0: it must be looked up. */
UNWIND_INLINE int unwind_recall(struct unwinder *w, const struct unwind_memo *m, uint64_t pc)
{
	const struct unwind_memo_frame *f;
	uint32_t at = w->recall.at, sp = (uint32_t)w->sp;

	w->recall.put = UNWIND_MEMO_FRAMES;
	w->recall.asked++;
	if (w->recall.use == MEMO_FILL) {
		w->recall.put = at;
		return 0;
	}
	/* A frame of the memo that has returned since is passed over. */
	at += (int32_t)(m->frames[at & (UNWIND_MEMO_FRAMES - 1)].sp - sp) < 0;
	at += (int32_t)(m->frames[at & (UNWIND_MEMO_FRAMES - 1)].sp - sp) < 0;
	f = &m->frames[at & (UNWIND_MEMO_FRAMES - 1)];
	if (at >= w->recall.nr)
		return 0;
	w->recall.at = at;
	if (f->sp != sp)
		return 0;
	w->recall.at = at + 1;
	w->recall.put = at;
	if (pc - f->begin >= f->size)
		return 0;
	w->recall.hits++;
	w->rule = f->rule;
	return 1;
}

/* Keeps the rule that was looked up instead. */
UNWIND_INLINE void unwind_memorize(struct unwinder *w, struct unwind_memo *m)
{
	struct unwind_memo_frame *f;

	if (w->recall.put >= UNWIND_MEMO_FRAMES)
		return;
	f = &m->frames[w->recall.put & (UNWIND_MEMO_FRAMES - 1)];
	f->sp = (uint32_t)w->sp;
	f->begin = w->recall.begin;
	f->size = w->recall.size;
	f->rule = w->rule;
	w->recall.at = w->recall.put + 1;
}
