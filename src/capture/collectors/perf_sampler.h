/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler's user side: perf events, one for each event source and CPU, with the BPF program on
 * them, and the ring buffer that it writes to.
 *
 *	perf_sampler_open(bpf, &opts, &ps)	events opened, not started
 *	perf_sampler_start(ps, numbers)		from here on samples are taken
 *	perf_sampler_fd(ps)			readable (poll) when the ring fills up; the ring is
 *						to be drained 10 times a second anyway
 *	perf_sampler_drain(ps)			moves the records of the ring into a queue; 1: the
 *						queue is full before the ring is empty
 *	perf_sampler_for_each(ps, fn, ctx)	hands out the queue, oldest first as far as known,
 *						and empties it
 *	perf_sampler_watch(ps, fn, ctx)		each second: CPUs come and go
 *	perf_sampler_slow(ps, times)		events that have a frequency: so many times as slow
 *	perf_sampler_stop(ps)
 *	perf_sampler_close(ps)
 *
 * Between drain() and for_each() the caller brings its knowledge of processes up to date: what a
 * sample needs to be resolved happened before the sample was taken.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/collectors/cpu_events.h"
#include "src/capture/collectors/event_table.h"
#include "src/capture/stacks/wire_decode.h"

struct perf_sampler;
struct capture_bpf;
struct cpu_list;

struct perf_sampler_options {
	/* Empty: cycles where the hardware counts them, else cpu-clock. */
	const struct event_list *events;
	double freq_hz;			/* of that default event */
	const struct cpu_list *cpus;	/* NULL: all online */
};

int perf_sampler_open(struct capture_bpf *bpf, const struct perf_sampler_options *opts,
		      struct perf_sampler **pp);
/* numbers: the recording's numbers of the events, in the order of perf_sampler_event(). */
int perf_sampler_start(struct perf_sampler *ps, const uint16_t *numbers);
/* Each second: looks which CPUs have gone offline or are back (cpu_events.h), and tells fn. */
void perf_sampler_watch(struct perf_sampler *ps, cpu_change_fn fn, void *ctx);
void perf_sampler_slow(struct perf_sampler *ps, uint32_t times);
void perf_sampler_stop(struct perf_sampler *ps);
void perf_sampler_close(struct perf_sampler *ps);	/* NULL is fine */

int perf_sampler_fd(const struct perf_sampler *ps);
int perf_sampler_drain(struct perf_sampler *ps);
int perf_sampler_for_each(struct perf_sampler *ps, wire_stack_fn fn, void *ctx);

/* Event number i of those that were opened, or NULL behind the last. Borrowed. */
const struct event_spec *perf_sampler_event(const struct perf_sampler *ps, size_t i);
/*
 * The clock among the events, whose ticks can be compared with the time that has passed; NULL:
 * none.
 */
const struct event_spec *perf_sampler_clock(const struct perf_sampler *ps, uint16_t *number);

/*
 * How often events overflowed while the kernel was busy with another BPF program on the same CPU,
 * which it then drops. Known of software events with a period: their own count is held against the
 * program's. The kernel does not say whose overflows these were, so of all that were dropped on the
 * machine this is the share that those which were asked for have of all that were seen.
 */
uint64_t perf_sampler_nested(const struct perf_sampler *ps);
uint64_t perf_sampler_bad_records(const struct perf_sampler *ps);
/* How much time of CPUs was sampled in the ns since the start: less where CPUs were offline. */
double perf_sampler_cpu_seconds(const struct perf_sampler *ps, uint64_t ns);
