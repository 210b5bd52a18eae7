/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/code_windows.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/capture/stacks/code_windows_parts.h"
#include "src/capture/stacks/memory_reader.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/model/binary.h"

#define MAX_OF_PROCESS 768
#define MAX_QUEUED 64			/* of a process */
/* A window is not read again more often because of code that it does not tell of. */
#define AGAIN_NS (100 * NSEC_PER_MSEC)
#define READ_AN_UPDATE 4
#define SHOW_NS (5 * NSEC_PER_MSEC)	/* and for each window of those that are shown: */
#define SHOW_WINDOW_NS (NSEC_PER_MSEC / 10)
#define RESTS_NS NSEC_PER_SEC
#define BASE(addr) ((addr) & ~(uint64_t)(CODE_WINDOW_BYTES - 1))

int code_windows_new(const struct code_windows_deps *deps, struct code_windows **cwp)
{
	struct code_windows *cw = calloc(1, sizeof(*cw));

	if (!cw)
		return -ENOMEM;
	cw->deps = *deps;
	code_shares_init(&cw->shares);
	cw->memory = memory_reader_new(deps->forker, deps->costs);
	if (!cw->memory || code_pages_new(deps->pool, cw->memory, &cw->pages)) {
		code_windows_free(cw);
		return -ENOMEM;
	}
	*cwp = cw;
	return 0;
}

struct code_pages *code_windows_pages(struct code_windows *cw)
{
	return cw->pages;
}

void code_windows_free(struct code_windows *cw)
{
	if (!cw)
		return;
	for (size_t i = 0; i < MAX_REQUESTS; i++) {
		if (cw->requests[i])
			code_request_end(cw->requests[i]);
		free(cw->requests[i]);
	}
	code_shares_release(&cw->shares);
	code_pages_free(cw->pages);
	memory_reader_free(cw->memory);
	free(cw);
}

/* ---- budgets ---- */

/* Shows the kernel side whether more is to be asked for. */
static void set_over(struct code_windows *cw, struct process *p, bool is_over)
{
	if (p->no_more_windows == is_over)
		return;
	p->no_more_windows = is_over;
	unwind_loader_process(cw->deps.loader, cw->deps.binaries, p);
}

static void say_over(struct code_windows *cw, const struct process *p)
{
	cw->stats.refused++;
	if (cw->has_said_over)
		return;
	cw->has_said_over = true;
	note_kept("process %u (%.15s) makes code faster than it is read: callers of such code are "
		  "guessed by its frame pointers, and their stacks may be wrong",
		  p->tgid, p->comm[0] ? p->comm : "?");
}

/*
 * If p has spent what it may have, its stacks come without memory until it may have more: they
 * would not wait anyway.
 */
static bool may_want(struct code_windows *cw, struct process *p)
{
	struct code_share *share = code_share_of(&cw->shares, p);
	bool is_spent = share && !code_share_left(share);

	if (share && !is_spent && share->nr_queued < MAX_QUEUED)
		return true;
	say_over(cw, p);
	if (is_spent)
		set_over(cw, p, true);
	return false;
}

static void may_want_again(struct code_windows *cw, struct process *p)
{
	struct code_share *share = p->no_more_windows ? code_share_of(&cw->shares, p) : NULL;

	if (share && code_share_left(share) >= TOKENS_FOR_AGAIN)
		set_over(cw, p, false);
}

/* ---- publishing ---- */

static void show_all(struct code_windows *cw)
{
	uint64_t now = now_ns(), wait_ns = SHOW_NS;

	if (!cw->is_dirty || now < cw->next_show_ns)
		return;
	cw->is_dirty = false;
	for (struct process *p = cw->deps.processes->all; p; p = p->next) {
		if (p->windows_dirty && p->died_ns == TIME_NEVER)
			unwind_loader_process(cw->deps.loader, cw->deps.binaries, p);
		wait_ns += p->windows_dirty ? p->nr_windows * SHOW_WINDOW_NS : 0;
		p->windows_dirty = false;
	}
	cw->next_show_ns = now + wait_ns;
}

/* ---- wants ---- */

/* One window of p's goes: which ones are in use is not known here. */
static void make_room(struct code_windows *cw, struct process *p)
{
	const struct window_of_code *of;
	struct window *w;

	assert(p->nr_windows);
	of = &p->windows[cw->victim++ % p->nr_windows];
	assert(of->place < UNWIND_MAX_WINDOWS);
	w = &cw->v[of->place];
	if (w->state != WINDOW_PENDING && code_window_process(w) == p)
		code_window_forget(w);
}

static struct window *unused(struct code_windows *cw)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < UNWIND_MAX_WINDOWS; i++) {
		if (cw->v[i].tgid || now <= cw->v[i].unused_since_ns + RESTS_NS)
			continue;
		if (i >= cw->end)
			cw->end = i + 1;
		return &cw->v[i];
	}
	return NULL;
}

static bool is_of(const struct window *w, const struct process *p, uint64_t begin)
{
	return w->tgid == p->tgid && w->serial == p->serial && w->begin == begin;
}

/* The window that holds pc; a new one if there is none. NULL: there is no room. */
static struct window *window_of(struct code_windows *cw, struct process *p,
				const struct mapping *m, uint64_t pc)
{
	uint64_t begin = BASE(pc) > m->start ? BASE(pc) : m->start,
		 end = BASE(pc) + CODE_WINDOW_BYTES;
	struct window_of_code *of = process_window(p, begin, false);
	struct window *w = of ? &cw->v[of->place] : NULL;

	if (w && !is_of(w, p, begin))
		w = NULL;
	if (!w && p->nr_windows >= MAX_OF_PROCESS)
		make_room(cw, p);
	if (!w)
		w = unused(cw);
	of = w ? process_window(p, begin, true) : NULL;
	if (!of)
		return NULL;
	of->place = (uint32_t)(w - cw->v);
	if (!is_of(w, p, begin))
		*w = (struct window){ .cw = cw, .tgid = p->tgid, .serial = p->serial,
				      .begin = begin, .answers = w->answers + 1,
				      .interval_ns = UPDATE_NS };
	if (w->state != WINDOW_PENDING)
		w->end = end < m->end ? end : m->end;
	return w;
}

static bool is_seed(const struct window *w, uint64_t pc)
{
	unsigned nr = w->nr_seeds < CODE_MAX_SEEDS ? w->nr_seeds : CODE_MAX_SEEDS;

	for (unsigned i = 0; i < nr; i++)
		if (w->seeds[i] == pc)
			return true;
	return false;
}

/* Notes that pc was met. false: that is known, and to read the window again will not help now. */
static bool note_met(struct window *w, const struct process *p, const struct mapping *m,
		     uint64_t pc)
{
	const struct code_windows_deps *deps = &w->cw->deps;
	struct unwind_rule rule = { .cfa = CFA_NONE };
	uint64_t now = now_ns();

	if (w->left_alone_ns && now < w->left_alone_ns + RESTS_NS)
		return false;
	deps->look_at(deps->ctx, p);
	deps->look_up(deps->ctx, pc, &rule);
	/* If there is a rule, it led nowhere: that the code has changed is what may help. */
	if ((rule.cfa == CFA_NONE || rule.cfa == CFA_UNSUPPORTED) && !is_seed(w, pc)) {
		w->seeds[w->nr_seeds++ % CODE_MAX_SEEDS] = pc;
		w->is_met = true;
		return true;
	}
	return w->state != WINDOW_IDLE || w->read_ns < m->born_ns || w->evicted ||
	       now >= w->read_ns + AGAIN_NS;
}

bool code_windows_want(struct code_windows *cw, struct process *p, uint64_t pc,
		       struct code_wait *wait)
{
	const struct mapping *m = p->died_ns == TIME_NEVER ? code_windows_mapping(cw, p, pc) : NULL;
	struct window *w;

	if (!m || !may_want(cw, p))
		return false;
	w = window_of(cw, p, m, pc);
	cw->stats.no_room += !w;
	if (!w || !note_met(w, p, m, pc))
		return false;
	if (w->state == WINDOW_QUEUED)
		w->is_wanted = true;
	if (w->state == WINDOW_IDLE)
		code_window_queue(w, p, true);
	*wait = (struct code_wait){ &w->answers, w->answers };
	code_windows_dispatch(cw);
	return true;
}

/* ---- reading again ---- */

/* Reads a window again, or forgets it. */
static void look_again(struct window *w)
{
	struct process *p = code_window_process(w);
	const struct mapping *m = p ? code_windows_mapping(w->cw, p, w->begin) : NULL;

	if (!m || m->end < w->end)
		code_window_forget(w);
	else
		code_window_queue(w, p, false);
}

void code_windows_update(struct code_windows *cw)
{
	uint64_t now = now_ns();
	unsigned left = READ_AN_UPDATE;

	show_all(cw);
	if (now < cw->next_update_ns)
		return;
	cw->next_update_ns = now + UPDATE_NS;
	for (struct process *p = cw->deps.processes->all; p; p = p->next)
		may_want_again(cw, p);
	for (size_t i = 0; i < cw->end && left; i++) {
		struct window *w = &cw->v[cw->next];

		assert(cw->next < cw->end);
		cw->next = (cw->next + 1) % cw->end;
		if (!w->tgid || w->state != WINDOW_IDLE || now < w->read_ns + w->interval_ns)
			continue;
		look_again(w);
		left--;
	}
	code_windows_dispatch(cw);
}

void code_windows_evicted(struct code_windows *cw, uint32_t table)
{
	assert(table >= UNWIND_FIRST_WINDOW && table - UNWIND_FIRST_WINDOW < UNWIND_MAX_WINDOWS);
	cw->v[table - UNWIND_FIRST_WINDOW].evicted = true;
}

void code_windows_stats(const struct code_windows *cw, struct code_windows_stats *out)
{
	*out = cw->stats;
}
