/*
 * The sampler's user side: one perf event per CPU with the BPF program on it, and the ring buffer
 * it writes to.
 *
 *	perf_sampler_open(bpf, &opts, &ps)	events opened, not started
 *	perf_sampler_start(ps)			from here on samples are taken
 *	perf_sampler_fd(ps)			readable (poll) when the ring fills up; otherwise
 *						look 10 times a second
 *	perf_sampler_drain(ps)			moves what is in the ring into a queue of ours
 *	perf_sampler_for_each(ps, fn, ctx)		hands out the queue, oldest first as far as
 *							known, and empties it
 *	perf_sampler_stop(ps)
 *	perf_sampler_close(ps)
 *
 * Between take() and each() the caller brings its knowledge of processes up to date: what a sample
 * needs to be resolved happened before the sample was taken.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/stacks/wire_decode.h"

struct perf_sampler;
struct capture_bpf;
struct cpu_list;

struct perf_sampler_options {
	double freq_hz;
	const struct cpu_list *cpus;	/* NULL: all online */
	const char *event;		/* NULL: cycles where there is hardware, else cpu-clock; or
					   one of these names */
};

int perf_sampler_open(struct capture_bpf *bpf, const struct perf_sampler_options *opts,
		      struct perf_sampler **pp);
int perf_sampler_start(struct perf_sampler *ps);
void perf_sampler_stop(struct perf_sampler *ps);
void perf_sampler_close(struct perf_sampler *ps);	/* NULL is fine */

int perf_sampler_fd(const struct perf_sampler *ps);
int perf_sampler_drain(struct perf_sampler *ps);

int perf_sampler_for_each(struct perf_sampler *ps, wire_stack_fn fn, void *ctx);

const char *perf_sampler_event(const struct perf_sampler *ps);	/* "cpu-clock", "cycles" */
uint64_t perf_sampler_period(const struct perf_sampler *ps);	/* ns, 0 for cycles */
uint64_t perf_sampler_bad_records(const struct perf_sampler *ps);
unsigned perf_sampler_cpus(const struct perf_sampler *ps);	/* CPUs that are sampled */
