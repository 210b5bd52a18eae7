/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/debug_info/unit_source.h"
#include "src/debug_info/unit_spans.h"
#include "src/debug_info/unit_writer.h"

#define MAX_NODES (4u << 20)

void unit_tree_init(struct unit_tree *t, const struct unit_source *src)
{
	*t = (struct unit_tree){ .src = src, .limit.until_ns = src->until_ns };
	t->rows.text = &t->text;
}

bool unit_tree_go_on(struct unit_tree *t)
{
	if (!work_go_on(&t->limit, 1) && !t->err)
		t->err = -ETIMEDOUT;
	if (t->text.bad || t->nr_nodes > MAX_NODES)
		t->err = t->text.bad ? -ENOMEM : -E2BIG;
	return !t->err;
}

/* ---- functions ---- */

struct func_key {
	const struct unit_tree *t;
	uint64_t key;
};

static bool same_func(const void *ctx, uint32_t id)
{
	const struct func_key *k = ctx;

	return k->t->func_keys[id] == k->key;
}

uint32_t unit_tree_find_func(const struct unit_tree *t, uint64_t key)
{
	const struct func_key k = { t, key };

	return ix_find(&t->func_index, hash_u64(0, key), same_func, &k);
}

uint32_t unit_tree_add_func(struct unit_tree *t, uint64_t key, const struct unit_func *func)
{
	struct unit_func *f = array_push(&t->funcs, &t->nr_funcs, &t->cap_funcs);
	uint64_t *k = f ? array_push(&t->func_keys, &t->nr_keys, &t->cap_keys) : NULL;

	if (!k || ix_add(&t->func_index, hash_u64(0, key), (uint32_t)t->nr_funcs - 1)) {
		t->err = -ENOMEM;
		return UNIT_NONE;
	}
	*k = key;
	*f = *func;
	return (uint32_t)t->nr_funcs - 1;
}

/* ---- nodes ---- */

static bool is_code(const struct unit_source *src, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < src->nr_code; i++)
		if (lo >= src->code[i].lo && lo < src->code[i].hi && hi > lo &&
		    hi <= src->code[i].hi)
			return true;
	return false;
}

void unit_tree_span(struct unit_tree *t, uint64_t lo, uint64_t hi)
{
	struct unit_span *s;

	if (!is_code(t->src, lo, hi))
		return;
	s = array_push(&t->spans, &t->nr_spans, &t->cap_spans);
	if (s)
		*s = (struct unit_span){ lo, hi, (uint32_t)t->nr_nodes };
	else
		t->err = -ENOMEM;
}

uint32_t unit_tree_node(struct unit_tree *t, const struct unit_node *node, uint64_t entry)
{
	struct unit_node *n = array_push(&t->nodes, &t->nr_nodes, &t->cap_nodes);
	uint64_t *e = n ? array_push(&t->entries, &t->nr_entries, &t->cap_entries) : NULL;

	if (!e) {
		t->err = -ENOMEM;
		return UNIT_NONE;
	}
	*n = *node;
	*e = entry;
	return (uint32_t)t->nr_nodes - 1;
}

/* ---- segments ---- */

/* Where the innermost node changes. */
struct change {
	uint64_t addr;
	uint32_t node;
};

struct changes {
	struct change *v;
	size_t nr, cap;
};

static int put_change(struct changes *c, uint64_t addr, uint32_t node)
{
	struct change *x;

	if (c->nr && c->v[c->nr - 1].addr == addr) {
		c->v[c->nr - 1].node = node;
		return 0;
	}
	x = array_push(&c->v, &c->nr, &c->cap);
	if (!x)
		return -ENOMEM;
	*x = (struct change){ addr, node };
	return 0;
}

/* Leaves the spans that end at or before addr. */
static int leave(struct changes *c, const struct unit_span *open, size_t *nr_open, uint64_t addr)
{
	int err = 0;

	while (*nr_open && open[*nr_open - 1].hi <= addr && !err) {
		--*nr_open;
		err = put_change(c, open[*nr_open].hi,
				 *nr_open ? open[*nr_open - 1].node : UNIT_NONE);
	}
	return err;
}

/* A span that is open ends no later than the one around it, whatever the file says. */
static int find_changes(struct unit_tree *t, struct changes *c)
{
	struct unit_span *open = NULL, *top;
	size_t nr_open = 0, cap = 0;
	int err = 0;

	err = unit_spans_sort(&t->spans, &t->cap_spans, t->nr_spans);
	for (size_t i = 0; i < t->nr_spans && !err; i++) {
		err = leave(c, open, &nr_open, t->spans[i].lo);
		top = err ? NULL : array_push(&open, &nr_open, &cap);
		if (!top)
			err = err ? err : -ENOMEM;
		if (err)
			break;
		*top = t->spans[i];
		if (nr_open > 1 && top->hi > top[-1].hi)
			top->hi = top[-1].hi;
		err = put_change(c, top->lo, top->node);
	}
	if (!err)
		err = leave(c, open, &nr_open, UINT64_MAX);
	free(open);
	return err;
}

/* Joins the lines and the changes of nodes, both of which are sorted. */
static int join(const struct unit_tree *t, const struct changes *c, struct unit_segments *s)
{
	const struct unit_rows *r = &t->rows;
	struct unit_segment seg = { .file = UNIT_NONE, .node = UNIT_NONE };
	size_t i = 0, k = 0;
	int err = unit_segments_reserve(s, r->nr + c->nr);

	s->base = r->nr ? r->v[0].addr : c->v[0].addr;
	if (c->nr && c->v[0].addr < s->base)
		s->base = c->v[0].addr;
	while ((i < r->nr || k < c->nr) && !err) {
		uint64_t addr = i < r->nr && (k == c->nr || r->v[i].addr <= c->v[k].addr)
					? r->v[i].addr
					: c->v[k].addr;

		for (; i < r->nr && r->v[i].addr == addr; i++) {
			seg.line = r->v[i].is_end ? 0 : r->v[i].line;
			seg.file = r->v[i].is_end ? UNIT_NONE : r->v[i].file;
		}
		for (; k < c->nr && c->v[k].addr == addr; k++)
			seg.node = c->v[k].node;
		err = unit_segments_add(s, addr, &seg);
	}
	return err;
}

/* ---- the whole ---- */

static void put_entries(struct unit_tree *t, uint64_t base)
{
	for (size_t i = 0; i < t->nr_nodes; i++) {
		uint64_t rel = t->entries[i] - base;

		t->nodes[i].entry = t->entries[i] < base || rel >= UNIT_NONE ? UNIT_NONE
									    : (uint32_t)rel;
	}
}

static int put_table(struct unit_tree *t, uint32_t lang, const struct unit_segments *s,
		     struct byte_buf *out)
{
	const struct unit_parts parts = {
		.unit = t->src->number, .lang = lang, .segments = s,
		.nodes = t->nodes, .nr_nodes = t->nr_nodes,
		.funcs = t->funcs, .nr_funcs = t->nr_funcs,
		.text = &t->text.buf,
	};

	put_entries(t, s->base);
	return unit_write(&parts, out);
}

int unit_tree_write(struct unit_tree *t, uint32_t lang, struct byte_buf *out)
{
	struct changes changes = { 0 };
	struct unit_segments segments = { 0 };
	int err = t->err ? t->err : find_changes(t, &changes);

	unit_text_add(&t->text, "");	/* a text has at least its end */
	if (!err && !changes.nr && !t->rows.nr)
		err = -ENODATA;
	if (!err)
		err = join(t, &changes, &segments);
	if (!err)
		err = t->text.bad ? -ENOMEM : put_table(t, lang, &segments, out);
	free(changes.v);
	free(segments.v);
	return err;
}

void unit_tree_release(struct unit_tree *t)
{
	unit_text_release(&t->text);
	unit_rows_release(&t->rows);
	free(t->nodes);
	free(t->entries);
	free(t->funcs);
	free(t->func_keys);
	ix_release(&t->func_index);
	free(t->spans);
}
