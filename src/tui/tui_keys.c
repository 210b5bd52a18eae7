/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys do in every view, the line that asks for text, and the help that lists all keys. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/model/definition_store.h"
#include "src/profile/state_words.h"
#include "src/tui/tui_span.h"
#include "src/tui/tui_state.h"

/* ---- lists ---- */

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

bool tui_scroll_key(struct tui *t, int key, uint32_t nr)
{
	struct cursor c = { t->scroll, 0 };
	bool known = cursor_key(&c, key, nr, (uint32_t)tui_area(t).rows);

	t->scroll = c.at;
	return known;
}

/* ---- what all views have ---- */

static void next_event(struct tui *t)
{
	size_t nr;
	const struct live_event *v = live_profile_events(tui_live(t), &nr);

	for (uint32_t i = 1; i <= nr; i++) {
		uint32_t id = (t->event + i) % (uint32_t)nr;

		if (id && v[id].samples) {
			t->event = id;
			t->has_chosen_event = true;
			break;
		}
	}
	tui_remake(t);
}

/* All activities, then one after the other of those that a snapshot tells apart. */
static void next_state(struct tui *t)
{
	unsigned i = 0;

	while (i < ACTIVITIES && t->choice.activities != 1u << i)
		i++;
	i = t->choice.activities ? i + 1 : 0;
	t->choice.activities = i < ACTIVITY_UNKNOWN ? 1u << i : 0;
	tui_remake(t);
	tui_say(t, "%s", t->choice.activities ? activity_name(i) : "all threads, whatever they do");
}

static void next_roots(struct tui *t)
{
	static const struct {
		struct fold_by by;
		const char *what;
	} roots[] = {
		{ { { FOLD_BY_PROGRAM, FOLD_BY_COMM }, 2 }, "programs and their threads" },
		{ { { FOLD_BY_PROCESS }, 1 }, "processes" },
		{ { { FOLD_BY_PROCESS, FOLD_BY_THREAD }, 2 }, "processes and threads" },
		{ { { FOLD_BY_NONE }, 1 }, "functions alone" },
	};
	size_t nr = sizeof(roots) / sizeof(roots[0]), i = 0;

	while (i < nr && memcmp(&roots[i].by, &t->by, sizeof(t->by)))
		i++;
	i = (i + 1) % nr;
	t->by = roots[i].by;
	tui_remake(t);
	tui_say(t, "at the root: %s", roots[i].what);
}

static void set_span(struct tui *t, int step)
{
	uint32_t span = t->span + (uint32_t)step;

	if (span >= TUI_SPANS)		/* also below 0 */
		return;
	t->span = span;
	t->mode = TUI_ACCUMULATE;
	t->choice.from_ns = t->choice.to_ns = 0;
	tui_remake(t);
	tui_say(t, "%s", tui_span_name(span));
}

static void next_mode(struct tui *t)
{
	static const char *const said[TUI_MODES] = {
		"accumulate: all since the beginning", "reset: the time since the last picture",
		"decay: a sample weighs 3/4 of itself after each picture",
	};

	t->mode = (t->mode + 1) % TUI_MODES;
	t->span = 0;
	tui_remake(t);
	tui_say(t, "%s", said[t->mode]);
}

static void freeze(struct tui *t)
{
	t->is_frozen = !t->is_frozen;
	tui_say(t, t->is_frozen ? "frozen; what comes meanwhile is kept" : "goes on");
}

static void change_view(struct tui *t, int step)
{
	t->view = (enum tui_view_id)(((int)t->view + VIEWS + step) % VIEWS);
	t->scroll = 0;
}

static void ask(struct tui *t, enum prompt_kind kind, const char *text)
{
	t->prompt.kind = kind;
	snprintf(t->prompt.text, sizeof(t->prompt.text), "%s", text);
	t->prompt.len = strlen(t->prompt.text);
}

static bool global_key(struct tui *t, int key)
{
	switch (key) {
	case 'q': t->wants_quit = true; return true;
	case TUI_TAB: change_view(t, 1); return true;
	case TUI_BACKTAB: change_view(t, -1); return true;
	case '?': t->has_help = true; t->scroll = 0; return true;
	case '/': ask(t, PROMPT_SEARCH, ""); return true;
	case 'z': freeze(t); return true;
	}
	if (!tui_live(t) || !t->event)
		return false;
	switch (key) {
	case 'o': ask(t, PROMPT_EXPORT, "probee.svg"); return true;
	case 'i': t->is_inverted = !t->is_inverted; t->flame.zoom = t->flame.at = 0;
		tui_remake(t); return true;
	case 's': next_state(t); return true;
	case 'e': next_event(t); return true;
	case 'p': next_roots(t); return true;
	case 'm': next_mode(t); return true;
	case 'd': tui_mark(t); return true;
	case '[': set_span(t, 1); return true;
	case ']': set_span(t, -1); return true;
	}
	return false;
}

/* ---- help ---- */

static const struct {
	const char *keys, *what;
} help[] = {
	{ "In all views", NULL },
	{ "Tab, Shift-Tab", "the next view, the one before; a click on its name" },
	{ "q, Ctrl-C", "leave" },
	{ "/", "look for a regular expression; the share of the stacks that have it is shown" },
	{ "n, N", "the next one that is found, the one before" },
	{ "z", "freeze the picture; what comes meanwhile is kept" },
	{ "m", "accumulate; reset at each picture; decay" },
	{ "[, ]", "a shorter part of the time up to now, a longer one" },
	{ "e", "the next event: CPU time, wall time, ..." },
	{ "s", "only threads that run, that wait for a CPU, for a disk, ..." },
	{ "p", "what is at the root: programs, processes, threads (Threads: groups)" },
	{ "i", "inverted: the callers of each function below it" },
	{ "d", "mark: shares are compared with those of now (Flame, Top); again: no more" },
	{ "o", "write what is seen to a file: .svg, .html, .folded, .json, .pb.gz, ..." },
	{ "arrows, hjkl", "move" },
	{ "f, b, PgDn, PgUp", "a page" },
	{ "g, G, Home, End", "the first, the last" },
	{ "Flame", NULL },
	{ "Enter, double click", "zoom into the function" },
	{ "Esc", "forget what was looked for, then zoom out" },
	{ "r", "back to the root" },
	{ "#", "mark this function wherever it is" },
	{ "v", "the root above, or below" },
	{ "Top", NULL },
	{ "1, 2", "by total, by self" },
	{ "t", "the call tree as a list that opens (Enter, right) and closes (left)" },
	{ "Enter", "show the function in the flame graph" },
	{ "Threads", NULL },
	{ "Enter", "the stack of the thread, what it did lately, who holds what it waits for" },
	{ "1, 2, S", "sorted by CPU time, by the time waited, by the next column" },
	{ "P", "all views show this thread's process alone; again: all" },
	{ "Time", NULL },
	{ "Space", "begin to brush, end it: all views show that part; Esc: all" },
};

/* ---- the line that asks ---- */

static void answer_prompt(struct tui *t)
{
	enum prompt_kind kind = t->prompt.kind;

	t->prompt.kind = PROMPT_NONE;
	if (kind == PROMPT_EXPORT) {
		tui_export(t, t->prompt.text);
		return;
	}
	snprintf(t->search.text, sizeof(t->search.text), "%s", t->prompt.text);
	tui_search_run(t);
	if (t->search.text[0] && t->view == VIEW_THREADS)
		tui_views[t->view]->key(t, 'n');
	else if (t->search.names)
		tui_say(t, "%u nodes; n and N go from one to the next", t->search.found);
}

static void prompt_key(struct tui *t, int key)
{
	struct prompt *p = &t->prompt;

	if (key == TUI_ENTER) {
		answer_prompt(t);
	} else if (key == TUI_ESC) {
		p->kind = PROMPT_NONE;
	} else if (key == TUI_BACKSPACE || key == 127 || key == 8) {
		if (p->len)
			p->text[--p->len] = 0;
	} else if (key == TUI_CTRL_U) {
		p->text[p->len = 0] = 0;
	} else if (key >= ' ' && key < 127 && p->len + 1 < sizeof(p->text)) {
		p->text[p->len++] = (char)key;
		p->text[p->len] = 0;
	}
}

void tui_key(struct tui *t, int key)
{
	t->message[0] = 0;
	if (t->prompt.kind) {
		prompt_key(t, key);
	} else if (t->has_help) {
		t->has_help = tui_scroll_key(t, key, sizeof(help) / sizeof(help[0]));
		if (!t->has_help)
			t->scroll = 0;
	} else if (!tui_export_key(t, key) &&
		   !(tui_views[t->view]->key && (t->profile || t->view == VIEW_HEALTH) &&
		     tui_views[t->view]->key(t, key))) {
		global_key(t, key);
	}
}

void tui_mouse(struct tui *t, const struct mouse *m)
{
	struct area a = tui_area(t);
	int col = 0;

	t->message[0] = 0;
	if (m->row == 1 && m->kind == MOUSE_CLICK) {
		for (int i = 0; i < VIEWS; i++) {
			int width = (int)strlen(tui_views[i]->title) + 2;

			if (m->col >= col && m->col < col + width) {
				t->view = (enum tui_view_id)i;
				t->scroll = 0;
			}
			col += width;
		}
	} else if (m->row >= a.top && m->row < a.top + a.rows && t->profile &&
		   tui_views[t->view]->mouse) {
		tui_views[t->view]->mouse(t, m, a);
	}
}

void tui_draw_help(struct tui *t, struct area a)
{
	uint32_t nr = sizeof(help) / sizeof(help[0]);

	for (int row = 0; row < a.rows && t->scroll + (uint32_t)row < nr; row++) {
		uint32_t i = t->scroll + (uint32_t)row;
		int col = help[i].what ? 2 : 0;

		canvas_put(&t->canvas, a.top + row, col, 20,
			   help[i].what ? STYLE_KEY : STYLE_HEADER, help[i].keys);
		if (help[i].what)
			canvas_put(&t->canvas, a.top + row, 24, t->canvas.cols - 24, STYLE_NORMAL,
				   help[i].what);
	}
}

int tui_mode_of(const char *name)
{
	static const char *const names[TUI_MODES] = { "accumulate", "reset", "decay" };

	for (int i = 0; i < TUI_MODES; i++)
		if (!strcmp(names[i], name))
			return i;
	return -EINVAL;
}

bool tui_has_view(const char *name)
{
	for (int i = 0; i < VIEWS; i++)
		if (!strcmp(tui_views[i]->name, name))
			return true;
	return false;
}
