/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_table.h"

#include <errno.h>
#include <string.h>

#define COLUMN_MASK ((1u << UNIT_COLUMN_BITS) - 1)

int unit_table_open(const void *data, size_t len, struct unit_table *t)
{
	const struct unit_head *h = data;
	const char *at = (const char *)data + sizeof(*h);
	uint64_t want;

	if (len < sizeof(*h))
		return -EBADMSG;
	want = sizeof(*h) + (uint64_t)h->nr_segments * sizeof(*t->segments) +
	       (uint64_t)h->nr_nodes * sizeof(*t->nodes) +
	       (uint64_t)h->nr_funcs * sizeof(*t->funcs) + h->text_len;
	if (want > len || !h->text_len)
		return -EBADMSG;
	*t = (struct unit_table){ .head = h, .len = (size_t)want };
	t->segments = (const void *)at;
	at += h->nr_segments * sizeof(*t->segments);
	t->nodes = (const void *)at;
	at += h->nr_nodes * sizeof(*t->nodes);
	t->funcs = (const void *)at;
	t->text = at + h->nr_funcs * sizeof(*t->funcs);
	return t->text[h->text_len - 1] ? -EBADMSG : 0;
}

static const struct unit_segment *find_segment(const struct unit_table *t, uint64_t addr)
{
	uint32_t lo = 0, hi = t->head->nr_segments;
	uint64_t rel = addr - t->head->base;

	if (addr < t->head->base || rel > UINT32_MAX)
		return NULL;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->segments[mid].addr <= rel)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &t->segments[lo - 1] : NULL;
}

bool unit_table_covers(const struct unit_table *t, uint64_t addr)
{
	const struct unit_segment *s = find_segment(t, addr);

	return !s || s->node != UNIT_UNREAD;
}

static const char *text_at(const struct unit_table *t, uint32_t at)
{
	return at < t->head->text_len && t->text[at] ? t->text + at : NULL;
}

static void put_line(const struct unit_table *t, uint32_t line, uint32_t file,
		     struct unit_place *p)
{
	p->file = text_at(t, file);
	p->line = line >> UNIT_COLUMN_BITS;
	p->column = line & COLUMN_MASK;
}

static void put_node(const struct unit_table *t, const struct unit_node *n, struct unit_place *p)
{
	const struct unit_func *f = n->func < t->head->nr_funcs ? &t->funcs[n->func] : NULL;

	p->name = f ? text_at(t, f->name) : NULL;
	p->decl_file = f ? text_at(t, f->file) : NULL;
	p->decl_line = f ? f->line : 0;
	p->scoped = f ? text_at(t, f->scoped) : NULL;
	p->is_lambda = p->scoped && f->is_lambda;
	p->func_entry = f && f->entry != UNIT_NONE ? t->head->base + f->entry : 0;
	p->entry = n->parent == UNIT_NONE && n->entry != UNIT_NONE ? t->head->base + n->entry : 0;
}

size_t unit_table_find(const struct unit_table *t, uint64_t addr, struct unit_place *v, size_t max)
{
	const struct unit_segment *s = find_segment(t, addr);
	uint32_t node = s ? s->node : UNIT_NONE, line, file;
	size_t nr = 0;

	if (!s || !max || (s->node == UNIT_NONE && s->file == UNIT_NONE))
		return 0;
	line = s->line;
	file = s->file;
	memset(&v[nr], 0, sizeof(v[nr]));
	put_line(t, line, file, &v[nr++]);
	while (node < t->head->nr_nodes) {
		const struct unit_node *n = &t->nodes[node];

		put_node(t, n, &v[nr - 1]);
		if (n->parent >= node)
			break;		/* UNIT_NONE, or a chain that does not end */
		nr += nr < max;
		memset(&v[nr - 1], 0, sizeof(v[nr - 1]));
		put_line(t, n->call_line, n->call_file, &v[nr - 1]);
		node = n->parent;
	}
	return nr;
}
