/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every thread: what it does, since when, for what it waits, and in which function. Enter shows its
 * stack as it is now, what it did lately, and who holds what it waits for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/waits/wait_list.h"
#include "formats/render/waits/wait_text.h"
#include "src/base/clock.h"
#include "src/live/thread_rows.h"
#include "src/model/definition_store.h"
#include "src/live/live_windows.h"
#include "src/report/state_words.h"
#include "src/waits/wait_function.h"
#include "src/waits/wait_place.h"
#include "src/tui/tui_stack.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_text.h"
#include "src/tui/tui_view.h"

enum { COL_STATE = 8, COL_CPU = 10, COL_WAITED = 17, COL_NAME = 27, NAME_ROOM = 28 };

static const char *const sort_names[SORTS] = { "CPU", "waited", "state", "name", "number" };
static const char *const group_names[GROUPS] = { "no groups", "by process", "by state",
						 "by stack" };

static const struct definition_store *tables(const struct tui *t)
{
	return live_profile_tables(tui_live(t));
}

static enum style state_style(char letter)
{
	return letter == 'R' ? STYLE_GOOD : letter == 'D' ? STYLE_WARN : STYLE_NORMAL;
}

/* The innermost function of the program, and the place in the kernel. */
static void put_place(struct tui *t, int row, int col, const struct rec_sample *rec)
{
	struct wait_function f;
	char buf[FRAME_TEXT_MAX];
	const char *place = wait_place(tables(t), rec->kstack, buf);
	char *what = tui_waits_for(t, rec);
	int room = t->canvas.cols - col, used;

	wait_function_of(tables(t), rec->ustack, &f);
	used = f.name[0] ? canvas_put_name(&t->canvas, row, col, room > 48 ? 40 : room / 2,
					   STYLE_FRAME + 1, f.name)
			 : 0;
	if (place[0])
		used += canvas_printf(&t->canvas, row, col + used, room - used,
				      STYLE_FRAME + SHADES, "%s%s", used ? "  " : "", place);
	if (what && what[0])
		canvas_printf(&t->canvas, row, col + used, room - used, STYLE_DIM, "  %s", what);
	free(what);
}

static void draw_thread(struct tui *t, const struct thread_rows *r, int row,
			const struct thread_row *th)
{
	char letter = th->rec ? task_state_letter(th->rec->state) : ' ', text[16] = "";
	const char *comm = thread_row_comm(r, th), *process = thread_row_process(r, th);
	struct canvas *c = &t->canvas;
	int used;

	canvas_printf(c, row, 0, COL_STATE, STYLE_NORMAL, "%7u", th->t->tid);
	canvas_printf(c, row, COL_STATE, 1, state_style(letter), "%c", letter);
	if (r->cpu_of_ns)
		canvas_printf(c, row, COL_CPU, 6, th->cpu_ns ? STYLE_NORMAL : STYLE_DIM, "%5.1f",
			      100.0 * (double)th->cpu_ns / (double)r->cpu_of_ns);
	if (th->waited_ns != UINT64_MAX)
		canvas_printf(c, row, COL_WAITED, 9, STYLE_NORMAL, "%8s",
			      tui_span_text(th->waited_ns, text));
	used = canvas_put(c, row, COL_NAME, 16, STYLE_BOLD, comm);
	if (strcmp(comm, process))
		canvas_printf(c, row, COL_NAME + used, NAME_ROOM - used - 1, STYLE_DIM, " %s",
			      process);
	if (th->rec)
		put_place(t, row, COL_NAME + NAME_ROOM, th->rec);
}

static void draw_heading(struct tui *t, const struct thread_rows *r, int row,
			 const struct thread_line *line)
{
	const struct thread_row *th = &r->v[line->row];
	uint64_t cpu_ns = 0;
	char text[160];

	for (uint32_t i = 0; i < line->nr; i++)
		cpu_ns += r->v[line->row + i].cpu_ns;
	if (t->threads.group == GROUP_PROCESS)
		snprintf(text, sizeof(text), "%s (%u)", thread_row_process(r, th),
			 th->p ? th->p->tgid : 0);
	else if (t->threads.group == GROUP_STATE)
		snprintf(text, sizeof(text), "%s",
			 task_state_name(th->rec ? th->rec->state : TASK_STATE_UNKNOWN));
	else
		snprintf(text, sizeof(text), "the same stack");
	canvas_fill(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER);
	canvas_printf(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER, "%7u %s  %s  %.1f %% CPU",
		      line->nr, line->nr == 1 ? "thread" : "threads", text,
		      r->cpu_of_ns ? 100.0 * (double)cpu_ns / (double)r->cpu_of_ns : 0.0);
}

static void draw_head(struct tui *t, const struct thread_rows *r, int row)
{
	int col;

	canvas_fill(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER);
	canvas_printf(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER,
		      "%7s S %6s %8s  %-*sfunction, place in the kernel, waits for", "TID",
		      r->cpu_of_ns ? "%CPU" : "", "waited", NAME_ROOM, "thread, process");
	col = t->canvas.cols - 44;
	if (col > 100)
		canvas_printf(&t->canvas, row, col, 44, STYLE_HEADER,
			      "%zu threads, %s, sorted by %s", r->nr,
			      group_names[t->threads.group], sort_names[t->threads.sort]);
}

/* ---- one thread ---- */

/* The state of a thread in each of the newest windows, a letter each. */
static void put_history(struct tui *t, int row, int col, int width, uint32_t thread)
{
	static const char letters[ACTIVITIES + 1] = "RqDLSiTZ?";
	const struct live_profile *l = tui_live(t);
	const struct live_windows *w = live_profile_windows(l);
	size_t first = w->nr > (size_t)width ? w->nr - (size_t)width : 0;

	for (size_t i = first; i < w->nr; i++) {
		uint64_t sums[ACTIVITIES] = { 0 };
		unsigned most = 0;

		for (size_t k = 0; k < w->v[i].nr; k++) {
			struct live_kind kind = live_profile_kind(l, w->v[i].v[k].id);

			if (kind.thread == thread && kind.activity < ACTIVITIES)
				sums[kind.activity] += w->v[i].v[k].samples;
		}
		for (unsigned a = 1; a < ACTIVITIES; a++)
			if (sums[a] > sums[most])
				most = a;
		canvas_printf(&t->canvas, row, col + (int)(i - first), 1,
			      sums[most] ? STYLE_NORMAL : STYLE_DIM, "%c",
			      sums[most] ? letters[most] : '.');
	}
}

static void put_holder(struct tui *t, const struct thread_rows *r, int row,
		       const struct rec_sample *rec)
{
	const char *comm = "[not in this snapshot]", *does = "";

	if (!rec->owner)
		return;
	for (size_t i = 0; i < r->nr; i++)
		if (r->v[i].t->tid == rec->owner) {
			comm = thread_row_comm(r, &r->v[i]);
			does = r->v[i].rec ? task_state_name(r->v[i].rec->state) : "";
		}
	canvas_printf(&t->canvas, row, 0, t->canvas.cols, STYLE_WARN, "held by %s %u  %s", comm,
		      rec->owner, does);
}

static void draw_detail(struct tui *t, const struct thread_rows *r, const struct thread_row *th,
			struct area a)
{
	int row = a.top;
	char *what;

	canvas_fill(&t->canvas, row, 0, t->canvas.cols, STYLE_HEADER);
	canvas_printf(&t->canvas, row++, 0, t->canvas.cols, STYLE_HEADER, "%s %u of %s (%u)",
		      thread_row_comm(r, th), th->t->tid, thread_row_process(r, th),
		      th->p ? th->p->tgid : 0);
	canvas_put(&t->canvas, row, 0, 9, STYLE_DIM, "lately");
	put_history(t, row++, 9, t->canvas.cols - 9 < 120 ? t->canvas.cols - 9 : 120, th->thread);
	if (!th->rec)
		return;
	what = tui_waits_for(t, th->rec);
	if (what && what[0])
		canvas_printf(&t->canvas, row++, 0, t->canvas.cols, STYLE_NORMAL, "%-8s %s",
			      "waits", what);
	free(what);
	if (th->rec->owner)
		put_holder(t, r, row++, th->rec);
	tui_put_stack(t, row, 2, t->canvas.cols - 2, a.top + a.rows - row, th->rec->kstack,
		      th->rec->ustack);
}

/* ---- the view ---- */

static bool load(struct tui *t, struct thread_rows *r)
{
	if (!tui_live(t) || thread_rows_init(r, tui_live(t), &t->choice))
		return false;
	if (!thread_rows_sort(r, t->threads.sort, t->threads.group))
		return true;
	thread_rows_release(r);
	return false;
}

/* The thread of a line is the selected one; of a heading: none is. */
static void select_line(struct tui *t, const struct thread_rows *r, uint32_t line)
{
	const struct thread_row *th =
		line < r->nr_lines && !r->lines[line].nr ? &r->v[r->lines[line].row] : NULL;

	t->threads.at_thread = th ? th->thread : 0;
	t->threads.at_tid = th ? th->t->tid : 0;
	t->threads.epoch = t->epoch;
}

/* Records have other ids by now: the thread is the one that has the number. */
static void find_thread(struct tui *t, const struct thread_rows *r)
{
	size_t i = 0;

	if (t->threads.epoch == t->epoch)
		return;
	t->threads.epoch = t->epoch;
	while (i < r->nr && r->v[i].t->tid != t->threads.at_tid)
		i++;
	t->threads.at_thread = t->threads.at_tid && i < r->nr ? r->v[i].thread : 0;
}

/* The cursor stays on its thread while the order changes. */
static void follow_thread(struct tui *t, const struct thread_rows *r)
{
	find_thread(t, r);
	for (size_t i = 0; i < r->nr_lines; i++)
		if (!r->lines[i].nr && r->v[r->lines[i].row].thread == t->threads.at_thread) {
			t->threads.cursor.at = (uint32_t)i;
			return;
		}
}

static int list_rows(const struct tui *t, struct area a)
{
	return t->threads.has_detail ? (a.rows - 1) / 2 : a.rows - 1;
}

static void draw(struct tui *t, struct area a)
{
	uint32_t rows = (uint32_t)list_rows(t, a), i;
	struct cursor *c = &t->threads.cursor;
	struct thread_rows r;

	if (rows < 1 || !load(t, &r))
		return;
	follow_thread(t, &r);
	cursor_fit(c, (uint32_t)r.nr_lines, rows);
	draw_head(t, &r, a.top);
	for (i = 0; i < rows && c->top + i < r.nr_lines; i++) {
		const struct thread_line *line = &r.lines[c->top + i];
		int row = a.top + 1 + (int)i;

		if (line->nr)
			draw_heading(t, &r, row, line);
		else
			draw_thread(t, &r, row, &r.v[line->row]);
		if (c->top + i == c->at)
			canvas_restyle(&t->canvas, row, 0, t->canvas.cols, STYLE_SELECTED);
	}
	if (t->threads.has_detail && c->at < r.nr_lines)
		draw_detail(t, &r, &r.v[r.lines[c->at].row],
			    (struct area){ a.top + 1 + (int)rows, a.rows - 1 - (int)rows });
	thread_rows_release(&r);
}

/* Only the threads of the selected one's process, or all again. */
static void choose_process(struct tui *t, const struct thread_rows *r)
{
	const struct thread_row *th = &r->v[r->lines[t->threads.cursor.at].row];

	t->choice.tgid = t->choice.tgid || !th->p ? 0 : th->p->tgid;
	tui_remake(t);
}

static void look_for(struct tui *t, const struct thread_rows *r, int step)
{
	uint32_t nr = (uint32_t)r->nr_lines, at = t->threads.cursor.at;
	struct tui_pattern *p = tui_pattern_new(&t->search, t->profile);
	bool found = false;

	for (uint32_t i = 0; p && i < nr && !found; i++) {
		at = step > 0 ? (at + 1) % nr : (at + nr - 1) % nr;
		found = !r->lines[at].nr &&
			(tui_pattern_finds(p, thread_row_comm(r, &r->v[r->lines[at].row])) ||
			 tui_pattern_finds(p, thread_row_process(r, &r->v[r->lines[at].row])));
	}
	tui_pattern_free(p);
	if (found)
		t->threads.cursor.at = at;
	else
		tui_say(t, "no thread or process is called \"%s\"", t->search.text);
}

static bool list_key(struct tui *t, int k, const struct thread_rows *r)
{
	struct area a = tui_area(t);
	uint32_t nr = (uint32_t)r->nr_lines, rows = (uint32_t)list_rows(t, a);

	follow_thread(t, r);
	cursor_fit(&t->threads.cursor, nr, rows);
	if (k == 'P' && nr)
		choose_process(t, r);
	else if ((k == 'n' || k == 'N') && t->search.text[0])
		look_for(t, r, k == 'n' ? 1 : -1);
	else if (!cursor_key(&t->threads.cursor, k, nr, rows))
		return false;
	select_line(t, r, t->threads.cursor.at);
	return true;
}

static bool key(struct tui *t, int k)
{
	struct thread_rows r;
	bool known = true;

	switch (k) {
	case TUI_ENTER: t->threads.has_detail = !t->threads.has_detail; return true;
	case TUI_ESC: t->threads.has_detail = false; return true;
	case '1': t->threads.sort = SORT_CPU; return true;
	case '2': t->threads.sort = SORT_WAITED; return true;
	case 'S': t->threads.sort = (t->threads.sort + 1) % SORTS; return true;
	case 'p': t->threads.group = (t->threads.group + 1) % GROUPS; return true;
	}
	if (!load(t, &r))
		return false;
	known = list_key(t, k, &r);
	thread_rows_release(&r);
	return known;
}

static bool mouse(struct tui *t, const struct mouse *m, struct area a)
{
	struct thread_rows r;
	uint32_t at = t->threads.cursor.top + (uint32_t)(m->row - a.top - 1);

	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN)
		return key(t, m->kind == MOUSE_WHEEL_UP ? 'k' : 'j');
	if (m->row <= a.top || m->row - a.top > list_rows(t, a) || !load(t, &r))
		return false;
	t->threads.cursor.at = at;
	select_line(t, &r, at);
	thread_rows_release(&r);
	if (m->kind != MOUSE_CLICK)
		t->threads.has_detail = true;
	return true;
}

const struct tui_view threads_view = {
	.name = "threads",
	.title = "Threads",
	.hint = "Enter stack  1 CPU  2 waited  S sort  p group  P this process  / find",
	.draw = draw,
	.key = key,
	.mouse = mouse,
};
