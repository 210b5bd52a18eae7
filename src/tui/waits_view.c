/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom in the newest snapshot, as a tree: at the root a thread that others wait for
 * and that waits for no other one, or a ring of threads that wait for each other; below it those
 * who wait for it. The one with most waiters behind it comes first, and deadlocks before all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/waits/wait_list.h"
#include "formats/render/waits/wait_text.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/waits/wait_function.h"
#include "src/waits/wait_graph.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_text.h"
#include "src/tui/tui_view.h"

enum { MAX_LINES = 5000, MAX_INDENT = 30 };

struct wait_line {
	uint32_t row;			/* of the graph */
	uint16_t indent;
	bool is_ring;			/* a member of a ring; the first one has the heading */
};

struct wait_lines {
	struct wait_graph g;
	struct wait_line *v;
	size_t nr, cap;
	uint8_t *done;			/* by row */
};

static int add_rows(struct wait_lines *w, const struct live_profile *l)
{
	const struct definition_store *d = live_profile_tables(l);
	uint32_t scan = live_profile_scan(l);

	for (uint32_t i = 1; i < live_profile_threads(l); i++) {
		const struct rec_sample *rec = live_profile_row(l, i);
		const struct rec_thread *t = definition_store_find_thread(d, i);
		const struct rec_process *p;
		struct wait_row *row;

		if (!rec || !t || rec->scan + 1 < scan)
			continue;
		row = array_push(&w->g.rows, &w->g.nr, &w->g.cap);
		if (!row)
			return -1;
		p = definition_store_find_process(d, t->process);
		*row = (struct wait_row){ .rec = *rec, .tid = t->tid, .tgid = p ? p->tgid : 0,
					  .passes = true, .real_ns = rec->time_ns };
	}
	return 0;
}

static bool add_line(struct wait_lines *w, uint32_t row, unsigned indent, bool is_ring)
{
	struct wait_line *line = w->nr < MAX_LINES ? array_push(&w->v, &w->nr, &w->cap) : NULL;

	if (line)
		*line = (struct wait_line){ row, (uint16_t)indent, is_ring };
	w->done[row] = 1;
	return line;
}

/* Those who wait for a row, and for these, from the longest wait to the shortest. */
static void add_waiters(struct wait_lines *w, uint32_t head)
{
	uint32_t row = w->g.rows[head].first_waiter;
	unsigned indent = 1;

	while (row != WAIT_NONE) {
		const struct wait_row *r = &w->g.rows[row];

		if (!w->done[row] && r->ring == WAIT_NONE) {
			if (!add_line(w, row, indent, false))
				return;
			if (r->first_waiter != WAIT_NONE) {
				row = r->first_waiter;
				indent++;
				continue;
			}
		}
		while (row != WAIT_NONE && row != head && w->g.rows[row].next_waiter == WAIT_NONE) {
			row = w->g.rows[row].owner;
			indent--;
		}
		if (row == WAIT_NONE || row == head)
			return;
		row = w->g.rows[row].next_waiter;
	}
}

static void add_ring(struct wait_lines *w, const struct wait_ring *ring)
{
	uint32_t row = ring->first;

	for (uint32_t i = 0; i < ring->nr && row != WAIT_NONE; i++) {
		if (!add_line(w, row, 0, true))
			return;
		row = w->g.rows[row].owner;
	}
	row = ring->first;
	for (uint32_t i = 0; i < ring->nr && row != WAIT_NONE; i++) {
		add_waiters(w, row);
		row = w->g.rows[row].owner;
	}
}

static bool load(const struct tui *t, struct wait_lines *w)
{
	uint32_t *heads = NULL;
	size_t nr = 0;

	*w = (struct wait_lines){ .nr = 0 };
	w->g.tables = live_profile_tables(tui_live(t));
	if (add_rows(w, tui_live(t)) || wait_graph_link(&w->g))
		return false;
	w->done = calloc(w->g.nr + 1, 1);
	if (!w->done || wait_heads(&w->g, &heads, &nr))
		return false;
	for (size_t i = 0; i < w->g.nr_rings; i++)
		add_ring(w, &w->g.rings[i]);
	for (size_t i = 0; i < nr; i++)
		if (!w->done[heads[i]] && add_line(w, heads[i], 0, false))
			add_waiters(w, heads[i]);
	free(heads);
	return true;
}

static void release(struct wait_lines *w)
{
	wait_graph_release(&w->g);
	free(w->v);
	free(w->done);
}

/* "server 8219 of app (8200)  SLEEP in futex  waits for ...": the caller frees it. */
static char *line_text(const struct wait_lines *w, const struct wait_line *line,
		       const struct syscall_names *calls)
{
	const struct wait_row *row = &w->g.rows[line->row];
	char *text = NULL, number[WAIT_CALL_MAX], span[16];
	uint64_t ns = wait_row_ns(row);
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	wait_put_comm(w->g.tables, row, out);
	fprintf(out, " %u", row->tid);
	if (row->tgid != row->tid)
		wait_put_process(w->g.tables, row, out);
	if (row->nr_behind && row->owner == WAIT_NONE)
		fprintf(out, "  %u behind it", row->nr_behind);
	fprintf(out, "  %s", row->absent ? "" : task_state_name(row->rec.state));
	if (row->rec.syscall)
		fprintf(out, " in %s", wait_call_name(calls, &row->rec, number));
	if (ns != UINT64_MAX && row->rec.state != TASK_RUNNING)
		fprintf(out, " for %s", tui_span_text(ns, span));
	fputs("  ", out);
	wait_put_object(w->g.tables, calls, &row->rec, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static void draw_line(struct tui *t, int at, const struct wait_lines *w,
		      const struct wait_line *line, const struct syscall_names *calls)
{
	const struct wait_row *row = &w->g.rows[line->row];
	char *text = line_text(w, line, calls);
	struct wait_function f;
	int col = 2 * (line->indent < MAX_INDENT ? line->indent : MAX_INDENT), cols, used;
	const char *mark = line->is_ring ? "@ " : line->indent ? "- " : "* ";
	enum style style = line->is_ring ? STYLE_WARN : line->indent ? STYLE_NORMAL : STYLE_BOLD;

	cols = t->canvas.cols;
	used = canvas_put(&t->canvas, at, col, 2, style, mark);
	used += canvas_put(&t->canvas, at, col + used, cols - col - used, style, text ? text : "?");
	free(text);
	wait_function_of(w->g.tables, row->rec.ustack, &f);
	if (f.name[0] && !row->absent && cols - col - used > 12)
		canvas_put_name(&t->canvas, at, col + used + 2, cols - col - used - 2,
				STYLE_FRAME + 1, f.name);
}

static void draw_lines(struct tui *t, struct area a, const struct wait_lines *w)
{
	if (!tui_calls(t))
		return;
	if (t->scroll >= w->nr)
		t->scroll = w->nr ? (uint32_t)w->nr - 1 : 0;
	for (int i = 0; i < a.rows && t->scroll + (uint32_t)i < w->nr; i++)
		draw_line(t, a.top + i, w, &w->v[t->scroll + (uint32_t)i], tui_calls(t));
}

static void draw_head(struct tui *t, int row, const struct wait_lines *w)
{
	size_t sure = 0;

	for (size_t i = 0; i < w->g.nr_rings; i++)
		sure += wait_ring_is_sure(&w->g.rings[i]);
	canvas_fill(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER);
	canvas_printf(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER,
		      "* holds, - waits for the one above, @ in a ring   %zu %s, %zu certain",
		      w->g.nr_rings, w->g.nr_rings == 1 ? "ring" : "rings", sure);
}

static void draw(struct tui *t, struct area a)
{
	struct wait_lines w;

	if (!tui_live(t))
		return;
	if (!live_profile_scan(tui_live(t))) {
		canvas_put(&t->canvas, a.top, 0, t->canvas.cols, STYLE_DIM,
			   "This recording has no snapshots, which tell who waits for whom.");
		return;
	}
	if (load(t, &w)) {
		draw_head(t, a.top, &w);
		draw_lines(t, (struct area){ a.top + 1, a.rows - 1 }, &w);
		if (!w.nr)
			canvas_put(&t->canvas, a.top + 1, 0, t->canvas.cols, STYLE_DIM,
				   "No thread is known to wait for another one.");
	}
	release(&w);
}

static bool key(struct tui *t, int k)
{
	return tui_scroll_key(t, k, MAX_LINES);
}

const struct tui_view waits_view = {
	.name = "waits",
	.title = "Waits",
	.hint = "arrows scroll",
	.draw = draw,
	.key = key,
};
