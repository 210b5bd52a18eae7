/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processed profile format of the Firefox Profiler, version 60, the first with tables that all
 * threads share (firefox_tables.h). The profiler upgrades older versions itself.
 *
 * It draws a sample from its time to that of the next one, and threadCPUDelta is the CPU time since
 * the sample before. A sample of probee stands for the time before it: of the weight w at the time
 * t, for t - w to t. So each run of samples is an entry at its beginning, with its weight and the
 * CPU time of the entry before, and the end of a burst is two more entries without weight: the
 * stack again, with the CPU time of the run, and no stack at all. So a thread that sleeps is not
 * shown as if its last stack went on, no CPU time is smeared over a pause, and the sum of weights
 * is exact:
 *
 *	samples of 10 ms at 20, 30 and 90	time	stack	weight	threadCPUDelta
 *	of the stacks A, B and B		10	A	10	0
 *						20	B	10	10
 *						30	B	0	10
 *						30	-	0	0
 *						80	B	10	0
 *						90	B	0	10
 *						90	-	0	0
 *
 * Weights that are no time stand at the time of the sample.
 *
 * The samples are of one event. What a thread was doing whenever a snapshot was taken is markers,
 * from the first to the last snapshot that found the same: between these nothing is known. Threads
 * that have no samples are not shown.
 *
 * "pid" is a text. Recordings after the first one have their number behind it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/firefox/firefox_tables.h"
#include "formats/render/json_writer.h"
#include "formats/render/renderer.h"
#include "formats/render/thread_tracks.h"
#include "src/base/array.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/report/trace_events.h"
#include "src/report/trace_summary.h"
#include "src/report/weight_text.h"

#define VERSION 60
#define GECKO_VERSION 30

extern const struct renderer renderer_firefox;

struct entry {				/* a row of a thread's table of samples */
	uint64_t time_ns, weight, cpu_ns;
	uint32_t node;			/* 0: no stack */
};

struct fox {
	struct json_writer w;
	const struct report *rep;
	const struct thread_tracks *tracks;
	const struct profile *p;
	struct entry *entries;		/* of one thread */
	size_t nr_entries, cap_entries;
};

/* --- entries */

static int add_entry(struct fox *f, const struct entry *e)
{
	struct entry *new = array_push(&f->entries, &f->nr_entries, &f->cap_entries);

	if (!new)
		return -ENOMEM;
	*new = *e;
	return 0;
}

static uint64_t run_cpu_ns(const struct fox *f, const struct track_run *r)
{
	bool runs = !f->tracks->is_wall || r->activity == ACTIVITY_RUNNING;

	return f->tracks->is_time && runs ? weight_times(r->weight, r->nr) : 0;
}

/* The end of a burst: the last run's stack until then, and nothing from then on. */
static int end_burst(struct fox *f, const struct track_run *last, uint64_t at)
{
	struct entry e = { .time_ns = at, .cpu_ns = run_cpu_ns(f, last), .node = last->node };
	int err = add_entry(f, &e);

	e.cpu_ns = e.node = 0;
	return err ? err : add_entry(f, &e);
}

/* A pause that is shorter than half a sample is only a timer that was late. */
static bool is_gap(const struct fox *f, const struct track_run *before, const struct track_run *r)
{
	uint64_t begin = track_run_begin(f->tracks, r);

	return begin > before->last_ns && begin - before->last_ns >= r->weight / 2;
}

static int add_time_entries(struct fox *f, const struct track_runs *of)
{
	uint64_t at = 0;
	int err = 0;

	for (size_t i = 0; i < of->nr && !err; i++) {
		const struct track_run *r = &of->v[i], *before = i ? r - 1 : NULL;
		struct entry e = { .weight = weight_times(r->weight, r->nr), .node = r->node };
		bool begins = !before || is_gap(f, before, r);

		if (before && begins)
			err = end_burst(f, before, at);
		e.time_ns = begins ? track_run_begin(f->tracks, r) : at;
		e.cpu_ns = begins ? 0 : run_cpu_ns(f, before);
		if (e.time_ns < at)
			e.time_ns = at;
		if (!err)
			err = add_entry(f, &e);
		at = r->last_ns > e.time_ns ? r->last_ns : e.time_ns;
	}
	return of->nr && !err ? end_burst(f, &of->v[of->nr - 1], at) : err;
}

static int add_counted_entries(struct fox *f, const struct track_runs *of)
{
	int err = 0;

	for (size_t i = 0; i < of->nr && !err; i++) {
		const struct track_run *r = &of->v[i];
		struct entry e = { .time_ns = r->first_ns,
				   .weight = weight_times(r->weight, r->nr),
				   .node = r->node };

		err = add_entry(f, &e);
	}
	return err;
}

/* --- threads */

static void put_visible(struct json_writer *w, const char *key, const char *s, size_t len)
{
	json_key(w, key);
	json_visible(w, s, len);
}

static uint64_t since_begin(const struct fox *f, uint64_t real_ns)
{
	uint64_t begin_ns = f->tracks->axis.begin_ns;

	return real_ns > begin_ns ? real_ns - begin_ns : 0;
}

static void put_entries(struct fox *f, const char *key,
			void (*put)(struct fox *f, const struct entry *e))
{
	json_key(&f->w, key);
	json_begin(&f->w, '[');
	for (size_t i = 0; i < f->nr_entries; i++)
		put(f, &f->entries[i]);
	json_end(&f->w, ']');
}

static void put_stack(struct fox *f, const struct entry *e)
{
	if (e->node)
		json_u64(&f->w, firefox_stack(e->node));
	else
		json_null(&f->w);
}

static void put_time(struct fox *f, const struct entry *e)
{
	json_millis(&f->w, since_begin(f, e->time_ns));
}

static void put_weight(struct fox *f, const struct entry *e)
{
	if (f->tracks->is_time)
		json_millis(&f->w, e->weight);
	else
		json_u64(&f->w, e->weight);
}

static void put_cpu(struct fox *f, const struct entry *e)
{
	json_u64(&f->w, e->cpu_ns);
}

static const char *weight_type(const struct fox *f)
{
	if (f->tracks->is_time)
		return "tracing-ms";
	return strcmp(f->p->facts.unit, "bytes") ? "samples" : "bytes";
}

static int put_samples(struct fox *f, const struct thread_track *k)
{
	int err;

	f->nr_entries = 0;
	err = f->tracks->is_time ? add_time_entries(f, &k->samples)
				 : add_counted_entries(f, &k->samples);
	if (err)
		return err;
	json_key(&f->w, "samples");
	json_begin(&f->w, '{');
	json_put_u64(&f->w, "length", f->nr_entries);
	json_put_text(&f->w, "weightType", weight_type(f));
	put_entries(f, "stack", put_stack);
	put_entries(f, "time", put_time);
	put_entries(f, "weight", put_weight);
	if (f->tracks->is_time)
		put_entries(f, "threadCPUDelta", put_cpu);
	json_end(&f->w, '}');
	return 0;
}

static void put_states(struct fox *f, const char *key, const struct track_runs *of,
		       void (*put)(struct fox *f, const struct track_run *r))
{
	json_key(&f->w, key);
	json_begin(&f->w, '[');
	for (size_t i = 0; i < of->nr; i++)
		put(f, &of->v[i]);
	json_end(&f->w, ']');
}

static void put_state_data(struct fox *f, const struct track_run *r)
{
	json_begin(&f->w, '{');
	json_put_text(&f->w, "type", "state");
	json_put_text(&f->w, "state", activity_name(r->activity));
	json_put_u64(&f->w, "snapshots", r->nr);
	json_end(&f->w, '}');
}

static void put_state_name(struct fox *f, const struct track_run *r)
{
	json_u64(&f->w, FIREFOX_STATE_STRING(r->activity));
}

static void put_state_begin(struct fox *f, const struct track_run *r)
{
	json_millis(&f->w, since_begin(f, r->first_ns));
}

static void put_state_end(struct fox *f, const struct track_run *r)
{
	json_millis(&f->w, since_begin(f, r->last_ns));
}

/* 0 is an instant, 1 an interval. */
static void put_state_phase(struct fox *f, const struct track_run *r)
{
	json_u64(&f->w, r->last_ns > r->first_ns);
}

static void put_state_category(struct fox *f, const struct track_run *r)
{
	json_u64(&f->w, firefox_state_category(r->activity));
}

static void put_markers(struct fox *f, const struct thread_track *k)
{
	const struct track_runs *of = &k->states;

	json_key(&f->w, "markers");
	json_begin(&f->w, '{');
	json_put_u64(&f->w, "length", of->nr);
	put_states(f, "data", of, put_state_data);
	put_states(f, "name", of, put_state_name);
	put_states(f, "startTime", of, put_state_begin);
	put_states(f, "endTime", of, put_state_end);
	put_states(f, "phase", of, put_state_phase);
	put_states(f, "category", of, put_state_category);
	json_end(&f->w, '}');
}

static void put_number(struct fox *f, const char *key, const struct thread_track *k, uint32_t nr)
{
	char text[32];
	int len = k->segment ? snprintf(text, sizeof(text), "%u.%u", nr, k->segment + 1)
			     : snprintf(text, sizeof(text), "%u", nr);

	json_key(&f->w, key);
	json_string(&f->w, text, (size_t)len);
}

static int put_thread(struct fox *f, const struct thread_track *k)
{
	int err;

	putc('\n', f->w.out);
	json_begin(&f->w, '{');
	json_put_text(&f->w, "processType", "default");
	json_put_u64(&f->w, "processStartupTime", 0);
	json_key(&f->w, "processShutdownTime");
	json_null(&f->w);
	json_put_u64(&f->w, "registerTime", 0);
	json_key(&f->w, "unregisterTime");
	json_null(&f->w);
	json_key(&f->w, "pausedRanges");
	json_begin(&f->w, '[');
	json_end(&f->w, ']');
	json_put_bool(&f->w, "showMarkersInTimeline", true);
	put_visible(&f->w, "name", k->name, k->name_len);
	json_put_bool(&f->w, "isMainThread", k->is_main);
	put_visible(&f->w, "processName", k->process, k->process_len);
	put_number(f, "pid", k, k->tgid);
	put_number(f, "tid", k, k->tid);
	err = put_samples(f, k);
	if (!err)
		put_markers(f, k);
	json_end(&f->w, '}');
	return err ? err : ferror(f->w.out) ? -EIO : 0;
}

static int put_threads(struct fox *f)
{
	int err = 0;

	putc('\n', f->w.out);
	json_key(&f->w, "threads");
	json_begin(&f->w, '[');
	for (size_t i = 0; i < f->tracks->nr && !err; i++)
		err = put_thread(f, &f->tracks->v[i]);
	json_end(&f->w, ']');
	return err;
}

/* --- meta */

static void put_fact(struct fox *f, const char *label, const char *value)
{
	if (!value || !*value)
		return;
	json_begin(&f->w, '{');
	json_put_text(&f->w, "label", label);
	json_put_text(&f->w, "format", "string");
	put_visible(&f->w, "value", value, strlen(value));
	json_end(&f->w, '}');
}

/* "More info" of the profiler's page: facts, and what is missing. */
static void put_extra(struct fox *f)
{
	const struct profile_facts *facts = &f->p->facts;
	char lost[WEIGHT_TEXT_MAX];

	json_key(&f->w, "extra");
	json_begin(&f->w, '[');
	json_begin(&f->w, '{');
	json_put_text(&f->w, "label", "Recording");
	json_key(&f->w, "entries");
	json_begin(&f->w, '[');
	put_fact(f, "Host", facts->host);
	put_fact(f, "Kernel", facts->kernel);
	put_fact(f, "Command", facts->argv);
	put_fact(f, "Shown", facts->shown);
	put_fact(f, "Amount", facts->amount);
	put_fact(f, "Lost samples", count_text(facts->lost, lost));
	put_fact(f, "Warning", facts->warning);
	put_fact(f, "Stacks", facts->stacks);
	put_fact(f, "Not whole", facts->not_whole);
	put_fact(f, "Names", facts->names);
	put_fact(f, "Snapshots", facts->scans);
	json_end(&f->w, ']');
	json_end(&f->w, '}');
	json_end(&f->w, ']');
}

static void put_field(struct json_writer *w, const char *key, const char *label,
		      const char *format)
{
	json_begin(w, '{');
	json_put_text(w, "key", key);
	json_put_text(w, "label", label);
	json_put_text(w, "format", format);
	json_end(w, '}');
}

static void put_marker_schema(struct json_writer *w)
{
	static const char *const places[] = { "marker-chart", "marker-table", "timeline-overview" };

	json_key(w, "markerSchema");
	json_begin(w, '[');
	json_begin(w, '{');
	json_put_text(w, "name", "state");
	json_put_text(w, "tooltipLabel", "{marker.data.state}");
	json_put_text(w, "tableLabel", "{marker.data.state}");
	json_put_text(w, "chartLabel", "{marker.data.state}");
	json_put_text(w, "description", "What the thread was doing at the time of snapshots");
	json_key(w, "display");
	json_begin(w, '[');
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		json_string(w, places[i], strlen(places[i]));
	json_end(w, ']');
	json_key(w, "fields");
	json_begin(w, '[');
	put_field(w, "state", "State", "string");
	put_field(w, "snapshots", "Snapshots", "integer");
	json_end(w, ']');
	json_end(w, '}');
	json_end(w, ']');
}

static uint64_t interval_ns(const struct fox *f)
{
	const struct trace_event *e = report_event(f->rep);

	if (f->tracks->is_time && e->period)
		return e->period;
	return e && e->freq_mhz ? 1000000000000ull / e->freq_mhz : 1000000;
}

static void put_millis(struct json_writer *w, const char *key, uint64_t ns)
{
	json_key(w, key);
	json_millis(w, ns);
}

static void put_times(struct fox *f)
{
	const struct thread_tracks *t = f->tracks;

	put_millis(&f->w, "interval", interval_ns(f));
	put_millis(&f->w, "startTime", t->axis.begin_ns);
	put_millis(&f->w, "profilingStartTime", 0);
	put_millis(&f->w, "profilingEndTime", since_begin(f, t->axis.end_ns));
	json_key(&f->w, "sampleUnits");
	json_begin(&f->w, '{');
	json_put_text(&f->w, "time", "ms");
	json_put_text(&f->w, "eventDelay", "ms");
	json_put_text(&f->w, "threadCPUDelta", "ns");
	json_end(&f->w, '}');
}

static void put_meta(struct fox *f, const struct render_opts *opts)
{
	const struct profile_facts *facts = &f->p->facts;
	const char *title = opts->title ? opts->title : facts->title;
	struct json_writer *w = &f->w;

	json_key(w, "meta");
	json_begin(w, '{');
	json_put_text(w, "importedFrom", "probee " PROBEE_VERSION);
	json_put_u64(w, "version", GECKO_VERSION);
	json_put_u64(w, "preprocessedProfileVersion", VERSION);
	put_visible(w, "product", title, strlen(title));
	put_times(f);
	json_put_u64(w, "processType", 0);
	json_put_u64(w, "stackwalk", 1);
	json_put_bool(w, "symbolicated", true);
	json_put_bool(w, "usesOnlyOneStackType", true);
	json_put_bool(w, "sourceCodeIsNotOnSearchfox", true);
	json_put_bool(w, "keepProfileThreadOrder", true);
	json_put_text(w, "platform", "Linux");
	put_visible(w, "oscpu", facts->kernel, strlen(facts->kernel));
	put_visible(w, "arguments", facts->argv, strlen(facts->argv));
	if (report_info(f->rep)->online_cpus)
		json_put_u64(w, "logicalCPUs", report_info(f->rep)->online_cpus);
	firefox_tables_put_categories(w);
	put_marker_schema(w);
	put_extra(f);
	json_end(w, '}');
}

static int put_profile(struct fox *f, const struct firefox_tables *t,
		       const struct render_opts *opts)
{
	int err;

	json_begin(&f->w, '{');
	put_meta(f, opts);
	firefox_tables_put_libs(t, &f->w);
	firefox_tables_put(t, &f->w);
	err = put_threads(f);
	json_end(&f->w, '}');
	putc('\n', f->w.out);
	return err;
}

static int firefox_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	struct fox f = { .w = { .out = out }, .rep = rep };
	struct firefox_tables *tables = NULL;
	struct thread_tracks *t;
	int err = thread_tracks_make(rep, opts, &t);

	if (!err)
		err = thread_tracks_add_states(rep, t);
	if (!err)
		err = firefox_tables_make(rep, t, &tables);
	if (!err) {
		f.tracks = t;
		f.p = t->profile;
		err = put_profile(&f, tables, opts);
	}
	free(f.entries);
	firefox_tables_free(tables);
	thread_tracks_free(t);
	return err;
}

static bool made(const char *head)
{
	static const char begin[] = "{\"meta\":{\"importedFrom\":\"probee ";

	return !strncmp(head, begin, sizeof(begin) - 1);
}

const struct renderer renderer_firefox = {
	.name = "firefox", .suffixes = ".firefox.json .firefox.json.gz", .stream = firefox_stream,
	.made = made,
	.help = "for profiler.firefox.com: processes and threads on a time axis, with their states",
};
