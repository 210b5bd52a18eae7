/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the time went: all of it as a sparkline, and below it a heat map with a line for each of the
 * processes that had most of it. A part can be brushed with the keys; then all views show that part
 * alone.
 */
#include <stdlib.h>

#include "src/base/clock.h"
#include "src/live/live_windows.h"
#include "src/tui/activity_sums.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_text.h"
#include "src/tui/tui_view.h"

enum { NAME_ROOM = 24, SPARK_ROWS = 4, NUMBER_ROOM = 9 };

static int columns_of(const struct tui *t)
{
	int cols = t->canvas.cols - NAME_ROOM - NUMBER_ROOM - 1;

	return cols < 10 ? 10 : cols;
}

/* From the first window to the end of the last one, both in whole seconds. */
static bool times(const struct tui *t, uint64_t *from, uint64_t *to)
{
	const struct live_windows *w = tui_live(t) ? live_profile_windows(tui_live(t)) : NULL;

	if (!w || !w->nr)
		return false;
	*from = w->v[0].begin_ns;
	*to = w->v[w->nr - 1].end_ns;
	return true;
}

/* A short recording has fewer columns than there is room for. */
static uint32_t nr_columns(const struct tui *t, uint64_t from, uint64_t to)
{
	uint64_t seconds = (to - from) / NSEC_PER_SEC, most = (uint64_t)columns_of(t);

	return (uint32_t)(seconds < most ? seconds ? seconds : 1 : most);
}

static uint64_t time_of(uint32_t column, uint32_t columns, uint64_t from, uint64_t to)
{
	uint64_t at = from + (uint64_t)((unsigned __int128)(to - from) * column / columns);

	return at - at % NSEC_PER_SEC;
}

/* The columns that all views show now; to 0: all. */
static bool is_brushed(const struct tui *t, uint32_t column, uint32_t columns, uint64_t from,
		       uint64_t to)
{
	uint64_t at = time_of(column, columns, from, to), begin = t->choice.from_ns,
		 end = t->choice.to_ns;

	if (t->time.is_brushing) {
		uint64_t cursor = time_of(t->time.at, columns, from, to);

		begin = cursor < t->time.brush_ns ? cursor : t->time.brush_ns;
		end = (cursor < t->time.brush_ns ? t->time.brush_ns : cursor) + 1;
	}
	return end && at >= begin && at < end;
}

static void draw_spark(struct tui *t, struct area a, const struct activity_sums *s,
		       uint32_t columns)
{
	for (uint32_t c = 0; c < columns; c++) {
		unsigned eighths = s->most_all ? (unsigned)((unsigned __int128)s->all[c] *
							    (8 * SPARK_ROWS) / s->most_all)
					       : 0;

		if (s->all[c] && !eighths)
			eighths = 1;
		for (int row = SPARK_ROWS - 1; row >= 0; row--) {
			canvas_spark(&t->canvas, a.top + row, NAME_ROOM + (int)c, STYLE_GOOD,
				     eighths > 8 ? 8 : eighths);
			eighths = eighths > 8 ? eighths - 8 : 0;
		}
	}
}

static void draw_row(struct tui *t, int row, const struct activity_row *r,
		     const struct activity_sums *s, uint32_t columns)
{
	char text[96];

	canvas_put(&t->canvas, row, 0, NAME_ROOM - 1, STYLE_NORMAL,
		   tui_process_name(t, r->id, text));
	for (uint32_t c = 0; c < columns; c++) {
		unsigned heat = r->cells[c] ? 1 + (unsigned)((unsigned __int128)r->cells[c] *
							      (HEAT_STEPS - 2) / s->most)
					    : 0;
		static const char dark_to_light[] = " .:-=+*#@";

		canvas_printf(&t->canvas, row, NAME_ROOM + (int)c, 1, STYLE_HEAT + heat, "%c",
			      t->is_plain ? dark_to_light[heat] : ' ');
	}
	canvas_printf(&t->canvas, row, NAME_ROOM + (int)columns + 1, NUMBER_ROOM, STYLE_NORMAL,
		      "%8s", tui_percent(r->weight, s->weight, text));
}

static void draw_axis(struct tui *t, int row, uint32_t columns, uint64_t from, uint64_t to)
{
	char a[16], b[16];
	uint64_t first, last, at = time_of(t->time.at, columns, from, to);

	live_profile_times(tui_live(t), &first, &last);
	for (uint32_t c = 0; c < columns; c++)
		if (is_brushed(t, c, columns, from, to))
			canvas_put(&t->canvas, row, NAME_ROOM + (int)c, 1, STYLE_SELECTED, "=");
	canvas_put(&t->canvas, row, NAME_ROOM + (int)t->time.at, 1, STYLE_KEY, "^");
	canvas_printf(&t->canvas, row + 1, NAME_ROOM, t->canvas.cols - NAME_ROOM, STYLE_DIM,
		      "cursor at %s of %s", tui_clock(at > first ? at - first : 0, a),
		      tui_clock(last - first, b));
	canvas_printf(&t->canvas, row, 0, NAME_ROOM - 1, STYLE_DIM, "%s",
		      t->time.is_brushing ? "brushing" : t->choice.to_ns ? "brushed" : "");
}

static void draw(struct tui *t, struct area a)
{
	struct activity_wish wish = { .live = tui_live(t), .event = t->event,
				      .which = t->choice };
	struct activity_sums s;
	int row = a.top + SPARK_ROWS;

	if (!times(t, &wish.from_ns, &wish.to_ns))
		return;
	wish.columns = nr_columns(t, wish.from_ns, wish.to_ns);
	if (t->time.at >= wish.columns)
		t->time.at = wish.columns - 1;
	if (activity_sums_init(&s, &wish))
		return;
	draw_spark(t, a, &s, wish.columns);
	draw_axis(t, row, wish.columns, wish.from_ns, wish.to_ns);
	row += 2;
	for (size_t i = t->scroll; i < s.nr && row < a.top + a.rows; i++, row++)
		draw_row(t, row, &s.rows[i], &s, wish.columns);
	activity_sums_release(&s);
}

/* Begins to brush at the cursor, or ends: from then on all views show that part. */
static void brush(struct tui *t, uint64_t from, uint64_t to)
{
	uint32_t columns = nr_columns(t, from, to);
	uint64_t at = time_of(t->time.at, columns, from, to), a, b;

	if (!t->time.is_brushing) {
		t->time.is_brushing = true;
		t->time.brush_ns = at;
		return;
	}
	a = at < t->time.brush_ns ? at : t->time.brush_ns;
	b = at < t->time.brush_ns ? t->time.brush_ns : at;
	t->time.is_brushing = false;
	t->choice.from_ns = a;
	t->choice.to_ns = b + (to - from) / columns;
	t->choice.to_ns += NSEC_PER_SEC - 1;
	t->choice.to_ns -= t->choice.to_ns % NSEC_PER_SEC;
	tui_remake(t);
}

static void forget(struct tui *t)
{
	t->time.is_brushing = false;
	t->choice.from_ns = t->choice.to_ns = 0;
	tui_remake(t);
}

static bool key(struct tui *t, int k)
{
	uint64_t from, to;
	uint32_t last, page;

	if (!times(t, &from, &to))
		return false;
	last = nr_columns(t, from, to) - 1;
	page = last / 10 + 1;
	switch (k) {
	case 'h': case TUI_LEFT: t->time.at -= t->time.at > 0; return true;
	case 'l': case TUI_RIGHT: t->time.at += t->time.at < last; return true;
	case 'b': t->time.at -= t->time.at < page ? t->time.at : page; return true;
	case 'f': t->time.at = t->time.at + page > last ? last : t->time.at + page; return true;
	case 'g': case TUI_HOME: t->time.at = 0; return true;
	case 'G': case TUI_END: t->time.at = last; return true;
	case 'j': case TUI_DOWN: t->scroll++; return true;
	case 'k': case TUI_UP: t->scroll -= t->scroll > 0; return true;
	case ' ': case TUI_ENTER: brush(t, from, to); return true;
	case TUI_ESC: forget(t); return true;
	}
	return false;
}

static bool mouse(struct tui *t, const struct mouse *m, struct area a)
{
	uint64_t from, to;
	int col = m->col - NAME_ROOM;

	(void)a;
	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN)
		return key(t, m->kind == MOUSE_WHEEL_UP ? 'k' : 'j');
	if (!times(t, &from, &to) || col < 0 || (uint32_t)col >= nr_columns(t, from, to))
		return false;
	t->time.at = (uint32_t)col;
	return m->kind == MOUSE_CLICK || key(t, ' ');
}

const struct tui_view time_view = {
	.name = "time",
	.title = "Time",
	.hint = "arrows move  Space begins and ends a brush  Esc all time",
	.draw = draw,
	.key = key,
	.mouse = mouse,
};
