/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/diff/diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/intern.h"
#include "src/base/plural.h"
#include "src/diff/diff_merge.h"
#include "src/diff/diff_side.h"
#include "src/diff/diff_stats.h"
#include "src/diff/diff_tests.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/trace_events.h"
#include "src/profile/view.h"

enum { BEFORE, AFTER, SIDES };

struct comparing {
	struct report *reps[SIDES];
	struct diff_side sides[SIDES];
	const struct view *view;
	enum delta_scale scale;
	uint64_t exposure[SIDES];	/* what the weights of a side are divided by; > 0 */
	struct diff_ratio ratio;	/* of the weights before */
	bool failed;			/* out of memory for a text */
};

static const char *label_of(const struct report *rep, char buf[EVENT_LABEL_MAX])
{
	return report_event(rep) ? trace_event_label(report_event(rep), buf) : "nothing";
}

int diff_check(const struct report *before, const struct report *after)
{
	const struct trace_event *a = report_event(before), *b = report_event(after);
	char said[EVENT_LABEL_MAX], other[EVENT_LABEL_MAX];

	if (!a || !b)
		return fail_why(-EINVAL, "%s has no samples: there is nothing to compare",
				report_path(a ? after : before));
	if (!strcmp(a->name, b->name) && !strcmp(a->unit, b->unit) &&
	    a->is_counted == b->is_counted)
		return 0;
	return fail_why(-EINVAL,
			"%s shows %s (%s), and %s shows %s (%s): these cannot be compared. "
			"Try: --event, with one that both have (probee info lists them)",
			report_path(before), label_of(before, said), a->unit, report_path(after),
			label_of(after, other), b->unit);
}

/* ---- Scale ---- */

/* Every recording in it ran a command, and ended when that did. */
static bool is_of_runs(const struct report *rep)
{
	const struct report_info *info = report_info(rep);
	const struct query *q = report_query(rep);

	return report_has_ended(rep) && info->end.reason == ENDED_TARGET_EXIT &&
	       (!q || (!q->from.kind && !q->to.kind));
}

/* Snapshots are taken at once, so time has no part in what they show. */
static uint64_t time_exposure(const struct comparing *c, int side)
{
	const struct report_info *info = report_info(c->reps[side]);
	const struct trace_event *e = report_event(c->reps[side]);
	const struct query *q = report_query(c->reps[side]);
	bool is_whole = !q || (!q->from.kind && !q->to.kind);

	if (!event_is_wall_time(e->kind) || !is_whole || !info->scans.count || !e->samples)
		return c->sides[side].time_ns;
	return weight_times(e->weight / e->samples, info->scans.count);
}

static uint64_t exposure_of(const struct comparing *c, int side)
{
	const struct report_info *info = report_info(c->reps[side]);

	switch (c->scale) {
	case SCALE_CPUS:
		return weight_times(time_exposure(c, side), info->online_cpus);
	case SCALE_RUN:
		return info->nr_segments;
	case SCALE_SHARE:
		return c->sides[side].p->nodes[0].total;
	case SCALE_AUTO:
	case SCALE_TIME:
		return time_exposure(c, side);
	case SCALE_NONE:
	case DELTA_SCALES:
		break;
	}
	return 1;
}

static enum delta_scale chosen_scale(const struct comparing *c, enum delta_scale scale)
{
	bool runs = is_of_runs(c->reps[BEFORE]) && is_of_runs(c->reps[AFTER]);

	return scale != SCALE_AUTO ? scale : runs ? SCALE_RUN : SCALE_TIME;
}

/* What cannot be divided by is not: a recording without any time, a report without samples. */
static void find_ratio(struct comparing *c)
{
	for (int side = 0; side < SIDES; side++)
		c->exposure[side] = exposure_of(c, side);
	c->ratio = (struct diff_ratio){ c->exposure[AFTER], c->exposure[BEFORE] };
	if (!c->ratio.num || !c->ratio.den)
		c->ratio = (struct diff_ratio){ 1, 1 };
}

/* ---- Texts ---- */

static const char *keep(struct comparing *c, struct profile *p, const char *s)
{
	uint32_t id = intern_str(p->names, s);

	c->failed |= id == IX_NONE;
	return id == IX_NONE ? "" : intern_get(p->names, id, NULL);
}

/* "a", or "a (before), b (after)" if they differ. */
static const char *both(struct comparing *c, struct profile *p, const char *a, const char *b)
{
	char text[1024];

	if (!strcmp(a, b))
		return keep(c, p, a);
	snprintf(text, sizeof(text), "%.490s (before), %.490s (after)", *a ? a : "-",
		 *b ? b : "-");
	return keep(c, p, text);
}

/* "before: a; after: b", without those that say nothing. */
static const char *both_said(struct comparing *c, struct profile *p, const char *a, const char *b)
{
	char text[2048];

	snprintf(text, sizeof(text), "%s%.900s%s%s%.900s", *a ? "before: " : "", a,
		 *a && *b ? "; " : "", *b ? "after: " : "", b);
	return keep(c, p, text);
}

static const char *side_text(struct comparing *c, struct profile *p, int side)
{
	const struct profile_facts *f = &c->sides[side].p->facts;
	char text[1024], time[WEIGHT_TEXT_MAX], lost[WEIGHT_TEXT_MAX];

	snprintf(text, sizeof(text), "%.400s: %.400s; %s; %s lost", report_path(c->reps[side]),
		 f->amount, weight_text(c->sides[side].time_ns, "ns", time),
		 count_text(f->lost, lost));
	return keep(c, p, text);
}

static const char *runs_text(const struct comparing *c, char *buf, size_t size)
{
	unsigned long long a = c->exposure[BEFORE], b = c->exposure[AFTER];

	snprintf(buf, size, "by run of the command (%llu %s before, %llu after)", a,
		 plural(a, "run", "runs"), b);
	return buf;
}

/* Rounded. */
static unsigned long long ten_thousandths(const struct diff_ratio *r)
{
	return (unsigned long long)(((unsigned __int128)r->num * 10000 + r->den / 2) / r->den);
}

/* "by the time that was recorded: what is before is multiplied by 1.0712". */
static const char *scale_text(struct comparing *c, struct profile *p)
{
	uint32_t cpus[SIDES] = { report_info(c->reps[BEFORE])->online_cpus,
				 report_info(c->reps[AFTER])->online_cpus };
	bool is_wall = event_is_wall_time(report_event(c->reps[AFTER])->kind);
	char text[512], runs[128];
	const char *by = c->scale == SCALE_NONE	   ? "as they are"
			 : c->scale == SCALE_SHARE ? "as shares of all that is shown"
			 : c->scale == SCALE_RUN   ? runs_text(c, runs, sizeof(runs))
			 : is_wall		   ? "by the number of snapshots"
						   : "by the time that was recorded";
	unsigned long long factor = ten_thousandths(&c->ratio);
	int n = snprintf(text, sizeof(text), "%s%s: what is before is multiplied by %llu.%04llu",
			 by, c->scale == SCALE_CPUS ? " and the number of CPUs" : "",
			 factor / 10000, factor % 10000);

	if (cpus[BEFORE] != cpus[AFTER])
		snprintf(text + n, sizeof(text) - (size_t)n, "; %u CPUs before, %u after",
			 cpus[BEFORE], cpus[AFTER]);
	return keep(c, p, text);
}

static const char *method_text(struct comparing *c, struct profile *p)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "what differs by more than chance (at most %.0f in 100 of these are chance), by "
		 "at least %.0f %% of itself and %.1f %% of all; chance is measured in %d parts of "
		 "each recording",
		 DIFF_FALSE * 100, DIFF_LEAST_CHANGE * 100, DIFF_LEAST_SHARE * 100, DIFF_BLOCKS);
	return keep(c, p, text);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What the title says of the weights. */
static const char *const per[DELTA_SCALES] = {
	[SCALE_AUTO] = "",	 [SCALE_TIME] = " by time",    [SCALE_CPUS] = " by time and CPUs",
	[SCALE_RUN] = " by run", [SCALE_SHARE] = " by shares", [SCALE_NONE] = "",
};

static const char *title_text(struct comparing *c, struct profile *p)
{
	const char *a = report_path(c->reps[BEFORE]), *b = report_path(c->reps[AFTER]);
	const char *x = file_name(a), *y = file_name(b);
	const struct profile_facts *f = &c->sides[AFTER].p->facts;
	const struct view *view = c->view;
	const char *part = view->callers ? view->callers : view->callees;
	unsigned kind = report_event(c->reps[AFTER])->kind;
	char text[1024];

	/* a/trace.pbz and b/trace.pbz need their folders. */
	if (!strcmp(x, y)) {
		x = a;
		y = b;
	}
	snprintf(text, sizeof(text), "%s%.200s%s%.150s -> %.150s: difference, %.100s%s%s",
		 part ? view->callers ? "callers of " : "callees of " : "", part ? part : "",
		 part ? ", " : "", x, y,
		 event_is_cpu_time(kind)    ? "CPU time"
		 : event_is_wall_time(kind) ? "wall time"
					    : f->event,
		 per[c->scale],
		 f->is_inverted && !part ? ", inverted" : "");
	return keep(c, p, text);
}

static void fill_sums(struct profile_facts *f, const struct profile_facts *a,
		      const struct profile_facts *b)
{
	f->samples = a->samples + b->samples;
	f->weight = weight_sum(a->weight, b->weight);
	f->samples_total = a->samples_total + b->samples_total;
	f->lost = weight_sum(a->lost, b->lost);
	f->roots = a->roots + b->roots;
	f->user_stacks = a->user_stacks + b->user_stacks;
	f->incomplete = a->incomplete || b->incomplete;
	f->begin_real_ns = b->begin_real_ns;
	f->duration_ns = b->duration_ns;
	f->is_inverted = b->is_inverted;
}

static void fill_facts(struct comparing *c, struct profile *p)
{
	const struct profile_facts *a = &c->sides[BEFORE].p->facts, *b = &c->sides[AFTER].p->facts;
	struct profile_facts *f = &p->facts;
	struct profile_delta *d = p->deltas;

	fill_sums(f, a, b);
	f->host = both(c, p, a->host, b->host);
	f->kernel = both(c, p, a->kernel, b->kernel);
	f->tool = both(c, p, a->tool, b->tool);
	f->argv = both(c, p, a->argv, b->argv);
	f->event = keep(c, p, b->event);
	f->unit = keep(c, p, b->unit);
	f->noun = b->noun;
	f->thing = keep(c, p, b->thing);
	f->shown = both(c, p, a->shown, b->shown);
	f->stacks = both_said(c, p, a->stacks, b->stacks);
	f->not_whole = both_said(c, p, a->not_whole, b->not_whole);
	f->names = both_said(c, p, a->names ? a->names : "", b->names ? b->names : "");
	f->warning = both_said(c, p, a->warning, b->warning);
	f->scans = "";
	f->title = title_text(c, p);
	d->scale = c->scale;
	memcpy(d->exposure, c->exposure, sizeof(d->exposure));
	d->before = side_text(c, p, BEFORE);
	d->after = side_text(c, p, AFTER);
	d->scaled = scale_text(c, p);
	d->method = method_text(c, p);
	f->amount = both_said(c, p, a->amount, b->amount);
}

static int compare(struct comparing *c, struct profile **pp)
{
	struct profile *trees[SIDES] = { c->sides[BEFORE].p, c->sides[AFTER].p };
	const struct diff_side *const sides[SIDES] = { &c->sides[BEFORE], &c->sides[AFTER] };
	struct diff_merged m;
	int err = diff_merge(trees, &c->ratio, &m);

	if (!err) {
		fill_facts(c, m.p);
		err = c->failed ? -ENOMEM : 0;
	}
	if (!err)
		err = diff_test(&m, sides, (double)c->ratio.num / (double)c->ratio.den);
	if (!err) {
		*pp = m.p;
		m.p = NULL;
	}
	diff_merged_release(&m);
	return err ? fail(err, "compare %s", report_path(c->reps[AFTER])) : 0;
}

static int make_side(struct report *rep, const struct diff_options *opts, bool by_weight,
		     struct diff_side *s)
{
	int err = report_hide_quiet(rep, opts->hides_quiet);

	if (err)
		return fail(err, "%s", report_path(rep));
	err = diff_side_fold(rep, opts->fold, by_weight, s);
	if (!err)
		err = diff_side_view(s, rep, opts->view);
	report_hide_quiet(rep, false);
	return err;
}

int diff_reports(struct report *before, struct report *after, const struct diff_options *opts,
		 struct profile **pp)
{
	struct comparing c = { .reps = { before, after }, .view = opts->view };
	bool by_weight;
	int err = 0;

	*pp = NULL;
	c.scale = chosen_scale(&c, opts->scale);
	by_weight = c.scale == SCALE_RUN || c.scale == SCALE_SHARE;
	for (int side = 0; side < SIDES && !err; side++)
		err = make_side(c.reps[side], opts, by_weight, &c.sides[side]);
	if (!err) {
		find_ratio(&c);
		err = compare(&c, pp);
	}
	for (int side = 0; side < SIDES; side++)
		diff_side_release(&c.sides[side]);
	return err;
}
