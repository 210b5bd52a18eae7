/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes over the samples of a trace whose definitions are known.
 *
 * A recording of many quiet threads has a few samples and, in REPEATs, millions that are like them
 * but for their time and their scan. A pass that only counts gets each of these once with their
 * number, so its cost does not depend on how long the threads were quiet:
 *
 *	in the file			what report_counted() gives
 *	scan 1: rows of a, b, c		a 1, b 1, c 1
 *	scan 2: repeats a, b, c		scan 2
 *	scan 3: repeats a, c; row of b	scan 3; b 1 (that of scan 2), b 1 (the new one)
 *	the end				a 2, c 2
 *
 * Whether a sample passes the filters is decided for the row of each thread; the time filter is
 * asked once for each REPEAT, because all of its rows have its time.
 */
#include "src/report/report.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "formats/trace/trace_reader.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/model/definition_store.h"
#include "src/report/report_parts.h"
#include "src/report/state_words.h"
#include "src/report/weight_text.h"

enum { AHEAD = 16 };			/* so many samples before it, one is told */

static bool wants_thread(const struct query *q, const struct report_sample *rs)
{
	uint32_t none = UINT32_MAX, tgid;
	bool has_tgid = report_sample_tgid(rs, &tgid);
	const struct rec_process *p = rs->process;
	const struct query_thread t = {
		.tgid = has_tgid ? tgid : none,
		.tid = rs->thread ? rs->thread->tid : none,
		.comm = definition_store_string(rs->tables, rs->thread ? rs->thread->comm : none,
						NULL),
		.kernel_comm = definition_store_string(
			rs->tables, rs->thread ? rec_thread_kernel_comm(rs->thread) : none, NULL),
		.process = definition_store_string(rs->tables, p ? p->comm : none, NULL),
		.cgroup = definition_store_string(rs->tables, p ? p->cgroup : 0, NULL),
	};

	return query_wants_thread(q, &t);
}

/* The verdict about a thread is kept, because lists of ids and globs are slow. */
static bool thread_passes(struct report *rep, struct segment *s, const struct report_sample *rs)
{
	uint32_t id = rs->rec->thread;
	uint8_t *v;

	if (!rs->thread || array_reserve(&s->verdicts, &s->cap_verdicts,
					 definition_store_id_end(s->tables, REC_THREAD)))
		return wants_thread(rep->query, rs);
	assert(id < s->cap_verdicts);
	v = &s->verdicts[id];
	if (*v == VERDICT_NONE)
		*v = wants_thread(rep->query, rs) ? VERDICT_WANTED : VERDICT_UNWANTED;
	return *v == VERDICT_WANTED;
}

/* One pass over the trace: which samples it gives to which function. */
struct giving {
	struct report *rep;
	bool scan_rows;			/* rows of scans, not samples of the event that is shown */
	bool all_events;
	bool any_event;			/* all samples, filtered by time alone */
	bool unfiltered;
	report_sample_fn fn;
	const struct report_counting *counting;	/* instead of fn; NULL: fn */
	/* Only rows of this scan of this segment are wanted of REPEATs; scan 0: all are. */
	uint32_t segment, scan;
	void *ctx;
	/*
	 * By thread, as passing_segment of the file numbers them: 1 if its last row of a scan
	 * passes.
	 */
	uint8_t *passing;
	size_t cap_passing;
	uint32_t passing_segment;
};

static bool passes_time(const struct report *rep, uint64_t real_ns)
{
	return real_ns >= rep->window.from_ns && real_ns < rep->window.to_ns;
}

static bool wants_activity(const struct query *q, const struct report_sample *rs)
{
	return !q->activities || q->activities >> sample_activity(rs->rec, rs->futex) & 1;
}

/* Whether a sample passes all filters but that by time. */
static bool passes_others(const struct giving *g, struct segment *s,
			  const struct report_sample *rs)
{
	const struct query *q = g->rep->query;

	if (g->unfiltered || g->any_event)
		return true;
	if (g->rep->hides_quiet && quiet_threads_has(&g->rep->quiet, rs->segment, rs->rec->thread))
		return false;
	return !q ||
	       (query_wants_state(q, rs->rec->state) && wants_activity(q, rs) &&
		query_wants_cpu(q, rs->rec->cpu) && thread_passes(g->rep, s, rs) &&
		stack_filter_passes(&q->names, &s->marks, rs));
}

/* True if the sample is of the event that this pass gives; sets its event and weight. */
static bool suits(const struct giving *g, struct report_sample *rs)
{
	rs->event = trace_events_weigh(&g->rep->events, rs->segment, rs->rec, &rs->weight);
	if (g->any_event)
		return true;
	if (g->all_events)
		return rs->event != NO_EVENT;
	return g->scan_rows ? rs->rec->scan > 0 : rs->event == g->rep->shown;
}

/* Remembers whether repeats of this row will pass. */
static int note_passing(struct giving *g, const struct rec_sample *row, bool passes)
{
	uint32_t segment = trace_reader_status(g->rep->reader)->segment;

	if (!g->counting || !row->scan || !row->thread)
		return 0;
	if (g->passing_segment != segment && g->cap_passing)
		memset(g->passing, 0, g->cap_passing);
	g->passing_segment = segment;
	if (array_reserve(&g->passing, &g->cap_passing, (size_t)row->thread + 1))
		return -ENOMEM;
	g->passing[row->thread] = passes;
	return 0;
}

/* Gives a sample that passes: again 0, or so many more that are like one before. */
static int give_sample(struct giving *g, struct report_sample *rs, uint32_t again)
{
	if (!g->counting)
		return g->fn(g->ctx, rs);
	rs->weight = weight_times(rs->weight, again ? again : 1);
	return g->counting->samples(g->ctx, rs, again ? again : 1);
}

/* The row with the ids of its recording, in joined where these are others. */
static const struct rec_sample *in_recording(const struct giving *g, const struct rec_sample *row,
					     struct rec_sample *joined)
{
	uint32_t segment = trace_reader_status(g->rep->reader)->segment;

	if (!part_joiner_is_joined(&g->rep->parts, segment))
		return row;
	*joined = *row;
	part_joiner_sample(&g->rep->parts, segment, joined);
	return joined;
}

/* row: with the ids of its segment of the file. */
static int give(struct giving *g, const struct rec_sample *row)
{
	struct segment *s = report_segment(g->rep);
	struct rec_sample joined;
	const struct rec_sample *rec = in_recording(g, row, &joined);
	struct report_sample rs = { .rec = rec, .futex = g->rep->futex };
	uint32_t again = trace_reader_again(g->rep->reader);
	bool passes;

	if (!s)
		return -ENOMEM;
	rs.segment = (uint32_t)(s - g->rep->segments);
	rs.facts = &s->facts;
	rs.ahead = rec == row ? trace_reader_ahead(g->rep->reader, AHEAD) : NULL;
	passes = suits(g, &rs);
	if (!passes)
		return again ? 0 : note_passing(g, row, false);
	rs.tables = s->tables;
	rs.thread = definition_store_find_thread(s->tables, rec->thread);
	rs.process =
		rs.thread ? definition_store_find_process(s->tables, rs.thread->process) : NULL;
	rs.real_ns = wall_clock_real(&s->clock, rec->time_ns);
	passes = passes_others(g, s, &rs);
	if (!again && note_passing(g, row, passes))
		return -ENOMEM;
	if (!again && !g->unfiltered && g->rep->query)
		passes &= passes_time(g->rep, rs.real_ns);
	return passes ? give_sample(g, &rs, again) : 0;
}

/* Decides what becomes of the rows of a REPEAT. */
static int give_repeat(struct giving *g, const struct rec_repeat *rec)
{
	struct trace_reader *r = g->rep->reader;
	struct segment *s = report_segment(g->rep);
	uint32_t at;
	uint64_t real_ns;
	int err = 0;

	if (!s)
		return -ENOMEM;
	at = (uint32_t)(s - g->rep->segments);
	real_ns = wall_clock_real(&s->clock, rec->time_ns);
	if (g->scan && (g->scan != rec->scan || g->segment != at))
		return 0;
	if (!g->unfiltered && g->rep->query && !passes_time(g->rep, real_ns))
		return 0;
	if (!g->counting) {
		trace_reader_expand(r);
		return 0;
	}
	if (g->counting->scan && g->passing_segment == trace_reader_status(r)->segment &&
	    trace_reader_repeats_any(r, g->passing, g->cap_passing))
		err = g->counting->scan(g->ctx, at, rec->scan, real_ns);
	return err ? err : trace_reader_sum(r);
}

/* The first pass summed what REPEATs stand for; one by one that may be beyond the limits. */
static int check_whole(const struct report *rep)
{
	uint64_t refused = trace_reader_status(rep->reader)->refused_bytes;

	if (refused == rep->trace_summary.info.status.refused_bytes)
		return 0;
	return fail_why(-EMSGSIZE,
			"%s: its rows, one by one, are more than a recording of that size holds. "
			"Try: --from and --to for a part of it, or --no-limits",
			rep->path);
}

/* trace_wants_fn: whether any of the rows may be in the window. */
static bool wants_rows(void *ctx, const struct trace_rows *rows)
{
	const struct report *rep = ctx;
	uint32_t at = part_joiner_recording(&rep->parts, rows->segment);

	return at >= rep->nr_segments ||
	       wall_clock_may_meet(&rep->segments[at].clock, rows->first_ns, rows->last_ns,
				   rep->window.from_ns, rep->window.to_ns);
}

static int give_all(struct giving *g)
{
	bool is_windowed = g->rep->is_windowed && !g->unfiltered;
	struct record rec;
	int n = 0, err;

	trace_reader_choose(g->rep->reader, is_windowed ? wants_rows : NULL, g->rep);
	err = trace_reader_rewind(g->rep->reader);
	while (!err && (n = trace_reader_next(g->rep->reader, &rec)) > 0) {
		if (rec.tag == REC_SAMPLE)
			err = give(g, &rec.sample);
		else if (rec.tag == REC_REPEAT)
			err = give_repeat(g, &rec.repeat);
	}
	free(g->passing);
	if (err)
		return err;
	return n < 0 ? n : check_whole(g->rep);
}

int report_samples(struct report *rep, report_sample_fn fn, void *ctx)
{
	return give_all(&(struct giving){ .rep = rep, .fn = fn, .ctx = ctx });
}

int report_all_samples(struct report *rep, report_sample_fn fn, void *ctx)
{
	return give_all(
		&(struct giving){ .rep = rep, .all_events = true, .fn = fn, .ctx = ctx });
}

int report_scan_rows(struct report *rep, report_sample_fn fn, void *ctx)
{
	return give_all(
		&(struct giving){ .rep = rep, .scan_rows = true, .fn = fn, .ctx = ctx });
}

int report_rows_of(struct report *rep, uint32_t segment, uint32_t scan, bool unfiltered,
		   report_sample_fn fn, void *ctx)
{
	return give_all(&(struct giving){ .rep = rep, .scan_rows = true, .fn = fn,
					  .unfiltered = unfiltered, .segment = segment,
					  .scan = scan, .ctx = ctx });
}

int report_counted(struct report *rep, const struct report_counting *c, void *ctx)
{
	return give_all(&(struct giving){ .rep = rep, .scan_rows = c->scan_rows,
					  .any_event = c->any_event, .unfiltered = c->unfiltered,
					  .counting = c, .ctx = ctx });
}
