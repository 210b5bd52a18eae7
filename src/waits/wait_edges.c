/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Edges are sorted twice: by all that makes threads alike, so that those that are alike stand side
 * by side and can be counted; then in the order of reading. Both take n log n, and no thread is
 * looked for among others.
 */
#include "src/waits/wait_edges.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/waits/wait_function.h"
#include "src/report/weight_text.h"

/* Programs that do nothing while their child runs. */
static const char *const launchers[] = {
	"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "busybox",
	"rbash", "su", "sudo", "doas", "runuser", "login", "sshd", "env", "time", "timeout",
	"nice", "setsid", "xargs", "watch", "script", "make", "unshare", "nsenter", "tini",
	"dumb-init", "flock", "chroot", "setpriv", "stdbuf", "taskset", "chrt", "ionice",
	"parallel", "gcc", "g++", "cc", "c++", "gfortran", "collect2", "lto-wrapper", "clang",
	"clang++", "ccache", "ninja", "cmake", "ctest", "cargo",
};

/* The order of the edges while they are sorted. */
struct sorting {
	const struct wait_edges *e;
	uint32_t *place;		/* of each row: owners before their waiters */
	bool alike;			/* by what makes threads alike */
};

void wait_edges_release(struct wait_edges *e)
{
	intern_free(e->names);
	free(e->known);
	free(e->edges);
	memset(e, 0, sizeof(*e));
}

const char *wait_edges_function(const struct wait_edges *e, uint32_t row, size_t *len)
{
	assert(row < e->g->nr);
	return intern_get(e->names, e->known[row].function, len);
}

/* ---- what is known of each row ---- */

static bool is_one_of_launchers(const char *name)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strcmp(launchers[i], name))
			return true;
	return false;
}

/* A script has its own name, so the name of the program's file counts, too. */
static bool is_launcher(const struct definition_store *t, const struct wait_row *row)
{
	const struct rec_thread *thread = definition_store_find_thread(t, row->rec.thread);
	const struct rec_process *p;
	const struct rec_binary *exe;
	const char *path, *slash;

	if (row->rec.wait_kind != WAIT_CHILD || row->ring != WAIT_NONE || !thread)
		return false;
	p = definition_store_find_process(t, thread->process);
	exe = p ? definition_store_find_binary(t, p->exe) : NULL;
	path = exe ? definition_store_string(t, exe->path, NULL) : "";
	slash = strrchr(path, '/');
	return is_one_of_launchers(slash ? slash + 1 : path) ||
	       is_one_of_launchers(
		       definition_store_string(t, rec_thread_kernel_comm(thread), NULL));
}

/*
 * Workers that are processes of one thread, such as those of PostgreSQL, are alike if they have one
 * name; other threads if they are in one process.
 */
static uint64_t pool_of(const struct wait_graph *g, const struct wait_row *row)
{
	const struct rec_thread *thread = definition_store_find_thread(g->tables, row->rec.thread);

	if (row->nr_threads == 1 && row->tid == row->tgid && thread)
		return 1ull << 32 | rec_thread_kernel_comm(thread);
	return row->tgid;
}

static int find_functions(struct wait_edges *e)
{
	const struct wait_graph *g = e->g;
	struct wait_function f;

	for (uint32_t i = 0; i < g->nr; i++) {
		struct wait_known *known = &e->known[i];

		if (g->rows[i].absent)
			continue;
		wait_function_of(g->tables, g->rows[i].rec.ustack, &f);
		known->function = intern_bytes(e->names, f.name, f.len);
		known->lock = wait_lock_of_variable(g->tables, &g->rows[i].rec) ?: f.lock;
		known->pool = pool_of(g, &g->rows[i]);
		known->is_launcher = is_launcher(g->tables, &g->rows[i]);
		if (known->function == UINT32_MAX)
			return -ENOMEM;
	}
	return 0;
}

static uint64_t waited(const struct wait_row *row)
{
	uint64_t ns = wait_row_ns(row);

	return ns == UINT64_MAX ? 0 : ns;
}

static void add_sums(struct wait_edges *e)
{
	for (uint32_t i = 0; i < e->g->nr; i++) {
		const struct wait_row *row = &e->g->rows[i];
		uint64_t *sum = &e->known[row->head].sum_ns;

		if (row->owner != WAIT_NONE && !e->known[i].is_launcher)
			*sum = weight_sum(*sum, waited(row));
	}
}

/* ---- edges ---- */

/* Whether a known thread or process holds the lock that the thread waits for. */
static bool is_held(const struct wait_edges *e, uint32_t i)
{
	const struct wait_row *row = &e->g->rows[i];
	const struct lock_kind *lock = e->known[i].lock;

	if (row->owner == WAIT_NONE)
		return false;
	if (row->rec.wait_kind == WAIT_UNKNOWN)
		return !lock || lock->class != LOCK_MAYBE;
	return row->rec.wait_kind == WAIT_FILE_LOCK;
}

static bool is_off_cpu(const struct rec_sample *rec)
{
	return rec->state != TASK_RUNNING && rec->state != TASK_RUNNABLE && rec->cpu == UINT32_MAX;
}

static enum edge_section section_of(const struct wait_edges *e, const uint8_t *holds, uint32_t i)
{
	const struct wait_row *row = &e->g->rows[i];
	const struct lock_kind *lock = e->known[i].lock;

	if (row->absent || e->known[i].is_launcher)
		return EDGE_SECTIONS;
	if (row->owner != WAIT_NONE && e->g->rows[row->head].ring != WAIT_NONE)
		return EDGES_RING;
	if (row->owner != WAIT_NONE)
		return holds[row->head] ? EDGES_LOCK : EDGES_OTHER;
	if (row->rec.wait_kind != WAIT_UNKNOWN && (row->rec.owner || row->rec.holders))
		return EDGES_MANY;
	if (!row->rec.owner && lock && is_off_cpu(&row->rec))
		return EDGES_UNKNOWN;
	return EDGE_SECTIONS;
}

/* An edge is seen if either side passes the filters. */
static bool is_seen(const struct wait_graph *g, const struct wait_row *row)
{
	uint32_t other = row->owner != WAIT_NONE ? row->owner : row->peer;

	if (row->ring != WAIT_NONE)
		return row->shown;
	return row->passes || (other != WAIT_NONE && g->rows[other].passes);
}

/* A shell that some other program waits for is part of why that program waits. */
static void keep_awaited_launchers(struct wait_edges *e)
{
	const struct wait_row *rows = e->g->rows;

	for (uint32_t i = 0; i < e->g->nr; i++) {
		uint32_t owner = e->known[i].is_launcher ? WAIT_NONE : rows[i].owner;

		for (; owner != WAIT_NONE && e->known[owner].is_launcher; owner = rows[owner].owner)
			e->known[owner].is_launcher = false;
	}
}

static void count_launchers(struct wait_edges *e, bool all)
{
	keep_awaited_launchers(e);
	for (uint32_t i = 0; i < e->g->nr; i++) {
		if (all)
			e->known[i].is_launcher = false;
		e->launchers += e->known[i].is_launcher && is_seen(e->g, &e->g->rows[i]);
	}
}

static int add_edges(struct wait_edges *e)
{
	const struct wait_graph *g = e->g;
	uint8_t *holds = calloc(g->nr + 1, 1);
	int err = holds ? 0 : -ENOMEM;

	for (uint32_t i = 0; holds && i < g->nr; i++)
		holds[g->rows[i].head] |= is_held(e, i);
	for (uint32_t i = 0; !err && i < g->nr; i++) {
		enum edge_section section = section_of(e, holds, i);
		struct wait_edge *edge;

		if (section == EDGE_SECTIONS || !is_seen(g, &g->rows[i]))
			continue;
		edge = array_push(&e->edges, &e->nr, &e->cap);
		if (edge)
			*edge = (struct wait_edge){ section, i, 1, waited(&g->rows[i]),
						    g->rows[i].head };
		else
			err = -ENOMEM;
	}
	free(holds);
	return err;
}

/* ---- order ---- */

/* Owners before their waiters: the threads of rings, each before its owner, heads, then others. */
static void find_places(const struct wait_graph *g, uint32_t *place, uint32_t *queue)
{
	uint32_t nr = 0;

	for (size_t r = 0; r < g->nr_rings; r++)
		for (uint32_t n = 0, i = g->rings[r].first; n < g->rings[r].nr; n++) {
			queue[nr++] = i;
			i = g->rows[i].owner;
		}
	for (uint32_t i = 0; i < g->nr; i++)
		if (g->rows[i].owner == WAIT_NONE)
			queue[nr++] = i;
	for (uint32_t at = 0; at < nr; at++) {
		uint32_t i = g->rows[queue[at]].first_waiter;

		place[queue[at]] = at;
		for (; i != WAIT_NONE; i = g->rows[i].next_waiter)
			if (g->rows[i].ring == WAIT_NONE)
				queue[nr++] = i;
	}
	assert(nr == g->nr);	/* each row is of a ring, a head, or waits for one of those */
}

#define ORDER(x, y)                                                                                \
	do {                                                                                       \
		if ((x) != (y))                                                                    \
			return (x) < (y) ? -1 : 1;                                                 \
	} while (0)

/* What every thread of a section has: which chain of which head, which place in it. */
static int by_chain(const struct sorting *s, const struct wait_edge *x, const struct wait_edge *y)
{
	const struct wait_row *rows = s->e->g->rows, *a = &rows[x->row], *b = &rows[y->row];
	const struct wait_known *known = s->e->known;

	ORDER(x->section, y->section);
	if (x->section == EDGES_RING) {
		const struct wait_ring *rings = s->e->g->rings;

		ORDER(wait_ring_is_sure(&rings[rows[y->head].ring]),
		      wait_ring_is_sure(&rings[rows[x->head].ring]));
	}
	if (x->section <= EDGES_OTHER) {
		ORDER(known[y->head].sum_ns, known[x->head].sum_ns);
		ORDER(rows[x->head].tid, rows[y->head].tid);
		ORDER(b->ring != WAIT_NONE, a->ring != WAIT_NONE);
		if (a->ring != WAIT_NONE)
			ORDER(s->place[x->row], s->place[y->row]);
		ORDER(s->place[a->owner], s->place[b->owner]);
	}
	return 0;
}

static int by_likeness(const struct sorting *s, const struct wait_edge *x,
		       const struct wait_edge *y)
{
	const struct wait_row *a = &s->e->g->rows[x->row], *b = &s->e->g->rows[y->row];
	const struct wait_known *p = &s->e->known[x->row], *q = &s->e->known[y->row];

	ORDER(p->pool, q->pool);
	ORDER(p->function, q->function);
	ORDER((uintptr_t)p->lock, (uintptr_t)q->lock);
	ORDER(a->rec.variable, b->rec.variable);
	if (x->section == EDGES_UNKNOWN)
		return 0;
	ORDER(a->rec.wait_kind, b->rec.wait_kind);
	ORDER(a->rec.owner, b->rec.owner);
	ORDER(a->rec.holders, b->rec.holders);
	ORDER(a->rec.syscall, b->rec.syscall);
	if (x->section == EDGES_MANY)
		return 0;
	ORDER(a->rec.object, b->rec.object);
	if (a->rec.wait_kind == WAIT_UNKNOWN)
		ORDER(a->rec.wait, b->rec.wait);
	return 0;
}

static unsigned class_of(const struct sorting *s, const struct wait_edge *edge)
{
	const struct lock_kind *lock = s->e->known[edge->row].lock;

	assert(edge->section != EDGES_UNKNOWN || lock);
	if (edge->section != EDGES_UNKNOWN || lock->class == LOCK_HELD_ELSEWHERE)
		return LOCK_HELD;
	return lock->class;
}

static int compare(const void *a, const void *b, void *sorting)
{
	const struct sorting *s = sorting;
	const struct wait_edge *x = a, *y = b;
	const struct wait_row *rows = s->e->g->rows;
	int order = by_chain(s, x, y);

	if (!order && s->alike)
		order = by_likeness(s, x, y);
	if (order)
		return order;
	if (!s->alike) {
		ORDER(class_of(s, x), class_of(s, y));
		ORDER(y->sum_ns, x->sum_ns);
	}
	ORDER(waited(&rows[y->row]), waited(&rows[x->row]));
	ORDER(rows[x->row].tid, rows[y->row].tid);
	return 0;
}

/* Threads of rings stay alone: each has its own place there. */
static bool are_alike(const struct sorting *s, const struct wait_edge *x, const struct wait_edge *y)
{
	return s->e->g->rows[x->row].ring == WAIT_NONE && !by_chain(s, x, y) &&
	       !by_likeness(s, x, y);
}

static void group(struct wait_edges *e, const struct sorting *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < e->nr; i++) {
		struct wait_edge *last = nr ? &e->edges[nr - 1] : NULL;

		if (last && are_alike(s, last, &e->edges[i])) {
			last->nr++;
			last->sum_ns = weight_sum(last->sum_ns, e->edges[i].sum_ns);
		} else {
			e->edges[nr++] = e->edges[i];
		}
	}
	e->nr = nr;
}

static int sort(struct wait_edges *e)
{
	size_t nr = e->g->nr + 1;
	uint32_t *place = calloc(nr, sizeof(*place)), *queue = malloc(nr * sizeof(*queue));
	struct sorting s = { .e = e, .place = place, .alike = true };

	if (place && queue && e->nr) {
		find_places(e->g, place, queue);
		qsort_r(e->edges, e->nr, sizeof(*e->edges), compare, &s);
		group(e, &s);
		s.alike = false;
		qsort_r(e->edges, e->nr, sizeof(*e->edges), compare, &s);
	}
	free(place);
	free(queue);
	return place && queue ? 0 : -ENOMEM;
}

int wait_edges_make(const struct wait_graph *g, bool all, struct wait_edges *e)
{
	int err;

	*e = (struct wait_edges){ .g = g, .names = intern_new() };
	e->known = calloc(g->nr + 1, sizeof(*e->known));
	if (!e->names || !e->known)
		return -ENOMEM;
	err = find_functions(e);
	if (!err) {
		count_launchers(e, all);
		add_sums(e);
		err = add_edges(e);
	}
	return err ? err : sort(e);
}
