/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks become the records of a trace: rows that repeat, peers, receipts, names, the end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/patience.h"
#include "src/capture/processes/lifetimes.h"
#include "src/capture/session/session.h"
#include "src/capture/waits/wait_peers.h"
#include "tests/unit/capture_world.h"
#include "tests/unit/recorded.h"

#define TEXT 0x550000000000ull
#define ME NO_PID
enum { EVENT_OF_SAMPLES = 1, EVENT_OF_SCANS };
#define TURNS 128			/* OWN_ROW_EVERY */

struct world {
	struct capture_world c;
	struct recorded r;
	struct session *s;
	unsigned asked;			/* looks for peers, and questions of the last one */
	size_t questions;
	uint32_t holders, holder;	/* what each of them is answered */
	struct rec_end ended;		/* of the part before */
	uint64_t late;			/* answers that came too late for their part */
};

static int find_peers(void *ctx, struct peer_question *q, size_t nr)
{
	struct world *w = ctx;

	w->asked++;
	w->questions = nr;
	for (size_t i = 0; i < nr; i++) {
		q[i].holders = w->holders;
		q[i].tgid = w->holder;
	}
	return 0;
}

static void begin(struct world *w)
{
	static char *argv[] = { "snapshot", "-a" };
	const struct session_info info = {
		.mode = "record", .argc = 2, .argv = argv, .unwind = "auto", .symbolize = "stream",
	};
	const struct session_event clock = { "cpu-clock", "ns", EVENT_CPU_CLOCK, 99, 10101010 };
	const struct session_event scans = { "snapshot", "ns", EVENT_SNAPSHOT, 1, 1000000000 };

	assert_int_equal(session_add_event(w->s, &clock), EVENT_OF_SAMPLES);
	assert_int_equal(session_add_event(w->s, &scans), EVENT_OF_SCANS);
	assert_int_equal(session_begin(w->s, &info), 0);
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));
	struct session_deps deps = {
		.sink = recorded_add, .sink_ctx = &w->r, .find_peers = find_peers, .ctx = w,
	};

	*state = w;
	w->holders = 1;
	w->holder = 77;
	capture_world_open(&w->c);
	deps.tracker = w->c.tracker;
	deps.binaries = &w->c.binaries;
	deps.symbolizer = w->c.symbolizer;
	assert_int_equal(session_new(&deps, &w->s), 0);
	begin(w);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	session_free(w->s);
	capture_world_close(&w->c);
	recorded_release(&w->r);
	test_free(w);
	return 0;
}

/* A stack as the kernel hands it out; what a test does not set is as of a thread asleep. */
struct stack {
	uint32_t tid, scan;
	uint64_t time_ns, pc, kernel;
	uint32_t cpu, state;
	uint16_t flags;
	uint8_t end;
	const char *comm;
	uint64_t weight, start_boottime_ns;
	uint32_t tgid;			/* 0: ME */
	uint32_t peer;			/* waits for the other end of this pipe */
};

struct wire {
	struct wire_sample head;
	uint64_t frames[2];
	struct wire_wait wait;
	struct wire_object object;
};

static size_t make_wire(const struct stack *s, struct wire *w)
{
	*w = (struct wire){
		.head = {
			.time_ns = s->time_ns ? s->time_ns : 1000 + s->scan, .weight = s->weight,
			.tgid = s->tgid ? s->tgid : ME, .tid = s->tid, .cpu = s->cpu,
			.state = s->state ? s->state : 1, .end = s->end ? s->end : UNWIND_ROOT,
			.flags = s->flags | (s->peer ? WIRE_WAIT | WIRE_OBJECT : 0),
			.start_boottime_ns = s->start_boottime_ns ? s->start_boottime_ns : s->tid,
			.event = s->scan ? EVENT_OF_SCANS : EVENT_OF_SAMPLES,
			.nr_user = !!s->pc, .nr_kernel = s->kernel && s->pc,
		},
		.frames = { s->pc, s->kernel },
	};
	strncpy(w->head.comm, s->comm ? s->comm : "worker", WIRE_COMM);
	if (!s->peer)
		return sizeof(w->head) + 8u * (w->head.nr_user + w->head.nr_kernel);
	assert_true(s->pc && s->kernel);
	w->wait = (struct wire_wait){ .syscall = 1, .what = 3 };	/* read(3) */
	w->object = (struct wire_object){ .kind = OBJECT_PIPE, .inode = s->peer,
					  .other = { .id = s->peer, .end = PEER_WRITERS } };
	return sizeof(*w);
}

static int give(struct world *w, const struct stack *s)
{
	struct wire_stack stack;
	struct wire wire;
	size_t len = make_wire(s, &wire);

	assert_int_equal(wire_decode(&wire, len, &stack), len);
	return session_sample(w->s, &stack, s->scan);
}

#define stack(w, ...) assert_int_equal(give((w), &(struct stack){ __VA_ARGS__ }), 0)

static void end_scan(struct world *w, uint32_t scan)
{
	struct rec_scan receipt = { .scan = scan, .time_ns = 2000 + scan, .rows = 1 };

	assert_int_equal(session_scan(w->s, &receipt), 0);
}

static const struct rec_sample *last(const struct world *w)
{
	assert_int_not_equal(w->r.nr[REC_SAMPLE], 0);
	return &w->r.sample[w->r.nr[REC_SAMPLE] - 1];
}

static const struct rec_thread *thread_of(const struct world *w, const struct rec_sample *s)
{
	return &w->r.thread[s->thread];
}

/* ---- the beginning ---- */

static void test_begin(void **state)
{
	struct world *w = *state;
	char reorder[32];

	assert_string_equal(recorded_meta_value(&w->r, "mode"), "record");
	assert_string_equal(recorded_meta_value(&w->r, "argv"), "probee snapshot -a");
	assert_string_equal(recorded_meta_value(&w->r, "unwind"), "auto");
	snprintf(reorder, sizeof(reorder), "%llu", REORDER_NS);
	assert_string_equal(recorded_meta_value(&w->r, "reorder_ns"), reorder);
	assert_int_equal(w->r.nr[REC_CLOCK], 1);
	assert_int_equal(w->r.nr[REC_EVENT], 2);
	assert_string_equal(recorded_text(&w->r, w->r.event[1].name), "cpu-clock");
	assert_string_equal(recorded_text(&w->r, w->r.event[1].unit), "ns");
	assert_int_equal(w->r.event[1].freq_mhz, 99000);
	assert_int_equal(w->r.event[1].period, 10101010);
	assert_int_equal(w->r.event[2].kind, EVENT_SNAPSHOT);
	assert_int_equal(session_tell(w->s, "key", "value"), 0);
	assert_string_equal(recorded_meta_value(&w->r, "key"), "value");
}

/* ---- samples ---- */

static void test_sample(void **state)
{
	struct world *w = *state;
	const struct rec_sample *s;
	const struct rec_process *p;

	forked(&w->c, ME + 1, 1, 10);
	forked(&w->c, ME, ME + 1, 10);
	assert_non_null(map_own_file(&w->c, ME, TEXT, 10));
	stack(w, .tgid = ME + 1, .tid = ME + 1, .time_ns = 50, .comm = "parent");
	stack(w, .tid = ME, .time_ns = 100, .pc = TEXT + 8, .kernel = 0xffffffff81000000ull,
	      .cpu = 3, .weight = 10101010, .flags = WIRE_IN_KERNEL | WIRE_GUESSED,
	      .end = UNWIND_NO_FDE);
	s = last(w);
	assert_int_equal(s->time_ns, 100);
	assert_int_equal(s->event, 1);
	assert_int_equal(s->cpu, 3);
	assert_int_equal(s->weight, 10101010);
	assert_int_equal(s->end, END_NO_FDE);
	assert_int_equal(s->flags, SAMPLE_IN_KERNEL | SAMPLE_HAS_GUESS);
	assert_int_equal(s->scan, 0);
	assert_int_equal(s->state, TASK_SLEEPING);
	assert_int_not_equal(s->ustack, 0);
	assert_int_not_equal(s->kstack, 0);
	assert_int_equal(thread_of(w, s)->tid, ME);
	assert_string_equal(recorded_text(&w->r, thread_of(w, s)->comm), "worker");
	p = &w->r.process[thread_of(w, s)->process];
	assert_int_equal(p->tgid, ME);
	assert_int_equal(w->r.process[p->parent].tgid, ME + 1);
	assert_int_equal(p->start_boottime_ns, ME);	/* that of its leader */
	assert_int_equal(w->r.nr[REC_MAPPING], 1);
	/* Once more: all of it is known. */
	stack(w, .tid = ME, .time_ns = 101, .pc = TEXT + 8, .kernel = 0xffffffff81000000ull,
	      .flags = WIRE_IN_KERNEL);
	assert_int_equal(w->r.nr[REC_THREAD], 2);
	assert_int_equal(w->r.nr[REC_PROCESS], 2);
	assert_int_equal(w->r.nr[REC_NODE], 2);
	assert_int_equal(last(w)->ustack, s->ustack);
	assert_int_equal(session_stats(w->s).samples, 3);
	assert_int_equal(session_stats(w->s).guessed, 1);
	assert_int_equal(session_stats(w->s).whole, 2);
	assert_int_equal(session_stats(w->s).ends[END_NO_FDE], 1);
}

/* A name is part of what a thread is in a trace. */
static void test_renamed(void **state)
{
	struct world *w = *state;
	uint32_t before;

	stack(w, .tid = ME, .comm = "exactly-16-bytes");
	before = last(w)->thread;
	assert_string_equal(recorded_text(&w->r, thread_of(w, last(w))->comm), "exactly-16-bytes");
	stack(w, .tid = ME, .comm = "other");
	assert_int_not_equal(last(w)->thread, before);
	assert_int_equal(thread_of(w, last(w))->process, w->r.thread[before].process);
	/* A number used again. */
	stack(w, .tid = ME, .comm = "other", .start_boottime_ns = 99);
	assert_int_equal(w->r.nr[REC_THREAD], 3);
}

/* The idle task of a CPU belongs to no process. */
/* A stack of no event that was added is counted and not written. */
static void test_unknown_event(void **state)
{
	struct world *w = *state;
	struct wire wire = { .head = { .time_ns = 5, .end = UNWIND_KTHREAD, .comm = "swapper/0" } };
	struct wire_stack s;

	for (uint16_t event = 0; event <= EVENT_OF_SCANS + 1; event += EVENT_OF_SCANS + 1) {
		wire.head.event = event;
		assert_true(wire_decode(&wire, sizeof(wire.head), &s) > 0);
		assert_int_equal(session_sample(w->s, &s, 0), 0);
	}
	assert_int_equal(session_stats(w->s).bad, 2);
	assert_int_equal(w->r.nr[REC_SAMPLE], 0);
}

static void test_idle(void **state)
{
	struct world *w = *state;
	struct wire wire = { .head = { .time_ns = 5, .end = UNWIND_KTHREAD, .comm = "swapper/0",
				      .event = EVENT_OF_SAMPLES } };
	struct wire_stack s;

	assert_true(wire_decode(&wire, sizeof(wire.head), &s) > 0);
	assert_int_equal(session_sample(w->s, &s, 0), 0);
	assert_int_equal(thread_of(w, last(w))->process, 0);
	assert_int_equal(w->r.nr[REC_PROCESS], 0);
	assert_int_equal(session_stats(w->s).user_stacks, 0);
}

static void test_audit(void **state)
{
	struct world *w = *state;
	struct wire_dump *d = calloc(1, sizeof(*d) + CW_PAGE);
	struct wire_stack s;

	forked(&w->c, ME, 1, 10);
	map_own_file(&w->c, ME, TEXT, 10);
	d->head = (struct wire_sample){ .time_ns = 100, .tgid = ME, .tid = ME, .nr_user = 1, .event = 1,
					.end = UNWIND_ROOT, .flags = WIRE_DUMP | WIRE_AUDIT };
	d->frames[0] = TEXT + 8;
	d->start = 0x7000;
	d->bytes = CW_PAGE;
	assert_true(wire_decode(d, sizeof(*d) + CW_PAGE, &s) > 0);
	assert_int_equal(session_sample(w->s, &s, 0), 0);
	assert_int_equal(w->r.nr[REC_RAWSTACK], 1);
	assert_int_equal(w->r.rawstack.ustack, last(w)->ustack);
	assert_int_equal(w->r.rawstack.thread, last(w)->thread);
	assert_int_equal(w->r.rawstack.end, END_ROOT);
	assert_int_equal(w->r.rawstack.start, 0x7000);
	assert_int_equal(w->r.rawstack.len, CW_PAGE);
	/* Memory that only helped to unwind is not kept. */
	d->head.flags = WIRE_DUMP;
	assert_int_equal(session_sample(w->s, &s, 0), 0);
	assert_int_equal(w->r.nr[REC_RAWSTACK], 1);
	free(d);
}

/* ---- rows of threads that have not run ---- */

static void test_same_rows(void **state)
{
	struct world *w = *state;
	uint32_t nr;

	for (uint32_t tid = ME; tid < ME + 6; tid++)
		stack(w, .tid = tid, .scan = 1, .cpu = UINT32_MAX, .pc = 0x1234);
	end_scan(w, 1);
	assert_int_equal(w->r.nr[REC_REPEAT], 0);
	nr = w->r.nr[REC_SAMPLE];
	/* All but the fourth, in any order: two runs. */
	for (uint32_t i = 6; i-- > 0;)
		if (i != 3)
			stack(w, .tid = ME + i, .scan = 2, .flags = WIRE_SAME);
	assert_int_equal(w->r.nr[REC_SAMPLE], nr);
	end_scan(w, 2);
	assert_int_equal(w->r.nr[REC_SAMPLE], nr);
	assert_int_equal(w->r.repeat.nr_runs, 2);
	assert_int_equal(w->r.run[0].thread, 1);
	assert_int_equal(w->r.run[0].nr, 3);
	assert_int_equal(w->r.run[1].thread, 5);
	assert_int_equal(w->r.run[1].nr, 2);
	assert_int_equal(w->r.repeat.scan, 2);
	assert_int_equal(w->r.repeat.time_ns, 2002);
	/* The receipt comes behind its rows, and counts them all. */
	assert_int_equal(w->r.order[w->r.nr_all - 1], REC_SCAN);
	assert_int_equal(w->r.order[w->r.nr_all - 2], REC_REPEAT);
	assert_int_equal(w->r.scan.ends[END_ROOT], 5);
	/* None of them in the next walk: nothing is repeated. */
	end_scan(w, 3);
	assert_int_equal(w->r.nr[REC_REPEAT], 1);
	assert_int_equal(w->r.scan.ends[END_ROOT], 0);
}

/* A REPEAT says what it can say: another CPU, state or flag is a row of its own, once. */
static void test_same_stack_but_another_row(void **state)
{
	struct world *w = *state;

	stack(w, .tid = ME, .scan = 1, .cpu = 2, .pc = 0x1234, .flags = WIRE_GUESSED);
	stack(w, .tid = ME, .scan = 2, .flags = WIRE_SAME);
	assert_int_equal(w->r.nr[REC_SAMPLE], 2);
	assert_int_equal(last(w)->cpu, UINT32_MAX);
	assert_int_equal(last(w)->ustack, w->r.sample[0].ustack);
	assert_int_equal(last(w)->flags, SAMPLE_HAS_GUESS);
	assert_int_equal(last(w)->scan, 2);
	assert_int_equal(last(w)->time_ns, 1002);
	end_scan(w, 2);
	stack(w, .tid = ME, .scan = 3, .flags = WIRE_SAME);
	end_scan(w, 3);
	assert_int_equal(w->r.nr[REC_SAMPLE], 2);
	stack(w, .tid = ME, .scan = 4, .flags = WIRE_SAME, .state = 4);
	assert_int_equal(w->r.nr[REC_SAMPLE], 3);
	assert_int_equal(last(w)->state, TASK_STOPPED);
	stack(w, .tid = ME, .scan = 5, .flags = WIRE_SAME, .state = 4, .comm = "renamed");
	assert_int_equal(w->r.nr[REC_SAMPLE], 4);
	assert_string_equal(recorded_text(&w->r, thread_of(w, last(w))->comm), "renamed");
	assert_int_equal(last(w)->ustack, w->r.sample[0].ustack);
}

/* The kernel side knows a row that we do not: it is there, and says that something is wrong. */
static void test_same_as_nothing(void **state)
{
	struct world *w = *state;

	stack(w, .tid = ME, .scan = 2, .flags = WIRE_SAME);
	assert_int_equal(w->r.nr[REC_SAMPLE], 1);
	assert_int_equal(last(w)->end, END_BUG);
	assert_int_equal(last(w)->event, 2);
	assert_int_equal(thread_of(w, last(w))->tid, ME);
	/* Nor is it that of the thread that had the number before. */
	stack(w, .tid = ME + 1, .scan = 2, .pc = 0x1234, .start_boottime_ns = 1);
	stack(w, .tid = ME + 1, .scan = 3, .flags = WIRE_SAME, .start_boottime_ns = 2);
	assert_int_equal(last(w)->end, END_BUG);
}

/* Each thread has a row of its own in one of so many walks, not all of them in the same one. */
static void test_turns(void **state)
{
	enum { THREADS = 200 };
	struct world *w = *state;
	uint32_t own[THREADS + 1] = { 0 }, most = 0;

	for (uint32_t i = 0; i < THREADS; i++)
		stack(w, .tid = ME + i, .scan = 1, .cpu = UINT32_MAX);
	end_scan(w, 1);
	for (uint32_t scan = 2; scan < 2 + TURNS; scan++) {
		uint32_t nr = w->r.nr[REC_SAMPLE];

		for (uint32_t i = 0; i < THREADS; i++)
			stack(w, .tid = ME + i, .scan = scan, .flags = WIRE_SAME);
		end_scan(w, scan);
		most = w->r.nr[REC_SAMPLE] - nr > most ? w->r.nr[REC_SAMPLE] - nr : most;
		for (uint32_t i = nr; i < w->r.nr[REC_SAMPLE]; i++)
			own[w->r.sample[i].thread]++;
	}
	for (uint32_t i = 1; i <= THREADS; i++)
		assert_int_equal(own[i], 1);
	assert_true(most <= 64);
}

/* A row that came late does not make those late that repeat it. */
static void test_late_row(void **state)
{
	struct world *w = *state;
	const struct stack s = { .tid = ME, .scan = 1, .pc = 0x1234, .cpu = UINT32_MAX };
	struct wire_stack stack;
	struct wire wire;

	assert_true(wire_decode(&wire, make_wire(&s, &wire), &stack) > 0);
	stack.again = true;
	assert_int_equal(session_sample(w->s, &stack, 1), 0);
	assert_int_equal(last(w)->flags, SAMPLE_LATE);
	stack(w, .tid = ME, .scan = 2, .flags = WIRE_SAME);
	assert_int_equal(w->r.nr[REC_SAMPLE], 2);
	assert_int_equal(last(w)->flags, 0);
}

/* Threads that ended are forgotten. */
static void test_rows_of_the_gone(void **state)
{
	struct world *w = *state;

	for (uint32_t i = 0; i < 1500; i++)
		stack(w, .tid = ME + i, .scan = 1, .cpu = UINT32_MAX);
	end_scan(w, 1);
	stack(w, .tid = ME, .scan = 2, .cpu = UINT32_MAX);
	end_scan(w, 2);
	stack(w, .tid = ME, .scan = 3, .flags = WIRE_SAME);
	end_scan(w, 3);
	assert_int_equal(w->r.nr[REC_REPEAT], 1);
	stack(w, .tid = ME + 1, .scan = 3, .flags = WIRE_SAME);
	assert_int_equal(last(w)->end, END_BUG);
}

static void test_receipt(void **state)
{
	struct world *w = *state;

	stack(w, .tid = ME, .scan = 1, .end = UNWIND_NO_TABLE);
	stack(w, .tid = ME + 1, .scan = 1, .flags = WIRE_KERNEL_FAILED);
	stack(w, .tid = ME + 2, .flags = WIRE_KERNEL_FAILED);	/* a sample is of no walk */
	end_scan(w, 1);
	assert_int_equal(w->r.scan.scan, 1);
	assert_int_equal(w->r.scan.ends[END_NO_TABLE], 1);
	assert_int_equal(w->r.scan.ends[END_ROOT], 1);
	assert_int_equal(w->r.scan.kernel_failed, 1);
	end_scan(w, 2);
	assert_int_equal(w->r.scan.kernel_failed, 0);
	assert_int_equal(w->r.scan.ends[END_ROOT], 0);
}

/* ---- who is on the other end ---- */

#define PIPE .pc = 0x1234, .kernel = 0xffffffff81000000ull, .cpu = UINT32_MAX

/* One look for all of a walk, behind it; samples are no rows. */
static void test_peers(void **state)
{
	struct world *w = *state;

	stack(w, .tid = ME, .scan = 1, .peer = 11, PIPE);
	stack(w, .tid = ME + 1, .scan = 1, .peer = 12, PIPE);
	assert_int_equal(w->r.nr[REC_SAMPLE], 0);
	end_scan(w, 1);
	assert_int_equal(w->asked, 1);
	assert_int_equal(w->questions, 2);
	assert_int_equal(w->r.nr[REC_SAMPLE], 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(w->r.sample[i].owner, 77);
		assert_int_equal(w->r.sample[i].holders, 2);
		assert_int_equal(w->r.sample[i].wait_kind, WAIT_PIPE);
	}
	assert_int_equal(w->r.scan.ends[END_ROOT], 2);
	stack(w, .tid = ME, .scan = 0, .peer = 11, PIPE);
	assert_int_equal(w->r.nr[REC_SAMPLE], 3);
}

/* One that has not run keeps its answer; without a sole holder it is asked for with others. */
static void test_peers_of_same_rows(void **state)
{
	struct world *w = *state;

	stack(w, .tid = ME, .scan = 1, .peer = 11, PIPE);
	end_scan(w, 1);
	stack(w, .tid = ME, .scan = 2, .flags = WIRE_SAME);
	end_scan(w, 2);
	assert_int_equal(w->asked, 1);
	assert_int_equal(w->r.nr[REC_REPEAT], 1);
	/* Two hold it: a shell has not closed its own copy yet. */
	w->holders = 2;
	stack(w, .tid = ME + 1, .scan = 3, .peer = 12, PIPE);
	end_scan(w, 3);
	assert_int_equal(last(w)->owner, 0);
	assert_int_equal(last(w)->holders, 3);
	stack(w, .tid = ME + 1, .scan = 4, .flags = WIRE_SAME);
	end_scan(w, 4);
	assert_int_equal(w->asked, 2);		/* no look for its sake alone */
	assert_int_equal(w->r.repeat.scan, 4);
	w->holders = 1;
	stack(w, .tid = ME + 1, .scan = 5, .flags = WIRE_SAME);
	stack(w, .tid = ME + 2, .scan = 5, .peer = 13, PIPE);
	end_scan(w, 5);
	assert_int_equal(w->asked, 3);
	assert_int_equal(w->questions, 2);
	assert_int_equal(w->r.repeat.scan, 4);	/* its answer is new: it has a row */
	assert_int_equal(w->r.nr[REC_SAMPLE], 4);
	stack(w, .tid = ME + 1, .scan = 6, .flags = WIRE_SAME);
	end_scan(w, 6);
	assert_int_equal(w->r.repeat.scan, 6);
	assert_int_equal(w->asked, 3);
}

/* ---- names and the end ---- */

static void test_names(void **state)
{
	struct world *w = *state;
	const struct rec_end end = { .reason = ENDED_SIGNAL, .cpu_time_ns = 5 };
	const struct record lost = { .tag = REC_LOST, .lost = { .count = 3 } };
	const struct mapping *m;
	struct mapping copy;

	forked(&w->c, ME, 1, 10);
	m = map_own_file(&w->c, ME, TEXT, 10);
	assert_non_null(m);
	copy = *m;
	/* This very function; and where no function is. */
	stack(w, .tid = ME, .time_ns = 50,
	      .pc = (uintptr_t)test_names - w->c.own.start + copy.start);
	stack(w, .tid = ME, .time_ns = 50, .pc = copy.end - 1);
	assert_int_equal(w->r.nr[REC_SYMBOL], 0);
	assert_int_equal(session_names(w->s, &(struct patience){ 0 }), 0);
	assert_int_equal(session_emit(w->s, &lost), 0);
	assert_int_equal(session_end(w->s, &end), 0);
	assert_int_equal(session_names_lost(w->s), 0);
	assert_int_equal(w->r.nr[REC_SYMBOL], 2);
	assert_string_equal(recorded_name(&w->r, 1), "test_names");
	assert_int_equal(w->r.symbol[1].offset, 0);
	assert_string_equal(recorded_name(&w->r, 2), "");
	assert_int_equal(w->r.end.samples, 2);
	assert_int_equal(w->r.end.unresolved, 1);
	assert_int_equal(w->r.end.lost, 3);
	assert_int_equal(w->r.end.reason, ENDED_SIGNAL);
	assert_true(w->r.end.cpu_time_ns > 5);
	assert_int_equal(w->r.nr[REC_CLOCK], 2);
	assert_int_equal(w->r.order[w->r.nr_all - 1], REC_END);
}

/* Once the sink has failed nothing more is written, whatever it says then. */
static void test_sink_fails(void **state)
{
	struct world *w = *state;
	uint32_t nr = w->r.nr_all;

	w->r.err = -ENOSPC;
	assert_int_equal(give(w, &(struct stack){ .tid = ME }), -ENOSPC);
	w->r.err = 0;
	assert_int_equal(give(w, &(struct stack){ .tid = ME }), -ENOSPC);
	assert_int_equal(session_clock(w->s), -ENOSPC);
	assert_int_equal(session_scan(w->s, &(struct rec_scan){ .scan = 1 }), -ENOSPC);
	assert_int_equal(session_end(w->s, &(struct rec_end){ 0 }), -ENOSPC);
	assert_int_equal(w->r.nr_all, nr);
}

/* ---- parts ---- */

/* The old segment is whole when it is called; what comes from now on must stand on its own feet. */
static int begin_segment(void *ctx)
{
	struct world *w = ctx;

	assert_int_equal(w->r.order[w->r.nr_all - 1], REC_END);
	assert_int_equal(w->r.end.reason, ENDED_CONTINUED);
	w->ended = w->r.end;
	recorded_release(&w->r);
	memset(&w->r, 0, sizeof(w->r));
	return 0;
}

static void next_part(struct world *w)
{
	const struct rec_end end = { .reason = ENDED_CONTINUED, .target_status = -1 };

	assert_true(session_is_quiet(w->s));
	assert_int_equal(session_continue(w->s, &end, begin_segment, w), 0);
}

static uint64_t code_at(const struct world *w, void (*function)(void **), uint64_t start)
{
	return (uintptr_t)function - w->c.own.start + start;
}

/* recorded.h checks that ids begin at 1 and that nothing refers to what the part has not defined. */
static void test_next_part(void **state)
{
	struct world *w = *state;
	uint64_t pc = code_at(w, test_next_part, TEXT);

	forked(&w->c, ME + 1, 1, 10);
	forked(&w->c, ME, ME + 1, 10);
	assert_non_null(map_own_file(&w->c, ME, TEXT, 10));
	stack(w, .tgid = ME + 1, .tid = ME + 1, .time_ns = 50, .comm = "parent");
	stack(w, .tid = ME, .time_ns = 51, .pc = pc, .kernel = 0xffffffff81000000ull);
	stack(w, .tid = ME, .scan = 1, .pc = pc);
	end_scan(w, 1);
	assert_int_equal(session_emit(w->s, &(struct record){ .tag = REC_LOST,
							      .lost = { .count = 2 } }), 0);
	assert_int_equal(session_settle_names(w->s, &(struct patience){ 0 }), 0);
	assert_string_equal(recorded_name(&w->r, 1), "test_next_part");
	next_part(w);
	assert_int_equal(w->ended.samples, 3);
	assert_int_equal(w->ended.scans, 1);
	assert_int_equal(w->ended.lost, 2);
	assert_string_equal(recorded_meta_value(&w->r, "recording.part"), "2");
	assert_string_equal(recorded_meta_value(&w->r, "mode"), "record");
	assert_int_equal(w->r.nr[REC_EVENT], 2);
	assert_int_equal(w->r.nr[REC_CLOCK], 1);
	assert_int_equal(session_part(w->s), 2);
	/* A scan that takes every row anew, and one that does not. */
	stack(w, .tid = ME, .scan = 2, .pc = pc, .cpu = UINT32_MAX);
	end_scan(w, 2);
	assert_int_equal(last(w)->end, END_ROOT);
	assert_int_equal(w->r.process[thread_of(w, last(w))->process].tgid, ME);
	assert_int_equal(w->r.nr[REC_BINARY], 1);
	assert_int_equal(w->r.nr[REC_MAPPING], 1);
	stack(w, .tid = ME, .scan = 3, .flags = WIRE_SAME);
	end_scan(w, 3);
	assert_int_equal(w->r.repeat.scan, 3);
	assert_int_equal(session_settle_names(w->s, &(struct patience){ 0 }), 0);
	assert_string_equal(recorded_name(&w->r, 1), "test_next_part");
	assert_int_equal(session_end(w->s, &(struct rec_end){ 0 }), 0);
	assert_int_equal(w->r.end.samples, 2);
	assert_int_equal(w->r.end.scans, 2);
	assert_int_equal(w->r.end.lost, 0);
	/* Of the recording: the thread that both parts define is one. */
	assert_int_equal(session_stats(w->s).samples, 5);
	assert_int_equal(session_stats(w->s).threads, 2);
	assert_int_equal(session_stats(w->s).processes, 2);
}

/* The first frame of the next part must not get the name that the first one of this part waits for. */
static void test_late_answer(void **state)
{
	struct world *w = *state;

	forked(&w->c, ME, 1, 10);
	assert_non_null(map_own_file(&w->c, ME, TEXT, 10));
	for (unsigned i = 0; i < 20; i++) {
		uint64_t lost = session_names_lost(w->s), frames = i + 1;

		for (unsigned k = 0; k <= i; k++)
			stack(w, .tid = ME, .time_ns = 50, .pc = code_at(w, test_late_answer, TEXT) + k);
		assert_int_equal(w->r.nr[REC_FRAME], frames);
		assert_int_equal(session_settle_names(w->s, &(struct patience){ .until_ns = 1 }), 0);
		frames -= w->r.nr[REC_SYMBOL];
		next_part(w);
		stack(w, .tid = ME, .time_ns = 60, .pc = code_at(w, test_next_part, TEXT));
		tables_are_built(&w->c);
		assert_int_equal(session_settle_names(w->s, &(struct patience){ 0 }), 0);
		assert_int_equal(w->r.nr[REC_SYMBOL], 1);
		assert_string_equal(recorded_name(&w->r, 1), "test_next_part");
		assert_int_equal(session_names_lost(w->s), lost + frames);
		w->late += frames;
		next_part(w);
	}
	assert_true(w->late);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_begin),
		T(test_sample),
		T(test_renamed),
		T(test_unknown_event),
		T(test_idle),
		T(test_audit),
		T(test_same_rows),
		T(test_same_stack_but_another_row),
		T(test_same_as_nothing),
		T(test_turns),
		T(test_late_row),
		T(test_rows_of_the_gone),
		T(test_receipt),
		T(test_peers),
		T(test_peers_of_same_rows),
		T(test_names),
		T(test_next_part),
		T(test_late_answer),
		T(test_sink_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
