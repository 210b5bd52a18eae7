/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/running_threads.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"

/* For threads on a CPU. Two were needed where threads move to another CPU each 50 us. */
#define MAX_ROUNDS 5
/*
 * For threads whose memory map is locked. The holder of the lock needs time to release it: 60 ms in
 * all, then the row says that it was locked.
 */
#define BUSY_ROUNDS 20
#define BUSY_WAIT_MAX_NS (4 * 1000 * 1000)

/* A row without a stack, as it was set aside. */
struct waiting {
	struct wire_sample head;
	/* What could be unwound of a thread whose memory map was locked; or NULL. */
	uint64_t *frames;
	uint8_t state;
	bool done, gone, busy;
};

struct running_threads {
	struct capture_bpf *bpf;
	struct ring_buffer *ring;
	struct waiting *v;
	size_t nr, cap, nr_done;
	uint64_t begin_ns;
	uint32_t round;
	uint32_t *asked_in;		/* by CPU: the round in which it was interrupted, plus 1 */
	struct waiting *again;		/* the one being visited again */
	wire_stack_fn fn;
	void *ctx;
	int err;
	struct running_stats stats;
};

static int on_caught(void *ctx, void *data, size_t len);

int running_threads_open(struct capture_bpf *bpf, struct running_threads **rp)
{
	struct running_threads *rt = calloc(1, sizeof(*rt));
	int err = 0;

	if (!rt)
		return -ENOMEM;
	rt->bpf = bpf;
	rt->asked_in = calloc(capture_bpf_cpus(bpf), sizeof(*rt->asked_in));
	rt->ring = ring_buffer__new(capture_bpf_oncpu_ring(bpf), on_caught, rt, NULL);
	if (!rt->asked_in)
		err = -ENOMEM;
	else if (!rt->ring)
		err = fail(-errno, "map the ring buffer of the threads on a CPU");
	if (err)
		running_threads_close(rt);
	else
		*rp = rt;
	return err;
}

static void forget_all(struct running_threads *rt)
{
	for (size_t i = 0; i < rt->nr; i++)
		free(rt->v[i].frames);
	rt->nr = 0;
}

void running_threads_close(struct running_threads *rt)
{
	if (!rt)
		return;
	ring_buffer__free(rt->ring);
	free(rt->asked_in);
	forget_all(rt);
	free(rt->v);
	free(rt);
}

/* What is still requested would have stacks taken that belong to no scan. */
static void drop_requests(struct running_threads *rt)
{
	struct switch_requests *r = capture_bpf_switch_requests(rt->bpf);

	if (r->any)
		memset(r, 0, sizeof(*r));
}

void running_threads_begin(struct running_threads *rt)
{
	drop_requests(rt);
	rt->begin_ns = now_ns();
	forget_all(rt);
	rt->nr_done = 0;
	rt->round = 0;
	memset(&rt->stats, 0, sizeof(rt->stats));
	memset(rt->asked_in, 0, capture_bpf_cpus(rt->bpf) * sizeof(*rt->asked_in));
}

/*
 * Keeps the frames of a thread whose memory map was locked: it may stay so, and then the kernel
 * stack says why.
 */
static int keep_frames(struct waiting *w, const struct wire_stack *stack)
{
	size_t nr = (size_t)w->head.nr_user + w->head.nr_kernel;

	w->frames = w->busy && nr ? malloc(nr * sizeof(*w->frames)) : NULL;
	if (w->frames) {
		memcpy(w->frames, stack->user, nr * sizeof(*w->frames));
		return 0;
	}
	w->head.nr_user = w->head.nr_kernel = 0;
	return w->busy && nr ? -ENOMEM : 0;
}

int running_threads_add(struct running_threads *rt, const struct wire_stack *stack)
{
	struct waiting *w = array_push(&rt->v, &rt->nr, &rt->cap);

	if (!w)
		return -ENOMEM;
	*w = (struct waiting){ .head = *stack->head, .state = stack->state };
	w->head.flags &= (uint16_t)~(WIRE_DUMP | WIRE_AUDIT);
	rt->stats.met++;
	w->busy = stack->end == UNWIND_BUSY;
	rt->stats.busy += w->busy;
	return keep_frames(w, stack);
}

static void give(struct running_threads *rt, struct waiting *w, const struct wire_stack *stack)
{
	assert(!w->done && rt->nr_done < rt->nr);
	w->done = true;
	rt->nr_done++;
	if (!rt->err)
		rt->err = rt->fn(rt->ctx, stack);
}

static struct waiting *find(struct running_threads *rt, const struct wire_sample *head)
{
	for (size_t i = 0; i < rt->nr; i++)
		if (rt->v[i].head.tid == head->tid && !rt->v[i].done)
			return &rt->v[i];
	return NULL;
}

/*
 * A request of an earlier scan may have been served late: a stack that is older than this scan is
 * not for it.
 */
static int on_caught(void *ctx, void *data, size_t len)
{
	struct running_threads *rt = ctx;
	struct wire_stack stack;
	struct waiting *w;

	if (!rt->fn || wire_decode(data, len, &stack) <= 0 || stack.head->time_ns < rt->begin_ns)
		return 0;
	w = find(rt, stack.head);
	if (!w)
		return 0;
	stack.again = rt->round > 0;
	rt->stats.caught++;
	give(rt, w, &stack);
	return 0;
}

/* Interrupts the CPUs on which a thread is still requested, and reads the ring. */
static void ask(struct running_threads *rt)
{
	for (size_t i = 0; i < rt->nr; i++) {
		static const uint64_t no_arguments[4];	/* no thread leaves: bpf/running.bpf.h */
		LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU,
			    .cpu = rt->v[i].head.cpu, .ctx_in = no_arguments,
			    .ctx_size_in = sizeof(no_arguments));
		uint32_t cpu = rt->v[i].head.cpu;

		if (rt->v[i].done || rt->v[i].gone || cpu >= capture_bpf_cpus(rt->bpf) ||
		    rt->asked_in[cpu] == rt->round + 1)
			continue;
		rt->asked_in[cpu] = rt->round + 1;
		/* This fails if the CPU went offline meanwhile: its thread has left it, too. */
		if (capture_bpf_is_requested(rt->bpf, cpu))
			bpf_prog_test_run_opts(capture_bpf_oncpu_fd(rt->bpf), &opts);
	}
	ring_buffer__consume(rt->ring);
}

static void now_running(struct waiting *w, const struct wire_stack *stack)
{
	w->busy = false;
	w->head.cpu = stack->head->cpu;
	w->head.end = stack->end;
	w->head.nr_user = w->head.nr_kernel = 0;
}

static int on_again(void *ctx, const struct wire_stack *stack)
{
	struct running_threads *rt = ctx;
	struct wire_stack s = *stack;
	struct waiting *w = rt->again;

	if (stack->head->tid != w->head.tid || w->done)
		return 0;
	w->gone = false;
	if (wire_stack_is_missing(stack)) {
		if (stack->end != UNWIND_BUSY)
			now_running(w, stack);
		return 0;
	}
	s.again = true;
	rt->stats.again++;
	give(rt, w, &s);
	return rt->err;
}

static int scan_again(struct running_threads *rt, revisit_fn again, void *again_ctx)
{
	int err = 0;

	for (size_t i = 0; i < rt->nr && !err; i++) {
		/* What has been taken by now need not be visited. */
		ring_buffer__consume(rt->ring);
		rt->again = &rt->v[i];
		if (rt->again->done || rt->again->gone ||
		    (rt->round >= MAX_ROUNDS && !rt->again->busy))
			continue;
		rt->again->gone = true;		/* unless its row comes */
		err = again(again_ctx, rt->again->head.tid, on_again, rt);
		if (err == -EAGAIN) {	/* the reader hung */
			rt->again->gone = false;
			err = 0;
		}
	}
	return err;
}

static void give_as_is(struct running_threads *rt)
{
	for (size_t i = 0; i < rt->nr; i++) {
		struct waiting *w = &rt->v[i];
		struct wire_stack stack = { .head = &w->head,
					    .state = w->state,
					    .end = w->head.end };

		if (w->done)
			continue;
		rt->stats.gone += w->gone;
		rt->stats.uncaught += !w->busy;
		rt->stats.still_busy += w->busy;
		/* Without frames both numbers are 0, and no frame is read there. */
		stack.user = w->frames ? w->frames : (const uint64_t *)(&w->head + 1);
		stack.kernel = stack.user + w->head.nr_user;
		give(rt, w, &stack);
	}
}

/* Whether another round may help. Waits for locked memory maps first. */
static bool next_round(const struct running_threads *rt)
{
	long wait_ns = rt->round < 6 ? 50 * 1000 << rt->round : BUSY_WAIT_MAX_NS;
	bool any_busy = false;

	for (size_t i = 0; i < rt->nr && !any_busy; i++)
		any_busy = rt->v[i].busy && !rt->v[i].done;
	if (any_busy && rt->round < BUSY_ROUNDS)
		nanosleep(&(struct timespec){ .tv_nsec = wait_ns < BUSY_WAIT_MAX_NS
								 ? wait_ns
								 : BUSY_WAIT_MAX_NS },
			  NULL);
	return rt->nr_done < rt->nr &&
	       (rt->round < MAX_ROUNDS || (any_busy && rt->round < BUSY_ROUNDS));
}

int running_threads_settle(struct running_threads *rt, revisit_fn again, void *again_ctx,
			   wire_stack_fn fn, void *ctx)
{
	int err = 0;

	rt->fn = fn;
	rt->ctx = ctx;
	rt->err = 0;
	ask(rt);
	for (rt->round = 1; !err && next_round(rt); rt->round++) {
		err = scan_again(rt, again, again_ctx);
		if (!err)
			ask(rt);
	}
	if (err == -ENOTSUP || err == -EINTR)
		err = 0;
	drop_requests(rt);
	give_as_is(rt);
	assert(rt->nr_done == rt->nr);		/* one row for each */
	rt->fn = NULL;
	return rt->err ? rt->err : err;
}

void running_threads_stats(const struct running_threads *rt, struct running_stats *out)
{
	*out = rt->stats;
}
