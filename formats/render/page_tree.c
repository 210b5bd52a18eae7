/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call tree for a page: its nodes in pre-order, so that a subtree is a range of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/page_data.h"
#include "formats/render/short_name.h"
#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"

#define SHORTENED_MAX 2048		/* longer names are not shortened */

/* What makes nodes those of one function: their first seven fields are columns of the page. */
struct page_function {
	uint32_t name, brief, binary, file, line, kind, same;
};

struct page_tree {
	struct page_data *d;
	const struct profile *p;
	uint32_t *strings;		/* by name of the profile: of the page, plus 1 */
	struct page_function *functions;
	size_t nr, cap;
	struct hash_index index, same;
	uint32_t *order, *places;	/* nodes in pre-order; their places in it, by node */
	struct byte_buf depths, functions_of, flags;
};

static uint32_t string_of(struct page_tree *t, uint32_t name)
{
	size_t len;
	const char *s;
	uint32_t id;

	if (t->strings[name])
		return t->strings[name] - 1;
	s = intern_get(t->p->names, name, &len);
	id = intern_bytes(t->d->strings, s, len);
	t->strings[name] = id + 1;
	return id;
}

/* The shortest form of a name that still tells the function; 0: the name itself. */
static uint32_t brief_of(struct page_tree *t, uint32_t name)
{
	char brief[SHORTENED_MAX];
	size_t len, n;
	const char *s = intern_get(t->p->names, name, &len);

	if (len > sizeof(brief) || memchr(s, 0, len))
		return 0;
	n = short_name(brief, s, len, SHORT_FORMS - 1);
	return n && n < len ? intern_bytes(t->d->strings, brief, n) : 0;
}

struct function_match {
	const struct page_tree *t;
	const struct page_function *f;
};

static bool is_same(const void *ctx, uint32_t id)
{
	const struct function_match *m = ctx;
	const struct page_function *f = &m->t->functions[id];

	return f->name == m->f->name && f->binary == m->f->binary && f->kind == m->f->kind;
}

static bool is_equal(const void *ctx, uint32_t id)
{
	const struct function_match *m = ctx;
	const struct page_function *f = &m->t->functions[id];

	return is_same(ctx, id) && f->file == m->f->file && f->line == m->f->line;
}

static int add_function(struct page_tree *t, const struct page_function *f, uint64_t hash,
			uint64_t same, uint32_t name)
{
	struct function_match m = { t, f };
	uint32_t id = (uint32_t)t->nr, first = ix_find(&t->same, same, is_same, &m);
	struct page_function *made = array_push(&t->functions, &t->nr, &t->cap);

	if (!made || ix_add(&t->index, hash, id))
		return -ENOMEM;
	*made = *f;
	made->same = first == IX_NONE ? id : first;
	made->brief = f->kind == FRAME_SYNTHETIC ? 0 : brief_of(t, name);
	return first == IX_NONE ? ix_add(&t->same, same, id) : 0;
}

static uint32_t function_of(struct page_tree *t, const struct node *n)
{
	struct page_function f = {
		.name = string_of(t, n->name),
		.binary = n->binary ? string_of(t, n->binary) : 0,
		.file = n->file ? string_of(t, n->file) : 0,
		.line = n->line,
		.kind = n->flags & NODE_SYNTHETIC ? FRAME_SYNTHETIC : n->kind,
	};
	uint64_t same = hash_u64(hash_u64(f.kind, f.name), f.binary);
	uint64_t hash = hash_u64(hash_u64(same, f.file), f.line);
	struct function_match m = { t, &f };
	uint32_t id = ix_find(&t->index, hash, is_equal, &m);

	if (id != IX_NONE)
		return id;
	return add_function(t, &f, hash, same, n->name) ? IX_NONE : (uint32_t)t->nr - 1;
}

static void find_order(struct page_tree *t)
{
	const struct node *nodes = t->p->nodes;
	uint32_t at = 0, nr = 0;

	for (;;) {
		t->places[at] = nr;
		t->order[nr++] = at;
		if (nodes[at].first_child != NODE_NONE) {
			at = nodes[at].first_child;
			continue;
		}
		while (at && nodes[at].next_sibling == NODE_NONE)
			at = nodes[at].parent;
		if (!at)
			return;
		at = nodes[at].next_sibling;
	}
}

static int put_nodes(struct page_tree *t)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < t->p->nr_nodes; i++) {
		const struct node *n = &t->p->nodes[t->order[i]];
		uint32_t function = function_of(t, n);

		if (function == IX_NONE)
			return -ENOMEM;
		bb_uv(&t->depths, i ? depth + 1u - n->depth : 0);
		bb_uv(&t->functions_of, function);
		bb_uv(&t->flags, n->flags);
		depth = n->depth;
	}
	return 0;
}

static void put_column(const struct page_tree *t, struct byte_buf *b, size_t field)
{
	for (size_t i = 0; i < t->nr; i++)
		bb_uv(b, ((const uint32_t *)&t->functions[i])[field]);
}

static void put_section(struct byte_buf *out, struct byte_buf *section)
{
	bb_uv(out, section->nr);
	bb_bytes(out, section->v, section->nr);
	out->bad |= section->bad;
	bb_release(section);
}

static void put_all(struct page_tree *t, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	bb_uv(&b, t->nr);
	for (size_t field = 0; field < sizeof(struct page_function) / sizeof(uint32_t); field++)
		put_column(t, &b, field);
	put_section(out, &b);
	bb_uv(&b, t->p->nr_nodes);
	bb_bytes(&b, t->depths.v, t->depths.nr);
	bb_bytes(&b, t->functions_of.v, t->functions_of.nr);
	bb_bytes(&b, t->flags.v, t->flags.nr);
	b.bad |= t->depths.bad || t->functions_of.bad || t->flags.bad;
	put_section(out, &b);
}

static void release(struct page_tree *t)
{
	free(t->strings);
	free(t->functions);
	free(t->order);
	ix_release(&t->index);
	ix_release(&t->same);
	bb_release(&t->depths);
	bb_release(&t->functions_of);
	bb_release(&t->flags);
}

int page_tree_put(struct page_data *d, const struct profile *p, struct byte_buf *out,
		  uint32_t **places)
{
	struct page_tree t = { .d = d, .p = p };
	int err = -ENOMEM;

	t.strings = calloc((size_t)intern_count(p->names) + 1, sizeof(*t.strings));
	t.order = calloc(p->nr_nodes, sizeof(*t.order));
	t.places = calloc(p->nr_nodes, sizeof(*t.places));
	if (t.strings && t.order && t.places) {
		find_order(&t);
		err = put_nodes(&t);
	}
	if (!err)
		put_all(&t, out);
	else
		free(t.places);
	*places = err ? NULL : t.places;
	release(&t);
	return err;
}
