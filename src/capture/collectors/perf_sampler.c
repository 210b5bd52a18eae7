/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/perf_sampler.h"

#include <assert.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/collectors/ring_queue.h"
#include "src/proc/cpus.h"

struct perf_sampler {
	struct capture_bpf *bpf;
	struct ring_queue queue;
	uint64_t bad_records;
	bool all_cpus;			/* the user named none */
	struct cpu_events v[WIRE_MAX_EVENTS];	/* one for each event source */
	size_t nr;
};

/*
 * The default event, which samples time: of the first two rows of the table the first that opens.
 */
static struct event_spec choose(double freq_hz, uint32_t cpu)
{
	struct event_spec e = { .type = &event_types[0], .freq_hz = freq_hz };

	if (!cpu_events_can_open(&e, cpu))
		e.type = &event_types[1];
	snprintf(e.name, sizeof(e.name), "%s", e.type->name);
	return e;
}

static int open_sources(struct perf_sampler *ps, const struct perf_sampler_options *opts,
			const struct cpu_list *cpus)
{
	struct event_spec standard;
	const struct event_spec *specs = opts->events->v;
	size_t nr = opts->events->nr;
	int err = 0;

	if (!nr) {
		standard = choose(opts->freq_hz, cpus->v[0]);
		specs = &standard;
		nr = 1;
	}
	for (size_t i = 0; i < nr && !err; i++)
		err = cpu_events_open(&ps->v[ps->nr++], &specs[i], cpus, ps->all_cpus);
	return err;
}

int perf_sampler_open(struct capture_bpf *bpf, const struct perf_sampler_options *opts,
		      struct perf_sampler **pp)
{
	struct perf_sampler *ps = calloc(1, sizeof(*ps));
	struct cpu_list online = { 0 };
	int err;

	if (!ps)
		return -ENOMEM;
	ps->bpf = bpf;
	ps->all_cpus = !opts->cpus;
	err = opts->cpus ? 0 : cpus_online(&online);
	if (!err)
		err = open_sources(ps, opts, opts->cpus ? opts->cpus : &online);
	cpus_release(&online);
	if (!err)
		err = ring_queue_open(&ps->queue, capture_bpf_ring(bpf));
	if (err)
		perf_sampler_close(ps);
	else
		*pp = ps;
	return err;
}

int perf_sampler_start(struct perf_sampler *ps, const uint16_t *numbers)
{
	int err = 0;

	for (size_t i = 0; i < ps->nr && !err; i++) {
		assert(numbers[i] && numbers[i] <= WIRE_MAX_EVENTS);
		err = cpu_events_start(&ps->v[i], capture_bpf_sampler(ps->bpf), numbers[i]);
	}
	return err;
}

void perf_sampler_slow(struct perf_sampler *ps, uint32_t times)
{
	for (size_t i = 0; i < ps->nr; i++)
		if (ps->v[i].spec.freq_hz > 0)
			cpu_events_slow(&ps->v[i], times);
}

void perf_sampler_stop(struct perf_sampler *ps)
{
	for (size_t i = 0; i < ps->nr; i++)
		cpu_events_stop(&ps->v[i]);
}

static void say_nothing(void *ctx, const struct cpu_change *change)
{
	(void)ctx;
	(void)change;
}

void perf_sampler_watch(struct perf_sampler *ps, cpu_change_fn fn, void *ctx)
{
	struct cpu_list online = { 0 };
	bool all = ps->all_cpus && !cpus_online(&online);

	for (size_t i = 0; i < ps->nr; i++)
		cpu_events_watch(&ps->v[i], all ? &online : NULL, i ? say_nothing : fn, ctx);
	cpus_release(&online);
}

void perf_sampler_close(struct perf_sampler *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < ps->nr; i++)
		cpu_events_close(&ps->v[i]);
	ring_queue_close(&ps->queue);
	free(ps);
}

int perf_sampler_fd(const struct perf_sampler *ps)
{
	return ring_queue_fd(&ps->queue);
}

int perf_sampler_drain(struct perf_sampler *ps)
{
	return ring_queue_drain(&ps->queue);
}

struct receiver {
	struct perf_sampler *ps;
	wire_stack_fn fn;
	void *ctx;
};

static int on_record(void *ctx, const void *data, size_t len)
{
	const struct receiver *r = ctx;
	struct wire_stack stack;

	if (wire_decode(data, len, &stack) > 0)
		return r->fn(r->ctx, &stack);
	r->ps->bad_records++;
	return 0;
}

int perf_sampler_for_each(struct perf_sampler *ps, wire_stack_fn fn, void *ctx)
{
	struct receiver r = { ps, fn, ctx };

	return ring_queue_for_each(&ps->queue, on_record, &r);
}

const struct event_spec *perf_sampler_event(const struct perf_sampler *ps, size_t i)
{
	return i < ps->nr ? &ps->v[i].spec : NULL;
}

const struct event_spec *perf_sampler_clock(const struct perf_sampler *ps, uint16_t *number)
{
	for (size_t i = 0; i < ps->nr; i++) {
		if (ps->v[i].spec.type->by_time) {
			*number = ps->v[i].number;
			return &ps->v[i].spec;
		}
	}
	return NULL;
}

uint64_t perf_sampler_nested(const struct perf_sampler *ps)
{
	uint64_t c[COUNTERS] = { 0 }, dropped = 0, wanted;

	for (size_t i = 0; i < ps->nr; i++) {
		const struct cpu_events *src = &ps->v[i];
		uint64_t came;

		if (src->spec.type->type != PERF_TYPE_SOFTWARE || !src->spec.period || !src->number)
			continue;
		/* Read before the program's count, which can only be ahead then. */
		came = cpu_events_overflows(src);
		if (capture_bpf_counters(ps->bpf, c))
			return 0;
		if (came > c[COUNTER_FIRED_BY + src->number])
			dropped += came - c[COUNTER_FIRED_BY + src->number];
	}
	wanted = c[COUNTER_SUBMITTED] + c[COUNTER_RING_FULL];
	return wanted ? (uint64_t)((double)dropped * (double)wanted / (double)c[COUNTER_FIRED] +
				   0.5)
		      : 0;
}

uint64_t perf_sampler_bad_records(const struct perf_sampler *ps)
{
	return ps->bad_records;
}

double perf_sampler_cpu_seconds(const struct perf_sampler *ps, uint64_t ns)
{
	double all = (double)ps->v[0].nr * (double)ns;
	double missed = (double)cpu_events_missed_ns(&ps->v[0]);

	return missed < all ? (all - missed) / 1e9 : 0;
}
