/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_keys.h"

#include <stdio.h>
#include <string.h>

#include "src/model/definition_store.h"
#include "src/report/state_words.h"
#include "src/tui/tui_export.h"
#include "src/tui/tui_help.h"
#include "src/tui/tui_span.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_views.h"

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
		{ { .v = { FOLD_BY_PROGRAM, FOLD_BY_COMM }, .nr = 2 },
		  "programs and their threads" },
		{ { .v = { FOLD_BY_PROCESS }, .nr = 1 }, "processes" },
		{ { .v = { FOLD_BY_PROCESS, FOLD_BY_THREAD }, .nr = 2 }, "processes and threads" },
		{ { .v = { FOLD_BY_NONE }, .nr = 1 }, "functions alone" },
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
	int at = 0;

	while (tui_views[at] != t->view)
		at++;
	t->view = tui_views[(at + TUI_VIEWS + step) % TUI_VIEWS];
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
	tui_search_run(&t->search, t->profile);
	if (t->search.text[0] && t->view == &threads_view)
		t->view->key(t, 'n');
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
		t->has_help = tui_help_key(t, key);
		if (!t->has_help)
			t->scroll = 0;
	} else if (!tui_export_key(t, key) &&
		   !(t->view->key && (t->profile || t->view->needs_no_tree) &&
		     t->view->key(t, key))) {
		global_key(t, key);
	}
}

void tui_mouse(struct tui *t, const struct mouse *m)
{
	struct area a = tui_area(t);
	int col = 0;

	t->message[0] = 0;
	if (m->row == 1 && m->kind == MOUSE_CLICK) {
		for (int i = 0; i < TUI_VIEWS; i++) {
			int width = (int)strlen(tui_views[i]->title) + 2;

			if (m->col >= col && m->col < col + width) {
				t->view = tui_views[i];
				t->scroll = 0;
			}
			col += width;
		}
	} else if (m->row >= a.top && m->row < a.top + a.rows && t->profile && t->view->mouse) {
		t->view->mouse(t, m, a);
	}
}
