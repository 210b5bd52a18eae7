/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "src/model/definition_parts.h"

/* Takes hidden functions away from a frame; whether none is left. */
static bool hide_functions(struct definition_store *t, uint32_t id, hides_fn hides, void *ctx)
{
	const struct rec_frame *frame = definition_store_find_frame(t, id);
	struct table_symbol *s = (struct table_symbol *)definition_store_find_symbol(t, id);
	uint32_t all = definition_store_frame_depth(t, id), kept = 0;
	char buf[FRAME_TEXT_MAX];
	struct frame_view view;
	bool lacks_outer = false;

	for (uint32_t i = 0; i < all; i++) {
		definition_store_frame_view(t, id, i, buf, &view);
		lacks_outer = hides(ctx, frame, &view);
		if (lacks_outer)
			continue;
		if (kept != i)
			t->lines[s->first_line + kept] = t->lines[s->first_line + i];
		kept++;
	}
	if (!kept || !s || !s->nr_lines)
		return !kept;
	s->lacks_outer = lacks_outer;
	s->nr_lines = kept;
	return false;
}

int definition_store_hide(struct definition_store *t, hides_fn hides, void *ctx, const char *text)
{
	uint32_t frames = definition_store_id_end(t, REC_FRAME);
	uint32_t nodes = definition_store_id_end(t, REC_NODE);
	struct table_node *rows = t->columns[REC_NODE].v;
	bool *hidden = calloc((size_t)frames + 1, sizeof(*hidden));

	if (!hidden)
		return -ENOMEM;
	for (uint32_t id = 1; id < frames; id++)
		if (definition_store_find_frame(t, id))
			hidden[id] = hide_functions(t, id, hides, ctx);
	for (uint32_t id = 1; id < nodes; id++) {
		struct table_node *n = &rows[id];

		n->is_hidden = n->frame < frames && hidden[n->frame];
		n->is_blank = (n->is_folded || n->is_hidden) &&
			      definition_store_is_blank(t, n->parent);
	}
	free(hidden);
	t->hidden_text = text;
	return 0;
}

const char *definition_store_hidden(const struct definition_store *t, uint32_t stack)
{
	if (!stack || !definition_store_is_blank(t, stack))
		return NULL;
	return t->hidden_text ? t->hidden_text : "[hidden]";
}
