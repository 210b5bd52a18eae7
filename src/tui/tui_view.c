/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_view.h"

#include "src/tui/tui_state.h"

struct area tui_area(const struct tui *t)
{
	return (struct area){ 2, t->canvas.rows - 3 };
}

bool tui_scroll_key(struct tui *t, int key, uint32_t nr)
{
	struct cursor c = { t->scroll, 0 };
	bool known = cursor_key(&c, key, nr, (uint32_t)tui_area(t).rows);

	t->scroll = c.at;
	return known;
}
