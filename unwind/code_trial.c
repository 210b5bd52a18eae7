/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tries code that no path has reached: cases of switches whose table was not found, and functions
 * whose address is taken but which no symbol names. A state is assumed and the code is followed
 * from it. The assumption is kept only if there is evidence for it and none against it: the path
 * joins known code in the same state, or returns with the stack as it was at the start.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bisect.h"

#include "unwind/code_flow.h"

#define MAX_ASSUMED 4			/* states per place */
#define MAX_JUMPS 64			/* jumps of one function that are looked at */
#define MAX_PASSES 3
#define STEPS_PER_BYTE 2		/* instructions per byte of gaps, for all trials */

struct assumed {
	struct code_state v[MAX_ASSUMED];
	unsigned nr;
};

static void assume(struct assumed *a, const struct code_state *s)
{
	for (unsigned i = 0; i < a->nr; i++)
		if (!memcmp(&a->v[i], s, sizeof(*s)))
			return;
	if (a->nr < MAX_ASSUMED)
		a->v[a->nr++] = *s;
}

static void undo(struct code_flow *f)
{
	struct code_trial *t = &f->trial;

	while (t->nr_changes) {
		const struct code_change *c = &t->changes[--t->nr_changes];

		f->at[c->at] = c->old;
	}
}

static void keep(struct code_flow *f)
{
	for (size_t i = 0; i < f->trial.nr_changes; i++)
		f->at[f->trial.changes[i].at] &= (uint16_t)~CODE_TENTATIVE;
}

/* 1: the assumption is kept; 0: all is as before; or -ENOMEM. */
static int try_state(struct code_flow *f, uint64_t at, const struct code_state *s,
		     bool needs_no_proof)
{
	struct code_trial *t = &f->trial;
	size_t unknown_jumps = f->nr_unknown_jumps;
	int err;

	t->is_on = true;
	t->confirmed = t->contradicted = false;
	t->nr_changes = 0;
	err = code_flow_from(f, at, s);
	t->is_on = false;
	if (err)
		return err;
	if (t->contradicted || !(t->confirmed || needs_no_proof)) {
		undo(f);
		f->nr_unknown_jumps = unknown_jumps;
		return 0;
	}
	keep(f);
	return 1;
}

/* The first unknown jump at or after an offset; the first nr jumps are sorted. */
static size_t first_jump(const struct code_flow *f, size_t nr, uint64_t at)
{
	return bisect(nr, i, f->unknown_jumps[i] < at);
}

/* Adds the states in which control leaves for an unknown place in the same function. */
static void assume_jumps(const struct code_flow *f, size_t nr_jumps, uint64_t at, struct assumed *a)
{
	size_t next = code_starts_after(&f->starts, at);
	uint64_t begin = next ? f->starts.v[next - 1].at : 0;
	uint64_t end = next < f->starts.nr ? f->starts.v[next].at : f->in->len;

	size_t first = first_jump(f, nr_jumps, begin);

	for (size_t i = first; i < nr_jumps && i < first + MAX_JUMPS && f->unknown_jumps[i] < end;
	     i++) {
		uint16_t id = f->at[f->unknown_jumps[i]];

		if (id && id != CODE_INSIDE)
			assume(a, &f->states[id]);
	}
}

/* 1: the place is reached now; 0: it is not; or -ENOMEM. */
static int try_place(struct code_flow *f, size_t nr_jumps, uint64_t at, uint64_t end)
{
	struct code_state entry = code_state_at_entry();
	bool begins = code_is_prologue(f->in, at, end) || code_is_frame_setup(f->in, at, end);
	struct assumed a = { .nr = 0 };
	int found;

	assume_jumps(f, nr_jumps, at, &a);
	found = begins ? try_state(f, at, &entry, true) : 0;
	for (unsigned i = 0; i < a.nr && !found; i++)
		found = try_state(f, at, &a.v[i], false);
	/* If cases of a switch are missing, this is taken for one of them, not for a function. */
	return found || a.nr ? found : try_state(f, at, &entry, code_is_taken(&f->starts, at));
}

/* The offset after the next instruction that control does not pass. */
static uint64_t skip_block(const struct code_flow *f, uint64_t at, uint64_t end)
{
	struct x86_insn in;

	while (at < end && !f->at[at]) {
		if (!x86_decode(f->in->code + at, end - at, &in)) {
			at++;
			continue;
		}
		at += in.len;
		if (in.flow == X86_JUMP || in.flow == X86_JUMP_ANY || in.flow == X86_RETURN ||
		    in.flow == X86_STOP)
			break;
	}
	return at;
}

static uint64_t skip_padding(const struct code_flow *f, uint64_t at, uint64_t end)
{
	struct x86_insn in;

	at = code_behind_zeros(f->in, at, end);
	while (at < end && !f->at[at] && x86_decode(f->in->code + at, end - at, &in) &&
	       x86_is_padding(&in))
		at += in.len;
	return at;
}

/* Whether code is tried there. What is before is passed, to find where instructions begin. */
static bool is_tried(const struct code_input *in, uint64_t at)
{
	return !in->tried.end || in->vaddr + at >= in->tried.begin;
}

/* Up to where a gap is tried; its begin: no part of it is. */
static uint64_t end_of_tried(const struct code_input *in, const struct code_range *gap)
{
	uint64_t end = in->tried.end && in->tried.end < gap->end ? in->tried.end : gap->end;

	return (end < gap->begin ? gap->begin : end) - in->vaddr;
}

/* Returns how many places were reached, or -errno. */
static long try_gap(struct code_flow *f, size_t nr_jumps, const struct code_range *gap)
{
	uint64_t at = gap->begin - f->in->vaddr, end = end_of_tried(f->in, gap);
	long found = 0;

	while (at < end && f->trial.steps_left) {
		int err = 0;

		while (at < end && f->at[at])
			at++;
		at = skip_padding(f, at, end);
		if (at == end || f->at[at])
			continue;
		if (code_flow_is_unwanted(f))
			return -ECANCELED;
		if (is_tried(f->in, at))
			err = try_place(f, nr_jumps, at, end);
		if (err < 0)
			return err;
		found += err;
		if (!err)
			at = skip_block(f, at, end);
	}
	return found;
}

int code_trial_run(struct code_flow *f)
{
	long found = 1;

	f->trial.steps_left = 0;
	for (size_t i = 0; i < f->in->nr_gaps; i++)
		f->trial.steps_left += STEPS_PER_BYTE * (f->in->gaps[i].end - f->in->gaps[i].begin);
	for (unsigned pass = 0; pass < MAX_PASSES && found > 0; pass++) {
		size_t nr_jumps = f->nr_unknown_jumps;

		if (nr_jumps)
			qsort(f->unknown_jumps, nr_jumps, sizeof(*f->unknown_jumps), compare_u32);
		found = 0;
		for (size_t i = 0; i < f->in->nr_gaps && found >= 0; i++) {
			long n = try_gap(f, nr_jumps, &f->in->gaps[i]);

			found = n < 0 ? n : found + n;
		}
	}
	return found < 0 ? (int)found : 0;
}
