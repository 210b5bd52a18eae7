/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of stacks that came as changes: what is kept equals the stack as it was, whatever came
 * between; blocks in common are kept once; lost changes are noticed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/capture/stacks/stack_blocks.h"
#include "src/capture/stacks/stack_mirrors.h"
#include "src/capture/stacks/wire_decode.h"

#define PAGE UNWIND_MEMORY_PAGE
#define ALL (WIRE_DELTA_PAGES * PAGE)
#define CPUS 3

/* The kernel's side of a CPU, as wire.h describes it. */
struct cpu {
	uint8_t mirror[ALL];
	uint32_t number;
	uint64_t stale;
};

struct world {
	struct stack_mirrors *m;
	uint32_t part_pages;
	struct cpu cpus[CPUS];
	struct wire_stack stack;	/* the last one */
	uint8_t *record;
	size_t len;
	uint32_t random;
};

static uint32_t any(struct world *w, uint32_t below)
{
	w->random = w->random * 1664525 + 1013904223;
	return (w->random >> 8) % below;
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	w->random = 1;
	w->part_pages = WIRE_PART_PAGES;
	w->record = test_malloc(sizeof(struct wire_delta) + ALL + 64);
	return stack_mirrors_new(24 << 20, &w->m);
}

static int teardown(void **state)
{
	struct world *w = *state;

	stack_mirrors_free(w->m);
	test_free(w->record);
	test_free(w);
	return 0;
}

/* A thread of the test: its stack from its lowest page on; behind WIRE_PART_PAGES, its outermost. */
struct thread {
	uint64_t start, outer, absent;
	uint8_t v[ALL];
	uint32_t bytes;
};

/* The byte of a page of the stack in the mirror: each part has its half. */
static uint32_t mirror_at(const struct thread *t, uint32_t page, uint32_t part_pages)
{
	uint32_t part = page / WIRE_PART_PAGES, in_part = page % WIRE_PART_PAGES;
	uint64_t addr = (part ? t->outer : t->start) + in_part * PAGE;

	return (uint32_t)(part * WIRE_PART_PAGES + addr / PAGE % part_pages) * PAGE;
}

/* Compares the page's blocks from byte sp on, and sends those that differ. */
static uint8_t *make_page(struct cpu *c, struct wire_delta *d, const struct thread *t, uint32_t page,
			  uint32_t sp, uint8_t *out)
{
	uint32_t to = mirror_at(t, page, d->part_pages);
	bool is_stale = c->stale >> to / PAGE & 1;

	for (uint32_t k = 0; k < PAGE; k += WIRE_BLOCK) {
		const uint8_t *now = t->v + page * PAGE + k;
		uint32_t i = (page * PAGE + k) / WIRE_BLOCK;

		if (!is_stale && (k + WIRE_BLOCK <= sp || !memcmp(c->mirror + to + k, now, WIRE_BLOCK)))
			continue;
		memcpy(c->mirror + to + k, now, WIRE_BLOCK);
		memcpy(out, now, WIRE_BLOCK);
		out += WIRE_BLOCK;
		d->changed[i / 64] |= 1ull << i % 64;
	}
	c->stale &= ~(1ull << to / PAGE);
	return out;
}

/* Makes the record of a stack; sp: byte of the stack pointer in its first page. */
static void make(struct world *w, uint32_t cpu, const struct thread *t, uint32_t sp)
{
	struct cpu *c = &w->cpus[cpu];
	struct wire_delta *d = (struct wire_delta *)w->record;
	uint8_t *out = w->record + sizeof(*d);

	memset(d, 0, sizeof(*d));
	d->head = (struct wire_sample){ .cpu = cpu, .flags = WIRE_DELTA, .nr_user = 1 };
	d->start = t->start;
	d->outer = t->outer;
	d->absent = t->absent;
	d->bytes = t->bytes;
	d->number = ++c->number;
	d->part_pages = w->part_pages;
	d->mirror = cpu;
	for (uint32_t page = 0; page < t->bytes / PAGE; page++)
		if (!(t->absent >> page & 1))
			out = make_page(c, d, t, page, page ? 0 : sp, out);
	*(uint64_t *)out = 0x1234;
	w->len = (size_t)(out + 8 - w->record);
}

static int apply(struct world *w)
{
	assert_int_equal(wire_decode(w->record, w->len, &w->stack), w->len);
	assert_int_equal(w->stack.user[0], 0x1234);
	return stack_mirrors_apply(w->m, &w->stack);
}

static void assert_memory(const uint8_t *const *blocks, const struct thread *t, uint32_t sp)
{
	for (uint32_t i = sp / WIRE_BLOCK; i < t->bytes / WIRE_BLOCK; i++)
		if (!(t->absent >> i / WIRE_PAGE_BLOCKS & 1))
			assert_memory_equal(blocks[i], t->v + i * WIRE_BLOCK, WIRE_BLOCK);
}

struct kept {
	uint32_t ids[WIRE_BLOCKS];
	struct thread t;
	uint32_t sp;
	bool is_used;
};

static void change(struct world *w, struct thread *t)
{
	for (uint32_t n = any(w, 6); n; n--)
		t->v[any(w, t->bytes)]++;
	if (any(w, 4))
		return;
	t->bytes = (1 + any(w, any(w, 2) ? WIRE_DELTA_PAGES : 16)) * PAGE;
	t->start += (uint64_t)any(w, 3) * PAGE;
	t->outer = t->bytes / PAGE > WIRE_PART_PAGES ? t->start + (uint64_t)(40 + any(w, 99)) * PAGE : 0;
	t->absent = any(w, 2) ? 0 : 1ull << any(w, 64);
	t->absent &= ~1ull & ~(1ull << (t->bytes / PAGE - 1));
	for (uint32_t i = 0; i < WIRE_DELTA_PAGES; i++)
		if (i % WIRE_PART_PAGES >= w->part_pages)
			t->absent |= 1ull << i;
}

static void check_kept(struct world *w, const struct kept *k)
{
	const uint8_t *blocks[WIRE_BLOCKS];

	stack_mirrors_blocks(w->m, k->ids, k->t.bytes / WIRE_BLOCK, blocks);
	assert_memory(blocks, &k->t, k->sp);
}

static void let_go(struct world *w, struct kept *k)
{
	check_kept(w, k);
	stack_mirrors_drop(w->m, k->ids, k->t.bytes / WIRE_BLOCK);
	k->is_used = false;
}

static void keep(struct world *w, struct kept *k, const struct thread *t, uint32_t sp)
{
	if (k->is_used)
		let_go(w, k);
	k->t = *t;
	k->sp = sp;
	k->is_used = true;
	assert_int_equal(stack_mirrors_keep(w->m, &w->stack, k->ids), t->bytes / WIRE_BLOCK);
}

/* Threads whose stacks change now and then, on CPUs at random; some records are lost. */
static void test_any_order(void **state)
{
	struct world *w = *state;
	struct thread *threads = test_calloc(5, sizeof(*threads));
	struct kept *kept = test_calloc(40, sizeof(*kept));

	for (uint32_t i = 0; i < 5; i++)
		threads[i] = (struct thread){ .start = 0x7f0000000000ull + i * 0x1007000ull,
					      .bytes = (i + 1) * PAGE };
	for (int turn = 0; turn < 4000; turn++) {
		struct thread *t = &threads[any(w, 5)];
		uint32_t cpu = any(w, CPUS), sp = any(w, PAGE / 8) * 8;

		change(w, t);
		make(w, cpu, t, sp);
		if (!any(w, 50)) {
			w->cpus[cpu].stale = WIRE_ALL_PAGES;
			continue;	/* the ring was full */
		}
		assert_int_equal(apply(w), 0);
		assert_memory(w->stack.blocks, t, sp);
		if (any(w, 2))
			keep(w, &kept[any(w, 40)], t, sp);
	}
	for (int i = 0; i < 40; i++)
		if (kept[i].is_used)
			let_go(w, &kept[i]);
	stack_mirrors_forget(w->m);
	assert_int_equal(stack_mirrors_used(w->m), 0);
	test_free(kept);
	test_free(threads);
}

/* The same where parts are shorter, because there are many CPUs. */
static void test_short_parts(void **state)
{
	struct world *w = *state;

	w->part_pages = WIRE_PART_PAGES / 4;
	test_any_order(state);
}

/* The deep part of a stack does not change: many samples take little more than one. */
static void test_kept_once(void **state)
{
	struct world *w = *state;
	struct thread *t = test_calloc(1, sizeof(*t));
	uint32_t (*ids)[WIRE_BLOCKS] = test_calloc(1000, sizeof(*ids));

	*t = (struct thread){ .start = 0x10000, .outer = 0x8000000, .bytes = ALL };
	for (int i = 0; i < 1000; i++) {
		t->v[100]++;
		make(w, 0, t, 0);
		assert_int_equal(apply(w), 0);
		assert_int_equal(stack_mirrors_keep(w->m, &w->stack, ids[i]), WIRE_BLOCKS);
	}
	assert_int_equal(stack_mirrors_used(w->m), ALL + 999 * WIRE_BLOCK);
	for (int i = 0; i < 1000; i++)
		stack_mirrors_drop(w->m, ids[i], WIRE_BLOCKS);
	assert_int_equal(stack_mirrors_used(w->m), ALL);	/* the mirror's own */
	stack_mirrors_forget(w->m);
	assert_int_equal(stack_mirrors_used(w->m), 0);
	test_free(ids);
	test_free(t);
}

/* A record that was lost behind the kernel's back: what builds on it is refused, until pages come whole. */
static void test_gap(void **state)
{
	struct world *w = *state;
	struct thread *t = test_calloc(1, sizeof(*t));

	*t = (struct thread){ .start = 0x10000, .bytes = 2 * PAGE };
	make(w, 1, t, 0);
	assert_int_equal(apply(w), 0);
	t->v[0]++;
	make(w, 1, t, 0);		/* lost */
	t->v[PAGE]++;
	make(w, 1, t, 0);
	assert_int_equal(apply(w), -EBADMSG);
	make(w, 1, t, 0);
	assert_int_equal(apply(w), -EBADMSG);
	w->cpus[1].stale = WIRE_ALL_PAGES;
	make(w, 1, t, 0);
	assert_int_equal(apply(w), 0);
	assert_memory(w->stack.blocks, t, 0);
	test_free(t);
}

/* There is an end to the room, and what was given back is room again. */
static void test_room(void **state)
{
	struct stack_blocks *p;
	uint8_t block[WIRE_BLOCK] = { 1 };
	uint32_t id, first = 0, nr = 0;
	size_t bytes;

	(void)state;
	assert_int_equal(stack_blocks_new(9 << 19, &p), 0);
	assert_int_equal(stack_blocks_bytes(p), 0);
	while ((id = stack_blocks_put(p, block)))
		if (!nr++)
			first = id;
	bytes = stack_blocks_bytes(p);
	assert_true(bytes <= 9 << 19);
	assert_int_equal(stack_blocks_used(p), nr * WIRE_BLOCK);
	assert_true(bytes < nr * WIRE_BLOCK * 21 / 20);
	stack_blocks_share(p, first);
	stack_blocks_drop(p, first);
	assert_int_equal(stack_blocks_put(p, block), 0);
	stack_blocks_drop(p, first);
	block[0] = 2;
	id = stack_blocks_put(p, block);
	assert_int_equal(id, first);
	assert_int_equal(stack_blocks_at(p, id)[0], 2);
	for (uint32_t i = 0; i < nr; i++)
		stack_blocks_drop(p, first + i);
	assert_int_equal(stack_blocks_used(p), 0);
	assert_true(stack_blocks_bytes(p) < bytes);
	assert_true(stack_blocks_bytes(p) < 9 << 18);	/* two of them are kept */
	stack_blocks_free(p);
	assert_int_equal(stack_blocks_new(100, &p), 0);	/* no chunk fits */
	assert_int_equal(stack_blocks_put(p, block), 0);
	stack_blocks_free(p);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_any_order),
		T(test_short_parts),
		T(test_kept_once),
		T(test_gap),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
