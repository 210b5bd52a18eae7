/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that a walk met on a CPU, and those whose memory map was locked: one row for each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/capture/collectors/running_threads.h"
#include "src/model/record.h"
#include "tests/unit/fake_bpf.h"

#define NR 8
#define FRAME 0x550000001000ull

/* What a thread does, by its number. */
struct thread {
	int on_cpu;			/* -1: on none */
	uint8_t end;			/* of the row that a visit gives; 0: no row, it is gone */
	bool is_kthread;
	unsigned visits;
	int err;			/* that a visit answers */
	void (*then)(struct thread *t);	/* after a visit */
};

struct world {
	struct running_threads *rt;
	struct thread threads[NR];
	struct wire_sample rows[NR * 2];
	uint64_t frames[NR * 2];
	bool again[NR * 2];
	size_t nr;
	int err;			/* what the row's taker answers */
};

static struct world *world;		/* for fake.on_run */

struct wire {
	struct wire_sample head;
	uint64_t frames[2];
};

static struct wire make_row(uint32_t tid, uint8_t end, uint32_t cpu)
{
	return (struct wire){
		.head = {
			.time_ns = now_ns(), .tid = tid, .tgid = tid, .cpu = cpu, .nr_user = 1,
			.nr_kernel = 1, .end = end,
			.flags = end == UNWIND_RUNNING ? WIRE_ON_CPU : 0,
		},
		.frames = { FRAME + tid, 0xffffffff81000000ull },
	};
}

static void decode(const struct wire *row, struct wire_stack *out)
{
	assert_int_equal(wire_decode(row, sizeof(*row), out), sizeof(*row));
}

/* The kernel side takes the stack of who runs there. */
static void run_on(uint32_t cpu)
{
	for (uint32_t tid = 0; tid < NR; tid++) {
		struct wire row = make_row(tid, UNWIND_ROOT, cpu);

		if (world->threads[tid].on_cpu == (int)cpu)
			fake_caught(&row, sizeof(row));
	}
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = world = w;
	fake = (struct fake_bpf){ .on_run = run_on };
	for (int i = 0; i < NR; i++)
		w->threads[i].on_cpu = -1;
	assert_int_equal(running_threads_open(NULL, &w->rt), 0);
	running_threads_begin(w->rt);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	running_threads_close(w->rt);
	for (size_t i = 0; i < fake.nr_ring; i++)
		free(fake.ring[i].data);
	test_free(w);
	return 0;
}

static int on_row(void *ctx, const struct wire_stack *s)
{
	struct world *w = ctx;

	assert_true(w->nr < NR * 2);
	w->rows[w->nr] = *s->head;
	w->frames[w->nr] = s->head->nr_user ? s->user[0] : 0;
	w->again[w->nr++] = s->again;
	return w->err;
}

static int visit(void *ctx, uint32_t tid, wire_stack_fn fn, void *fn_ctx)
{
	struct world *w = ctx;
	struct thread *t = &w->threads[tid];
	struct wire row = make_row(tid, t->end, t->on_cpu < 0 ? 0 : (uint32_t)t->on_cpu);
	struct wire_stack s;
	int err = 0;

	t->visits++;
	decode(&row, &s);
	if (t->end)
		err = fn(fn_ctx, &s);
	if (t->then)
		t->then(t);
	return err ? err : t->err;
}

/* The walk met it with this end. */
static void met(struct world *w, uint32_t tid, uint8_t end, uint32_t cpu)
{
	struct wire row = make_row(tid, end, cpu);
	struct wire_stack s;

	decode(&row, &s);
	assert_int_equal(running_threads_add(w->rt, &s), 0);
}

static int settle(struct world *w)
{
	return running_threads_settle(w->rt, visit, w, on_row, w);
}

static struct running_stats stats_of(const struct world *w)
{
	struct running_stats st;

	running_threads_stats(w->rt, &st);
	return st;
}

/* ---- */

static void test_nobody(void **state)
{
	struct world *w = *state;

	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 0);
	for (int i = 0; i < FAKE_CPUS; i++)
		assert_int_equal(fake.runs[i], 0);
}

/* Each CPU is asked once, whoever was met there, and the stack is the one taken there. */
static void test_caught_on_their_cpus(void **state)
{
	struct world *w = *state;

	w->threads[1].on_cpu = 2;
	w->threads[3].on_cpu = 0;
	met(w, 1, UNWIND_RUNNING, 2);
	met(w, 3, UNWIND_RUNNING, 0);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(w->rows[i].end, UNWIND_ROOT);
		assert_int_equal(w->frames[i], FRAME + w->rows[i].tid);
		assert_false(w->again[i]);
	}
	assert_int_equal(fake.runs[0], 1);
	assert_int_equal(fake.runs[1], 0);
	assert_int_equal(fake.runs[2], 1);
	assert_int_equal(stats_of(w).met, 2);
	assert_int_equal(stats_of(w).caught, 2);
	assert_int_equal(w->threads[1].visits, 0);
}

/* Two were met on one CPU: one has gone to sleep since, and is visited. */
static void test_left_meanwhile(void **state)
{
	struct world *w = *state;

	w->threads[1] = (struct thread){ .on_cpu = 2 };
	w->threads[2] = (struct thread){ .on_cpu = -1, .end = UNWIND_ROOT };
	met(w, 1, UNWIND_RUNNING, 2);
	met(w, 2, UNWIND_RUNNING, 2);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 2);
	assert_int_equal(w->rows[0].tid, 1);
	assert_int_equal(w->rows[1].tid, 2);
	assert_true(w->again[1]);
	assert_int_equal(w->frames[1], FRAME + 2);
	assert_int_equal(fake.runs[2], 1);
	assert_int_equal(w->threads[2].visits, 1);
	assert_int_equal(stats_of(w).again, 1);
	assert_int_equal(stats_of(w).uncaught, 0);
}

static void other_is_caught(struct thread *t)
{
	struct wire row = make_row(2, UNWIND_ROOT, 3);

	(void)t;
	fake_caught(&row, sizeof(row));
}

/*
 * Two were met off their CPUs and have run meanwhile. One leaves a CPU while the other is visited,
 * so it is not visited any more, and nothing stays requested.
 */
static void test_caught_at_its_switch(void **state)
{
	struct world *w = *state;

	w->threads[1] = (struct thread){ .on_cpu = -1, .end = UNWIND_ROOT, .then = other_is_caught };
	w->threads[2] = (struct thread){ .on_cpu = -1, .end = UNWIND_TORN };
	met(w, 1, UNWIND_TORN, UINT32_MAX);
	met(w, 2, UNWIND_TORN, UINT32_MAX);
	fake.switch_requests.any = 1;
	fake.switch_requests.tids[1] = 1;
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 2);
	assert_int_equal(w->rows[1].tid, 2);
	assert_int_equal(w->frames[1], FRAME + 2);
	assert_int_equal(w->threads[2].visits, 0);
	assert_int_equal(stats_of(w).caught, 1);
	assert_int_equal(stats_of(w).uncaught, 0);
	assert_int_equal(fake.switch_requests.any, 0);
	assert_int_equal(fake.switch_requests.tids[1], 0);
}

/* It runs on another CPU when it is visited: asked there, and that is later than its walk. */
static void test_moved(void **state)
{
	struct world *w = *state;

	w->threads[1] = (struct thread){ .on_cpu = 3, .end = UNWIND_RUNNING };
	met(w, 1, UNWIND_RUNNING, 2);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->rows[0].end, UNWIND_ROOT);
	assert_int_equal(w->rows[0].cpu, 3);
	assert_true(w->again[0]);
	assert_int_equal(fake.runs[2], 1);
	assert_int_equal(fake.runs[3], 1);
}

static void test_gone(void **state)
{
	struct world *w = *state;

	met(w, 1, UNWIND_RUNNING, 2);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->rows[0].end, UNWIND_RUNNING);
	assert_int_equal(w->rows[0].nr_user, 0);
	assert_int_equal(w->rows[0].nr_kernel, 0);
	assert_int_equal(w->threads[1].visits, 1);
	assert_int_equal(fake.runs[2], 1);		/* its CPU is left alone from then on */
	assert_int_equal(stats_of(w).gone, 1);
	assert_int_equal(stats_of(w).uncaught, 1);
}

static void move_on(struct thread *t)
{
	t->on_cpu = -1;			/* it has left when the CPU is asked */
}

/* One that is always elsewhere has its row without a stack, after some rounds. */
static void test_never_caught(void **state)
{
	struct world *w = *state;

	w->threads[1] = (struct thread){ .end = UNWIND_RUNNING, .then = move_on, .on_cpu = -1 };
	met(w, 1, UNWIND_RUNNING, 2);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->rows[0].end, UNWIND_RUNNING);
	assert_int_equal(w->threads[1].visits, 4);
	assert_int_equal(stats_of(w).uncaught, 1);
	assert_int_equal(stats_of(w).gone, 0);
	/* The next walk begins anew. */
	running_threads_begin(w->rt);
	assert_int_equal(stats_of(w).uncaught, 0);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 1);
}

static void let_go(struct thread *t)
{
	if (t->visits == 6)
		t->end = UNWIND_ROOT;
}

/* A memory map that is locked gets free, or not: then the row has what was there. */
static void test_busy(void **state)
{
	struct world *w = *state;

	w->threads[1] = (struct thread){ .end = UNWIND_BUSY, .then = let_go, .on_cpu = -1 };
	w->threads[2] = (struct thread){ .end = UNWIND_BUSY, .on_cpu = -1 };
	met(w, 1, UNWIND_BUSY, 9999);
	met(w, 2, UNWIND_BUSY, 9999);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 2);
	assert_int_equal(w->rows[0].tid, 1);
	assert_int_equal(w->rows[0].end, UNWIND_ROOT);
	assert_int_equal(w->threads[1].visits, 7);
	assert_int_equal(w->rows[1].end, UNWIND_BUSY);
	assert_int_equal(w->rows[1].nr_user, 1);
	assert_int_equal(w->frames[1], FRAME + 2);
	assert_int_equal(w->threads[2].visits, 19);
	assert_int_equal(stats_of(w).busy, 2);
	assert_int_equal(stats_of(w).still_busy, 1);
	assert_int_equal(stats_of(w).uncaught, 0);
}

/* No longer busy but on a CPU: the frames of before are not shown as those of now. */
static void test_busy_then_running(void **state)
{
	struct world *w = *state;

	w->threads[1] = (struct thread){ .end = UNWIND_RUNNING, .then = move_on, .on_cpu = -1 };
	met(w, 1, UNWIND_BUSY, 1);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->rows[0].end, UNWIND_RUNNING);
	assert_int_equal(w->rows[0].nr_user, 0);
	assert_int_equal(stats_of(w).still_busy, 0);
}

/* What comes out of the ring but belongs to no row of this walk. */
static void test_records_of_nobody(void **state)
{
	struct world *w = *state;
	struct wire old = make_row(1, UNWIND_ROOT, 2), other = make_row(5, UNWIND_ROOT, 2);

	old.head.time_ns -= NSEC_PER_SEC;
	fake_caught(&old, sizeof(old));
	fake_caught(&other, sizeof(other));
	fake_caught(&old, 10);
	met(w, 1, UNWIND_RUNNING, 2);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->rows[0].end, UNWIND_RUNNING);
	assert_int_equal(stats_of(w).caught, 0);
	/* Nor one that comes between two walks. */
	fake_caught(&other, sizeof(other));
	ring_buffer__consume(NULL);
	assert_int_equal(w->nr, 1);
}

/* The same thread twice, by a mistake of the kernel side: one row. */
static void test_caught_twice(void **state)
{
	struct world *w = *state;
	struct wire row = make_row(1, UNWIND_ROOT, 2);

	w->threads[1].on_cpu = 2;
	fake_caught(&row, sizeof(row));
	met(w, 1, UNWIND_RUNNING, 2);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 1);
}

static void test_cpus_that_are_not_asked(void **state)
{
	struct world *w = *state;

	fake.nobody_wished[1] = true;	/* it was taken there already */
	met(w, 1, UNWIND_RUNNING, 1);
	met(w, 2, UNWIND_RUNNING, FAKE_CPUS);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->nr, 2);
	for (int i = 0; i < FAKE_CPUS; i++)
		assert_int_equal(fake.runs[i], 0);
}

static void answers(struct world *w, int err, int want)
{
	w->nr = 0;
	running_threads_begin(w->rt);
	w->threads[1] = (struct thread){ .err = err, .on_cpu = -1 };
	w->threads[2] = (struct thread){ .end = UNWIND_ROOT, .on_cpu = -1 };
	met(w, 1, UNWIND_RUNNING, 1);
	met(w, 2, UNWIND_RUNNING, 1);
	assert_int_equal(settle(w), want);
	assert_int_equal(w->nr, 2);
}

/* Whatever becomes of the visits, each has its row. */
static void test_visits_that_fail(void **state)
{
	struct world *w = *state;

	answers(w, -EAGAIN, 0);			/* the reader hung: it is not gone */
	assert_int_equal(stats_of(w).gone, 0);
	assert_int_equal(stats_of(w).uncaught, 1);
	assert_true(w->threads[1].visits > 1);
	answers(w, -ENOTSUP, 0);
	assert_int_equal(w->threads[1].visits, 1);
	assert_int_equal(w->threads[2].visits, 0);
	answers(w, -EIO, -EIO);
}

static void test_error_of_the_taker(void **state)
{
	struct world *w = *state;

	w->threads[1].on_cpu = 1;
	w->threads[2].on_cpu = 1;
	met(w, 1, UNWIND_RUNNING, 1);
	met(w, 2, UNWIND_RUNNING, 1);
	w->err = -EPIPE;
	assert_int_equal(settle(w), -EPIPE);
	assert_int_equal(w->nr, 1);
}

/* Rows are copied without the memory that came with them. */
static void test_no_memory_is_kept(void **state)
{
	struct world *w = *state;
	struct wire row = make_row(1, UNWIND_RUNNING, 1);
	struct wire_stack s;

	decode(&row, &s);
	row.head.flags |= WIRE_DUMP | WIRE_AUDIT;
	assert_int_equal(running_threads_add(w->rt, &s), 0);
	assert_int_equal(settle(w), 0);
	assert_int_equal(w->rows[0].flags, WIRE_ON_CPU);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nobody),
		T(test_caught_on_their_cpus),
		T(test_left_meanwhile),
		T(test_caught_at_its_switch),
		T(test_moved),
		T(test_gone),
		T(test_never_caught),
		T(test_busy),
		T(test_busy_then_running),
		T(test_records_of_nobody),
		T(test_caught_twice),
		T(test_cpus_that_are_not_asked),
		T(test_visits_that_fail),
		T(test_error_of_the_taker),
		T(test_no_memory_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
