/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/trace/trace_reader.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/model/definition_store.h"
#include "src/report/cpu_check.h"
#include "src/report/profile_facts.h"
#include "src/report/query.h"
#include "src/report/report_parts.h"
#include "src/report/report_text.h"
#include "src/report/state_words.h"

void report_close(struct report *rep)
{
	if (!rep)
		return;
	trace_reader_close(rep->reader);
	report_segments_release(rep);
	part_joiner_release(&rep->parts);
	trace_summary_release(&rep->trace_summary);
	loss_list_release(&rep->losses);
	trace_events_release(&rep->events);
	stack_health_release(&rep->health);
	name_health_release(&rep->names);
	quiet_threads_release(&rep->quiet);
	free(rep->path);
	free(rep);
}

static void sum_segment(struct report_info *info, const struct segment *s)
{
	uint64_t first = wall_clock_real(&s->clock, s->first_ns),
		 last = wall_clock_real(&s->clock, s->last_ns);

	info->nr_ended += s->has_end || s->goes_on;
	info->nr_continued += s->goes_on;
	info->duration_ns += s->end_ns - s->begin_ns;
	info->refused += definition_store_refused(s->tables);
	if (s->has_begin && !info->begin_real_ns)
		info->begin_real_ns = wall_clock_real(&s->clock, s->begin_ns);
	if (s->samples && (!info->first_real_ns || first < info->first_real_ns))
		info->first_real_ns = first;
	if (s->samples && last > info->last_real_ns)
		info->last_real_ns = last;
}

static const struct definition_store *segment_tables(const void *ctx, uint32_t segment)
{
	return report_tables(ctx, segment);
}

static void add_warning(struct report *rep, const char *clause)
{
	size_t n = strlen(rep->warning);

	if (*clause)
		snprintf(rep->warning + n, sizeof(rep->warning) - n, "%s%s", n ? "; " : "",
			 clause);
}

/* Puts losses, damage and measurements that contradict each other into one line. */
static void warn(struct report *rep)
{
	char clause[256];

	rep->trace_summary.info.goes_on = rep->query && rep->query->goes_on;
	report_warning_text(&rep->trace_summary.info, rep->warning, sizeof(rep->warning));
	report_rate_lowered_text(report_meta(rep, "rate.lowered", NULL), clause, sizeof(clause));
	add_warning(rep, clause);
	report_user_rates_text(report_meta(rep, "rate.users", NULL), clause, sizeof(clause));
	add_warning(rep, clause);
	cpu_check_warning(&rep->cpus, clause, sizeof(clause));
	add_warning(rep, clause);
}

/* Says what the scans saw, and which threads this recording could not see at all. */
static void tell_scope(struct report *rep)
{
	size_t n;

	report_scans_text(&rep->trace_summary.info.scans, rep->scans, sizeof(rep->scans));
	n = strlen(rep->scans);
	if (n + 2 >= sizeof(rep->scans))
		return;
	report_outside_text(report_meta(rep, "pid_namespace.outside", NULL),
			    rep->scans + n + (n ? 2 : 0), sizeof(rep->scans) - n - 2);
	if (n && rep->scans[n + 2])
		memcpy(rep->scans + n, "; ", 2);
}

static int choose_event(struct report *rep)
{
	int err = 0;

	for (uint32_t at = 0; at < rep->nr_segments && !err; at++)
		err = trace_events_define(&rep->events, at, rep->segments[at].tables);
	if (err)
		return fail(err, "%s", rep->path);
	trace_events_end(&rep->events);
	err = trace_events_join(&rep->events, rep->query, rep->path, &rep->shown);
	if (err)
		return err == -ENOMEM ? fail(err, "%s", rep->path) : err;
	if (rep->shown == NO_EVENT)
		err = trace_events_choose(&rep->events, rep->query, &rep->shown);
	if (err == -ENODATA)
		return report_is_growing(rep) ? -EAGAIN
					      : trace_events_refuse(&rep->events, rep->query,
								    rep->path, rep->shown);
	if (!err)
		report_shown_text(&rep->events, rep->shown, rep->shown_text,
				  sizeof(rep->shown_text));
	return err;
}

/* A trace that has just been begun has no recording yet. */
bool report_has_ended(const struct report *rep)
{
	const struct report_info *info = &rep->trace_summary.info;

	return info->nr_segments && info->nr_ended >= info->nr_segments;
}

/* Behind the end of a part the next one may come. */
bool report_is_growing(const struct report *rep)
{
	return rep->query && rep->query->may_come &&
	       (!report_has_ended(rep) || rep->trace_summary.info.nr_continued);
}

/* How stacks ended, and which frames have names. */
static int sum_stacks(struct report *rep)
{
	struct report_info *info = &rep->trace_summary.info;
	int err;

	err = stack_health_init(&rep->health, &rep->trace_summary.stacks, segment_tables, rep);
	if (!err)
		err = name_health_init(&rep->names, &rep->trace_summary.stacks, segment_tables,
				       rep);
	if (err)
		return fail(err, "%s", rep->path);
	stack_tally_release(&rep->trace_summary.stacks);
	report_names_text(&rep->names, rep->names_text, sizeof(rep->names_text));
	info->frames = rep->names.all.frames;
	info->frames_unnamed = rep->names.all.frames - rep->names.named.frames;
	return 0;
}

/* An empty segment at the end of the file is the next part, if another part was to follow. */
static uint32_t count_recordings(const struct report *rep, const struct trace_status *st)
{
	const struct segment *last = rep->nr_segments ? &rep->segments[rep->nr_segments - 1] : NULL;
	uint32_t joined = (uint32_t)rep->parts.nr - rep->parts.nr_recordings;
	uint32_t empty = st->empty_segments;

	return st->nr_segments - joined + (last && last->goes_on && empty ? empty - 1 : empty);
}

/* Where a part has the beginning of the next one behind it, that one was cut off. */
static void sum_recordings(struct report *rep, struct report_info *info)
{
	info->nr_segments = count_recordings(rep, &info->status);
	for (size_t i = 0; i < rep->nr_segments; i++)
		sum_segment(info, &rep->segments[i]);
	if ((info->status.empty_segments || info->status.truncated) && rep->nr_segments &&
	    rep->segments[rep->nr_segments - 1].goes_on) {
		info->nr_ended--;
		info->nr_continued--;
	}
}

static int sum_up(struct report *rep)
{
	struct report_info *info = &rep->trace_summary.info;
	int err;

	trace_summary_end(&rep->trace_summary);
	rep->futex = activity_futex(report_meta(rep, "arch", NULL));
	info->status = *trace_reader_status(rep->reader);
	sum_recordings(rep, info);
	if (rep->query)
		query_window(rep->query, info->first_real_ns, info->last_real_ns, &rep->window);
	err = report_learn_recordings(rep);
	if (!err)
		err = report_learn_window(rep);
	if (!err)
		err = sum_stacks(rep);
	if (!err)
		err = report_hide_frames(rep);
	if (err)
		return err;
	cpu_check_read(&rep->cpus, report_meta(rep, "cpu.busy", NULL), info);
	warn(rep);
	tell_scope(rep);
	return choose_event(rep);
}

/* A report without its trace yet; NULL after a message. */
static struct report *new_report(const char *path, const struct query *query)
{
	struct report *rep = calloc(1, sizeof(*rep));

	if (!rep) {
		fail(-ENOMEM, "%s", path);
		return NULL;
	}
	trace_summary_init(&rep->trace_summary);
	rep->query = query;
	rep->is_windowed = query && (query->from.kind != TIME_NONE || query->to.kind != TIME_NONE);
	rep->shown = NO_EVENT;
	rep->window.to_ns = UINT64_MAX;
	rep->path = strdup(path);
	if (rep->path && !trace_events_init(&rep->events))
		return rep;
	fail(-ENOMEM, "%s", path);
	report_close(rep);
	return NULL;
}

/* NULL: the usual ones (trace_reader.h). */
static const struct trace_reader_options *limits_of(const struct report *rep)
{
	static const struct trace_reader_options no_limits = { UINT64_MAX, UINT64_MAX, false };

	return rep->query && rep->query->no_limits ? &no_limits : NULL;
}

/* err: of opening the trace. */
static int read_trace(struct report *rep, int err, struct report **rp)
{
	if (!err)
		err = report_learn(rep);
	if (!err)
		err = sum_up(rep);
	if (err)
		goto out;
	*rp = rep;
	rep = NULL;
out:
	report_close(rep);
	return err;
}

int report_open(const char *path, const struct query *query, struct report **rp)
{
	struct report *rep = new_report(path, query);

	*rp = NULL;
	if (!rep)
		return -ENOMEM;
	return read_trace(rep, trace_reader_open(path, limits_of(rep), &rep->reader), rp);
}

int report_open_fd(int fd, const char *path, const struct query *query, struct report **rp)
{
	struct report *rep = new_report(path, query);

	*rp = NULL;
	if (rep)
		return read_trace(
			rep, trace_reader_open_fd(fd, path, limits_of(rep), &rep->reader), rp);
	close(fd);
	return -ENOMEM;
}

const struct trace_events *report_events(const struct report *rep)
{
	return &rep->events;
}

const struct trace_event *report_event(const struct report *rep)
{
	return rep->shown == NO_EVENT ? NULL : &rep->events.v[rep->shown];
}

const struct query *report_query(const struct report *rep)
{
	return rep->query;
}

const char *report_path(const struct report *rep)
{
	return rep->path;
}

const struct report_info *report_info(const struct report *rep)
{
	return &rep->trace_summary.info;
}

const char *report_emptiness(const struct report *rep)
{
	if (rep->trace_summary.info.samples)
		return NULL;
	return report_is_incomplete(rep) ? "has no samples in what can be read of it"
					 : "is empty: nothing was sampled";
}

bool report_is_incomplete(const struct report *rep)
{
	const struct report_info *info = &rep->trace_summary.info;

	/* What a recorder still writes has no end yet, and may be looked at in the middle of it. */
	if (!info->goes_on && (info->status.truncated || !report_has_ended(rep)))
		return true;
	return info->status.bad_chunks || info->status.refused_bytes || info->refused;
}

bool report_has_loss(const struct report *rep)
{
	const struct report_info *info = &rep->trace_summary.info;

	return info->lost_all || report_scans_lack(&info->scans) || rep->is_blurred ||
	       report_is_incomplete(rep);
}

/*
 * A node takes some 100 bytes while the tree is made, a step some 50 ns, and an output some
 * nanosecond for each byte. Real recordings need less of all but the output: a row of CSV has some
 * hundred bytes for each that the sample takes in the trace.
 */
void report_limits(const struct report *rep, struct report_limits *l)
{
	uint64_t size = rep->trace_summary.info.status.file_bytes;

	*l = (struct report_limits){ 0 };
	if (rep->query && rep->query->no_limits)
		return;
	l->nodes = (1u << 20) + (uint32_t)(size / 128 < 1u << 28 ? size / 128 : 1u << 28);
	l->name_bytes = (48ull << 20) + size / 2;
	l->steps = 4000000 + 2 * size;
	l->output_bytes = (768ull << 20) + 300 * size;
}

void report_set_blurred(struct report *rep)
{
	rep->is_blurred = true;
}

bool report_is_blurred(const struct report *rep)
{
	return rep->is_blurred;
}

const char *report_warning(const struct report *rep)
{
	return rep->warning;
}

const char *report_scans(const struct report *rep)
{
	return rep->scans;
}

const struct cpu_check *report_cpus(const struct report *rep)
{
	return &rep->cpus;
}

const struct definition_store *report_tables(const struct report *rep, uint32_t segment)
{
	return segment < rep->nr_segments ? rep->segments[segment].tables : NULL;
}

const char *report_meta(const struct report *rep, const char *key, size_t *len)
{
	const struct report_meta_item *found = NULL;

	for (size_t i = 0; i < rep->trace_summary.nr_metas; i++) {
		const struct report_meta_item *m = &rep->trace_summary.metas[i];

		if (!strcmp(m->key, key) && (!found || found->segment == m->segment))
			found = m;	/* a later value replaces an earlier one */
	}
	if (len)
		*len = found ? found->len : 0;
	return found ? found->value : NULL;
}

const struct report_meta_item *report_metas(const struct report *rep, size_t *nr)
{
	*nr = rep->trace_summary.nr_metas;
	return rep->trace_summary.metas;
}

const struct report_note *report_notes(const struct report *rep, size_t *nr)
{
	*nr = rep->trace_summary.nr_notes;
	return rep->trace_summary.notes;
}

const struct name_health *report_names(const struct report *rep)
{
	return &rep->names;
}

const struct stack_health *report_health(const struct report *rep)
{
	return &rep->health;
}

uint64_t report_begin_ns(const struct report *rep, uint32_t segment)
{
	return segment < rep->nr_segments ? rep->segments[segment].begin_ns : 0;
}

struct finding {
	const struct report *rep;
	struct quiet_threads *quiet;
};

static int count_row(void *ctx, const struct report_sample *s, uint64_t nr)
{
	const struct finding *f = ctx;

	return quiet_threads_row(f->quiet, s, nr, report_begin_ns(f->rep, s->segment));
}

/* "walks=1": the snapshots saw the whole machine. */
static bool saw_all(const struct report *rep)
{
	const char *busy = report_meta(rep, "cpu.busy", NULL);

	return busy && strstr(busy, "walks=1") && report_info(rep)->scans.count >= QUIET_SCANS;
}

int report_find_quiet(struct report *rep, struct quiet_threads *out)
{
	const struct report_counting all = { .scan_rows = true, .unfiltered = true,
					     .samples = count_row };
	struct finding f = { rep, out };
	int err = saw_all(rep) ? report_counted(rep, &all, &f) : 0;

	quiet_threads_end(out);
	return err;
}

int report_hide_quiet(struct report *rep, bool hide)
{
	int err = 0;

	rep->hides_quiet = false;
	if (hide && !rep->knows_quiet)
		err = report_find_quiet(rep, &rep->quiet);
	rep->knows_quiet |= hide && !err;
	rep->hides_quiet = hide && !err;
	return err;
}

void report_hidden(const struct report *rep, uint64_t *threads, uint64_t *rows)
{
	*threads = rep->hides_quiet ? rep->quiet.nr : 0;
	*rows = rep->hides_quiet ? rep->quiet.rows : 0;
}

uint64_t report_real_ns(const struct report *rep, uint32_t segment, uint64_t mono_ns)
{
	return segment < rep->nr_segments ? wall_clock_real(&rep->segments[segment].clock, mono_ns)
					  : mono_ns;
}

bool report_next_loss(const struct report *rep, size_t *at, struct loss *loss, uint64_t *real_ns)
{
	while (*at < rep->losses.nr) {
		*loss = rep->losses.v[(*at)++];
		*real_ns = report_real_ns(rep, loss->segment, loss->time_ns);
		if (*real_ns >= rep->window.from_ns && *real_ns < rep->window.to_ns)
			return true;
	}
	return false;
}

void report_span(const struct report *rep, uint32_t segment, struct time_window *span)
{
	const struct segment *s = segment < rep->nr_segments ? &rep->segments[segment] : NULL;

	*span = (struct time_window){ 0, 0 };
	if (!s || !s->has_begin)
		return;
	span->from_ns = wall_clock_real(&s->clock, s->begin_ns);
	span->to_ns = wall_clock_real(&s->clock, s->end_ns);
	if (rep->query && span->from_ns < rep->window.from_ns)
		span->from_ns = rep->window.from_ns;
	if (rep->query && span->to_ns > rep->window.to_ns)
		span->to_ns = rep->window.to_ns;
	if (span->to_ns < span->from_ns)
		span->to_ns = span->from_ns;
}

static const char *meta_or_empty(const struct report *rep, const char *key)
{
	const char *value = report_meta(rep, key, NULL);

	return value ? value : "";
}

/* Snapshots say themselves what they lack. */
static bool has_other_events(const struct report *rep)
{
	for (uint32_t i = 0; i < rep->events.nr; i++)
		if (i != rep->shown && rep->events.v[i].samples &&
		    !event_is_wall_time(rep->events.v[i].kind))
			return true;
	return false;
}

void report_facts(const struct report *rep, struct profile_facts *f)
{
	const struct report_info *info = &rep->trace_summary.info;
	const struct trace_event *event = report_event(rep);
	bool is_wall = event && event_is_wall_time(event->kind);
	bool was_lowered = report_meta(rep, "rate.lowered", NULL) ||
			   report_meta(rep, "rate.users", NULL);

	*f = (struct profile_facts){
		.host = rep->hosts,
		.kernel = meta_or_empty(rep, "kernel.release"),
		.tool = meta_or_empty(rep, "tool"),
		.argv = meta_or_empty(rep, "argv"),
		.event = event ? event->name : "",
		.unit = event ? event->unit : "samples",
		.noun = is_wall ? "thread states" : "samples",
		.thing = is_wall	       ? "thread states"
			 : !event || event->is_counted ? "samples"
						       : event->name,
		.shown = rep->shown_text,
		.amount = "",
		.title = "",
		.begin_real_ns = info->first_real_ns,
		.duration_ns = info->duration_ns,
		.samples_total = event ? event->samples : 0,
		.period = event && was_lowered && !event->varies ? event->period : 0,
		.has_lengths = event && trace_event_has_lengths(event),
		.lost = info->lost_samples,
		.frames = info->frames,
		.frames_unnamed = info->frames_unnamed,
		.names = rep->names_text,
		.incomplete = report_is_incomplete(rep),
		.has_other_events = has_other_events(rep),
		.is_part = info->nr_continued > 0,
		.warning = rep->warning,
		.stacks = "",
		.not_whole = "",
		.scans = rep->scans,
		.hidden = "",
		.scan_sums = info->scans,
	};
}
