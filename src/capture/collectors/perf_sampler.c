/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/perf_sampler.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/proc/cpus.h"

/* The size of a batch: the reader must get back to its other work, however fast the ring fills. */
#define MAX_QUEUE_BYTES (4u << 20)

/* One event source, opened on each CPU. */
struct source {
	struct event_spec spec;
	uint16_t number;		/* of the event in the recording */
	int *fds;			/* the perf events, one for each CPU */
	struct bpf_link **links;	/* set once it has been started; a link closes its fd */
	unsigned nr;
};

struct perf_sampler {
	struct capture_bpf *bpf;
	struct ring_buffer *ring;
	struct byte_buf queue;
	uint64_t bad_records;
	struct source v[WIRE_MAX_EVENTS];
	size_t nr;
};

/* Events by time get an exact period, so that a frequency need not be a whole number. */
static int open_event(const struct event_spec *e, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = e->type->type,
		.config = e->type->config,
		.size = sizeof(attr),
		.disabled = 1,
	};

	if (e->period || e->type->by_time) {
		attr.sample_period = e->period ? e->period : event_spec_period_ns(e);
	} else {
		attr.freq = 1;
		attr.sample_freq = e->freq_hz < 1 ? 1 : (uint64_t)(e->freq_hz + 0.5);
	}
	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * The default event, which samples time: of the first two rows of the table the first that opens.
 */
static struct event_spec choose(double freq_hz, uint32_t cpu)
{
	struct event_spec e = { .type = &event_types[0], .freq_hz = freq_hz };
	int fd = open_event(&e, cpu);

	if (fd < 0)
		e.type = &event_types[1];
	else
		close(fd);
	return e;
}

static int explain(int err, const char *name)
{
	if (err == -EACCES || err == -EPERM)
		return fail_try(-EPERM,
				"sudo, or: sysctl kernel.perf_event_paranoid=2 with cap_perfmon; "
				"probee doctor",
				"open the perf event %s", name);
	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -EINVAL)
		return fail_try(-ENOTSUP, "-e cpu-clock",
				"open the perf event %s: this machine does not count it", name);
	return fail(err, "open the perf event %s", name);
}

/* Opens one source on all these CPUs. */
static int open_cpus(struct source *src, const struct cpu_list *cpus, bool may_be_offline)
{
	const char *name = src->spec.type->name;

	src->fds = calloc(cpus->nr, sizeof(*src->fds));
	src->links = calloc(cpus->nr, sizeof(*src->links));
	if (!src->fds || !src->links)
		return fail(-ENOMEM, "open the perf event %s", name);
	for (size_t i = 0; i < cpus->nr; i++) {
		int fd = open_event(&src->spec, cpus->v[i]);

		if (fd < 0 && errno == ENODEV && may_be_offline)
			continue;	/* went offline meanwhile */
		if (fd < 0 && errno == ENODEV)
			return fail_why(-ENODEV, "CPU %u is not online", cpus->v[i]);
		if (fd < 0)
			return explain(-errno, name);
		src->fds[src->nr++] = fd;
	}
	return 0;
}

static int open_sources(struct perf_sampler *ps, const struct perf_sampler_options *opts,
			const struct cpu_list *cpus)
{
	int err = 0;

	if (!opts->events->nr)
		ps->v[ps->nr++].spec = choose(opts->freq_hz, cpus->v[0]);
	for (size_t i = 0; i < opts->events->nr; i++)
		ps->v[ps->nr++].spec = opts->events->v[i];
	for (size_t i = 0; i < ps->nr && !err; i++)
		err = open_cpus(&ps->v[i], cpus, !opts->cpus);
	return err;
}

static int on_record(void *ctx, void *data, size_t len)
{
	struct perf_sampler *ps = ctx;
	uint32_t size = (uint32_t)len;

	bb_bytes(&ps->queue, &size, sizeof(size));
	bb_bytes(&ps->queue, &size, sizeof(size));	/* keeps records aligned */
	bb_bytes(&ps->queue, data, len);
	return ps->queue.nr > MAX_QUEUE_BYTES ? -EAGAIN : 0;
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
	err = opts->cpus ? 0 : cpus_online(&online);
	if (!err)
		err = open_sources(ps, opts, opts->cpus ? opts->cpus : &online);
	cpus_release(&online);
	if (!err) {
		ps->ring = ring_buffer__new(capture_bpf_ring(bpf), on_record, ps, NULL);
		err = ps->ring ? 0 : fail(-errno, "map the ring buffer");
	}
	if (err)
		perf_sampler_close(ps);
	else
		*pp = ps;
	return err;
}

static int start_source(struct source *src, const struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = src->number);

	for (unsigned i = 0; i < src->nr; i++) {
		/* Attaching enables the event. */
		src->links[i] = bpf_program__attach_perf_event_opts(prog, src->fds[i], &opts);
		if (!src->links[i])
			return fail(-errno, "attach to the perf event %s", src->spec.type->name);
	}
	return 0;
}

int perf_sampler_start(struct perf_sampler *ps, const uint16_t *numbers)
{
	int err = 0;

	for (size_t i = 0; i < ps->nr && !err; i++) {
		assert(numbers[i] && numbers[i] <= WIRE_MAX_EVENTS);
		ps->v[i].number = numbers[i];
		err = start_source(&ps->v[i], capture_bpf_sampler(ps->bpf));
	}
	return err;
}

void perf_sampler_stop(struct perf_sampler *ps)
{
	for (size_t i = 0; i < ps->nr; i++)
		for (unsigned cpu = 0; cpu < ps->v[i].nr; cpu++)
			ioctl(ps->v[i].fds[cpu], PERF_EVENT_IOC_DISABLE, 0);
}

static void close_source(struct source *src)
{
	for (unsigned i = 0; i < src->nr; i++) {
		if (src->links[i])
			bpf_link__destroy(src->links[i]);	/* closes the event's fd */
		else
			close(src->fds[i]);
	}
	free(src->fds);
	free(src->links);
}

void perf_sampler_close(struct perf_sampler *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < ps->nr; i++)
		close_source(&ps->v[i]);
	ring_buffer__free(ps->ring);
	bb_release(&ps->queue);
	free(ps);
}

int perf_sampler_fd(const struct perf_sampler *ps)
{
	return ring_buffer__epoll_fd(ps->ring);
}

int perf_sampler_drain(struct perf_sampler *ps)
{
	int n = ring_buffer__consume(ps->ring);

	if (ps->queue.bad)
		return fail(-ENOMEM, "queue samples");
	return n < 0 && n != -EAGAIN ? fail(n, "read the ring buffer") : 0;
}

int perf_sampler_for_each(struct perf_sampler *ps, wire_stack_fn fn, void *ctx)
{
	struct wire_stack stack;
	int err = 0;

	for (size_t at = 0; at < ps->queue.nr && !err;) {
		uint32_t size;

		memcpy(&size, ps->queue.v + at, sizeof(size));
		at += 2 * sizeof(size);
		if (wire_decode(ps->queue.v + at, size, &stack) > 0)
			err = fn(ctx, &stack);
		else
			ps->bad_records++;
		at += size;
	}
	ps->queue.nr = 0;
	return err;
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

/* How often the source has overflowed so far, on all CPUs. */
static uint64_t overflows(const struct source *src)
{
	uint64_t sum = 0, count;

	for (unsigned i = 0; i < src->nr; i++)
		if (read(src->fds[i], &count, sizeof(count)) == sizeof(count))
			sum += count / src->spec.period;
	return sum;
}

uint64_t perf_sampler_nested(const struct perf_sampler *ps)
{
	uint64_t c[COUNTERS] = { 0 }, dropped = 0, wanted;

	for (size_t i = 0; i < ps->nr; i++) {
		const struct source *src = &ps->v[i];
		uint64_t came;

		if (src->spec.type->type != PERF_TYPE_SOFTWARE || !src->spec.period || !src->number)
			continue;
		/* Read before the program's count, which can only be ahead then. */
		came = overflows(src);
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

unsigned perf_sampler_cpus(const struct perf_sampler *ps)
{
	return ps->v[0].nr;
}
