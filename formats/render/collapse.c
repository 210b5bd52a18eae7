/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: "comm;root;...;leaf COUNT", one line per distinct stack, sorted as LC_ALL=C sort
 * does. COUNT is the number of samples if the event is a clock: other tools expect that, and all
 * samples of such an event weigh the same. Where the rate was lowered at times, one that was taken
 * meanwhile counts as all for which it stands. COUNT of an event whose samples last (off-cpu) is in
 * microseconds, as it is in folded stacks of bcc's offcputime. For any other unit COUNT is the
 * weight: page faults, cycles, bytes.
 *
 * Stacks that look equal must become one line, even if they are several nodes (two binaries with a
 * function of the same name). So the tree is built once more, from labels. Its lines are sorted
 * without writing them into memory, because the lines of a deep tree would fill it.
 *
 * A line has two COUNTs where two recordings are compared: before, which is scaled as the
 * profile_delta says, and after. So difffolded.pl writes it, and flamegraph.pl and inferno read it.
 *
 * Below one parent each child is up to two items: the line that ends with its label, "b 12", and
 * all lines that go on behind it, "b;". Where one of these strings comes in the alphabet depends on
 * labels alone, so they are ranked once, and siblings are sorted by rank. Only where "b " begins
 * another label ("b x;", beside "b 12") does the number decide, and only from there on need the
 * strings be looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/frame_marks.h"
#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/profile/profile_delta.h"
#include "src/profile/tree_builder.h"

extern const struct renderer renderer_collapse;

struct labels {
	struct tree_builder tree;	/* of labels; its weights are the COUNTs */
	uint32_t *of_name[FRAME_MARKS];	/* by name: its label with this mark plus 1 */
	FILE *out;			/* writes into text */
	char *text;
	size_t size;
	uint8_t marks;			/* frame_marks.h */
	const char *kernel_suffix;
};

static int labels_open(struct labels *l, const struct render_opts *opts)
{
	int err;

	memset(l, 0, sizeof(*l));
	l->marks = opts->marks;
	l->kernel_suffix = opts->kernel_suffix ? opts->kernel_suffix
					       : frame_mark_text(MARK_KERNEL);
	err = tree_builder_init(&l->tree);
	l->tree.max_depth = UINT16_MAX;		/* the labelled tree was limited in depth already */
	l->tree.max_nodes = UINT32_MAX / 4;
	l->out = err ? NULL : open_memstream(&l->text, &l->size);
	return l->out ? 0 : -ENOMEM;
}

static void labels_close(struct labels *l)
{
	if (l->out)
		fclose(l->out);
	for (int i = 0; i < FRAME_MARKS; i++)
		free(l->of_name[i]);
	free(l->text);
	tree_builder_release(&l->tree);
}

static uint32_t make_label(struct labels *l, const char *name, size_t len, enum frame_mark mark)
{
	const char *suffix = mark == MARK_KERNEL ? l->kernel_suffix : frame_mark_text(mark);

	rewind(l->out);
	escape_folded(l->out, name, len);
	escape_folded(l->out, suffix, strlen(suffix));
	len = (size_t)ftello(l->out);
	if (fflush(l->out))
		l->tree.failed = true;
	return tree_builder_name(&l->tree, l->text, len);
}

static uint32_t label_of(struct labels *l, const struct profile *p, const struct node *n)
{
	enum frame_mark mark = frame_mark(n, l->marks);
	uint32_t *known = &l->of_name[mark][n->name];
	size_t len;
	const char *name = intern_get(p->names, n->name, &len);

	if (!*known)
		*known = make_label(l, name, len, mark) + 1;
	return *known - 1;
}

static uint64_t count_of(const struct profile *p, uint64_t weight, uint64_t samples)
{
	if (strcmp(p->facts.unit, "ns"))
		return weight;
	if (p->facts.has_lengths)
		return weight / 1000 + (weight % 1000 >= 500);
	return p->facts.period ? weight / p->facts.period : samples;
}

/* In the tree of labels the weight is a COUNT, and the number of samples is the one before. */
static void add_counts(struct labels *l, const struct profile *p, size_t node, uint32_t place)
{
	const struct node *n = &p->nodes[node];
	const struct node_delta *d = p->deltas ? &p->deltas->nodes[node] : NULL;

	if (d)
		tree_builder_add(&l->tree, place,
				 count_of(p, d->after_self, d->after_self_samples),
				 count_of(p, d->before_self, d->before_self_samples));
	else
		tree_builder_add(&l->tree, place, count_of(p, n->self, n->self_samples), 0);
}

/* Nodes come after their parents, so the parent's place in the new tree is known. */
static struct profile *label_tree(struct labels *l, const struct profile *p)
{
	uint32_t *place = calloc(p->nr_nodes, sizeof(*place));

	for (int i = 0; i < FRAME_MARKS; i++) {
		l->of_name[i] = calloc(intern_count(p->names), sizeof(*l->of_name[i]));
		l->tree.failed |= !l->of_name[i];
	}
	if (!place || l->tree.failed) {
		free(place);
		return NULL;
	}
	for (size_t i = 1; i < p->nr_nodes && !l->tree.failed; i++) {
		const struct node *n = &p->nodes[i];
		struct node key = { .name = label_of(l, p, n) };

		place[i] = tree_builder_child(&l->tree, place[n->parent], &key);
		add_counts(l, p, i, place[i]);
	}
	free(place);
	return tree_builder_take(&l->tree);
}

/* ---- items ---- */

/* A label is "label " (the line that ends with it) or "label;" (those that go on). */
enum { ITEM_LINE, ITEM_MORE, ITEMS };

struct item {
	uint32_t node;
	uint32_t rank;
	bool is_line;
};

struct writing {
	const struct profile *p;
	FILE *out;
	uint32_t *rank;			/* by ITEMS * label + ITEM_...: place in the alphabet */
	uint32_t *last;			/* by rank of a line: rank of the last item it begins */
	struct item *items;		/* those that are still to be written, the next one last */
	size_t nr, cap;
	uint32_t *path;			/* by depth: nodes down to the current one */
	size_t cap_path;
	bool is_pair;			/* two COUNTs */
};

static const char *item_text(const struct writing *w, uint32_t id, size_t *len)
{
	return intern_get(w->p->names, id / ITEMS, len);
}

static char item_tail(uint32_t id)
{
	return id % ITEMS == ITEM_LINE ? ' ' : ';';
}

/* Compares label and tail of two items, each as one string. */
static int by_string(const void *x, const void *y, void *writing)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	size_t la, lb;
	const char *s = item_text(writing, a, &la), *t = item_text(writing, b, &lb);
	int order = memcmp(s, t, la < lb ? la : lb);

	if (order)
		return order;
	if (la == lb)
		return (int)item_tail(a) - (int)item_tail(b);
	order = la < lb ? item_tail(a) - (int)(unsigned char)t[la]
			: (int)(unsigned char)s[lb] - item_tail(b);
	return order ? order : la < lb ? -1 : 1;
}

/* True if "label " of a line begins the string of another item. */
static bool begins(const struct writing *w, uint32_t line, uint32_t id)
{
	size_t len, other;
	const char *s = item_text(w, line, &len), *t = item_text(w, id, &other);

	return other > len && t[len] == ' ' && !memcmp(s, t, len);
}

/*
 * Sets .last: items that a line begins stand right behind it. open: the lines that may begin the
 * next item, each begun by the one before.
 */
static void find_last(struct writing *w, const uint32_t *order, uint32_t nr, uint32_t *open)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < nr; i++) {
		while (depth && !begins(w, order[open[depth - 1]], order[i]))
			w->last[open[--depth]] = i - 1;
		w->last[i] = i;
		if (order[i] % ITEMS == ITEM_LINE)
			open[depth++] = i;
	}
	while (depth)
		w->last[open[--depth]] = nr - 1;
}

static int rank_items(struct writing *w)
{
	uint32_t nr = ITEMS * intern_count(w->p->names);
	uint32_t *order = malloc(nr * sizeof(*order)), *open = malloc(nr * sizeof(*open));
	int err = -ENOMEM;

	w->rank = malloc(nr * sizeof(*w->rank));
	w->last = malloc(nr * sizeof(*w->last));
	if (order && open && w->rank && w->last) {
		for (uint32_t i = 0; i < nr; i++)
			order[i] = i;
		qsort_r(order, nr, sizeof(*order), by_string, w);
		for (uint32_t i = 0; i < nr; i++)
			w->rank[order[i]] = i;
		find_last(w, order, nr, open);
		err = 0;
	}
	free(order);
	free(open);
	return err;
}

#define COUNTS_MAX 48

static void counts_text(const struct writing *w, const struct node *n, char buf[COUNTS_MAX])
{
	if (w->is_pair)
		snprintf(buf, COUNTS_MAX, "%" PRIu64 " %" PRIu64, n->self_samples, n->self);
	else
		snprintf(buf, COUNTS_MAX, "%" PRIu64, n->self);
}

/* Compares what follows "label " in the line of a with what follows it in the string of b. */
static int compare_behind(const struct writing *w, const struct item *a, const struct item *b)
{
	const struct node *line = &w->p->nodes[a->node], *other = &w->p->nodes[b->node];
	char mine[COUNTS_MAX], theirs[2 * COUNTS_MAX];
	size_t len;

	intern_get(w->p->names, line->name, &len);
	counts_text(w, line, mine);
	/* Digits differ from any string within their own length. */
	snprintf(theirs, sizeof(theirs), "%.*s%s", COUNTS_MAX - 2,
		 profile_name(w->p, other->name) + len + 1,
		 b->is_line ? " " : ";");
	if (b->is_line)
		counts_text(w, other, theirs + strlen(theirs));
	return strcmp(mine, theirs);
}

static int by_line(const void *x, const void *y, void *writing)
{
	const struct writing *w = writing;
	const struct item *a = x, *b = y;

	if (a->rank == b->rank)
		return 0;
	if (a->rank > b->rank)
		return -by_line(y, x, writing);
	if (a->is_line && b->rank <= w->last[a->rank])
		return compare_behind(w, a, b);
	return -1;
}

/* ---- lines ---- */

static int push_item(struct writing *w, uint32_t node, bool is_line)
{
	struct item *item = array_push(&w->items, &w->nr, &w->cap);
	uint32_t name = w->p->nodes[node].name;

	if (!item)
		return -ENOMEM;
	*item = (struct item){ node, w->rank[ITEMS * name + (is_line ? ITEM_LINE : ITEM_MORE)],
			       is_line };
	return 0;
}

/* Pushes the items of all children of a node, so that the first in the alphabet is the last. */
static int push_children(struct writing *w, uint32_t up)
{
	size_t first = w->nr;
	int err = 0;

	for (uint32_t n = w->p->nodes[up].first_child; n != NODE_NONE && !err;
	     n = w->p->nodes[n].next_sibling) {
		if (w->p->nodes[n].self || w->p->nodes[n].self_samples)
			err = push_item(w, n, true);
		if (!err && w->p->nodes[n].first_child != NODE_NONE)
			err = push_item(w, n, false);
	}
	if (err || w->nr == first)
		return err;
	qsort_r(w->items + first, w->nr - first, sizeof(*w->items), by_line, w);
	for (size_t i = first, j = w->nr - 1; i < j; i++, j--) {
		struct item swap = w->items[i];

		w->items[i] = w->items[j];
		w->items[j] = swap;
	}
	return 0;
}

static void put_line(const struct writing *w, const struct node *leaf)
{
	char counts[COUNTS_MAX];

	for (uint32_t depth = 1; depth <= leaf->depth; depth++) {
		fputs_unlocked(profile_name(w->p, w->p->nodes[w->path[depth]].name), w->out);
		putc_unlocked(depth < leaf->depth ? ';' : ' ', w->out);
	}
	counts_text(w, leaf, counts);
	fprintf(w->out, "%s\n", counts);
}

static int write_lines(const struct profile *p, bool is_pair, FILE *out)
{
	struct writing w = { .p = p, .out = out, .is_pair = is_pair };
	int err = rank_items(&w);

	if (!err)
		err = push_children(&w, 0);
	while (!err && w.nr) {
		struct item item = w.items[--w.nr];
		const struct node *n = &p->nodes[item.node];

		if (array_reserve(&w.path, &w.cap_path, (size_t)n->depth + 1)) {
			err = -ENOMEM;
			break;
		}
		w.path[n->depth] = item.node;
		if (item.is_line)
			put_line(&w, n);
		else
			err = push_children(&w, item.node);
		if (!err && ferror(out))
			err = errno ? -errno : -EIO;
	}
	free(w.rank);
	free(w.last);
	free(w.items);
	free(w.path);
	return err;
}

static int collapse_render(const struct profile *prof, const struct render_opts *opts, FILE *out)
{
	struct profile *tree = NULL;
	struct labels l;
	int err = labels_open(&l, opts);

	if (!err) {
		tree = label_tree(&l, prof);
		err = tree ? write_lines(tree, prof->deltas, out) : -ENOMEM;
	}
	profile_free(tree);
	labels_close(&l);
	return err;
}

/* Whether the line, which ends at end, is "a;b;c 12". */
static bool is_folded(const char *line, const char *end)
{
	const char *at = end;

	while (at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at < end && at > line && at[-1] == ' ' && memchr(line, ';', (size_t)(at - line));
}

/* All whole lines are looked at, because much other text has a line with a semicolon. */
static bool made(const char *head)
{
	const char *line = head, *end;

	for (; (end = strchr(line, '\n')); line = end + 1)
		if (!is_folded(line, end))
			return false;
	return line != head;
}

const struct renderer renderer_collapse = {
	.name = "collapse", .suffixes = ".folded .collapse .collapsed",
	.also = ".txt",
	.render = collapse_render,
	.made = made,
	.help = "folded stacks: comm;root;...;leaf COUNT (samples of time, else weight)",
};
