#include "src/capture/stacks/deferred_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/capture/processes/binary_store.h"
#include "src/capture/stacks/deferred_unwind.h"
#include "src/capture/processes/process_tracker.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/capture/stacks/wire_decode.h"

#define MAX_BYTES (64u << 20)
#define MAX_AGAIN 8			/* visits: each one may get as far as the next table that is not there yet */

struct late {
	struct late *next;
	uint32_t walk;
	uint32_t binary;		/* whose table it waits for; 0: not tried yet */
	bool looked;			/* /proc was asked for a missing mapping */
	bool is_cut;			/* all tables are there for what was kept of it, but it goes on */
	uint32_t again;			/* visits since then */
	size_t size;
	struct wire_raw raw;		/* and its memory */
};

struct late_stacks {
	struct late_stacks_deps deps;
	struct late_walk *walker;
	struct late *first, **last;
	size_t nr, bytes;
	struct late_stacks_stats stats;
	struct wire_sample head;	/* of the stack being given on */
	uint64_t frames[WIRE_RAW_FRAMES];
};

int late_stacks_new(const struct late_stacks_deps *deps, struct late_stacks **lp)
{
	struct late_stacks *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->deps = *deps;
	l->last = &l->first;
	err = late_walk_new(deps->loader, deps->mode, deps->max_frames, &l->walker);
	if (err)
		late_stacks_free(l);
	else
		*lp = l;
	return err;
}

void late_stacks_free(struct late_stacks *l)
{
	struct late *s, *next;

	if (!l)
		return;
	for (s = l->first; s; s = next) {
		next = s->next;
		free(s);
	}
	late_walk_free(l->walker);
	free(l);
}

static bool is_early_end(uint8_t end)
{
	return end == WALK_NO_PROCESS || end == WALK_NO_MAPPING || end == WALK_NO_TABLE;
}

bool late_stacks_wants(const struct wire_stack *stack)
{
	return stack->raw && is_early_end(stack->end);
}

/* Takes the one at *at off the list. */
static void drop(struct late_stacks *l, struct late **at)
{
	struct late *s = *at;

	*at = s->next;
	if (l->last == &s->next)
		l->last = at;
	l->nr--;
	l->bytes -= s->size;
	free(s);
}

static int give_as_it_came(struct late_stacks *l, const struct late *s)
{
	struct wire_stack stack;

	l->stats.gave_up++;
	if (wire_decode(&s->raw, sizeof(s->raw) + s->raw.bytes, &stack) <= 0)
		return 0;
	return l->deps.give(l->deps.ctx, &stack, s->walk);
}

/* The stack as it came, with the frames that were found now. One that is cut ends for the reason for which it came here. */
static int give_result(struct late_stacks *l, const struct late *s, const struct wire_stack *old,
		       const struct late_walk_result *r)
{
	struct wire_stack stack = *old;
	size_t nr_kernel = old->head->nr_kernel;
	uint8_t end = r->is_cut ? old->head->end : r->end;

	l->head = *old->head;
	l->head.nr_user = (uint16_t)r->nr;
	l->head.end = end;
	l->head.flags = (uint16_t)((l->head.flags & ~WIRE_GUESSED) | (r->guessed ? WIRE_GUESSED : 0));
	memcpy(l->frames, r->frames, r->nr * sizeof(*l->frames));
	memcpy(l->frames + r->nr, old->kernel, nr_kernel * sizeof(*l->frames));
	stack.head = &l->head;
	stack.user = l->frames;
	stack.kernel = l->frames + r->nr;
	stack.end = end;
	stack.late = true;
	if (is_early_end(end))
		l->stats.gave_up++;
	else
		l->stats.solved++;
	return l->deps.give(l->deps.ctx, &stack, s->walk);
}

/* The binary that the kernel's walk got to. 0: none. */
static uint32_t where_it_ended(const struct process *p, const struct wire_stack *stack)
{
	uint32_t nr = stack->head->nr_user;
	const struct mapping *m = nr ? process_find_mapping(p, stack->user[nr - 1] & WALK_ADDRESS_MASK, stack->head->time_ns) : NULL;

	return m ? m->binary : 0;
}

/* 1: handed on; 0: must wait; or an error. */
static int try_one(struct late_stacks *l, struct late *s)
{
	bool waits = s->raw.head.time_ns + LATE_MAX_NS > now_ns();
	struct late_walk_result r;
	struct wire_stack stack;
	struct process *p;
	int err;

	/* First of all: thousands may wait, and all are asked at each event. */
	if (waits && (s->is_cut || (s->binary && binary_store_table_pending(l->deps.store, s->binary))))
		return 0;
	if (wire_decode(&s->raw, sizeof(s->raw) + s->raw.bytes, &stack) <= 0)
		return 1;
	p = process_tracker_find(l->deps.tracker, stack.head->tgid, stack.head->time_ns);
	if (!p)
		return -ENOMEM;
	err = late_walk(l->walker, l->deps.binaries, p, &stack, &r);
	if (!err && r.end == WALK_NO_MAPPING && !s->looked) {
		s->looked = true;
		if (process_tracker_look_again(l->deps.tracker, p))
			err = late_walk(l->walker, l->deps.binaries, p, &stack, &r);
	}
	if (err)
		return err;
	if (r.end == WALK_NO_TABLE && binary_store_want_table(l->deps.store, r.binary) && waits) {
		s->binary = r.binary;
		return 0;
	}
	if (r.is_cut && s->walk && s->again < MAX_AGAIN && waits) {
		s->binary = where_it_ended(p, &stack);
		s->is_cut = !s->binary || !binary_store_want_table(l->deps.store, s->binary);
		return 0;
	}
	err = give_result(l, s, &stack, &r);
	return err ? err : 1;
}

static struct late *new_late(struct late_stacks *l, const struct wire_stack *stack, uint32_t walk)
{
	size_t size = sizeof(struct late) + stack->raw->bytes;
	struct late *s = l->bytes + size > MAX_BYTES ? NULL : malloc(size);

	if (!s)
		return NULL;
	*s = (struct late){ .walk = walk, .size = size };
	memcpy(&s->raw, stack->raw, sizeof(s->raw) + stack->raw->bytes);
	l->bytes += size;
	l->nr++;
	return s;
}

int late_stacks_add(struct late_stacks *l, const struct wire_stack *stack, uint32_t walk)
{
	struct late *s = new_late(l, stack, walk), **at = l->last;
	int rc;

	l->stats.added++;
	if (!s) {
		l->stats.refused++;
		return l->deps.give(l->deps.ctx, stack, walk);
	}
	*at = s;
	l->last = &s->next;
	/* Now, so that the table it needs is asked for: most of those that follow need the same. */
	rc = try_one(l, s);
	if (rc > 0)
		drop(l, at);
	return rc < 0 ? rc : 0;
}

int late_stacks_try(struct late_stacks *l)
{
	struct late **at = &l->first;

	while (*at) {
		int rc = try_one(l, *at);

		if (rc < 0)
			return rc;
		if (rc)
			drop(l, at);
		else
			at = &(*at)->next;
	}
	return 0;
}

/* Puts another row of the same thread in the place of the one at *at. */
static void replace(struct late_stacks *l, struct late **at, struct late *s)
{
	struct late *old = *at;

	s->again = old->again;
	s->next = old->next;
	*at = s;
	if (l->last == &old->next)
		l->last = &s->next;
	l->nr--;
	l->bytes -= old->size;
	free(old);
}

struct visit {
	struct late_stacks *l;
	struct late **at;
	bool seen, given;
};

/* A row without a stack is worth less than the part that is there. */
static int on_visit(void *ctx, const struct wire_stack *stack)
{
	struct visit *v = ctx;
	struct late *s = *v->at, *more;
	struct wire_stack row = *stack;

	if (v->given || stack->head->tid != s->raw.head.tid)
		return 0;
	v->seen = true;
	if (wire_stack_is_missing(stack))
		return 0;
	if (late_stacks_wants(stack)) {
		more = new_late(v->l, stack, s->walk);
		if (more)
			replace(v->l, v->at, more);
		return 0;
	}
	row.again = true;
	v->given = true;
	v->l->stats.solved++;
	return v->l->deps.give(v->l->deps.ctx, &row, s->walk);
}

/* *at is dropped when its row has been given on. */
static int visit(struct late_stacks *l, struct late **at, revisit_fn again, void *ctx)
{
	struct visit v = { .l = l, .at = at };
	int err;

	(*at)->is_cut = false;
	(*at)->again++;
	err = again(ctx, (*at)->raw.head.tid, on_visit, &v);
	if (err == -ENOTSUP || err == -EAGAIN || err == -ESRCH)
		err = 0;
	if (!v.seen)
		(*at)->again = MAX_AGAIN;
	if (v.given)
		drop(l, at);
	return err;
}

int late_stacks_again(struct late_stacks *l, uint32_t walk, revisit_fn again, void *ctx)
{
	struct late **at = &l->first;
	int err = 0;

	while (again && *at && !err) {
		const struct late *s = *at;

		if (s->is_cut && s->walk == walk)
			err = visit(l, at, again, ctx);
		if (*at == s)
			at = &(*at)->next;
	}
	return err;
}

/* Waits no more: what can be walked of it is enough. */
static int give_at_last(struct late_stacks *l, struct late *s)
{
	int rc;

	if (!s->is_cut)
		return give_as_it_came(l, s);
	s->is_cut = false;
	s->again = MAX_AGAIN;
	rc = try_one(l, s);
	return rc ? rc : give_as_it_came(l, s);
}

int late_stacks_flush(struct late_stacks *l, uint32_t walk)
{
	struct late **at = &l->first;
	int err = late_stacks_try(l);

	while (err >= 0 && *at) {
		if (walk && (*at)->walk != walk) {
			at = &(*at)->next;
			continue;
		}
		err = give_at_last(l, *at);
		drop(l, at);
	}
	return err < 0 ? err : 0;
}

bool late_stacks_waiting(const struct late_stacks *l, uint32_t walk)
{
	const struct late *s = l->first;

	while (s && walk && s->walk != walk)
		s = s->next;
	return s;
}

size_t late_stacks_bytes(const struct late_stacks *l)
{
	return l->bytes;
}

void late_stacks_stats(const struct late_stacks *l, struct late_stacks_stats *out)
{
	*out = l->stats;
}
