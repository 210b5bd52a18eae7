/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler as a collector: perf events on every CPU (perf_sampler.h). Each of them is an event
 * of the recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/collectors/collector.h"
#include "src/capture/collectors/perf_sampler.h"
#include "src/capture/collectors/rate_watch.h"
#include "src/capture/recorder.h"
#include "src/capture/session/session.h"
#include "src/proc/cpu_time.h"

/*
 * The ring is drained so often even when it is far from full. A turn finds nothing urgent when
 * no thread has been new for CALM_AFTER_NS: files of threads that are known are open already. The
 * ring is then drained less often, unless the trace is read while it grows. A stack that has no
 * tables yet, or new code of a runtime, still wakes the reader at once (bpf/sample.bpf.h).
 */
#define LOOK_EVERY_NS (100 * NSEC_PER_MSEC)
#define CALM_LOOK_NS (300 * NSEC_PER_MSEC)
#define CALM_AFTER_NS (2 * NSEC_PER_SEC)
/* CPUs that have gone offline or are back are looked for so often. */
#define WATCH_EVERY_NS NSEC_PER_SEC
#define MIN_TICKS 100		/* fewer say nothing about how busy the CPUs were */

struct sampling {
	const struct capture_options *options;
	struct recorder *recorder;
	struct perf_sampler *sampler;
	uint16_t numbers[WIRE_MAX_EVENTS];
	uint64_t next_look_ns, next_watch_ns;
	uint64_t known, news_ns;	/* threads so far, and when one was new */
	uint64_t samples, missing_ticks;
	struct cpu_time begin_time;
	struct rate_watch rate;
	bool was_slower;		/* at times: ticks cannot be compared with the rate */
};

static bool is_wanted(const struct capture_options *o)
{
	return o->sample;
}

/* Each event of the sampler becomes one of the recording. */
static int add_events(struct sampling *s)
{
	const struct event_spec *e;

	for (size_t i = 0; (e = perf_sampler_event(s->sampler, i)); i++) {
		struct session_event event = {
			.name = e->name,
			.unit = e->type->unit,
			.kind = e->type->kind,
			.freq_hz = e->freq_hz,
			.period = e->type->by_time ? event_spec_period_ns(e) : e->period,
		};
		int number = recorder_add_event(s->recorder, &event);

		if (number < 0)
			return number;
		s->numbers[i] = (uint16_t)number;
	}
	return 0;
}

static void sampling_close(void *state)
{
	struct sampling *s = state;

	if (s)
		perf_sampler_close(s->sampler);
	free(s);
}

static int sampling_open(const struct collector_context *ctx, void **state)
{
	const struct capture_options *o = ctx->options;
	struct sampling *s = calloc(1, sizeof(*s));
	struct perf_sampler_options opts = { .events = &o->events,
					     .freq_hz = o->freq_hz,
					     .cpus = o->cpus.nr ? &o->cpus : NULL };
	int err;

	if (!s)
		return fail(-ENOMEM, "open the sampler");
	s->options = o;
	s->recorder = ctx->recorder;
	err = perf_sampler_open(recorder_bpf(s->recorder), &opts, &s->sampler);
	if (!err)
		err = add_events(s);
	if (err)
		sampling_close(s);
	else
		*state = s;
	return err;
}

static int sampling_start(void *state, uint64_t begin_ns)
{
	struct sampling *s = state;

	s->next_look_ns = begin_ns + LOOK_EVERY_NS;
	s->next_watch_ns = begin_ns + WATCH_EVERY_NS;
	cpu_time_read(NULL, &s->begin_time);
	rate_watch_begin(&s->rate, capture_bpf_rate_limit(recorder_bpf(s->recorder)), s->sampler,
			 s->numbers);
	return perf_sampler_start(s->sampler, s->numbers);
}

static size_t sampling_fds(const void *state, int fds[COLLECTOR_FDS])
{
	fds[0] = perf_sampler_fd(((const struct sampling *)state)->sampler);
	return 1;
}

static uint64_t sampling_due(const void *state)
{
	return ((const struct sampling *)state)->next_look_ns;
}

static int on_stack(void *ctx, const struct wire_stack *stack)
{
	struct sampling *s = ctx;

	s->samples++;
	return recorder_stack(s->recorder, stack, 0);
}

/* At level 3, Debian's own, only CAP_SYS_ADMIN opens an event, and that is given up by now. */
static const char remedy[] = ". Try: sudo sysctl kernel.perf_event_paranoid=2 before recording";

/* Tells the user and the trace that a CPU has gone or is back. */
static void on_cpu_change(void *ctx, const struct cpu_change *c)
{
	double missed = (double)c->missed_ns / 1e9;
	char text[256];

	(void)ctx;
	if (!c->is_back)
		snprintf(text, sizeof(text), "CPU %u is offline and not sampled", c->cpu);
	else if (c->err)
		snprintf(text, sizeof(text), "CPU %u is online but cannot be sampled: %s%s", c->cpu,
			 strerror(-c->err), c->err == -EACCES || c->err == -EPERM ? remedy : "");
	else
		snprintf(text, sizeof(text),
			 "CPU %u is online and sampled; %.1f s of it are missing", c->cpu,
			 missed);
	note_kept("%s", text);
}

static void watch_cpus(struct sampling *s)
{
	uint64_t now = now_ns();

	if (now < s->next_watch_ns)
		return;
	s->next_watch_ns = now + WATCH_EVERY_NS;
	perf_sampler_watch(s->sampler, on_cpu_change, s);
}

static void look_for_news(struct sampling *s)
{
	uint64_t known = session_stats(recorder_session(s->recorder)).threads;

	if (known != s->known)
		s->news_ns = now_ns();
	s->known = known;
}

static uint64_t look_every_ns(const struct sampling *s, uint64_t now)
{
	bool is_calm = !s->options->is_followed && now - s->news_ns >= CALM_AFTER_NS;

	return is_calm ? CALM_LOOK_NS : LOOK_EVERY_NS;
}

/* One turn: fetches samples, then learns what happened until then, then resolves them. */
static int sampling_take(void *state)
{
	struct sampling *s = state;
	int more = perf_sampler_drain(s->sampler), err;
	uint64_t now = now_ns();

	s->next_look_ns = now + look_every_ns(s, now);
	watch_cpus(s);
	rate_watch_look(&s->rate, recorder_waiting_bytes(s->recorder));
	err = more < 0 ? more : recorder_update(s->recorder);
	if (!err)
		err = perf_sampler_for_each(s->sampler, on_stack, s);
	look_for_news(s);
	return err ? err : more;
}

/* What is in the ring by now weighs as at the new rate: some milliseconds of it. */
static void sampling_slow(void *state, uint32_t times)
{
	struct sampling *s = state;
	const struct event_spec *e;

	perf_sampler_slow(s->sampler, times);
	s->was_slower |= times > 1;
	for (size_t i = 0; (e = perf_sampler_event(s->sampler, i)); i++)
		if (e->freq_hz > 0)
			session_set_rate(recorder_session(s->recorder), s->numbers[i],
					 e->freq_hz / times,
					 e->type->by_time ? event_spec_period_ns(e) * times
							  : e->period);
}

static void sampling_stop(void *state)
{
	perf_sampler_stop(((struct sampling *)state)->sampler);
}

static void sampling_counts(const void *state, struct collector_counts *add)
{
	add->samples += ((const struct sampling *)state)->samples;
}

static void sampling_losses(const void *state, uint64_t totals[LOSS_CAUSES])
{
	const struct sampling *s = state;
	uint64_t c[COUNTERS];

	totals[LOSS_BAD_RECORD] += perf_sampler_bad_records(s->sampler);
	totals[LOSS_NESTED] += perf_sampler_nested(s->sampler);
	totals[LOSS_TICKS] += s->missing_ticks;
	if (capture_bpf_counters(recorder_bpf(s->recorder), c))
		return;
	totals[LOSS_RING_FULL] += c[COUNTER_RING_FULL];
	totals[LOSS_RATE_LIMIT] += c[COUNTER_PASSED_OVER] + c[COUNTER_OF_SLOWED];
	totals[LOSS_KERNEL_STACK] += c[COUNTER_KERNEL_STACK];
}

/* The ticks that the clock should have had in this time on all sampled CPUs. */
static double wanted_ticks(const struct sampling *s, const struct event_spec *clock, uint64_t ns)
{
	return clock->freq_hz * perf_sampler_cpu_seconds(s->sampler, ns);
}

/*
 * Fewer ticks than the CPUs were busy for. Idle ones may sleep through theirs, so only those count
 * that the kernel's own account of busy time asks for. They are told as a loss (sampling_losses()),
 * which is about the time they would have measured and not about samples that were dropped.
 */
static void check_rate(struct sampling *s, const uint64_t c[COUNTERS], uint64_t fired,
		       double want)
{
	double busy = (double)(fired - c[COUNTER_IDLE]), expected, gap;
	struct cpu_time end;

	if ((double)fired >= 0.95 * want || s->options->cpus.nr || cpu_time_read(NULL, &end))
		return;
	expected = want * cpu_time_share(&s->begin_time, &end);
	gap = 0.9 * expected - busy;
	/* More than four standard deviations: /proc/stat is made of ticks, too. */
	if (expected < MIN_TICKS || gap <= 0 || gap * gap <= 16 * expected)
		return;
	s->missing_ticks = (uint64_t)(expected - busy + 0.5);
	note("the timer fired %.0f %% of the times that the CPUs were busy for: "
	     "the machine could not keep up or was paused",
	     100 * busy / expected);
}

/*
 * How busy the CPUs were, by our own ticks and by the kernel's: a reader can see whether the
 * samples can be right.
 */
static int tell_cpu_share(struct sampling *s, const uint64_t c[COUNTERS], uint64_t fired,
			  double want)
{
	bool all = s->options->scan && recorder_is_whole_machine(s->recorder);
	struct cpu_time end;
	char text[128];

	if (s->options->cpus.nr || want < MIN_TICKS || cpu_time_read(NULL, &end))
		return 0;
	snprintf(text, sizeof(text), "samples=%.3f stat=%.3f ticks=%.0f%s",
		 (double)(fired - c[COUNTER_IDLE]) / want, cpu_time_share(&s->begin_time, &end),
		 want, all ? " walks=1" : "");
	return session_tell(recorder_session(s->recorder), "cpu.busy", text);
}

static void describe(const uint64_t c[COUNTERS])
{
	note_verbose("%" PRIu64 " ticks: %" PRIu64 " idle, %" PRIu64 " of others, %" PRIu64
		     " outside, %" PRIu64 " submitted, %" PRIu64 " refused, %" PRIu64
		     " passed over, %" PRIu64 " of users that are slowed",
		     c[COUNTER_FIRED], c[COUNTER_IDLE], c[COUNTER_FILTERED], c[COUNTER_OUTSIDE],
		     c[COUNTER_SUBMITTED], c[COUNTER_RING_FULL], c[COUNTER_PASSED_OVER],
		     c[COUNTER_OF_SLOWED]);
}

static int sampling_end(void *state, const struct collector_end *end)
{
	struct sampling *s = state;
	uint16_t number;
	const struct event_spec *clock = perf_sampler_clock(s->sampler, &number);
	uint64_t c[COUNTERS], fired;
	double want;
	int err;

	if (capture_bpf_counters(recorder_bpf(s->recorder), c))
		return 0;
	describe(c);
	err = rate_watch_end(&s->rate, c[COUNTER_PASSED_OVER], recorder_session(s->recorder));
	if (err)
		return err;
	/* Idle ticks are counted for all events together, and not at all if they are samples. */
	if (!clock || perf_sampler_event(s->sampler, 1) || s->options->include_idle ||
	    s->was_slower ||
	    clock->no_user || clock->no_kernel)
		return 0;
	fired = c[COUNTER_FIRED_BY + number];
	want = wanted_ticks(s, clock, end->end_ns - end->begin_ns);
	check_rate(s, c, fired, want);
	return tell_cpu_share(s, c, fired, want);
}

const struct collector sampling_collector = {
	.name = "sampler",
	.programs = CAPTURE_SAMPLER,
	.is_wanted = is_wanted,
	.open = sampling_open,
	.start = sampling_start,
	.fds = sampling_fds,
	.due_ns = sampling_due,
	.take = sampling_take,
	.slow = sampling_slow,
	.stop = sampling_stop,
	.end = sampling_end,
	.counts = sampling_counts,
	.losses = sampling_losses,
	.close = sampling_close,
};
