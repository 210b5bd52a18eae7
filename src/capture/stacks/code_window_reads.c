/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <stdlib.h>

#include "src/base/clock.h"
#include "src/capture/stacks/code_windows_parts.h"
#include "src/capture/tables/unwind_loader.h"
#include "unwind/unwind_table.h"

#define MAX_ROUNDS 4
#define MAX_RETRIES 3			/* of a read that came to no end */
#define TOKENS_OF_FAILURE 32
#define LONGEST_NS (2 * NSEC_PER_SEC)
#define BASE(addr) ((addr) & ~(uint64_t)(CODE_WINDOW_BYTES - 1))

/* Whether the first nr seeds have rules, as far as they lie in the window. */
static bool are_solved(const struct window *w, const struct code_request *q, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t at = q->seeds[i];
		struct unwind_rule r;

		if (at < w->begin || at >= w->end)
			continue;
		r = unwind_table_find(q->table, at);
		if (r.cfa == CFA_NONE || r.cfa == CFA_UNSUPPORTED)
			return false;
	}
	return true;
}

static bool is_solved(const struct window *w, const struct code_request *q)
{
	return are_solved(w, q, q->in.nr_seeds);
}

static bool has_address(const struct code_request *q, uint64_t addr)
{
	if (addr - q->begin < q->len)
		return true;
	for (size_t i = 1; i < q->in.nr_pieces; i++)
		if (addr - q->pieces[i].addr < q->pieces[i].len)
			return true;
	return false;
}

/* Takes in what is known of an address that a window leads to. true: there is something. */
static bool add_want(struct window *w, struct code_request *q, struct code_share *share,
		     uint64_t addr)
{
	const struct code_windows_deps *deps = &w->cw->deps;
	struct unwind_rule rule;
	enum code_place place;

	if (has_address(q, addr))
		return false;
	place = deps->look_up(deps->ctx, addr, &rule);
	if (place == PLACE_NO_CODE)
		return false;
	if (code_request_pin(q, addr, &rule, place == PLACE_FILE)) {
		code_share_exit(share, &q->pins[q->in.nr_pins - 1]);
		return true;
	}
	if (place != PLACE_GENERATED || BASE(addr) == BASE(w->begin) ||
	    !code_request_page(q, addr))
		return false;
	code_request_seed(q, addr);
	return true;
}

/* true: there is more to be known, and the request is submitted again. */
static bool one_more_round(struct window *w, struct code_request *q, const struct process *p,
			   struct code_share *share)
{
	const struct code_windows_deps *deps = &w->cw->deps;
	bool more = false;

	if (q->rounds > MAX_ROUNDS || is_solved(w, q))
		return false;
	deps->look_at(deps->ctx, p);
	for (size_t i = 0; i < q->wants.nr; i++)
		more |= add_want(w, q, share, q->wants.v[i]);
	if (more)
		code_request_submit(q, w->cw->deps.pool);
	return more;
}

static void drop_table(struct window *w)
{
	unwind_loader_drop(w->cw->deps.loader, code_window_table(w));
	w->hash = 0;
}

static void load_table(struct window *w, const struct code_request *q, struct process *p)
{
	unwind_loader_drop(w->cw->deps.loader, code_window_table(w));
	if (w->hash != q->hash) {
		w->interval_ns = UPDATE_NS;
		w->fruitless = 0;
	} else if (!are_solved(w, q, 1)) {
		w->fruitless++;		/* the code that was met last is as unknown as before */
	}
	w->hash = q->hash;
	/* -EAGAIN: there is room soon. It is met again, and parsed again. */
	w->evicted = unwind_loader_table(w->cw->deps.loader, code_window_table(w), q->table) != 0;
	code_window_publish(w, p, !w->evicted);
}

/* It was read, and is what it was. */
static void is_same(struct window *w, struct process *p)
{
	struct window_of_code *of = process_window(p, w->begin, false);
	const struct mapping *m = code_windows_mapping(w->cw, p, w->begin);
	bool was_settled = w->fruitless >= MAX_FRUITLESS;

	w->cw->stats.same++;
	w->interval_ns = 2 * w->interval_ns < LONGEST_NS ? 2 * w->interval_ns : LONGEST_NS;
	w->fruitless += w->is_wanted;
	/* It is the same code in a new mapping, or the window answers all questions by now. */
	if (of && ((m && of->read_ns < m->born_ns) ||
		   was_settled != (w->fruitless >= MAX_FRUITLESS)))
		code_window_publish(w, p, of->table);
}

/* true: nothing was read, because the machine is busy, and it is tried once more. */
static bool retries(struct window *w, const struct code_request *q, struct process *p)
{
	w->cw->stats.busy++;
	if (now_ns() < q->read_ns + NSEC_PER_SEC) {
		w->left_alone_ns = now_ns();	/* refused at once: that process is left alone */
		return false;
	}
	if (w->retries++ >= MAX_RETRIES)
		return false;
	code_window_queue(w, p, w->is_wanted);
	return true;
}

/* What one request found out. true: it goes on being read. */
static bool take_result(struct window *w, const struct code_request *q, struct process *p)
{
	if (q->result == CODE_BUSY)
		return retries(w, q, p);
	w->retries = 0;
	w->read_ns = q->read_ns;
	if (q->result == CODE_SAME) {
		is_same(w, p);
	} else if (q->result == CODE_PARSED) {
		load_table(w, q, p);
	} else if (q->result == CODE_CHANGED) {
		w->cw->stats.refused++;
		drop_table(w);
		code_window_publish(w, p, false);
	} else {
		w->cw->stats.absent += q->result == CODE_ABSENT;
		w->cw->stats.failed += q->result == CODE_UNPARSED;
		drop_table(w);
		code_window_publish(w, p, false);
	}
	return false;
}

/* true: another round follows. */
static bool take_round(struct window *w, struct code_request *q, const struct process *p)
{
	struct code_share *share = code_share_of(&w->cw->shares, p);
	bool is_parsed = q->result == CODE_PARSED;

	if (!share || (!is_parsed && q->result != CODE_UNPARSED))
		return false;
	w->cw->stats.parsed += is_parsed;
	code_shares_pay(&w->cw->shares, share, is_parsed ? 1 : TOKENS_OF_FAILURE);
	return is_parsed && one_more_round(w, q, p, share);
}

static void done(struct code_request *q)
{
	struct window *w = q->ctx;
	struct code_windows *cw = w->cw;
	bool ends = q->result == CODE_CANCELLED;
	struct process *p = ends ? NULL : code_window_process(w);

	assert(w->state == WINDOW_PENDING);
	if (p && take_round(w, q, p))
		return;
	w->state = WINDOW_IDLE;
	if (!p || !take_result(w, q, p))
		w->answers++;
	code_request_end(q);
	q->ctx = NULL;
	if (ends)
		return;
	if (!p)
		code_window_forget(w);
	code_windows_dispatch(cw);
}

/* Half of the seeds at most, so that there is room for those of other pieces. */
static void take_seeds(const struct window *w, struct code_request *q)
{
	unsigned nr = w->nr_seeds < CODE_MAX_SEEDS / 2 ? w->nr_seeds : CODE_MAX_SEEDS / 2;

	for (unsigned i = 0; i < nr; i++)
		code_request_seed(q, w->seeds[(w->nr_seeds - 1 - i) % CODE_MAX_SEEDS]);
}

static void begin(struct window *w, struct code_request *q, struct process *p,
		  const struct mapping *m)
{
	struct code_share *share = code_share_of(&w->cw->shares, p);
	const struct code_windows_deps *deps = &w->cw->deps;
	size_t len = w->end - w->begin,
	       behind = m->end - w->end < CODE_BEHIND ? m->end - w->end : CODE_BEHIND;
	uint32_t left = share ? code_share_left(share) : 0;

	code_window_dequeue(w);
	code_request_begin(q, (pid_t)w->tgid, w->begin, len, behind);
	q->memory = w->cw->memory;
	q->parsers = w->cw->deps.parsers;
	q->done = done;
	q->ctx = w;
	q->hash = w->hash;
	q->must_parse = w->is_met || w->evicted;
	q->may_parse = w->is_wanted ? left : left > TOKENS_FOR_AGAIN;
	w->is_met = false;
	take_seeds(w, q);
	deps->look_at(deps->ctx, p);
	/* Rules of what was left to before; they are looked up anew, because code changes. */
	for (unsigned i = 0; share && i < SHARE_EXITS; i++)
		if (share->exits[i].addr)
			add_want(w, q, share, share->exits[i].addr);
	if (share)
		share->served_ns = now_ns();
	w->state = WINDOW_PENDING;
	code_request_submit(q, w->cw->deps.pool);
}

static uint64_t served_ns(struct code_windows *cw, const struct window *w)
{
	const struct process *p = code_window_process(w);
	const struct code_share *share = p ? code_share_of(&cw->shares, p) : NULL;

	return share ? share->served_ns : 0;
}

/* Whether a comes before b: those that stacks wait for, then by when their process was served. */
static bool is_before(struct code_windows *cw, const struct window *a, const struct window *b)
{
	uint64_t served_x = served_ns(cw, a), served_y = served_ns(cw, b);

	if (a->is_wanted != b->is_wanted)
		return a->is_wanted;
	return served_x != served_y ? served_x < served_y : a->queued_ns < b->queued_ns;
}

static struct window *next_queued(struct code_windows *cw)
{
	struct window *first = NULL;

	for (size_t i = 0; cw->nr_queued && i < UNWIND_MAX_WINDOWS; i++)
		if (cw->v[i].state == WINDOW_QUEUED &&
		    (!first || is_before(cw, &cw->v[i], first)))
			first = &cw->v[i];
	return first;
}

static struct code_request *free_request(struct code_windows *cw)
{
	for (size_t i = 0; i < MAX_REQUESTS; i++) {
		if (!cw->requests[i])
			cw->requests[i] = calloc(1, sizeof(**cw->requests));
		if (cw->requests[i] && !cw->requests[i]->ctx)
			return cw->requests[i];
	}
	return NULL;
}

void code_windows_dispatch(struct code_windows *cw)
{
	struct code_request *q;
	struct window *w;

	while (!code_shares_are_spent(&cw->shares) && (q = free_request(cw)) &&
	       (w = next_queued(cw))) {
		struct process *p = code_window_process(w);
		const struct mapping *m = p ? code_windows_mapping(cw, p, w->begin) : NULL;

		if (m && m->end >= w->end)
			begin(w, q, p, m);
		else
			code_window_forget(w);
	}
}
