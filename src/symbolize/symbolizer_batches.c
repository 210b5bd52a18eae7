/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches that have their names. */
#include <assert.h>
#include <stdlib.h>

#include "src/symbolize/symbolizer_parts.h"

void symbolizer_free_batch(struct batch *job)
{
	assert(job->subject->nr_batches);
	job->subject->nr_batches--;
	symbol_batch_release(&job->b);
	free(job->b.v);
	free(job);
}

void symbolizer_free_batches(struct batch *job)
{
	struct batch *next;

	for (; job; job = next) {
		next = job->next;
		symbolizer_free_batch(job);
	}
}

void symbolizer_put_answered(struct symbolizer *s, struct batch *job)
{
	job->next = NULL;
	if (job->generation != s->generation) {
		s->nr_lost += job->is_copy ? 0 : job->b.nr;
		symbolizer_free_batch(job);
		return;
	}
	*s->answered_tail = job;
	s->answered_tail = &job->next;
}
