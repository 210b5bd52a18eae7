/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples of a page (--html): packed, sorted and joined, whatever order they come in. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/render/page/page_entry.h"
#include "formats/render/page/page_row.h"
#include "formats/render/page/page_samples.h"
#include "src/report/weight_text.h"

static uint64_t random_below(uint64_t *seed, uint64_t n)
{
	uint64_t high;

	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	high = *seed >> 32;
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (high << 32 | *seed >> 32) % n;
}

static void check_entry(const struct page_entry *a, const struct page_entry *b)
{
	assert_int_equal(a->tick, b->tick);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->node, b->node);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->scan, b->scan);
	assert_int_equal(a->activity, b->activity);
}

/* Bytes of the heap in use; 0 where the sanitizers keep it. */
static size_t heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* ---- rows ---- */

/* The edges of each number: of one byte, of more, none, and the largest. */
static struct page_entry odd_entry(uint64_t i)
{
	static const uint32_t counts[] = { 1, 2, 127, 128, 255, 256, 16384, UINT32_MAX };
	static const uint32_t numbers[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX - 1, UINT32_MAX };
	static const uint64_t weights[] = { 0, 1, 50000, 100000, 127 * 50000, UINT64_MAX - 1, UINT64_MAX };
	static const uint64_t ticks[] = { 0, 0, 1, 2, 127, 128, 1 << 20, 1ull << 40 };

	return (struct page_entry){ .tick = ticks[i % 8],
				    .weight = weights[i % 7],
				    .thread = 3,
				    .node = numbers[i / 2 % 8],
				    .count = counts[i / 3 % 8],
				    .cpu = numbers[i / 5 % 8],
				    .scan = numbers[i / 7 % 8],
				    .activity = (uint8_t)(i % 16) };
}

/* What is read is what was added, across blocks, whether the row stays or is taken. */
static void test_row_keeps_every_number(void **state)
{
	enum { NR = 5000 };
	struct page_row row = { 0 };
	uint64_t tick = 0;

	(void)state;
	for (uint64_t i = 0; i < NR; i++) {
		struct page_entry e = odd_entry(i);

		e.tick = tick += e.tick;
		assert_int_equal(page_row_add(&row, &e, 50000), 0);
	}
	assert_int_equal(row.nr, NR);
	for (int pass = 0; pass < 2; pass++) {
		struct page_row_reader r = pass ? page_row_take(&row, 3, 50000) : page_row_read(&row, 3, 50000);
		struct page_entry is;

		tick = 0;
		for (uint64_t i = 0; i < NR; i++) {
			struct page_entry e = odd_entry(i);

			e.tick = tick += e.tick;
			assert_true(page_row_next(&r, &is));
			check_entry(&is, &e);
		}
		assert_false(page_row_next(&r, &is));
		assert_false(page_row_next(&r, &is));
	}
	assert_int_equal(row.nr, 0);
	page_row_release(&row);
}

static void add_node(struct page_row *row, uint64_t tick, uint32_t node)
{
	struct page_entry e = { .tick = tick, .weight = 1, .node = node, .count = 1 };

	assert_int_equal(page_row_add(row, &e, 1), 0);
}

/* The newest tick can be taken off and put back at any length, also at the borders of blocks. */
static void test_newest_tick_is_taken_off(void **state)
{
	(void)state;
	for (uint32_t before = 0; before < 40; before++) {
		for (uint32_t open = 0; open < 40; open++) {
			struct page_row row = { 0 };
			struct page_entries l = { 0 };
			struct page_entry e;

			for (uint32_t i = 0; i < before; i++)
				add_node(&row, i, 1000 + i);
			for (uint32_t i = 0; i < open; i++)
				add_node(&row, 500, 2000 + i);
			assert_int_equal(page_row_last(&row, 0, 1, &e), before || open);
			if (open)
				assert_int_equal(e.node, 2000 + open - 1);
			assert_int_equal(page_row_open(&row, 0, 1, &l), 0);
			assert_int_equal(l.nr, open ? open : before != 0);
			assert_int_equal(row.nr + l.nr, before + open);
			for (uint32_t i = 0; i < l.nr; i++)
				add_node(&row, l.v[i].tick, l.v[i].node);
			add_node(&row, 501, 7);
			for (struct page_row_reader r = page_row_take(&row, 0, 1); page_row_next(&r, &e);)
				before && e.tick < before ? assert_int_equal(e.node, 1000 + e.tick)
							  : assert_true(e.tick == 500 || e.node == 7);
			page_entries_release(&l);
		}
	}
}

/* A reader that stops early frees what it has taken. */
static void test_rest_is_dropped(void **state)
{
	struct page_row row = { 0 };
	struct page_row_reader r;
	struct page_entry e;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		add_node(&row, i, i);
	r = page_row_take(&row, 0, 1);
	for (uint32_t i = 0; i < 5000; i++)
		assert_true(page_row_next(&r, &e));
	page_row_drop(&r);
	assert_false(page_row_next(&r, &e));
	page_row_release(&row);
}

/* ---- all of them ---- */

static void add(struct page_samples *s, uint64_t ns, uint32_t thread, uint32_t node)
{
	struct page_entry e = { .tick = ns, .weight = 10, .thread = thread, .node = node, .count = 1 };

	assert_int_equal(page_samples_add(s, &e), 0);
}

static void test_samples_are_sorted_and_joined(void **state)
{
	static const struct page_entry wanted[] = {
		{ .tick = 9, .weight = 10, .thread = 1, .node = 7, .count = 1 },
		{ .tick = 10, .weight = 20, .thread = 1, .node = 7, .count = 2 },
		{ .tick = 10, .weight = 10, .thread = 1, .node = 8, .count = 1 },
	};
	struct page_row_reader r;
	struct page_samples s;
	struct page_entry e;

	(void)state;
	page_samples_init(&s, 100);
	add(&s, 1000, 1, 7);
	add(&s, 1100, 0, 7);
	add(&s, 1099, 1, 7);		/* like the first one, of the same tick */
	add(&s, 900, 1, 7);		/* late in the file */
	add(&s, 1000, 1, 8);
	assert_int_equal(page_samples_end(&s), 0);
	assert_int_equal(s.nr, 4);
	assert_int_equal(s.nr_rows, 2);
	assert_int_equal(s.rows[0].nr, 1);
	assert_int_equal(s.rows[1].nr, 3);
	r = page_samples_read(&s, 1);
	for (size_t i = 0; i < 3; i++) {
		assert_true(page_row_next(&r, &e));
		check_entry(&e, &wanted[i]);
	}
	page_samples_release(&s);
}

/* However many samples there are, the entries are limited, and the sums stay. */
static void test_many_samples_make_ticks_longer(void **state)
{
	const uint64_t nr = PAGE_MAX_ENTRIES + 100000;
	uint64_t count = 0, weight = 0;
	struct page_samples s;

	(void)state;
	page_samples_init(&s, 1000);
	for (uint64_t i = 0; i < nr; i++)
		add(&s, i * 1000, i & 3, (uint32_t)(i % 5));
	assert_int_equal(page_samples_end(&s), 0);
	for (size_t i = 0; i < s.nr_rows; i++) {
		struct page_row_reader r = page_samples_take(&s, i);
		struct page_entry e, before = { 0 };

		for (bool has_before = false; page_row_next(&r, &e); has_before = true) {
			assert_true(e.tick * s.tick_ns <= nr * 1000);
			assert_true(!has_before || before.tick < e.tick ||
				    (before.tick == e.tick && before.node < e.node));
			count += e.count;
			weight += e.weight;
			before = e;
		}
	}
	assert_true(s.nr <= PAGE_MAX_ENTRIES);
	assert_true(s.coarser > 0);
	assert_true(s.tick_ns > 1000);
	assert_int_equal(count, nr);
	assert_int_equal(weight, 10 * nr);
	page_samples_release(&s);
}

/* A stream of samples. */
struct shape {
	uint64_t nr, step_ns;
	uint32_t threads, nodes, late_of;	/* one in late_of; 0: none */
	uint64_t late_ns;			/* by so much at most */
	uint32_t cpus, scans, activities;
	uint64_t free;				/* so many weigh nothing, at first */
};

static struct page_entry sample_of(const struct shape *shape, uint64_t i, uint64_t *seed)
{
	static const uint64_t weights[] = { 10, 10, 10, 0, 4999, UINT64_MAX / 3 };
	static const uint32_t counts[] = { 1, 1, 1, 1, 255, 256, 70000 };
	uint64_t ns = (1ull << 60) + i * shape->step_ns;

	if (shape->late_of && !random_below(seed, shape->late_of))
		ns -= random_below(seed, shape->late_ns);
	return (struct page_entry){ .tick = ns,
				    .weight = i < shape->free ? 0 : weights[random_below(seed, 6)],
				    .thread = (uint32_t)random_below(seed, shape->threads),
				    .node = (uint32_t)random_below(seed, shape->nodes),
				    .count = counts[random_below(seed, 7)],
				    .cpu = (uint32_t)random_below(seed, shape->cpus + 1) - 1,
				    .scan = shape->scans ? (uint32_t)(i * shape->scans / shape->nr) : 0,
				    .activity = (uint8_t)random_below(seed, shape->activities) };
}

static int by_order(const void *x, const void *y)
{
	const struct page_entry *a = x, *b = y;
	const uint64_t p[] = { a->thread, a->tick, a->node, a->scan, a->activity, a->cpu },
		       q[] = { b->thread, b->tick, b->node, b->scan, b->activity, b->cpu };

	for (size_t i = 0; i < 6; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

/* What the entries have to be, by a plain list of all samples. */
static size_t join_plainly(struct page_entry *v, size_t nr)
{
	size_t to = 0;

	qsort(v, nr, sizeof(*v), by_order);
	for (size_t i = 0; i < nr; i++) {
		if (!to || by_order(&v[to - 1], &v[i])) {
			v[to++] = v[i];
			continue;
		}
		v[to - 1].weight = weight_sum(v[to - 1].weight, v[i].weight);
		v[to - 1].count += v[i].count;
	}
	return to;
}

static void check_shape(const struct shape *shape, uint64_t tick_ns)
{
	struct page_entry *plain = calloc(shape->nr, sizeof(*plain)), e;
	uint64_t seed = shape->nr + shape->step_ns;
	struct page_samples s;
	size_t nr, at = 0;

	assert_non_null(plain);
	page_samples_init(&s, tick_ns);
	for (uint64_t i = 0; i < shape->nr; i++) {
		plain[i] = sample_of(shape, i, &seed);
		assert_int_equal(page_samples_add(&s, &plain[i]), 0);
		plain[i].tick /= tick_ns;
	}
	assert_int_equal(page_samples_end(&s), 0);
	nr = join_plainly(plain, shape->nr);
	assert_int_equal(s.nr, nr);
	for (size_t i = 0; i < s.nr_rows; i++)
		for (struct page_row_reader r = page_samples_take(&s, i); page_row_next(&r, &e); at++)
			check_entry(&e, &plain[at]);
	assert_int_equal(at, nr);
	page_samples_release(&s);
	free(plain);
}

static void test_any_order_gives_the_same_entries(void **state)
{
	static const struct shape shapes[] = {
		/* in order: few alike, many alike, thousands of threads */
		{ 50000, 100, 4, 500, 0, 0, 2, 0, 2, 0 },
		{ 50000, 1, 3, 5, 0, 0, 1, 9, 1, 0 },
		{ 50000, 100, 20000, 500, 0, 0, 2, 0, 2, 0 },
		/* one tick for all: of few entries, of many */
		{ 50000, 0, 2, 3, 0, 0, 1, 0, 1, 0 },
		{ 50000, 0, 2, 40000, 0, 0, 1, 0, 9, 0 },
		/* some late, by little and by much; half of them late; in no order at all */
		{ 50000, 100, 16, 500, 50, 3000, 2, 5, 2, 0 },
		{ 50000, 100, 16, 500, 1000, 5000000, 2, 0, 2, 0 },
		{ 50000, 100, 1, 500, 2, 900000000, 2, 0, 2, 0 },
		{ 80000, 100, 16, 50, 1, 1000000000, 2, 0, 2, 0 },
		{ 50000, 100, 20000, 500, 1, 1000000000, 1, 0, 1, 0 },
		/* the first ones weigh nothing */
		{ 30000, 100, 3, 50, 0, 0, 1, 0, 1, 20000 },
		{ 1, 1, 1, 1, 0, 0, 1, 0, 1, 0 },
		/* ticks further apart than 32 bits tell */
		{ 30000, 1ull << 35, 3, 50, 1, 1ull << 49, 1, 0, 1, 0 },
		{ 30000, 1ull << 35, 1, 50, 1, 1ull << 49, 1, 0, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		check_shape(&shapes[i], 1);
		check_shape(&shapes[i], 1000);
		check_shape(&shapes[i], 1000000);
	}
}

/* Ticks become longer with late entries about, and no sample is lost. */
static void test_late_samples_are_not_lost_when_ticks_grow(void **state)
{
	const struct shape shape = { PAGE_MAX_ENTRIES + 200000, 100, 16, 500, 20, 100000000, 2, 0, 2, 0 };
	uint64_t seed = 1, count = 0, wanted = 0;
	struct page_samples s;

	(void)state;
	page_samples_init(&s, 100);
	for (uint64_t i = 0; i < shape.nr; i++) {
		struct page_entry e = sample_of(&shape, i, &seed);

		assert_int_equal(page_samples_add(&s, &e), 0);
		wanted += e.count;
	}
	assert_int_equal(page_samples_end(&s), 0);
	for (size_t i = 0; i < s.nr_rows; i++) {
		struct page_row_reader r = page_samples_take(&s, i);
		struct page_entry e, before = { 0 };

		for (; page_row_next(&r, &e); before = e) {
			if (before.count)
				assert_true(by_order(&before, &e) < 0);
			count += e.count;
		}
	}
	assert_true(s.coarser > 0);
	assert_int_equal(count, wanted);
	page_samples_release(&s);
}

/* ---- memory ---- */

static size_t bytes_of(const struct shape *shape)
{
	size_t before = heap_bytes(), after;
	struct page_samples s;
	uint64_t seed = 1;

	page_samples_init(&s, 1);
	for (uint64_t i = 0; i < shape->nr; i++) {
		struct page_entry e = sample_of(shape, i, &seed);

		e.weight = 10;
		e.count = 1;
		e.thread = (uint32_t)(i % shape->threads);
		assert_int_equal(page_samples_add(&s, &e), 0);
	}
	assert_int_equal(page_samples_end(&s), 0);
	after = heap_bytes();
	assert_true(s.nr > shape->nr / 10 * 9);
	page_samples_release(&s);
	return after - before;
}

/* An entry takes few bytes, and so does a thread that has one; a struct has 40, and a row 72. */
static void test_entries_are_small(void **state)
{
	const struct shape usual = { 300000, 100, 16, 10000, 0, 0, 4, 0, 2, 0 };
	const struct shape single = { 100000, 100, 100000, 10000, 0, 0, 4, 0, 2, 0 };

	(void)state;
	assert_true(bytes_of(&usual) < 10 * usual.nr);
	assert_true(bytes_of(&single) < 140 * single.nr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row_keeps_every_number),
		cmocka_unit_test(test_newest_tick_is_taken_off),
		cmocka_unit_test(test_rest_is_dropped),
		cmocka_unit_test(test_samples_are_sorted_and_joined),
		cmocka_unit_test(test_many_samples_make_ticks_longer),
		cmocka_unit_test(test_any_order_gives_the_same_entries),
		cmocka_unit_test(test_late_samples_are_not_lost_when_ticks_grow),
		cmocka_unit_test(test_entries_are_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
