/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With filters, a pass before notes which rows pass them. Both passes give their rows in the order
 * of the trace, so one place in that list is enough for looking up.
 */
#include "src/waits/wait_graphs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/report/query.h"
#include "src/report/report.h"

struct passing_row {
	uint32_t segment, scan, thread;
};

struct wait_graphs {
	struct wait_graph g;		/* of the scan whose rows come now; .scan 0: none yet */
	struct passing_row *passing;
	size_t nr_passing, cap_passing, at;
	bool is_filtered, has_passing;
	uint32_t nr;
	wait_graph_fn fn;
	void *ctx;
};

static int note_passing(void *ctx, const struct report_sample *s)
{
	struct wait_graphs *w = ctx;
	struct passing_row *p;

	if (!s->thread)
		return 0;
	p = array_push(&w->passing, &w->nr_passing, &w->cap_passing);
	if (!p)
		return -ENOMEM;
	*p = (struct passing_row){ s->segment, s->rec->scan, s->rec->thread };
	return 0;
}

static bool passes(struct wait_graphs *w, const struct report_sample *s)
{
	const struct passing_row *p;

	if (!w->is_filtered)
		return true;
	assert(w->at <= w->nr_passing);
	if (w->at == w->nr_passing)
		return false;
	p = &w->passing[w->at];
	if (p->segment != s->segment || p->scan != s->rec->scan ||
	    p->thread != s->rec->thread)
		return false;
	w->at++;
	return true;
}

static int end_scan(struct wait_graphs *w)
{
	int err = w->has_passing ? w->fn(w->ctx, &w->g, w->nr) : 0;

	wait_graph_release(&w->g);
	w->has_passing = false;
	return err;
}

static int begin_scan(struct wait_graphs *w, const struct report_sample *s)
{
	int err = end_scan(w);

	w->g.segment = s->segment;
	w->g.scan = s->rec->scan;
	w->g.tables = s->tables;
	w->nr++;
	return err;
}

static int on_row(void *ctx, const struct report_sample *s)
{
	struct wait_graphs *w = ctx;
	struct wait_row *row;
	bool is_passing = passes(w, s);
	int err = 0;

	if (!s->thread || s->segment < w->g.segment ||
	    (s->segment == w->g.segment && s->rec->scan < w->g.scan))
		return 0;
	if (s->segment != w->g.segment || s->rec->scan != w->g.scan)
		err = begin_scan(w, s);
	if (err)
		return err;
	row = w->g.nr < WAIT_NONE - 1 ? array_push(&w->g.rows, &w->g.nr, &w->g.cap) : NULL;
	if (!row)
		return -ENOMEM;
	*row = (struct wait_row){ .rec = *s->rec,
				  .real_ns = s->real_ns,
				  .tid = s->thread->tid,
				  .tgid = s->process ? s->process->tgid : 0,
				  .passes = is_passing };
	w->has_passing |= is_passing;
	return 0;
}

int wait_graphs_each(struct report *rep, wait_graph_fn fn, void *ctx)
{
	struct wait_graphs w = { .fn = fn, .ctx = ctx };
	int err = 0;

	w.is_filtered = report_query(rep) && query_has_filter(report_query(rep));
	if (w.is_filtered)
		err = report_scan_rows(rep, note_passing, &w);
	if (!err)
		err = report_rows_of(rep, 0, 0, true, on_row, &w);
	if (!err)
		err = end_scan(&w);
	wait_graph_release(&w.g);
	free(w.passing);
	return err;
}

struct scan_count {
	uint32_t segment, scan, nr;
};

static int count_scan(void *ctx, uint32_t segment, uint32_t scan, uint64_t real_ns)
{
	struct scan_count *c = ctx;

	(void)real_ns;
	if (!scan || segment < c->segment || (segment == c->segment && scan <= c->scan))
		return 0;
	*c = (struct scan_count){ segment, scan, c->nr + 1 };
	return 0;
}

static int count_row(void *ctx, const struct report_sample *s, uint64_t nr)
{
	(void)nr;
	return s->thread ? count_scan(ctx, s->segment, s->rec->scan, s->real_ns) : 0;
}

int wait_graphs_count(struct report *rep, uint32_t *nr)
{
	static const struct report_counting all_rows = {
		.scan_rows = true, .unfiltered = true, .samples = count_row, .scan = count_scan,
	};
	struct scan_count c = { 0 };
	int err = report_counted(rep, &all_rows, &c);

	*nr = c.nr;
	return err;
}
