/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/quiet_threads.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/report/report_sample.h"
#include "src/report/state_words.h"

void quiet_threads_release(struct quiet_threads *q)
{
	for (size_t i = 0; i < q->nr_segments; i++)
		free(q->segments[i].threads);
	free(q->segments);
	memset(q, 0, sizeof(*q));
}

bool quiet_row_is_active(const struct rec_sample *rec, unsigned futex, uint64_t begin_ns)
{
	enum activity a = sample_activity(rec, futex);

	if (a == ACTIVITY_RUNNING || a == ACTIVITY_RUN_QUEUE || a == ACTIVITY_DISK ||
	    a == ACTIVITY_UNKNOWN)
		return true;
	if (a == ACTIVITY_LOCK && rec->owner)
		return true;
	if (a == ACTIVITY_IDLE_KERNEL || a == ACTIVITY_ENDED)
		return rec->ran_ns >= begin_ns;
	return !rec->ran_ns || rec->ran_ns >= begin_ns;
}

int quiet_threads_row(struct quiet_threads *q, const struct report_sample *s, uint64_t nr,
		      uint64_t begin_ns)
{
	struct quiet_segment *seg;
	struct quiet_thread *t;

	if (!s->thread)
		return 0;
	while (q->nr_segments <= s->segment)
		if (!array_push(&q->segments, &q->nr_segments, &q->cap_segments))
			return -ENOMEM;
	seg = &q->segments[s->segment];
	if (array_reserve(&seg->threads, &seg->cap, definition_store_id_end(s->tables, REC_THREAD)))
		return -ENOMEM;
	assert(s->rec->thread < seg->cap);
	t = &seg->threads[s->rec->thread];
	t->rows += nr;
	t->is_active |= quiet_row_is_active(s->rec, s->futex, begin_ns);
	return 0;
}

void quiet_threads_end(struct quiet_threads *q)
{
	for (size_t i = 0; i < q->nr_segments; i++) {
		const struct quiet_segment *seg = &q->segments[i];

		for (size_t t = 0; t < seg->cap; t++) {
			bool is_quiet = seg->threads[t].rows && !seg->threads[t].is_active;

			q->nr += is_quiet;
			q->rows += is_quiet ? seg->threads[t].rows : 0;
		}
	}
}

bool quiet_threads_has(const struct quiet_threads *q, uint32_t segment, uint32_t thread)
{
	const struct quiet_segment *seg;

	if (segment >= q->nr_segments)
		return false;
	seg = &q->segments[segment];
	return thread < seg->cap && seg->threads[thread].rows && !seg->threads[thread].is_active;
}
