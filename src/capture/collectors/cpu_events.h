/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One event source, opened on every CPU that is sampled.
 *
 *	cpu_events_open(&e, &spec, cpus, all)	opened, not started
 *	cpu_events_start(&e, prog, number)	from here on the program runs
 *	cpu_events_watch(&e, online, fn, ctx)	each second
 *	cpu_events_stop(&e)
 *	cpu_events_close(&e)
 *
 * The problem. When a CPU goes offline the kernel takes the event off it for good. It reports no
 * error, and when the CPU is back the event does not fire again: samples of that CPU are missing
 * until the end of the recording, and nothing says so.
 *
 * The idea. The kernel counts for how long each event has been enabled. The event of a CPU that is
 * gone stands still. A look each second finds it, and opens the event again as soon as the kernel
 * lets it.
 *
 * Example: CPU 1 is taken offline 3.2 s after the start and comes back at 5.1 s. The look at 4 s
 * finds that the event stood still at 3.2 s, and tells that the CPU is gone. The look at 6 s can
 * open the event again, and tells that 2.8 s of the CPU are missing.
 *
 * Limits. Of a CPU that comes back up to a second is missing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/collectors/event_table.h"

struct bpf_link;
struct bpf_program;
struct cpu_list;

struct cpu_event {
	uint32_t cpu;
	int fd;				/* -1: the CPU is gone */
	struct bpf_link *link;		/* once it has been started; closes the fd */
	uint64_t started_ns;		/* CLOCK_MONOTONIC */
	uint64_t enabled_ns;		/* since then, as the last look found it */
	bool is_refused;		/* the CPU is back, but the event cannot be opened */
};

struct cpu_events {
	struct event_spec spec;
	uint16_t number;		/* of the event in the recording */
	const struct bpf_program *prog;
	uint64_t started_ns;		/* CLOCK_MONOTONIC */
	struct cpu_event *v;
	size_t nr, cap;
	uint32_t slower;		/* the timers run so many times as slow; 0 is like 1 */
	uint64_t past_overflows;	/* of events that were given up */
	uint64_t missed_ns;		/* sum over CPUs that were gone and have come back */
};

/* What a look found out about a CPU. */
struct cpu_change {
	uint32_t cpu;
	bool is_back;			/* false: it is gone */
	uint64_t missed_ns;		/* if it is back: for how long nothing was sampled there */
	int err;			/* if it is back: 0, or why it is not sampled */
};
typedef void (*cpu_change_fn)(void *ctx, const struct cpu_change *change);

/*
 * all: cpus are those that were online, and one that has gone offline meanwhile is left out.
 * Otherwise the user named them, and one that is not there is an error. Errors are explained; the
 * caller closes e after an error, too.
 */
int cpu_events_open(struct cpu_events *e, const struct event_spec *spec,
		    const struct cpu_list *cpus, bool all);

/* Whether an event can be opened on this CPU. */
bool cpu_events_can_open(const struct event_spec *spec, uint32_t cpu);

/* number: of the event in the recording, which the program gets. Errors are explained. */
int cpu_events_start(struct cpu_events *e, const struct bpf_program *prog, uint16_t number);
/* Makes the timers of an event by time so many times as slow as was asked for; 1: as asked for. */
void cpu_events_slow(struct cpu_events *e, uint32_t times);
void cpu_events_stop(struct cpu_events *e);
void cpu_events_close(struct cpu_events *e);

/*
 * Looks which CPUs have gone or are back. online: also the event of a CPU that was never there
 * before is opened; NULL: of none. fn is told of each change.
 */
void cpu_events_watch(struct cpu_events *e, const struct cpu_list *online, cpu_change_fn fn,
		      void *ctx);

/* How often an event with a period has overflowed so far, on all CPUs. */
uint64_t cpu_events_overflows(const struct cpu_events *e);

/* Sum over CPUs of the time in which they were gone, until now. */
uint64_t cpu_events_missed_ns(const struct cpu_events *e);
