/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/trace_reader.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/diff/diff_stats.h"
#include "src/profile/fold.h"
#include "src/report/report.h"
#include "src/report/trace_events.h"
#include "src/profile/view.h"
#include "src/live/default_event.h"
#include "src/live/feed.h"
#include "src/tui/tui_span.h"

enum {
	TAKE_NS = 50000000,		/* of reading, before keys are looked at again */
	SHARE = 10,			/* at most 1 / SHARE of the time goes into making trees */
	/* The first pictures lack names and stacks that are still being looked for. */
	YOUNG_NS = 3000000000u,
	YOUNG_WAIT_NS = 250000000,
	CHANGE_ERRORS = 3,
	MAX_DEPTH = 8192,		/* TABLES_MAX_DEPTH, and levels above */
};

static const struct report_limits tree_limits = {
	.nodes = 4u << 20, .name_bytes = 256u << 20, .steps = 400000000,
};

const struct live_profile *tui_live(const struct tui *t)
{
	return feed_profile(t->feed);
}

const struct syscall_names *tui_calls(struct tui *t)
{
	if (!t->calls && tui_live(t))
		t->calls = syscall_names_new(live_profile_meta(tui_live(t), "arch"));
	return t->calls;
}

void tui_say(struct tui *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->message, sizeof(t->message), fmt, ap);
	va_end(ap);
}

int tui_state_open(struct tui *t, const struct tui_source *source, const struct tui_options *opts,
		   const struct tui_view *view)
{
	*t = (struct tui){ .source = source, .opts = opts, .mode = opts->mode, .is_stale = true,
			    .exports = { .fd = -1 }, .is_plain = opts->no_colour,
			    .view = view, .canvas = { .full_names = opts->full_names } };
	t->by = (struct fold_by){ .v = { FOLD_BY_PROGRAM, FOLD_BY_COMM }, .nr = 2 };
	return feed_open(source->fd, source->name,
			 &(struct feed_how){ .is_live = source->is_live, .frees = source->frees,
					     .kept_bytes = source->kept_bytes,
					     .limits = source->limits }, &t->feed);
}

void tui_state_close(struct tui *t)
{
	profile_free(t->profile);
	profile_free(t->mark);
	feed_close(t->feed);
	syscall_names_free(t->calls);
	canvas_release(&t->canvas);
	tui_search_clear(&t->search);
	free(t->top.open);
	top_list_release(&t->top.list);
	function_minute_release(&t->top.minute);
	memset(t, 0, sizeof(*t));
}

/* ---- what is selected, in another tree ---- */

/* The child of a node of p that has the name and kind of a node of old; NODE_NONE: none has. */
static uint32_t same_child(const struct profile *p, uint32_t parent, const struct profile *old,
			   const struct node *want)
{
	const char *name = profile_name(old, want->name);
	uint32_t child = p->nodes[parent].first_child;

	while (child != NODE_NONE && (p->nodes[child].kind != want->kind ||
				      strcmp(profile_name(p, p->nodes[child].name), name)))
		child = p->nodes[child].next_sibling;
	return child;
}

/* The node of p that a node of old is, by the names on the way; or the last one on that way. */
static uint32_t find_again(const struct profile *old, uint32_t at, const struct profile *p,
			   bool *is_whole)
{
	uint32_t path[MAX_DEPTH], nr = 0, node = 0;

	*is_whole = false;
	for (; at && at != NODE_NONE && nr < MAX_DEPTH; at = old->nodes[at].parent)
		path[nr++] = at;
	while (nr-- > 0) {
		uint32_t child = same_child(p, node, old, &old->nodes[path[nr]]);

		if (child == NODE_NONE)
			return node;
		node = child;
	}
	*is_whole = true;
	return node;
}

/* What is open in a tree of lists is closed again, because the nodes are others. */
static void replace_profile(struct tui *t, struct profile *p)
{
	bool is_whole;

	if (t->profile) {
		t->flame.zoom = find_again(t->profile, t->flame.zoom, p, &is_whole);
		t->flame.at = find_again(t->profile, t->flame.at, p, &is_whole);
	}
	if (t->top.open && t->profile && t->top.cap_open) {
		uint8_t *open = calloc(p->nr_nodes + 1, 1);

		for (uint32_t i = 0; open && i < t->top.cap_open && i < t->profile->nr_nodes; i++)
			if (t->top.open[i])
				open[find_again(t->profile, i, p, &is_whole)] = 1;
		free(t->top.open);
		t->top.open = open;
		t->top.cap_open = open ? p->nr_nodes : 0;
	}
	profile_free(t->profile);
	t->profile = p;
	t->tree_serial++;
	tui_search_run(&t->search, t->profile);
}

/* ---- other ids ---- */

static const struct rec_event *find_event(const struct tui *t, uint32_t id)
{
	return definition_store_find_event(live_profile_tables(tui_live(t)), id);
}

static const char *text_of(const struct tui *t, uint32_t string)
{
	return definition_store_string(live_profile_tables(tui_live(t)), string, NULL);
}

static void remember_event(struct tui *t)
{
	const struct rec_event *e = find_event(t, t->event);

	snprintf(t->event_name, sizeof(t->event_name), "%s", e ? text_of(t, e->name) : "");
	snprintf(t->event_unit, sizeof(t->event_unit), "%s", e ? text_of(t, e->unit) : "");
}

static bool is_event(const struct tui *t, uint32_t id)
{
	const struct rec_event *e = find_event(t, id);
	size_t name = sizeof(t->event_name) - 1, unit = sizeof(t->event_unit) - 1;

	return e && !strncmp(text_of(t, e->name), t->event_name, name) &&
	       !strncmp(text_of(t, e->unit), t->event_unit, unit);
}

/* What is known by ids is looked for by its name once they mean other things. */
static void follow_epoch(struct tui *t)
{
	uint32_t id = 1;
	size_t nr;

	if (!tui_live(t) || feed_epoch(t->feed) == t->epoch)
		return;
	t->epoch = feed_epoch(t->feed);
	syscall_names_free(t->calls);	/* another recording may be of another machine */
	t->calls = NULL;
	live_profile_events(tui_live(t), &nr);
	while (id < nr && !is_event(t, id))
		id++;
	t->event = id < nr ? id : 0;
	t->has_chosen_event &= t->event != 0;
}

/* ---- making the tree ---- */

/* From now back, as far as the span and the mode say. */
struct live_choice tui_choice(const struct tui *t)
{
	struct live_choice which = t->choice;
	uint64_t begin, end, span = tui_span_ns(t->span);
	uint64_t refresh = (t->opts->refresh_ms ? t->opts->refresh_ms : 2000) * NSEC_PER_MSEC;

	if (refresh < NSEC_PER_SEC)
		refresh = NSEC_PER_SEC;
	live_profile_times(tui_live(t), &begin, &end);
	if (which.from_ns || which.to_ns)
		return which;		/* brushed */
	if (t->mode == TUI_RESET)
		span = refresh + NSEC_PER_SEC;
	if (t->mode == TUI_DECAY) {
		which.decay_ns = refresh;
		which.now_ns = end;
	}
	if (span)
		which.from_ns = end > span ? end - span : 1;
	return which;
}

/* 0 or -errno, silent; *pp stays as it is then. */
static int make_profile(struct tui *t, struct profile **pp)
{
	const struct fold_options fold = { .by = t->by, .max_nodes = tree_limits.nodes,
					   .max_name_bytes = tree_limits.name_bytes,
					   .max_steps = tree_limits.steps,
					   .fold_idle = !t->opts->idle };
	const struct view turn = { .inverted = true, .keeps_levels = false };
	struct live_choice which = tui_choice(t);
	struct profile *p;
	int err = live_profile_choose(tui_live(t), t->event, &which, &fold, &p);

	if (!err && t->is_inverted)
		err = view_apply(&turn, &tree_limits, &p);
	if (err) {
		profile_free(p);
		return err;
	}
	*pp = p;
	return 0;
}

void tui_remake(struct tui *t)
{
	uint64_t begin_ns = now_ns(), first;
	struct profile *p = NULL;

	t->is_stale = false;
	if (!tui_live(t))
		return;
	if (!t->has_chosen_event)
		t->event = live_default_event(tui_live(t));
	if (!t->event)
		return;
	remember_event(t);
	if (make_profile(t, &p)) {
		tui_say(t, "not enough memory for this tree; the one before is shown");
		return;
	}
	replace_profile(t, p);
	live_profile_times(tui_live(t), &first, &t->shown_ns);
	t->has_news = false;
	t->made_ns = now_ns();
	if (!t->first_ns)
		t->first_ns = t->made_ns;
	t->made_in_ns = t->made_ns - begin_ns;
}

void tui_mark(struct tui *t)
{
	struct profile *p = NULL;

	if (t->mark) {
		profile_free(t->mark);
		t->mark = NULL;
		tui_say(t, "no mark any more");
		return;
	}
	if (make_profile(t, &p)) {
		tui_say(t, "not enough memory for a mark");
		return;
	}
	t->mark = p;
	t->mark_serial++;
	tui_say(t, "marked: from now on shares are compared with these");
}

uint32_t tui_marked(const struct tui *t, uint32_t node)
{
	bool is_whole;
	uint32_t at = t->mark ? find_again(t->profile, node, t->mark, &is_whole) : 0;

	return t->mark && is_whole ? at : NODE_NONE;
}

uint32_t tui_marked_child(const struct tui *t, uint32_t parent_then, uint32_t node)
{
	if (!t->mark || parent_then == NODE_NONE)
		return NODE_NONE;
	return same_child(t->mark, parent_then, t->profile, &t->profile->nodes[node]);
}

/* A share, and of how many samples it is. */
static double share_of(const struct profile *p, uint32_t node, double *samples)
{
	const struct node *root = &p->nodes[0];

	*samples = root->total_samples ? (double)root->total_samples : 1;
	if (node == NODE_NONE || !root->total)
		return 0;
	return (double)p->nodes[node].total / (double)root->total;
}

/*
 * Two binomial shares, as if they were alike: beyond CHANGE_ERRORS standard errors, since many
 * nodes are looked at. diff_stats.h does it better, but needs the samples.
 */
int tui_change(const struct tui *t, uint32_t node, uint32_t then)
{
	static const double least[CHANGE_STEPS] = { 0.003, 0.01, 0.05 };
	double n0, n1, now = share_of(t->profile, node, &n1);
	double before = share_of(t->mark, then, &n0), d = now - before;
	double both = (now * n1 + before * n0) / (n0 + n1);
	double error = diff_root(both > 0 && both < 1 ? both * (1 - both) * (1 / n0 + 1 / n1) : 0);
	double size = d < 0 ? -d : d;
	int step = 0;

	if (size <= CHANGE_ERRORS * error)
		return 0;
	while (step < CHANGE_STEPS && size >= least[step])
		step++;
	return d < 0 ? -step : step;
}

/*
 * A growing trace is shown each refresh time: sooner in the beginning, and less often if its tree
 * takes long to make.
 */
static bool is_due(const struct tui *t)
{
	uint64_t wait = (t->opts->refresh_ms ? t->opts->refresh_ms : 2000) * NSEC_PER_MSEC;

	if (t->is_stale || !t->profile)
		return true;
	if (!t->has_news || t->is_frozen)
		return false;
	if (now_ns() < t->first_ns + YOUNG_NS && wait > YOUNG_WAIT_NS)
		wait = YOUNG_WAIT_NS;
	if (wait < t->made_in_ns * SHARE)
		wait = t->made_in_ns * SHARE;
	return t->is_over || now_ns() >= t->made_ns + wait;
}

static bool is_over(const struct tui *t)
{
	const struct tui_source *s = t->source;

	return feed_has_ended(t->feed) || (s->is_over ? s->is_over(s->ctx) : !s->is_live);
}

/*
 * A whole file is read before the first picture, so that it is that of all of it. The tree is not
 * made for each part of it.
 */
int tui_state_update(struct tui *t)
{
	int rc = feed_take(t->feed, TAKE_NS);
	bool was_over = t->is_over;

	if (rc < 0)
		return rc;
	t->has_news |= rc > 0;
	follow_epoch(t);
	if (feed_is_behind(t->feed) && !t->source->is_live)
		return 0;
	if (!rc)
		t->is_over = is_over(t);
	if (!is_due(t))
		return t->is_over != was_over || t->is_unfinished;
	tui_remake(t);
	return 1;
}
