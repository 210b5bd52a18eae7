/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole screen: two lines above the view that is chosen, and one below it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/model/definition_store.h"
#include "src/profile/state_words.h"
#include "src/profile/trace_summary.h"
#include "src/profile/weight_text.h"
#include "src/tui/tui_span.h"
#include "src/tui/tui_state.h"

const struct tui_view *const tui_views[VIEWS] = {
	[VIEW_FLAME] = &flame_view,	[VIEW_TOP] = &top_view,	  [VIEW_THREADS] = &threads_view,
	[VIEW_WAITS] = &waits_view,	[VIEW_TIME] = &time_view, [VIEW_HEALTH] = &health_view,
};
const char tui_view_names[] = "flame|top|threads|waits|time|health";
const char tui_mode_names[] = "accumulate|reset|decay";
static const char *const mode_words[TUI_MODES] = { "accumulate", "reset", "decay" };

/* ---- texts ---- */

enum style tui_frame_style(const struct node *n, unsigned shade)
{
	unsigned kind = n->flags & NODE_SYNTHETIC ? FRAME_SYNTHETIC
			: node_is_interpreted(n)  ? FRAME_KINDS
						  : n->kind;

	if (shade >= SHADES)		/* a name in a list */
		shade = 0;
	return STYLE_FRAME + kind * SHADES + shade;
}

const char *tui_percent(uint64_t part, uint64_t whole, char buf[16])
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;

	snprintf(buf, 16, "%.1f %%", share > 100 ? 100 : share);
	return buf;
}

const char *tui_points(uint64_t part, uint64_t whole, uint64_t before, uint64_t before_whole,
		       char buf[16])
{
	double now = whole ? 100.0 * (double)part / (double)whole : 0;
	double then = before_whole ? 100.0 * (double)before / (double)before_whole : 0;

	snprintf(buf, 16, "%+.1f", now - then);
	return buf;
}

const char *tui_clock(uint64_t ns, char buf[16])
{
	unsigned s = (unsigned)(ns / NSEC_PER_SEC);

	snprintf(buf, 16, "%u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
	return buf;
}

const char *tui_process_name(const struct tui *t, uint32_t process, char buf[96])
{
	const struct definition_store *d = live_profile_tables(tui_live(t));
	const struct rec_process *p = definition_store_find_process(d, process);
	const char *name = p ? definition_store_string(d, p->comm, NULL) : "?";

	if (p && !p->tgid)		/* stands for all of its name that have ended */
		snprintf(buf, 96, "%s (ended)", name);
	else
		snprintf(buf, 96, "%s (%u)", name, p ? p->tgid : 0);
	return buf;
}

const char *tui_span_text(uint64_t ns, char buf[16])
{
	uint64_t s = ns / NSEC_PER_SEC;

	if (s < 1)
		snprintf(buf, 16, "%u ms", (unsigned)(ns / NSEC_PER_MSEC));
	else if (s < 60)
		snprintf(buf, 16, "%u.%u s", (unsigned)s, (unsigned)(ns / 100000000 % 10));
	else if (s < 86400)
		snprintf(buf, 16, "%u:%02u:%02u", (unsigned)(s / 3600), (unsigned)(s / 60 % 60),
			 (unsigned)(s % 60));
	else
		snprintf(buf, 16, "%u d", (unsigned)(s / 86400));
	return buf;
}

const char *tui_weight(const struct tui *t, uint64_t weight, char buf[96])
{
	_Static_assert(WEIGHT_TEXT_MAX <= 96, "buf");
	return weight_text(weight, t->profile->facts.unit, buf);
}

/* ---- stacks ---- */

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

/* ---- the frame around a view ---- */

struct area tui_area(const struct tui *t)
{
	return (struct area){ 2, t->canvas.rows - 3 };
}

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
				     mode_words[t->mode]);
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

	for (int i = 0; i < VIEWS; i++) {
		enum style style = i == (int)t->view ? STYLE_TAB : STYLE_NORMAL;

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
		snprintf(hint, sizeof(hint), " Tab views  ? help  q quit   %s",
			 tui_views[t->view]->hint);
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

	canvas_clear(&t->canvas);
	draw_title(t);
	draw_tabs(t);
	if (t->has_help)
		tui_draw_help(t, a);
	else if (!t->profile && t->view != VIEW_HEALTH)
		draw_empty(t, a);
	else
		tui_views[t->view]->draw(t, a);
	draw_bottom(t);
}
