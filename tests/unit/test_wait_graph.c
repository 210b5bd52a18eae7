/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/array.h"
#include "src/report/report.h"
#include "src/waits/wait_graph.h"
#include "tests/unit/trace_fixture.h"

#define NOW 1000000

/* owners[i] holds what thread i + 1 waits for; 0: nobody. Thread i has slept for i ns. */
static struct wait_graph graph(const uint32_t *owners, uint32_t nr)
{
	struct wait_graph g = { 0 };

	for (uint32_t i = 0; i < nr; i++) {
		struct wait_row *row = array_push(&g.rows, &g.nr, &g.cap);

		row->tid = i + 1;
		row->tgid = 1;
		row->rec = (struct rec_sample){ .time_ns = NOW, .ran_ns = NOW - i, .owner = owners[i] };
	}
	assert_int_equal(wait_graph_link(&g), 0);
	return g;
}

#define GRAPH(...) graph((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

static void test_chain(void **state)
{
	struct wait_graph g = GRAPH(0, 1, 2, 3, 3);

	(void)state;
	assert_int_equal(g.nr, 5);
	assert_int_equal(g.nr_rings, 0);
	assert_int_equal(g.rows[0].owner, WAIT_NONE);
	assert_int_equal(g.rows[0].nr_direct, 1);
	assert_int_equal(g.rows[0].nr_behind, 4);
	assert_int_equal(g.rows[2].nr_direct, 2);
	assert_int_equal(g.rows[2].nr_behind, 2);
	for (int i = 0; i < 5; i++)
		assert_int_equal(g.rows[i].head, 0);
	/* The longest wait first. */
	assert_int_equal(g.rows[2].first_waiter, 4);
	assert_int_equal(g.rows[4].next_waiter, 3);
	assert_int_equal(g.rows[3].next_waiter, WAIT_NONE);
	assert_int_equal(wait_row_ns(&g.rows[4]), 4);
	wait_graph_release(&g);
}

static void test_rings(void **state)
{
	struct wait_graph g = GRAPH(2, 1, 4, 5, 3, 3, 6, 8);

	(void)state;
	assert_int_equal(g.nr_rings, 3);
	assert_int_equal(g.rings[0].nr, 2);
	assert_int_equal(g.rings[1].nr, 3);
	assert_int_equal(g.rings[2].nr, 1);	/* 8 waits for itself */
	assert_int_equal(g.rows[0].ring, 0);
	assert_int_equal(g.rows[4].ring, 1);
	assert_int_equal(g.rows[7].ring, 2);
	assert_int_equal(g.rows[5].ring, WAIT_NONE);
	assert_int_equal(g.rows[2].nr_behind, 2);	/* 6 and 7, not the ring's own */
	assert_int_equal(g.rows[2].nr_direct, 2);
	assert_int_equal(g.rows[6].head, g.rings[1].first);
	wait_graph_release(&g);
}

/* The owner has no row: all its waiters hang on one that is made up. */
static void test_absent_owner(void **state)
{
	struct wait_graph g = GRAPH(77, 77, 78);

	(void)state;
	assert_int_equal(g.nr, 5);
	assert_true(g.rows[3].absent);
	assert_int_equal(g.rows[3].tid, 77);
	assert_int_equal(g.rows[3].nr_direct, 2);
	assert_int_equal(g.rows[4].nr_behind, 1);
	assert_int_equal(g.rows[0].head, 3);
	assert_int_equal(wait_row_ns(&g.rows[3]), UINT64_MAX);
	wait_graph_release(&g);
}

/* A ring is sure when nobody in it ran after the first look at one of them. */
static void test_sure(void **state)
{
	struct wait_graph g = GRAPH(2, 1);

	(void)state;
	assert_true(g.rings[0].stood_still);
	g.rows[0].rec.ran_ns = NOW + 1;
	g.rows[0].rec.time_ns = NOW + 2;
	assert_int_equal(wait_graph_link(&g), 0);
	assert_int_equal(g.nr_rings, 1);
	assert_false(g.rings[0].stood_still);
	g.rows[0].rec.ran_ns = 0;
	assert_int_equal(wait_graph_link(&g), 0);
	assert_false(g.rings[0].stood_still);
	wait_graph_release(&g);
}

/* A process is followed when it has one thread; then a ring with it is only a possible deadlock. */
static void test_processes(void **state)
{
	struct wait_graph g = { 0 };
	static const struct {
		uint32_t tid, tgid, owner;
		uint8_t kind;
	} rows[] = {
		{ 11, 11, 22, WAIT_PIPE }, { 22, 22, 11, WAIT_CHILD },		/* wait for each other */
		{ 33, 33, 44, WAIT_UNIX }, { 44, 44, 33, WAIT_UNIX }, { 45, 44, 0, WAIT_UNKNOWN },
		{ 55, 55, 66, WAIT_TCP }, { 56, 55, 66, WAIT_TCP },		/* 66 is not in the walk */
		{ 78, 77, 0, WAIT_UNKNOWN }, { 88, 88, 77, WAIT_FIFO },		/* its leader has ended */
		{ 91, 90, 92, WAIT_UNKNOWN }, { 92, 90, 91, WAIT_UNKNOWN },	/* locks */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wait_row *row = array_push(&g.rows, &g.nr, &g.cap);

		*row = (struct wait_row){ .tid = rows[i].tid, .tgid = rows[i].tgid };
		row->rec = (struct rec_sample){ .time_ns = NOW, .ran_ns = NOW - i, .owner = rows[i].owner,
						.wait_kind = rows[i].kind };
	}
	for (int again = 0; again < 2; again++) {
		assert_int_equal(wait_graph_link(&g), 0);
		assert_int_equal(g.nr_rings, 2);
		assert_true(g.rings[0].stood_still);
		assert_false(wait_ring_is_sure(&g.rings[0]));
		assert_true(wait_ring_is_sure(&g.rings[1]));
		assert_int_equal(g.rows[0].owner, 1);
		assert_int_equal(g.rows[1].owner, 0);
		assert_int_equal(g.rows[2].owner, WAIT_NONE);	/* which of the two? */
		assert_int_equal(g.rows[2].peer, 3);
		assert_int_equal(g.rows[3].nr_threads, 2);
		assert_int_equal(g.rows[3].owner, 2);
		assert_int_equal(g.rows[5].owner, 11);
		assert_int_equal(g.rows[6].owner, 11);
		assert_true(g.rows[11].absent);
		assert_int_equal(g.rows[11].nr_direct, 2);
		assert_int_equal(g.rows[8].owner, 7);
		assert_int_equal(g.nr, 12);
	}
	wait_graph_release(&g);
}

static void test_empty(void **state)
{
	struct wait_graph g = { 0 };

	(void)state;
	assert_int_equal(wait_graph_link(&g), 0);
	assert_int_equal(g.nr_rings, 0);
	wait_graph_release(&g);
}

/* As large and as deep as it gets: neither recursion nor square time. */
static void test_large(void **state)
{
	enum { NR = 300000 };
	uint32_t *owners = calloc(NR, sizeof(*owners));
	struct wait_graph g;

	(void)state;
	for (uint32_t i = 0; i < NR; i++)
		owners[i] = i;			/* a single chain */
	g = graph(owners, NR);
	assert_int_equal(g.rows[0].nr_behind, NR - 1);
	wait_graph_release(&g);
	owners[0] = NR;				/* a single ring */
	g = graph(owners, NR);
	assert_int_equal(g.nr_rings, 1);
	assert_int_equal(g.rings[0].nr, NR);
	wait_graph_release(&g);
	for (uint32_t i = 0; i < NR; i++)
		owners[i] = i + 1;		/* all wait for themselves */
	g = graph(owners, NR);
	assert_int_equal(g.nr_rings, NR);
	wait_graph_release(&g);
	for (uint32_t i = 0; i < NR; i++)
		owners[i] = UINT32_MAX - i;	/* all for others that are not there */
	g = graph(owners, NR);
	assert_int_equal(g.nr, 2 * NR);
	wait_graph_release(&g);
	free(owners);
}

static void test_read(void **state)
{
	char path[] = "/tmp/probee-waits-XXXXXX";
	struct report *rep = NULL;
	struct wait_graph g;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(trace_fixture_write(path), 0);
	assert_int_equal(report_open(path, NULL, &rep), 0);
	unlink(path);
	for (uint32_t scan = 0; scan < 2; scan++) {
		assert_int_equal(wait_graph_read(rep, scan, &g), 0);
		assert_int_equal(wait_graph_link(&g), 0);
		assert_int_equal(g.scan, 1);
		assert_int_equal(g.nr, FIX_SCAN_ROWS);
		assert_int_equal(g.rows[0].owner, 1);
		assert_int_equal(g.rows[0].rec.wait, 0x7700);
		assert_int_equal(wait_row_ns(&g.rows[0]), 33 * FIX_MS);
		assert_int_equal(g.rows[1].nr_direct, 1);
		wait_graph_release(&g);
	}
	assert_int_equal(wait_graph_read(rep, 2, &g), 0);
	assert_int_equal(g.scan, 0);
	wait_graph_release(&g);
	report_close(rep);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain), cmocka_unit_test(test_rings), cmocka_unit_test(test_absent_owner),
		cmocka_unit_test(test_sure), cmocka_unit_test(test_processes), cmocka_unit_test(test_empty), cmocka_unit_test(test_large),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
