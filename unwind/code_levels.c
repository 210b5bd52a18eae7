/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "unwind/code_window_parts.h"

#define EXIT_STEPS 4			/* push $n; jmp group; push $group; jmp handler */

/* ---- telling ---- */

static void tell_returns(struct window *w)
{
	for (uint32_t i = 0; i < w->nr; i++) {
		const struct insn *n = &w->v[i];

		if (n->flow == X86_RETURN && !n->after_push)
			code_groups_tell(&w->groups, sp_of(i), WORD,
					 n->by_path ? CODE_BY_PATH : CODE_BY_RETURN);
		if (n->is_prologue)
			code_groups_tell(&w->groups, sp_of(i), WORD, CODE_BY_PROLOGUE);
	}
}

const struct code_pin *code_levels_pin(const struct window *w, uint64_t addr)
{
	for (size_t i = 0; i < w->in->nr_pins; i++)
		if (w->in->pins[i].addr == addr)
			return &w->in->pins[i];
	return NULL;
}

/* The pin that an instruction jumps to, or NULL. */
const struct code_pin *code_levels_pin_of(const struct window *w, const struct insn *n)
{
	const struct code_pin *pin;

	if (!n->target || n->flow == X86_CALL || n->flow == X86_CALL_ANY || n->to != NO_INSN)
		return NULL;
	pin = code_levels_pin(w, n->target);
	return pin && pin->cfa_off == WORD && n->after_push ? NULL : pin;
}

/* In the middle of a function the way there may have pushed something; at its start it has not. */
static bool leaves_open(const struct code_pin *pin)
{
	return pin->is_file && pin->cfa_off != WORD;
}

static void tell_pins(struct window *w)
{
	for (uint32_t i = 0; i < w->nr; i++) {
		const struct insn *n = &w->v[i];
		const struct code_pin *pin = code_levels_pin_of(w, n);

		if (pin && !leaves_open(pin))
			code_groups_tell(&w->groups, sp_of(i), pin->cfa_off,
					 n->by_path ? CODE_BY_PATH : CODE_BY_RETURN);
	}
}

/* ---- joining ---- */

/*
 * Code that is reached with stack pointers that differ (the exits of traces, a loop that moves the
 * stack pointer) has no one level. It is found when two paths contradict each other, and all that
 * follows it is split off, until the stack pointer is loaded anew.
 */
static int split_off(struct window *w, uint32_t i)
{
	const struct constant none = { 0 };

	w->splits = true;
	w->nr_todo = 0;
	for (;;) {
		struct insn *n = &w->v[i];
		bool ends = n->is_split || (n->effect.sp.from != FROM_ITSELF);

		n->is_split = true;
		if (!ends && n->to != NO_INSN && !is_call(n) && code_insns_todo(w, n->to, none))
			return -ENOMEM;
		if (!ends && n->next != NO_INSN && code_insns_todo(w, n->next, none))
			return -ENOMEM;
		if (!w->nr_todo)
			return 0;
		i = (uint32_t)w->todo[--w->nr_todo].addr;
	}
}

/* 0, or -ENOMEM. */
static int join_edge(struct window *w, uint32_t i, uint32_t j)
{
	const struct code_effect *e = &w->v[i].effect;
	bool same = w->v[i].by_path == w->v[j].by_path,
	     enters = w->v[j].is_split && !w->v[i].is_split, ok = true;

	if (e->sp.from == FROM_OTHER)
		ok = code_groups_join(&w->groups, sp_of(j), fp_of(i), e->sp.by);
	else if (e->sp.from == FROM_ITSELF && !enters)
		ok = code_groups_join(&w->groups, sp_of(j), sp_of(i), e->sp.by);
	if (e->fp.from == FROM_ITSELF || e->fp.from == FROM_OTHER)
		code_groups_join(&w->groups, fp_of(j),
				 e->fp.from == FROM_OTHER ? sp_of(i) : fp_of(i), e->fp.by);
	if (ok || !same)
		return 0;
	if (!w->v[j].is_split)
		return split_off(w, j);
	code_groups_spoil(&w->groups, sp_of(j));	/* a loop: all of it is the same way out */
	return 0;
}

/*
 * A call of code that takes its return address off the stack is a jump: what is there belongs to
 * the function that calls. It comes back by a jump or by a return that was pushed again.
 */
static void join_call(struct window *w, uint32_t i)
{
	uint32_t to = w->v[i].to;

	if (to != NO_INSN && w->v[to].pops)
		code_groups_join(&w->groups, sp_of(to), sp_of(i), -WORD);
}

/*
 * What follows without a jump is joined first: it is one function, while jumps may lead to what
 * several share.
 */
static int join_next(struct window *w, bool by_path)
{
	int err = 0;

	for (uint32_t i = 0; i < w->nr && !err; i++) {
		const struct insn *n = &w->v[i];

		if (n->by_path == by_path && n->next != NO_INSN && !is_call(n))
			err = join_edge(w, i, n->next);
	}
	return err;
}

/* Jumps to what more than least and up to most jumps lead to. */
static int join_some_targets(struct window *w, bool by_path, uint32_t least, uint32_t most)
{
	int err = 0;

	for (uint32_t i = 0; i < w->nr && !err; i++) {
		const struct insn *n = &w->v[i];

		if (n->by_path != by_path || n->to == NO_INSN || w->v[n->to].nr_jumps <= least ||
		    w->v[n->to].nr_jumps > most)
			continue;
		if (is_call(n))
			join_call(w, i);
		else
			err = join_edge(w, i, n->to);
	}
	return err;
}

/*
 * What few jumps lead to is joined first, and exits last of all. Where paths contradict each other,
 * the last one joined is split off, and that should be what they share, as the exits of all traces
 * of LuaJIT are, and not the one way from a trace to the next.
 */
static int join_targets(struct window *w, bool by_path)
{
	static const uint32_t most[] = { 1, 2, 4, 16, AN_EXIT - 1 };
	uint32_t least = 0;
	int err = 0;

	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]) && !err; i++) {
		err = join_some_targets(w, by_path, least, most[i]);
		least = most[i];
	}
	return err;
}

/* Control that goes on behind a call: the callee may never return. */
static void join_behind_calls(struct window *w)
{
	for (uint32_t i = 0; i < w->nr; i++) {
		const struct insn *n = &w->v[i];

		if (is_call(n) && n->next != NO_INSN && !w->v[n->next].is_split) {
			code_groups_join(&w->groups, sp_of(n->next), sp_of(i), 0);
			code_groups_join(&w->groups, fp_of(n->next), fp_of(i), 0);
		}
	}
}

static int join_all(struct window *w)
{
	int err = code_groups_init(&w->groups, 2 * w->nr);

	if (err)
		return err;
	tell_returns(w);
	tell_pins(w);
	for (int sweep = 0; sweep < 2 && !err; sweep++) {
		err = join_next(w, !sweep);
		if (!err)
			err = join_targets(w, !sweep);
	}
	join_behind_calls(w);
	for (int sweep = 0; sweep < 2 && !err; sweep++)
		err = join_some_targets(w, !sweep, AN_EXIT - 1, AN_EXIT);
	return err;
}

/* What was split off while joining may be joined to what led there, so all is joined anew. */
static int join_and_split(struct window *w)
{
	int err = join_all(w);

	if (err || !w->splits)
		return err;
	code_groups_release(&w->groups);
	return join_all(w);
}

/* What was split off and returns tells of those that lead there and of which nothing is known. */
static void join_shared_ends(struct window *w)
{
	for (uint32_t i = 0; i < w->nr; i++) {
		const struct insn *n = &w->v[i];
		int32_t level;

		if (n->to != NO_INSN && !is_call(n) && !n->is_split && w->v[n->to].is_split &&
		    code_groups_is_open(&w->groups, sp_of(i)) &&
		    code_groups_level(&w->groups, sp_of(n->to), &level))
			code_groups_tell(&w->groups, sp_of(i), level, CODE_BY_RETURN);
	}
}

/* Whether i is an exit: after a few instructions the way leads out of all pieces. */
static bool is_exit(const struct window *w, uint32_t i)
{
	for (int steps = 0; steps < EXIT_STEPS && i != NO_INSN; steps++) {
		const struct insn *n = &w->v[i];

		if (n->flow == X86_JUMP && n->to == NO_INSN)
			return true;
		if (n->flow != X86_NEXT && n->flow != X86_JUMP)
			return false;
		i = n->flow == X86_JUMP ? n->to : n->next;
	}
	return false;
}

static void count_jumps(struct window *w)
{
	for (uint32_t i = 0; i < w->nr; i++)
		if (w->v[i].to != NO_INSN)
			w->v[w->v[i].to].nr_jumps++;
	for (uint32_t i = 0; i < w->nr; i++)
		if (w->v[i].nr_jumps && is_exit(w, i))
			w->v[i].nr_jumps = AN_EXIT;
}

static void link_all(struct window *w)
{
	for (uint32_t i = 0; i < w->nr; i++) {
		struct insn *n = &w->v[i];

		n->next = code_insns_go_on(n->flow) ? code_insns_at(w, n->addr + n->len) : NO_INSN;
		n->to = n->target ? code_insns_at(w, n->target) : NO_INSN;
	}
	count_jumps(w);
}

/* ---- the rules of files ---- */

/* For each group of stack pointers the highest one, as its distance from the root. */
static int find_tops(struct window *w, int32_t **out)
{
	int32_t *top = malloc((w->groups.nr + 1) * sizeof(*top)), by;

	if (!top)
		return -ENOMEM;
	for (size_t i = 0; i < w->groups.nr; i++)
		top[i] = INT32_MIN;
	for (uint32_t i = 0; i < w->nr; i++) {
		uint32_t root = code_groups_root(&w->groups, sp_of(i), &by);

		if (!w->v[i].is_padding && by > top[root])
			top[root] = by;
	}
	*out = top;
	return 0;
}

/* By root of a group: the cfa_off of the file's code that it jumps to; 0: none. */
static int32_t *find_file_pins(struct window *w)
{
	int32_t *off = calloc(w->groups.nr + 1, sizeof(*off)), by;

	for (uint32_t i = 0; off && i < w->nr; i++) {
		const struct code_pin *pin = code_levels_pin_of(w, &w->v[i]);

		if (pin && leaves_open(pin))
			off[code_groups_root(&w->groups, sp_of(i), &by)] = pin->cfa_off;
	}
	return off;
}

/* Groups that jump to code that was split off end where that ends. */
static void inherit_file_pins(struct window *w, int32_t *off)
{
	int32_t by;

	for (uint32_t i = 0; i < w->nr; i++) {
		uint32_t to = w->v[i].to, from = code_groups_root(&w->groups, sp_of(i), &by);

		if (to == NO_INSN || is_call(&w->v[i]) || w->v[i].is_split || !w->v[to].is_split)
			continue;
		to = code_groups_root(&w->groups, sp_of(to), &by);
		if (!off[from])
			off[from] = off[to];
	}
}

/* What the rules of files tell of groups that nothing else tells of. */
static int tell_file_pins(struct window *w)
{
	int32_t *top, *off = find_file_pins(w);
	int err = off ? find_tops(w, &top) : -ENOMEM;

	if (err) {
		free(off);
		return err;
	}
	inherit_file_pins(w, off);
	/* The level of the highest is cfa_off, and the root is top[] lower. */
	for (uint32_t r = 0; r < w->groups.nr; r++)
		if (off[r] && top[r] != INT32_MIN)
			code_groups_tell(&w->groups, r, (int64_t)off[r] + top[r], CODE_BY_FILE);
	free(top);
	free(off);
	return 0;
}

int code_levels_find(struct window *w)
{
	int err;

	link_all(w);
	err = join_and_split(w);
	if (err)
		return err;
	join_shared_ends(w);
	join_behind_calls(w);
	return tell_file_pins(w);
}
