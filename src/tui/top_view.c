/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that cost most, wherever they were called, or the call tree as a list that opens
 * and closes. On a wide screen functions have a sparkline of the last minute. Below are those of
 * the processes that cost most.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/function_list.h"
#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/tui/activity_sums.h"
#include "src/tui/top_tree.h"
#include "src/tui/tui_stack.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_text.h"
#include "src/tui/tui_view.h"

enum {
	PROCESS_ROWS = 6,
	MINUTE = MINUTE_SECONDS,
	NUMBERS = 2 * 9 + 2 * 11 + 1,	/* columns of both shares, both weights */
	FEW_NUMBERS = 28,		/* both shares, the weight that is sorted by */
	NAME_ROOM = 40,			/* names of functions have this much, and are not cut */
	BINARY_ROOM = 24,
};

/* The list gets what the processes leave; on a low screen all. */
static int list_rows(struct area a)
{
	int rows = a.rows - PROCESS_ROWS - 2;

	return rows < 8 ? a.rows - 1 : rows;
}

/* The columns of the sparkline of a function; 0: the screen is too narrow for any. */
static uint32_t minute_columns(const struct tui *t)
{
	if (t->top.as_tree)
		return 0;
	return t->canvas.cols >= 160 ? MINUTE : t->canvas.cols >= 110 ? MINUTE / 2 : 0;
}

/* What there is room for beside a name and some of its file. */
static int numbers_columns(const struct tui *t)
{
	int spark = (int)minute_columns(t);
	int left = t->canvas.cols - NUMBERS - (spark ? spark + 1 : 0);

	return left >= NAME_ROOM + BINARY_ROOM / 2 ? NUMBERS : FEW_NUMBERS;
}

static void draw_numbers(struct tui *t, int row, uint64_t self, uint64_t total)
{
	uint64_t whole = t->profile->nodes[0].total;
	int columns = numbers_columns(t);
	char a[96], b[96], c[16], d[16];

	tui_percent(self, whole, c);
	tui_percent(total, whole, d);
	if (columns == NUMBERS)
		canvas_printf(&t->canvas, row, 0, columns, STYLE_NORMAL, "%8s %10s %8s %10s", c,
			      tui_weight(t, self, a), d, tui_weight(t, total, b));
	else if (t->top.by_total)
		canvas_printf(&t->canvas, row, 0, columns, STYLE_NORMAL, "%7s %7s %10s", c, d,
			      tui_weight(t, total, b));
	else
		canvas_printf(&t->canvas, row, 0, columns, STYLE_NORMAL, "%7s %10s %7s", c,
			      tui_weight(t, self, a), d);
}

/* minute: columns of sparklines before the name. */
static void draw_head(struct tui *t, int row, int minute, const char *what)
{
	bool total = t->top.by_total, has_few = numbers_columns(t) == FEW_NUMBERS;
	int first = !has_few ? 19 : total ? 7 : 18, second = !has_few ? 19 : total ? 18 : 7;

	canvas_fill(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER);
	canvas_printf(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER, "%*s %*s  %-*.*s%s",
		      first, total ? "self" : "self v", second, total ? "total v" : "total",
		      minute, minute, "last minute, to its own peak", what);
}

/* The name has all it needs before its file has any; a long path says most at its end. */
static void draw_name(struct tui *t, int row, int col, uint32_t name, uint32_t binary,
		      enum style style)
{
	const char *path = profile_name(t->profile, binary), *slash = strrchr(path, '/');
	const char *file = binary ? slash ? slash + 1 : path : "";
	int end = t->canvas.cols - (t->mark ? 8 : 0), left = end - col;
	int needs = *file ? (int)strlen(file) + 2 : 0, room;

	needs = needs < BINARY_ROOM ? needs : BINARY_ROOM;
	room = left - needs > NAME_ROOM ? left - needs : left < NAME_ROOM ? left : NAME_ROOM;
	col += canvas_put_name(&t->canvas, row, col, room, style, profile_name(t->profile, name));
	if (*file && end - col > 7)
		canvas_put_end(&t->canvas, row, col + 2, end - col - 2, STYLE_DIM, file);
}

static void mark_selected(struct tui *t, int row, bool is_selected)
{
	if (is_selected)
		canvas_restyle(&t->canvas, row, 0, t->canvas.cols, STYLE_SELECTED);
}

static enum style name_style(const struct tui *t, uint32_t name, const struct node *n)
{
	return tui_search_has(&t->search, name) ? STYLE_MATCH : tui_frame_style(n, SHADES);
}

/* ---- the list ---- */

/* By how many percentage points the share differs from that of the mark. */
static void draw_points(struct tui *t, int row, const struct function_cost *f)
{
	const struct minute_function *old = top_list_then(t, f);
	bool total = t->top.by_total;
	char points[16];

	tui_points(total ? f->total : f->self, t->profile->nodes[0].total,
		   old ? total ? old->total : old->self : 0, t->mark->nodes[0].total, points);
	canvas_printf(&t->canvas, row, t->canvas.cols - 7, 7, STYLE_WARN, "%7s", points);
}

static void update_minute(struct tui *t)
{
	const struct minute_wish wish = { tui_live(t), t->event, t->choice, t->shown_ns };

	function_minute_update(&t->top.minute, &wish);
	t->is_unfinished = t->top.minute.is_partial;
}

static void draw_spark(struct tui *t, int row, uint32_t columns, const struct function_cost *f)
{
	uint64_t cells[MINUTE], most = 0;
	uint64_t key = function_minute_key(profile_name(t->profile, f->name),
					   profile_name(t->profile, f->binary), f->kind);

	function_minute_find(&t->top.minute, key, t->top.by_total, columns, cells);
	for (uint32_t i = 0; i < columns; i++)
		most = cells[i] > most ? cells[i] : most;
	for (uint32_t i = 0; i < columns; i++)
		canvas_spark(&t->canvas, row, numbers_columns(t) + (int)i, STYLE_GOOD,
			     cells[i] ? 1 + (unsigned)(cells[i] * 7 / most) : 0);
}

static void draw_list(struct tui *t, struct area a)
{
	const struct function_list *l = top_list(t);
	uint32_t rows = (uint32_t)list_rows(a), minute = minute_columns(t);
	int name_col = numbers_columns(t) + (minute ? (int)minute + 1 : 0);

	if (!l)
		return;
	cursor_fit(&t->top.cursor, (uint32_t)l->nr, rows);
	draw_head(t, a.top, name_col - numbers_columns(t), "function");
	if (minute)
		update_minute(t);
	for (uint32_t i = 0; i < rows && t->top.cursor.top + i < l->nr; i++) {
		const struct function_cost *f = &l->v[t->top.cursor.top + i];
		const struct node n = { .kind = f->kind, .flags = f->flags & ~NODE_SYNTHETIC };
		int row = a.top + 1 + (int)i;

		draw_numbers(t, row, f->self, f->total);
		if (minute)
			draw_spark(t, row, minute, f);
		draw_name(t, row, name_col, f->name, f->binary, name_style(t, f->name, &n));
		if (t->mark)
			draw_points(t, row, f);
		mark_selected(t, row, t->top.cursor.top + i == t->top.cursor.at);
	}
}

/* ---- the tree ---- */

static void draw_tree_row(struct tui *t, int row, const struct tree_row *r)
{
	const struct node *n = &t->profile->nodes[r->node];
	int indent = r->indent < 40 ? r->indent * 2 : 80;
	const char *mark = !r->has_children ? " " : r->is_open ? "-" : "+";

	draw_numbers(t, row, n->self, n->total);
	indent += numbers_columns(t);
	canvas_put(&t->canvas, row, indent, 1, STYLE_DIM, mark);
	draw_name(t, row, indent + 2, n->name, n->binary, name_style(t, n->name, n));
}

static void draw_tree(struct tui *t, struct area a)
{
	struct tree_rows l;
	uint32_t rows = (uint32_t)list_rows(a);

	if (tree_rows_init(&l, t->profile, t->top.open, t->top.cap_open))
		return;
	cursor_fit(&t->top.cursor, (uint32_t)l.nr, rows);
	draw_head(t, a.top, 0, "call tree");
	for (uint32_t i = 0; i < rows && t->top.cursor.top + i < l.nr; i++) {
		draw_tree_row(t, a.top + 1 + (int)i, &l.v[t->top.cursor.top + i]);
		mark_selected(t, a.top + 1 + (int)i, t->top.cursor.top + i == t->top.cursor.at);
	}
	tree_rows_release(&l);
}

/* ---- the last minute ---- */

static void draw_process(struct tui *t, int row, int columns, const struct activity_row *r,
			 uint64_t whole, uint64_t most)
{
	char share[16], weight[96], name[96];
	int col;

	canvas_printf(&t->canvas, row, 0, 20, STYLE_NORMAL, "%8s %10s",
		      tui_percent(r->weight, whole, share), tui_weight(t, r->weight, weight));
	col = 21;
	for (int i = 0; i < columns; i++)
		canvas_spark(&t->canvas, row, col + i, STYLE_GOOD,
			     most && r->cells[i] ? 1 + (unsigned)(r->cells[i] * 7 / most) : 0);
	canvas_put(&t->canvas, row, col + columns + 1, t->canvas.cols, STYLE_NORMAL,
		   tui_process_name(t, r->id, name));
}

static void draw_minute(struct tui *t, struct area a)
{
	uint64_t end = t->shown_ns - t->shown_ns % NSEC_PER_SEC + NSEC_PER_SEC;
	struct activity_wish wish = {
		.live = tui_live(t), .event = t->event, .which = t->choice, .to_ns = end,
		.from_ns = end > MINUTE * NSEC_PER_SEC ? end - MINUTE * NSEC_PER_SEC : 0,
		.columns = t->canvas.cols < MINUTE + 40 ? MINUTE / 2 : MINUTE,
	};
	struct activity_sums s;

	if (activity_sums_init(&s, &wish))
		return;
	canvas_fill(&t->canvas, a.top, 0, t->canvas.cols, STYLE_HEADER);
	canvas_printf(&t->canvas, a.top, 0, t->canvas.cols, STYLE_HEADER,
		      "%19s  %-*s process", "last minute", (int)wish.columns, "");
	for (size_t i = 0; i < s.nr && (int)i < a.rows - 1; i++)
		draw_process(t, a.top + 1 + (int)i, (int)wish.columns, &s.rows[i], s.weight,
			     s.most);
	activity_sums_release(&s);
}

static void draw(struct tui *t, struct area a)
{
	int rows = list_rows(a);

	if (!t->profile)
		return;
	if (t->top.as_tree)
		draw_tree(t, a);
	else
		draw_list(t, a);
	if (rows < a.rows - 1)
		draw_minute(t, (struct area){ a.top + rows + 1, a.rows - rows - 1 });
}

/* ---- keys ---- */

static void toggle(struct tui *t, uint32_t node)
{
	if (array_reserve(&t->top.open, &t->top.cap_open, t->profile->nr_nodes + 1))
		return;
	t->top.open[node] = !t->top.open[node];
}

static void tree_key(struct tui *t, int key)
{
	struct tree_rows l;

	if (tree_rows_init(&l, t->profile, t->top.open, t->top.cap_open))
		return;
	if (t->top.cursor.at < l.nr) {
		const struct tree_row *r = &l.v[t->top.cursor.at];

		if (key == TUI_ENTER || r->is_open == (key == 'h' || key == TUI_LEFT))
			toggle(t, r->node);
	}
	tree_rows_release(&l);
}

/* Shows the function in the flame graph. */
static void show_function(struct tui *t)
{
	const struct function_list *l = top_list(t);

	if (l && t->top.cursor.at < l->nr) {
		snprintf(t->search.text, sizeof(t->search.text), "%s",
			 profile_name(t->profile, l->v[t->top.cursor.at].name));
		tui_search_run(&t->search, t->profile);
		t->view = &flame_view;
		t->flame.at = t->flame.zoom = 0;
		flame_view.key(t, 'n');
		t->flame.zoom = 0;
	}
}

static uint32_t nr_rows(struct tui *t)
{
	const struct function_list *l = t->top.as_tree ? NULL : top_list(t);
	struct tree_rows rows;
	uint32_t nr = l ? (uint32_t)l->nr : 0;

	if (t->top.as_tree &&
	    !tree_rows_init(&rows, t->profile, t->top.open, t->top.cap_open)) {
		nr = (uint32_t)rows.nr;
		tree_rows_release(&rows);
	}
	return nr;
}

static bool key(struct tui *t, int k)
{
	bool sideways = k == 'h' || k == 'l' || k == TUI_LEFT || k == TUI_RIGHT;

	if (!t->profile)
		return false;
	if (k == '1' || k == '2') {
		t->top.by_total = k == '1';
		t->top.cursor = (struct cursor){ 0 };
	} else if (k == 't') {
		t->top.as_tree = !t->top.as_tree;
		t->top.cursor = (struct cursor){ 0 };
	} else if (t->top.as_tree && (k == TUI_ENTER || sideways)) {
		tree_key(t, k);
	} else if (k == TUI_ENTER) {
		show_function(t);
	} else if (k == TUI_ESC) {
		tui_search_clear(&t->search);
	} else {
		return cursor_key(&t->top.cursor, k, nr_rows(t), (uint32_t)list_rows(tui_area(t)));
	}
	return true;
}

static bool mouse(struct tui *t, const struct mouse *m, struct area a)
{
	int row = m->row - a.top - 1;

	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN)
		return key(t, m->kind == MOUSE_WHEEL_UP ? 'k' : 'j');
	if (row < 0 || row >= list_rows(a))
		return false;
	t->top.cursor.at = t->top.cursor.top + (uint32_t)row;
	return m->kind == MOUSE_CLICK || key(t, TUI_ENTER);
}

const struct tui_view top_view = {
	.name = "top",
	.title = "Top",
	.hint = "1 total  2 self  t tree  Enter shows it in the flame graph",
	.draw = draw,
	.key = key,
	.mouse = mouse,
};
