/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/no_match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/trace_events.h"

#define SHOWN 6				/* of names, ids or states in the line */
#define NAME_BYTES 40
#define LOOKS (1u << 20)		/* so many samples show which words are frequent */

/* How often each word occurred. */
struct words {
	struct intern *names;
	uint64_t *counts;		/* by id of the word in names */
	size_t cap_counts;
};

/* The values in a trace that filters can ask for. */
struct there {
	struct words comms, processes, cgroups, tids, pids, cpus, states;
	uint64_t first_ns, last_ns;	/* CLOCK_REALTIME */
	uint32_t first_scan, last_scan;
	bool has_time;
	uint32_t looks;
};

/* ---- counting words ---- */

static int words_add(struct words *w, const char *s, uint64_t nr)
{
	uint32_t id;

	if (!w->names)
		w->names = intern_new();
	id = w->names ? intern_str(w->names, s) : UINT32_MAX;
	if (id == UINT32_MAX || array_reserve(&w->counts, &w->cap_counts, (size_t)id + 1))
		return -ENOMEM;
	w->counts[id] += nr;
	return 0;
}

static int words_add_number(struct words *w, uint32_t n, uint64_t nr)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, n);
	return words_add(w, text, nr);
}

static void words_release(struct words *w)
{
	intern_free(w->names);
	free(w->counts);
}

/* The most frequent word, which is not returned again; NULL: none is left. */
static const char *words_take(struct words *w)
{
	uint32_t best = 0, nr = w->names ? intern_count(w->names) : 0;

	for (uint32_t i = 0; i < nr && i < w->cap_counts; i++)
		if (w->counts[i] > w->counts[best])
			best = i;
	if (!nr || !w->counts[best])
		return NULL;
	w->counts[best] = 0;
	return intern_get(w->names, best, NULL);
}

/* ---- what is there ---- */

static int note_scan(void *ctx, uint32_t segment, uint32_t scan, uint64_t real_ns)
{
	struct there *t = ctx;

	(void)segment;
	if (!t->has_time || real_ns < t->first_ns)
		t->first_ns = real_ns;
	if (!t->has_time || real_ns > t->last_ns)
		t->last_ns = real_ns;
	t->has_time = true;
	if (scan && (!t->first_scan || scan < t->first_scan))
		t->first_scan = scan;
	if (scan > t->last_scan)
		t->last_scan = scan;
	return 0;
}

static int note_process(struct there *t, const struct report_sample *s, uint64_t nr)
{
	const char *cgroup = definition_store_string(s->tables,
						     s->process ? s->process->cgroup : 0, NULL);
	int err = 0;

	if (s->process)
		err = words_add(&t->processes,
				definition_store_string(s->tables, s->process->comm, NULL), nr);
	return err || !*cgroup ? err : words_add(&t->cgroups, cgroup, nr);
}

static int note_there(void *ctx, const struct report_sample *s, uint64_t nr)
{
	struct there *t = ctx;
	uint32_t tgid;
	int err = note_scan(t, s->segment, s->rec->scan, s->real_ns);

	if (t->looks++ > LOOKS)
		return 0;
	err = words_add(&t->states, task_state_name(s->rec->state), nr);
	if (!err && s->thread)
		err = words_add(&t->comms,
				definition_store_string(s->tables, s->thread->comm, NULL), nr);
	if (!err && s->thread)
		err = words_add_number(&t->tids, s->thread->tid, nr);
	if (!err && report_sample_tgid(s, &tgid))
		err = words_add_number(&t->pids, tgid, nr);
	if (!err && s->rec->cpu != UINT32_MAX)
		err = words_add_number(&t->cpus, s->rec->cpu, nr);
	return err ? err : note_process(t, s, nr);
}

static void there_release(struct there *t)
{
	words_release(&t->comms);
	words_release(&t->processes);
	words_release(&t->cgroups);
	words_release(&t->cpus);
	words_release(&t->tids);
	words_release(&t->pids);
	words_release(&t->states);
}

/* ---- the line ---- */

struct line {
	char text[1024];
	size_t len;
	bool has_fact;
};

static __attribute__((format(printf, 2, 3))) void put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, sizeof(l->text) - l->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->len += (size_t)n < sizeof(l->text) - l->len ? (size_t)n
							       : sizeof(l->text) - l->len - 1;
}

static void begin_fact(struct line *l, const char *what)
{
	put(l, "%s%s", l->has_fact ? " and " : " the trace has ", what);
	l->has_fact = true;
}

static void put_words(struct line *l, const char *what, struct words *w)
{
	const char *word = words_take(w);

	begin_fact(l, word ? what : "no ");
	if (!word)
		put(l, "%s", what + strlen("the "));
	for (int i = 0; word; word = words_take(w), i++) {
		if (i == SHOWN) {
			put(l, ", ...");
			return;
		}
		put(l, "%s%.*s", i ? ", " : " ", NAME_BYTES, word);
	}
}

static void put_date(struct line *l, uint64_t real_ns)
{
	time_t t = (time_t)(real_ns / NSEC_PER_SEC);
	struct tm tm = { 0 };
	char date[32];

	localtime_r(&t, &tm);
	strftime(date, sizeof(date), "%H:%M:%S", &tm);
	put(l, "%s", date);
}

/* Seconds count from the first sample of the whole trace, as those of --from do. */
static void put_times(struct line *l, const struct there *t, uint64_t zero_ns)
{
	double from = (double)(t->first_ns - zero_ns) / 1e9,
	       to = (double)(t->last_ns - zero_ns) / 1e9;

	begin_fact(l, "");
	if (from < 0.05)
		put(l, "0-%.1f s (", to);
	else
		put(l, "%.1f-%.1f s (", from, to);
	put_date(l, t->first_ns);
	put(l, " to ");
	put_date(l, t->last_ns);
	put(l, ")");
}

static void put_facts(struct line *l, const struct query *q, struct there *t, uint64_t zero_ns)
{
	if (q->from.kind != TIME_NONE || q->to.kind != TIME_NONE)
		put_times(l, t, zero_ns);
	if (q->comms.nr)
		put_words(l, "the thread names", &t->comms);
	if (q->processes.nr)
		put_words(l, "the process names", &t->processes);
	if (q->cgroups.nr)
		put_words(l, "the cgroups", &t->cgroups);
	if (q->cpus.nr)
		put_words(l, "the CPUs", &t->cpus);
	if (q->pids.nr)
		put_words(l, "the processes", &t->pids);
	if (q->tids.nr)
		put_words(l, "the threads", &t->tids);
	if (q->states)
		put_words(l, "the states", &t->states);
	if (q->names.includes)
		begin_fact(l, "no stack with a name that --include finds");
	else if (q->names.nr)
		begin_fact(l, "only stacks with a name that --exclude finds");
}

struct search {
	uint32_t scan;
	bool found;
};

/* Returns 1 for the first one that passes, which is enough. */
static int find_scan(void *ctx, uint32_t segment, uint32_t scan, uint64_t real_ns)
{
	struct search *search = ctx;

	(void)segment;
	(void)real_ns;
	search->found = !search->scan || scan == search->scan;
	return search->found;
}

static int find_one(void *ctx, const struct report_sample *s, uint64_t nr)
{
	(void)nr;
	return find_scan(ctx, s->segment, s->rec->scan, s->real_ns);
}

static int search_in(struct report *rep, bool scan_rows, struct search *search)
{
	const struct report_counting all = { .scan_rows = scan_rows, .samples = find_one,
					     .scan = find_scan };

	return report_counted(rep, &all, search);
}

/* Whether rows of snapshots pass, which are not what is shown. */
static bool passes_in_scans(struct report *rep)
{
	const struct trace_event *e = report_event(rep);
	struct search search = { 0 };

	return report_info(rep)->scan_rows && e && e->kind != EVENT_SNAPSHOT &&
	       search_in(rep, true, &search) >= 0 && search.found;
}

static int explain(struct report *rep, bool scan_rows, uint32_t scan)
{
	const struct query *q = report_query(rep);
	const struct report_counting all = { .scan_rows = scan_rows, .unfiltered = true,
					     .samples = note_there, .scan = note_scan };
	struct there t = { 0 };
	struct line l = { .len = 0 };
	int err = report_is_growing(rep) ? -EAGAIN : report_counted(rep, &all, &t);

	if (err == -ENOMEM)
		fail(err, "%s", report_path(rep));
	if (!err && q)
		put_facts(&l, q, &t, report_info(rep)->first_real_ns);
	if (!err && scan && t.first_scan == t.last_scan) {
		begin_fact(&l, "");
		put(&l, "snapshot %u only", t.first_scan);
	} else if (!err && scan) {
		begin_fact(&l, "");
		put(&l, "snapshots %u to %u", t.first_scan, t.last_scan);
	}
	there_release(&t);
	if (err)
		return err;
	return fail_why(-ENODATA, "%s: no %s passes:%s%s", report_path(rep),
			scan_rows ? "row of a snapshot" : "sample", l.text,
			!scan_rows && passes_in_scans(rep)
				? ". Rows of snapshots do. Try: --weight wall" : "");
}

/* ---- the check ---- */

static bool is_filtered(const struct report *rep)
{
	return report_query(rep) && query_has_filter(report_query(rep));
}

static int check_samples(struct report *rep)
{
	struct search search = { 0 };
	int err;

	if (!report_info(rep)->samples && report_is_growing(rep))
		return -EAGAIN;
	if (!report_info(rep)->samples)
		return is_filtered(rep) ? fail_why(-ENODATA, "%s: no sample passes: the trace is "
						   "empty", report_path(rep)) : 0;
	if (!is_filtered(rep))
		return 0;
	err = search_in(rep, false, &search);
	if (err < 0 || search.found)
		return err < 0 ? err : 0;
	return explain(rep, false, 0);
}

static int check_scan_rows(struct report *rep, uint32_t scan)
{
	const struct report_info *info = report_info(rep);
	struct search search = { .scan = scan };
	int err;

	if (!info->samples && !is_filtered(rep) && !scan)
		return 0;
	if (!info->scan_rows && report_is_growing(rep))
		return -EAGAIN;
	if (!info->scan_rows)
		return fail_why(-ENODATA, "%s: there are no snapshots in it. Try: probee snapshot",
				report_path(rep));
	if (!is_filtered(rep) && !scan)
		return 0;
	err = search_in(rep, true, &search);
	if (err < 0 || search.found)
		return err < 0 ? err : 0;
	return explain(rep, true, scan);
}

int report_check_matches(struct report *rep, const struct match_wish *wish)
{
	int err = wish->samples ? check_samples(rep) : 0;

	return err || !wish->scan_rows ? err : check_scan_rows(rep, wish->scan);
}
