/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report learns of a trace before anything is shown.
 *
 * Names come after the samples, so one pass goes through the whole trace first. It keeps all
 * definitions, and counts samples by event and stacks by how they ended.
 *
 * With a window of time that would be work for samples that are not shown. But when the window
 * begins may be known only at the end: "10s" is since the first sample, and dates depend on CLOCK
 * records. So there are two passes then:
 *
 *	the whole trace		Samples that may be left out (trace_reader_choose()) are not read.
 *				A signpost says how many they are and from when to when.
 *	the window		Only what lies in it is read, for how stacks ended.
 *
 * Samples that were not read must be counted for their event all the same. So they are only left
 * out where their recording has a single event for them, one that says what they weigh. Rows of
 * scans are read once, because REPEATs refer to them; samples that share records with them are
 * left out all the same. The passes for the window begin with the last row of each thread before
 * it.
 */
#include <errno.h>
#include <string.h>

#include "formats/trace/trace_reader.h"
#include "src/base/fail.h"
#include "src/model/definition_store.h"
#include "src/report/report.h"
#include "src/report/report_parts.h"

enum { AHEAD = 16 };			/* counters are fetched so many samples before */

static void note_time(struct segment *s, uint64_t time_ns)
{
	if (!s->has_begin || time_ns < s->begin_ns)
		s->begin_ns = time_ns;
	if (!s->has_begin || time_ns > s->end_ns)
		s->end_ns = time_ns;
	s->has_begin = true;
}

static void note_samples(struct segment *s, uint64_t time_ns, uint64_t nr)
{
	if (!s->samples || time_ns < s->first_ns)
		s->first_ns = time_ns;
	if (!s->samples || time_ns > s->last_ns)
		s->last_ns = time_ns;
	s->samples += nr;
	note_time(s, time_ns);
}

/* Clocks are told for as long as names are looked for, which is after the end. */
static void note_end(struct segment *s, const struct rec_end *end)
{
	uint64_t time_ns = end->time_ns;

	s->goes_on = end->reason == ENDED_CONTINUED;
	s->has_end = !s->goes_on;
	note_time(s, time_ns);
	s->end_ns = s->samples && s->last_ns > time_ns ? s->last_ns : time_ns;
}

/* A sample of its own, or so many more like it, whose times and scans note_repeat() has learnt. */
static int learn_sample(struct report *rep, struct segment *s, const struct rec_sample *rec)
{
	uint32_t at = (uint32_t)(s - rep->segments), again = trace_reader_again(rep->reader);
	const struct rec_sample *ahead = trace_reader_ahead(rep->reader, AHEAD);
	int err = trace_events_sample(&rep->events, at, s->tables, rec, again ? again : 1);

	if (ahead && !rep->trace_summary.leaves_stacks)
		stack_tally_expect(&rep->trace_summary.stacks, at, ahead);
	if (again)
		return err ? err : trace_summary_again(&rep->trace_summary, at, s->tables, rec,
						       again);
	note_samples(s, rec->time_ns, 1);
	return err;
}

static int learn_repeat(struct report *rep, struct segment *s, const struct rec_repeat *rec)
{
	uint64_t rows, runnable;

	trace_reader_count(rep->reader, &rows, &runnable);
	if (!rows)
		return trace_reader_sum(rep->reader);	/* which counts those that are lost */
	note_samples(s, rec->time_ns, rows);
	trace_summary_repeat(&rep->trace_summary, rec->scan, runnable);
	return trace_reader_sum(rep->reader);
}

static int learn_record(struct report *rep, struct segment *s, const struct record *rec)
{
	uint32_t at = (uint32_t)(s - rep->segments);
	int err = 0;

	if (rec->tag == REC_REPEAT)
		return learn_repeat(rep, s, &rec->repeat);
	if (rec->tag == REC_SAMPLE)
		err = learn_sample(rep, s, &rec->sample);
	else
		err = definition_store_record(s->tables, rec);
	if (rec->tag == REC_SAMPLE && trace_reader_again(rep->reader))
		return err;
	if (rec->tag == REC_CLOCK) {
		err = wall_clock_add(&s->clock, &rec->clock);
		note_time(s, rec->clock.mono_ns);
	}
	if (rec->tag == REC_END)
		note_end(s, &rec->end);
	err = err ? err : loss_list_record(&rep->losses, at, rec);
	return err ? err : trace_summary_record(&rep->trace_summary, at, s->tables, rec);
}

/* The META that each part of a recording begins with is the same. Another value replaces it. */
static bool is_told(const struct report *rep, const struct record *rec)
{
	const struct trace_summary *t = &rep->trace_summary;
	const struct rec_meta *m = &rec->meta;

	if (rec->tag != REC_META)
		return false;
	for (size_t i = t->nr_metas; i-- > 0 && t->metas[i].segment + 1 == rep->nr_segments;)
		if (!strcmp(t->metas[i].key, m->key))
			return t->metas[i].len == m->len &&
			       !memcmp(t->metas[i].value, m->value, m->len);
	return !strcmp(m->key, "recording.part");
}

/* Learns a record, of a part of a recording as if that had one part only. */
static int learn_part(struct report *rep, struct segment *s, struct record *rec)
{
	uint32_t segment = trace_reader_status(rep->reader)->segment;
	int rc;

	if (!part_joiner_is_joined(&rep->parts, segment))
		return learn_record(rep, s, rec);
	if (is_told(rep, rec))
		return 0;
	if (rec->tag != REC_SAMPLE)	/* rows of REPEATs may come behind the END */
		s->has_end = s->goes_on = false;
	definition_store_join(s->tables);
	rc = part_joiner_record(&rep->parts, s->tables, rec);
	if (rc > 0)
		rc = learn_record(rep, s, rec);
	trace_reader_keeps(rep->reader, definition_store_memory(s->tables),
			   part_joiner_memory(&rep->parts, segment));
	return rc;
}

static int learn(struct report *rep)
{
	struct record rec;
	struct segment *s;
	int n, err;

	while ((n = trace_reader_next(rep->reader, &rec)) > 0) {
		if (part_joiner_enter(&rep->parts, trace_reader_status(rep->reader)->segment, &rec))
			return fail(-ENOMEM, "%s", rep->path);
		s = report_segment(rep);
		if (!s && rep->nr_segments >= REPORT_SEGMENTS)
			return fail_why(-E2BIG, "%s: more than %d recordings in one file",
					rep->path, REPORT_SEGMENTS);
		err = s ? learn_part(rep, s, &rec) : -ENOMEM;
		if (err)
			return fail(err, "%s", rep->path);
	}
	return n;
}

/* The event of all samples of a sampler in this segment; NULL: there are several, or no weight. */
static const struct rec_event *only_event(const struct segment *s)
{
	uint32_t end = definition_store_id_end(s->tables, REC_EVENT);
	const struct rec_event *only = NULL;

	for (uint32_t id = 1; id < end; id++) {
		const struct rec_event *e = definition_store_find_event(s->tables, id);

		if (!e || e->kind == EVENT_SNAPSHOT)
			continue;
		if (only || !e->period)
			return NULL;
		only = e;
	}
	return only;
}

/* trace_wants_fn: counts the rows and leaves them out, or wants them because it cannot. */
static bool count_unread(void *ctx, const struct trace_rows *rows)
{
	struct report *rep = ctx;
	uint32_t at = part_joiner_recording(&rep->parts, rows->segment);
	struct segment *s = at < rep->nr_segments ? &rep->segments[at] : NULL;
	const struct rec_event *event = s ? only_event(s) : NULL;
	struct rec_sample like = { .event = event ? event->id : 0 };

	/* Events are in the order of their first samples, so the first ones are read. */
	if (!event || !trace_events_has(&rep->events, at, event->id) ||
	    rows->first_ns > rows->last_ns ||
	    trace_events_sample(&rep->events, at, s->tables, &like, rows->nr))
		return true;
	note_samples(s, rows->first_ns, rows->nr);
	note_samples(s, rows->last_ns, 0);
	trace_summary_unread(&rep->trace_summary, rows->nr);
	return false;
}

int report_learn(struct report *rep)
{
	int err;

	rep->trace_summary.leaves_stacks = rep->is_windowed;
	trace_reader_give_repeats(rep->reader, true);
	trace_reader_choose(rep->reader, rep->is_windowed ? count_unread : NULL, rep);
	err = trace_reader_rewind(rep->reader);
	if (!err)
		err = learn(rep);
	if (!err)
		trace_reader_know_tables(rep->reader);
	return err;
}

static int learn_stack(void *ctx, const struct report_sample *s, uint64_t nr)
{
	struct report *rep = ctx;

	return trace_summary_stacks(&rep->trace_summary, s->segment, s->tables, s->rec, nr);
}

/* What was not read before, and is damaged, is known only now. */
static void note_damage(struct trace_status *all, const struct trace_status *window)
{
	if (window->bad_chunks > all->bad_chunks)
		all->bad_chunks = window->bad_chunks;
	if (window->skipped_bytes > all->skipped_bytes)
		all->skipped_bytes = window->skipped_bytes;
	all->truncated |= window->truncated;
}

int report_learn_window(struct report *rep)
{
	static const struct report_counting stacks = { .any_event = true, .samples = learn_stack };
	int err = rep->is_windowed ? report_counted(rep, &stacks, rep) : 0;

	if (err == -ENOMEM)
		fail(err, "%s", rep->path);
	if (rep->is_windowed)
		note_damage(&rep->trace_summary.info.status, trace_reader_status(rep->reader));
	return err;
}
