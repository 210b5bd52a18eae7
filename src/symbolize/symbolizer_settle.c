/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests whose cookies lose their meaning: those that have no answer in time are forgotten.
 *
 * A batch that a thread works on cannot be taken from it. It keeps the number of the generation in
 * which it was made, and when its thread brings it back in a later one it is freed without a word.
 */
#include <stdlib.h>

#include "src/base/patience.h"
#include "src/symbolize/symbolizer_parts.h"

static bool is_idle(const struct symbolizer *s)
{
	return !s->nr_open && !s->answered && !s->nr_pending;
}

static void forget_pending(struct symbolizer *s, struct subject *b)
{
	s->nr_lost += b->nr_pending;
	s->nr_pending -= b->nr_pending;
	free(b->pending);
	b->pending = NULL;
	b->nr_pending = b->cap_pending = 0;
}

/* Batches that wait for their lines have names, which are given without lines. */
static void give_up_lines(struct symbolizer *s)
{
	struct batch *job;

	while ((job = symbolizer_take_waiting(s))) {
		for (size_t i = 0; i < job->b.nr; i++)
			job->b.v[i].is_late = 1;
		symbolizer_put_answered(s, job);
	}
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

int symbolizer_settle(struct symbolizer *s, symbol_fn fn, void *ctx, struct patience *wait)
{
	int err = 0;

	for (;;) {
		uint64_t before = s->nr_batches;

		symbolizer_work(s);
		err = symbolizer_deliver(s, fn, ctx);
		if (err || is_idle(s) || !patience_lasts(wait))
			break;
		if (s->nr_open)
			symbolizer_wait_for_jobs(s);
		else if (s->nr_batches == before)
			break;		/* no batch could be made */
	}
	give_up_lines(s);
	if (!err)
		err = symbolizer_deliver(s, fn, ctx);
	forget(s);
	return err;
}
