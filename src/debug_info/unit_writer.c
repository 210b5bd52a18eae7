/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_writer.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"

int unit_segments_add(struct unit_segments *s, uint64_t addr, const struct unit_segment *seg)
{
	struct unit_segment *x = s->nr ? &s->v[s->nr - 1] : NULL;

	if (addr - s->base > UINT32_MAX)
		return 0;		/* further away than a program's code is */
	if (x && x->line == seg->line && x->file == seg->file && x->node == seg->node)
		return 0;
	if (!x || x->addr != (uint32_t)(addr - s->base))
		x = array_push(&s->v, &s->nr, &s->cap);
	if (!x)
		return -ENOMEM;
	*x = *seg;
	x->addr = (uint32_t)(addr - s->base);
	return 0;
}

int unit_segments_reserve(struct unit_segments *s, size_t nr)
{
	s->v = malloc((nr + 1) * sizeof(*s->v));
	s->cap = s->v ? nr + 1 : 0;
	return s->v ? 0 : -ENOMEM;
}

int unit_write(const struct unit_parts *p, struct byte_buf *out)
{
	struct unit_head head = {
		.unit = p->unit,
		.base = p->segments->base,
		.nr_segments = (uint32_t)p->segments->nr,
		.nr_nodes = (uint32_t)p->nr_nodes,
		.nr_funcs = (uint32_t)p->nr_funcs,
		.text_len = (uint32_t)p->text->nr,
		.lang = p->lang,
		.nr_partial = p->nr_partial,
	};
	size_t before = out->nr;

	bb_room(out, sizeof(head) + p->segments->nr * sizeof(*p->segments->v) +
			     p->nr_nodes * sizeof(*p->nodes) + p->nr_funcs * sizeof(*p->funcs) +
			     p->text->nr);
	bb_bytes(out, &head, sizeof(head));
	bb_bytes(out, p->segments->v, p->segments->nr * sizeof(*p->segments->v));
	bb_bytes(out, p->nodes, p->nr_nodes * sizeof(*p->nodes));
	bb_bytes(out, p->funcs, p->nr_funcs * sizeof(*p->funcs));
	bb_bytes(out, p->text->v, p->text->nr);
	if (!out->bad)
		return 0;
	out->bad = false;
	out->nr = before;
	return -ENOMEM;
}
