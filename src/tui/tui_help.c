/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_help.h"

#include <stdio.h>

#include "src/tui/tui_state.h"

static const struct {
	const char *keys, *what;
} help[] = {
	{ "In all views", NULL },
	{ "Tab, Shift-Tab", "the next view, the one before; a click on its name" },
	{ "q, Ctrl-C", "leave" },
	{ "/", "look for a regular expression: its share of the stacks" },
	{ "n, N", "the next one that is found, the one before" },
	{ "z", "freeze the picture; what comes meanwhile is kept" },
	{ "m", "accumulate; reset at each picture; decay" },
	{ "[, ]", "a shorter part of the time up to now, a longer one" },
	{ "e", "the next event: CPU time, wall time, ..." },
	{ "s", "only threads that run, wait for a CPU, for a disk, ..." },
	{ "p", "the root: programs, processes, threads (Threads: groups)" },
	{ "i", "inverted: the callers of each function below it" },
	{ "d", "mark: compare shares with those of now; again: no more" },
	{ "o", "write it to a file: .svg, .html, .folded, .pb.gz, ..." },
	{ "arrows, hjkl", "move" },
	{ "f, b, PgDn, PgUp", "a page" },
	{ "g, G, Home, End", "the first, the last" },
	{ "Processes", NULL },
	{ "Enter, Esc", "all views show this process alone, or all again" },
	{ "Flame", NULL },
	{ "Enter, double click", "zoom into the function" },
	{ "Esc", "forget what was looked for, then zoom out" },
	{ "r", "back to the root" },
	{ "#", "mark this function wherever it is" },
	{ "v", "the root above, or below" },
	{ "Top", NULL },
	{ "1, 2", "by total, by self" },
	{ "t", "the call tree: Enter or right opens it, left closes it" },
	{ "Enter", "show the function in the flame graph" },
	{ "Threads", NULL },
	{ "Enter", "its stack, what it did lately, who holds what it waits for" },
	{ "1, 2, S", "sorted by CPU time, by the time waited, by the next column" },
	{ "P", "all views show this thread's process alone; again: all" },
	{ "Time", NULL },
	{ "Space", "begin to brush, end it: all views show it; Esc: all time" },
};

enum {
	HELP_LINES = sizeof(help) / sizeof(help[0]),
	COL_KEYS = 2,
	COL_WHAT = 22,		/* a screen of 80 columns has room for 58 after it */
};

void tui_help_draw(struct tui *t, struct area a)
{
	for (int row = 0; row < a.rows && t->scroll + (uint32_t)row < HELP_LINES; row++) {
		uint32_t i = t->scroll + (uint32_t)row;
		int col = help[i].what ? COL_KEYS : 0;

		canvas_put(&t->canvas, a.top + row, col, 20,
			   help[i].what ? STYLE_KEY : STYLE_HEADER, help[i].keys);
		if (help[i].what)
			canvas_put(&t->canvas, a.top + row, COL_WHAT, t->canvas.cols - COL_WHAT,
				   STYLE_NORMAL, help[i].what);
	}
}

void tui_help_hint(const struct tui *t, char buf[TUI_HELP_HINT_MAX])
{
	uint32_t rows = (uint32_t)tui_area(t).rows, last = t->scroll + rows;
	bool is_whole = !t->scroll && last >= HELP_LINES;

	if (last > HELP_LINES)
		last = HELP_LINES;
	if (is_whole)
		snprintf(buf, TUI_HELP_HINT_MAX, " any key leaves the help");
	else
		snprintf(buf, TUI_HELP_HINT_MAX,
			 " lines %u to %u of %u  arrows scroll  any other key leaves the help",
			 t->scroll + 1, last, HELP_LINES);
}

bool tui_help_key(struct tui *t, int key)
{
	return tui_scroll_key(t, key, HELP_LINES);
}
