/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/thread_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/live/live_windows.h"

#define CPU_OF_NS (5 * NSEC_PER_SEC)
#define KNOWN_NS (NSEC_PER_SEC / 5)	/* a share of less time than this is only noise */

const char *thread_row_comm(const struct thread_rows *r, const struct thread_row *row)
{
	return definition_store_string(live_profile_tables(r->live), row->t->comm, NULL);
}

const char *thread_row_process(const struct thread_rows *r, const struct thread_row *row)
{
	return row->p ? definition_store_string(live_profile_tables(r->live), row->p->comm, NULL)
		      : "";
}

/* The event of CPU time; 0: there is none. */
static uint32_t cpu_event(const struct live_profile *l)
{
	size_t nr;
	const struct live_event *v = live_profile_events(l, &nr);

	for (uint32_t i = 1; i < nr; i++) {
		const struct rec_event *e =
			definition_store_find_event(live_profile_tables(l), i);

		if (e && e->kind == EVENT_CPU_CLOCK && v[i].samples)
			return i;
	}
	return 0;
}

/* CPU time by thread of the last whole seconds; sets how many. NULL: out of memory. */
static uint64_t *cpu_times(struct thread_rows *r, uint32_t *nr)
{
	const struct live_windows *w = live_profile_windows(r->live);
	uint32_t event = cpu_event(r->live);
	uint64_t *v, begin, end;

	*nr = definition_store_id_end(live_profile_tables(r->live), REC_THREAD);
	v = calloc((size_t)*nr + 1, sizeof(*v));
	live_profile_times(r->live, &begin, &end);
	if (!v || !event || !w->nr)
		return v;
	end = w->v[w->nr - 1].begin_ns;		/* the newest window is not over */
	for (size_t i = w->nr - 1; i-- > 0 && end - w->v[i].begin_ns <= CPU_OF_NS;) {
		uint64_t known = w->v[i].begin_ns > begin ? w->v[i].begin_ns : begin;

		if (known + KNOWN_NS > w->v[i].end_ns)	/* the recording began at its end */
			break;
		r->cpu_of_ns = end - known;
		for (size_t k = 0; k < w->v[i].nr; k++) {
			struct live_kind kind = live_profile_kind(r->live, w->v[i].v[k].id);

			if (kind.event == event && kind.thread < *nr)
				v[kind.thread] += w->v[i].v[k].weight;
		}
	}
	return v;
}

static bool is_current(const struct thread_rows *r, const struct rec_sample *rec, uint64_t cpu_ns)
{
	if (!live_profile_scan(r->live))
		return cpu_ns;
	return rec && rec->scan + 1 >= live_profile_scan(r->live);
}

static uint64_t waited_of(const struct rec_sample *rec)
{
	if (!rec || !rec->ran_ns || rec->ran_ns > rec->time_ns || rec->state == TASK_RUNNING)
		return UINT64_MAX;
	return rec->time_ns - rec->ran_ns;
}

static int add_row(struct thread_rows *r, uint32_t thread, uint64_t cpu_ns)
{
	const struct definition_store *d = live_profile_tables(r->live);
	const struct rec_sample *rec = live_profile_row(r->live, thread);
	const struct rec_thread *t = definition_store_find_thread(d, thread);
	struct thread_row *row;

	if (!t || !is_current(r, rec, cpu_ns))
		return 0;
	row = array_push(&r->v, &r->nr, &r->cap);
	if (!row)
		return -ENOMEM;
	*row = (struct thread_row){ .thread = thread, .t = t, .rec = rec, .cpu_ns = cpu_ns,
				    .p = definition_store_find_process(d, t->process),
				    .waited_ns = waited_of(rec) };
	if (rec && rec->state < 16)
		r->states[rec->state]++;
	return 0;
}

int thread_rows_init(struct thread_rows *r, const struct live_profile *live,
		     const struct live_choice *which)
{
	uint64_t *cpu;
	uint32_t nr;
	int err;

	*r = (struct thread_rows){ .live = live };
	cpu = cpu_times(r, &nr);
	err = cpu ? 0 : -ENOMEM;
	for (uint32_t i = 1; i < nr && !err; i++) {
		const struct live_kind kind = { .thread = i };
		const struct live_choice who = { .tgid = which->tgid, .tid = which->tid };

		if (live_profile_wants(live, &who, &kind))
			err = add_row(r, i, cpu[i]);
	}
	free(cpu);
	if (err)
		thread_rows_release(r);
	return err;
}

void thread_rows_release(struct thread_rows *r)
{
	free(r->v);
	free(r->lines);
	memset(r, 0, sizeof(*r));
}

/* ---- order ---- */

struct order {
	const struct thread_rows *r;
	enum thread_sort sort;
	enum thread_group group;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* By what a group has in common: equal ones are neighbours. */
static int compare_group(const struct order *o, const struct thread_row *a,
			 const struct thread_row *b)
{
	static const struct rec_sample none;
	const struct rec_sample *x = a->rec ? a->rec : &none, *y = b->rec ? b->rec : &none;

	switch (o->group) {
	case GROUP_PROCESS: return compare(a->t->process, b->t->process);
	case GROUP_STATE: return compare(x->state, y->state);
	case GROUP_STACK:
		return compare((uint64_t)x->ustack << 32 | x->kstack,
			       (uint64_t)y->ustack << 32 | y->kstack);
	case GROUP_NONE: case GROUPS: break;
	}
	return 0;
}

static int compare_sort(const struct order *o, const struct thread_row *a,
			const struct thread_row *b)
{
	static const struct rec_sample none;
	const struct rec_sample *x = a->rec ? a->rec : &none, *y = b->rec ? b->rec : &none;

	switch (o->sort) {
	case SORT_CPU: return compare(b->cpu_ns, a->cpu_ns) ?: compare(a->waited_ns, b->waited_ns);
	case SORT_WAITED:	/* the longest first, those of whom nothing is known last */
		return compare(b->waited_ns + 1, a->waited_ns + 1);
	case SORT_STATE: return compare(x->state, y->state);
	case SORT_NAME: return strcmp(thread_row_comm(o->r, a), thread_row_comm(o->r, b));
	case SORT_TID: case SORTS: break;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *order)
{
	const struct order *o = order;
	const struct thread_row *x = a, *y = b;

	return compare_group(o, x, y) ?: compare_sort(o, x, y) ?: compare(x->t->tid, y->t->tid);
}

/* A group of rows that are neighbours. */
struct group {
	struct thread_line line;
	uint64_t first;			/* what it is sorted by, the most first */
};

static int most_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return compare(y->first, x->first) ?: compare(y->line.nr, x->line.nr)
					   ?: compare(x->line.row, y->line.row);
}

/* Processes are sorted like their threads, by CPU time or the longest wait; all else by size. */
static void weigh_group(const struct thread_rows *r, const struct order *o, struct group *g)
{
	const struct thread_row *row = &r->v[g->line.row];

	g->first = g->line.nr;
	if (o->group != GROUP_PROCESS || (o->sort != SORT_CPU && o->sort != SORT_WAITED))
		return;
	g->first = o->sort == SORT_WAITED ? row->waited_ns + 1 : 0;
	for (uint32_t i = 0; i < g->line.nr && o->sort == SORT_CPU; i++)
		g->first += row[i].cpu_ns;
}

static int add_line(struct thread_rows *r, uint32_t row, uint32_t nr)
{
	struct thread_line *line = array_push(&r->lines, &r->nr_lines, &r->cap_lines);

	if (line)
		*line = (struct thread_line){ row, nr };
	return line ? 0 : -ENOMEM;
}

/* The groups in their order; the caller frees *v. */
static int find_groups(const struct thread_rows *r, const struct order *o, struct group **v,
		       size_t *nr)
{
	size_t cap = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		if (*nr && !compare_group(o, &r->v[(*v)[*nr - 1].line.row], &r->v[i])) {
			(*v)[*nr - 1].line.nr++;
			continue;
		}
		if (!array_push(v, nr, &cap))
			return -ENOMEM;
		(*v)[*nr - 1] = (struct group){ .line = { i, 1 } };
	}
	for (size_t i = 0; i < *nr; i++)
		weigh_group(r, o, &(*v)[i]);
	if (*nr)
		qsort(*v, *nr, sizeof(**v), most_first);
	return 0;
}

/* Headings of groups, each with its threads below it. */
static int make_lines(struct thread_rows *r, const struct order *o)
{
	struct group *groups = NULL;
	size_t nr = 0;
	int err = find_groups(r, o, &groups, &nr);

	for (size_t h = 0; h < nr && !err; h++) {
		const struct thread_line *head = &groups[h].line;

		err = o->group ? add_line(r, head->row, head->nr) : 0;
		for (uint32_t i = 0; i < head->nr && !err; i++)
			err = add_line(r, head->row + i, 0);
	}
	free(groups);
	return err;
}

int thread_rows_sort(struct thread_rows *r, enum thread_sort sort, enum thread_group group)
{
	struct order o = { r, sort, group };

	if (r->nr)
		qsort_r(r->v, r->nr, sizeof(*r->v), compare_rows, &o);
	r->nr_lines = 0;
	return make_lines(r, &o);
}
