#include "src/capture/collectors/perf_sampler.h"

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

/* A batch: the reader must get back to its other work, however fast the ring fills. */
#define MAX_QUEUE_BYTES (4u << 20)

struct perf_sampler {
	struct capture_bpf *bpf;
	struct ring_buffer *ring;
	struct byte_buf queue;
	uint64_t bad_records;
	const char *event;
	uint64_t period_ns;
	int *fds;
	struct bpf_link **links;
	unsigned nr;
};

static const struct event_source {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool by_time;
} sources[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true },
};
#define NR_SOURCES (sizeof(sources) / sizeof(sources[0]))

/* Events by time get an exact period, so that a frequency need not be a whole number. */
static int open_event(const struct event_source *src, double freq_hz, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = src->type, .config = src->config, .size = sizeof(attr), .disabled = 1,
	};

	if (src->by_time) {
		attr.sample_period = (uint64_t)((double)NSEC_PER_SEC / freq_hz + 0.5);
	} else {
		attr.freq = 1;
		attr.sample_freq = freq_hz < 1 ? 1 : (uint64_t)(freq_hz + 0.5);
	}
	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static const struct event_source *choose(const char *name, double freq_hz, uint32_t cpu)
{
	for (size_t i = 0; i < NR_SOURCES; i++) {
		int fd;

		if (name && strcmp(name, sources[i].name))
			continue;
		fd = open_event(&sources[i], freq_hz, cpu);
		if (fd >= 0) {
			close(fd);
			return &sources[i];
		}
	}
	return NULL;
}

static int explain(int err, const char *name)
{
	if (err == -EACCES || err == -EPERM)
		return fail_try(-EPERM,
				"sudo, or: sysctl kernel.perf_event_paranoid=2 with cap_perfmon; "
				"probee doctor",
				"open the perf event %s", name ? name : "cpu-clock");
	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV)
		return fail_try(-ENOTSUP, "-e cpu-clock", "open the perf event %s",
				name ? name : "cpu-clock");
	return fail(err, "open the perf event %s", name ? name : "cpu-clock");
}

static int open_cpus(struct perf_sampler *ps, const struct perf_sampler_options *opts,
		     const struct cpu_list *cpus)
{
	const struct event_source *src = choose(opts->event, opts->freq_hz, cpus->v[0]);

	ps->fds = calloc(cpus->nr, sizeof(*ps->fds));
	ps->links = calloc(cpus->nr, sizeof(*ps->links));
	if (!ps->fds || !ps->links)
		return -ENOMEM;
	if (!src)
		return explain(-errno, opts->event);
	ps->event = src->name;
	ps->period_ns = src->by_time ? (uint64_t)((double)NSEC_PER_SEC / opts->freq_hz + 0.5) : 0;
	for (size_t i = 0; i < cpus->nr; i++) {
		int fd = open_event(src, opts->freq_hz, cpus->v[i]);

		if (fd < 0 && errno == ENODEV && !opts->cpus)
			continue;	/* went offline meanwhile */
		if (fd < 0 && (errno == ENODEV || errno == EINVAL))
			return fail_why(-ENODEV, "CPU %u is not online. Try: one of those in "
					"/sys/devices/system/cpu/online", cpus->v[i]);
		if (fd < 0)
			return explain(-errno, opts->event);
		ps->fds[ps->nr++] = fd;
	}
	return 0;
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
		err = open_cpus(ps, opts, opts->cpus ? opts->cpus : &online);
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

int perf_sampler_start(struct perf_sampler *ps)
{
	struct bpf_program *prog = capture_bpf_sampler(ps->bpf);

	for (unsigned i = 0; i < ps->nr; i++) {
		/* Attaching enables the event. */
		ps->links[i] = bpf_program__attach_perf_event(prog, ps->fds[i]);
		if (!ps->links[i])
			return fail(-errno, "attach to the perf event");
	}
	return 0;
}

void perf_sampler_stop(struct perf_sampler *ps)
{
	for (unsigned i = 0; i < ps->nr; i++)
		ioctl(ps->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

void perf_sampler_close(struct perf_sampler *ps)
{
	if (!ps)
		return;
	for (unsigned i = 0; i < ps->nr; i++) {
		if (ps->links[i])
			bpf_link__destroy(ps->links[i]);	/* closes the event's fd */
		else
			close(ps->fds[i]);
	}
	ring_buffer__free(ps->ring);
	bb_release(&ps->queue);
	free(ps->fds);
	free(ps->links);
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

const char *perf_sampler_event(const struct perf_sampler *ps)
{
	return ps->event;
}

uint64_t perf_sampler_period(const struct perf_sampler *ps)
{
	return ps->period_ns;
}

uint64_t perf_sampler_bad_records(const struct perf_sampler *ps)
{
	return ps->bad_records;
}

unsigned perf_sampler_cpus(const struct perf_sampler *ps)
{
	return ps->nr;
}
