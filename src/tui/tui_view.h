/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a view of the terminal is, and the part of the screen that it has. tui_views.h says which
 * views there are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mouse;
struct tui;

/* Rows of the canvas that belong to a view. */
struct area {
	int top, rows;
};

struct tui_view {
	const char *name;		/* "flame" */
	const char *title;		/* "Flame" */
	const char *hint;		/* the keys that matter most here, for the last line */
	bool needs_no_tree;		/* it has something to show before the first sample */
	void (*draw)(struct tui *t, struct area a);
	bool (*key)(struct tui *t, int key);	/* false: not a key of this view */
	bool (*mouse)(struct tui *t, const struct mouse *m, struct area a);	/* or NULL */
};
extern const struct tui_view processes_view, flame_view, top_view, threads_view, waits_view,
	time_view, health_view;

struct area tui_area(const struct tui *t);
/* Moves t->scroll by a key, in a text of nr lines. false: another key. */
bool tui_scroll_key(struct tui *t, int key, uint32_t nr);
