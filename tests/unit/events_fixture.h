/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two recordings of several events each, with known weights:
 *
 *	events_emit(w)		the first one
 *	events_emit_more(w)	the second, to be concatenated: other ids, other periods
 *
 *	first		event 1 cpu-clock (ns, 99 Hz), 2 page-faults (count, period 100), 3 alloc (bytes),
 *			4 snapshot (ns, every second), 5 context-switches (count), which has no samples
 *	second		event 1 page-faults (count, period 10), 2 cycles (cycles), 3 cpu-clock (ns, 49 Hz)
 *
 *	process 1 "appcpp" (100): threads 1 "appcpp" (100), 2 "worker" (101); thread 3 is idle: "swapper/0" (0)
 *	stacks 1: main, 2: main;work, 3: main;work;leaf
 *
 *	first		cpu-clock	thread 1 stack 3 twice, thread 2 stack 2, thread 3: 4 samples, 40.4 ms
 *			page-faults	stack 2: 100 (by period), stack 3: 250
 *			alloc		stack 2: 1,000,000, stack 3: 3,000,000
 *			snapshot 1	thread 1 stack 2, thread 2 stack 3; snapshot 2: thread 1 stack 2
 *	second		page-faults	stack 2: 10 (by period)
 *			cycles		stack 3: 1,200,000,000
 *			cpu-clock	stack 3: 20,408,163
 */
#pragma once

#include "tests/unit/trace_fixture.h"

#define EVENTS_PERIOD 10101010ull
#define EVENTS_OTHER_PERIOD 20408163ull
enum { EVENTS_CPU = 1, EVENTS_FAULTS, EVENTS_ALLOC, EVENTS_SCAN, EVENTS_SWITCHES };
enum { MORE_FAULTS = 1, MORE_CYCLES, MORE_CPU };

static const char *const events_strings[] = {
	"", "appcpp", "worker", "swapper/0", "cpu-clock", "page-faults", "alloc", "snapshot", "context-switches",
	"cycles", "ns", "count", "bytes", "main", "work", "leaf",
};
enum { EV_APPCPP = 1, EV_WORKER, EV_SWAPPER, EV_CPU, EV_FAULTS, EV_ALLOC, EV_SNAPSHOT, EV_SWITCHES, EV_CYCLES,
       EV_NS, EV_COUNT, EV_BYTES, EV_MAIN };

static inline int events_emit_names(record_fn fn, void *ctx, const char *argv)
{
	int err = 0;

	FIX_SEND(META, meta, { "argv", argv, strlen(argv) });
	FIX_SEND(META, meta, { "host", "fixture", 7 });
	FIX_SEND(META, meta, { "arch", "x86_64", 6 });
	FIX_SEND(CLOCK, clock, { FIX_T0, FIX_REAL, 0, 0 });
	for (uint32_t i = 1; i < sizeof(events_strings) / sizeof(events_strings[0]); i++)
		FIX_SEND(STRING, string, { i, events_strings[i], strlen(events_strings[i]) });
	FIX_SEND(PROCESS, process, { .id = 1, .tgid = 100, .comm = EV_APPCPP });
	FIX_SEND(THREAD, thread, { 1, 1, 100, EV_APPCPP, 0, 0 });
	FIX_SEND(THREAD, thread, { 2, 1, 101, EV_WORKER, 0, 0 });
	FIX_SEND(THREAD, thread, { 3, 0, 0, EV_SWAPPER, 0, 0 });
	for (uint32_t i = 1; i <= 3; i++) {
		FIX_SEND(FRAME, frame, { .id = i, .kind = FRAME_USER, .addr = i });
		FIX_SEND(NODE, node, { i, i - 1, i });
		FIX_SEND(FUNC, func, { .id = i, .name = EV_MAIN + i - 1, .sysname = EV_MAIN + i - 1 });
		FIX_SEND(SYMBOL, symbol, { .frame = i, .lines = &(struct rec_line){ i, 0, 0, 0 }, .nr_lines = 1 });
	}
	return err;
}

static inline int events_emit_sample(record_fn fn, void *ctx, unsigned ms, uint32_t event, uint32_t thread,
				     uint32_t stack, uint64_t weight)
{
	int err = 0;

	FIX_SEND(SAMPLE, sample, { .time_ns = FIX_T0 + ms * FIX_MS, .event = event, .thread = thread, .ustack = stack,
				   .weight = weight, .state = TASK_RUNNING, .end = stack ? END_ROOT : END_NO_MM });
	return err;
}

static inline int events_emit_row(record_fn fn, void *ctx, unsigned ms, uint32_t scan, uint32_t thread, uint32_t stack)
{
	int err = 0;

	FIX_SEND(SAMPLE, sample, { .time_ns = FIX_T0 + ms * FIX_MS, .event = EVENTS_SCAN, .thread = thread,
				   .ustack = stack, .cpu = UINT32_MAX, .state = TASK_SLEEPING, .end = END_ROOT,
				   .scan = scan });
	return err;
}

static inline int events_emit(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = events_emit_names(fn, ctx, "probee sample -e cpu-clock -e page-faults -- ./appcpp 5");

	FIX_SEND(EVENT, event, { EVENTS_CPU, EV_CPU, EVENT_CPU_CLOCK, 99000, EVENTS_PERIOD, EV_NS });
	FIX_SEND(EVENT, event, { EVENTS_FAULTS, EV_FAULTS, EVENT_SOFTWARE, 0, 100, EV_COUNT });
	FIX_SEND(EVENT, event, { EVENTS_ALLOC, EV_ALLOC, EVENT_UPROBE, 0, 524288, EV_BYTES });
	FIX_SEND(EVENT, event, { EVENTS_SCAN, EV_SNAPSHOT, EVENT_SNAPSHOT, 1000, 1000000000, EV_NS });
	FIX_SEND(EVENT, event, { EVENTS_SWITCHES, EV_SWITCHES, EVENT_SOFTWARE, 0, 1, EV_COUNT });
	err = err ? err : events_emit_sample(fn, ctx, 10, EVENTS_CPU, 1, 3, 0);
	err = err ? err : events_emit_sample(fn, ctx, 11, EVENTS_FAULTS, 1, 2, 0);
	err = err ? err : events_emit_sample(fn, ctx, 12, EVENTS_ALLOC, 1, 2, 1000000);
	err = err ? err : events_emit_sample(fn, ctx, 20, EVENTS_CPU, 1, 3, EVENTS_PERIOD);
	err = err ? err : events_emit_row(fn, ctx, 25, 1, 1, 2);
	err = err ? err : events_emit_row(fn, ctx, 25, 1, 2, 3);
	err = err ? err : events_emit_sample(fn, ctx, 30, EVENTS_CPU, 2, 2, 0);
	err = err ? err : events_emit_sample(fn, ctx, 31, EVENTS_FAULTS, 2, 3, 250);
	err = err ? err : events_emit_sample(fn, ctx, 32, EVENTS_ALLOC, 2, 3, 3000000);
	err = err ? err : events_emit_sample(fn, ctx, 40, EVENTS_CPU, 3, 0, 0);
	err = err ? err : events_emit_row(fn, ctx, 1025, 2, 1, 2);
	FIX_SEND(END, end, { .time_ns = FIX_T0 + 1100 * FIX_MS, .samples = 11, .target_status = -1 });
	return err;
}

static inline int events_emit_more(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = events_emit_names(fn, ctx, "probee sample -e page-faults -- /opt/appcpp");

	FIX_SEND(EVENT, event, { MORE_FAULTS, EV_FAULTS, EVENT_SOFTWARE, 0, 10, EV_COUNT });
	FIX_SEND(EVENT, event, { MORE_CYCLES, EV_CYCLES, EVENT_CYCLES, 0, 1000000, EV_CYCLES });
	FIX_SEND(EVENT, event, { MORE_CPU, EV_CPU, EVENT_CPU_CLOCK, 49000, EVENTS_OTHER_PERIOD, EV_NS });
	err = err ? err : events_emit_sample(fn, ctx, 2010, MORE_FAULTS, 1, 2, 0);
	err = err ? err : events_emit_sample(fn, ctx, 2020, MORE_CYCLES, 1, 3, 1200000000);
	err = err ? err : events_emit_sample(fn, ctx, 2030, MORE_CPU, 1, 3, 0);
	FIX_SEND(END, end, { .time_ns = FIX_T0 + 2100 * FIX_MS, .samples = 3, .target_status = -1 });
	return err;
}
