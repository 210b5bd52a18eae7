/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_stack.h"

#include "src/model/definition_store.h"
#include "src/tui/tui_state.h"

enum style tui_frame_style(const struct node *n, unsigned shade)
{
	unsigned kind = n->flags & NODE_SYNTHETIC ? FRAME_SYNTHETIC
			: node_is_interpreted(n)  ? FRAME_KINDS
						  : n->kind;

	if (shade >= SHADES)		/* a name in a list */
		shade = 0;
	return STYLE_FRAME + kind * SHADES + shade;
}

static int put_frames(struct tui *t, int row, int col, int width, int max_rows, uint32_t node)
{
	const struct definition_store *d = live_profile_tables(tui_live(t));
	const struct table_node *n = definition_store_find_node(d, node);
	int used = 0;

	for (; n && used < max_rows; n = definition_store_find_node(d, n->parent)) {
		uint32_t depth = definition_store_frame_depth(d, n->frame);
		const struct rec_frame *f = definition_store_find_frame(d, n->frame);

		for (uint32_t i = 0; i < depth && used < max_rows; i++, used++) {
			char buf[FRAME_TEXT_MAX], line[FRAME_LINE_MAX];
			struct node kind = { .kind = f ? f->kind : FRAME_USER };
			struct frame_view v;
			int w;

			definition_store_frame_view(d, n->frame, i, buf, &v);
			if (v.tier == TIER_INTERPRETED)
				kind = (struct node){ .kind = FRAME_JIT,
						      .flags = NODE_INTERPRETED };
			w = canvas_put_name(&t->canvas, row + used, col, width * 2 / 3,
					    tui_frame_style(&kind, SHADES), v.name);
			if (definition_store_line_text(d, &v, line) > 0)
				canvas_put(&t->canvas, row + used, col + w, width - w, STYLE_DIM,
					   line);
		}
	}
	return used;
}

int tui_put_stack(struct tui *t, int row, int col, int width, int max_rows, uint32_t kstack,
		  uint32_t ustack)
{
	int used = put_frames(t, row, col, width, max_rows, kstack);

	return used + put_frames(t, row + used, col, width, max_rows - used, ustack);
}
