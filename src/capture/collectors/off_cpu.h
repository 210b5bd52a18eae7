/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector of --off-cpu: how long threads are away from a CPU, by the stack at which they left
 * it (bpf/off_cpu.bpf.h).
 *
 * A stay off the CPU becomes up to two samples with one stack, whose weights are nanoseconds: one
 * of the event "off-cpu", for the time until the thread could go on, and one of the event
 * "cpu-wait", for the time from then on until it got a CPU. Their time is when the thread came
 * back. A stay that has not ended when the recording ends counts until then.
 *
 * Stays cost time on each switch, so there is a budget: where they take more of the CPUs' time than
 * that, only some of them are recorded, by chance, and each weighs as much more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/collectors/collector.h"

struct off_cpu_options {
	bool wanted;
	uint64_t min_ns, max_ns;	/* shorter and longer stays are left out; max_ns 0: none */
	uint32_t states;		/* bits of __state, OFF_CPU_RUNNABLE; 0: all */
	double probability;		/* of a stay to be recorded; 0: 1 */
	double budget;			/* of the CPUs' time, as a share of 1 */
	bool wakers;			/* the stacks of those who wake threads, too */
};

static inline const struct off_cpu_options *off_cpu_options_of(const struct capture_options *o)
{
	return o->own[COLLECTOR_OFF_CPU];
}

/* off_cpu_options.c: see the members of struct collector. */
#define OFF_CPU_ROWS 7
extern const struct opt off_cpu_rows[OFF_CPU_ROWS];
int off_cpu_check(void *own);
