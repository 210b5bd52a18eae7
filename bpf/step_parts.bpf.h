/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a step of the walk, as functions of their own. stack.bpf.h includes this file in its
 * middle.
 *
 * Those that read no other task's memory are global, and the verifier goes through each once for
 * all programs. A task cannot be given to a global function; the others are checked where they are
 * called, but 6.18 follows the stack of a function through all of its instructions at the end of
 * each path: a step in one piece took 20 ms more. And the stacks of a chain of calls have 512 bytes
 * together, on 6.1 in pieces of 32, so parts call no others where there is a way around it.
 */
#pragma once

__noinline int guess_nofault(struct unwinder *w)
{
	struct env e = {};

	return w ? unwind_guess_on(&e, w) : 1;
}

__noinline int guess_sleepable(struct gather *g, struct task_struct *task TRUSTED)
{
	struct env e = { .g = g, .task = task, .sleepable = true };

	return WITH_SCANS && g ? unwind_guess_on(&e, &g->unwinder) : 1;
}

static __always_inline int guess_on(void *env, struct unwinder *w)
{
	struct env *e = env;

	return (e->sleepable ? guess_sleepable(e->g, e->task) : guess_nofault(w)) != 0;
}

__noinline int step_plain_sleepable(struct gather *g, struct task_struct *task TRUSTED)
{
	struct env e = { .g = g, .task = task, .sleepable = true };

	return WITH_SCANS && g ? unwind_step_plain(&e, &g->unwinder, g->frames) : 1;
}

__noinline int step_plain_nofault(struct gather *g)
{
	struct env e = { .g = g };

	return g ? unwind_step_plain(&e, &g->unwinder, g->frames) : 1;
}

/* Those that recall frames run very often, and a call costs a tenth of a frame. */
static __always_inline int step_plain(void *env)
{
	struct env *e = env;

	if (e->recalls)
		return unwind_step_plain(env, &e->g->unwinder, e->g->frames);
	return (e->sleepable ? step_plain_sleepable(e->g, e->task) : step_plain_nofault(e->g)) != 0;
}

/* A program that may sleep reads no pages of objects: a word of them costs it as much. */
static __always_inline int unwind_load_object(void *env, struct unwinder *w, uint32_t i,
					      uint64_t addr)
{
	void *to = w->objects.pages + (i & (FRAME_OBJECT_PAGES - 1)) * UNWIND_MEMORY_PAGE;

	(void)env;
	return bpf_probe_read_user(to, UNWIND_MEMORY_PAGE, (void *)addr) != 0;
}

__noinline int object_word_nofault(struct unwinder *w, uint64_t addr)
{
	struct env e = {};

	return w ? frame_object_word(&e, w, addr) : 1;
}

static __always_inline int object_word(void *env, struct unwinder *w, uint64_t addr)
{
	struct env *e = env;

	return e->sleepable ? unwind_read_word(env, addr, &w->objects.word)
			    : object_word_nofault(w, addr);
}

/* A call costs as much as some operations do, and a step of the walk more. */
#define TURNS_A_STEP 4
#define ROWS_A_TURN 16

/* Functions of their own for the verifier, which goes through them once for all programs. */
__noinline int frame_turn_nofault(struct gather *g)
{
	struct env e = { .g = g };

	return g ? frame_operations(&e, &g->unwinder, g->frames, 1) : 0;
}

__noinline int frame_list_nofault(struct gather *g)
{
	struct env e = { .g = g };

	return g ? frame_list(&e, &g->unwinder, g->frames, 2) : 0;
}

__noinline int frame_chain_nofault(struct gather *g)
{
	struct env e = { .g = g };

	return g ? frame_chain(&e, &g->unwinder, g->frames, 1) : 0;
}

__noinline int frame_turns_nofault(struct gather *g)
{
	if (!g)
		return 0;
	for (int i = 0; i < TURNS_A_STEP; i++) {
		int row = frame_turn_nofault(g);

		for (int j = 0; row && j < ROWS_A_TURN; j++) {
			if (!(row == FRAME_LIST ? frame_list_nofault(g) : frame_chain_nofault(g)))
				break;
			if (j + 1 < ROWS_A_TURN)
				g->unwinder.run.at++;
		}
		if (READ_NOW(g->unwinder.run.state) != RUN_ON)
			break;
	}
	return 0;
}

__noinline int frame_turn_sleepable(struct gather *g, struct task_struct *task TRUSTED)
{
	struct env e = { .g = g, .task = task, .sleepable = true };

	if (WITH_SCANS && g)
		frame_turn(&e, &g->unwinder, g->frames, 0);
	return 0;
}

static __always_inline void frame_turn_on(void *env)
{
	struct env *e = env;
	int row;

	if (e->sleepable) {
		frame_turn_sleepable(e->g, e->task);
		return;
	}
	if (e->samples) {
		frame_turns_nofault(e->g);
		return;
	}
	row = frame_turn_nofault(e->g);
	if (row == FRAME_LIST)
		frame_list_nofault(e->g);
	else if (row)
		frame_chain_nofault(e->g);
}
