/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/cursor.h"

#include <assert.h>

#include "src/tui/tui_keycodes.h"

void cursor_fit(struct cursor *c, uint32_t nr, uint32_t seen)
{
	if (!seen)
		seen = 1;
	if (c->at >= nr)
		c->at = nr ? nr - 1 : 0;
	if (c->top > c->at)
		c->top = c->at;
	if (c->at >= c->top + seen)
		c->top = c->at - seen + 1;
	if (c->top + seen > nr)
		c->top = nr > seen ? nr - seen : 0;
	assert(c->top <= c->at && (c->at < nr || !nr));
}

bool cursor_key(struct cursor *c, int key, uint32_t nr, uint32_t seen)
{
	uint32_t last = nr ? nr - 1 : 0, page = seen > 1 ? seen - 1 : 1;

	switch (key) {
	case 'j': case TUI_DOWN: c->at += c->at < last; return true;
	case 'k': case TUI_UP: c->at -= c->at > 0; return true;
	case 'f': case TUI_PAGE_DOWN:
		c->at = c->at + page > last ? last : c->at + page;
		return true;
	case 'b': case TUI_PAGE_UP: c->at -= c->at < page ? c->at : page; return true;
	case 'g': case TUI_HOME: c->at = 0; return true;
	case 'G': case TUI_END: c->at = last; return true;
	}
	return false;
}
