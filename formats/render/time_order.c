/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/time_order.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"

#define DEFAULT_HOLD_NS 1000000000ull

struct held_sample {
	uint64_t real_ns, time_ns, weight;
	uint64_t nth;			/* of equal times, the first one in the file is first */
	uint32_t segment, thread, cpu, kstack, ustack, flags;
	uint8_t state, end;
};

struct time_order {
	struct report *rep;
	report_sample_fn fn;
	void *ctx;
	struct held_sample *heap;	/* the earliest is the first */
	size_t nr, cap;
	uint64_t hold_ns, latest_ns, nth;
};

static bool is_before(const struct held_sample *a, const struct held_sample *b)
{
	return a->real_ns != b->real_ns ? a->real_ns < b->real_ns : a->nth < b->nth;
}

static void sift_up(struct time_order *o, size_t i, struct held_sample s)
{
	for (; i && is_before(&s, &o->heap[(i - 1) / 2]); i = (i - 1) / 2)
		o->heap[i] = o->heap[(i - 1) / 2];
	o->heap[i] = s;
}

static struct held_sample take_earliest(struct time_order *o)
{
	struct held_sample earliest = o->heap[0], last = o->heap[--o->nr];
	size_t i = 0;

	for (size_t child = 1; child < o->nr; child = 2 * i + 1) {
		if (child + 1 < o->nr && is_before(&o->heap[child + 1], &o->heap[child]))
			child++;
		if (!is_before(&o->heap[child], &last))
			break;
		o->heap[i] = o->heap[child];
		i = child;
	}
	o->heap[i] = last;
	return earliest;
}

static int pass_on(struct time_order *o, const struct held_sample *h)
{
	struct rec_sample rec = { .time_ns = h->time_ns,
				  .thread = h->thread,
				  .cpu = h->cpu,
				  .kstack = h->kstack,
				  .ustack = h->ustack,
				  .weight = h->weight,
				  .state = h->state,
				  .end = h->end,
				  .flags = h->flags };
	struct report_sample s = { .rec = &rec,
				   .tables = report_tables(o->rep, h->segment),
				   .segment = h->segment,
				   .real_ns = h->real_ns,
				   .weight = h->weight };

	s.thread = definition_store_find_thread(s.tables, h->thread);
	if (s.thread)
		s.process = definition_store_find_process(s.tables, s.thread->process);
	return o->fn(o->ctx, &s);
}

/* Passes on all that nothing earlier than latest_ns - hold_ns can overtake. */
static int pass_ready(struct time_order *o)
{
	int err = 0;

	while (o->nr && !err &&
	       (o->nr >= TIME_ORDER_MAX || o->latest_ns - o->heap[0].real_ns > o->hold_ns)) {
		struct held_sample h = take_earliest(o);

		err = pass_on(o, &h);
	}
	return err;
}

static int hold(void *time_order, const struct report_sample *s)
{
	struct time_order *o = time_order;
	const struct rec_sample *rec = s->rec;
	struct held_sample h = { .real_ns = s->real_ns,
				 .time_ns = rec->time_ns,
				 .weight = s->weight,
				 .nth = o->nth++,
				 .segment = s->segment,
				 .thread = rec->thread,
				 .cpu = rec->cpu,
				 .kstack = rec->kstack,
				 .ustack = rec->ustack,
				 .flags = rec->flags,
				 .state = rec->state,
				 .end = rec->end };

	if (array_reserve(&o->heap, &o->cap, o->nr + 1))
		return -ENOMEM;
	sift_up(o, o->nr++, h);
	if (s->real_ns > o->latest_ns)
		o->latest_ns = s->real_ns;
	return pass_ready(o);
}

static uint64_t hold_ns_of(const struct report *rep)
{
	const char *text = report_meta(rep, "reorder_ns", NULL);

	if (report_info(rep)->nr_segments > 1)
		return UINT64_MAX;
	return text ? strtoull(text, NULL, 10) : DEFAULT_HOLD_NS;
}

int time_order_samples(struct report *rep, report_sample_fn fn, void *ctx)
{
	struct time_order o = { .rep = rep, .fn = fn, .ctx = ctx, .hold_ns = hold_ns_of(rep) };
	int err = report_samples(rep, hold, &o);

	while (o.nr && !err) {
		struct held_sample h = take_earliest(&o);

		err = pass_on(&o, &h);
	}
	free(o.heap);
	return err;
}
