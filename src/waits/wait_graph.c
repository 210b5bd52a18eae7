/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How deadlocks and convoys are found among the rows of a scan.
 *
 * Each thread has at most one owner, so no general search for cycles is needed. Threads without
 * waiters are taken off, which may leave their owners without waiters; these are taken off next,
 * and so on (Kahn's algorithm). In the end only rings are left, because each of their threads keeps
 * a waiter:
 *
 *	A -> B -> C	D -> B		X -> Y -> X	Z -> X
 *
 *	taken off	A, D, Z, B, C		waiters always before their owners
 *	left		X, Y			a ring
 *	threads behind	B 2 (A, D), C 3 (B, A, D), X 1 (Z)
 *	heads		C for A, B, C, D; X for X, Y, Z
 *
 * Taking off A adds A and all threads behind it to those behind B. The order is then read
 * backwards, owners before their waiters, so each thread takes over the head of its owner.
 *
 * A scan is no instant: rows are taken one after the other, while threads run. A ring may therefore
 * be made of links that never existed at the same time. It is taken for a certain deadlock only if
 * all its links are locks in memory and none of its threads ran since before the first of their
 * rows was taken: a thread that does not run can neither take nor release a lock.
 *
 * Limits: a lock without a known owner has no link. A wait for any of several processes, or for a
 * process of many threads, is not followed; .peer shows the process. Owners that have no row get
 * one (.absent), and count as waiting for nothing. It is not known what a thread did after its own
 * row was taken.
 */
#include "src/waits/wait_graph.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/report/report.h"

void wait_graph_release(struct wait_graph *g)
{
	free(g->rows);
	free(g->rings);
	ix_release(&g->by_tid);
	ix_release(&g->by_tgid);
	memset(g, 0, sizeof(*g));
}

uint64_t wait_row_ns(const struct wait_row *row)
{
	const struct rec_sample *rec = &row->rec;

	return rec->ran_ns && rec->ran_ns <= rec->time_ns ? rec->time_ns - rec->ran_ns : UINT64_MAX;
}

bool wait_ring_is_sure(const struct wait_ring *ring)
{
	return ring->stood_still && ring->by_locks;
}

/* ---- rows ---- */

static bool same_tid(const void *ctx, uint32_t id)
{
	const struct wait_row *const *pair = ctx;

	return pair[0][id].tid == pair[1]->tid;
}

static uint32_t find_row(const struct wait_graph *g, uint32_t tid)
{
	const struct wait_row want = { .tid = tid }, *pair[] = { g->rows, &want };

	return ix_find(&g->by_tid, hash_u64(0, tid), same_tid, pair);
}

/* A thread has one row in a scan. If a trace says otherwise, the last one counts. */
static int put_row(struct wait_graph *g, const struct wait_row *row)
{
	uint32_t at = find_row(g, row->tid);
	struct wait_row *place;

	if (at != IX_NONE) {
		g->rows[at] = *row;
		return 0;
	}
	if (g->nr >= WAIT_NONE - 1)
		return -ENOMEM;
	place = array_push(&g->rows, &g->nr, &g->cap);
	if (!place)
		return -ENOMEM;
	*place = *row;
	return ix_add(&g->by_tid, hash_u64(0, row->tid), (uint32_t)g->nr - 1);
}

struct search {
	struct wait_graph *g;
	uint32_t wanted;		/* scan; 0: the last one */
};

static int on_scan(void *ctx, uint32_t segment, uint32_t scan, uint64_t real_ns)
{
	struct search *search = ctx;
	struct wait_graph *g = search->g;

	(void)real_ns;
	if (!scan || (search->wanted && scan != search->wanted))
		return 0;
	if (!g->scan || segment > g->segment || (segment == g->segment && scan > g->scan)) {
		g->segment = segment;
		g->scan = scan;
	}
	return 0;
}

static int find_scan(void *ctx, const struct report_sample *s, uint64_t nr)
{
	(void)nr;
	return s->thread ? on_scan(ctx, s->segment, s->rec->scan, s->real_ns) : 0;
}

static int on_row(void *ctx, const struct report_sample *s)
{
	struct wait_row row = { .rec = *s->rec, .real_ns = s->real_ns };
	struct wait_graph *g = ctx;

	if (!s->thread || s->segment != g->segment || s->rec->scan != g->scan)
		return 0;
	g->tables = s->tables;
	row.tid = s->thread->tid;
	row.tgid = s->process ? s->process->tgid : 0;
	return put_row(g, &row);
}

static int on_passing_row(void *ctx, const struct report_sample *s)
{
	struct wait_graph *g = ctx;
	uint32_t at;

	if (!s->thread || s->segment != g->segment || s->rec->scan != g->scan)
		return 0;
	at = find_row(g, s->thread->tid);
	if (at != IX_NONE)
		g->rows[at].passes = true;
	return 0;
}

/*
 * The first pass finds the scan, the second one keeps its rows, but none of earlier scans, and the
 * third one finds out which of them pass the filters, if there are any.
 */
int wait_graph_read(struct report *rep, uint32_t scan, struct wait_graph *g)
{
	static const struct report_counting all_scans = {
		.scan_rows = true, .samples = find_scan, .scan = on_scan,
	};
	struct search search = { g, scan };
	int err;

	memset(g, 0, sizeof(*g));
	err = report_counted(rep, &all_scans, &search);
	if (err || !g->scan)
		return err;
	err = report_rows_of(rep, g->segment, g->scan, true, on_row, g);
	if (err || (report_query(rep) && query_has_filter(report_query(rep))))
		return err ?: report_rows_of(rep, g->segment, g->scan, false, on_passing_row, g);
	for (size_t i = 0; i < g->nr; i++)
		g->rows[i].passes = true;
	return 0;
}

/* ---- edges ---- */

static bool same_tgid(const void *ctx, uint32_t id)
{
	const struct wait_row *const *pair = ctx;

	return pair[0][id].tgid == pair[1]->tgid;
}

static uint32_t find_process(const struct wait_graph *g, uint32_t tgid)
{
	const struct wait_row want = { .tgid = tgid }, *pair[] = { g->rows, &want };

	return ix_find(&g->by_tgid, hash_u64(1, tgid), same_tgid, pair);
}

static int count_threads(struct wait_graph *g)
{
	ix_release(&g->by_tgid);
	for (uint32_t i = 0; i < g->nr; i++) {
		uint32_t first = g->rows[i].tgid && !g->rows[i].absent
					 ? find_process(g, g->rows[i].tgid)
					 : i;

		g->rows[i].nr_threads = 0;
		if (first == IX_NONE && ix_add(&g->by_tgid, hash_u64(1, g->rows[i].tgid), i))
			return -ENOMEM;
		g->rows[first == IX_NONE ? i : first].nr_threads++;
	}
	return 0;
}

/* An owner without a row gets one, because several threads may wait for it. */
static int put_absent(struct wait_graph *g, uint32_t tid, uint32_t tgid, uint32_t *at)
{
	struct wait_row absent = { .tid = tid, .tgid = tgid, .absent = true };

	*at = (uint32_t)g->nr;
	return put_row(g, &absent);
}

static int link_owner(struct wait_graph *g, uint32_t i)
{
	uint32_t owner = g->rows[i].rec.owner, at;
	int err = 0;

	if (g->rows[i].rec.wait_kind == WAIT_UNKNOWN) {
		at = find_row(g, owner);
		if (at == IX_NONE)
			err = put_absent(g, owner, g->rows[i].tgid, &at);
		g->rows[i].owner = at;
		return err;
	}
	at = find_process(g, owner);
	if (at == IX_NONE)
		at = find_row(g, owner);	/* an absent process that was met before */
	if (at == IX_NONE)
		err = put_absent(g, owner, owner, &at);
	if (err)
		return err;		/* at is behind the last row */
	g->rows[i].peer = at;
	if (g->rows[at].nr_threads <= 1)
		g->rows[i].owner = at;
	return 0;
}

static int link_owners(struct wait_graph *g)
{
	int err = count_threads(g);

	for (uint32_t i = 0; i < g->nr && !err; i++) {
		g->rows[i].owner = g->rows[i].ring = g->rows[i].peer = WAIT_NONE;
		g->rows[i].first_waiter = g->rows[i].next_waiter = WAIT_NONE;
		g->rows[i].head = i;
		g->rows[i].nr_direct = g->rows[i].nr_behind = 0;
		if (g->rows[i].rec.owner)
			err = link_owner(g, i);
	}
	return err;
}

/*
 * Takes off threads without waiters until only rings are left. order gets the threads taken off,
 * waiters before their owners. Returns their number.
 */
static size_t peel(struct wait_graph *g, uint32_t *left, uint32_t *order)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < g->nr; i++)
		if (g->rows[i].owner != WAIT_NONE)
			left[g->rows[i].owner]++;
	for (uint32_t i = 0; i < g->nr; i++) {
		g->rows[i].nr_direct = left[i];
		if (!left[i])
			order[nr++] = i;
	}
	for (size_t at = 0; at < nr; at++) {
		uint32_t owner = g->rows[order[at]].owner;

		if (owner == WAIT_NONE)
			continue;
		g->rows[owner].nr_behind += g->rows[order[at]].nr_behind + 1;
		assert(owner < g->nr && left[owner]);
		if (!--left[owner])
			order[nr++] = owner;
	}
	assert(nr <= g->nr);
	return nr;
}

/*
 * True if each thread of the ring slept from before the first of their rows was taken until its own
 * row was: a thread that did not run cannot have released anything.
 */
static bool none_ran(const struct wait_graph *g, uint32_t first)
{
	uint64_t last_run = 0, first_look = UINT64_MAX;
	uint32_t i = first;

	do {
		const struct rec_sample *rec = &g->rows[i].rec;

		if (!rec->ran_ns)
			return false;
		last_run = rec->ran_ns > last_run ? rec->ran_ns : last_run;
		first_look = rec->time_ns < first_look ? rec->time_ns : first_look;
		i = g->rows[i].owner;
	} while (i != first);
	return last_run <= first_look;
}

static int add_ring(struct wait_graph *g, uint32_t first)
{
	struct wait_ring *ring = array_push(&g->rings, &g->nr_rings, &g->cap_rings);
	uint32_t i = first;

	if (!ring)
		return -ENOMEM;
	ring->first = first;
	ring->by_locks = true;
	do {
		assert(i < g->nr);	/* what is left waits for what is left */
		ring->by_locks &= g->rows[i].rec.wait_kind == WAIT_UNKNOWN;
		g->rows[i].ring = (uint32_t)g->nr_rings - 1;
		g->rows[i].head = first;
		ring->nr++;
		i = g->rows[i].owner;
	} while (i != first);
	ring->stood_still = none_ran(g, first);
	return 0;
}

static int by_wait(const void *a, const void *b, void *graph)
{
	const struct wait_graph *g = graph;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint64_t x = wait_row_ns(&g->rows[i]), y = wait_row_ns(&g->rows[j]);

	if (x != y)
		return x > y ? -1 : 1;
	return (g->rows[i].tid > g->rows[j].tid) - (g->rows[i].tid < g->rows[j].tid);
}

void wait_sort(const struct wait_graph *g, uint32_t *rows, size_t nr)
{
	if (nr)
		qsort_r(rows, nr, sizeof(*rows), by_wait, (void *)g);
}

static void show_ring(struct wait_graph *g, uint32_t first)
{
	bool shown = false;
	uint32_t i = first;

	do {
		shown |= g->rows[i].passes;
		i = g->rows[i].owner;
	} while (i != first);
	do {
		g->rows[i].shown |= shown;
		i = g->rows[i].owner;
	} while (i != first);
}

static void find_shown(struct wait_graph *g)
{
	for (uint32_t i = 0; i < g->nr; i++)
		g->rows[i].shown = g->rows[i].passes;
	for (uint32_t i = 0; i < g->nr; i++) {
		struct wait_row *row = &g->rows[i];
		uint32_t other = row->owner != WAIT_NONE ? row->owner : row->peer;

		if (other == WAIT_NONE)
			continue;
		row->shown |= g->rows[other].passes;
		g->rows[other].shown |= row->passes;
	}
	for (size_t i = 0; i < g->nr_rings; i++)
		show_ring(g, g->rings[i].first);
}

/* order is overwritten. */
static void link_waiters(struct wait_graph *g, uint32_t *order)
{
	for (uint32_t i = 0; i < g->nr; i++)
		order[i] = i;
	wait_sort(g, order, g->nr);
	for (size_t at = g->nr; at-- > 0;) {
		struct wait_row *row = &g->rows[order[at]];

		if (row->owner == WAIT_NONE)
			continue;
		row->next_waiter = g->rows[row->owner].first_waiter;
		g->rows[row->owner].first_waiter = order[at];
	}
}

static int by_convoy(const void *a, const void *b, void *graph)
{
	const struct wait_graph *g = graph;
	const struct wait_row *x = &g->rows[*(const uint32_t *)a],
			      *y = &g->rows[*(const uint32_t *)b];

	if (x->nr_behind != y->nr_behind)
		return x->nr_behind > y->nr_behind ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

int wait_heads(const struct wait_graph *g, uint32_t **rows, size_t *nr)
{
	*nr = 0;
	*rows = malloc((g->nr + 1) * sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->nr; i++)
		if (g->rows[i].owner == WAIT_NONE && g->rows[i].nr_behind)
			(*rows)[(*nr)++] = i;
	qsort_r(*rows, *nr, sizeof(**rows), by_convoy, (void *)g);
	return 0;
}

int wait_graph_link(struct wait_graph *g)
{
	uint32_t *left, *order;
	int err;

	g->nr_rings = 0;
	if (g->nr && !g->by_tid.used)
		for (uint32_t i = 0; i < g->nr; i++)
			if (ix_add(&g->by_tid, hash_u64(0, g->rows[i].tid), i))
				return -ENOMEM;
	err = link_owners(g);
	if (err)
		return err;
	left = calloc(g->nr + 1, sizeof(*left));
	order = malloc((g->nr + 1) * sizeof(*order));
	if (left && order) {
		size_t nr = peel(g, left, order);

		for (uint32_t i = 0; !err && i < g->nr; i++)
			if (left[i] && g->rows[i].ring == WAIT_NONE)
				err = add_ring(g, i);
		/*
		 * Owners stand after their waiters in order, so going backwards knows their heads.
		 */
		while (nr-- > 0)
			if (g->rows[order[nr]].owner != WAIT_NONE)
				g->rows[order[nr]].head = g->rows[g->rows[order[nr]].owner].head;
		link_waiters(g, order);
		find_shown(g);
	} else {
		err = -ENOMEM;
	}
	free(left);
	free(order);
	return err;
}
