/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads are stuck in the kernel, and which thread waits for which other one in one scan of
 * all tasks, a line for each edge of the graph: who waits, since when, in which function, for what,
 * and who holds it in which function. wait_edges.h has their order. Then come all
 * waits by system call and kernel function. Stacks are shown on demand.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "formats/render/waits/wait_list.h"
#include "formats/render/waits/wait_stacks.h"
#include "formats/render/waits/wait_sums.h"
#include "formats/render/waits/wait_table.h"
#include "formats/render/waits/wait_text.h"
#include "formats/render/waits/wait_what.h"
#include "src/base/clock.h"
#include "src/base/plural.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/waits/stuck.h"
#include "src/waits/wait_edges.h"
#include "src/waits/wait_function.h"
#include "src/waits/wait_graph.h"
#include "src/waits/wait_place.h"

#define MAX_STUCK 10			/* lines of threads that are stuck in the kernel */
#define MAX_RINGS 12			/* deadlocks that are shown */
#define MAX_RING_LINES 12		/* lines of one of them */
#define NR_CELLS 7			/* number, time, who, in, for what, held by, which is in */

extern const struct renderer renderer_waits;

struct waits {
	const struct wait_graph *g;
	struct wait_edges e;
	struct wait_table t;
	struct syscall_names *calls;
	unsigned futex;
	bool all;
};

/* Lines of a section that are shown. */
static const uint32_t max_lines[EDGE_SECTIONS] = {
	[EDGES_LOCK] = 20, [EDGES_OTHER] = 10, [EDGES_MANY] = 5, [EDGES_UNKNOWN] = 14,
};

/* ---- cells ---- */

static void put_who(struct waits *w, const struct wait_row *row)
{
	wait_put_comm(w->g->tables, row, w->t.cell);
	fprintf(w->t.cell, " %u", row->tid);
	wait_table_tail(&w->t);
	if (row->tgid != row->tid)
		wait_put_process(w->g->tables, row, w->t.cell);
}

static void put_function(struct waits *w, uint32_t row)
{
	size_t len;
	const char *name = wait_edges_function(&w->e, row, &len);

	escape_text(w->t.cell, len ? name : "-", len ? len : 1);
}

static void put_what(struct waits *w, const struct wait_edge *edge)
{
	wait_put_what(&w->e, w->calls, edge->row, edge->section == EDGES_UNKNOWN, w->t.cell);
}

/* What a thread does that others wait for: "RUNNING", "SLEEP in read". */
static void put_activity(struct waits *w, const struct wait_row *row)
{
	char number[WAIT_CALL_MAX];

	fputs(task_state_name(row->rec.state), w->t.cell);
	if (row->rec.syscall)
		fprintf(w->t.cell, " in %s", wait_call_name(w->calls, &row->rec, number));
}

/* In which function the thread is, or what else is known of it if that is not known. */
static void put_where(struct waits *w, uint32_t i)
{
	const struct wait_row *row = &w->g->rows[i];
	size_t len;
	const char *name = wait_edges_function(&w->e, i, &len);

	escape_text(w->t.cell, name, len);
	if (row->absent || (len && row->owner != WAIT_NONE))
		return;
	if (len)
		wait_table_tail(&w->t);
	fputs(len ? ", " : "", w->t.cell);
	put_activity(w, row);
}

static void put_holder(struct waits *w, const struct wait_row *row, const struct wait_row *holder)
{
	wait_put_comm(w->g->tables, holder, w->t.cell);
	fprintf(w->t.cell, " %u", holder->tid);
	wait_table_tail(&w->t);
	if (holder->tgid != row->tgid && holder->tgid != holder->tid)
		wait_put_process(w->g->tables, holder, w->t.cell);
}

/* The last two cells where the graph has no single thread. */
static void put_process(struct waits *w, const struct wait_row *row)
{
	uint32_t nr = row->rec.holders;
	FILE *out = w->t.cell;

	if (row->peer != WAIT_NONE) {
		const struct wait_row *peer = &w->g->rows[row->peer];

		fprintf(out, "process %u", row->rec.owner);
		wait_table_cell(&w->t);
		fprintf(out, "any of its %u %s", peer->nr_threads,
			plural(peer->nr_threads, "thread", "threads"));
	} else if (nr == 1) {
		fputs("no process", out);
		wait_table_cell(&w->t);
	} else if (nr == 2) {
		fputs("a process outside of the PID namespace", out);
		wait_table_cell(&w->t);
	} else {
		fprintf(out, "%u processes", nr - 1);
		wait_table_cell(&w->t);
	}
	wait_table_cell(&w->t);
}

static void put_unknown(struct waits *w, const struct wait_edge *edge)
{
	const struct lock_kind *lock = w->e.known[edge->row].lock;
	char text[WAIT_TEXT_MAX];

	fputs(lock->class == LOCK_IDLE ? "" : *lock->ask ? "unknown, ask" : "unknown", w->t.cell);
	wait_table_cell(&w->t);
	fputs(wait_advice(lock->ask, w->g->rows[edge->row].tgid, text), w->t.cell);
	wait_table_cell(&w->t);
}

static void put_edge(struct waits *w, const struct wait_edge *edge)
{
	const struct wait_row *row = &w->g->rows[edge->row];
	uint64_t ns = wait_row_ns(row);
	char sum[WAIT_SECONDS_MAX];

	fprintf(w->t.cell, "%u", edge->nr);
	wait_table_cell(&w->t);
	fputs(ns == UINT64_MAX ? "-" : wait_seconds(ns, sum), w->t.cell);
	wait_table_cell(&w->t);
	put_who(w, row);
	wait_table_cell(&w->t);
	put_function(w, edge->row);
	wait_table_cell(&w->t);
	put_what(w, edge);
	wait_table_cell(&w->t);
	if (edge->section == EDGES_UNKNOWN) {
		put_unknown(w, edge);
	} else if (edge->section == EDGES_MANY) {
		put_process(w, row);
	} else {
		put_holder(w, row, &w->g->rows[row->owner]);
		wait_table_cell(&w->t);
		put_where(w, row->owner);
		wait_table_cell(&w->t);
	}
}

/* ---- sections ---- */

static void put_line(struct waits *w, const char *text)
{
	fputs(text, w->t.cell);
	wait_table_text(&w->t);
}

static void put_columns(struct waits *w)
{
	static const char *const names[NR_CELLS] = {
		"nr", "waited", "who", "in", "waits for", "held by", "which is in",
	};

	for (size_t i = 0; i < NR_CELLS; i++) {
		fputs(names[i], w->t.cell);
		wait_table_cell(&w->t);
	}
}

static uint32_t threads_of(const struct wait_edge *edges, size_t nr)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += edges[i].nr;
	return sum;
}

/* The first lines of nr edges, and how many threads are in the others. */
static void put_edges(struct waits *w, const struct wait_edge *edges, size_t nr, uint32_t max)
{
	size_t shown = w->all || nr <= max ? nr : max;
	uint32_t more = threads_of(edges + shown, nr - shown);

	for (size_t i = 0; i < shown; i++)
		put_edge(w, &edges[i]);
	if (more) {
		fprintf(w->t.cell, "... and %u more %s in %zu %s (--all-waits shows %s)", more,
			plural(more, "thread", "threads"), nr - shown,
			plural(nr - shown, "line", "lines"), plural(nr - shown, "it", "them"));
		put_line(w, "");
	}
	put_line(w, "");
}

/* The process that all threads of a ring are in. */
static void put_ring_process(struct waits *w, const struct wait_ring *ring)
{
	const struct wait_row *rows = w->g->rows;
	uint32_t i = ring->first;

	for (uint32_t n = 0; n < ring->nr; n++, i = rows[i].owner)
		if (rows[i].tgid != rows[ring->first].tgid || rows[i].absent)
			return;
	wait_put_process(w->g->tables, &rows[i], w->t.cell);
}

static void put_ring(struct waits *w, const struct wait_edge *edges, size_t nr)
{
	const struct wait_ring *ring = &w->g->rings[w->g->rows[edges->head].ring];
	uint32_t behind = 0;

	fprintf(w->t.cell, "%s: %u thread%s", wait_ring_is_sure(ring) ? "DEADLOCK" :
		ring->stood_still ? "Possible deadlock (unless a timeout or a signal ends it)" :
		"Perhaps a deadlock (some ran meanwhile)", ring->nr,
		ring->nr == 1 ? " waits for itself" : "s wait for each other");
	for (size_t i = 0; i < nr; i++)
		behind += w->g->rows[edges[i].row].ring == WAIT_NONE ? edges[i].nr : 0;
	put_ring_process(w, ring);
	if (behind)
		fprintf(w->t.cell, "; %u more %s behind them", behind,
			plural(behind, "waits", "wait"));
	put_line(w, "");
	put_edges(w, edges, nr, MAX_RING_LINES);
}

static void put_rings(struct waits *w, const struct wait_edge *edges, size_t nr)
{
	uint32_t rings = 0;
	size_t n;

	for (size_t i = 0; i < nr; i += n, rings++) {
		for (n = 1; i + n < nr && edges[i + n].head == edges[i].head;)
			n++;
		if (w->all || rings < MAX_RINGS)
			put_ring(w, edges + i, n);
	}
	if (!w->all && rings > MAX_RINGS) {
		fprintf(w->t.cell, "... and %u more deadlocks (--all-waits shows them)\n",
			rings - MAX_RINGS);
		put_line(w, "");
	}
}

static void put_section(struct waits *w, const struct wait_edge *edges, size_t nr)
{
	static const char *const titles[EDGE_SECTIONS] = {
		[EDGES_LOCK] = "for a lock that another thread holds",
		[EDGES_OTHER] = "for another thread or process",
		[EDGES_MANY] = "for one of many",
		[EDGES_UNKNOWN] = "for what no thread is known to hold",
	};
	uint32_t threads = threads_of(edges, nr);
	uint64_t sum_ns = 0;
	char sum[WAIT_SECONDS_MAX];

	if (!nr)
		return;
	if (edges->section == EDGES_RING) {
		put_rings(w, edges, nr);
		return;
	}
	for (size_t i = 0; i < nr; i++)
		sum_ns += edges[i].sum_ns;
	fprintf(w->t.cell, "%u %s %s", threads, plural(threads, "thread waits", "threads wait"),
		titles[edges->section]);
	if (edges->section <= EDGES_OTHER)
		fprintf(w->t.cell, ", %s in sum", wait_seconds(sum_ns, sum));
	put_line(w, "");
	put_edges(w, edges, nr, max_lines[edges->section]);
}

static void put_title(struct waits *w)
{
	const struct wait_row *row = &w->g->rows[0];
	time_t t = (time_t)(row->real_ns / NSEC_PER_SEC);
	size_t nr = 0, passing = 0;
	char date[32] = "";
	struct tm tm = { 0 };

	for (size_t i = 0; i < w->g->nr; i++) {
		nr += !w->g->rows[i].absent;
		passing += w->g->rows[i].passes;
	}
	localtime_r(&t, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(w->t.cell, "Snapshot %u, %s: ", w->g->scan, date);
	if (passing != nr)
		fprintf(w->t.cell, "%zu of ", passing);
	fprintf(w->t.cell, "%zu %s\n", nr, plural(nr, "thread", "threads"));
	put_line(w, "");
}

static void put_launchers(struct waits *w)
{
	uint32_t nr = w->e.launchers;

	if (!nr)
		return;
	fprintf(w->t.cell, "%u %s (--all-waits shows %s)\n", nr,
		plural(nr, "shell or the like waits for its child",
		       "shells and the like wait for their children"),
		plural(nr, "it", "them"));
	put_line(w, "");
}

static void put_stuck_row(struct waits *w, const struct stuck_row *s)
{
	const struct wait_row *row = &w->g->rows[s->row];
	uint64_t ns = wait_row_ns(row);
	char text[STUCK_TEXT_MAX];

	fputs("  ", w->t.cell);
	wait_put_comm(w->g->tables, row, w->t.cell);
	fprintf(w->t.cell, " %u", row->tid);
	if (row->tgid != row->tid)
		wait_put_process(w->g->tables, row, w->t.cell);
	fputs(": ", w->t.cell);
	stuck_text(w->g->tables, w->calls, &row->rec, ns, row->real_ns - ns, text);
	escape_text(w->t.cell, text, strlen(text));
	if (s->nr > 1)
		fprintf(w->t.cell, "; %u more like it", s->nr - 1);
	put_line(w, "");
}

/* No signal ends their wait, so what they hang on comes before all else. */
static int put_stuck(struct waits *w)
{
	struct stuck_row *v;
	uint32_t threads = 0;
	size_t nr, shown;
	int err = stuck_list(w->g, w->calls, &v, &nr);

	if (err || !nr) {
		if (!err)
			free(v);
		return err;
	}
	shown = w->all || nr <= MAX_STUCK ? nr : MAX_STUCK;
	for (size_t i = 0; i < nr; i++)
		threads += v[i].nr;
	fprintf(w->t.cell, "STUCK IN THE KERNEL: %u %s", threads,
		plural(threads, "thread", "threads"));
	put_line(w, "");
	for (size_t i = 0; i < shown; i++)
		put_stuck_row(w, &v[i]);
	if (shown < nr) {
		fprintf(w->t.cell, "... and %zu more (--all-waits shows them)", nr - shown);
		put_line(w, "");
	}
	put_line(w, "");
	free(v);
	return 0;
}

/* How many threads are ready to run and wait for a CPU. */
static void put_run_queue(struct waits *w)
{
	const struct wait_row *longest = NULL;
	uint32_t nr = 0;
	char seconds[WAIT_SECONDS_MAX];

	for (size_t i = 0; i < w->g->nr; i++) {
		const struct wait_row *row = &w->g->rows[i];

		if (row->absent || !row->passes ||
		    sample_activity(&row->rec, w->futex) != ACTIVITY_RUN_QUEUE)
			continue;
		nr++;
		if (!longest || wait_row_ns(row) + 1 > wait_row_ns(longest) + 1)
			longest = row;
	}
	if (!nr)
		return;
	fprintf(w->t.cell, "%u %s for a CPU", nr, plural(nr, "thread waits", "threads wait"));
	if (wait_row_ns(longest) != UINT64_MAX) {
		fprintf(w->t.cell, ", %s%s since it last ran: ", nr > 1 ? "one of them " : "",
			wait_seconds(wait_row_ns(longest), seconds));
		wait_put_comm(w->g->tables, longest, w->t.cell);
		fprintf(w->t.cell, " %u", longest->tid);
	}
	put_line(w, "");
	put_line(w, "");
}

static int put_all_edges(struct waits *w)
{
	const struct wait_edge *edges = w->e.edges;
	size_t i = 0, n;
	int err;

	put_title(w);
	err = put_stuck(w);
	if (!w->e.nr || edges->section != EDGES_RING)
		put_run_queue(w);
	if (w->e.nr)
		put_columns(w);
	for (; i < w->e.nr; i += n) {
		for (n = 1; i + n < w->e.nr && edges[i + n].section == edges[i].section;)
			n++;
		put_section(w, edges + i, n);
		if (edges[i].section == EDGES_RING)
			put_run_queue(w);
	}
	put_launchers(w);
	return err;
}

/* ---- all of it ---- */

static int put_all(struct waits *w, struct report *rep, const struct render_opts *opts, FILE *out)
{
	const char *suffix = opts->kernel_suffix ? opts->kernel_suffix : "_[k]";
	int err = wait_edges_make(w->g, w->all, &w->e);

	if (!err)
		err = wait_table_open(&w->t, NR_CELLS, opts->full_names ? 0 : 1 << 3 | 1 << 6);
	if (!err) {
		err = put_all_edges(w);
	}
	if (!err) {
		err = wait_table_put(&w->t, opts->columns, out);
	}
	if (!err && opts->wait_stacks)
		wait_stacks_put(&w->e, suffix, w->all, out);
	if (!err)
		err = wait_sums_put(rep, opts, w->calls, out);
	if (!err)
		err = wait_list_put(w->g, w->calls, opts->columns, out);
	wait_table_close(&w->t);
	wait_edges_release(&w->e);
	return err;
}

static void put_nothing(uint32_t scan, FILE *out)
{
	if (scan)
		fprintf(out, "There are no rows of snapshot %u here\n", scan);
	else
		fputs("There are no rows of snapshots here: record with probee snapshot\n", out);
}

static int waits_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	const char *arch = report_meta(rep, "arch", NULL);
	struct wait_graph g = { 0 };
	struct waits w = { .g = &g, .all = opts->all_waits || opts->wait_stacks,
			   .calls = syscall_names_new(arch ? arch : ""),
			   .futex = activity_futex(arch ? arch : "") };
	int err = w.calls ? wait_graph_read(rep, opts->scan, &g) : -ENOMEM;

	if (!err && !g.nr)
		put_nothing(opts->scan, out);
	else if (!err)
		err = wait_graph_link(&g);
	if (!err && g.nr)
		err = put_all(&w, rep, opts, out);
	wait_graph_release(&g);
	syscall_names_free(w.calls);
	return err ? err : ferror(out) ? -errno : 0;
}

static bool made(const char *head)
{
	unsigned scan;

	return sscanf(head, "Snapshot %u, ", &scan) == 1 ||
	       !strncmp(head, "There are no rows of snapshot", 29);
}

const struct renderer renderer_waits = {
	.name = "waits", .suffixes = ".waits", .of_scans = true,
	.made = made,
	.is_for_reading = true, .stream = waits_stream,
	.help = "who waits for whom in the last snapshot: deadlocks, convoys, all other waits",
};
