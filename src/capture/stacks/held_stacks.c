/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/held_stacks.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (4u << 20)

struct held_stack {
	struct held_stack *next;
	size_t size;			/* of this struct and the frames behind it, in bytes */
	struct wire_stack stack;
	struct wire_sample head;
	uint64_t frames[];		/* of the user, then of the kernel */
};

bool held_stacks_can(const struct wire_stack *stack)
{
	return !(stack->head->flags & WIRE_AUDIT) && !stack->wait && !stack->object;
}

int held_stacks_add(struct held_stacks *h, const struct wire_stack *stack)
{
	size_t user = stack->head->nr_user, kernel = stack->head->nr_kernel;
	size_t size = sizeof(struct held_stack) + (user + kernel) * sizeof(uint64_t);
	struct held_stack *s = h->bytes + size > MAX_BYTES ? NULL : malloc(size);

	if (!s)
		return -ENOBUFS;
	*s = (struct held_stack){ .size = size, .stack = *stack, .head = *stack->head };
	memcpy(s->frames, stack->user, user * sizeof(uint64_t));
	memcpy(s->frames + user, stack->kernel, kernel * sizeof(uint64_t));
	s->stack.head = &s->head;
	s->stack.user = s->frames;
	s->stack.kernel = s->frames + user;
	s->stack.dump = NULL;
	s->stack.memory = NULL;
	*(h->first ? h->last : &h->first) = s;
	h->last = &s->next;
	h->bytes += size;
	return 0;
}

int held_stacks_give_some(struct held_stacks *h,
			  bool (*is_ready)(void *ctx, const struct wire_stack *stack),
			  wire_stack_fn fn, void *ctx)
{
	struct held_stack **at = &h->first;
	int err = 0;

	while (*at && !err) {
		struct held_stack *s = *at;

		if (!is_ready(ctx, &s->stack)) {
			at = &s->next;
			continue;
		}
		err = fn(ctx, &s->stack);
		*at = s->next;
		if (!s->next)
			h->last = at;
		assert(h->bytes >= s->size);
		h->bytes -= s->size;
		free(s);
	}
	return err;
}

static bool always(void *ctx, const struct wire_stack *stack)
{
	(void)ctx;
	(void)stack;
	return true;
}

int held_stacks_give(struct held_stacks *h, wire_stack_fn fn, void *ctx)
{
	return held_stacks_give_some(h, always, fn, ctx);
}

void held_stacks_release(struct held_stacks *h)
{
	for (struct held_stack *s = h->first, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	*h = (struct held_stacks){ 0 };
}
