/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report for reading: facts, the functions that cost most, the call tree. It is as wide as the
 * terminal. For a file it is made for 100 columns, but no name is cut.
 *
 * In the tree, a node with one child that matters continues in the same column. "+" marks siblings,
 * and the bars lead up to the caller that they share.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/render/columns.h"
#include "formats/render/escape.h"
#include "formats/render/function_list.h"
#include "formats/render/renderer.h"
#include "formats/render/text_line.h"
#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/intern.h"
#include "src/base/plural.h"
#include "src/profile/profile.h"
#include "src/report/weight_text.h"

#define MIN_PERCENT 0.5
#define DEFAULT_TOP 15
#define OTHER_NUMBER_COLUMNS 26	/* columns of shares and samples in the table of functions */
#define NAME_COLUMNS 47		/* columns of a function's name there, if there is room */
#define RUN_ENDS 10	/* of a longer run without branches, this many at each end are shown */
#define WEIGHT_COLUMNS 20	/* at most; fits "123 G cycles" and "18,446,744" */
#define MAX_INDENT 48		/* in columns; deeper levels stay there, so that names have room */

extern const struct renderer renderer_text;

struct text {
	const struct profile *p;
	const struct render_opts *opts;
	FILE *out;
	uint32_t *rank;			/* of names in the alphabet */
	size_t width, binary_width, weight_width;
	struct text_line line;
};

/* A node of the tree that is still to be printed. */
struct turn {
	uint32_t node;
	uint32_t level;			/* number of bars and "+" before its name */
	bool is_sibling, is_last;	/* it has a "+"; it is the last one below its caller */
};

struct turns {
	struct turn *v;
	size_t nr, cap;
	bool *open;			/* by level: the bar goes on, as a sibling follows */
	size_t cap_open;
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static size_t put_cut(struct text *t, const char *s, size_t len, const char *suffix, size_t room)
{
	return text_line_put(&t->line, s, len, suffix, room, columns_put_cut);
}

static size_t put_name(struct text *t, uint32_t name, const char *suffix, size_t room)
{
	size_t len;
	const char *s = intern_get(t->p->names, name, &len);

	return text_line_put(&t->line, s, len, suffix, room,
			     t->opts->full_names ? columns_put_whole : columns_put_name);
}

/* The last part of a path. */
static void put_file(struct text *t, uint32_t path, size_t room)
{
	size_t len;
	const char *s = intern_get(t->p->names, path, &len), *slash = memrchr(s, '/', len);

	if (slash && slash + 1 < s + len) {
		len -= (size_t)(slash + 1 - s);
		s = slash + 1;
	}
	put_cut(t, s, len, "", room);
}

static const char *suffix_of(const struct text *t, uint8_t kind, uint8_t flags)
{
	if (kind != FRAME_KERNEL && kind != FRAME_BPF)
		return flags & NODE_INLINED ? INLINED_SUFFIX : "";
	return t->opts->kernel_suffix ? t->opts->kernel_suffix : "_[k]";
}

static void put_fact(struct text *t, const char *what, const char *value)
{
	if (!*value)
		return;
	fprintf(t->out, "%-9s ", what);
	put_cut(t, value, strlen(value), "", t->width - 10);
	putc('\n', t->out);
}

/* A line below a fact. */
static void put_row(struct text *t, const char *text)
{
	fprintf(t->out, "%-9s ", "");
	put_cut(t, text, strlen(text), "", t->width - 10);
	putc('\n', t->out);
}

/* A fact of several lines, which are broken at spaces. */
static void put_wrapped(struct text *t, const char *what, const char *value)
{
	size_t len;

	for (; *value; value += len + strspn(value + len, " ")) {
		len = strlen(value);
		if (len > t->width - 10) {
			const char *space = memrchr(value, ' ', t->width - 9);

			len = space && space > value ? (size_t)(space - value) : t->width - 10;
		}
		fprintf(t->out, "%-9s ", what);
		put_cut(t, value, len, "", t->width - 10);
		putc('\n', t->out);
		what = "";
	}
}

static void put_when(struct text *t)
{
	const struct profile_facts *f = &t->p->facts;
	time_t begin = (time_t)(f->begin_real_ns / NSEC_PER_SEC);
	char date[64], value[128];
	struct tm tm = { 0 };

	if (!f->begin_real_ns)
		return;
	localtime_r(&begin, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", &tm);
	snprintf(value, sizeof(value), "%s, %.3f s%s", date, (double)f->duration_ns / 1e9,
		 f->is_part ? "; the recording goes on in another file" : "");
	put_fact(t, "when", value);
}

/* How much of the event is shown, how much there is, and how much was lost. */
static void put_amount(struct text *t)
{
	const struct profile_facts *f = &t->p->facts;
	char value[320], n[WEIGHT_TEXT_MAX];
	size_t len;

	len = (size_t)snprintf(value, sizeof(value), "%.200s", f->amount);
	if (f->samples != f->samples_total)
		len += (size_t)snprintf(value + len, sizeof(value) - len, "; the filters left %s",
					count_text(f->samples, n));
	if (f->samples != f->samples_total)
		len += (size_t)snprintf(value + len, sizeof(value) - len, " of %s",
					weight_text_of(f->samples_total, "", f->noun, n));
	snprintf(value + len, sizeof(value) - len, "; %s lost%s", count_text(f->lost, n),
		 f->lost && f->has_other_events ? ", of all events together" : "");
	put_fact(t, "samples", value);
}

/* Where the time went, first of all. Its lines are not wrapped, as they are rows of a table. */
static void put_answer(struct text *t)
{
	const struct answer_lines *a = &t->p->facts.answer;

	for (size_t i = 0; i < a->nr; i++) {
		if (*a->what[i])
			put_wrapped(t, a->what[i], a->text[i]);
		else
			put_row(t, a->text[i]);
	}
}

static void put_facts(struct text *t)
{
	const struct profile_facts *f = &t->p->facts;
	char value[160];

	put_fact(t, "title", t->opts->title && *t->opts->title ? t->opts->title : f->title);
	put_answer(t);
	put_fact(t, "host", f->host);
	put_fact(t, "kernel", f->kernel);
	put_fact(t, "command", f->argv);
	put_wrapped(t, "shown", f->shown);
	put_when(t);
	put_amount(t);
	put_wrapped(t, "stacks", f->stacks);
	put_wrapped(t, "not whole", f->not_whole);
	snprintf(value, sizeof(value), "%" PRIu64 ", %" PRIu64 " of them without a name", f->frames,
		 f->frames_unnamed);
	put_fact(t, "frames", value);
	put_wrapped(t, "names", f->names ? f->names : "");
	put_wrapped(t, "seen", f->scans);
	put_wrapped(t, "hidden", f->hidden ? f->hidden : "");
	put_wrapped(t, "losses", f->warning);
}

/* The columns before the name of a function in the table. */
static size_t number_columns(const struct text *t)
{
	return OTHER_NUMBER_COLUMNS + t->weight_width;
}

/*
 * The columns for names of functions: as many as the longest needs, so that the files stand close
 * to them.
 */
static size_t name_columns(const struct text *t, const struct function_list *list, size_t nr)
{
	size_t room = t->width - number_columns(t) - t->binary_width - 2, longest = NAME_COLUMNS;

	for (size_t i = 0; t->opts->columns && i < nr && longest < room; i++) {
		size_t len;
		const char *s = intern_get(t->p->names, list->v[i].name, &len);

		len = t->opts->full_names ? columns_of(s, len) : columns_of_name(s, len);
		len += strlen(suffix_of(t, list->v[i].kind, 0));
		longest = len > longest ? len : longest;
	}
	return longest < room ? longest : room;
}

/* The weight of a function, right aligned. The unit is foreign, and a long one is cut. */
static void put_weight(struct text *t, uint64_t weight)
{
	char buf[WEIGHT_TEXT_MAX];
	const char *s = weight_text(weight, t->p->facts.unit, buf);
	size_t len = strlen(s);

	fprintf(t->out, "%*s", len < t->weight_width ? (int)(t->weight_width - len) : 0, "");
	put_cut(t, s, len, "", t->weight_width);
}

/* Makes the column of weights as wide as the widest of them. */
static void fit_weights(struct text *t, const struct function_list *list, size_t nr)
{
	char buf[WEIGHT_TEXT_MAX];

	t->weight_width = strlen("self");
	for (size_t i = 0; i < nr; i++) {
		size_t len = strlen(weight_text(list->v[i].self, t->p->facts.unit, buf));

		if (len > t->weight_width)
			t->weight_width = len < WEIGHT_COLUMNS ? len : WEIGHT_COLUMNS;
	}
}

static void put_function(struct text *t, const struct function_cost *f, uint64_t all, size_t room)
{
	size_t used;

	fprintf(t->out, "%6.2f  %6.2f  ", percent(f->self, all), percent(f->total, all));
	put_weight(t, f->self);
	fprintf(t->out, " %7" PRIu64 "  ", f->self_samples);
	used = put_name(t, f->name, suffix_of(t, f->kind, 0),
			f->binary ? room : t->width - number_columns(t));
	if (f->binary && !t->opts->view.by.binaries) {
		fprintf(t->out, "%*s  ", used < room ? (int)(room - used) : 0, "");
		put_file(t, f->binary, t->binary_width);
	}
	putc('\n', t->out);
}

/* Functions that have less than --min-percent with all that they call are no rows. */
static size_t keep_large(const struct text *t, struct function_list *list)
{
	double least = (double)t->p->nodes[0].total * t->opts->min_percent / 100;
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		if ((double)list->v[i].total >= least)
			list->v[nr++] = list->v[i];
	return nr;
}

static int put_top(struct text *t)
{
	struct function_list list;
	size_t nr = t->opts->top ? t->opts->top : DEFAULT_TOP;
	uint64_t all = t->p->nodes[0].total;
	int err = function_list_init(&list, t->p);
	size_t room, large;

	if (err)
		return err;
	large = keep_large(t, &list);
	if (nr > large)
		nr = large;
	fit_weights(t, &list, nr);
	room = name_columns(t, &list, nr);
	fprintf(t->out, "\n self%%  total%%  %*s samples  %s (%zu of %zu)\n",
		(int)t->weight_width, "self", t->opts->view.by.binaries ? "binary" : "function",
		nr, list.nr);
	for (size_t i = 0; i < nr; i++)
		put_function(t, &list.v[i], all, room);
	function_list_release(&list);
	return 0;
}

static uint64_t smallest_shown(const struct text *t)
{
	double limit = t->opts->min_percent > 0 ? t->opts->min_percent : MIN_PERCENT;
	uint64_t all = t->p->nodes[0].total;
	double weight = (double)all * limit / 100;

	if (weight >= (double)all)
		return all;
	return weight > 1 ? (uint64_t)weight : 1;
}

static int by_total(const void *x, const void *y, void *text)
{
	const struct text *t = text;
	const struct turn *a = x, *b = y;
	const struct node *m = &t->p->nodes[a->node], *n = &t->p->nodes[b->node];

	if (m->total != n->total)
		return m->total < n->total ? -1 : 1;	/* the heaviest last: it is printed first */
	if (m->name != n->name)
		return t->rank[n->name] < t->rank[m->name] ? -1 : 1;
	return a->node < b->node ? 1 : -1;
}

/*
 * Pushes the children of a node, so that the heaviest is printed first; of equal ones, the first in
 * the alphabet.
 */
static int push_children(struct text *t, struct turns *turns, const struct turn *up, uint64_t least)
{
	const struct profile *p = t->p;
	size_t first = turns->nr;
	bool lonely;

	for (uint32_t c = p->nodes[up->node].first_child; c != NODE_NONE;
	     c = p->nodes[c].next_sibling) {
		struct turn *turn;

		if (p->nodes[c].total < least)
			continue;
		turn = array_push(&turns->v, &turns->nr, &turns->cap);
		if (!turn)
			return -ENOMEM;
		turn->node = c;
	}
	if (turns->nr == first)
		return 0;
	lonely = turns->nr == first + 1;
	qsort_r(turns->v + first, turns->nr - first, sizeof(*turns->v), by_total, t);
	for (size_t i = first; i < turns->nr; i++) {
		turns->v[i].level = up->level + !lonely;
		turns->v[i].is_sibling = !lonely;
		turns->v[i].is_last = i == first;
	}
	return array_reserve(&turns->open, &turns->cap_open, (size_t)up->level + 2) ? -ENOMEM : 0;
}

/* Writes the bars that lead up to a node. Returns the number of columns. */
static size_t put_bars(struct text *t, const struct turns *turns, const struct turn *turn)
{
	size_t indent = 0;

	for (uint32_t level = 1; level <= turn->level && indent < MAX_INDENT; level++, indent += 2)
		fputs(level == turn->level && turn->is_sibling ? "+ "
		      : turns->open[level]		       ? "| "
							       : "  ",
		      t->out);
	return indent;
}

static void put_node(struct text *t, struct turns *turns, const struct turn *turn)
{
	const struct node *n = &t->p->nodes[turn->node];
	uint64_t all = t->p->nodes[0].total;
	size_t indent;

	if (turn->is_sibling)
		turns->open[turn->level] = !turn->is_last;
	fprintf(t->out, "%7.2f  %7.2f  ", percent(n->total, all), percent(n->self, all));
	indent = put_bars(t, turns, turn);
	put_name(t, n->name, suffix_of(t, n->kind, n->flags), t->width - 18 - indent);
	putc('\n', t->out);
}

/* A chain of calls without a branch worth showing. */
struct run {
	uint32_t at, length;		/* nodes: where we are in it, all */
	uint32_t elided;		/* nodes left out just before this one */
};

/* The child of n that is worth showing, if there is exactly one; else NODE_NONE. */
static uint32_t only_child(const struct profile *p, uint32_t n, uint64_t least)
{
	uint32_t found = NODE_NONE;

	for (uint32_t c = p->nodes[n].first_child; c != NODE_NONE; c = p->nodes[c].next_sibling) {
		if (p->nodes[c].total < least)
			continue;
		if (found != NODE_NONE)
			return NODE_NONE;
		found = c;
	}
	return found;
}

/*
 * Moves on to the node of turn. True if it is to be left out, because it stands in the middle of a
 * long run and did little itself.
 */
static bool run_next(struct run *run, const struct text *t, const struct turn *turn, uint64_t least)
{
	run->at++;
	if (turn->is_sibling || !turn->node) {
		*run = (struct run){ .length = 1 };
		for (uint32_t n = turn->node; (n = only_child(t->p, n, least)) != NODE_NONE;)
			run->length++;
	}
	return run->at >= RUN_ENDS && run->at + RUN_ENDS < run->length &&
	       t->p->nodes[turn->node].self < least;
}

static void put_elided(struct text *t, struct turns *turns, const struct turn *turn,
		       struct run *run)
{
	if (!run->elided)
		return;
	fprintf(t->out, "%18s", "");
	put_bars(t, turns, turn);
	fprintf(t->out, "... %u %s\n", run->elided,
		plural(run->elided, "frame", "frames"));
	run->elided = 0;
}

/* The weight that 100 % stand for. */
static void put_all(struct text *t)
{
	const struct profile_facts *f = &t->p->facts;
	char buf[WEIGHT_TEXT_MAX];
	const char *s = weight_text_of(t->p->nodes[0].total, f->unit, f->thing, buf);

	put_cut(t, s, strlen(s), "", t->width - 40);
}

static int put_tree(struct text *t)
{
	struct turn turn = { .node = 0 };
	struct turns turns = { 0 };
	struct run run = { 0 };
	uint64_t least = smallest_shown(t);
	int err = array_reserve(&turns.open, &turns.cap_open, 1) ? -ENOMEM : 0;

	fprintf(t->out, "\n total%%    self%%   call tree (from %.1f %% of ",
		t->opts->min_percent > 0 ? t->opts->min_percent : MIN_PERCENT);
	put_all(t);
	fputs(")\n", t->out);
	while (!err) {
		if (run_next(&run, t, &turn, least)) {
			run.elided++;
		} else {
			put_elided(t, &turns, &turn, &run);
			put_node(t, &turns, &turn);
		}
		err = push_children(t, &turns, &turn, least);
		if (err || !turns.nr)
			break;
		turn = turns.v[--turns.nr];
		err = ferror(t->out) ? -errno : 0;
	}
	free(turns.v);
	free(turns.open);
	return err;
}

static int text_render(const struct profile *prof, const struct render_opts *opts, FILE *out)
{
	struct text t = { .p = prof, .opts = opts, .out = out };
	int err = text_line_open(&t.line, opts, out);

	t.width = text_line_width(opts);
	t.binary_width = t.width < TEXT_WIDTH ? 16 : 22;
	t.rank = profile_rank_names(prof);
	if (!t.rank)
		err = -ENOMEM;
	if (!err)
		put_facts(&t);
	if (!err && prof->nodes[0].total)
		err = put_top(&t);
	if (!err && prof->nodes[0].total)
		err = put_tree(&t);
	if (!err && ferror(out))
		err = -errno;
	text_line_close(&t.line);
	free(t.rank);
	return err;
}

static bool made(const char *head)
{
	return !strncmp(head, "title     ", 10);
}

const struct renderer renderer_text = {
	.name = "text", .suffixes = ".txt", .is_for_reading = true, .render = text_render,
	.made = made,
	.help = "facts, the functions that cost most and the call tree, for reading (default)",
};
