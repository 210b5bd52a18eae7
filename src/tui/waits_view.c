/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom in the newest snapshot, as a tree: at the root a thread that others wait for
 * and that waits for no other one, or a ring of threads that wait for each other; below it those
 * who wait for it. The one with most waiters behind it comes first, and deadlocks before all.
 * Shells and the like that wait for their child are counted only, as in `report --waits`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/columns.h"
#include "formats/render/waits/wait_list.h"
#include "formats/render/waits/wait_text.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/waits/wait_edges.h"
#include "src/waits/wait_function.h"
#include "src/waits/wait_graph.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_text.h"
#include "src/tui/tui_view.h"

enum { MAX_LINES = 5000, MAX_INDENT = 30, MIN_FUNCTION = 18, MIN_OBJECT = 12 };

struct wait_line {
	uint32_t row;			/* of the graph */
	uint32_t nr_behind;		/* lines below it, if it is a head */
	uint16_t indent;
	bool is_ring;			/* a member of a ring; the first one has the heading */
};

struct wait_lines {
	struct wait_graph g;
	struct wait_edges e;
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
		*line = (struct wait_line){ .row = row, .indent = (uint16_t)indent,
					    .is_ring = is_ring };
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

		/* Behind a shell that is left out are only others of the kind. */
		if (!w->done[row] && r->ring == WAIT_NONE && !w->e.known[row].is_launcher) {
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

/* One behind whom nobody is seen has no line. */
static void add_head(struct wait_lines *w, uint32_t row)
{
	size_t at = w->nr;

	if (w->done[row] || !add_line(w, row, 0, false))
		return;
	add_waiters(w, row);
	w->v[at].nr_behind = (uint32_t)(w->nr - at - 1);
	if (!w->v[at].nr_behind)
		w->nr = at;
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
	if (!w->done || wait_edges_make(&w->g, false, &w->e) || wait_heads(&w->g, &heads, &nr))
		return false;
	for (size_t i = 0; i < w->g.nr_rings; i++)
		add_ring(w, &w->g.rings[i]);
	for (size_t i = 0; i < nr; i++)
		add_head(w, heads[i]);
	free(heads);
	return true;
}

static void release(struct wait_lines *w)
{
	wait_edges_release(&w->e);
	wait_graph_release(&w->g);
	free(w->v);
	free(w->done);
}

/* ---- the parts of a line ---- */

static void put_who(const struct wait_lines *w, const struct wait_line *line,
		    const struct syscall_names *calls, FILE *out)
{
	(void)calls;
	wait_put_comm(w->g.tables, &w->g.rows[line->row], out);
	fprintf(out, " %u", w->g.rows[line->row].tid);
}

static void put_process(const struct wait_lines *w, const struct wait_line *line,
			const struct syscall_names *calls, FILE *out)
{
	const struct wait_row *row = &w->g.rows[line->row];

	(void)calls;
	if (row->tgid != row->tid)
		wait_put_process(w->g.tables, row, out);
}

static void put_does(const struct wait_lines *w, const struct wait_line *line,
		     const struct syscall_names *calls, FILE *out)
{
	const struct wait_row *row = &w->g.rows[line->row];
	uint64_t ns = wait_row_ns(row);
	char number[WAIT_CALL_MAX], span[16];

	fputs("  ", out);
	if (line->nr_behind)
		fprintf(out, "%u behind it  ", line->nr_behind);
	fputs(row->absent ? "" : task_state_name(row->rec.state), out);
	if (row->rec.syscall)
		fprintf(out, " in %s", wait_call_name(calls, &row->rec, number));
	if (ns != UINT64_MAX && row->rec.state != TASK_RUNNING)
		fprintf(out, " for %s", tui_span_text(ns, span));
}

static void put_object(const struct wait_lines *w, const struct wait_line *line,
		       const struct syscall_names *calls, FILE *out)
{
	wait_put_object(w->g.tables, calls, &w->g.rows[line->row].rec, out);
}

enum part { PART_WHO, PART_PROCESS, PART_DOES, PART_OBJECT, PARTS };

static void (*const put_part[PARTS])(const struct wait_lines *w, const struct wait_line *line,
				     const struct syscall_names *calls, FILE *out) = {
	[PART_WHO] = put_who,		/* "worker 8219" */
	[PART_PROCESS] = put_process,	/* " (server 8200)" */
	[PART_DOES] = put_does,		/* "  SLEEP in futex for 1.2 s" */
	[PART_OBJECT] = put_object,	/* "data from pipe:[4711]" */
};

/* The caller frees it. NULL: out of memory. */
static char *part_text(enum part part, const struct wait_lines *w, const struct wait_line *line,
		       const struct syscall_names *calls)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	put_part[part](w, line, calls, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int columns(const char *text)
{
	return (int)columns_of(text, strlen(text));
}

/*
 * What it waits for and in which function share what the rest of the line leaves. The function has
 * what it needs, or at least some of that.
 */
static void draw_object(struct tui *t, int at, int col, const char *object, const char *function)
{
	int left = t->canvas.cols - col, object_room = object[0] ? columns(object) + 2 : 0;
	int room = function[0] ? columns(function) + 2 : 0;

	if (room > MIN_FUNCTION && room > left - object_room)
		room = left - object_room > MIN_FUNCTION ? left - object_room : MIN_FUNCTION;
	if (object_room > left - room)
		object_room = left - room < MIN_OBJECT ? 0 : left - room;
	if (object_room)
		col += 2 + canvas_put_end(&t->canvas, at, col + 2, object_room - 2, STYLE_NORMAL,
					  object);
	if (room > 2 && t->canvas.cols - col > 2)
		canvas_put_name(&t->canvas, at, col + 2, t->canvas.cols - col - 2,
				STYLE_FRAME + 1, function);
}

static void draw_line(struct tui *t, int at, const struct wait_lines *w,
		      const struct wait_line *line, const struct syscall_names *calls)
{
	const struct wait_row *row = &w->g.rows[line->row];
	int col = 2 * (line->indent < MAX_INDENT ? line->indent : MAX_INDENT), needs = 0;
	const char *mark = line->is_ring ? "@ " : line->indent ? "- " : "* ";
	enum style style = line->is_ring ? STYLE_WARN : line->indent ? STYLE_NORMAL : STYLE_BOLD;
	char *text[PARTS];
	struct wait_function f;

	for (unsigned i = 0; i < PARTS; i++) {
		text[i] = part_text(i, w, line, calls);
		needs += text[i] ? columns(text[i]) : 0;
	}
	wait_function_of(w->g.tables, row->rec.ustack, &f);
	needs += f.name[0] ? MIN_FUNCTION : 0;
	col += canvas_put(&t->canvas, at, col, 2, style, mark);
	for (unsigned i = 0; i < PART_OBJECT; i++)
		if (text[i] && (i != PART_PROCESS || col + needs + 2 <= t->canvas.cols))
			col += canvas_put(&t->canvas, at, col, t->canvas.cols - col, style,
					  text[i]);
	draw_object(t, at, col, text[PART_OBJECT] ? text[PART_OBJECT] : "",
		    row->absent ? "" : f.name);
	for (unsigned i = 0; i < PARTS; i++)
		free(text[i]);
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

/* "@ deadlock: 1 certain, 2 possible"; what is left out of the list is told, too. */
static void draw_head(struct tui *t, int row, const struct wait_lines *w)
{
	size_t sure = 0, maybe;
	char text[160];
	int n;

	for (size_t i = 0; i < w->g.nr_rings; i++)
		sure += wait_ring_is_sure(&w->g.rings[i]);
	maybe = w->g.nr_rings - sure;
	n = snprintf(text, sizeof(text), "* holds, - waits for it%s",
		     sure + maybe ? ", @ deadlock: " : "   no deadlocks");
	if (sure)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%zu certain%s", sure,
			      maybe ? ", " : "");
	if (maybe)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%zu possible", maybe);
	if (w->e.launchers)
		snprintf(text + n, sizeof(text) - (size_t)n, "   not shown: %u waiting %s",
			 w->e.launchers, w->e.launchers == 1 ? "shell" : "shells");
	canvas_fill(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER);
	canvas_put(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER, text);
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
