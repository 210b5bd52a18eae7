/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/answer_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/plural.h"
#include "src/profile/answer.h"
#include "src/profile/display_name.h"
#include "src/report/answer_lines.h"
#include "src/report/cpu_check.h"
#include "src/profile/profile.h"
#include "src/profile/short_name.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/report_text.h"
#include "src/report/trace_events.h"
#include "src/report/weight_text.h"
#include "src/waits/idle.h"

#define NAME_BYTES 60
#define STUCK_BYTES 300
/* What is worth a warning: this share of the time, of at least so many thread states. */
#define RUN_QUEUE_PERCENT 20
#define DISK_PERCENT 10
#define LEAST_ROWS 5
#define MACHINE_SHARE 0.85
#define HOT_SAMPLES 5		/* fewer do not tell where a program spends its time */

struct writing {
	const struct report *rep;
	const struct trace_event *event;
	const struct answer_sum *sum;
	struct account *v;
	size_t nr;
	char **text;
	struct answer_lines *lines;
	bool failed;
};

static void __attribute__((format(printf, 3, 4)))
put(struct writing *w, const char *what, const char *fmt, ...)
{
	struct answer_lines *l = w->lines;
	va_list ap;
	int n;

	if (l->nr >= ANSWER_LINES || w->failed)
		return;
	va_start(ap, fmt);
	free(w->text[l->nr]);
	n = vasprintf(&w->text[l->nr], fmt, ap);
	va_end(ap);
	if (n < 0) {
		w->text[l->nr] = NULL;
		w->failed = true;
		return;
	}
	l->what[l->nr] = what;
	l->text[l->nr] = w->text[l->nr];
	l->nr++;
}

/* What is looked at: the part of the recording that lies in the window, counted from its begin. */
struct shown_time {
	uint64_t from_ns, to_ns;
};

static struct shown_time shown_time(const struct report *rep)
{
	const struct report_info *info = report_info(rep);
	uint64_t begin = info->begin_real_ns, end = begin + info->duration_ns;
	struct shown_time t = { .to_ns = info->duration_ns };
	struct time_window w;

	if (!report_query(rep))
		return t;
	query_window(report_query(rep), info->first_real_ns, info->last_real_ns, &w);
	t.from_ns = w.from_ns > begin ? w.from_ns - begin : 0;
	t.to_ns = (w.to_ns < end ? w.to_ns : end) - begin;
	if (w.to_ns < begin || t.to_ns < t.from_ns)
		t.to_ns = t.from_ns;
	return t;
}

/* "1.0 s", or of a window "1.0 s (2.0 s to 3.0 s of 5.1 s)" */
static const char *shown_text(const struct report *rep, char *out, size_t size)
{
	uint64_t all = report_info(rep)->duration_ns;
	struct shown_time t = shown_time(rep);
	char time[WEIGHT_TEXT_MAX], from[WEIGHT_TEXT_MAX], to[WEIGHT_TEXT_MAX];
	char whole[WEIGHT_TEXT_MAX];

	weight_text(t.to_ns - t.from_ns, "ns", time);
	if (!t.from_ns && t.to_ns == all)
		snprintf(out, size, "%s", time);
	else
		snprintf(out, size, "%s (%s to %s of %s)", time, weight_text(t.from_ns, "ns", from),
			 weight_text(t.to_ns, "ns", to), weight_text(all, "ns", whole));
	return out;
}

static bool is_cpu_time(const struct trace_event *e)
{
	return e && event_is_cpu_time(e->kind) && !strcmp(e->unit, "ns");
}

/*
 * Whether all that ran was recorded, and is shown: nearly all ticks that found a CPU busy became
 * samples. Some did not, as probee leaves its own threads out.
 */
static bool shows_machine(const struct report *rep)
{
	const struct query *q = report_query(rep);
	const struct cpu_share *ticks = &report_cpus(rep)->of[CPU_BY_SAMPLES];
	const struct trace_event *e = report_event(rep);

	return ticks->is_known && e &&
	       (double)e->samples >= ticks->share * ticks->observations * MACHINE_SHARE &&
	       (!q || !(query_chooses_threads(q) || q->cpus.nr || q->states || q->activities ||
			 q->names.nr));
}

/*
 * "; cpu-wait: 4.2 s more. Try: --event off-cpu,cpu-wait": the rest of the time that threads were
 * off the CPU, which is another event. Filters do not count there.
 */
static void add_rest(const struct writing *w, char *out, size_t size)
{
	const struct trace_events *all = report_events(w->rep);
	const struct query *q = report_query(w->rep);
	char weight[WEIGHT_TEXT_MAX], tried[256] = "";
	size_t n = strlen(out), len;

	if (w->event->kind != EVENT_SCHED)
		return;
	for (size_t i = 0; i < all->nr; i++) {
		const struct trace_event *e = &all->v[i];

		if (e == w->event || e->kind != EVENT_SCHED || strcmp(e->unit, "ns") ||
		    e->joined || !e->samples || n >= size)
			continue;
		n += (size_t)snprintf(out + n, size - n, "; %s: %s more%s", e->name,
				      weight_text(e->weight, "ns", weight),
				      q && query_has_filter(q) ? ", without filters" : "");
		len = strlen(tried);
		snprintf(tried + len, sizeof(tried) - len, ",%s", e->name);
	}
	if (*tried && n < size)
		snprintf(out + n, size - n, ". Try: --event %s%s", w->event->name, tried);
}

/* "7.6 s of CPU time in 4.0 s: 1.9 of 2 CPUs were busy on average" */
static void put_event(struct writing *w)
{
	struct shown_time t = shown_time(w->rep);
	uint64_t ns = t.to_ns - t.from_ns;
	uint32_t cpus = report_info(w->rep)->online_cpus;
	struct report_amount amount = { w->event, w->sum->samples, w->sum->weight,
					w->sum->scans };
	bool of_machine = cpus && shows_machine(w->rep);
	double busy = ns ? (double)w->sum->weight / (double)ns : 0;
	char a[512], d[4 * WEIGHT_TEXT_MAX + 16], share[64];

	report_amount_text(&amount, a, sizeof(a));
	add_rest(w, a, sizeof(a));
	if (!is_cpu_time(w->event) || !ns) {
		put(w, w->event && !strcmp(w->event->unit, "ns") ? "time" : "count", "%s", a);
		return;
	}
	if (of_machine)
		snprintf(share, sizeof(share), "%.2f of %" PRIu32 " CPUs were busy", busy, cpus);
	else
		snprintf(share, sizeof(share), "%.2f CPUs", busy);
	put(w, "time", "%s of CPU time in %s: %s on average",
	    weight_text(w->sum->weight, "ns", a), shown_text(w->rep, d, sizeof(d)), share);
}

static int by_weight(const void *x, const void *y)
{
	const struct account *a = x, *b = y;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return strcmp(a->name, b->name);
}

static uint64_t busy(const struct account *a)
{
	return weight_sum(weight_sum(a->wall[ACTIVITY_RUNNING], a->wall[ACTIVITY_RUN_QUEUE]),
			  a->wall[ACTIVITY_DISK]);
}

/* The time in which an account did not sleep, or slept for want of a lock. */
static uint64_t awake(const struct account *a)
{
	return weight_sum(busy(a), a->wall[ACTIVITY_LOCK]);
}

/* Threads of a pool wait in futex() when they have nothing to do, so that counts last. */
static int by_wall(const void *x, const void *y)
{
	const struct account *a = x, *b = y;

	if (busy(a) != busy(b))
		return busy(a) < busy(b) ? 1 : -1;
	if (awake(a) != awake(b))
		return awake(a) < awake(b) ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Moves those that are shown to the front, and returns their number. */
static size_t choose(struct account *v, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		struct account one = v[i];

		if (!one.is_shown)
			continue;
		v[i] = v[kept];
		v[kept++] = one;
	}
	return kept;
}

/* The longest form of a function's name that fits, or the shortest; NULL: out of memory. */
static char *fitting_name(const char *name)
{
	size_t len = strlen(name), all, n;
	char *shown = malloc(len + 1), *shorter = malloc(len + 1);

	if (!shown || !shorter) {
		free(shown);
		free(shorter);
		return NULL;
	}
	n = all = display_name(shown, name, len);
	memcpy(shorter, shown, n);
	for (unsigned form = 0; form < SHORT_FORMS && n > NAME_BYTES; form++)
		n = short_name(shorter, shown, all, form);
	free(shown);
	shorter[n] = 0;
	return shorter;
}

static void put_hot(struct writing *w, const struct account *a, const char *weight,
		    const char *share)
{
	char *name = fitting_name(a->hot), hot[SHARE_MAX], part[SHARE_MAX];
	char idle[SHARE_MAX + 32] = "";

	if (a->idle)
		snprintf(idle, sizeof(idle), "idle for %s, ",
			 report_share_text(a->idle, a->weight, part));
	if (name)
		put(w, "", "%9s %7s  %.*s, %smost of %s in %.*s (%s)", weight, share, NAME_BYTES,
		    a->name, idle, *idle ? "the rest" : "it", NAME_BYTES, name,
		    report_share_text(a->hot_weight, a->weight - a->idle, hot));
	else
		w->failed = true;
	free(name);
}

static void put_account(struct writing *w, const struct account *a)
{
	char weight[WEIGHT_TEXT_MAX], share[SHARE_MAX];
	const char *text = weight_text(a->weight, w->event->unit, weight);

	report_share_text(a->weight, w->sum->weight, share);
	if (a->hot && a->samples >= HOT_SAMPLES && a->weight > a->idle)
		put_hot(w, a, text, share);
	else
		put(w, "", "%9s %7s  %.*s%s", text, share, NAME_BYTES, a->name,
		    a->weight && a->weight == a->idle ? ", idle" : "");
}

static void put_accounts(struct writing *w)
{
	size_t nr = w->nr, shown = 0;
	uint64_t rest = w->sum->weight;
	char weight[WEIGHT_TEXT_MAX], share[SHARE_MAX];

	qsort(w->v, nr, sizeof(*w->v), by_weight);
	while (nr && !w->v[nr - 1].weight)
		nr--;
	for (; shown < nr && (shown < ANSWER_ROWS - 1 || nr == ANSWER_ROWS) && shown < ANSWER_ROWS;
	     shown++) {
		put_account(w, &w->v[shown]);
		rest -= w->v[shown].weight < rest ? w->v[shown].weight : rest;
	}
	if (shown < nr)
		put(w, "", "%9s %7s  %zu others", weight_text(rest, w->event->unit, weight),
		    report_share_text(rest, w->sum->weight, share), nr - shown);
}

static uint64_t all_wall(const struct answer_sum *s)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < ACTIVITIES; i++)
		all = weight_sum(all, s->wall[i]);
	return all;
}

/* What is said of each activity; the others are idle threads and zombies. */
static const struct {
	enum activity activity;
	const char *words;
} parts[] = {
	{ ACTIVITY_RUNNING, "running" },
	{ ACTIVITY_RUN_QUEUE, "waiting for a CPU" },
	{ ACTIVITY_DISK, "for a disk or file server" },
	{ ACTIVITY_LOCK, "for a lock or another thread" },
	{ ACTIVITY_SLEEPING, "sleeping" },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void __attribute__((format(printf, 3, 4)))
add_part(char *line, size_t size, const char *fmt, ...)
{
	size_t n = strlen(line);
	va_list ap;

	n += (size_t)snprintf(line + n, size - n, "%s", n ? ", " : "");
	va_start(ap, fmt);
	if (n < size)
		vsnprintf(line + n, size - n, fmt, ap);
	va_end(ap);
}

/* "3.9 running, 3.2 waiting for a CPU, 1.0 for a disk or file server, ..., 80.3 sleeping" */
static void put_threads(struct writing *w)
{
	char line[512] = "";

	for (size_t i = 0; i < PARTS; i++) {
		uint64_t rows = w->sum->rows[parts[i].activity];

		if (rows || parts[i].activity == ACTIVITY_RUNNING)
			add_part(line, sizeof(line), "%.1f %s",
				 (double)rows / (double)w->sum->scans, parts[i].words);
	}
	put(w, "threads", "on average %s", line);
}

/* The account that has most of an activity. */
static const struct account *most(const struct writing *w, enum activity a)
{
	const struct account *found = &w->v[0];

	for (size_t i = 1; i < w->nr; i++) {
		const struct account *v = &w->v[i];

		if (v->wall[a] > found->wall[a] ||
		    (v->wall[a] == found->wall[a] && strcmp(v->name, found->name) < 0))
			found = v;
	}
	return found;
}

static bool is_much(uint64_t part, uint64_t whole, unsigned percent)
{
	return part / percent > whole / 100;
}

static void put_wrong(struct writing *w)
{
	const struct answer_sum *s = w->sum;
	uint64_t queue = s->wall[ACTIVITY_RUN_QUEUE], disk = s->wall[ACTIVITY_DISK];
	uint64_t wanted = weight_sum(s->wall[ACTIVITY_RUNNING], queue);
	char share[SHARE_MAX], weight[WEIGHT_TEXT_MAX];

	if (s->rows[ACTIVITY_RUN_QUEUE] >= LEAST_ROWS && is_much(queue, wanted, RUN_QUEUE_PERCENT))
		put(w, "finding", "CPU shortage: threads that could run waited for one %s of the "
		    "time, most of all those of %.*s",
		    report_share_text(queue, wanted, share), NAME_BYTES,
		    most(w, ACTIVITY_RUN_QUEUE)->name);
	if (!s->stuck && s->rows[ACTIVITY_DISK] >= LEAST_ROWS &&
	    is_much(disk, weight_sum(wanted, disk), DISK_PERCENT))
		put(w, "finding", "slow disk or file server: threads waited for it (state D) for "
		    "%s in all, most of all those of %.*s. Try: --weight wall --state D",
		    weight_text(disk, "ns", weight), NAME_BYTES, most(w, ACTIVITY_DISK)->name);
}

/* Without an event but snapshots, the programs that did most beside sleeping. */
static void put_wall_accounts(struct writing *w)
{
	qsort(w->v, w->nr, sizeof(*w->v), by_wall);
	for (size_t i = 0; i < w->nr && i < ANSWER_ROWS && awake(&w->v[i]); i++) {
		char line[512] = "", t[WEIGHT_TEXT_MAX];

		for (size_t k = 0; k < PARTS; k++) {
			uint64_t weight = w->v[i].wall[parts[k].activity];

			if (weight && parts[k].activity != ACTIVITY_SLEEPING)
				add_part(line, sizeof(line), "%s %s", weight_text(weight, "ns", t),
					 parts[k].words);
		}
		put(w, "", "%.*s: %s", NAME_BYTES, w->v[i].name, line);
	}
}

/* "88.0 % of it is idle: threads wait for events, time to pass. Try: --idle" */
static void put_idle(struct writing *w)
{
	char share[SHARE_MAX], kinds[128] = "";

	if (!w->sum->idle)
		return;
	for (unsigned i = 1; i < IDLE_KINDS; i++)
		if (w->sum->idle_kinds & 1u << i)
			add_part(kinds, sizeof(kinds), "%s", idle_name(i));
	put(w, "idle", "%s of it: threads without work, which wait for %s. Try: --idle",
	    report_share_text(w->sum->idle, w->sum->weight, share), kinds);
}

/* What hangs is said before what is slow. */
static void put_stuck(struct writing *w)
{
	uint32_t more = w->sum->nr_stuck ? w->sum->nr_stuck - 1 : 0;
	char others[64] = "";

	if (!w->sum->stuck)
		return;
	if (more)
		snprintf(others, sizeof(others), "; %u more %s", more,
			 plural(more, "thread", "threads"));
	put(w, "finding", "stuck in the kernel: %.*s%s. Try: --waits", STUCK_BYTES, w->sum->stuck,
	    others);
}

static void put_deadlock(struct writing *w)
{
	if (w->sum->deadlock)
		put(w, "finding", "deadlock: %.*s. Try: --waits", STUCK_BYTES, w->sum->deadlock);
}

int answer_text(const struct report *rep, const struct answer_sum *sum, struct account *v,
		size_t nr, char **text, struct answer_lines *lines)
{
	struct writing w = { .rep = rep, .event = report_event(rep), .sum = sum, .v = v, .nr = nr,
			     .text = text, .lines = lines };

	w.nr = choose(v, nr);
	if (!w.nr || !w.event)
		return 0;
	put_stuck(&w);
	put_deadlock(&w);
	if (sum->samples) {
		put_event(&w);
		put_accounts(&w);
		put_idle(&w);
	}
	if (all_wall(sum) && sum->scans) {
		put_threads(&w);
		if (!sum->samples)
			put_wall_accounts(&w);
		put_wrong(&w);
	}
	return w.failed ? -ENOMEM : 0;
}
