/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/agent/own_cost.h"
#include "src/agent/supervisor_parts.h"
#include "src/base/fail.h"

enum { READ_BYTES = 64 << 10, READS = 16 };	/* of one turn */

/* ---- what the others see ---- */

/* Windows that no target needs any more are those below this number. */
static uint64_t sent_below(const struct supervisor *s)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < s->config.nr_targets; i++) {
		uint64_t next = atomic_load(&s->state->targets[i].next_seq);

		lowest = next < lowest ? next : lowest;
	}
	return lowest;
}

void agent_show_spool(struct supervisor *s)
{
	const struct spool_counts *c = spool_counts(s->spool);
	struct agent_state *st = s->state;

	s->use.sent_below = sent_below(s);
	s->use.busy = s->busy;
	s->use.nr_busy = s->config.nr_targets;
	for (size_t i = 0; i < s->config.nr_targets; i++)
		s->busy[i] = (struct spool_range){ atomic_load(&st->targets[i].busy_seq),
						   atomic_load(&st->targets[i].busy_last) };
	agent_set(st, AGENT_RECORDED, c->recorded);
	agent_set(st, AGENT_RECOVERED, c->recovered);
	agent_set(st, AGENT_EMPTY, c->empty);
	agent_set(st, AGENT_LOST, c->lost);
	agent_set(st, AGENT_DROPPED, c->dropped);
	agent_set(st, AGENT_DELETED, c->deleted);
	agent_set(st, AGENT_BYTES, c->bytes);
	agent_set(st, AGENT_SPOOL_WINDOWS, spool_windows(s->spool, 0, NULL));
	agent_set(st, AGENT_SPOOL_BYTES, spool_bytes(s->spool));
	atomic_store(&st->newest_seq, c->recorded_seq);
}

void agent_show_config(struct supervisor *s)
{
	const struct agent_config *c = &s->config;
	struct agent_state *st = s->state;

	agent_set(st, AGENT_SPOOL_LIMIT, c->limit_bytes);
	agent_set(st, AGENT_FREQ_MHZ, (uint64_t)(c->freq_hz * 1000 + 0.5));
	agent_set(st, AGENT_SCAN_MHZ, (uint64_t)(c->scan_hz * 1000 + 0.5));
	agent_set(st, AGENT_BUDGET_PPM, (uint64_t)(c->budget * 1e6 + 0.5));
	agent_set(st, AGENT_TIMES, s->budget.times);
	for (size_t i = 0; i < c->nr_targets; i++)
		snprintf(st->targets[i].name, sizeof(st->targets[i].name), "%s",
			 c->targets[i].name);
	st->nr_targets = (uint32_t)c->nr_targets;
}

/* ---- the budget ---- */

/* The user whose rate has changed. */
static const char *user_text(const struct supervisor *s, char buf[32])
{
	uint32_t user;

	assert(s->budget.changed < RATE_USERS);
	user = atomic_load(&s->state->rates.users[s->budget.changed].user);
	snprintf(buf, 32, "user %" PRIu32, user);
	return user == RATE_OTHER_USERS ? "all other users" : buf;
}

static void say_user_rate(const struct supervisor *s, const char *why)
{
	const struct rate_budget *b = &s->budget;
	const struct rate_user *u = &b->users[b->changed];
	char buf[32];

	note("the agent took %.2f %% of a CPU, %s its budget of %.3g %%, and %.2f %% were for "
	     "processes of %s: from the next window on one in %" PRIu32 " of their stacks is taken",
	     100 * b->cost, why, 100 * b->budget, 100 * u->cost, user_text(s, buf), u->times);
}

static void say_lowest(const struct supervisor *s)
{
	const struct rate_budget *b = &s->budget;
	char buf[32];

	if (b->changed < RATE_USERS)
		note("the agent takes %.2f %% of a CPU, more than its budget of %.3g %%: %.2f %% "
		     "are for processes of %s, at whatever rate their stacks are taken",
		     100 * b->cost, 100 * b->budget, 100 * b->users[b->changed].cost,
		     user_text(s, buf));
	else
		note("the agent takes %.2f %% of a CPU, more than its budget of %.3g %%, and its "
		     "rates cannot be lowered further", 100 * b->cost, 100 * b->budget);
}

static void say_rate(const struct supervisor *s, const char *why)
{
	const struct rate_budget *b = &s->budget;

	if (b->changed < RATE_USERS) {
		say_user_rate(s, why);
		return;
	}
	note("the agent took %.2f %% of a CPU, %s its budget of %.3g %%: from the next window on "
	     "samples at %.4g Hz, snapshots at %.3g Hz",
	     100 * b->cost, why, 100 * b->budget, s->config.freq_hz / b->times,
	     s->config.scan_hz / b->times);
}

static void take_user_costs(const struct shared_rates *r, struct rate_costs *costs)
{
	costs->nr_users = atomic_load(&r->nr_users);
	costs->root = RATE_USERS;
	for (size_t i = 0; i < costs->nr_users; i++) {
		costs->user_ns[i] = atomic_load(&r->users[i].cost_ns);
		if (!atomic_load(&r->users[i].user))
			costs->root = i;
	}
}

/* The recorder takes them with its next window. */
static void give_rates(struct supervisor *s)
{
	struct shared_rates *r = &s->state->rates;

	atomic_store(&r->times, s->budget.times);
	for (size_t i = 0; i < RATE_USERS; i++)
		atomic_store(&r->users[i].times, s->budget.users[i].times);
}

static void look_at_cost(struct supervisor *s)
{
	struct rate_costs costs = { .cpu_ns = own_cost_ns(getpid()) };
	enum rate_change change;

	take_user_costs(&s->state->rates, &costs);
	change = rate_budget_window(&s->budget, now_ns(), &costs);
	agent_set(s->state, AGENT_CPU_MS, costs.cpu_ns / NSEC_PER_MSEC);
	agent_set(s->state, AGENT_COST_PPM, (uint64_t)(s->budget.cost * 1e6));
	agent_set(s->state, AGENT_TIMES, s->budget.times);
	give_rates(s);
	agent_add(s->state, AGENT_SLOWED, change == RATE_LOWER);
	if (change == RATE_LOWER)
		say_rate(s, "more than");
	else if (change == RATE_RISE)
		say_rate(s, "so much less than");
	else if (change == RATE_AT_LOWEST)
		say_lowest(s);
}

/* ---- batches ---- */

/*
 * The batch that a window belongs to which begins now. Batches begin at multiples of their time
 * plus an offset, as windows do, and each host has its own. A window that begins somewhat before a
 * batch is of it.
 */
static uint64_t batch_now(const struct supervisor *s, size_t i)
{
	uint64_t now = clock_ns(CLOCK_REALTIME) + s->config.window_ns / 4;
	uint64_t batch_ns = s->config.targets[i].batch_ns;

	return batch_ns ? (now - s->batch_offset_ns[i]) / batch_ns : 0;
}

void agent_begin_batches(struct supervisor *s)
{
	for (size_t i = 0; i < s->config.nr_targets; i++) {
		uint64_t batch_ns = s->config.targets[i].batch_ns;

		s->batch_offset_ns[i] = batch_ns ? agent_offset_ns(batch_ns) : 0;
		s->batch[i] = batch_now(s, i);
	}
	agent_send_all(s);
}

void agent_send_all(struct supervisor *s)
{
	uint64_t next = spool_counts(s->spool)->next_seq;

	for (size_t i = 0; i < s->config.nr_targets; i++)
		atomic_store(&s->state->targets[i].due_seq,
			     spool_is_open(s->spool) ? next - 1 : next);
}

/* A window has begun: those before it are due where it is of another batch. */
static void show_due(struct supervisor *s)
{
	uint64_t open = spool_counts(s->spool)->next_seq - 1;

	for (size_t i = 0; i < s->config.nr_targets; i++) {
		uint64_t batch = batch_now(s, i);

		if (batch != s->batch[i] || !s->config.targets[i].batch_ns)
			atomic_store(&s->state->targets[i].due_seq, open);
		s->batch[i] = batch;
	}
}

/* ---- windows ---- */

/* Each new reason is told once; what is lost is counted. */
static void tell(struct supervisor *s, int err)
{
	if (err && err != s->told_error)
		fail(err, "keep a window in %s: it is lost, and recording goes on",
		     s->config.folder);
	if (!err && s->told_error)
		note("windows are kept in %s again", s->config.folder);
	s->told_error = err;
}

static void end_window(struct supervisor *s)
{
	bool was_open = spool_is_open(s->spool);
	uint64_t lost = spool_counts(s->spool)->lost;
	int err = spool_finish(s->spool);

	if (!was_open)
		return;
	if (err || spool_counts(s->spool)->lost == lost)
		tell(s, err);
	look_at_cost(s);
	agent_show_spool(s);
	spool_trim(s->spool, &s->use, clock_ns(CLOCK_REALTIME));
	agent_show_spool(s);
	agent_write_status(s);
}

static int begin_window(void *ctx)
{
	struct supervisor *s = ctx;
	int err;

	end_window(s);
	err = spool_begin(s->spool, clock_ns(CLOCK_REALTIME));
	if (err)
		tell(s, err);
	show_due(s);
	return 0;
}

/* The recorder writes an IDENT before it knows whether it can record at all, and then chunks. */
static void take_progress(struct supervisor *s)
{
	s->recorder.progress_ns = now_ns();
	if (s->is_ready)
		return;
	s->is_ready = true;
	s->next_line_ns = now_ns() + AGENT_LINE_NS;
	sd_notify_send(&s->notify, "READY=1\nSTATUS=recording");
	note("recording; windows of %.6g s go to %s", (double)s->config.window_ns / 1e9,
	     s->config.folder);
}

static int take_piece(void *ctx, const uint8_t *bytes, size_t len, const struct signpost *sp)
{
	struct supervisor *s = ctx;
	int err = spool_append(s->spool, bytes, len, sp && sp->contents & CHUNK_HAS_SAMPLES);

	if (sp)
		take_progress(s);
	if (err)
		tell(s, err);
	return 0;
}

static void take(struct supervisor *s, const uint8_t *bytes, size_t len)
{
	int err;

	s->cutter.begin = begin_window;
	s->cutter.piece = take_piece;
	s->cutter.ctx = s;
	if (s->is_discarding)
		return;
	err = window_cutter_feed(&s->cutter, bytes, len);
	if (!err)
		return;
	if (err == -EBADMSG)
		fail_why(err, "the recorder wrote what is no trace; another one is started");
	else
		fail(err, "take the trace of the recorder");
	agent_add(s->state, AGENT_DAMAGED, 1);
	s->is_discarding = true;
	if (s->recorder.pid)
		kill(s->recorder.pid, SIGTERM);
}

void agent_end_trace(struct supervisor *s)
{
	if (s->trace >= 0)
		close(s->trace);
	s->trace = -1;
	window_cutter_release(&s->cutter);
	s->cutter = (struct window_cutter){ .nr = 0 };
	end_window(s);
	agent_send_all(s);
}

void agent_take_trace(struct supervisor *s)
{
	uint8_t buf[READ_BYTES];

	for (int i = 0; i < READS && s->trace >= 0; i++) {
		ssize_t n = read(s->trace, buf, sizeof(buf));

		if (n > 0)
			take(s, buf, (size_t)n);
		else if (!n)
			agent_end_trace(s);
		else if (errno != EINTR)
			return;		/* nothing more has come */
	}
}
