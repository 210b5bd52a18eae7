/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests whose cookies lose their meaning: those that have no answer in time are forgotten. Lines
 * take much longer than names, so they are waited for during the first quarter of the time only.
 *
 * A batch that a thread works on cannot be taken from it. It keeps the number of the generation in
 * which it was made, and when its thread brings it back in a later one it is freed without a word.
 */
#include <assert.h>
#include <stdlib.h>

#include "src/base/clock.h"
#include "src/base/patience.h"
#include "src/symbolize/symbolizer_parts.h"

/* Whether nothing is left that an answer may come from; the lines of others are left out. */
static bool has_names(const struct symbolizer *s)
{
	return s->nr_open == s->is_adding_lines && !s->answered && !s->waiting && !s->nr_pending;
}

static void forget_pending(struct symbolizer *s, struct subject *b)
{
	s->nr_lost += b->nr_pending;
	assert(s->nr_pending >= b->nr_pending);
	s->nr_pending -= b->nr_pending;
	free(b->pending);
	b->pending = NULL;
	b->nr_pending = b->cap_pending = 0;
}

static void forget(struct symbolizer *s)
{
	for (size_t i = 0; i < s->nr_subjects; i++)
		if (s->subjects[i])
			forget_pending(s, s->subjects[i]);
	forget_pending(s, &s->kernel);
	forget_pending(s, &s->unknown);
	s->generation++;
}

/* Waits for what is asked for, with lines or without. */
static int wait_for_answers(struct symbolizer *s, bool with_lines, symbol_fn fn, void *ctx,
			    struct patience *wait)
{
	int err;

	for (;;) {
		uint64_t before = s->nr_batches;

		symbolizer_work(s);
		if (!with_lines)
			symbolizer_give_up_lines(s);
		err = symbolizer_deliver(s, fn, ctx);
		if (err || (has_names(s) && (!with_lines || !s->nr_open)) || !patience_lasts(wait))
			return err;
		if (s->nr_open)
			symbolizer_wait_for_jobs(s);
		else if (s->nr_batches == before)
			return 0;	/* no batch could be made */
	}
}

int symbolizer_settle(struct symbolizer *s, symbol_fn fn, void *ctx, struct patience *wait)
{
	uint64_t now = now_ns();
	struct patience for_lines = *wait;
	int err;

	if (wait->until_ns)
		for_lines.until_ns = now < wait->until_ns ? now + (wait->until_ns - now) / 4 : now;
	err = wait_for_answers(s, true, fn, ctx, &for_lines);
	if (!err)
		err = wait_for_answers(s, false, fn, ctx, wait);
	forget(s);
	return err;
}
