/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/report_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/line_text.h"
#include "src/base/plural.h"
#include "src/model/loss_words.h"
#include "src/model/record.h"
#include "src/report/name_health.h"
#include "src/report/report.h"
#include "src/report/stack_cause.h"
#include "src/report/stack_health.h"
#include "src/report/trace_events.h"
#include "src/report/trace_summary.h"
#include "src/report/weight_text.h"

enum { USERS_SHOWN = 3 };

#define NAMED_CAUSES 3
#define NAME_MAX_BYTES 28

/* "ring-full 7, throttled 2": losses counted in samples. */
static void put_causes(struct line_text *t, const struct report_info *info)
{
	const char *sep = "";
	char n[WEIGHT_TEXT_MAX];

	for (unsigned cause = 0; cause < LOSS_CAUSES; cause++) {
		if (!info->lost[cause] || !loss_is_samples(cause))
			continue;
		line_put(t, "%s%s %s", sep, loss_cause_name(cause),
			 count_text(info->lost[cause], n));
		sep = ", ";
	}
}

/* Those counted in other things, as words. */
static void put_other_losses(struct line_text *t, const struct report_info *info)
{
	char n[WEIGHT_TEXT_MAX], words[128];

	for (unsigned cause = 0; cause <= LOSS_CAUSES; cause++) {
		if (!info->lost[cause] || loss_is_samples(cause))
			continue;
		loss_words(cause, info->lost[cause], count_text(info->lost[cause], n), words,
			   sizeof(words));
		line_put(t, "%s%s", t->len ? "; " : "", words);
	}
}

static void put_losses(struct line_text *t, const struct report_info *info)
{
	char n[WEIGHT_TEXT_MAX];

	if (info->lost_samples) {
		line_put(t, "%s sample%s lost (", count_text(info->lost_samples, n),
			 info->lost_samples == 1 ? "" : "s");
		put_causes(t, info);
		line_put(t, ")");
	}
	put_other_losses(t, info);
}

static void put_refused(struct line_text *t, const struct trace_status *st)
{
	char a[WEIGHT_TEXT_MAX], b[WEIGHT_TEXT_MAX];

	line_put(t,
		 "%s%s of %s bytes were not read, because they stand for more than a recording of "
		 "that size holds (--no-limits reads them)",
		 t->len ? "; " : "", count_text(st->refused_bytes, a),
		 count_text(st->file_bytes, b));
}

void report_warning_text(const struct report_info *info, char *out, size_t size)
{
	const struct trace_status *st = &info->status;
	struct line_text t = { out, size, 0 };
	/* A recording that goes on has one segment without END. */
	uint32_t unfinished = info->nr_segments - info->nr_ended;
	char n[WEIGHT_TEXT_MAX];

	out[0] = 0;
	if (info->goes_on && unfinished)
		unfinished--;
	if (info->lost_all)
		put_losses(&t, info);
	if (st->bad_chunks)
		line_put(&t, "%s%s chunk%s damaged", t.len ? "; " : "",
			 count_text(st->bad_chunks, n), st->bad_chunks == 1 ? "" : "s");
	if (st->refused_bytes)
		put_refused(&t, st);
	else if (st->truncated && !info->goes_on)
		line_put(&t, "%sthe file was cut short", t.len ? "; " : "");
	else if (unfinished && info->nr_segments > 1)
		line_put(&t, "%s%u of %u recordings were not finished", t.len ? "; " : "",
			 unfinished, info->nr_segments);
	else if (unfinished)
		line_put(&t, "%sthe recording was not finished", t.len ? "; " : "");
	if (info->refused)
		line_put(&t, "%s%s impossible %s refused", t.len ? "; " : "",
			 count_text(info->refused, n),
			 plural(info->refused, "definition", "definitions"));
}

/*
 * The reasons why rows are not complete: "memory-busy 2, reader hung 1". Threads that ran or had
 * ended are not among them, because that is no error.
 */
static void put_problem(struct line_text *t, const char **sep, const char *what, uint64_t nr)
{
	char n[WEIGHT_TEXT_MAX];

	if (!nr)
		return;
	line_put(t, "%s%s %s", *sep, what, count_text(nr, n));
	*sep = ", ";
}

/* "not-read 3, kernel stack 2": rows whose stacks are missing; nothing when all are there. */
static void put_scan_errors(struct line_text *t, const struct report_scans *w, const char *sep)
{
	for (unsigned end = 0; end <= STACK_ENDS; end++)
		if (!stack_end_is_root(end) && stack_end_has_stack(end) && end != END_TORN)
			put_problem(t, &sep, end < STACK_ENDS ? stack_end_name(end) : "other",
				    w->ends[end]);
	put_problem(t, &sep, "kernel stack", w->kernel_failed);
	put_problem(t, &sep, "reader hung", w->hung);
}

uint64_t report_scans_lack(const struct report_scans *w)
{
	uint64_t named = w->rows + w->skipped_idle_kthreads + w->filtered;

	return named < w->tasks_seen ? w->tasks_seen - named : 0;
}

bool report_scans_are_whole(const struct report_scans *w)
{
	struct line_text t = { (char[16]){ 0 }, 16, 0 };

	put_scan_errors(&t, w, "");
	return !t.len && !report_scans_lack(w) && !w->torn;
}

/* "; 2 kernel stacks are missing" */
static void put_lack(struct line_text *t, uint64_t nr, const char *one, const char *many)
{
	char n[WEIGHT_TEXT_MAX];

	if (nr)
		line_put(t, "; %s %s", count_text(nr, n), plural(nr, one, many));
}

/* "; 236 user stacks: no unwind information, frame pointer chain broke (no-fde)" */
static void put_ends(struct line_text *t, const struct report_scans *w)
{
	char n[WEIGHT_TEXT_MAX];

	for (unsigned end = 0; end <= STACK_ENDS; end++) {
		if (stack_end_is_root(end) || !stack_end_has_stack(end) || end == END_TORN ||
		    !w->ends[end])
			continue;
		line_put(t, "; %s user %s: %s", count_text(w->ends[end], n),
			 plural(w->ends[end], "stack", "stacks"), stack_cause_text(end));
		if (end < STACK_ENDS)
			line_put(t, " (%s)", stack_end_name(end));
	}
}

void report_scans_text(const struct report_scans *w, char *out, size_t size)
{
	char a[WEIGHT_TEXT_MAX], b[WEIGHT_TEXT_MAX];
	struct line_text t = { out, size, 0 };

	out[0] = 0;
	if (!w->count)
		return;
	line_put(&t, "%s %s, %s %s", count_text(w->count, a),
		 plural(w->count, "snapshot", "snapshots"), count_text(w->rows, b),
		 plural(w->rows, "thread state", "thread states"));
	put_lack(&t, report_scans_lack(w), "thread has no row", "threads have no row");
	put_lack(&t, w->torn, "thread ran while it was read", "threads ran while they were read");
	put_lack(&t, w->kernel_failed, "kernel stack is missing", "kernel stacks are missing");
	put_lack(&t, w->hung, "reader hung", "readers hung");
	put_ends(&t, w);
}

void report_scan_sums_text(const struct report_scans *w, char *out, size_t size)
{
	char a[WEIGHT_TEXT_MAX], b[WEIGHT_TEXT_MAX], c[WEIGHT_TEXT_MAX], d[WEIGHT_TEXT_MAX];
	struct line_text t = { out, size, 0 };
	size_t before;

	out[0] = 0;
	if (!w->count)
		return;
	line_put(&t, "%s: %s %s seen = %s %s", count_text(w->count, a),
		 count_text(w->tasks_seen, b), plural(w->tasks_seen, "task", "tasks"),
		 count_text(w->rows, c), plural(w->rows, "row", "rows"));
	line_put(&t, " + %s %s + %s not asked for", count_text(w->skipped_idle_kthreads, a),
		 plural(w->skipped_idle_kthreads, "idle kernel thread", "idle kernel threads"),
		 count_text(w->filtered, b));
	if (report_scans_lack(w))
		line_put(&t, " + %s missing", count_text(report_scans_lack(w), a));
	line_put(&t, "; %s on a CPU, %s torn, %s vanished; %s page faults; errors: ",
		 count_text(w->on_cpu, a), count_text(w->torn, b), count_text(w->vanished, c),
		 count_text(w->read_faults, d));
	before = t.len;
	put_scan_errors(&t, w, "");
	if (t.len == before)
		line_put(&t, "none");
	line_put(&t, "; %.3f ms each, %.3f ms the longest",
		 (double)w->duration_ns / 1e6 / (double)w->count, (double)w->longest_ns / 1e6);
}

void report_rate_lowered_text(const char *lowered, char *out, size_t size)
{
	static const struct {
		const char *cause, *text;
	} causes[] = {
		{ "cpu", "samples and interrupts took too much time" },
		{ "ring", "the recorder could not follow" },
		{ "memory", "too many stacks waited for unwind tables" },
		{ "start", "a high rate is not tried at once" },
	};
	struct line_text t = { out, size, 0 };
	double lowest, asked;
	char cause[16];

	out[0] = 0;
	if (!lowered || sscanf(lowered, "lowest=%lf asked=%lf passed=%*u cause=%15[a-z]", &lowest,
			       &asked, cause) != 3)
		return;
	line_put(&t, "the rate was lowered, to %.6g of %.6g Hz at times", lowest, asked);
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strcmp(cause, causes[i].cause))
			line_put(&t, ", because %s", causes[i].text);
	line_put(&t, "; samples weigh as much more");
}

/* Reads "1000=8 ", and goes on behind it. A trace may have a million of them. */
static bool read_user_rate(const char **at, unsigned long *user, unsigned long *times)
{
	char *end;

	*user = strtoul(*at, &end, 10);
	if (end == *at || *end != '=')
		return false;
	*at = end + 1;
	*times = strtoul(*at, &end, 10);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

void report_user_rates_text(const char *rates, char *out, size_t size)
{
	struct line_text t = { out, size, 0 };
	unsigned long user, times;
	unsigned nr = 0;

	out[0] = 0;
	while (rates && read_user_rate(&rates, &user, &times))
		if (nr++ < USERS_SHOWN)
			line_put(&t, "%sone stack in %lu of user %lu", nr > 1 ? ", " : "", times,
				 user);
	if (nr > USERS_SHOWN)
		line_put(&t, ", and fewer of %u other users", nr - USERS_SHOWN);
	if (nr)
		line_put(&t, " %s taken, to keep within the budget, and %s as much more",
			 nr > 1 ? "were" : "was", nr > 1 ? "weigh" : "weighs");
}

void report_outside_text(const char *outside, char *out, size_t size)
{
	unsigned long long threads, samples = 0;
	struct line_text t = { out, size, 0 };
	char n[WEIGHT_TEXT_MAX];
	int nr = outside ? sscanf(outside, "threads=%llu samples=%llu", &threads, &samples) : 0;

	out[0] = 0;
	if (nr < 1)
		return;
	line_put(&t,
		 "from inside a PID namespace: %s %s of the machine %s outside of it and left out",
		 count_text(threads, n), plural(threads, "thread", "threads"),
		 plural(threads, "is", "are"));
	if (nr == 2)
		line_put(&t, ", with %s %s", count_text(samples, n),
			 plural(samples, "sample", "samples"));
}

/* ---- the event ---- */

void report_rate_text(const struct trace_event *e, char *out, size_t size)
{
	struct line_text t = { out, size, 0 };
	char n[WEIGHT_TEXT_MAX];

	out[0] = 0;
	if (e->freq_mhz)
		line_put(&t, "%g Hz", (double)e->freq_mhz / 1000);
	else if (event_is_wall_time(e->kind) && e->period && !strcmp(e->unit, "ns"))
		line_put(&t, "every %s", weight_text(e->period, e->unit, n));
	else if (e->period > 1 && !e->is_counted)
		line_put(&t, "one per %s", weight_text(e->period, e->unit, n));
	if (t.len && e->varies)
		line_put(&t, " and others");
}

/* The quantity that an event measures, if its name does not say so; else NULL. */
static const char *measure(const struct trace_event *e)
{
	if (event_is_cpu_time(e->kind))
		return "CPU time";
	return event_is_wall_time(e->kind) ? "wall time" : NULL;
}

static void put_event(struct line_text *t, const struct trace_event *e)
{
	char label[EVENT_LABEL_MAX], rate[128];

	trace_event_label(e, label);
	report_rate_text(e, rate, sizeof(rate));
	if (measure(e))
		line_put(t, "%s (%s%s%s)", measure(e), label, *rate ? ", " : "", rate);
	else
		line_put(t, "%s%s%s%s", label, *rate ? " (" : "", rate, *rate ? ")" : "");
}

void report_shown_text(const struct trace_events *events, uint32_t shown, char *out, size_t size)
{
	struct line_text t = { out, size, 0 };
	char others[256];

	out[0] = 0;
	if (shown == NO_EVENT)
		return;
	put_event(&t, &events->v[shown]);
	trace_events_list(events, true, shown, others, sizeof(others));
	if (*others)
		line_put(&t, ". Also recorded: %s; see --event", others);
}

static void put_samples(struct line_text *t, uint64_t nr)
{
	char n[WEIGHT_TEXT_MAX];

	line_put(t, "%s sample%s", count_text(nr, n), nr == 1 ? "" : "s");
}

static void put_thread_states(struct line_text *t, const struct report_amount *a)
{
	char n[WEIGHT_TEXT_MAX];

	line_put(t, "%s snapshot%s, ", count_text(a->scans, n), a->scans == 1 ? "" : "s");
	line_put(t, "%s thread state%s", count_text(a->samples, n), a->samples == 1 ? "" : "s");
}

/* True if each sample counts 1, so that the weight says nothing more than the number. */
static bool is_only_counted(const struct trace_event *e)
{
	return e->is_counted || !strcmp(e->unit, "samples");
}

/*
 * At a frequency the kernel adapts the period of an event that counts (perf_event_open(2)). What
 * comes before it has found one is not counted, and what comes in bursts is counted for too much.
 * Clocks and cycles come steadily.
 */
static const char *about(const struct trace_event *e)
{
	return e->freq_mhz && !event_is_cpu_time(e->kind) && strcmp(e->unit, "ns") ? "about " : "";
}

static const char *amount_weight(const struct report_amount *a, char buf[WEIGHT_TEXT_MAX])
{
	return weight_text_of(a->weight, a->event->unit, a->event->name, buf);
}

void report_amount_text(const struct report_amount *a, char *out, size_t size)
{
	struct line_text t = { out, size, 0 };
	const struct trace_event *e = a->event;
	char n[WEIGHT_TEXT_MAX];

	out[0] = 0;
	if (!e || !a->samples) {
		line_put(&t, "no samples");
		return;
	}
	if (event_is_wall_time(e->kind)) {
		put_thread_states(&t, a);
		return;
	}
	if (!is_only_counted(e))
		line_put(&t, "%s%s%s in ", about(e), amount_weight(a, n),
			 event_is_cpu_time(e->kind) && !strcmp(e->unit, "ns") ? " of CPU time"
									      : "");
	put_samples(&t, a->samples);
}

void report_title_text(const char *subject, const struct report_amount *a, char *out, size_t size)
{
	struct line_text t = { out, size, 0 };
	const struct trace_event *e = a->event;
	char n[WEIGHT_TEXT_MAX];

	out[0] = 0;
	if (*subject)
		line_put(&t, "%s, ", subject);
	if (!e || !a->samples) {
		line_put(&t, "no samples");
		return;
	}
	if (measure(e))
		line_put(&t, "%s, ", measure(e));
	else if (strcmp(e->unit, "count"))
		line_put(&t, "%s, ", e->name);
	if (event_is_wall_time(e->kind)) {
		put_thread_states(&t, a);
		return;
	}
	if (!is_only_counted(e))
		line_put(&t, "%s%s, ", about(e), amount_weight(a, n));
	put_samples(&t, a->samples);
}

/* ---- stacks ---- */

const char *report_share_text(uint64_t part, uint64_t whole, char buf[SHARE_MAX])
{
	double share = whole ? 1000.0 * (double)part / (double)whole : 0;
	unsigned tenths = (unsigned)(share + 0.5);

	if (part < whole && tenths >= 1000)
		tenths = 999;
	if (part && !tenths)
		snprintf(buf, SHARE_MAX, "<0.1 %%");
	else
		snprintf(buf, SHARE_MAX, "%u.%u %%", tenths / 10, tenths % 10);
	return buf;
}

void report_stacks_text(const struct stack_health *h, char *out, size_t size)
{
	struct line_text t = { out, size, 0 };
	char n[WEIGHT_TEXT_MAX], share[SHARE_MAX];
	uint64_t nr = h->all.stacks;

	out[0] = 0;
	if (!nr) {
		line_put(&t, "no user stacks");
		return;
	}
	if (nr == 1)
		line_put(&t, "%s",
			 h->all.whole ? "the one user stack is whole"
				      : "the one user stack is not whole");
	else
		line_put(&t, "%s of %s user stacks are whole",
			 report_share_text(h->all.whole, nr, share), count_text(nr, n));
	if (h->all.whole_guessed)
		line_put(&t, " (%s with guessed frames)",
			 report_share_text(h->all.whole_guessed, nr, share));
}

/* "libfoo.so: ", from the last part of the path. */
static void put_binary(struct line_text *t, const struct stack_health *h,
		       const struct health_row *row)
{
	size_t len;
	const char *path = stack_health_path(h, row, &len), *slash = memrchr(path, '/', len);

	if (slash && slash + 1 < path + len) {
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	if (len > NAME_MAX_BYTES)
		line_put(t, "%.*s...: ", NAME_MAX_BYTES - 3, path);
	else if (len)
		line_put(t, "%.*s: ", (int)len, path);
}

void report_broken_text(const struct stack_health *h, char *out, size_t size)
{
	struct line_text t = { out, size, 0 };
	uint64_t left = h->all.stacks - h->all.whole;
	char share[SHARE_MAX];

	out[0] = 0;
	for (size_t i = 0; i < h->nr_broken && i < NAMED_CAUSES; i++) {
		const struct health_row *row = &h->broken[i];

		line_put(&t, "%s%s ", i ? "; " : "",
			 report_share_text(row->samples, h->all.stacks, share));
		put_binary(&t, h, row);
		line_put(&t, "%s", stack_cause_text(row->end));
		if (row->end == END_BAD_RULE && row->has_addr)
			line_put(&t, " at 0x%llx", (unsigned long long)row->addr);
		left -= row->samples;
	}
	if (left && t.len)
		line_put(&t, "; %s for other reasons (probee info)",
			 report_share_text(left, h->all.stacks, share));
}

void report_names_text(const struct name_health *h, char *out, size_t size)
{
	uint64_t nameless = h->all.times - h->named.times;
	const struct name_row *row = h->rows;
	char share[SHARE_MAX];
	const char *remedy;
	int len;

	*out = 0;
	if (!h->nr_rows || nameless <= h->all.times / 10)
		return;
	remedy = name_cause_remedy(row->cause);
	len = snprintf(out, size,
		       "%s of frames, as often as they were sampled, have no name, most of them in "
		       "%.200s: %s",
		       report_share_text(nameless, h->all.times, share),
		       name_health_path(h, row, NULL), name_cause_text(row->cause));
	if (*remedy && len > 0 && (size_t)len < size)
		snprintf(out + len, size - (size_t)len, ". Try: %s", remedy);
}

void report_hidden_text(uint64_t threads, uint64_t rows, char *out, size_t size)
{
	char a[WEIGHT_TEXT_MAX], b[WEIGHT_TEXT_MAX];

	out[0] = 0;
	if (threads)
		snprintf(out, size, "%s of %s that did nothing are hidden (--all-threads)",
			 weight_text_of(rows, "", "thread states", a),
			 weight_text_of(threads, "", "threads", b));
}
