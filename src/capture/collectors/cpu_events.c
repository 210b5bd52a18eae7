/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/cpu_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/rights/capabilities.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/proc/cpus.h"

/* What read() gives of an event that was opened here. */
struct reading {
	uint64_t count, enabled_ns;
};

/* Events by time get an exact period, so that a frequency need not be a whole number. */
static int open_event(const struct event_spec *e, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = e->type->type,
		.config = e->type->config,
		.size = sizeof(attr),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.disabled = 1,
		.exclude_user = e->no_user,
		.exclude_kernel = e->no_kernel,
		.precise_ip = e->precise,
		/* The kernel lets no program have the stack of a precise event without it. */
		.sample_type = e->precise ? PERF_SAMPLE_CALLCHAIN : 0,
		.config1 = e->config1,
		.config2 = e->config2,
	};
	int fd;

	if (e->period || e->type->by_time) {
		attr.sample_period = e->period ? e->period : event_spec_period_ns(e);
	} else {
		attr.freq = 1;
		attr.sample_freq = e->freq_hz < 1 ? 1 : (uint64_t)(e->freq_hz + 0.5);
	}
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool cpu_events_can_open(const struct event_spec *spec, uint32_t cpu)
{
	int fd = open_event(spec, cpu);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* perf_event_paranoid, or "?". */
static void read_paranoid(char *buf, size_t size)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (!f || !fgets(buf, (int)size, f))
		snprintf(buf, size, "?");
	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = 0;
}

/* The setting refuses with EACCES. EPERM comes from what stands before it. */
static int explain_refusal(int err, const char *name)
{
	const uint64_t needed = CAP_BIT(CAP_PERFMON);
	char paranoid[16], missing[64];

	if (err == -EPERM)
		return fail_try(-EPERM,
				"run it outside the container, whose seccomp filter forbids it; "
				"probee doctor",
				"open the perf event %s", name);
	read_paranoid(paranoid, sizeof(paranoid));
	capabilities_names(needed & ~capabilities_effective(), missing, sizeof(missing));
	return fail_try(-EPERM,
			"sudo, or: sysctl kernel.perf_event_paranoid=2 with cap_perfmon; "
			"probee doctor",
			"open the perf event %s with perf_event_paranoid=%s%s%s", name, paranoid,
			missing[0] ? " and without " : "", missing);
}

static int explain(int err, const char *name)
{
	if (err == -EACCES || err == -EPERM)
		return explain_refusal(err, name);
	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -EINVAL)
		return fail_try(-ENOTSUP, "-e cpu-clock",
				"open the perf event %s: this machine does not count it", name);
	return fail(err, "open the perf event %s", name);
}

static int add(struct cpu_events *e, uint32_t cpu, int fd)
{
	struct cpu_event *event = array_push(&e->v, &e->nr, &e->cap);

	if (!event) {
		close(fd);
		return -ENOMEM;
	}
	*event = (struct cpu_event){ .cpu = cpu, .fd = fd };
	return 0;
}

int cpu_events_open(struct cpu_events *e, const struct event_spec *spec,
		    const struct cpu_list *cpus, bool all)
{
	const char *name = spec->name;
	int err = 0;

	*e = (struct cpu_events){ .spec = *spec };
	for (size_t i = 0; i < cpus->nr && !err; i++) {
		int fd = open_event(spec, cpus->v[i]);

		if (fd == -ENODEV && all)
			continue;	/* went offline meanwhile */
		if (fd == -ENODEV)
			err = fail_why(-ENODEV, "CPU %u is not online", cpus->v[i]);
		else if (fd < 0)
			err = explain(fd, name);
		else if (add(e, cpus->v[i], fd))
			err = fail(-ENOMEM, "open the perf event %s", name);
	}
	return err;
}

/* The kernel was told the period of a clock, and the frequency of what it adapts itself. */
static void slow_down(const struct cpu_events *e, const struct cpu_event *event)
{
	uint64_t hz = e->spec.freq_hz / e->slower < 1 ? 1 : (uint64_t)(e->spec.freq_hz / e->slower);
	uint64_t value = e->spec.type->by_time ? event_spec_period_ns(&e->spec) * e->slower : hz;

	/* A refusal costs time only: ticks that come too often are passed over. */
	if (event->fd >= 0)
		ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &value);
}

/* Attaching enables the event. */
static int attach(struct cpu_events *e, struct cpu_event *event)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = e->number);

	if (e->slower > 1)
		slow_down(e, event);
	event->link = bpf_program__attach_perf_event_opts(e->prog, event->fd, &opts);
	event->started_ns = now_ns();
	event->enabled_ns = 0;
	return event->link ? 0 : -errno;
}

int cpu_events_start(struct cpu_events *e, const struct bpf_program *prog, uint16_t number)
{
	int err = 0;

	e->prog = prog;
	e->number = number;
	e->started_ns = now_ns();
	for (size_t i = 0; i < e->nr && !err; i++)
		err = attach(e, &e->v[i]);
	return err ? fail(err, "attach to the perf event %s", e->spec.name) : 0;
}

void cpu_events_slow(struct cpu_events *e, uint32_t times)
{
	e->slower = times;
	for (size_t i = 0; i < e->nr; i++)
		slow_down(e, &e->v[i]);
}

void cpu_events_stop(struct cpu_events *e)
{
	for (size_t i = 0; i < e->nr; i++)
		if (e->v[i].fd >= 0)
			ioctl(e->v[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void close_event(struct cpu_event *event)
{
	if (event->link)
		bpf_link__destroy(event->link);		/* closes the event's fd */
	else if (event->fd >= 0)
		close(event->fd);
	event->link = NULL;
	event->fd = -1;
}

void cpu_events_close(struct cpu_events *e)
{
	for (size_t i = 0; i < e->nr; i++)
		close_event(&e->v[i]);
	free(e->v);
	*e = (struct cpu_events){ 0 };
}

static uint64_t overflows_of(const struct cpu_events *e, uint64_t count)
{
	return e->spec.period ? count / e->spec.period : 0;
}

static bool look(const struct cpu_event *event, struct reading *r)
{
	return event->fd >= 0 && read(event->fd, r, sizeof(*r)) == sizeof(*r);
}

static uint64_t gone_ns(const struct cpu_event *event)
{
	return now_ns() - event->started_ns - event->enabled_ns;
}

/* Gives up the event of a CPU that has gone. Its count stays. */
static void let_go(struct cpu_events *e, struct cpu_event *event, const struct reading *r,
		   cpu_change_fn fn, void *ctx)
{
	e->past_overflows += overflows_of(e, r->count);
	close_event(event);
	fn(ctx, &(struct cpu_change){ .cpu = event->cpu });
}

/* Opens the event of a CPU that was gone. As long as the kernel says ENODEV it is still gone. */
static void try_again(struct cpu_events *e, struct cpu_event *event, cpu_change_fn fn, void *ctx)
{
	struct cpu_change change = { event->cpu, true, gone_ns(event), 0 };
	struct cpu_event before = *event;

	event->fd = open_event(&e->spec, event->cpu);
	if (event->fd == -ENODEV) {
		event->fd = -1;
		return;
	}
	change.err = event->fd < 0 ? event->fd : attach(e, event);
	if (change.err) {
		close_event(event);
		event->started_ns = before.started_ns;
		event->enabled_ns = before.enabled_ns;
	} else {
		e->missed_ns += change.missed_ns;
	}
	if (!change.err || !before.is_refused)
		fn(ctx, &change);
	event->is_refused = change.err;
}

/* CPUs that were not there when the recording began: they count as gone since then. */
static void add_new(struct cpu_events *e, const struct cpu_list *online)
{
	for (size_t i = 0; i < online->nr; i++) {
		bool is_known = false;

		for (size_t k = 0; k < e->nr && !is_known; k++)
			is_known = e->v[k].cpu == online->v[i];
		if (!is_known && !add(e, online->v[i], -1))
			e->v[e->nr - 1].started_ns = e->started_ns;
	}
}

void cpu_events_watch(struct cpu_events *e, const struct cpu_list *online, cpu_change_fn fn,
		      void *ctx)
{
	if (online)
		add_new(e, online);
	for (size_t i = 0; i < e->nr; i++) {
		struct cpu_event *event = &e->v[i];
		struct reading r;

		if (look(event, &r)) {
			if (r.enabled_ns == event->enabled_ns)
				let_go(e, event, &r, fn, ctx);
			else
				event->enabled_ns = r.enabled_ns;
		}
		if (event->fd < 0)
			try_again(e, event, fn, ctx);
	}
}

uint64_t cpu_events_overflows(const struct cpu_events *e)
{
	uint64_t sum = e->past_overflows;
	struct reading r;

	for (size_t i = 0; i < e->nr; i++)
		if (look(&e->v[i], &r))
			sum += overflows_of(e, r.count);
	return sum;
}

uint64_t cpu_events_missed_ns(const struct cpu_events *e)
{
	uint64_t sum = e->missed_ns;

	for (size_t i = 0; i < e->nr; i++)
		if (e->v[i].fd < 0)
			sum += gone_ns(&e->v[i]);
	return sum;
}
