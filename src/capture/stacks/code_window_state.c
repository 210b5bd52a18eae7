/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One window: its process, what the kernel's side knows of it, and whether it is queued. */
#include <assert.h>

#include "src/base/clock.h"
#include "src/capture/stacks/code_windows_parts.h"
#include "src/capture/tables/unwind_loader.h"

/* The living process of a window, or NULL. */
struct process *code_window_process(const struct window *w)
{
	struct process *p = processes_find(w->cw->deps.processes, w->tgid, TIME_NEVER);

	return p && p->serial == w->serial ? p : NULL;
}

/*
 * All mappings of p are written anew for one window, so many windows wait for each other; stacks
 * that wait do not need the kernel side.
 */
static void show(struct code_windows *cw, struct process *p)
{
	cw->is_dirty = true;
	p->windows_dirty = true;
}

/* Shows p's window to the kernel side, with or without a table. */
void code_window_publish(struct window *w, struct process *p, bool has_table)
{
	struct window_of_code *of = process_window(p, w->begin, true);

	if (!of)
		return;
	of->end = w->end;
	of->read_ns = w->read_ns;
	of->table = has_table ? code_window_table(w) : 0;
	of->place = (uint32_t)(w - w->cw->v);
	of->is_settled = !has_table || w->fruitless >= MAX_FRUITLESS;
	show(w->cw, p);
}

void code_window_queue(struct window *w, struct process *p, bool is_wanted)
{
	struct code_share *share = code_share_of(&w->cw->shares, p);

	assert(w->state == WINDOW_IDLE);
	if (!share)
		return;
	w->state = WINDOW_QUEUED;
	w->is_wanted = is_wanted;
	w->queued_ns = now_ns();
	w->cw->nr_queued++;
	share->nr_queued++;
}

void code_window_dequeue(struct window *w)
{
	struct process *p = code_window_process(w);
	struct code_share *share = p ? code_share_of(&w->cw->shares, p) : NULL;

	assert(w->state == WINDOW_QUEUED && w->cw->nr_queued);
	w->state = WINDOW_IDLE;
	w->cw->nr_queued--;
	if (share)
		share->nr_queued--;
}

/*
 * The kernel side may still unwind with an old list of mappings, so the number is used again only
 * when that is over.
 */
void code_window_forget(struct window *w)
{
	struct process *p = code_window_process(w);
	struct window_of_code *of = p ? process_window(p, w->begin, false) : NULL;

	assert(w->state != WINDOW_PENDING);
	if (w->state == WINDOW_QUEUED)
		code_window_dequeue(w);
	if (of) {
		process_window_remove(p, of);
		show(w->cw, p);
	}
	unwind_loader_drop(w->cw->deps.loader, code_window_table(w));
	w->tgid = 0;
	w->answers++;
	w->unused_since_ns = now_ns();
}

const struct mapping *code_windows_mapping(const struct code_windows *cw, const struct process *p,
					  uint64_t pc)
{
	const struct mapping *m = process_find_mapping(p, pc, TIME_NEVER - 1);
	const struct binary *b = m ? binaries_get(cw->deps.binaries, m->binary) : NULL;

	if (!m || m->died_ns != TIME_NEVER || m->is_unread)
		return NULL;
	return !b || binary_is_memory(b) ? m : NULL;
}
