/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/capture_loop.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/recorder.h"
#include "src/base/stop_signals.h"
#include "src/recording/target_command.h"

#define ASK_EVERY_NS (100 * NSEC_PER_MSEC)	/* are targets left? a system call each time */
#define SERVICE_NS NSEC_PER_SEC			/* the longest sleep */

/* The descriptors given to ppoll(): signals, then the recorder, each collector, the hooks. */
struct poll_set {
	struct pollfd v[1 + RECORDER_FDS + COLLECTORS * COLLECTOR_FDS + HOOK_FDS];
	size_t nr;
	size_t first[COLLECTORS + 1];	/* collector i: from v[first[i]] to first[i + 1] */
};

unsigned capture_loop_programs(const struct capture_options *options)
{
	unsigned programs = 0;

	for (size_t i = 0; collectors[i]; i++)
		if (collectors[i]->is_wanted(options))
			programs |= collectors[i]->programs_of
					    ? collectors[i]->programs_of(options)
					    : collectors[i]->programs;
	return programs;
}

int capture_loop_open(struct capture_loop *l, struct recorder *recorder,
		      const struct capture_options *options)
{
	struct collector_context ctx = { recorder, options };
	int err = 0;

	l->recorder = recorder;
	l->options = options;
	for (size_t i = 0; collectors[i] && !err; i++) {
		if (!collectors[i]->is_wanted(options))
			continue;
		assert(l->nr < COLLECTORS);
		l->v[l->nr].ops = collectors[i];
		err = collectors[i]->open(&ctx, &l->v[l->nr].state);
		if (!err)
			l->nr++;
	}
	return err;
}

void capture_loop_close(struct capture_loop *l)
{
	while (l->nr) {
		l->nr--;
		l->v[l->nr].ops->close(l->v[l->nr].state);
	}
}

int capture_loop_start(struct capture_loop *l)
{
	int err = 0;

	l->begin_ns = now_ns();
	l->until_ns = l->duration_ns ? l->begin_ns + l->duration_ns : 0;
	for (size_t i = 0; i < l->nr && !err; i++)
		err = l->v[i].ops->start(l->v[i].state, l->begin_ns);
	return err;
}

static void add_fd(struct poll_set *set, int fd)
{
	set->v[set->nr++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

static void fill_poll_set(struct capture_loop *l, const struct capture_hooks *hooks,
			  struct poll_set *set)
{
	int fds[RECORDER_FDS + COLLECTOR_FDS];
	size_t nr = recorder_fds(l->recorder, fds);

	set->nr = 0;
	add_fd(set, l->stop->fd);
	for (size_t i = 0; i < nr; i++)
		add_fd(set, fds[i]);
	for (size_t i = 0; i < l->nr; i++) {
		set->first[i] = set->nr;
		nr = l->v[i].ops->fds ? l->v[i].ops->fds(l->v[i].state, fds) : 0;
		for (size_t k = 0; k < nr; k++)
			add_fd(set, fds[k]);
	}
	set->first[l->nr] = set->nr;
	set->nr += hooks->fds(hooks->ctx, set->v + set->nr);
}

static bool collectors_are_over(const struct capture_loop *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].ops->is_over && l->v[i].ops->is_over(l->v[i].state))
			return true;
	return false;
}

/* The kernel is asked every 0.1 s at most, because there may be thousands of turns a second. */
static bool targets_are_gone(struct capture_loop *l)
{
	uint64_t now = now_ns();

	if (!l->has_targets || now < l->next_ask_ns)
		return false;
	l->next_ask_ns = now + ASK_EVERY_NS;
	return !capture_bpf_has_targets(recorder_bpf(l->recorder));
}

/* Why the recording ends now (enum end_reason), or -1 when it goes on. */
static int ended(struct capture_loop *l, const struct capture_hooks *hooks)
{
	if (l->stop->stopped || hooks->is_over(hooks->ctx))
		return ENDED_SIGNAL;
	if (l->command && target_command_ended(l->command))
		return ENDED_TARGET_EXIT;
	if (collectors_are_over(l))
		return ENDED_ITERATIONS;
	if (l->until_ns && now_ns() >= l->until_ns)
		return ENDED_DURATION;
	return targets_are_gone(l) ? ENDED_TARGET_EXIT : -1;
}

static bool is_paused(const struct capture_loop *l, size_t i, const struct capture_hooks *hooks)
{
	return l->v[i].ops->by_scans && hooks->is_full(hooks->ctx);
}

/* How long the loop may sleep before something is due; 0: something is due now. */
static uint64_t sleep_ns(const struct capture_loop *l, const struct capture_hooks *hooks)
{
	uint64_t now = now_ns(), next = now + SERVICE_NS;
	uint64_t hook = now + hooks->patience_ns(hooks->ctx);

	if (recorder_next_service_ns(l->recorder) < next)
		next = recorder_next_service_ns(l->recorder);
	if (hook < next)
		next = hook;
	if (l->has_targets && now + ASK_EVERY_NS < next)
		next = now + ASK_EVERY_NS;
	if (l->until_ns && l->until_ns < next)
		next = l->until_ns;
	for (size_t i = 0; i < l->nr; i++) {
		uint64_t due = l->v[i].ops->due_ns(l->v[i].state);

		if (due < next && !is_paused(l, i, hooks))
			next = due;
	}
	return next > now ? next - now : 0;
}

static bool is_readable(const struct poll_set *set, size_t i)
{
	for (size_t k = set->first[i]; k < set->first[i + 1]; k++)
		if (set->v[k].revents)
			return true;
	return false;
}

/* Whether the duration is over. A scan that is due exactly then is not part of the recording. */
static bool is_past_end(const struct capture_loop *l)
{
	return l->until_ns && now_ns() >= l->until_ns;
}

/* Takes from each collector that is readable or due. */
static int take(struct capture_loop *l, const struct capture_hooks *hooks,
		const struct poll_set *set)
{
	int err = 0;

	for (size_t i = 0; i < l->nr && !err; i++) {
		const struct collector *c = l->v[i].ops;

		if (!is_readable(set, i) && now_ns() < c->due_ns(l->v[i].state))
			continue;
		if (is_paused(l, i, hooks) || (c->by_scans && is_past_end(l)))
			continue;
		err = c->take(l->v[i].state);
		if (err >= 0)
			err = hooks->after_take(hooks->ctx, c);
	}
	return err;
}

static int turn(struct capture_loop *l, const struct capture_hooks *hooks, struct poll_set *set)
{
	uint64_t ns = sleep_ns(l, hooks);
	struct timespec ts = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };
	int err = 0, woken;

	fill_poll_set(l, hooks, set);
	woken = ppoll(set->v, set->nr, &ts, NULL);
	stop_signals_read(l->stop);
	if (woken > 0)
		recorder_hold_off(l->recorder);
	err = recorder_update(l->recorder);
	if (!err)
		err = take(l, hooks, set);
	if (!err)
		err = recorder_service(l->recorder);
	return err ? err : hooks->turn(hooks->ctx);
}

/* Stops the collectors, and then takes what they still hold. */
static int stop(struct capture_loop *l)
{
	int err = 0;

	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].ops->stop)
			l->v[i].ops->stop(l->v[i].state);
	for (size_t i = 0; i < l->nr && !err; i++)
		while (l->v[i].ops->stop && (err = l->v[i].ops->take(l->v[i].state)) > 0)
			;
	return err;
}

int capture_loop_run(struct capture_loop *l, const struct capture_hooks *hooks)
{
	struct poll_set set;
	int err = 0, reason;

	while ((reason = ended(l, hooks)) < 0 && !err)
		err = turn(l, hooks, &set);
	l->reason = (uint8_t)(err ? ENDED_ERROR : reason);
	if (!err)
		err = stop(l);
	l->end_ns = now_ns();
	return err;
}

void capture_loop_slow(struct capture_loop *l, uint32_t times)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].ops->slow)
			l->v[i].ops->slow(l->v[i].state, times);
}

int capture_loop_end(struct capture_loop *l, struct rec_end *end)
{
	uint64_t last = l->reason == ENDED_DURATION && l->until_ns < l->end_ns ? l->until_ns
										 : l->end_ns;
	struct collector_end e = { l->begin_ns, last, l->reason, end };
	int err = 0;

	end->reason = l->reason;
	end->time_ns = last;
	for (size_t i = 0; i < l->nr && !err; i++)
		err = l->v[i].ops->end(l->v[i].state, &e);
	return err;
}

void capture_loop_ask(struct capture_loop *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].ops->ask)
			l->v[i].ops->ask(l->v[i].state);
}

void capture_loop_counts(const struct capture_loop *l, struct collector_counts *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < l->nr; i++)
		l->v[i].ops->counts(l->v[i].state, out);
}

void capture_loop_losses(const struct capture_loop *l, uint64_t totals[LOSS_CAUSES])
{
	for (size_t i = 0; i < l->nr; i++)
		l->v[i].ops->losses(l->v[i].state, totals);
}
