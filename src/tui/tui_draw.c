/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_draw.h"

#include <stdio.h>
#include <string.h>

#include "src/model/definition_store.h"
#include "src/report/state_words.h"
#include "src/report/trace_summary.h"
#include "src/report/weight_text.h"
#include "src/tui/tui_help.h"
#include "src/tui/tui_mode.h"
#include "src/tui/tui_span.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_text.h"
#include "src/tui/tui_views.h"

/* The name of the trace, without its directories where there is no room for them. */
static const char *name_for(const struct tui *t, int width)
{
	const char *name = t->source->name, *slash = strrchr(name, '/');

	return slash && (int)strlen(name) > width ? slash + 1 : name;
}

static void draw_title(struct tui *t)
{
	const struct live_profile *l = tui_live(t);
	struct canvas *c = &t->canvas;
	const char *host = l ? live_profile_meta(l, "host") : "", *name;
	uint64_t begin = 0, end = 0, lost = 0;
	char clock[16], text[256], n[WEIGHT_TEXT_MAX] = "";
	int len, at;
	bool has_room;

	if (l) {
		live_profile_times(l, &begin, &end);
		lost = live_profile_info(l)->lost_all;
	}
	canvas_fill(c, 0, 0, c->cols, STYLE_BAR);
	len = snprintf(text, sizeof(text), "%s%s%s lost  %s%s ",
		       t->profile ? t->profile->facts.amount : "", t->profile ? ", " : "",
		       count_text(lost, n), tui_clock(end - begin, clock),
		       t->is_frozen ? "  FROZEN" : t->is_over ? "  ended" : "");
	at = c->cols - len > 20 ? c->cols - len : 20;
	canvas_put(c, 0, at, len, STYLE_BAR, text);
	name = name_for(t, at - 10);
	has_room = host[0] && (int)(strlen(name) + strlen(host)) < at - 15;
	canvas_printf(c, 0, 0, at - 1, STYLE_BAR, " probee  %s%s%s", name,
		      has_room ? "  on " : "", has_room ? host : "");
}

static const char *event_name(const struct tui *t)
{
	const struct definition_store *d = live_profile_tables(tui_live(t));
	const struct rec_event *e = definition_store_find_event(d, t->event);

	return e ? definition_store_string(d, e->name, NULL) : "";
}

/* What is left out of what is seen. */
static int draw_filters(struct tui *t, int col)
{
	struct canvas *c = &t->canvas;

	if (t->choice.to_ns)
		col += canvas_put(c, 1, col, c->cols - col, STYLE_WARN, " brushed");
	else if (t->mode != TUI_ACCUMULATE)
		col += canvas_printf(c, 1, col, c->cols - col, STYLE_WARN, " %s",
				     tui_mode_name(t->mode));
	else if (t->span)
		col += canvas_printf(c, 1, col, c->cols - col, STYLE_WARN, " %s",
				     tui_span_name(t->span));
	if (t->choice.tgid)
		col += canvas_printf(c, 1, col, c->cols - col, STYLE_WARN, " process %u",
				     t->choice.tgid);
	for (unsigned i = 0; t->choice.activities && i < ACTIVITIES; i++)
		if (t->choice.activities == 1u << i)
			col += canvas_printf(c, 1, col, c->cols - col, STYLE_WARN, " %s",
					     activity_name(i));
	if (t->is_inverted)
		col += canvas_put(c, 1, col, c->cols - col, STYLE_WARN, " inverted");
	if (t->mark)
		col += canvas_put(c, 1, col, c->cols - col, STYLE_WARN, " marked");
	return col;
}

static void draw_tabs(struct tui *t)
{
	struct canvas *c = &t->canvas;
	char share[16];
	int col = 0;

	for (int i = 0; i < TUI_VIEWS; i++) {
		enum style style = tui_views[i] == t->view ? STYLE_TAB : STYLE_NORMAL;

		col += canvas_printf(c, 1, col, c->cols - col, style, " %s ", tui_views[i]->title);
	}
	if (t->event && tui_live(t))
		col += canvas_printf(c, 1, col, c->cols - col, STYLE_KEY, "  %s", event_name(t));
	col = draw_filters(t, col);
	if (t->search.names)
		canvas_printf(c, 1, col, c->cols - col, STYLE_MATCH, " /%s: %s", t->search.text,
			      tui_percent(t->search.covered, t->profile->nodes[0].total, share));
}

/* Writes as many parts of a text as fit. Two spaces separate its parts. */
static void put_parts(struct canvas *c, int row, int width, const char *text)
{
	size_t len = strlen(text);

	while (len > (size_t)width) {
		do
			len--;
		while (len && strncmp(text + len, "  ", 2));
		if (!len)
			return;
	}
	canvas_put_len(c, row, 0, width, STYLE_BAR, text, len);
}

static void draw_bottom(struct tui *t)
{
	struct canvas *c = &t->canvas;
	int row = c->rows - 1, col;
	char hint[160];

	canvas_fill(c, row, 0, c->cols, STYLE_BAR);
	if (t->prompt.kind) {
		col = canvas_put(c, row, 0, c->cols, STYLE_BAR,
				 t->prompt.kind == PROMPT_SEARCH ? "/" : "write to: ");
		col += canvas_put(c, row, col, c->cols - col - 1, STYLE_BAR, t->prompt.text);
		canvas_put(c, row, col, 1, STYLE_SELECTED, " ");
	} else if (t->message[0]) {
		canvas_put(c, row, 0, c->cols, STYLE_WARN, t->message);
	} else {
		if (t->has_help)
			tui_help_hint(t, hint);
		else
			snprintf(hint, sizeof(hint), " Tab views  ? help  q quit   %s",
				 t->view->hint);
		put_parts(c, row, c->cols, hint);
	}
}

/* Why there is nothing to see yet. */
static void draw_empty(struct tui *t, struct area a)
{
	const char *text = t->is_over		 ? "This recording has no samples."
			   : t->source->is_live	 ? "Nothing was sampled yet."
						 : "The trace is being read.";

	canvas_put(&t->canvas, a.top + a.rows / 3, 2, t->canvas.cols - 2, STYLE_DIM, text);
	if (t->source->message && t->is_over)
		canvas_put(&t->canvas, a.top + a.rows / 3 + 1, 2, t->canvas.cols - 2, STYLE_WARN,
			   t->source->message(t->source->ctx));
}

void tui_draw(struct tui *t)
{
	struct area a = tui_area(t);

	t->is_unfinished = false;
	canvas_clear(&t->canvas);
	draw_title(t);
	draw_tabs(t);
	if (t->has_help)
		tui_help_draw(t, a);
	else if (!t->profile && !t->view->needs_no_tree)
		draw_empty(t, a);
	else
		t->view->draw(t, a);
	draw_bottom(t);
}
