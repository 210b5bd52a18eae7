/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that wait for the kernel's symbols: whole, in order, and within their room. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/capture/stacks/held_stacks.h"
#include "src/model/record.h"

struct given {
	uint32_t nr;
	uint64_t sum;			/* of user[0], kernel[0], and the frames' numbers */
	int err_at;			/* the one for which on_stack() fails; -1: none */
};

static struct wire_stack make(struct wire_sample *head, uint64_t *frames, uint32_t tid)
{
	*head = (struct wire_sample){ .tid = tid, .nr_user = 2, .nr_kernel = 1, .end = END_ROOT };
	frames[0] = tid;
	frames[1] = 7;
	frames[2] = tid + 1000;
	return (struct wire_stack){ .head = head, .user = frames, .kernel = frames + 2,
				    .end = END_ROOT, .deferred = true };
}

static int on_stack(void *ctx, const struct wire_stack *stack)
{
	struct given *g = ctx;

	assert_int_equal(stack->head->tid, g->nr);
	assert_int_equal(stack->head->nr_user, 2);
	assert_int_equal(stack->user[0], g->nr);
	assert_int_equal(stack->user[1], 7);
	assert_int_equal(stack->kernel[0], g->nr + 1000);
	assert_int_equal(stack->end, END_ROOT);
	assert_true(stack->deferred);
	assert_null(stack->dump);
	return (int)g->nr++ == g->err_at ? -EIO : 0;
}

static void add(struct held_stacks *h, uint32_t tid)
{
	struct wire_sample head;
	uint64_t frames[3];
	struct wire_stack stack = make(&head, frames, tid);

	assert_int_equal(held_stacks_add(h, &stack), 0);
	memset(frames, 0xff, sizeof(frames));	/* what was added is a copy */
	memset(&head, 0xff, sizeof(head));
}

static void gives_copies_in_order(void **state)
{
	struct held_stacks h = { 0 };
	struct given g = { .err_at = -1 };

	(void)state;
	assert_int_equal(held_stacks_give(&h, on_stack, &g), 0);
	for (uint32_t i = 0; i < 3; i++)
		add(&h, i);
	assert_int_equal(held_stacks_give(&h, on_stack, &g), 0);
	assert_int_equal(g.nr, 3);
	assert_null(h.first);
	assert_int_equal(h.bytes, 0);
	add(&h, 3);
	assert_int_equal(held_stacks_give(&h, on_stack, &g), 0);
	assert_int_equal(g.nr, 4);
}

static void an_error_ends_it(void **state)
{
	struct held_stacks h = { 0 };
	struct given g = { .err_at = 1 };

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		add(&h, i);
	assert_int_equal(held_stacks_give(&h, on_stack, &g), -EIO);
	assert_int_equal(g.nr, 2);
	held_stacks_release(&h);
	assert_null(h.first);
}

static void has_little_room(void **state)
{
	struct held_stacks h = { 0 };
	struct wire_sample head;
	uint64_t frames[3];
	struct wire_stack stack = make(&head, frames, 0);
	unsigned nr = 0;

	(void)state;
	while (!held_stacks_add(&h, &stack))
		assert_true(++nr < 1000000);
	assert_in_range(nr, 5000, 60000);	/* seconds of samples at 999 Hz */
	assert_true(h.bytes <= 4 << 20);
	assert_int_equal(held_stacks_add(&h, &stack), -ENOBUFS);
	held_stacks_release(&h);
}

/* Their memory is not kept, so what needs it must not be held. */
static void refuses_what_is_more_than_frames(void **state)
{
	struct wire_sample head;
	struct wire_wait wait = { 0 };
	struct wire_object object = { 0 };
	uint64_t frames[3];
	struct wire_stack stack = make(&head, frames, 0);

	(void)state;
	assert_true(held_stacks_can(&stack));
	head.flags = WIRE_AUDIT;
	assert_false(held_stacks_can(&stack));
	head.flags = 0;
	stack.wait = &wait;
	assert_false(held_stacks_can(&stack));
	stack.wait = NULL;
	stack.object = &object;
	assert_false(held_stacks_can(&stack));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_copies_in_order),
		cmocka_unit_test(an_error_ends_it),
		cmocka_unit_test(has_little_room),
		cmocka_unit_test(refuses_what_is_more_than_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
