/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: "comm;root;...;leaf COUNT", one line per distinct stack, sorted as LC_ALL=C sort
 * does. COUNT is the number of samples if the event's unit is ns: other tools expect that, and all
 * samples of such an event weigh the same. For any other unit COUNT is the weight: page faults,
 * cycles, bytes.
 *
 * Stacks that look equal must become one line, even if they are several nodes (two binaries with a
 * function of the same name). So the tree is built once more, from labels. Its leaves are then
 * sorted without writing the lines into memory, because the lines of a deep tree would fill it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "src/base/intern.h"
#include "src/profile/tree_builder.h"

extern const struct renderer renderer_collapse;

struct labels {
	struct tree_builder tree;	/* of labels; its weights are the COUNTs */
	FILE *out;			/* writes into text */
	char *text;
	size_t size;
	const char *kernel_suffix;
};

static int labels_open(struct labels *l, const struct render_opts *opts)
{
	int err;

	memset(l, 0, sizeof(*l));
	l->kernel_suffix = opts->kernel_suffix ? opts->kernel_suffix : "_[k]";
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
	free(l->text);
	tree_builder_release(&l->tree);
}

static uint32_t label_of(struct labels *l, const struct profile *p, const struct node *n)
{
	size_t len;
	const char *name = intern_get(p->names, n->name, &len);

	rewind(l->out);
	escape_folded(l->out, name, len);
	if (n->kind == FRAME_KERNEL || n->kind == FRAME_BPF)
		escape_folded(l->out, l->kernel_suffix, strlen(l->kernel_suffix));
	len = (size_t)ftello(l->out);
	if (fflush(l->out))
		l->tree.failed = true;
	return tree_builder_name(&l->tree, l->text, len);
}

/* Nodes come after their parents, so the parent's place in the new tree is known. */
static struct profile *label_tree(struct labels *l, const struct profile *p)
{
	uint32_t *place = calloc(p->nr_nodes, sizeof(*place));
	bool in_samples = !strcmp(p->facts.unit, "ns");

	if (!place)
		return NULL;
	for (size_t i = 1; i < p->nr_nodes && !l->tree.failed; i++) {
		const struct node *n = &p->nodes[i];
		struct node key = { .name = label_of(l, p, n) };

		place[i] = tree_builder_child(&l->tree, place[n->parent], &key);
		tree_builder_add(&l->tree, place[i], in_samples ? n->self_samples : n->self,
				 n->self_samples);
	}
	free(place);
	return tree_builder_take(&l->tree);
}

/*
 * The words by which the line of leaf goes on after "...;", as far as needed to compare it with
 * another line. The next words are those of n, which is leaf or an ancestor of it.
 */
static void next_words(const struct profile *p, uint32_t n, uint32_t leaf, const char **label,
		       char tail[32])
{
	*label = profile_name(p, p->nodes[n].name);
	if (n == leaf)
		snprintf(tail, 32, " %" PRIu64, p->nodes[leaf].self);
	else
		strcpy(tail, ";");
}

/* Compares label + tail of both, each as one string. */
static int compare_words(const char *a, const char *a_tail, const char *b, const char *b_tail)
{
	for (;;) {
		if (!*a && a_tail) {
			a = a_tail;
			a_tail = NULL;
		}
		if (!*b && b_tail) {
			b = b_tail;
			b_tail = NULL;
		}
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
		a++;
		b++;
	}
}

static int by_line(const void *x, const void *y, void *profile)
{
	const struct profile *p = profile;
	uint32_t a_leaf = *(const uint32_t *)x, b_leaf = *(const uint32_t *)y, a = a_leaf,
		 b = b_leaf;
	const char *a_label, *b_label;
	char a_tail[32], b_tail[32];

	while (p->nodes[a].depth > p->nodes[b].depth)
		a = p->nodes[a].parent;
	while (p->nodes[b].depth > p->nodes[a].depth)
		b = p->nodes[b].parent;
	while (p->nodes[a].parent != p->nodes[b].parent) {
		a = p->nodes[a].parent;
		b = p->nodes[b].parent;
	}
	next_words(p, a, a_leaf, &a_label, a_tail);
	next_words(p, b, b_leaf, &b_label, b_tail);
	return compare_words(a_label, a_tail, b_label, b_tail);
}

static uint32_t next_in_preorder(const struct profile *p, uint32_t at)
{
	if (p->nodes[at].first_child != NODE_NONE)
		return p->nodes[at].first_child;
	while (at != NODE_NONE && p->nodes[at].next_sibling == NODE_NONE)
		at = p->nodes[at].parent;
	return at == NODE_NONE ? NODE_NONE : p->nodes[at].next_sibling;
}

/*
 * The nodes that have a line, which are those with weight of their own, in the order of the lines.
 * The tree in pre-order is sorted already, except for names that begin with the whole name of a
 * sibling, so most comparisons are of neighbours and fast. NULL: out of memory.
 */
static uint32_t *sorted_leaves(struct profile *p, size_t *nr)
{
	uint32_t *v = malloc(p->nr_nodes * sizeof(*v));

	*nr = 0;
	for (uint32_t i = 0; v && i != NODE_NONE; i = next_in_preorder(p, i)) {
		if (p->nodes[i].self)
			v[(*nr)++] = i;
	}
	if (v)
		qsort_r(v, *nr, sizeof(*v), by_line, p);
	return v;
}

static int write_lines(struct profile *p, FILE *out)
{
	/* no stack is deeper than the number of nodes */
	uint32_t *path = malloc((p->nr_nodes + 1) * sizeof(*path));
	size_t nr, n;
	uint32_t *leaves = sorted_leaves(p, &nr);
	int err = path && leaves ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++) {
		n = 0;
		for (uint32_t at = leaves[i]; at; at = p->nodes[at].parent)
			path[n++] = at;
		while (n-- > 0) {
			fputs_unlocked(profile_name(p, p->nodes[path[n]].name), out);
			putc_unlocked(n ? ';' : ' ', out);
		}
		fprintf(out, "%" PRIu64 "\n", p->nodes[leaves[i]].self);
		err = ferror(out) ? -errno : 0;
	}
	free(leaves);
	free(path);
	return err;
}

static int collapse_render(const struct profile *prof, const struct render_opts *opts, FILE *out)
{
	struct profile *tree = NULL;
	struct labels l;
	int err = labels_open(&l, opts);

	if (!err) {
		tree = label_tree(&l, prof);
		err = tree ? write_lines(tree, out) : -ENOMEM;
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
	.name = "collapse", .suffixes = ".folded .collapse .collapsed", .render = collapse_render,
	.made = made,
	.help = "folded stacks: comm;root;...;leaf COUNT (samples of time, else weight)",
};
