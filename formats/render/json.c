/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree as nested {name, value, children}, as d3 flame graphs read it. value is inclusive,
 * in the unit that probee.unit of the root names ("ns", "count", ...). probee adds self, samples,
 * self_samples, kind, libtype, binary, file, line and tiers, where samples is the number of samples
 * that value was measured with. tiers says how generated code came about, where its runtime says
 * so: "interpreted", "baseline", "optimized", "compiled", "builtin"; several, if the function was
 * compiled again meanwhile. The root has the facts of the recording as "probee": event is the name
 * of the event that is shown, weight and samples are its sums, and shown says it in words.
 *
 * Where two recordings are compared (profile_delta.h), value and self are those after, which are
 * the same as in a report of that recording alone. before and before_self are scaled as
 * probee.scaled says; delta is value minus before, error half of the interval that has the true
 * delta in 95 of 100, and verdict "more", "less", "same" (nothing beyond chance) or "few" (too few
 * samples).
 *
 * Parsers limit nesting: jq 1.6 gives up at 86 frames, Python's json at some 500. So a stack that
 * is deeper than MAX_DEPTH frames has its middle folded into one node "...n frames", where n is the
 * length of the longest run that was folded. The children of that node are the functions that were
 * running below it. opts->deep writes everything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "formats/render/renderer.h"
#include "formats/render/scan_sums_json.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"
#include "src/profile/profile_delta.h"
#include "src/report/stack_cause.h"
#include "src/report/stack_health.h"

#define MAX_BLAMED 100
#define MAX_DEPTH 80
#define FOLD_DEPTH (MAX_DEPTH - 2)	/* depth of the node above the folded one */

extern const struct renderer renderer_json;

struct leaves {				/* the functions that were running below a folded node */
	uint32_t *v;
	size_t nr, cap;
	uint32_t depth;			/* depth of the deepest */
	const struct profile *p;
	uint32_t *rank;			/* of names; NULL: not needed so far */
};

/* Writes nothing if s is empty. */
static void put_text(struct json_writer *w, const char *key, const char *s)
{
	if (*s)
		json_put_text(w, key, s);
}

/* The binaries that cause stacks to be not whole, or guesses; at most nr of them. */
static void put_blame(struct json_writer *w, const char *key, const struct stack_health *h,
		      const struct health_row *rows, size_t nr)
{
	json_key(w, key);
	json_begin(w, '[');
	for (size_t i = 0; i < nr && i < MAX_BLAMED; i++) {
		size_t len;
		const char *path = stack_health_path(h, &rows[i], &len);

		json_begin(w, '{');
		json_put_u64(w, "samples", rows[i].samples);
		json_key(w, "binary");
		json_string(w, path, len);
		if (rows[i].has_addr)
			json_put_u64(w, "address", rows[i].addr);
		if (rows[i].end) {
			put_text(w, "end", stack_end_name(rows[i].end));
			put_text(w, "cause", stack_cause_text(rows[i].end));
			put_text(w, "remedy", stack_cause_remedy(rows[i].end));
		} else {
			json_put_u64(w, "frames", rows[i].frames);
		}
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_health(struct json_writer *w, const struct stack_health *h)
{
	json_put_u64(w, "user_stacks_whole_guessed", h->all.whole_guessed);
	json_put_u64(w, "user_stacks_guessed", h->guessed);
	json_put_u64(w, "user_frames_exact", h->frames.exact);
	json_put_u64(w, "user_frames_return_address", h->frames.return_address);
	json_put_u64(w, "user_frames_guessed", h->frames.guessed);
	put_blame(w, "not_whole", h, h->broken, h->nr_broken);
	put_blame(w, "guesses", h, h->guesses, h->nr_guesses);
}

static void put_facts(struct json_writer *w, const struct profile *p)
{
	const struct profile_facts *f = &p->facts;

	json_key(w, "probee");
	json_begin(w, '{');
	put_text(w, "host", f->host);
	put_text(w, "kernel", f->kernel);
	put_text(w, "tool", f->tool);
	put_text(w, "argv", f->argv);
	put_text(w, "title", f->title);
	put_text(w, "shown", f->shown);
	if (p->deltas) {
		put_text(w, "before", p->deltas->before);
		put_text(w, "after", p->deltas->after);
		put_text(w, "scaled", p->deltas->scaled);
		put_text(w, "method", p->deltas->method);
	}
	put_text(w, "event", f->event);
	put_text(w, "unit", f->unit);
	json_put_u64(w, "weight", f->weight);
	json_put_u64(w, "begin_real_ns", f->begin_real_ns);
	json_put_u64(w, "duration_ns", f->duration_ns);
	json_put_u64(w, "samples", f->samples);
	json_put_u64(w, "samples_total", f->samples_total);
	json_put_u64(w, "lost", f->lost);
	json_put_u64(w, "user_stacks", f->user_stacks);
	json_put_u64(w, "user_stacks_whole", f->roots);
	if (p->health)
		put_health(w, p->health);
	json_put_u64(w, "frames", f->frames);
	json_put_u64(w, "frames_unnamed", f->frames_unnamed);
	put_text(w, "names", f->names ? f->names : "");
	if (f->scan_sums.count)
		scan_sums_json(w, "walks", &f->scan_sums);
	json_key(w, "incomplete");
	json_bool(w, f->incomplete);
	put_text(w, "warning", f->warning);
	json_end(w, '}');
}

/* The four types of code that d3-flame-graph has colours for; interpreted code is like compiled. */
static const char *libtype(const struct node *n)
{
	if (n->flags & NODE_INLINED)
		return "inlined";
	if (n->kind == FRAME_KERNEL || n->kind == FRAME_BPF)
		return "kernel";
	return n->kind == FRAME_JIT ? "jit" : n->kind == FRAME_SYNTHETIC ? "" : "user";
}

/* The samples that a node of the JSON stands for: inclusive, and its own. */
struct value {
	uint64_t total, self, samples, self_samples;
	uint64_t before, before_self;
	const struct delta *delta;	/* NULL: it is the node of one recording, or of a rest */
};

static struct value value_of(const struct profile *p, const struct node *n)
{
	const struct node_delta *d = p->deltas ? &p->deltas->nodes[n - p->nodes] : NULL;

	if (d)
		return (struct value){ .total = d->total.after,
				       .self = d->after_self,
				       .self_samples = d->after_self_samples,
				       .before = d->total.before,
				       .before_self = d->before_self,
				       .delta = &d->total };
	return (struct value){ n->total, n->self, n->total_samples, n->self_samples, 0, 0, NULL };
}

static void put_signed(struct json_writer *w, const char *key, uint64_t from, uint64_t to)
{
	json_key(w, key);
	if (to < from)
		putc('-', w->out);
	json_u64(w, to < from ? from - to : to - from);
}

static void put_delta(struct json_writer *w, const struct value *v)
{
	json_put_u64(w, "before", v->before);
	if (v->before_self)
		json_put_u64(w, "before_self", v->before_self);
	put_signed(w, "delta", v->before, v->total);
	if (v->delta && v->delta->verdict != DELTA_FEW)
		json_put_u64(w, "error", v->delta->error);
	if (v->delta)
		json_put_text(w, "verdict", delta_verdict_name(v->delta->verdict));
}

static void put_value(struct json_writer *w, const struct profile *p, const struct value *v)
{
	json_put_u64(w, "value", v->total);
	if (v->self)
		json_put_u64(w, "self", v->self);
	if (p->deltas)
		put_delta(w, v);
	else
		json_put_u64(w, "samples", v->samples);
	if (v->self_samples)
		json_put_u64(w, "self_samples", v->self_samples);
}

static void put_tiers(struct json_writer *w, const struct node *n)
{
	const char *tiers[NODE_MAX_TIERS];
	size_t nr = node_tiers(n, tiers);

	if (!nr)
		return;
	json_key(w, "tiers");
	json_begin(w, '[');
	for (size_t i = 0; i < nr; i++)
		json_string(w, tiers[i], strlen(tiers[i]));
	json_end(w, ']');
}

static void begin_node(struct json_writer *w, const struct profile *p, const struct node *n,
		       const struct value *v)
{
	size_t len;
	const char *name = intern_get(p->names, n->name, &len);

	json_begin(w, '{');
	json_key(w, "name");
	json_string(w, name, len);
	put_value(w, p, v);
	put_text(w, "kind", node_kind_name(n));
	put_text(w, "libtype", libtype(n));
	put_text(w, "binary", profile_name(p, n->binary));
	put_text(w, "file", profile_name(p, n->file));
	if (n->line)
		json_put_u64(w, "line", n->line);
	put_tiers(w, n);
	if (n->flags & NODE_GUESSED) {
		json_key(w, "guessed");
		json_bool(w, true);
	}
	if (n->parent == NODE_NONE)
		put_facts(w, p);
}

/* The node after n in pre-order below top; NODE_NONE at the end. */
static uint32_t next_below(const struct profile *p, uint32_t top, uint32_t n)
{
	if (p->nodes[n].first_child != NODE_NONE)
		return p->nodes[n].first_child;
	while (n != top && p->nodes[n].next_sibling == NODE_NONE)
		n = p->nodes[n].parent;
	return n == top ? NODE_NONE : p->nodes[n].next_sibling;
}

static int collect(struct leaves *l, const struct profile *p, uint32_t top)
{
	uint32_t *leaf;

	l->nr = l->depth = 0;
	l->p = p;
	if (!l->rank)
		l->rank = profile_rank_names(p);
	if (!l->rank)
		return -ENOMEM;
	for (uint32_t n = next_below(p, top, top); n != NODE_NONE; n = next_below(p, top, n)) {
		if (!p->nodes[n].self_samples)
			continue;
		if (p->nodes[n].depth > l->depth)
			l->depth = p->nodes[n].depth;
		leaf = array_push(&l->v, &l->nr, &l->cap);
		if (!leaf)
			return -ENOMEM;
		*leaf = n;
	}
	return 0;
}

static int by_function(const void *x, const void *y, void *leaves)
{
	const struct leaves *l = leaves;
	const struct node *a = &l->p->nodes[*(const uint32_t *)x],
			  *b = &l->p->nodes[*(const uint32_t *)y];

	if (a->name != b->name)
		return l->rank[a->name] < l->rank[b->name] ? -1 : 1;
	if (a->binary != b->binary)
		return a->binary < b->binary ? -1 : 1;
	return a->kind != b->kind ? a->kind - b->kind : a->flags - b->flags;
}

/* Writes each function once, in whichever ways it was called. */
static void put_leaves(struct json_writer *w, struct leaves *l, const struct profile *p)
{
	qsort_r(l->v, l->nr, sizeof(*l->v), by_function, l);
	for (size_t i = 0, end; i < l->nr && !ferror(w->out); i = end) {
		struct value v = { 0 };

		for (end = i; end < l->nr && !by_function(&l->v[i], &l->v[end], l); end++) {
			struct value one = value_of(p, &p->nodes[l->v[end]]);

			v.self += one.self;
			v.self_samples += one.self_samples;
			v.before_self += one.before_self;
		}
		v.total = v.self;
		v.before = v.before_self;
		v.samples = v.self_samples;
		begin_node(w, p, &p->nodes[l->v[i]], &v);
		json_end(w, '}');
	}
}

static void put_folded(struct json_writer *w, struct leaves *l, const struct profile *p,
		       const struct node *top)
{
	struct value all = value_of(p, top);
	struct value below = { .total = all.total - all.self,
			       .samples = all.samples - all.self_samples,
			       .before = all.before - all.before_self };
	char name[32];

	snprintf(name, sizeof(name), "...%u frames", l->depth - FOLD_DEPTH - 1);
	json_begin(w, '{');
	put_text(w, "name", name);
	put_value(w, p, &below);
	put_text(w, "kind", "synthetic");
	json_key(w, "children");
	json_begin(w, '[');
	put_leaves(w, l, p);
	json_end(w, ']');
	json_end(w, '}');
}

/*
 * Begins the children of a node. 1: the caller writes them; 0: there are none, or they are written
 * already; -ENOMEM.
 */
static int begin_children(struct json_writer *w, struct leaves *l, const struct profile *p,
			  uint32_t at)
{
	const struct node *n = &p->nodes[at];

	if (n->first_child == NODE_NONE)
		return 0;
	if (l && n->depth == FOLD_DEPTH && collect(l, p, at))
		return -ENOMEM;
	json_key(w, "children");
	json_begin(w, '[');
	if (!l || n->depth != FOLD_DEPTH || l->depth <= MAX_DEPTH)
		return 1;
	put_folded(w, l, p, n);
	json_end(w, ']');
	return 0;
}

/* folded is NULL if everything is to be written. */
static int put_tree(struct json_writer *w, struct leaves *folded, const struct profile *p)
{
	uint32_t at = 0;

	for (;;) {
		const struct node *n = &p->nodes[at];
		struct value v = value_of(p, n);
		int descend;

		begin_node(w, p, n, &v);
		if (ferror(w->out))
			return errno ? -errno : -EIO;
		descend = begin_children(w, folded, p, at);
		if (descend < 0)
			return descend;
		if (descend) {
			at = n->first_child;
			continue;
		}
		json_end(w, '}');
		while (at && p->nodes[at].next_sibling == NODE_NONE) {
			at = p->nodes[at].parent;
			json_end(w, ']');
			json_end(w, '}');
		}
		if (!at)
			return 0;
		at = p->nodes[at].next_sibling;
	}
}

static int json_render(const struct profile *p, const struct render_opts *opts, FILE *out)
{
	struct json_writer w = { .out = out };
	struct leaves folded = { 0 };
	int err = put_tree(&w, opts->deep ? NULL : &folded, p);

	free(folded.v);
	free(folded.rank);
	putc('\n', out);
	return err ? err : ferror(out) ? -errno : 0;
}

static bool made(const char *head)
{
	return !strncmp(head, "{\"name\":", 8) && strstr(head, "\"probee\":{");
}

const struct renderer renderer_json = {
	.media_type = "application/json",
	.name = "json", .suffixes = ".json", .render = json_render,
	.made = made,
	.help = "the call tree as JSON for d3-flame-graph and scripts",
};
