/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/debug_info/unit_regions.h"
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

bool unit_tree_is_code(const struct unit_source *src, uint64_t lo, uint64_t hi)
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

	if (!unit_tree_is_code(t->src, lo, hi))
		return;
	s = array_push(&t->spans, &t->nr_spans, &t->cap_spans);
	if (s)
		*s = (struct unit_span){ .lo = lo, .hi = hi, .node = (uint32_t)t->nr_nodes };
	else
		t->err = -ENOMEM;
}

void unit_tree_unread(struct unit_tree *t, size_t first, uint32_t node)
{
	for (size_t i = first; i < t->nr_spans; i++) {
		t->spans[i].node = UNIT_UNREAD;
		t->spans[i].around = node;
	}
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

static int put_change(struct unit_changes *c, uint64_t addr, uint32_t node)
{
	struct unit_change *x;

	if (c->nr && c->v[c->nr - 1].addr == addr) {
		c->v[c->nr - 1].node = node;
		return 0;
	}
	x = array_push(&c->v, &c->nr, &c->cap);
	if (!x)
		return -ENOMEM;
	*x = (struct unit_change){ addr, node };
	return 0;
}

/* The spans around an address, the innermost one last. */
struct open_spans {
	struct unit_span *v;
	size_t nr, cap;
	uint32_t *of_node;		/* how many are open of each node */
};

/* Leaves the spans that end at or before addr. */
static int leave(struct unit_changes *c, struct open_spans *open, uint64_t addr)
{
	int err = 0;

	while (open->nr && open->v[open->nr - 1].hi <= addr && !err) {
		const struct unit_span *s = &open->v[--open->nr];

		assert(s->node == UNIT_UNREAD || open->of_node[s->node]);
		if (s->node != UNIT_UNREAD)
			open->of_node[s->node]--;
		err = put_change(c, s->hi, open->nr ? s[-1].node : UNIT_NONE);
	}
	return err;
}

/*
 * A span that is open ends no later than the one around it, and code of an inlined function that
 * is not in the code of the function around it does not count, if that can be relied on.
 */
static int enter(const struct unit_tree *t, struct unit_changes *c, struct open_spans *open,
		 const struct unit_span *s)
{
	bool is_read = s->node != UNIT_UNREAD;
	uint32_t parent = is_read ? t->nodes[s->node].parent : s->around;
	struct unit_span *top;

	assert(parent == UNIT_NONE || parent < t->nr_nodes);
	if (t->says_ranges && parent != UNIT_NONE && !open->of_node[parent])
		return 0;
	top = array_push(&open->v, &open->nr, &open->cap);
	if (!top)
		return -ENOMEM;
	*top = *s;
	if (is_read)
		open->of_node[s->node]++;
	if (open->nr > 1 && top->hi > top[-1].hi)
		top->hi = top[-1].hi;
	return put_change(c, top->lo, top->node);
}

static int find_changes(struct unit_tree *t, struct unit_changes *c)
{
	struct open_spans open = { .of_node = calloc(t->nr_nodes + 1, sizeof(*open.of_node)) };
	int err = open.of_node ? unit_spans_sort(&t->spans, &t->cap_spans, t->nr_spans) : -ENOMEM;

	for (size_t i = 0; i < t->nr_spans && !err; i++) {
		err = leave(c, &open, t->spans[i].lo);
		if (!err)
			err = enter(t, c, &open, &t->spans[i]);
	}
	if (!err)
		err = leave(c, &open, UINT64_MAX);
	free(open.v);
	free(open.of_node);
	return err;
}

/* Leaves out of the regions what was not read. */
static int leave_out(struct unit_tree *t, const struct unit_changes *c)
{
	int err = 0;

	for (size_t i = 0; i + 1 < c->nr && !err; i++)
		if (c->v[i].node == UNIT_UNREAD)
			err = unit_regions_leave_out(t->regions, c->v[i].addr, c->v[i + 1].addr);
	return err ? err : unit_regions_end(t->regions);
}

/* Goes through the regions that were read. */
struct cover {
	const struct unit_regions *x;	/* NULL: all was read */
	size_t at;
	bool is_in;
};

/* Where the next region begins or ends. */
static uint64_t next_bound(const struct cover *c)
{
	if (!c->x || c->at == c->x->nr_chosen)
		return UINT64_MAX;
	return c->is_in ? c->x->chosen[c->at].hi : c->x->chosen[c->at].lo;
}

static void pass_bounds(struct cover *c, uint64_t addr)
{
	while (next_bound(c) <= addr && next_bound(c) != UINT64_MAX) {
		c->at += c->is_in;
		c->is_in = !c->is_in;
	}
}

/* A partial table begins where the code of the file does: no address below is asked for. */
static uint64_t base_of(const struct unit_tree *t, const struct unit_changes *c)
{
	uint64_t base = t->rows.nr ? t->rows.v[0].addr : UINT64_MAX;

	if (c->nr && c->v[0].addr < base)
		base = c->v[0].addr;
	for (size_t i = 0; t->regions && i < t->src->nr_code; i++)
		if (t->src->code[i].lo < base)
			base = t->src->code[i].lo;
	return base;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Joins the lines, the changes of nodes, and the regions that were read; each is sorted. */
static int join(const struct unit_tree *t, const struct unit_changes *c, struct unit_segments *s)
{
	static const struct unit_segment unread = { .file = UNIT_NONE, .node = UNIT_UNREAD };
	const struct unit_rows *r = &t->rows;
	struct unit_segment seg = { .file = UNIT_NONE, .node = UNIT_NONE };
	struct cover cover = { .x = t->regions };
	size_t i = 0, k = 0;
	int err = unit_segments_reserve(s, r->nr + c->nr);
	uint64_t addr = s->base = base_of(t, c);

	while (addr != UINT64_MAX && !err) {
		for (; i < r->nr && r->v[i].addr == addr; i++) {
			seg.line = r->v[i].is_end ? 0 : r->v[i].line;
			seg.file = r->v[i].is_end ? UNIT_NONE : r->v[i].file;
		}
		for (; k < c->nr && c->v[k].addr == addr; k++)
			seg.node = c->v[k].node;
		pass_bounds(&cover, addr);
		err = unit_segments_add(s, addr, !cover.x || cover.is_in ? &seg : &unread);
		addr = min_of(i < r->nr ? r->v[i].addr : UINT64_MAX,
			      min_of(k < c->nr ? c->v[k].addr : UINT64_MAX, next_bound(&cover)));
	}
	return err;
}

/* ---- the whole ---- */

static uint32_t relative(uint64_t addr, uint64_t base)
{
	return addr < base || addr - base >= UNIT_NONE ? UNIT_NONE : (uint32_t)(addr - base);
}

static void put_entries(struct unit_tree *t, uint64_t base)
{
	for (size_t i = 0; i < t->nr_nodes; i++)
		t->nodes[i].entry = relative(t->entries[i], base);
	for (size_t i = 0; i < t->nr_funcs; i++)
		t->funcs[i].entry = i < t->cap_outlined && t->outlined[i]
					    ? relative(t->outlined[i], base)
					    : UNIT_NONE;
}

int unit_tree_settle(struct unit_tree *t)
{
	int err = t->err ? t->err : find_changes(t, &t->changes);

	if (!err && t->regions)
		err = leave_out(t, &t->changes);
	t->err = err;
	t->is_settled = true;
	return err;
}

static int put_table(struct unit_tree *t, uint32_t lang, const struct unit_segments *s,
		     struct byte_buf *out)
{
	const struct unit_parts parts = {
		.unit = t->src->number, .lang = lang, .segments = s,
		.nodes = t->nodes, .nr_nodes = t->nr_nodes,
		.funcs = t->funcs, .nr_funcs = t->nr_funcs,
		.text = &t->text.buf,
		.nr_partial = t->regions ? t->src->wanted.nr_partial : 0,
	};

	assert(t->nr_entries == t->nr_nodes && t->nr_keys == t->nr_funcs);
	put_entries(t, s->base);
	return unit_write(&parts, out);
}

int unit_tree_write(struct unit_tree *t, uint32_t lang, struct byte_buf *out)
{
	struct unit_segments segments = { 0 };
	int err = t->is_settled ? t->err : unit_tree_settle(t);

	unit_text_add(&t->text, "");	/* a text has at least its end */
	if (!err && !t->changes.nr && !t->rows.nr && !t->regions)
		err = -ENODATA;
	if (!err)
		err = join(t, &t->changes, &segments);
	if (!err)
		err = t->text.bad ? -ENOMEM : put_table(t, lang, &segments, out);
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
	free(t->outlined);
	ix_release(&t->func_index);
	free(t->spans);
	free(t->changes.v);
}
