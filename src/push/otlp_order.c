/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/otlp_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/intern.h"
#include "src/push/otlp_request.h"

struct stack_text {			/* the locations of a stack */
	const char *s;
	size_t nr;
	uint32_t id;
};

static uint32_t location_at(const struct stack_text *t, size_t i)
{
	uint32_t id;

	memcpy(&id, t->s + i * sizeof(id), sizeof(id));
	return id;
}

/* The last location is the outermost one. */
static int compare_stacks(const void *x, const void *y)
{
	const struct stack_text *a = x, *b = y;

	for (size_t i = 1; i <= a->nr && i <= b->nr; i++) {
		uint32_t m = location_at(a, a->nr - i), n = location_at(b, b->nr - i);

		if (m != n)
			return m < n ? -1 : 1;
	}
	return a->nr == b->nr ? 0 : a->nr < b->nr ? -1 : 1;
}

/* Stack 0, which is empty, stays the first one. */
static struct stack_text *sorted_stacks(const struct intern *in, size_t nr)
{
	struct stack_text *v = calloc(nr, sizeof(*v));
	size_t len;

	for (size_t i = 0; v && i < nr; i++) {
		v[i].s = intern_get(in, (uint32_t)i, &len);
		v[i].nr = len / sizeof(uint32_t);
		v[i].id = (uint32_t)i;
	}
	if (v)
		qsort(v, nr, sizeof(*v), compare_stacks);
	return v;
}

static int number_locations(struct otlp_order *o, const struct stack_text *stacks, size_t nr,
			    size_t locations)
{
	uint32_t next = 1;

	o->locations = calloc(locations, sizeof(*o->locations));
	o->location_numbers = calloc(locations, sizeof(*o->location_numbers));
	if (!o->locations || !o->location_numbers)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		for (size_t at = stacks[i].nr; at-- > 0;) {
			uint32_t id = location_at(&stacks[i], at);

			if (o->location_numbers[id])
				continue;
			o->locations[next] = id;
			o->location_numbers[id] = next++;
		}
	}
	o->nr_locations = next;
	return 0;
}

static int compare_samples(const void *x, const void *y)
{
	const struct otlp_sample *a = x, *b = y;

	if (a->set != b->set)
		return a->set < b->set ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->stack == b->stack ? 0 : a->stack < b->stack ? -1 : 1;
}

static int number_stacks(struct otlp_order *o, struct otlp_request *r,
			 const struct stack_text *stacks, size_t nr)
{
	uint32_t *numbers = calloc(nr, sizeof(*numbers));

	o->stacks = calloc(nr, sizeof(*o->stacks));
	if (!numbers || !o->stacks) {
		free(numbers);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		o->stacks[i] = stacks[i].id;
		numbers[stacks[i].id] = (uint32_t)i;
	}
	for (size_t i = 0; i < r->nr_samples; i++)
		r->samples[i].stack = numbers[r->samples[i].stack];
	for (size_t i = 0; i < r->nr_profiles; i++)
		qsort(r->samples + r->profiles[i].first, r->profiles[i].nr, sizeof(*r->samples),
		      compare_samples);
	free(numbers);
	return 0;
}

int otlp_order_make(struct otlp_order *o, struct otlp_request *r)
{
	size_t nr = intern_count(r->tables.stacks);
	struct stack_text *stacks = sorted_stacks(r->tables.stacks, nr);
	int err = stacks ? 0 : -ENOMEM;

	memset(o, 0, sizeof(*o));
	if (!err)
		err = number_locations(o, stacks, nr, intern_count(r->tables.locations));
	if (!err)
		err = number_stacks(o, r, stacks, nr);
	free(stacks);
	return err;
}

void otlp_order_release(struct otlp_order *o)
{
	free(o->stacks);
	free(o->locations);
	free(o->location_numbers);
	memset(o, 0, sizeof(*o));
}
