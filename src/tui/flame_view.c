/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flame graph: a row of the screen for each row of frames, a box for each node that is at least
 * a column wide. The way to the node that fills the screen is shown above it.
 *
 * Boxes are found level by level, in no more steps than there are columns in a level and rows on
 * the screen, so drawing does not depend on the size of the tree.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/tui/tui_stack.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_text.h"
#include "src/tui/tui_view.h"

struct flame_box {
	uint32_t node;
	int level, col, width;
	uint64_t x;			/* its left edge, in weight from the left of the zoom */
	uint32_t then;			/* the node of the mark that it is; NODE_NONE: none */
};

struct flame_layout {
	struct flame_box *v;
	size_t nr, cap;
	int levels;			/* of what there is, as far as it was looked at */
};

static const struct node *node_of(const struct tui *t, uint32_t node)
{
	return &t->profile->nodes[node];
}

static int column_of(uint64_t x, uint64_t whole, int cols)
{
	return whole ? (int)((unsigned __int128)x * (unsigned)cols / whole) : 0;
}

static bool add_box(struct flame_layout *l, const struct flame_box *box)
{
	struct flame_box *b = array_push(&l->v, &l->nr, &l->cap);

	if (b)
		*b = *box;
	return b;
}

/* The node that is zoomed into and what called it, all of them as wide as the screen. */
static bool add_path(const struct tui *t, struct flame_layout *l, int cols)
{
	const struct node *zoom = node_of(t, t->flame.zoom);
	struct flame_box box = { .node = t->flame.zoom, .level = zoom->depth, .width = cols };
	bool ok = true;
	size_t first = l->nr;

	for (; ok && box.node != NODE_NONE; box.level--) {
		box.then = tui_marked(t, box.node);
		ok = add_box(l, &box);
		box.node = node_of(t, box.node)->parent;
	}
	for (size_t a = first, b = l->nr; ok && a + 1 < b; a++) {	/* the root first */
		struct flame_box swap = l->v[a];

		l->v[a] = l->v[--b];
		l->v[b] = swap;
	}
	return ok;
}

static bool add_children(const struct tui *t, struct flame_layout *l, size_t parent, int cols)
{
	uint64_t whole = node_of(t, t->flame.zoom)->total, x = l->v[parent].x;
	uint32_t child = node_of(t, l->v[parent].node)->first_child;
	bool ok = true;

	for (; ok && child != NODE_NONE; child = node_of(t, child)->next_sibling) {
		uint64_t total = node_of(t, child)->total;
		int col = column_of(x, whole, cols), end = column_of(x + total, whole, cols);

		if (end > col)
			ok = add_box(l, &(struct flame_box){
				.node = child, .level = l->v[parent].level + 1, .col = col,
				.width = end - col, .x = x,
				.then = tui_marked_child(t, l->v[parent].then, child) });
		x += total;
	}
	return ok;
}

/* All boxes up to a level, in the order of levels and from left to right. */
static void lay_out(const struct tui *t, struct flame_layout *l, int max_level)
{
	bool ok = add_path(t, l, t->canvas.cols);
	size_t at = l->nr ? l->nr - 1 : 0;

	for (; ok && at < l->nr && l->v[at].level < max_level; at++)
		ok = add_children(t, l, at, t->canvas.cols);
	l->levels = l->nr ? l->v[l->nr - 1].level + 1 : 0;
}

static bool fits(const struct tui *t)
{
	const struct flame_state *f = &t->flame;

	return t->profile && f->zoom < t->profile->nr_nodes && f->at < t->profile->nr_nodes;
}

/* Below the boxes are a line about the selected one and, with a mark, the legend. */
static struct area graph_of(const struct tui *t, struct area a)
{
	return (struct area){ a.top, a.rows - (t->mark ? 2 : 1) };
}

static int row_of(const struct tui *t, struct area a, int level)
{
	int row = level - t->flame.scroll;

	return t->flame.is_up ? a.top + a.rows - 1 - row : a.top + row;
}

static unsigned hash_name(const char *s)
{
	unsigned h = 2166136261u;

	while (*s)
		h = (h ^ (uint8_t)*s++) * 16777619u;
	return h >> 8;
}

static enum style box_style(const struct tui *t, const struct flame_box *b, unsigned *last_shade)
{
	const struct node *n = node_of(t, b->node);
	unsigned shade = hash_name(profile_name(t->profile, n->name)) % SHADES;

	if (shade == *last_shade)	/* the box on its left */
		shade = (shade + 1) % SHADES;
	*last_shade = shade;
	if (b->node == t->flame.at)
		return STYLE_SELECTED;
	if (tui_search_has(&t->search, n->name))
		return STYLE_MATCH;
	return t->mark ? STYLE_CHANGE + (unsigned)(CHANGE_STEPS + tui_change(t, b->node, b->then))
		       : tui_frame_style(n, shade);
}

/* What stands at the left of a box: an edge, where colours do not tell, and what has changed. */
static const char *edge_of(const struct tui *t, const struct flame_box *b)
{
	int change = t->mark ? tui_change(t, b->node, b->then) : 0;

	if (!t->is_plain)
		return " ";
	return change > 0 ? "+" : change < 0 ? "-" : "|";
}

/* What the colours or signs of boxes mean while there is a mark. */
static void draw_legend(struct tui *t, int row)
{
	static const char *const steps[] = { " 5 ", " 1 ", " 0.3 ", " like the mark, or by chance ",
					     " 0.3 ", " 1 ", " 5 " };
	struct canvas *c = &t->canvas;
	int col = 0;

	if (t->is_plain) {
		canvas_put(c, row, 0, c->cols, STYLE_DIM,
			   "+ more than at the mark, - less, | alike, or by chance");
		return;
	}
	col += canvas_put(c, row, 0, c->cols, STYLE_DIM, "points less ");
	for (unsigned i = 0; i <= 2 * CHANGE_STEPS; i++)
		col += canvas_put(c, row, col, c->cols - col, STYLE_CHANGE + i, steps[i]);
	canvas_put(c, row, col, c->cols - col, STYLE_DIM, " points more");
}

static void draw_box(struct tui *t, struct area a, const struct flame_box *b, unsigned *shade)
{
	const struct node *n = node_of(t, b->node);
	int row = row_of(t, a, b->level);
	enum style style = box_style(t, b, shade);

	canvas_fill(&t->canvas, row, b->col, b->width, style);
	if (t->is_plain || b->width > 2)
		canvas_put(&t->canvas, row, b->col, 1, style, edge_of(t, b));
	if (b->width > 2)
		canvas_put_name(&t->canvas, row, b->col + 1, b->width - 2, style,
				profile_name(t->profile, n->name));
}

/* What is selected must be seen. */
static void scroll_to(struct tui *t, struct area a)
{
	struct flame_state *f = &t->flame;
	int depth = node_of(t, f->at)->depth;

	if (depth < f->scroll)
		f->scroll = depth;
	if (depth >= f->scroll + a.rows)
		f->scroll = depth - a.rows + 1;
	if (f->scroll < 0)
		f->scroll = 0;
}

static void draw_detail(struct tui *t, int row)
{
	const struct profile *p = t->profile;
	const struct node *n = node_of(t, t->flame.at), *up;
	uint32_t then = tui_marked(t, t->flame.at);
	uint64_t whole = p->nodes[0].total;
	char a[96], b[96], c[16], d[16], line[24] = "";
	int col = 0, cols = t->canvas.cols;

	up = n->parent == NODE_NONE ? n : node_of(t, n->parent);
	col += canvas_put_name(&t->canvas, row, 0, cols / 2, STYLE_BOLD, profile_name(p, n->name));
	col += canvas_printf(&t->canvas, row, col, cols - col, STYLE_NORMAL,
			     "  total %s %s  self %s %s", tui_percent(n->total, whole, c),
			     tui_weight(t, n->total, a), tui_percent(n->self, whole, d),
			     tui_weight(t, n->self, b));
	if (t->mark)
		col += canvas_printf(&t->canvas, row, col, cols - col, STYLE_WARN,
				     "  %s points since the mark",
				     tui_points(n->total, whole,
						then == NODE_NONE ? 0 : t->mark->nodes[then].total,
						t->mark->nodes[0].total, c));
	if (up != n)
		col += canvas_printf(&t->canvas, row, col, cols - col, STYLE_DIM,
				     "  %s of its caller", tui_percent(n->total, up->total, c));
	if (n->line)
		snprintf(line, sizeof(line), ":%u", n->line);
	if (n->file)
		col += canvas_printf(&t->canvas, row, col, cols - col, STYLE_DIM, "  %s%s",
				     profile_name(p, n->file), line);
	if (n->binary)
		canvas_printf(&t->canvas, row, col, cols - col, STYLE_DIM, "  %s",
			      profile_name(p, n->binary));
}

static void draw(struct tui *t, struct area a)
{
	struct flame_layout l = { .nr = 0 };
	struct area graph = graph_of(t, a);
	unsigned shade = SHADES;
	int level = -1;

	if (!fits(t) || graph.rows < 1)
		return;
	scroll_to(t, graph);
	lay_out(t, &l, t->flame.scroll + graph.rows - 1);
	for (size_t i = 0; i < l.nr; i++) {
		if (l.v[i].level != level)
			shade = SHADES;
		level = l.v[i].level;
		if (level >= t->flame.scroll && level < t->flame.scroll + graph.rows)
			draw_box(t, graph, &l.v[i], &shade);
	}
	if (t->mark)
		draw_legend(t, a.top + a.rows - 2);
	draw_detail(t, a.top + a.rows - 1);
	free(l.v);
}

/* ---- keys ---- */

static uint32_t largest_child(const struct tui *t, uint32_t node)
{
	uint32_t best = NODE_NONE, c = node_of(t, node)->first_child;

	for (; c != NODE_NONE; c = node_of(t, c)->next_sibling)
		if (best == NODE_NONE || node_of(t, c)->total > node_of(t, best)->total)
			best = c;
	return best;
}

/* The box beside the selected one in its row, which may have another parent. */
static uint32_t beside(const struct tui *t, int step)
{
	struct flame_layout l = { .nr = 0 };
	uint32_t found = NODE_NONE;

	lay_out(t, &l, node_of(t, t->flame.at)->depth);
	for (size_t i = 0; i < l.nr; i++) {
		size_t next = i + (size_t)step;

		if (l.v[i].node == t->flame.at && next < l.nr && l.v[next].level == l.v[i].level)
			found = l.v[next].node;
	}
	free(l.v);
	return found;
}

static void go(struct tui *t, uint32_t node)
{
	if (node != NODE_NONE)
		t->flame.at = node;
}

static void go_to_parent(struct tui *t)
{
	uint32_t parent = node_of(t, t->flame.at)->parent;

	if (parent == NODE_NONE)
		return;
	if (t->flame.at == t->flame.zoom)	/* out of what fills the screen */
		t->flame.zoom = parent;
	t->flame.at = parent;
}

static void go_far(struct tui *t, int steps)
{
	for (; steps > 0; steps--)
		go(t, largest_child(t, t->flame.at));
	for (; steps < 0; steps++)
		if (node_of(t, t->flame.at)->parent != NODE_NONE)
			t->flame.at = node_of(t, t->flame.at)->parent;
}

/* The next node in the order of the tree whose name is found; step 1 or -1. */
static void go_to_match(struct tui *t, int step)
{
	uint32_t nr = (uint32_t)t->profile->nr_nodes, at = t->flame.at;

	if (!t->search.names) {
		tui_say(t, "nothing to look for: / asks for it");
		return;
	}
	for (uint32_t i = 0; i < nr; i++) {
		at = step > 0 ? (at + 1) % nr : (at + nr - 1) % nr;
		if (at && tui_search_has(&t->search, node_of(t, at)->name)) {
			t->flame.at = t->flame.zoom = at;
			return;
		}
	}
	tui_say(t, "\"%s\" is in no stack", t->search.text);
}

static void look_for_selected(struct tui *t)
{
	const char *name = profile_name(t->profile, node_of(t, t->flame.at)->name);

	if (!strcmp(t->search.text, name)) {
		tui_search_clear(&t->search);
		return;
	}
	snprintf(t->search.text, sizeof(t->search.text), "%s", name);
	tui_search_run(&t->search, t->profile);
}

static void escape(struct tui *t)
{
	if (t->search.names)
		tui_search_clear(&t->search);
	else
		t->flame.zoom = 0;
}

static bool move_key(struct tui *t, int key)
{
	bool up = t->flame.is_up;
	int page = tui_area(t).rows - 2;

	switch (key) {
	case 'k': case TUI_UP: case 'j': case TUI_DOWN:
		if ((key == 'j' || key == TUI_DOWN) != up)
			go(t, largest_child(t, t->flame.at));
		else
			go_to_parent(t);
		return true;
	case 'h': case TUI_LEFT: go(t, beside(t, -1)); return true;
	case 'l': case TUI_RIGHT: go(t, beside(t, 1)); return true;
	case 'f': case TUI_PAGE_DOWN: go_far(t, page); return true;
	case 'b': case TUI_PAGE_UP: go_far(t, -page); return true;
	case 'g': case TUI_HOME: t->flame.at = t->flame.zoom; return true;
	case 'G': case TUI_END: go_far(t, 10000); return true;
	}
	return false;
}

static bool key(struct tui *t, int k)
{
	if (!fits(t))
		return false;
	if (move_key(t, k))
		return true;
	switch (k) {
	case TUI_ENTER: t->flame.zoom = t->flame.at; return true;
	case TUI_ESC: escape(t); return true;
	case 'r': t->flame.zoom = t->flame.at = 0; return true;
	case 'v': t->flame.is_up = !t->flame.is_up; return true;
	case '#': look_for_selected(t); return true;
	case 'n': go_to_match(t, 1); return true;
	case 'N': go_to_match(t, -1); return true;
	}
	return false;
}

static bool mouse(struct tui *t, const struct mouse *m, struct area a)
{
	struct area graph = graph_of(t, a);
	struct flame_layout l = { .nr = 0 };
	bool hit = false;

	if (!fits(t))
		return false;
	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN)
		return move_key(t, m->kind == MOUSE_WHEEL_UP ? 'k' : 'j');
	lay_out(t, &l, t->flame.scroll + graph.rows - 1);
	for (size_t i = 0; i < l.nr && !hit; i++) {
		const struct flame_box *b = &l.v[i];

		hit = row_of(t, graph, b->level) == m->row && m->col >= b->col &&
		      m->col < b->col + b->width;
		if (hit)
			t->flame.at = b->node;
	}
	free(l.v);
	if (hit && m->kind != MOUSE_CLICK)
		t->flame.zoom = t->flame.at;
	return hit;
}

const struct tui_view flame_view = {
	.name = "flame",
	.title = "Flame",
	.hint = "arrows move  Enter zoom  Esc out  / search  i invert  v up/down",
	.draw = draw,
	.key = key,
	.mouse = mouse,
};
