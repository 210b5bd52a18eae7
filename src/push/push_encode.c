/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a trace, in the order of the file, become the rows of windows.
 *
 *	samples		t=21 s  t=29 s  t=32 s  t=28 s  t=141 s ...  t=152 s
 *	windows of 10 s   2       2       3       2       14           15
 *
 * Twelve windows from the first one of the trace on are a bundle (here 2 .. 13, 14 .. 25, ...),
 * whose profiles go into bodies together, because they have stacks and names in common. A bundle
 * is encoded when a sample comes that is more than a window behind its end (here at t=152 s), or
 * earlier, as far as its windows have
 * ended, if there are too many rows. Samples come nearly in the order of time, but for those of
 * neighbouring chunks and of several recordings in one file. A sample whose window was encoded
 * already waits for the next time, and its window has another profile then.
 */
#include "src/push/push_encode.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "src/model/definition_store.h"
#include "src/model/record.h"
#include "src/report/loss_list.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/report/weight_text.h"
#include "src/push/push_job.h"
#include "src/push/push_processes.h"
#include "src/push/push_resource.h"

#define BUNDLE_WINDOWS 12
#define MAX_SAMPLES 16000
#define MAX_PROFILE_BYTES (4u << 20)
#define MAX_BODY_BYTES (16u << 20)
#define MAX_ROWS (1u << 17)
#define MIN_BYTES 1024
#define MIN_WINDOW_NS 1000000
/* So many different weights of samples make profiles of their own; others share one. */
#define MAX_EACH 8
#define FLUSH_SHIFT (2 * MAX_ROWS)	/* ns; a window has fewer rows at a time */

struct cutting {
	struct push_job job;
	const struct push_encoder *encoder;
	void *enc;
	struct push_rows rows;
	uint64_t newest;		/* window */
	uint64_t first;			/* window that the bundles are counted from */
	bool has_first;
	uint64_t until;			/* windows below were encoded */
	uint64_t flushes;		/* how often rows were encoded */
	uint64_t series_rows;		/* rows of the last one's series that were looked at */
	struct push_row last;		/* that was encoded */
	uint64_t each[MAX_EACH];
	size_t nr_each;
	struct push_processes processes;
	size_t losses;			/* how many were looked at */
	struct loss loss;		/* the next one, if has_loss */
	uint64_t loss_ns;		/* CLOCK_REALTIME */
	bool has_loss;
	uint64_t skip, take;		/* of opts: what is left of them */
};

#define PUSH_ENOUGH 1			/* the part that is wanted was encoded */

/* ---- windows that have ended ---- */

/* The time of a window as far as it was recorded. */
static void window_time(const struct cutting *c, const struct push_row *row, struct push_group *g)
{
	uint64_t rebase = (uint64_t)c->job.opts.rebase_ns;
	struct time_window span;

	report_span(c->job.rep, row->segment, &span);
	span.from_ns += rebase;
	span.to_ns += rebase;
	g->from_ns = row->window * c->job.opts.window_ns;
	g->to_ns = g->from_ns + c->job.opts.window_ns;
	if (g->to_ns < g->from_ns)
		g->to_ns = UINT64_MAX;
	if (span.from_ns >= g->to_ns || span.to_ns < g->from_ns)
		return;
	if (span.from_ns > g->from_ns)
		g->from_ns = span.from_ns;
	/* A profile's end is not in it; the last sample is. */
	if (span.to_ns + 1 < g->to_ns)
		g->to_ns = span.to_ns + 1;
}

/* Rows of the same process, event and window: their profiles are told apart by times alone. */
static bool same_series(const struct push_row *a, const struct push_row *b)
{
	return a->segment == b->segment && a->process == b->process && a->event == b->event &&
	       a->window == b->window;
}

static uint64_t less(uint64_t n, uint64_t by)
{
	return n > by ? n - by : 0;
}

/* Leaves out rows before and behind the part that is wanted. */
static void cut_to_part(struct cutting *c, struct push_group *g)
{
	size_t n;

	for (; g->nr && c->skip; g->rows++, g->nr--, c->series_rows++)
		c->skip = less(c->skip, g->rows->count);
	if (!c->job.opts.take)
		return;
	for (n = 0; n < g->nr && c->take; n++)
		c->take = less(c->take, g->rows[n].count);
	g->nr = n;
}

/*
 * Pyroscope keeps one of several profiles with equal labels and times, so the parts of one window
 * begin some nanoseconds apart: by the number of rows before them, which tells parts apart however
 * the window is cut. sent: where the windows begin that were not encoded before.
 */
static int encode_profile(struct cutting *c, const struct push_row *rows, size_t nr, uint64_t sent)
{
	struct push_group g = { .rows = rows, .nr = nr };
	uint64_t from_ns;
	int err = 0;

	window_time(c, rows, &g);
	from_ns = g.from_ns + (rows->window < sent ? c->flushes * FLUSH_SHIFT : 0);
	if (!same_series(rows, &c->last))
		c->series_rows = 0;
	c->last = *rows;
	cut_to_part(c, &g);
	while (g.nr && !err) {
		size_t taken = 0;

		g.from_ns = from_ns + c->series_rows;
		if (g.from_ns > g.to_ns)
			g.from_ns = g.to_ns;
		err = c->encoder->profile(c->enc, &g, &taken);
		assert(taken <= g.nr);
		c->job.counts->split += !err && taken < g.nr;
		c->job.counts->rows += taken;
		g.rows += taken;
		g.nr -= taken;
		c->series_rows += taken;
	}
	if (err || !c->job.opts.take || c->take)
		return err;
	err = c->encoder->flush(c->enc);
	return err ? err : PUSH_ENOUGH;
}

/* Encodes the rows of windows below until. */
static int encode_until(struct cutting *c, uint64_t until)
{
	struct push_rows ready = { 0 };
	int err = push_rows_take(&c->rows, until, &ready);

	c->flushes++;
	c->last = (struct push_row){ .segment = UINT32_MAX };
	for (size_t i = 0, n; i < ready.nr && !err; i += n) {
		for (n = 1; i + n < ready.nr; n++)
			if (!push_rows_same_profile(&ready.v[i], &ready.v[i + n]))
				break;
		err = encode_profile(c, &ready.v[i], n, c->until);
	}
	push_rows_release(&ready);
	if (until > c->until)
		c->until = until;
	return err ? err : c->encoder->flush(c->enc);
}

/* A sample of this window has come. */
static int advance(struct cutting *c, uint64_t window)
{
	uint64_t bundle = c->job.opts.bundle_windows, until;

	if (!c->has_first)
		c->first = window;
	c->has_first = true;
	if (window <= c->newest)
		return 0;
	c->newest = window;
	if (window <= c->first)
		return 0;
	until = c->first + (window - 1 - c->first) / bundle * bundle;
	return until > c->until ? encode_until(c, until) : 0;
}

static int add_row(struct cutting *c, struct push_row *row, uint64_t real_ns)
{
	uint64_t time = real_ns + (uint64_t)c->job.opts.rebase_ns;
	int err;

	row->window = time / c->job.opts.window_ns;
	err = advance(c, row->window);
	if (err)
		return err;
	if (row->window < c->until && row->event != PUSH_LOSSES)
		c->job.counts->late += row->count;
	err = push_rows_add(&c->rows, row);
	if (err || c->rows.nr < c->job.opts.max_rows)
		return err;
	err = encode_until(c, c->newest);
	return err || c->rows.nr < c->job.opts.max_rows / 2 ? err : encode_until(c, c->newest + 1);
}

/* ---- records ---- */

/* The weight of one sample of CPU time, as long as few weights differ; else 0. */
static uint64_t weight_of_each(struct cutting *c, uint64_t weight)
{
	for (size_t i = 0; i < c->nr_each; i++)
		if (c->each[i] == weight)
			return weight;
	if (c->nr_each == MAX_EACH)
		return 0;
	c->each[c->nr_each++] = weight;
	return weight;
}

/* A process that has executed its program again is still the same one to a receiver. */
static int find_process(struct cutting *c, const struct report_sample *s, uint32_t *id)
{
	bool is_idle = !s->process && s->thread && !s->thread->tid;

	*id = is_idle ? PUSH_KERNEL : 0;
	if (!s->process)
		return 0;
	if (s->process->flags & PROCESS_KTHREAD) {
		*id = PUSH_KERNEL;
		return 0;
	}
	return push_processes_find(&c->processes, s->segment, s->process, id);
}

/* The value of push_row.thread. */
static uint32_t thread_of(const struct cutting *c, const struct report_sample *s)
{
	switch (c->job.opts.threads) {
	case PUSH_THREADS_ID:
		return s->rec->thread;
	case PUSH_THREADS_NAME:
		return s->thread ? s->thread->comm : 0;
	case PUSH_THREADS_NONE: case PUSH_THREADS:
		break;
	}
	return 0;
}

static int add_loss(struct cutting *c)
{
	const struct loss *l = &c->loss;
	struct push_row row = { .segment = l->segment, .process = PUSH_HOST, .event = PUSH_LOSSES,
				.ustack = l->cause, .count = l->count, .weight = l->count };

	c->job.counts->lost = weight_sum(c->job.counts->lost, l->count);
	return add_row(c, &row, c->loss_ns);
}

static void next_loss(struct cutting *c)
{
	c->has_loss = report_next_loss(c->job.rep, &c->losses, &c->loss, &c->loss_ns);
}

/* Losses up to this time, in the order of the file. */
static int add_losses(struct cutting *c, uint64_t until_ns)
{
	int err = 0;

	for (; c->has_loss && c->loss_ns <= until_ns && !err; next_loss(c))
		err = add_loss(c);
	return err;
}

static int take_sample(void *ctx, const struct report_sample *s)
{
	struct cutting *c = ctx;
	const struct push_type *type = push_types_of(&c->job.types, s->event);
	struct push_row row = { .segment = s->segment,
				.event = s->event, .kstack = s->rec->kstack,
				.ustack = s->rec->ustack, .end = s->rec->end, .count = 1,
				.weight = s->weight };
	int err = add_losses(c, s->real_ns);

	err = err ? err : find_process(c, s, &row.process);
	if (err)
		return err;
	c->job.counts->samples++;
	row.thread = thread_of(c, s);
	if (type->shows_states)
		row.state = sample_activity(s->rec, s->futex) + 1u;
	if (type->is_cpu_time)
		row.each = weight_of_each(c, s->weight);
	return add_row(c, &row, s->real_ns);
}

/* ---- options ---- */

static int fill_in(struct push_encode_opts *o)
{
	o->window_ns = o->window_ns ? o->window_ns : PUSH_WINDOW_NS;
	o->bundle_windows = o->bundle_windows ? o->bundle_windows : BUNDLE_WINDOWS;
	o->max_samples = o->max_samples ? o->max_samples : MAX_SAMPLES;
	o->max_profile_bytes = o->max_profile_bytes ? o->max_profile_bytes : MAX_PROFILE_BYTES;
	o->max_body_bytes = o->max_body_bytes ? o->max_body_bytes : MAX_BODY_BYTES;
	o->max_rows = o->max_rows ? o->max_rows : MAX_ROWS;
	if (o->max_cost && o->max_profile_bytes > o->max_cost)
		o->max_profile_bytes = o->max_cost;
	if (o->max_profile_bytes > o->max_body_bytes / 2)
		o->max_profile_bytes = o->max_body_bytes / 2;
	if (o->protocol >= PUSH_PROTOCOLS || o->threads >= PUSH_THREADS ||
	    o->window_ns > PUSH_WINDOW_NS ||
	    o->window_ns < MIN_WINDOW_NS || o->nr_labels > PUSH_MAX_LABELS ||
	    o->max_profile_bytes < MIN_BYTES || o->max_body_bytes > INT32_MAX)
		return -EINVAL;
	for (size_t i = 0; i < o->nr_labels; i++)
		if (push_label_fault(o->labels[i].name, o->labels[i].value))
			return -EINVAL;
	return 0;
}

static int encode_all(struct cutting *c)
{
	int err;

	next_loss(c);
	err = report_all_samples(c->job.rep, take_sample, c);
	err = err ? err : add_losses(c, UINT64_MAX);
	return err ? err : encode_until(c, UINT64_MAX);
}

int push_encode(struct report *rep, const struct push_encode_opts *opts, push_body_fn fn, void *ctx,
		struct push_counts *counts)
{
	struct cutting c = { .job = { .rep = rep, .opts = *opts, .fn = fn, .ctx = ctx,
				      .counts = counts },
			     .skip = opts->skip, .take = opts->take };
	int err = fill_in(&c.job.opts);

	memset(counts, 0, sizeof(*counts));
	counts->profiles = opts->first_profile;
	if (err)
		return err;
	c.encoder = opts->protocol == PUSH_OTLP ? &push_encoder_otlp : &push_encoder_pyroscope;
	err = push_types_make(rep, &c.job.types);
	if (!err) {
		c.enc = c.encoder->begin(&c.job);
		err = c.enc ? encode_all(&c) : -ENOMEM;
	}
	if (c.enc)
		c.encoder->end(c.enc);
	push_rows_release(&c.rows);
	push_processes_release(&c.processes);
	push_types_release(&c.job.types);
	counts->profiles -= opts->first_profile;
	return err == PUSH_ENOUGH ? 0 : err;
}
