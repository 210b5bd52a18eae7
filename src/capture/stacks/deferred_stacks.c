/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/deferred_stacks.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/capture/processes/binary_store.h"
#include "src/capture/processes/lifetimes.h"
#include "src/capture/processes/process_tracker.h"
#include "src/capture/stacks/code_windows.h"
#include "src/capture/stacks/deferred_unwind.h"
#include "src/capture/stacks/shadow_words.h"
#include "src/capture/stacks/stack_mirrors.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/capture/tables/user_costs.h"
#include "src/capture/stacks/wire_decode.h"

#define MAX_BYTES (48u << 20)
#define MAX_CODE_WAITS 64		/* for code, of one stack */
#define MAX_LEARNT 64	/* questions to /proc, of one try of a stack */
#define MAX_AGAIN 8	/* visits: each may end at the next missing table */

struct deferred {
	struct deferred *next;
	uint32_t scan;
	uint32_t binary, page;		/* the table that it waits for; binary 0: none */
	struct code_wait code;		/* generated code that is being read */
	uint32_t code_waits;		/* so far */
	bool looked;			/* /proc was read again for a missing mapping */
	bool asks_later;		/* /proc knows more, but could not be asked then */
	bool is_cut;			/* it was unwound to the end of its memory, and goes on */
	uint32_t again;			/* visits so far */
	size_t size;			/* of this struct and what stands behind it, in bytes */
	uint64_t regs[sizeof(((struct wire_delta *)0)->regs) / sizeof(uint64_t)];
	uint64_t start, bytes, outer, absent;	/* its stack memory, as in struct wire_stack */
	uint32_t *ids;			/* of the blocks of this memory; they stand at the end */
	/* A record that came without memory: frames, wait and object follow. */
	size_t record_bytes;		/* all of it */
	struct wire_sample head;
};

struct deferred_stacks {
	struct deferred_stacks_deps deps;
	struct deferred_unwind *unwind;
	struct stack_mirrors *mirrors;
	struct code_windows *windows;	/* of generated code; NULL: none is read */
	struct deferred *first, **last;
	size_t nr, bytes;		/* bytes without the memory of stacks */
	struct deferred_stacks_stats stats;
	struct wire_sample head;	/* of the stack that is given on, as frames */
	uint64_t frames[WIRE_DUMP_FRAMES];
	/* Blocks of the stack that is tried; with WIRE_AUDIT also in one piece. */
	const uint8_t *blocks[WIRE_BLOCKS];
	uint8_t memory[WIRE_BLOCKS][WIRE_BLOCK];
};

static int open_windows(struct deferred_stacks *l)
{
	const struct code_windows_deps deps = {
		.processes = process_tracker_processes(l->deps.tracker),
		.binaries = l->deps.binaries,
		.loader = l->deps.loader,
		.pool = l->deps.pool,
		.parsers = l->deps.parsers,
		.forker = l->deps.forker, .costs = l->deps.costs,
		.look_at = deferred_unwind_look_at,
		.look_up = deferred_unwind_look_up,
		.ctx = l->unwind,
	};

	int err = code_windows_new(&deps, &l->windows);

	if (!err)
		deferred_unwind_set_code(l->unwind, code_windows_pages(l->windows));
	return err;
}

int deferred_stacks_new(const struct deferred_stacks_deps *deps, struct deferred_stacks **lp)
{
	struct deferred_stacks *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->deps = *deps;
	l->last = &l->first;
	err = deferred_unwind_new(deps->loader, deps->binaries, deps->mode, deps->max_frames,
				  &l->unwind);
	if (!err)
		err = stack_mirrors_new(MAX_BYTES, &l->mirrors);
	if (!err && deps->pool)
		err = open_windows(l);
	if (err)
		deferred_stacks_free(l);
	else
		*lp = l;
	return err;
}

void deferred_stacks_free(struct deferred_stacks *l)
{
	struct deferred *s, *next;

	if (!l)
		return;
	for (s = l->first; s; s = next) {
		next = s->next;
		free(s);
	}
	code_windows_free(l->windows);
	deferred_unwind_free(l->unwind);
	stack_mirrors_free(l->mirrors);
	free(l);
}

/* --unwind fp: its frames are all there, but the second one is a guess. */
static bool only_leaf(const struct wire_stack *stack)
{
	return stack->head->flags & WIRE_LEAF;
}

bool deferred_stacks_wants(const struct wire_stack *stack)
{
	return stack->regs && (deferred_unwind_lacks(stack->end) || only_leaf(stack) ||
			       stack->head->flags & WIRE_WANTS_CODE);
}

static void free_deferred(struct deferred_stacks *l, struct deferred *s)
{
	assert(l->nr && l->bytes >= s->size);
	l->nr--;
	l->bytes -= s->size;
	stack_mirrors_drop(l->mirrors, s->ids, s->bytes / WIRE_BLOCK);
	free(s);
}

/* Takes the stack at *at off the list and frees it. */
static void drop(struct deferred_stacks *l, struct deferred **at)
{
	struct deferred *s = *at;

	*at = s->next;
	if (l->last == &s->next)
		l->last = at;
	free_deferred(l, s);
	assert(!l->first == !l->nr && !l->first == !l->bytes && !*l->last);
}

/* The stack as it came. false: it is no record, which cannot be. */
static bool restore(struct deferred_stacks *l, const struct deferred *s, struct wire_stack *out)
{
	size_t nr = s->bytes / WIRE_BLOCK;

	if (wire_decode(&s->head, s->record_bytes, out) <= 0)
		return false;
	stack_mirrors_blocks(l->mirrors, s->ids, nr, l->blocks);
	out->regs = s->regs;
	out->start = s->start;
	out->bytes = s->bytes;
	out->outer = s->outer;
	out->absent = s->absent;
	out->blocks = l->blocks;
	if (!(s->head.flags & WIRE_AUDIT))
		return true;
	for (size_t i = 0; i < nr; i++)
		memcpy(l->memory[i], l->blocks[i], WIRE_BLOCK);
	out->memory = l->memory[0];
	return true;
}

static int give_as_it_came(struct deferred_stacks *l, const struct deferred *s)
{
	struct wire_stack stack;

	l->stats.gave_up++;
	if (!restore(l, s, &stack))
		return 0;
	return l->deps.give(l->deps.ctx, &stack, s->scan);
}

/*
 * Gives on the stack as it came, but with the user frames that were found now. A stack that is cut
 * keeps the end with which it came here.
 */
static int give_result(struct deferred_stacks *l, const struct deferred *s,
		       const struct wire_stack *old, const struct deferred_unwind_result *r)
{
	struct wire_stack stack = *old;
	size_t nr_kernel = old->head->nr_kernel, nr_user;
	uint8_t end = r->is_cut ? old->head->end : r->end;

	nr_user = shadow_words_merge(old->user, old->head->nr_user, r->frames, r->nr, l->frames);
	/* wire_decode() limits nr_kernel. */
	assert(nr_user <= UNWIND_MAX_FRAMES && nr_user + nr_kernel <= WIRE_DUMP_FRAMES);
	l->head = *old->head;
	l->head.nr_user = (uint16_t)nr_user;
	l->head.end = end;
	l->head.flags = (uint16_t)((l->head.flags & ~(WIRE_GUESSED | WIRE_LEAF)) |
				   (r->guessed ? WIRE_GUESSED : 0));
	memcpy(l->frames + nr_user, old->kernel, nr_kernel * sizeof(*l->frames));
	stack.head = &l->head;
	stack.user = l->frames;
	stack.kernel = l->frames + nr_user;
	stack.end = end;
	stack.deferred = true;
	if (deferred_unwind_lacks(end))
		l->stats.gave_up++;
	else
		l->stats.solved++;
	return l->deps.give(l->deps.ctx, &stack, s->scan);
}

/*
 * Sets s->binary and s->page to where the kernel side stopped unwinding, or began to guess; 0:
 * unknown.
 */
static void where_it_ended(const struct deferred_stacks *l, const struct process *p,
			   const struct wire_stack *stack, struct deferred *s)
{
	uint32_t first = 1 + (uint32_t)shadow_words_before(stack->user, stack->head->nr_user,
							   stack->regs[ARCH_REG_PC]);
	uint32_t nr = only_leaf(stack) ? first : stack->head->nr_user;
	uint64_t last = nr ? stack->user[nr - 1] : 0, pc = last & UNWIND_ADDRESS_MASK;

	pc -= last & UNWIND_RETURN_ADDRESS ? 1 : 0;
	s->binary = deferred_unwind_page_at(l->unwind, p, pc, stack->head->time_ns, &s->page);
}

static void hint_page(void *ctx, uint32_t binary, uint32_t page)
{
	binary_store_hint_table(((struct deferred_stacks *)ctx)->deps.store, binary, page);
}

static void want_page(void *ctx, uint32_t binary, uint32_t page)
{
	binary_store_want_table(((struct deferred_stacks *)ctx)->deps.store, binary, page);
}

/*
 * A thread that is visited again has a deep stack of which little memory is known. Another visit
 * for each page takes longer than all of the table.
 */
static bool want(struct deferred_stacks *l, const struct deferred *s, uint32_t binary,
		 uint32_t page)
{
	if (s->again)
		binary_store_hint_table(l->deps.store, binary, BINARY_STORE_ALL_PAGES);
	return binary_store_want_table(l->deps.store, binary, page);
}

/*
 * Asks for the page at which unwinding ended. The first stack that needs it asks for all that it
 * may need besides, since otherwise it would wait for one page after the other. false: the page
 * will not come.
 */
static bool ask(struct deferred_stacks *l, const struct deferred *s,
		const struct deferred_unwind_result *r)
{
	bool is_new = !binary_store_table_pending(l->deps.store, r->binary, r->page);

	unwind_loader_wanted(l->deps.loader, r->binary);
	if (is_new)
		deferred_unwind_hints(l->unwind, hint_page, l);
	if (!want(l, s, r->binary, r->page))
		return false;
	if (is_new)
		deferred_unwind_hints(l->unwind, want_page, l);
	return true;
}

static bool waits_for_table(const struct deferred_stacks *l, const struct deferred *s)
{
	return s->binary && binary_store_table_pending(l->deps.store, s->binary, s->page);
}

/* Whether /proc can tell what the stack lacks: a mapping, once, or a file that was not read. */
static bool may_learn(const struct deferred *s, const struct process *p, uint8_t lacks)
{
	return lacks == UNWIND_NO_MAPPING ? !s->looked || p->is_crowded : lacks == UNWIND_NO_TABLE;
}

/* Unwinds the stack with what is known by now. What it lacks is looked for in /proc. */
static void unwind_now(struct deferred_stacks *l, struct deferred *s, struct process *p,
		       const struct wire_stack *stack, struct deferred_unwind_result *r)
{
	struct cost_piece piece = user_costs_begin(l->deps.costs, stack->head->tgid);
	enum process_learnt learnt;
	int nr = 0;

	do {
		deferred_unwind(l->unwind, p, stack, r);
		learnt = nr++ < MAX_LEARNT && may_learn(s, p, r->lacks)
				 ? process_tracker_learn(l->deps.tracker, p, r->pc)
				 : PROCESS_LEARNT_NOTHING;
		s->looked |= r->lacks == UNWIND_NO_MAPPING;
	} while (learnt == PROCESS_LEARNT_MORE);
	s->asks_later = learnt == PROCESS_ASK_LATER;
	user_costs_end(l->deps.costs, piece);
}

/* Whether more may become known of the stack, which then waits for it. */
static bool goes_on_waiting(struct deferred_stacks *l, struct deferred *s, struct process *p,
			    const struct wire_stack *stack, const struct deferred_unwind_result *r)
{
	if (s->asks_later)
		return true;
	if (r->lacks == UNWIND_NO_TABLE && ask(l, s, r)) {
		s->binary = r->binary;
		s->page = r->page;
		return true;
	}
	if (!(r->is_cut || r->is_elsewhere) || !s->scan || s->again >= MAX_AGAIN)
		return false;
	where_it_ended(l, p, stack, s);
	s->is_cut = !s->binary || !want(l, s, s->binary, s->page);
	return true;
}

/* true: generated code is being read that the stack went through. */
static bool waits_for_code(struct deferred_stacks *l, struct deferred *s, struct process *p,
			   const struct deferred_unwind_result *r)
{
	s->code = r->wait;
	if (!l->windows || s->code_waits++ >= MAX_CODE_WAITS)
		return false;
	return code_wait_lasts(&s->code) ||
	       (r->wants_code && code_windows_want(l->windows, p, r->wants_code, &s->code));
}

/* 1: the stack was given on, or is dropped; 0: it must wait; or an error. */
static int try_one(struct deferred_stacks *l, struct deferred *s)
{
	bool waits = s->head.time_ns + STACK_WAITS_NS > now_ns();
	struct deferred_unwind_result r;
	struct wire_stack stack;
	struct process *p;
	int err;

	/* This check comes first: thousands may wait, and all are tried at each event. */
	if (waits && (s->is_cut || code_wait_lasts(&s->code) || waits_for_table(l, s)))
		return 0;
	if (!restore(l, s, &stack))
		return 1;
	p = process_tracker_find(l->deps.tracker, stack.head->tgid, stack.head->time_ns);
	if (!p)
		return -ENOMEM;
	if (waits && !process_tracker_knows(l->deps.tracker, p, s->head.time_ns))
		return 0;
	unwind_now(l, s, p, &stack, &r);
	if (waits && (goes_on_waiting(l, s, p, &stack, &r) || waits_for_code(l, s, p, &r)))
		return 0;
	/* The kernel side had all of the stack, and the code. */
	if ((only_leaf(&stack) && (r.is_cut || r.leaf_guessed)) ||
	    (r.is_cut && !deferred_unwind_lacks(stack.end)))
		err = give_as_it_came(l, s);
	else
		err = give_result(l, s, &stack, &r);
	return err ? err : 1;
}

static size_t waiting_bytes(const struct deferred_stacks *l)
{
	return l->bytes + stack_mirrors_used(l->mirrors);
}

/* Copies the record without its memory: the head, and then frames, wait and object. */
static void copy_record(struct deferred *s, const struct wire_stack *stack)
{
	s->head = *stack->head;
	s->head.flags &= (uint16_t)~(WIRE_DUMP | WIRE_DELTA);
	memcpy(&s->head + 1, stack->user, s->record_bytes - sizeof(s->head));
}

static struct deferred *new_deferred(struct deferred_stacks *l, const struct wire_stack *stack,
				     uint32_t scan)
{
	size_t record = wire_record_bytes(stack->head), nr = stack->bytes / WIRE_BLOCK;
	size_t ids_at = offsetof(struct deferred, head) + record;
	size_t size = ids_at + nr * sizeof(uint32_t);
	struct deferred *s;

	if (waiting_bytes(l) + size + stack->bytes > MAX_BYTES)
		return NULL;
	s = malloc(size > sizeof(*s) ? size : sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct deferred){
		.scan = scan, .size = size, .start = stack->start, .bytes = stack->bytes,
		.outer = stack->outer, .absent = stack->absent,
		.ids = (uint32_t *)((uint8_t *)s + ids_at), .record_bytes = record,
	};
	if (stack_mirrors_keep(l->mirrors, stack, s->ids) < 0) {
		free(s);
		return NULL;
	}
	memcpy(s->regs, stack->regs, sizeof(s->regs));
	copy_record(s, stack);
	l->bytes += size;
	l->nr++;
	if (waiting_bytes(l) > l->stats.peak_bytes)
		l->stats.peak_bytes = waiting_bytes(l);
	return s;
}

static int refuse(struct deferred_stacks *l, const struct wire_stack *stack, uint32_t scan)
{
	l->stats.refused++;
	return l->deps.give(l->deps.ctx, stack, scan);
}

int deferred_stacks_add(struct deferred_stacks *l, const struct wire_stack *stack, uint32_t scan)
{
	struct wire_stack mine = *stack;
	struct deferred *s, **at = l->last;
	int rc;

	l->stats.added++;
	/* Without the changes that were lost it is no stack, but the mirror learns from it. */
	s = stack->delta && stack_mirrors_apply(l->mirrors, &mine) ? NULL
								   : new_deferred(l, &mine, scan);
	if (!s)
		return refuse(l, stack, scan);
	*at = s;
	l->last = &s->next;
	/* Tried at once, so that its table is asked for: most stacks that follow need the same. */
	rc = try_one(l, s);
	if (rc > 0)
		drop(l, at);
	return rc < 0 ? rc : 0;
}

void deferred_stacks_evicted(struct deferred_stacks *l, uint32_t table)
{
	if (l->windows)
		code_windows_evicted(l->windows, table);
}

int deferred_stacks_try(struct deferred_stacks *l)
{
	struct deferred **at = &l->first;

	if (l->windows)
		code_windows_update(l->windows);
	while (*at) {
		int rc = try_one(l, *at);

		if (rc < 0)
			return rc;
		if (rc)
			drop(l, at);
		else
			at = &(*at)->next;
	}
	if (!l->first)
		stack_mirrors_forget(l->mirrors);
	return 0;
}

void deferred_stacks_await(const struct deferred_stacks *l)
{
	for (const struct deferred *s = l->first; s; s = s->next)
		process_tracker_await(l->deps.tracker, s->head.tgid, s->head.time_ns);
}

/* Puts s, a newer row of the same thread, in the place of the stack at *at. */
static void replace(struct deferred_stacks *l, struct deferred **at, struct deferred *s)
{
	struct deferred *old = *at;

	s->again = old->again;
	s->next = old->next;
	*at = s;
	if (l->last == &old->next)
		l->last = &s->next;
	free_deferred(l, old);
}

struct visit {
	struct deferred_stacks *l;
	struct deferred **at;
	bool seen, given;
};

/*
 * The thread's new row. When it ends early as well, it waits in the place of the old one; else it
 * is given on. A new row without a stack is worth less than the part that is there.
 */
static int on_visit(void *ctx, const struct wire_stack *stack)
{
	struct visit *v = ctx;
	struct deferred *s = *v->at, *more;
	struct wire_stack row = *stack;

	if (v->given || stack->head->tid != s->head.tid)
		return 0;
	v->seen = true;
	if (wire_stack_is_missing(stack))
		return 0;
	if (deferred_stacks_wants(stack)) {
		more = new_deferred(v->l, stack, s->scan);
		if (more)
			replace(v->l, v->at, more);
		return 0;
	}
	row.again = true;
	v->given = true;
	v->l->stats.solved++;
	return v->l->deps.give(v->l->deps.ctx, &row, s->scan);
}

/* Visits the thread of the stack at *at, which is dropped when a new row was given on. */
static int visit(struct deferred_stacks *l, struct deferred **at, revisit_fn again, void *ctx)
{
	struct visit v = { .l = l, .at = at };
	int err;

	(*at)->is_cut = false;
	(*at)->again++;
	err = again(ctx, (*at)->head.tid, on_visit, &v);
	if (err == -ENOTSUP || err == -EAGAIN || err == -ESRCH || err == -EINTR)
		err = 0;
	if (!v.seen)
		(*at)->again = MAX_AGAIN;
	if (v.given)
		drop(l, at);
	return err;
}

int deferred_stacks_again(struct deferred_stacks *l, uint32_t scan, revisit_fn again, void *ctx)
{
	struct deferred **at = &l->first;
	int err = 0;

	while (again && *at && !err) {
		const struct deferred *s = *at;

		if (s->is_cut && s->scan == scan)
			err = visit(l, at, again, ctx);
		if (*at == s)
			at = &(*at)->next;
	}
	return err;
}

/* Ends the waiting of a stack: the frames that can be unwound by now are enough. */
static int give_at_last(struct deferred_stacks *l, struct deferred *s)
{
	int rc;

	if (!s->is_cut)
		return give_as_it_came(l, s);
	s->is_cut = false;
	s->again = MAX_AGAIN;
	rc = try_one(l, s);
	return rc ? rc : give_as_it_came(l, s);
}

int deferred_stacks_flush(struct deferred_stacks *l, uint32_t scan)
{
	struct deferred **at = &l->first;
	int err = deferred_stacks_try(l);

	while (err >= 0 && *at) {
		if (scan && (*at)->scan != scan) {
			at = &(*at)->next;
			continue;
		}
		err = give_at_last(l, *at);
		drop(l, at);
	}
	return err < 0 ? err : 0;
}

bool deferred_stacks_waiting(const struct deferred_stacks *l, uint32_t scan)
{
	const struct deferred *s = l->first;

	while (s && scan && s->scan != scan)
		s = s->next;
	return s;
}

size_t deferred_stacks_bytes(const struct deferred_stacks *l)
{
	return waiting_bytes(l);
}

void deferred_stacks_stats(const struct deferred_stacks *l, struct deferred_stacks_stats *out)
{
	*out = l->stats;
	if (l->windows)
		code_windows_stats(l->windows, &out->code);
}
