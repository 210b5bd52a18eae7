/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/function_minute.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/function_list.h"
#include "src/base/clock.h"
#include "src/base/hash_index.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/weight_text.h"

/* Names and late stacks come within this time. */
#define SETTLED_NS (3 * NSEC_PER_SEC)

static const struct fold_options fold_of_second = {
	.by = { .v = { FOLD_BY_NONE }, .nr = 1 },
	.max_nodes = 1u << 20, .max_name_bytes = 64u << 20, .max_steps = 20000000,
};

uint64_t function_minute_key(const char *name, const char *binary, uint8_t kind)
{
	return hash_bytes(hash_bytes(kind, name, strlen(name) + 1), binary, strlen(binary));
}

static int by_key(const void *a, const void *b)
{
	const struct minute_function *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void forget(struct minute_second *s)
{
	free(s->v);
	memset(s, 0, sizeof(*s));
}

int function_costs_make(const struct profile *p, struct minute_function **vp, size_t *nr)
{
	struct function_list l;
	int err = function_list_init(&l, p);
	struct minute_function *v = err || !l.nr ? NULL : calloc(l.nr, sizeof(*v));

	*vp = v;
	*nr = v ? l.nr : 0;
	for (size_t i = 0; i < *nr; i++)
		v[i] = (struct minute_function){
			function_minute_key(profile_name(p, l.v[i].name),
					    profile_name(p, l.v[i].binary), l.v[i].kind),
			l.v[i].self, l.v[i].total,
		};
	if (v)
		qsort(v, *nr, sizeof(*v), by_key);
	if (!err && l.nr && !v)
		err = -ENOMEM;
	function_list_release(&l);
	return err;
}

const struct minute_function *function_costs_find(const struct minute_function *v, size_t nr,
						  uint64_t key)
{
	const struct minute_function want = { .key = key };

	return nr ? bsearch(&want, v, nr, sizeof(*v), by_key) : NULL;
}

/* Without memory the second stays empty, and is tried again with the next picture. */
static void make(struct minute_second *s, const struct minute_wish *wish, uint64_t begin_ns)
{
	struct live_choice which = wish->which;
	struct profile *p = NULL;

	forget(s);
	s->begin_ns = begin_ns;
	which.from_ns = begin_ns;
	which.to_ns = begin_ns + NSEC_PER_SEC;
	which.decay_ns = 0;
	if (!live_profile_choose(wish->live, wish->event, &which, &fold_of_second, &p) &&
	    !function_costs_make(p, &s->v, &s->nr)) {
		s->is_over = which.to_ns + SETTLED_NS <= wish->end_ns;
		s->made_for_ns = wish->end_ns;
	}
	profile_free(p);
}

static bool is_of(const struct function_minute *m, const struct minute_wish *w)
{
	return m->live == w->live && m->event == w->event && m->tgid == w->which.tgid &&
	       m->tid == w->which.tid && m->activities == w->which.activities;
}

/* Seconds are those of the windows of a live profile, which begin at whole ones. */
static uint64_t second_back(uint64_t end_ns, uint32_t back)
{
	uint64_t last = end_ns / NSEC_PER_SEC;

	return last > back ? (last - back) * NSEC_PER_SEC : 0;
}

/* Where the second is in m->v. */
static size_t index_of(uint64_t begin_ns)
{
	return begin_ns / NSEC_PER_SEC % MINUTE_SECONDS;
}

void function_minute_update(struct function_minute *m, const struct minute_wish *wish)
{
	uint64_t until_ns = now_ns() + MINUTE_BUDGET_NS, first_ns, last_ns;

	if (!is_of(m, wish))
		function_minute_release(m);
	m->live = wish->live;
	m->event = wish->event;
	m->tgid = wish->which.tgid;
	m->tid = wish->which.tid;
	m->activities = wish->which.activities;
	m->end_ns = wish->end_ns;
	m->is_partial = false;
	live_profile_times(wish->live, &first_ns, &last_ns);
	for (uint32_t back = 0; back < MINUTE_SECONDS && !m->is_partial; back++) {
		uint64_t begin_ns = second_back(wish->end_ns, back);
		struct minute_second *s = &m->v[index_of(begin_ns)];

		if (!begin_ns || begin_ns + NSEC_PER_SEC <= first_ns)
			break;
		if (s->begin_ns == begin_ns && (s->is_over || s->made_for_ns == wish->end_ns))
			continue;
		m->is_partial = back && now_ns() >= until_ns;
		if (!m->is_partial)
			make(s, wish, begin_ns);
	}
}

void function_minute_find(const struct function_minute *m, uint64_t key, bool total,
			  uint32_t columns, uint64_t *cells)
{
	memset(cells, 0, columns * sizeof(*cells));
	for (uint32_t back = 0; back < MINUTE_SECONDS; back++) {
		uint64_t begin_ns = second_back(m->end_ns, back);
		const struct minute_second *s = &m->v[index_of(begin_ns)];
		uint32_t column = (MINUTE_SECONDS - 1 - back) * columns / MINUTE_SECONDS;
		const struct minute_function *f = NULL;

		assert(column < columns);
		if (begin_ns && s->begin_ns == begin_ns)
			f = function_costs_find(s->v, s->nr, key);
		if (f)
			cells[column] = weight_sum(cells[column], total ? f->total : f->self);
	}
}

void function_minute_release(struct function_minute *m)
{
	for (size_t i = 0; i < MINUTE_SECONDS; i++)
		forget(&m->v[i]);
	memset(m, 0, sizeof(*m));
}
