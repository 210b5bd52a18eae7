/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/tree_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/renderer.h"
#include "src/base/fail.h"
#include "src/base/intern.h"
#include "src/profile/answer.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/report_text.h"
#include "src/report/trace_events.h"
#include "src/report/weight_text.h"

static bool shows_wall_time(const struct report *rep)
{
	const struct trace_event *e = report_event(rep);

	return e && event_is_wall_time(e->kind);
}

static bool chooses_threads(const struct report *rep)
{
	const struct query *q = report_query(rep);

	return q && (query_chooses_threads(q) || q->states || q->names.nr);
}

static bool chooses_stacks(const struct report *rep)
{
	const struct query *q = report_query(rep);

	return q && (q->states || q->activities || q->names.nr);
}

static bool is_for_people(const struct renderer *r)
{
	return r->is_picture || r->is_for_reading;
}

struct tree tree_choose(const struct report *rep, const struct renderer *r,
			const struct render_opts *opts)
{
	static const struct fold_by cpu = { .v = { FOLD_BY_PROGRAM, FOLD_BY_COMM }, .nr = 2 },
				    wall = { .v = { FOLD_BY_STATE, FOLD_BY_PROGRAM, FOLD_BY_COMM },
					     .nr = 3 },
				    names = { .v = { FOLD_BY_COMM }, .nr = 1 };
	bool for_people = is_for_people(r), is_wall = shows_wall_time(rep);
	struct tree t = { .by = opts->view.by, .for_people = for_people,
			  .by_line = r->by_line };

	if (!t.by.nr)
		t.by = !for_people ? names : is_wall ? wall : cpu;
	t.folds_idle = for_people && !opts->idle && !chooses_stacks(rep) &&
		       !opts->view.turn.callers && !opts->view.turn.callees;
	t.hides_quiet = for_people && is_wall && !opts->all_threads && !chooses_threads(rep);
	return t;
}

/* Keeps a text in the tree's names; "" without memory. */
static const char *keep(struct profile *p, const char *s)
{
	uint32_t id = intern_str(p->names, s);

	return id == IX_NONE ? "" : intern_get(p->names, id, NULL);
}

/* Says that this is not the whole tree, or not the usual one. */
static void tell_view(const struct report *rep, const struct view *v, struct profile *p)
{
	struct report_amount amount = { report_event(rep), p->facts.samples, p->facts.weight,
					p->facts.nr_scans };
	const char *part = v->callers ? v->callers : v->callees;
	char text[768], much[WEIGHT_TEXT_MAX];

	if (part) {
		snprintf(text, sizeof(text), "%s %.200s, %s of: %.400s",
			 v->callers ? "callers of" : "callees of", part,
			 weight_text_of(p->facts.weight, p->facts.unit, p->facts.thing, much),
			 p->facts.title);
		p->facts.title = keep(p, text);
		report_amount_text(&amount, text, sizeof(text));
		p->facts.amount = keep(p, text);
	} else {
		snprintf(text, sizeof(text), "%.600s, inverted", p->facts.title);
		p->facts.title = keep(p, text);
	}
}

static int turn(struct report *rep, const struct render_opts *opts, struct tree *t)
{
	struct view view = opts->view.turn;
	struct report_limits limits;
	int err;

	if (view_is_plain(&view))
		return 0;
	view.keeps_levels = opts->view.by.nr;
	view.by_line = t->by_line;
	report_limits(rep, &limits);
	err = view_apply(&view, &limits, &t->profile);
	if (!err)
		tell_view(rep, &view, t->profile);
	return err == -ENOMEM ? fail(err, "%s", report_path(rep)) : err;
}

/* Keeps the lines of the answer with the names of the tree, as all other facts. */
static int put_answer(struct report *rep, struct answer *a, struct profile *p)
{
	struct answer_lines *lines = &p->facts.answer;
	int err = answer_add_scans(a, rep);

	if (!err)
		err = answer_lines(a, rep, lines);
	for (size_t i = 0; i < lines->nr && !err; i++)
		lines->text[i] = keep(p, lines->text[i]);
	return err;
}

static int fold(struct report *rep, const struct render_opts *opts, struct tree *t,
		struct answer *answer)
{
	struct fold_options fold = { .style = opts->style, .by = t->by, .answer = answer,
				     .fold_idle = t->folds_idle };
	int err;

	fold.style.by_line = t->by_line;
	err = fold_report(rep, &fold, &t->profile);

	if (!err && answer) {
		err = put_answer(rep, answer, t->profile);
		if (err == -ENOMEM)
			fail(err, "%s", report_path(rep));
	}
	return err ? err : turn(rep, opts, t);
}

/* Only people read the first answer. */
static int make(struct report *rep, const struct render_opts *opts, struct tree *t)
{
	struct answer *answer = NULL;
	int err = t->for_people ? answer_new(&answer) : 0;

	if (!err)
		err = report_hide_quiet(rep, t->hides_quiet);
	if (err)
		fail(err, "%s", report_path(rep));
	if (!err)
		err = fold(rep, opts, t, answer);
	report_hide_quiet(rep, false);
	answer_free(answer);
	return err;
}

int trees_get(struct trees *t, struct report *rep, const struct renderer *r,
	      const struct render_opts *opts, const struct profile **p)
{
	struct tree tree = tree_choose(rep, r, opts);
	int err;

	for (size_t i = 0; i < t->nr; i++) {
		if (t->v[i].hides_quiet != tree.hides_quiet ||
		    t->v[i].folds_idle != tree.folds_idle ||
		    t->v[i].for_people != tree.for_people || t->v[i].by_line != tree.by_line ||
		    memcmp(&t->v[i].by, &tree.by, sizeof(tree.by)))
			continue;
		*p = t->v[i].profile;
		return 0;
	}
	err = make(rep, opts, &tree);
	if (err) {
		profile_free(tree.profile);
		return err;
	}
	t->v[t->nr++] = tree;
	*p = tree.profile;
	return 0;
}

void trees_release(struct trees *t)
{
	for (size_t i = 0; i < t->nr; i++)
		profile_free(t->v[i].profile);
	t->nr = 0;
}
