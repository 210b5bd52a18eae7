/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/helpers/helper.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/helper_deaths.h"
#include "src/base/helper_process.h"
#include "src/base/task_state.h"
#include "src/helpers/keeper_process.h"

#define STUCK_NS (1500 * NSEC_PER_MSEC)
#define MOST_BETWEEN_NS (100 * NSEC_PER_MSEC)	/* two looks: helper_message.c */
#define MOST_AGAIN 3			/* times that a request is made again */
#define AGAIN_NS (10 * NSEC_PER_MSEC)	/* between the first two of them; then twice as long */
#define MOST_BEGINS 8			/* in a row that may fail */
#define KEEPER_WAIT_NS (1500 * NSEC_PER_MSEC)	/* nothing it does takes long */
/* By the clock, with or without a CPU. */
#define MOST_NS(ns) (4 * (ns) + 2 * NSEC_PER_SEC)

struct helper_keeper {
	struct helper_keeper_options opts;
	pthread_mutex_t lock;		/* of all that follows */
	pid_t pid;
	int sock;			/* -1: the keeper is gone */
	bool slots[KEEPER_SLOTS];	/* in use */
	struct helper_stats stats;
};

struct helper {
	struct helper_keeper *keeper;
	uint32_t slot, kind;
	pthread_mutex_t lock;		/* held during a call */
	int sock;			/* -1: not started */
	pid_t pid;			/* 0: unknown */
	bool cannot_begin;		/* here, and another one could not either */
	unsigned nr_cannot;		/* in a row that could not begin */
};

/* ---- how long a process has taken ---- */

/*
 * What a process that is asked has done so far. Time in which it wanted a CPU and got none is not
 * its own. Nor is most of the time since a look that was long ago: this process itself got no CPU
 * then, or was stopped.
 */
struct look {
	pid_t pid;			/* 0: unknown, so that all time counts */
	bool may_sleep;
	uint64_t limit_ns;		/* that it may take; 0: unlimited */
	uint64_t looked_ns, spent_ns;	/* the last time, and what it had taken by then */
	uint64_t cpu_ns, idle_ns;	/* its CPU time, and the sleep since that was less */
	uint64_t first_cpu_ns;		/* its CPU time as it was asked */
};

/* How much CPU time it has taken since the last look. */
static uint64_t take_cpu(struct look *l)
{
	uint64_t cpu = process_cpu_ns(l->pid), ran = cpu > l->cpu_ns ? cpu - l->cpu_ns : 0;

	l->cpu_ns += ran;
	l->spent_ns += ran;
	if (ran)
		l->idle_ns = 0;
	return ran;
}

static bool is_stuck(void *ctx)
{
	struct look *l = ctx;
	uint64_t now = now_ns(), passed = now - l->looked_ns, ran = take_cpu(l);
	uint64_t slept = passed > MOST_BETWEEN_NS ? MOST_BETWEEN_NS : passed;

	l->looked_ns = now;
	if (!task_wants_cpu(l->pid, l->pid) && slept > ran) {
		l->spent_ns += slept - ran;
		l->idle_ns += slept - ran;
	}
	if (l->limit_ns && l->spent_ns >= l->limit_ns)
		return true;
	return !l->may_sleep && l->idle_ns >= STUCK_NS;
}

/* Has w judge pid by what it does, and no later than until_ns by the clock. */
static void watch(struct helper_wait *w, struct look *l, pid_t pid, uint64_t limit_ns)
{
	uint64_t now = now_ns();

	*l = (struct look){ .pid = pid, .limit_ns = limit_ns, .may_sleep = l->may_sleep,
			    .looked_ns = now, .cpu_ns = process_cpu_ns(pid) };
	l->first_cpu_ns = l->cpu_ns;
	w->is_stuck = is_stuck;
	w->ctx = l;
	if (limit_ns)
		w->until_ns = now + MOST_NS(limit_ns);
}

/* ---- in probee ---- */

static int start_keeper(struct helper_keeper *k)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	k->pid = helper_fork(&pair[1], 1);
	if (!k->pid)
		keeper_main(&k->opts);
	close(pair[1]);
	if (k->pid < 0) {
		close(pair[0]);
		return (int)k->pid;
	}
	k->sock = pair[0];
	return 0;
}

/* err: why it is of no use any more; 0: it is not needed. Its helpers end with it. */
static void stop_keeper(struct helper_keeper *k, int err)
{
	bool was_there = k->sock >= 0 && k->pid > 0;

	if (was_there && err == -ETIMEDOUT)
		helper_deaths_add(k->opts.deaths, KEEPER_NAME, HELPER_END_SILENT);
	else if (was_there && err)
		helper_deaths_add(k->opts.deaths, KEEPER_NAME, helper_end_status(&k->pid));
	if (k->sock >= 0)
		close(k->sock);
	k->sock = -1;
	if (k->opts.no_signals)
		helper_await(k->pid);
	else
		helper_end(k->pid, false);
	k->pid = 0;
}

int helper_keeper_new(const struct helper_keeper_options *opts, struct helper_keeper **kp)
{
	struct helper_keeper *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	k->opts = *opts;
	pthread_mutex_init(&k->lock, NULL);
	err = start_keeper(k);
	if (err)
		free(k);
	else
		*kp = k;
	return err;
}

void helper_keeper_free(struct helper_keeper *k)
{
	if (!k)
		return;
	/* The keeper kills its helpers and exits when it sees the end of its socket. */
	stop_keeper(k, 0);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

/*
 * What the keeper answers, of len bytes. The lock is held. After an error there is no keeper: a
 * late answer would be taken for that to the next order.
 */
static int hear(struct helper_keeper *k, void *v, size_t len)
{
	struct helper_wait wait = { 0 };
	struct look look = { 0 };
	struct helper_message answer;
	int err;

	watch(&wait, &look, k->pid, KEEPER_WAIT_NS);
	err = helper_receive_bytes(k->sock, &answer, len, &wait);
	if (!err && answer.part[0].len != len)
		err = -EPROTO;
	if (!err)
		memcpy(v, answer.part[0].v, len);
	else
		stop_keeper(k, err);
	helper_message_release(&answer);
	return err;
}

/* Sends an order; a keeper that is gone is started anew, once. The lock is held. */
static int order_locked(struct helper_keeper *k, enum keeper_op op, const struct helper *h, int fd)
{
	struct keeper_order order = { h->slot, h->kind };
	struct helper_message m = {
		.op = op, .part = { { &order, sizeof(order) } }, .fds = { fd }, .nr_fds = fd >= 0,
	};
	struct helper_wait wait = { .until_ns = now_ns() + KEEPER_WAIT_NS };
	int err = k->sock >= 0 ? helper_send(k->sock, &m, &wait) : -EPIPE;

	if (!err || op == KEEPER_KILL || op == KEEPER_BURY)
		return err;
	stop_keeper(k, err);
	err = start_keeper(k);
	return err ? err : helper_send(k->sock, &m, &wait);
}

static int order(struct helper_keeper *k, enum keeper_op op, struct helper *h, int fd)
{
	int err;

	pthread_mutex_lock(&k->lock);
	err = order_locked(k, op, h, fd);
	h->pid = 0;
	if (!err && op == KEEPER_SPAWN)
		err = hear(k, &h->pid, sizeof(h->pid));
	if (!err && h->pid < 0)
		err = h->pid;
	if (err)
		h->pid = 0;
	pthread_mutex_unlock(&k->lock);
	return err;
}

static int take_slot(struct helper_keeper *k, uint32_t *slot)
{
	int err = -ENOSPC;

	pthread_mutex_lock(&k->lock);
	for (uint32_t i = 0; i < KEEPER_SLOTS && err; i++) {
		if (k->slots[i])
			continue;
		k->slots[i] = true;
		*slot = i;
		err = 0;
	}
	pthread_mutex_unlock(&k->lock);
	return err;
}

int helper_new(struct helper_keeper *k, const struct helper_kind *kind, struct helper **hp)
{
	struct helper *h = calloc(1, sizeof(*h));
	int err = h ? take_slot(k, &h->slot) : -ENOMEM;

	if (err) {
		free(h);
		return err;
	}
	h->keeper = k;
	h->sock = -1;
	while (h->kind < k->opts.nr_kinds && k->opts.kinds[h->kind] != kind)
		h->kind++;
	assert(h->kind < k->opts.nr_kinds);
	pthread_mutex_init(&h->lock, NULL);
	*hp = h;
	return 0;
}

/* Leaves the process behind: it is killed, and nobody waits for its end. */
static void leave(struct helper *h)
{
	if (h->sock < 0)
		return;
	close(h->sock);
	h->sock = -1;
	order(h->keeper, KEEPER_KILL, h, -1);
}

static const struct helper_kind *kind_of(const struct helper *h)
{
	assert(h->kind < h->keeper->opts.nr_kinds);
	return h->keeper->opts.kinds[h->kind];
}

/*
 * What a filter or a kernel without a layer refuses will be refused again. What a busy machine is
 * short of will be there later, but not for ever.
 */
static bool is_lasting(const struct helper *h, int begin_err)
{
	static const int short_of[] = { ENOMEM, EAGAIN, EMFILE, ENFILE, ENOSPC, EBUSY, EINTR };

	for (size_t i = 0; i < sizeof(short_of) / sizeof(short_of[0]); i++)
		if (begin_err == -short_of[i])
			return h->nr_cannot >= MOST_BEGINS;
	return begin_err;
}

/*
 * Whether what it was asked is not at fault: it could not begin, or somebody else has ended it, who
 * may be a kernel without memory.
 */
static bool was_killed(int status)
{
	static const int signals[] = { SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT };

	if (status == HELPER_END_UNKNOWN || helper_begin_error(status))
		return true;	/* it ended with its keeper, or at once */
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == signals[i])
			return true;
	return false;
}

/* It has ended although nobody wanted it to. -EPIPE; -EOWNERDEAD: it was killed. */
static int bury(struct helper *h)
{
	struct helper_keeper *k = h->keeper;
	int status = HELPER_END_UNKNOWN;

	close(h->sock);
	h->sock = -1;
	pthread_mutex_lock(&k->lock);
	h->pid = 0;
	if (order_locked(k, KEEPER_BURY, h, -1) || hear(k, &status, sizeof(status)))
		status = HELPER_END_UNKNOWN;
	pthread_mutex_unlock(&k->lock);
	h->nr_cannot = helper_begin_error(status) ? h->nr_cannot + 1 : 0;
	h->cannot_begin = is_lasting(h, helper_begin_error(status));
	helper_deaths_add(k->opts.deaths, kind_of(h)->name, status);
	return was_killed(status) ? -EOWNERDEAD : -EPIPE;
}

/* true: nothing is wrong with the request: the helper had ended since the last call. */
static bool had_ended(const struct helper *h)
{
	char byte;

	return h->sock >= 0 && !recv(h->sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

void helper_free(struct helper *h)
{
	if (!h)
		return;
	if (had_ended(h))
		bury(h);
	leave(h);
	pthread_mutex_lock(&h->keeper->lock);
	assert(h->slot < KEEPER_SLOTS && h->keeper->slots[h->slot]);
	h->keeper->slots[h->slot] = false;
	pthread_mutex_unlock(&h->keeper->lock);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

void helper_restart(struct helper *h)
{
	pthread_mutex_lock(&h->lock);
	leave(h);
	pthread_mutex_unlock(&h->lock);
}

static int start(struct helper *h)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	err = order(h->keeper, KEEPER_SPAWN, h, pair[1]);
	close(pair[1]);
	if (err)
		close(pair[0]);
	else
		h->sock = pair[0];
	return err;
}

/* The time that wait leaves; 0: unlimited. */
static uint64_t time_left(const struct helper_wait *wait, uint64_t now)
{
	return !wait->until_ns ? 0 : wait->until_ns > now ? wait->until_ns - now : 1;
}

static int ask(struct helper *h, const struct helper_message *request, size_t max,
	       const struct helper_wait *wait, struct helper_message *answer)
{
	const struct helper_kind *kind = h->keeper->opts.kinds[h->kind];
	uint64_t limit_ns = time_left(wait, now_ns());
	int err = wait->unwanted && atomic_load(wait->unwanted) ? -ECANCELED : 0;
	struct look look = { .may_sleep = kind->may_sleep };
	struct helper_wait watched = *wait;

	if (!err && h->cannot_begin)
		err = -ENOTRECOVERABLE;
	if (!err && h->sock < 0)
		err = start(h);
	if (err)
		return err;
	watch(&watched, &look, h->pid, limit_ns);
	err = helper_send(h->sock, request, &watched);
	if (!err)
		err = kind->gives_fds ? helper_receive(h->sock, answer, max, &watched)
				      : helper_receive_bytes(h->sock, answer, max, &watched);
	take_cpu(&look);
	if (wait->spent_ns)
		*wait->spent_ns = look.spent_ns;
	if (wait->cpu_ns)
		*wait->cpu_ns = look.cpu_ns - look.first_cpu_ns;
	return err;
}

/* true: the next call is to ask another one, before this one is killed for its CPU time. */
static bool is_used_up(const struct helper *h)
{
	uint64_t limit = h->keeper->opts.kinds[h->kind]->fresh_after_ns;

	return limit && h->pid > 0 && process_cpu_ns(h->pid) >= limit;
}

static void count(struct helper_keeper *k, int err)
{
	bool is_refused = err == -EBUSY || err == -ENOTRECOVERABLE;

	pthread_mutex_lock(&k->lock);
	k->stats.calls++;
	k->stats.stalled += err == -ETIMEDOUT;
	k->stats.refused += is_refused;
	k->stats.died += err && err != -ETOOMANYREFS && err != -ETIMEDOUT && err != -ECANCELED &&
			 !is_refused;
	pthread_mutex_unlock(&k->lock);
}

static bool is_stopped(const struct helper *h)
{
	char state = h->pid > 0 ? task_state(h->pid, h->pid) : '?';

	return state == 'T' || state == 't';
}

/* After a call that ended with err: a helper that is of no use any more is let go. */
static int look_behind(struct helper *h, int err)
{
	if (err == -ETOOMANYREFS)
		return err;		/* it was not asked */
	if (err == -EPIPE && h->sock >= 0) {
		err = bury(h);
		return h->cannot_begin ? -ENOTRECOVERABLE : err;
	} else if (err == -ETIMEDOUT && is_stopped(h)) {
		helper_deaths_add(h->keeper->opts.deaths, kind_of(h)->name, HELPER_END_STOPPED);
		leave(h);
		return -EOWNERDEAD;	/* it says nothing about what was asked */
	} else if (err || is_used_up(h)) {
		leave(h);
	}
	return err;
}

static bool is_over(const struct helper_wait *wait)
{
	return (wait->unwanted && atomic_load(wait->unwanted)) ||
	       (wait->until_ns && wait->until_ns <= now_ns());
}

/*
 * Waits a moment before a request is made again, because who has killed its helper may kill more of
 * them. false: it is not to be made again.
 */
static bool may_ask_again(struct helper *h, unsigned nr_again, const struct helper_wait *wait)
{
	uint64_t ns = nr_again ? AGAIN_NS << (nr_again - 1) : 0;

	if (nr_again >= MOST_AGAIN || is_over(wait))
		return false;
	nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
	pthread_mutex_lock(&h->keeper->lock);
	h->keeper->stats.again++;
	pthread_mutex_unlock(&h->keeper->lock);
	return true;
}

int helper_call(struct helper *h, const struct helper_message *request, size_t max,
		const struct helper_wait *wait, struct helper_message *answer)
{
	unsigned nr_again = 0;
	int err;

	pthread_mutex_lock(&h->lock);
	if (had_ended(h))
		bury(h);
	do {
		memset(answer, 0, sizeof(*answer));
		err = ask(h, request, max, wait, answer);
		err = look_behind(h, err);
	} while (err == -EOWNERDEAD && may_ask_again(h, nr_again++, wait));
	pthread_mutex_unlock(&h->lock);
	count(h->keeper, err);
	return err;
}

uint64_t helper_keeper_cpu_ns(struct helper_keeper *k)
{
	struct helper_wait wait = { .until_ns = now_ns() + KEEPER_WAIT_NS };
	struct helper_message ask = { .op = KEEPER_CPU };
	uint64_t ns = 0;

	pthread_mutex_lock(&k->lock);
	if (k->sock < 0 || helper_send(k->sock, &ask, &wait) || hear(k, &ns, sizeof(ns)))
		ns = 0;
	pthread_mutex_unlock(&k->lock);
	return ns;
}

void helper_keeper_stats(struct helper_keeper *k, struct helper_stats *out)
{
	pthread_mutex_lock(&k->lock);
	*out = k->stats;
	pthread_mutex_unlock(&k->lock);
}
