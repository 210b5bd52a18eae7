/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/helpers/helper.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/helper_process.h"
#include "src/base/task_state.h"

#define SLOTS 32			/* helpers at a time */
#define MAX_LEFT 64			/* killed processes that have not ended, see helper.h */
#define FULL_NS (100 * NSEC_PER_MSEC)	/* one that can end does so within this time */
#define KEEPER_FD 3			/* helper_fork() gives the only descriptor this number */
#define STUCK_NS (1500 * NSEC_PER_MSEC)
#define KEEPER_WAIT_NS (5 * NSEC_PER_SEC)	/* it does nothing that takes long */

enum keeper_op { KEEPER_SPAWN, KEEPER_KILL, KEEPER_CPU };

struct keeper_order {
	uint32_t slot, kind;
};

struct helper_keeper {
	struct helper_keeper_options opts;
	pthread_mutex_t lock;		/* of all that follows */
	pid_t pid;
	int sock;			/* -1: the keeper is gone */
	bool slots[SLOTS];		/* in use */
	struct helper_stats stats;
};

struct helper {
	struct helper_keeper *keeper;
	uint32_t slot, kind;
	pthread_mutex_t lock;		/* held during a call */
	int sock;			/* -1: not started */
	pid_t pid;			/* 0: unknown */
};

/* The CPU time of a process; 0: it is gone. */
static uint64_t clock_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* ---- in a helper ---- */

/*
 * The descriptors of a request are closed before the answer: who hangs over one of them costs this
 * answer, and not that of the next request.
 */
static void helper_main(const struct helper_kind *kind)
{
	static const struct helper_wait for_ever;
	struct helper_message request, answer;
	void *state = NULL;

	prctl(PR_SET_NAME, kind->name);
	if (!kind->is_urgent)
		setpriority(PRIO_PROCESS, 0, 0);
	if (kind->begin && kind->begin(&state))
		_exit(1);
	while (!helper_receive(KEEPER_FD, &request, kind->max_request, &for_ever)) {
		int err;

		answer = (struct helper_message){ .op = request.op };
		kind->serve(state, &request, &answer);
		helper_message_close(&request);
		err = helper_send(KEEPER_FD, &answer, &for_ever);
		if (kind->done)
			kind->done(state, &answer);
		helper_message_release(&request);
		if (err)
			break;
	}
	_exit(0);
}

/* ---- in the keeper ---- */

struct kept {
	const struct helper_keeper_options *opts;
	pid_t pids[SLOTS];		/* 0: none */
	pid_t left[MAX_LEFT + SLOTS];	/* killed, and not ended yet */
	size_t nr_left;
	uint64_t full_ns;		/* since when there are too many of these; 0: not now */
};

/* A pid is killed only while it is not reaped, so it never is that of another process. */
static void reap(struct kept *k)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (size_t i = 0; i < SLOTS; i++)
			if (k->pids[i] == pid)
				k->pids[i] = 0;
		for (size_t i = 0; i < k->nr_left; i++)
			if (k->left[i] == pid)
				k->left[i--] = k->left[--k->nr_left];
	}
}

static void kill_slot(struct kept *k, uint32_t slot)
{
	reap(k);
	if (k->pids[slot] <= 0)
		return;
	kill(k->pids[slot], SIGKILL);
	k->left[k->nr_left++] = k->pids[slot];
	k->pids[slot] = 0;
}

/* The first time, waits for those that only want a CPU to end. */
static bool may_spawn(struct kept *k)
{
	size_t max = k->opts->max_left ? k->opts->max_left : MAX_LEFT;

	for (reap(k); k->nr_left >= max; reap(k)) {
		uint64_t now = now_ns();

		k->full_ns = k->full_ns ? k->full_ns : now;
		if (now - k->full_ns >= FULL_NS)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC }, NULL);
	}
	k->full_ns = 0;
	return true;
}

static void tell(void *v, size_t len)
{
	static const struct helper_wait for_ever;
	struct helper_message answer = { .part = { { v, len } } };

	helper_send(KEEPER_FD, &answer, &for_ever);
}

static uint64_t usage_ns(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void tell_cpu(struct kept *k)
{
	uint64_t ns;

	reap(k);
	ns = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN);
	for (size_t i = 0; i < SLOTS; i++)
		ns += k->pids[i] > 0 ? clock_of(k->pids[i]) : 0;
	for (size_t i = 0; i < k->nr_left; i++)
		ns += clock_of(k->left[i]);
	tell(&ns, sizeof(ns));
}

static void obey(struct kept *k, struct helper_message *m)
{
	const struct keeper_order *order = m->part[0].v;
	pid_t pid;

	if (m->part[0].len != sizeof(*order) || order->slot >= SLOTS ||
	    order->kind >= k->opts->nr_kinds)
		return;
	kill_slot(k, order->slot);
	if (m->op != KEEPER_SPAWN || m->nr_fds != 1)
		return;
	pid = may_spawn(k) ? helper_fork(m->fds, 1) : -EBUSY;
	if (!pid)
		helper_main(k->opts->kinds[order->kind]);
	k->pids[order->slot] = pid > 0 ? pid : 0;
	tell(&pid, sizeof(pid));
}

static void keeper_main(const struct helper_keeper_options *opts)
{
	static const struct helper_wait for_ever;
	struct kept k = { .opts = opts };
	struct helper_message m;

	prctl(PR_SET_PDEATHSIG, 0);	/* the thread that has forked us may end */
	prctl(PR_SET_NAME, "probee-keeper");
	setpriority(PRIO_PROCESS, 0, opts->nice);
	if (opts->begin)
		opts->begin();
	/*
	 * Signals that the user sends to the whole process group end the recording in order: the
	 * recorder ends its helpers.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (!helper_receive(KEEPER_FD, &m, sizeof(struct keeper_order), &for_ever)) {
		if (m.op == KEEPER_CPU)
			tell_cpu(&k);
		else
			obey(&k, &m);
		helper_message_release(&m);
	}
	for (uint32_t i = 0; i < SLOTS; i++)
		kill_slot(&k, i);
	_exit(0);
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

static void stop_keeper(struct helper_keeper *k)
{
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
	stop_keeper(k);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

/* What the keeper answers, of len bytes. The lock is held. */
static int hear(struct helper_keeper *k, void *v, size_t len, const struct helper_wait *wait)
{
	struct helper_message answer;
	int err = helper_receive_bytes(k->sock, &answer, len, wait);

	if (err)
		return err;
	err = answer.part[0].len == len ? 0 : -EPROTO;
	if (!err)
		memcpy(v, answer.part[0].v, len);
	else
		stop_keeper(k);
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

	if (!err || op == KEEPER_KILL)
		return err;
	stop_keeper(k);
	err = start_keeper(k);
	return err ? err : helper_send(k->sock, &m, &wait);
}

static int order(struct helper_keeper *k, enum keeper_op op, struct helper *h, int fd)
{
	struct helper_wait wait = { .until_ns = now_ns() + KEEPER_WAIT_NS };
	int err;

	pthread_mutex_lock(&k->lock);
	err = order_locked(k, op, h, fd);
	h->pid = 0;
	if (!err && op == KEEPER_SPAWN) {
		err = hear(k, &h->pid, sizeof(h->pid), &wait);
		/* A late answer would be taken for that to the next order. */
		if (err)
			stop_keeper(k);
		else if (h->pid < 0)
			err = h->pid;
	}
	if (err)
		h->pid = 0;
	pthread_mutex_unlock(&k->lock);
	return err;
}

static int take_slot(struct helper_keeper *k, uint32_t *slot)
{
	int err = -ENOSPC;

	pthread_mutex_lock(&k->lock);
	for (uint32_t i = 0; i < SLOTS && err; i++) {
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

void helper_free(struct helper *h)
{
	if (!h)
		return;
	leave(h);
	pthread_mutex_lock(&h->keeper->lock);
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

/* What a helper that is asked has done so far. */
struct look {
	pid_t pid;
	uint64_t cpu_ns, since_ns;	/* its CPU time, which is the same since then */
};

static bool is_stuck(void *ctx)
{
	struct look *l = ctx;
	uint64_t now = now_ns(), cpu = clock_of(l->pid);

	if (!l->since_ns || cpu != l->cpu_ns)
		*l = (struct look){ l->pid, cpu, now };
	return now - l->since_ns >= STUCK_NS && !task_wants_cpu(l->pid, l->pid);
}

static int ask(struct helper *h, const struct helper_message *request, size_t max,
	       const struct helper_wait *wait, struct helper_message *answer)
{
	const struct helper_kind *kind = h->keeper->opts.kinds[h->kind];
	int err = wait->unwanted && atomic_load(wait->unwanted) ? -ECANCELED : 0;
	struct look look = { 0 };
	struct helper_wait watched = *wait;

	if (!err && h->sock < 0)
		err = start(h);
	look.pid = h->pid;
	if (h->pid > 0 && !kind->may_sleep) {
		watched.is_stuck = is_stuck;
		watched.ctx = &look;
	}
	if (!err)
		err = helper_send(h->sock, request, &watched);
	if (err)
		return err;
	return kind->gives_fds ? helper_receive(h->sock, answer, max, &watched)
			       : helper_receive_bytes(h->sock, answer, max, &watched);
}

/* true: nothing is wrong with the request: the helper had ended since the last call. */
static bool had_ended(const struct helper *h)
{
	char byte;

	return h->sock >= 0 && !recv(h->sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

/* true: the next call is to ask another one, before this one is killed for its CPU time. */
static bool is_used_up(const struct helper *h)
{
	uint64_t limit = h->keeper->opts.kinds[h->kind]->fresh_after_ns;

	return limit && h->pid > 0 && clock_of(h->pid) >= limit;
}

static void count(struct helper_keeper *k, int err)
{
	pthread_mutex_lock(&k->lock);
	k->stats.calls++;
	k->stats.stalled += err == -ETIMEDOUT;
	k->stats.refused += err == -EBUSY;
	k->stats.died += err && err != -ETIMEDOUT && err != -ECANCELED && err != -EBUSY;
	pthread_mutex_unlock(&k->lock);
}

int helper_call(struct helper *h, const struct helper_message *request, size_t max,
		const struct helper_wait *wait, struct helper_message *answer)
{
	int err;

	memset(answer, 0, sizeof(*answer));
	pthread_mutex_lock(&h->lock);
	if (had_ended(h))
		leave(h);
	err = ask(h, request, max, wait, answer);
	if (err || is_used_up(h))
		leave(h);
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
	if (k->sock < 0 || helper_send(k->sock, &ask, &wait) || hear(k, &ns, sizeof(ns), &wait)) {
		stop_keeper(k);
		ns = 0;
	}
	pthread_mutex_unlock(&k->lock);
	return ns;
}

void helper_keeper_stats(struct helper_keeper *k, struct helper_stats *out)
{
	pthread_mutex_lock(&k->lock);
	*out = k->stats;
	pthread_mutex_unlock(&k->lock);
}
