/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two recordings compared, for reading: what was compared and how, the functions and the part of
 * the call tree that differ by more than chance, the largest difference first. opts->all shows what
 * does not differ, too, with its change in parentheses.
 *
 * In the tree, a node with one child that is shown continues in the same column. "+" marks
 * siblings, and the bars lead up to the caller that they share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/columns.h"
#include "formats/render/diff_renderers.h"
#include "formats/render/renderer.h"
#include "formats/render/text_line.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/base/plural.h"
#include "src/profile/profile.h"
#include "src/profile/profile_delta.h"

#define MIN_PERCENT 0.5		/* of the whole, for what does not differ */
#define DEFAULT_TOP 15
#define MAX_INDENT 48
#define MAX_NUMBER 22
#define NUMBER_COLUMNS 56	/* of the numbers before a name */

struct text {
	const struct profile *p;
	const struct profile_delta *d;
	const struct render_opts *opts;
	FILE *out;
	size_t width;
	struct text_line line;
	bool *is_shown;			/* by node */
};

struct turn {
	uint32_t node, level;
	bool is_sibling, is_last;
};

struct turns {
	struct turn *v;
	size_t nr, cap;
	bool *open;			/* by level: a sibling follows, so the bar goes on */
	size_t cap_open;
};

static bool differs(const struct delta *d)
{
	return d->verdict == DELTA_MORE || d->verdict == DELTA_LESS;
}

/* ---- Head ---- */

static void put_fact(struct text *t, const char *name, const char *text)
{
	if (*text)
		text_line_fact(&t->line, name, text, t->width);
}

/* Those that were tested: functions are not where callers are innermost. */
static void put_result(struct text *t)
{
	const struct profile_delta *d = t->d;
	char text[256], functions[64] = "";

	if (d->functions_tested)
		snprintf(functions, sizeof(functions), "%zu of %zu %s, ", d->functions_differing,
			 d->functions_tested,
			 plural(d->functions_tested, "function", "functions"));
	if (!d->tested)
		snprintf(text, sizeof(text), "nothing: too few samples to compare");
	else
		snprintf(text, sizeof(text), "%s%s%zu of %zu %s in the call tree",
			 d->differing || d->functions_differing ? ""
								: "no significant difference: ",
			 functions, d->differing, d->tested, plural(d->tested, "place", "places"));
	put_fact(t, "differ", text);
}

static void put_head(struct text *t)
{
	const struct profile_facts *f = &t->p->facts;

	put_fact(t, "title", t->opts->title && *t->opts->title ? t->opts->title : f->title);
	put_fact(t, "before", t->d->before);
	put_fact(t, "after", t->d->after);
	put_fact(t, "host", f->host);
	put_fact(t, "shown", f->shown);
	put_fact(t, "scaled", t->d->scaled);
	put_fact(t, "method", t->d->method);
	put_fact(t, "losses", f->warning);
	if (f->incomplete)
		put_fact(t, *f->warning ? "" : "losses", "a recording was cut short or is damaged");
	put_result(t);
}

/* ---- Rows ---- */

/* At the right of its column. The name of a unit is foreign and may be long: its middle is cut. */
static void put_number(struct text *t, const char *text, size_t width)
{
	size_t len = strlen(text), used = columns_of(text, len);

	fprintf(t->out, "%*s", used < width ? (int)(width - used) : 0, "");
	columns_put_cut(t->out, text, len, MAX_NUMBER);
	putc(' ', t->out);
}

/* What does not differ by more than chance has its change in parentheses. */
static void put_numbers(struct text *t, const struct delta *d)
{
	char before[WEIGHT_TEXT_MAX], after[WEIGHT_TEXT_MAX], error[WEIGHT_TEXT_MAX];
	char change[WEIGHT_TEXT_MAX + 1], shown[WEIGHT_TEXT_MAX + 4], relative[WEIGHT_TEXT_MAX];

	delta_change_text(t->p, d, change);
	snprintf(shown, sizeof(shown), differs(d) ? "%s" : "(%s)", change);
	put_number(t, delta_weight_text(t->p, d->before, before), 10);
	put_number(t, delta_weight_text(t->p, d->after, after), 10);
	put_number(t, shown, 11);
	put_number(t, d->verdict == DELTA_FEW ? "" : delta_weight_text(t->p, d->error, error), 9);
	put_number(t, differs(d) ? delta_relative_text(d, relative) : "", 10);
	putc(' ', t->out);
}

static void put_columns(struct text *t, const char *what, size_t nr, size_t of)
{
	const char *unit = delta_unit_text(t->p);

	fprintf(t->out, "\n%10s %10s %11s %9s %10s  %s (%zu of %zu)%s%s\n", "before", "after",
		"change", "+- 95 %", "relative", what, nr, of, *unit ? ", in " : "", unit);
}

static const char *suffix_of(const struct text *t, const struct node *n)
{
	if (n->kind == FRAME_KERNEL || n->kind == FRAME_BPF)
		return t->opts->kernel_suffix ? t->opts->kernel_suffix : "_[k]";
	return n->flags & NODE_INLINED ? INLINED_SUFFIX : "";
}

static void put_name(struct text *t, const struct node *n, size_t indent)
{
	size_t len, room = t->width - NUMBER_COLUMNS - indent;
	const char *s = intern_get(t->p->names, n->name, &len);

	text_line_put(&t->line, s, len, suffix_of(t, n), room < 8 ? 8 : room,
		      t->opts->full_names ? columns_put_whole : columns_put_name);
	fputc('\n', t->out);
}

static size_t shown_functions(const struct text *t)
{
	size_t most = t->opts->top ? t->opts->top : DEFAULT_TOP, nr = 0;

	if (t->opts->all)
		return t->d->nr_functions < most ? t->d->nr_functions : most;
	for (size_t i = 0; i < t->d->nr_functions; i++)
		nr += differs(&t->d->functions[i].self);
	return nr < most ? nr : most;
}

static void put_functions(struct text *t)
{
	size_t nr = shown_functions(t);

	if (!nr)
		return;
	put_columns(t, "function itself", nr, t->d->nr_functions);
	for (size_t i = 0; i < t->d->nr_functions && nr; i++) {
		const struct function_delta *f = &t->d->functions[i];

		if (!t->opts->all && !differs(&f->self))
			continue;
		put_numbers(t, &f->self);
		put_name(t, &t->p->nodes[f->node], 0);
		nr--;
	}
}

/* ---- Tree ---- */

static uint64_t size_of(const struct delta *d)
{
	return d->after > d->before ? d->after - d->before : d->before - d->after;
}

/* The largest difference last: it is printed first. */
static int by_size(const void *x, const void *y, void *deltas)
{
	const struct profile_delta *d = deltas;
	const struct turn *a = x, *b = y;
	uint64_t s = size_of(&d->nodes[a->node].total), t = size_of(&d->nodes[b->node].total);

	return s != t ? (s > t) - (s < t) : (a->node < b->node) - (a->node > b->node);
}

static bool is_large(const struct text *t, const struct delta *d)
{
	double percent = t->opts->min_percent > 0 ? t->opts->min_percent : MIN_PERCENT;
	const struct delta *all = &t->d->nodes[0].total;

	return (double)d->before + (double)d->after >=
	       percent / 100 * ((double)all->before + (double)all->after);
}

/* What differs, and the callers of that. Returns the number of nodes that differ. */
static size_t choose_nodes(struct text *t)
{
	const struct profile *p = t->p;
	size_t nr = 0;

	for (size_t i = p->nr_nodes; i-- > 0;) {
		const struct delta *d = &t->d->nodes[i].total;

		nr += differs(d);
		t->is_shown[i] |= differs(d) || (t->opts->all && is_large(t, d));
		if (t->is_shown[i] && p->nodes[i].parent != NODE_NONE)
			t->is_shown[p->nodes[i].parent] = true;
	}
	return nr;
}

static int push_children(struct text *t, struct turns *turns, const struct turn *up)
{
	const struct node *nodes = t->p->nodes;
	size_t first = turns->nr;
	bool lonely;

	for (uint32_t c = nodes[up->node].first_child; c != NODE_NONE; c = nodes[c].next_sibling) {
		struct turn *turn;

		if (!t->is_shown[c])
			continue;
		turn = array_push(&turns->v, &turns->nr, &turns->cap);
		if (!turn)
			return -ENOMEM;
		turn->node = c;
	}
	if (turns->nr == first)
		return 0;
	lonely = turns->nr == first + 1;
	qsort_r(turns->v + first, turns->nr - first, sizeof(*turns->v), by_size, (void *)t->d);
	for (size_t i = first; i < turns->nr; i++) {
		turns->v[i].level = up->level + !lonely;
		turns->v[i].is_sibling = !lonely;
		turns->v[i].is_last = i == first;
	}
	return array_reserve(&turns->open, &turns->cap_open, (size_t)up->level + 2) ? -ENOMEM : 0;
}

static void put_node(struct text *t, struct turns *turns, const struct turn *turn)
{
	size_t indent = 0;

	if (turn->is_sibling)
		turns->open[turn->level] = !turn->is_last;
	put_numbers(t, &t->d->nodes[turn->node].total);
	for (uint32_t level = 1; level <= turn->level && indent < MAX_INDENT; level++, indent += 2)
		fputs(level == turn->level && turn->is_sibling ? "+ "
		      : turns->open[level]		       ? "| "
							       : "  ",
		      t->out);
	put_name(t, &t->p->nodes[turn->node], indent);
}

static int put_tree(struct text *t)
{
	struct turn turn = { .node = 0 };
	struct turns turns = { .v = NULL };
	size_t nr = choose_nodes(t);
	int err = array_reserve(&turns.open, &turns.cap_open, 1) ? -ENOMEM : 0;

	if (!err && t->is_shown[0])
		put_columns(t, "call tree", nr, t->p->nr_nodes);
	while (!err && t->is_shown[0]) {
		put_node(t, &turns, &turn);
		err = push_children(t, &turns, &turn);
		if (err || !turns.nr)
			break;
		turn = turns.v[--turns.nr];
		err = ferror(t->out) ? -errno : 0;
	}
	free(turns.v);
	free(turns.open);
	return err;
}

static int diff_text_render(const struct profile *prof, const struct render_opts *opts, FILE *out)
{
	struct text t = { .p = prof, .d = prof->deltas, .opts = opts, .out = out };
	int err = text_line_open(&t.line, opts, out);

	t.width = text_line_width(opts);
	t.is_shown = calloc(prof->nr_nodes, sizeof(*t.is_shown));
	if (!t.is_shown)
		err = -ENOMEM;
	if (!err) {
		put_head(&t);
		put_functions(&t);
		err = put_tree(&t);
	}
	if (!err && ferror(out))
		err = -errno;
	text_line_close(&t.line);
	free(t.is_shown);
	return err;
}

/* Its earlier outputs are known by renderer_text, too: both begin with the title. */
static bool made(const char *head)
{
	return !strncmp(head, "title     ", 10);
}

const struct renderer diff_renderer_text = {
	.name = "text", .suffixes = ".txt", .is_for_reading = true, .render = diff_text_render,
	.made = made,
	.help = "what differs by more than chance: functions and the call tree (default)",
};
