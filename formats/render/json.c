/*
 * The call tree as d3-flame-graph reads it: {name, value, children}, value is that of the whole subtree.
 * More keys: self, kind, libtype, binary, file, line, guessed, and facts in the root.
 *
 * A frame nests two levels deep, and readers give up at some 250 (jq) or 1,000 (Python): below FOLD_DEPTH
 * frames the middle of what goes beyond MAX_DEPTH becomes one node "...n frames", n the longest run folded,
 * whose children are the functions that were running. opts->deep writes everything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"

#define MAX_DEPTH 120
#define FOLD_DEPTH (MAX_DEPTH - 2)

struct writer {
	struct json j;
	const struct profile *prof;
	bool deep;
	uint32_t *leaves;		/* running functions below the node that is being folded */
	size_t nr_leaves, cap_leaves;
};

static void put_name(struct writer *w, const char *key, uint32_t name)
{
	size_t len;
	const char *s = intern_get(w->prof->names, name, &len);

	json_string(&w->j, key, s, len);
}

static const char *kind_name(const struct node *nd)
{
	static const char *const names[FRAME_KINDS] = {
		[FRAME_USER] = "user", [FRAME_KERNEL] = "kernel", [FRAME_JIT] = "jit", [FRAME_BPF] = "bpf",
		[FRAME_SYNTHETIC] = "synthetic",
	};

	if ((nd->flags & NODE_SYNTHETIC) || nd->parent == NODE_NONE || nd->kind >= FRAME_KINDS)
		return names[FRAME_SYNTHETIC];
	return names[nd->kind];
}

/* What d3-flame-graph colours by; NULL: no code. */
static const char *libtype(const struct node *nd)
{
	if ((nd->flags & NODE_SYNTHETIC) || nd->parent == NODE_NONE || nd->kind == FRAME_SYNTHETIC)
		return NULL;
	if (nd->kind == FRAME_KERNEL || nd->kind == FRAME_BPF)
		return "kernel";
	if (nd->kind == FRAME_JIT)
		return "jit";
	return nd->flags & NODE_INLINED ? "inlined" : "user";
}

static void put_facts(struct writer *w)
{
	const struct profile_facts *f = &w->prof->facts;
	struct json *j = &w->j;

	json_open(j, "facts", '{');
	json_text(j, "host", f->host);
	json_text(j, "kernel", f->kernel);
	json_text(j, "tool", f->tool);
	json_text(j, "command", f->argv);
	json_text(j, "event", f->event);
	json_text(j, "unit", f->unit);
	json_number(j, "begin_ns", f->begin_real_ns);
	json_number(j, "duration_ns", f->duration_ns);
	json_number(j, "samples", f->samples);
	json_number(j, "samples_total", f->samples_total);
	json_number(j, "lost", f->lost);
	json_number(j, "whole_stacks", f->roots);
	json_number(j, "user_stacks", f->user_stacks);
	json_number(j, "frames", f->frames);
	json_number(j, "frames_unnamed", f->frames_unnamed);
	json_bool(j, "incomplete", f->incomplete);
	json_text(j, "warning", f->warning);
	json_close(j, '}');
}

/* All of a node but its children and the closing brace. */
static void put_head(struct writer *w, const struct node *nd, uint64_t value, uint64_t self)
{
	const char *type = libtype(nd);

	json_newline(&w->j);
	json_open(&w->j, NULL, '{');
	put_name(w, "name", nd->name);
	json_number(&w->j, "value", value);
	json_number(&w->j, "self", self);
	json_text(&w->j, "kind", kind_name(nd));
	if (type)
		json_text(&w->j, "libtype", type);
	if (nd->binary)
		put_name(w, "binary", nd->binary);
	if (nd->file)
		put_name(w, "file", nd->file);
	if (nd->file && nd->line)
		json_number(&w->j, "line", nd->line);
	if (nd->flags & NODE_GUESSED)
		json_bool(&w->j, "guessed", true);
	if (nd->parent == NODE_NONE)
		put_facts(w);
}

/* Next node below top after n in pre-order; NODE_NONE at the end. */
static uint32_t next_below(const struct profile *p, uint32_t top, uint32_t n)
{
	if (p->nodes[n].first_child != NODE_NONE)
		return p->nodes[n].first_child;
	while (n != top && p->nodes[n].next_sibling == NODE_NONE)
		n = p->nodes[n].parent;
	return n == top ? NODE_NONE : p->nodes[n].next_sibling;
}

/* Gathers the functions running below top and how deep they go. */
static int gather(struct writer *w, uint32_t top, uint32_t *depth)
{
	const struct profile *p = w->prof;

	w->nr_leaves = 0;
	*depth = 0;
	for (uint32_t n = next_below(p, top, top); n != NODE_NONE; n = next_below(p, top, n)) {
		uint32_t *leaf;

		if (p->nodes[n].depth > *depth)
			*depth = p->nodes[n].depth;
		if (!p->nodes[n].self)
			continue;
		leaf = array_push(&w->leaves, &w->nr_leaves, &w->cap_leaves);
		if (!leaf)
			return -ENOMEM;
		*leaf = n;
	}
	return 0;
}

static int compare_nodes(const void *va, const void *vb, void *ctx)
{
	const struct profile *p = ctx;
	const struct node *a = &p->nodes[*(const uint32_t *)va], *b = &p->nodes[*(const uint32_t *)vb];
	int by_name = a->name == b->name ? 0 : strcmp(profile_name(p, a->name), profile_name(p, b->name));

	if (by_name)
		return by_name;
	if (a->name != b->name)		/* the same up to a NUL */
		return a->name < b->name ? -1 : 1;
	if (a->binary != b->binary)
		return a->binary < b->binary ? -1 : 1;
	return a->kind != b->kind ? a->kind - b->kind : a->flags - b->flags;
}

static void put_folded(struct writer *w, uint32_t top, uint32_t depth)
{
	const struct node *nodes = w->prof->nodes;
	char name[32];

	qsort_r(w->leaves, w->nr_leaves, sizeof(*w->leaves), compare_nodes, (void *)w->prof);
	snprintf(name, sizeof(name), "...%u frames", depth - FOLD_DEPTH - 1);
	json_open(&w->j, "children", '[');
	json_newline(&w->j);
	json_open(&w->j, NULL, '{');
	json_text(&w->j, "name", name);
	json_number(&w->j, "value", nodes[top].total - nodes[top].self);
	json_number(&w->j, "self", 0);
	json_text(&w->j, "kind", "synthetic");
	json_open(&w->j, "children", '[');
	for (size_t i = 0, end; i < w->nr_leaves; i = end) {
		uint64_t self = 0;

		for (end = i; end < w->nr_leaves; end++) {
			if (compare_nodes(&w->leaves[i], &w->leaves[end], (void *)w->prof))
				break;
			self += nodes[w->leaves[end]].self;
		}
		put_head(w, &nodes[w->leaves[i]], self, self);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
	json_close(&w->j, '}');
	json_close(&w->j, ']');
}

/* Writes the children of n folded if they go too deep. 1: done; 0: they do not; -ENOMEM. */
static int fold_children(struct writer *w, uint32_t n)
{
	uint32_t depth;

	if (w->deep || w->prof->nodes[n].depth != FOLD_DEPTH)
		return 0;
	if (gather(w, n, &depth))
		return -ENOMEM;
	if (depth <= MAX_DEPTH)
		return 0;
	put_folded(w, n, depth);
	return 1;
}

static int put_tree(struct writer *w)
{
	const struct node *nodes = w->prof->nodes;
	uint32_t n = 0;

	for (;;) {
		int folded = 1;

		put_head(w, &nodes[n], nodes[n].total, nodes[n].self);
		if (nodes[n].first_child != NODE_NONE)
			folded = fold_children(w, n);
		if (folded < 0)
			return folded;
		if (!folded) {
			json_open(&w->j, "children", '[');
			n = nodes[n].first_child;
			continue;
		}
		json_close(&w->j, '}');
		while (n && nodes[n].next_sibling == NODE_NONE) {
			n = nodes[n].parent;
			json_close(&w->j, ']');
			json_close(&w->j, '}');
		}
		if (!n)
			return 0;
		n = nodes[n].next_sibling;
	}
}

static int json_render(const struct profile *prof, const struct render_opts *opts, FILE *out)
{
	struct writer w = { .j = { .out = out }, .prof = prof, .deep = opts->deep };
	int err = put_tree(&w);

	free(w.leaves);
	putc('\n', out);
	return err ? err : ferror(out) ? -EIO : 0;
}

const struct renderer renderer_json = {
	.name = "json",
	.suffixes = ".json",
	.help = "call tree for d3-flame-graph and scripts: name, value, self, children",
	.render = json_render,
};
