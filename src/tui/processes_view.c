/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes as they are now, the busiest first: how much CPU time each took lately, its memory,
 * and what its busiest thread does. Enter shows the functions of one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/live/live_profile.h"
#include "src/live/thread_rows.h"
#include "src/model/record.h"
#include "src/report/weight_text.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_text.h"
#include "src/tui/tui_view.h"

enum { NARROW_NAME = 18, WIDE_NAME = 30, NARROW_BAR = 10, WIDE_BAR = 20, WIDE_SCREEN = 120 };

/* Where columns begin. */
struct places {
	int pid, share, bar, bar_width, memory, state;
};

struct process_lines {
	struct thread_rows r;
	uint32_t *v;			/* headings among r.lines */
	uint32_t nr;
};

static struct places places_of(const struct tui *t)
{
	bool is_wide = t->canvas.cols >= WIDE_SCREEN;
	struct places p = { .pid = (is_wide ? WIDE_NAME : NARROW_NAME) + 1,
			    .bar_width = is_wide ? WIDE_BAR : NARROW_BAR };

	p.share = p.pid + 8;
	p.bar = p.share + 7;
	p.memory = p.bar + p.bar_width + 1;
	p.state = p.memory + 10;
	return p;
}

static bool load(const struct tui *t, struct process_lines *l)
{
	const struct live_choice all = { .tgid = 0 };

	*l = (struct process_lines){ .nr = 0 };
	if (!tui_live(t) || thread_rows_init(&l->r, tui_live(t), &all))
		return false;
	if (!thread_rows_sort(&l->r, SORT_CPU, GROUP_PROCESS))
		l->v = calloc(l->r.nr_lines + 1, sizeof(*l->v));
	if (!l->v) {
		thread_rows_release(&l->r);
		return false;
	}
	for (uint32_t i = 0; i < l->r.nr_lines; i++)
		if (l->r.lines[i].nr)
			l->v[l->nr++] = i;
	return true;
}

static void release(struct process_lines *l)
{
	thread_rows_release(&l->r);
	free(l->v);
}

/* Its threads stand side by side; the first of them is the busiest. */
static const struct thread_row *threads_of(const struct process_lines *l, uint32_t i, uint32_t *nr)
{
	*nr = l->r.lines[l->v[i]].nr;
	return &l->r.v[l->r.lines[l->v[i]].row];
}

static uint32_t tgid_of(const struct process_lines *l, uint32_t i)
{
	uint32_t nr;
	const struct thread_row *first = threads_of(l, i, &nr);

	return first->p ? first->p->tgid : 0;
}

/* The cursor stays on its process while the order changes. */
static void follow(struct tui *t, const struct process_lines *l)
{
	for (uint32_t i = 0; t->processes.at_tgid && i < l->nr; i++)
		if (tgid_of(l, i) == t->processes.at_tgid) {
			t->processes.cursor.at = i;
			return;
		}
}

static void draw_head(struct tui *t, const struct process_lines *l, int row)
{
	struct places p = places_of(t);
	struct canvas *c = &t->canvas;

	canvas_fill(c, row, 0, c->cols, STYLE_HEADER);
	canvas_put(c, row, 0, p.pid, STYLE_HEADER, "process");
	canvas_printf(c, row, p.pid, 7, STYLE_HEADER, "%7s", "PID");
	canvas_printf(c, row, p.share, 6, STYLE_HEADER, "%6s", l->r.cpu_of_ns ? "%CPU" : "");
	canvas_put(c, row, p.bar, p.bar_width, STYLE_HEADER, "of a CPU");
	canvas_printf(c, row, p.memory, 9, STYLE_HEADER, "%9s", "memory");
	canvas_put(c, row, p.state, c->cols - p.state, STYLE_HEADER, "S waits for");
}

static void draw_bar(struct tui *t, int row, const struct places *p, double share)
{
	int cells = (int)(share * p->bar_width + 0.5);

	if (!cells && share >= 0.01)
		cells = 1;
	for (int i = 0; i < cells && i < p->bar_width; i++)
		canvas_spark(&t->canvas, row, p->bar + i, STYLE_GOOD, 8);
}

static void draw_state(struct tui *t, int row, int col, const struct thread_row *th)
{
	char letter = th->rec ? task_state_letter(th->rec->state) : ' ';
	char *what = th->rec ? tui_waits_for(t, th->rec) : NULL;

	canvas_printf(&t->canvas, row, col, 1, letter == 'R' ? STYLE_GOOD : STYLE_NORMAL, "%c",
		      letter);
	if (what)
		canvas_put_end(&t->canvas, row, col + 2, t->canvas.cols - col - 2, STYLE_DIM, what);
	free(what);
}

static void draw_process(struct tui *t, const struct process_lines *l, uint32_t i, int row,
			 uint64_t bytes)
{
	uint32_t nr;
	const struct thread_row *th = threads_of(l, i, &nr);
	struct places p = places_of(t);
	struct canvas *c = &t->canvas;
	char text[WEIGHT_TEXT_MAX];
	uint64_t cpu_ns = 0;
	double share;
	int used;

	for (uint32_t k = 0; k < nr; k++)
		cpu_ns += th[k].cpu_ns;
	share = l->r.cpu_of_ns ? (double)cpu_ns / (double)l->r.cpu_of_ns : 0;
	used = canvas_put(c, row, 0, p.pid - 1, STYLE_BOLD, thread_row_process(&l->r, th));
	if (nr > 1 && p.pid - used > 7)
		canvas_printf(c, row, used, p.pid - 1 - used, STYLE_DIM, " x%u", nr);
	canvas_printf(c, row, p.pid, 7, STYLE_NORMAL, "%7u", th->p ? th->p->tgid : 0);
	if (l->r.cpu_of_ns)
		canvas_printf(c, row, p.share, 6, cpu_ns ? STYLE_NORMAL : STYLE_DIM, "%6.1f",
			      100 * share);
	draw_bar(t, row, &p, share);
	if (bytes && bytes != UINT64_MAX)	/* threads of the kernel have none */
		canvas_printf(c, row, p.memory, 9, STYLE_NORMAL, "%9s",
			      weight_text(bytes, "bytes", text));
	draw_state(t, row, p.state, th);
}

static void draw(struct tui *t, struct area a)
{
	struct cursor *c = &t->processes.cursor;
	uint32_t rows = a.rows > 1 ? (uint32_t)a.rows - 1 : 0, shown, pids[MEMORY_ASKED];
	uint64_t bytes[MEMORY_ASKED];
	struct process_lines l;

	if (!rows || !load(t, &l))
		return;
	rows = rows < MEMORY_ASKED ? rows : MEMORY_ASKED;
	follow(t, &l);
	cursor_fit(c, l.nr, rows);
	shown = l.nr - c->top < rows ? l.nr - c->top : rows;
	for (uint32_t i = 0; i < shown; i++)
		pids[i] = tgid_of(&l, c->top + i);
	if (!process_memory_ask(&t->memory, pids, shown, bytes))
		memset(bytes, 0, sizeof(bytes));
	draw_head(t, &l, a.top);
	for (uint32_t i = 0; i < shown; i++) {
		int row = a.top + 1 + (int)i;

		draw_process(t, &l, c->top + i, row, bytes[i]);
		if (c->top + i == c->at)
			canvas_restyle(&t->canvas, row, 0, t->canvas.cols, STYLE_SELECTED);
	}
	release(&l);
}

/* All views show one process alone, or all again. */
static void show_process(struct tui *t, uint32_t tgid)
{
	t->choice.tgid = tgid;
	if (tgid)
		t->view = &top_view;
	tui_remake(t);
}

static bool key(struct tui *t, int k)
{
	struct process_lines l;
	struct cursor *c = &t->processes.cursor;
	bool known = true;

	if (k == TUI_ESC && t->choice.tgid) {
		show_process(t, 0);
		return true;
	}
	if (!load(t, &l))
		return false;
	follow(t, &l);
	if (k == TUI_ENTER && c->at < l.nr)
		show_process(t, tgid_of(&l, c->at));
	else
		known = cursor_key(c, k, l.nr, (uint32_t)tui_area(t).rows - 1);
	if (known && c->at < l.nr)
		t->processes.at_tgid = tgid_of(&l, c->at);
	release(&l);
	return known;
}

static bool mouse(struct tui *t, const struct mouse *m, struct area a)
{
	struct process_lines l;
	uint32_t at = t->processes.cursor.top + (uint32_t)(m->row - a.top - 1);

	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN)
		return key(t, m->kind == MOUSE_WHEEL_UP ? 'k' : 'j');
	if (m->row <= a.top || !load(t, &l))
		return false;
	if (at < l.nr) {
		t->processes.cursor.at = at;
		t->processes.at_tgid = tgid_of(&l, at);
	}
	release(&l);
	return m->kind == MOUSE_CLICK || key(t, TUI_ENTER);
}

const struct tui_view processes_view = {
	.name = "processes",
	.title = "Processes",
	.hint = "Enter its functions  Esc all again",
	.draw = draw,
	.key = key,
	.mouse = mouse,
};
