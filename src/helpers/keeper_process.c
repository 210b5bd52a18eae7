/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/helpers/keeper_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/helper_deaths.h"
#include "src/base/helper_process.h"
#include "src/base/short_slice.h"

#define MAX_LEFT 64			/* killed processes that have not ended, see helper.h */
#define FULL_NS (100 * NSEC_PER_MSEC)	/* one that can end does so within this time */
#define END_NS (200 * NSEC_PER_MSEC)	/* from the end of its socket to that of a helper */
#define MAX_REST_MS (600 * 1000)
#define KEEPER_FD 3			/* helper_fork() gives the only descriptor this number */

/* ---- in a helper ---- */

static int refuse(uint32_t op, int why)
{
	static const struct helper_wait for_ever;
	const struct helper_message answer = { .op = op, .status = why };

	return helper_send(KEEPER_FD, &answer, &for_ever);
}

/* Until the next request is there, or the socket is closed. */
static void rest(const struct helper_kind *kind, void *state)
{
	struct pollfd pfd = { .fd = KEEPER_FD, .events = POLLIN };
	uint64_t now = now_ns(), until;
	int n = 0;

	while (!n && (until = kind->rest(state, now))) {
		uint64_t ms = until > now ? (until - now) / NSEC_PER_MSEC + 1 : 1;

		n = poll(&pfd, 1, ms < MAX_REST_MS ? (int)ms : MAX_REST_MS);
		now = now_ns();
	}
}

/*
 * The descriptors of a request are closed before the answer: who hangs over one of them costs this
 * answer, and not that of the next request.
 */
static void helper_main(const struct helper_kind *kind)
{
	static const struct helper_wait for_ever;
	struct helper_message request, answer;
	void *state = NULL;
	int err;

	prctl(PR_SET_NAME, kind->name);
	if (!kind->is_urgent)
		setpriority(PRIO_PROCESS, 0, 0);
	err = kind->begin ? kind->begin(&state) : 0;
	if (err)
		_exit(helper_exit_status(err));
	while (!helper_receive(KEEPER_FD, &request, kind->max_request, &for_ever)) {
		answer = (struct helper_message){ .op = request.op };
		kind->serve(state, &request, &answer);
		helper_message_close(&request);
		err = helper_send(KEEPER_FD, &answer, &for_ever);
		/* Nothing was sent: this user's processes have too many files in messages. */
		if (err == -ETOOMANYREFS)
			err = refuse(request.op, err);
		if (kind->done)
			kind->done(state, &answer);
		helper_message_release(&request);
		if (err)
			break;
		if (kind->rest)
			rest(kind, state);
	}
	_exit(0);
}

/* ---- in the keeper ---- */

struct kept {
	const struct helper_keeper_options *opts;
	pid_t pids[KEEPER_SLOTS];	/* 0: none */
	int ends[KEEPER_SLOTS];		/* wait status of the last one that ended unasked */
	pid_t left[MAX_LEFT + KEEPER_SLOTS];	/* killed, and not ended yet */
	size_t nr_left;
	uint64_t full_ns;		/* since when there are too many of these; 0: not now */
};

/* A pid is killed only while it is not reaped, so it never is that of another process. */
static void reap(struct kept *k)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (size_t i = 0; i < KEEPER_SLOTS; i++) {
			if (k->pids[i] != pid)
				continue;
			k->pids[i] = 0;
			k->ends[i] = status;
		}
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

/* What ended the helper of a slot; its socket may be closed somewhat earlier than it ends. */
static void tell_end(struct kept *k, uint32_t slot)
{
	uint64_t until = now_ns() + END_NS;

	for (reap(k); k->pids[slot] > 0 && now_ns() < until; reap(k))
		nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC }, NULL);
	kill_slot(k, slot);
	tell(&k->ends[slot], sizeof(k->ends[slot]));
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
	for (size_t i = 0; i < KEEPER_SLOTS; i++)
		ns += k->pids[i] > 0 ? process_cpu_ns(k->pids[i]) : 0;
	for (size_t i = 0; i < k->nr_left; i++)
		ns += process_cpu_ns(k->left[i]);
	tell(&ns, sizeof(ns));
}

static void obey(struct kept *k, struct helper_message *m)
{
	const struct keeper_order *order = m->part[0].v;
	pid_t pid;

	if (m->part[0].len != sizeof(*order) || order->slot >= KEEPER_SLOTS ||
	    order->kind >= k->opts->nr_kinds)
		return;
	if (m->op == KEEPER_BURY) {
		tell_end(k, order->slot);
		return;
	}
	kill_slot(k, order->slot);
	k->ends[order->slot] = HELPER_END_UNKNOWN;
	if (m->op != KEEPER_SPAWN || m->nr_fds != 1)
		return;
	pid = may_spawn(k) ? helper_fork(m->fds, 1) : -EBUSY;
	if (!pid)
		helper_main(k->opts->kinds[order->kind]);
	k->pids[order->slot] = pid > 0 ? pid : 0;
	tell(&pid, sizeof(pid));
}

void keeper_main(const struct helper_keeper_options *opts)
{
	static const struct helper_wait for_ever;
	struct kept k = { .opts = opts };
	struct helper_message m;

	for (size_t i = 0; i < KEEPER_SLOTS; i++)
		k.ends[i] = HELPER_END_UNKNOWN;
	prctl(PR_SET_PDEATHSIG, 0);	/* the thread that has forked us may end */
	prctl(PR_SET_NAME, KEEPER_NAME);
	setpriority(PRIO_PROCESS, 0, opts->nice);
	short_slice_begin(0, true);
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
	for (uint32_t i = 0; i < KEEPER_SLOTS; i++)
		kill_slot(&k, i);
	_exit(0);
}
