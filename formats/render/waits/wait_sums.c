/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/waits/wait_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "formats/render/waits/thread_frames.h"
#include "formats/render/waits/wait_table.h"
#include "formats/render/waits/wait_text.h"
#include "formats/render/waits/wait_what.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/base/plural.h"
#include "src/waits/wait_edges.h"
#include "src/waits/wait_function.h"
#include "src/waits/wait_graphs.h"

#define MAX_SHOWN 12
#define MAX_ENTRIES 4096		/* the rest is counted as one */
#define NR_CELLS 6			/* most, sum, longest, who, for what, held by */
#define NR_NAMES 3			/* of the last three cells */
#define BETWEEN '\n'			/* never part of escaped text */

/* Waits of one kind: equal in all that is shown but numbers. */
struct entry {
	uint32_t name;			/* who, for what, held by: three lines */
	uint32_t most, now, scan;	/* threads at once; in the latest scan that has some */
	uint64_t rows;			/* threads, summed over scans */
	uint64_t longest_ns;
	char *stack;			/* of the holder when the longest wait was seen; or NULL */
};

struct sums {
	const struct render_opts *opts;
	struct syscall_names *calls;
	struct intern *names;
	struct entry *v;		/* by name */
	size_t nr, cap;
	uint64_t rest;			/* rows of entries that are one too many */
	uint32_t step, looked_at;	/* each step-th scan */
	uint64_t first_ns, last_ns;	/* when they were taken */
	char *text;			/* what is being written */
	size_t size;
	FILE *out;
};

static void put_who(struct sums *s, const struct wait_edges *e, uint32_t row)
{
	size_t len;
	const char *function = wait_edges_function(e, row, &len);

	wait_put_comm(e->g->tables, &e->g->rows[row], s->out);
	if (len) {
		fputs(" in ", s->out);
		escape_text(s->out, function, len);
	}
}

/* The name of an edge, as an id; UINT32_MAX: out of memory. */
static uint32_t name_of(struct sums *s, const struct wait_edges *e, const struct wait_edge *edge)
{
	const struct wait_row *row = &e->g->rows[edge->row];

	rewind(s->out);
	put_who(s, e, edge->row);
	putc(BETWEEN, s->out);
	wait_put_what(e, s->calls, edge->row, edge->section == EDGES_UNKNOWN, s->out);
	putc(BETWEEN, s->out);
	if (row->owner != WAIT_NONE)
		put_who(s, e, row->owner);
	if (fflush(s->out))
		return UINT32_MAX;
	return intern_bytes(s->names, s->text, (size_t)ftell(s->out));
}

static int put_frame(void *ctx, const struct thread_frame *f)
{
	FILE *out = ctx;

	fputs("        ", out);
	escape_text(out, f->view.name, f->view.len);
	putc('\n', out);
	return 0;
}

static char *stack_of(const struct sums *s, const struct wait_graph *g, uint32_t owner)
{
	char *text = NULL;
	size_t size;
	FILE *out = s->opts->wait_stacks && owner != WAIT_NONE ? open_memstream(&text, &size)
							       : NULL;

	if (!out)
		return NULL;
	thread_frames_each(g->tables, &g->rows[owner].rec, false, put_frame, out);
	fclose(out);
	return text;
}

/* Whether the lock is held; its holder may be unknown. */
static bool is_lock(const struct wait_edges *e, const struct wait_edge *edge)
{
	const struct lock_kind *lock = e->known[edge->row].lock;

	return edge->section == EDGES_RING || edge->section == EDGES_LOCK ||
	       (edge->section == EDGES_UNKNOWN && lock && lock->class <= LOCK_HELD_ELSEWHERE);
}

static int add_edge(struct sums *s, const struct wait_edges *e, const struct wait_edge *edge)
{
	uint32_t name = name_of(s, e, edge);
	uint64_t ns = wait_row_ns(&e->g->rows[edge->row]);
	size_t had = s->cap;
	struct entry *to;

	if (name == UINT32_MAX || array_reserve(&s->v, &s->cap, (size_t)name + 1))
		return -ENOMEM;
	if (s->cap > had)
		memset(s->v + had, 0, (s->cap - had) * sizeof(*s->v));
	if (name >= s->nr)
		s->nr = (size_t)name + 1;
	if (name > MAX_ENTRIES) {
		s->rest += edge->nr;
		return 0;
	}
	to = &s->v[name];
	to->name = name;
	to->now = to->scan == s->looked_at ? to->now + edge->nr : edge->nr;
	to->scan = s->looked_at;
	to->most = to->now > to->most ? to->now : to->most;
	to->rows += edge->nr;
	if (ns != UINT64_MAX && ns >= to->longest_ns) {
		to->longest_ns = ns;
		free(to->stack);
		to->stack = stack_of(s, e->g, e->g->rows[edge->row].owner);
	}
	return 0;
}

static int take_scan(void *ctx, struct wait_graph *g, uint32_t nr)
{
	struct sums *s = ctx;
	struct wait_edges e = { 0 };
	int err;

	if ((nr - 1) % s->step)
		return 0;
	s->looked_at++;
	s->first_ns = s->first_ns ? s->first_ns : g->rows[0].real_ns;
	s->last_ns = g->rows[0].real_ns;
	err = wait_graph_link(g);
	if (!err)
		err = wait_edges_make(g, false, &e);
	for (size_t i = 0; !err && i < e.nr; i++)
		if (is_lock(&e, &e.edges[i]))
			err = add_edge(s, &e, &e.edges[i]);
	wait_edges_release(&e);
	return err;
}

static int by_rows(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->rows != b->rows)
		return a->rows > b->rows ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static uint64_t sum_ns(const struct sums *s, uint64_t rows)
{
	return (uint64_t)((double)rows * (double)(s->last_ns - s->first_ns) / (s->looked_at - 1));
}

static void put_entry(const struct sums *s, const struct entry *e, struct wait_table *t)
{
	char seconds[WAIT_SECONDS_MAX];
	const char *p = intern_get(s->names, e->name, NULL);

	fprintf(t->cell, "%u", e->most);
	wait_table_cell(t);
	fputs(wait_seconds(sum_ns(s, e->rows), seconds), t->cell);
	wait_table_cell(t);
	fputs(wait_seconds(e->longest_ns, seconds), t->cell);
	wait_table_cell(t);
	for (int i = 0; i < NR_NAMES; i++) {
		size_t n = strcspn(p, "\n");

		fwrite(n ? p : "unknown", 1, n ? n : 7, t->cell);
		wait_table_cell(t);
		p += n + (p[n] ? 1 : 0);
	}
	if (e->stack) {
		fputs(e->stack, t->cell);
		wait_table_text(t);
	}
}

static void put_title(const struct sums *s, uint32_t scans, struct wait_table *t)
{
	char seconds[WAIT_SECONDS_MAX];

	fprintf(t->cell, "Waits for locks over %u snapshots, %s", scans,
		wait_seconds(s->last_ns - s->first_ns, seconds));
	if (s->looked_at < scans)
		fprintf(t->cell, " (%u of them were looked at)", s->looked_at);
	fputs(":", t->cell);
	wait_table_text(t);
}

static int put_all(struct sums *s, uint32_t scans, FILE *out)
{
	static const char *const names[NR_CELLS] = {
		"at once", "in sum", "longest", "who", "waits for", "held by",
	};
	struct wait_table t;
	size_t shown = 0;
	int err = wait_table_open(&t, NR_CELLS, 0);

	if (err)
		return err;
	qsort(s->v, s->nr, sizeof(*s->v), by_rows);
	put_title(s, scans, &t);
	for (size_t i = 0; i < NR_CELLS; i++) {
		fputs(names[i], t.cell);
		wait_table_cell(&t);
	}
	for (size_t i = 0; i < s->nr && s->v[i].rows; i++) {
		if (!s->opts->all_waits && shown == MAX_SHOWN) {
			s->rest += s->v[i].rows;
			continue;
		}
		put_entry(s, &s->v[i], &t);
		shown++;
	}
	if (s->rest) {
		char seconds[WAIT_SECONDS_MAX];

		fprintf(t.cell, "... and %s in others (--all-waits shows them)",
			wait_seconds(sum_ns(s, s->rest), seconds));
		wait_table_text(&t);
	}
	fputs("", t.cell);
	wait_table_text(&t);
	err = wait_table_put(&t, s->opts->columns, out);
	wait_table_close(&t);
	return err;
}

static void release(struct sums *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->v[i].stack);
	if (s->out)
		fclose(s->out);
	free(s->text);
	free(s->v);
	intern_free(s->names);
}

int wait_sums_put(struct report *rep, const struct render_opts *opts, struct syscall_names *calls,
		  FILE *out)
{
	struct sums s = { .opts = opts, .calls = calls };
	uint32_t scans = 0;
	int err = opts->scan ? 0 : wait_graphs_count(rep, &scans);

	if (err || scans < 2)
		return err;
	s.step = (scans + WAIT_SUMS_SCANS - 1) / WAIT_SUMS_SCANS;
	s.names = intern_new();
	s.out = open_memstream(&s.text, &s.size);
	err = s.names && s.out ? wait_graphs_each(rep, take_scan, &s) : -ENOMEM;
	if (!err && s.nr && s.looked_at > 1)
		err = put_all(&s, scans, out);
	release(&s);
	return err;
}
