/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/child_forker.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fd_message.h"
#include "src/base/helper_deaths.h"
#include "src/base/helper_process.h"
#include "src/base/short_slice.h"
#include "src/base/task_state.h"

#define NAME "probee-forker"
#define SOCK 3				/* of the forker: helper_fork() */
#define LOOK_MS 20
#define SLEEP_LOOKS 25			/* 0.5 s without an answer that it sleeps */
#define MOST_LOOKS 500			/* 10 s in all: it only wants a CPU */

struct order {
	void (*child_main)(void);
	size_t nr_fds;
};

struct child_forker {
	struct helper_deaths *deaths;
	pthread_mutex_t lock;		/* of all that follows */
	pid_t pid;			/* 0: it is gone */
	int sock;
};

/* ---- in the forker ---- */

/* Descriptors that came with an order; none is left open if they are not as many as it says. */
static bool take_fds(struct fd_message *m, const struct order *o, int fds[HELPER_FDS])
{
	bool lost;
	size_t nr = fd_message_take(m, fds, HELPER_FDS, &lost);

	if (!lost && nr == o->nr_fds)
		return true;
	for (size_t i = 0; i < nr; i++)
		close(fds[i]);
	return false;
}

static bool take_order(struct order *o, int fds[HELPER_FDS])
{
	struct fd_message m;
	ssize_t n;

	fd_message_init(&m, o, sizeof(*o));
	n = fd_message_receive(SOCK, &m, 0);
	return n >= 0 && take_fds(&m, o, fds) && n == sizeof(*o);
}

/*
 * The C library's fork() cannot make a child of our parent. This process has one thread, so no lock
 * is held that the child would need.
 */
static pid_t clone_sibling(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void forker_main(void (*begin)(void), pid_t parent)
{
	struct order o;
	int fds[HELPER_FDS];

	prctl(PR_SET_NAME, NAME);
	/* Signals that the user sends to the whole process group are the parent's business. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	short_slice_begin(0, true);
	if (begin)
		begin();
	while (take_order(&o, fds)) {
		pid_t pid = clone_sibling();

		if (!pid) {
			helper_begin(parent, fds, o.nr_fds);
			o.child_main();
			_exit(1);
		}
		for (size_t i = 0; i < o.nr_fds; i++)
			close(fds[i]);
		pid = pid < 0 ? -errno : pid;
		if (send(SOCK, &pid, sizeof(pid), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* ---- in this process ---- */

int child_forker_new(void (*begin)(void), struct helper_deaths *deaths, struct child_forker **fp)
{
	struct child_forker *f = calloc(1, sizeof(*f));
	pid_t parent = getpid();
	int pair[2];

	if (!f)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		free(f);
		return -errno;
	}
	f->pid = helper_fork(&pair[1], 1);
	if (!f->pid)
		forker_main(begin, parent);
	close(pair[1]);
	if (f->pid < 0) {
		int err = f->pid;

		close(pair[0]);
		free(f);
		return err;
	}
	f->sock = pair[0];
	f->deaths = deaths;
	pthread_mutex_init(&f->lock, NULL);
	*fp = f;
	return 0;
}

static void end_forker(struct child_forker *f)
{
	if (f->sock >= 0)
		close(f->sock);
	f->sock = -1;
	helper_end(f->pid, false);
	f->pid = 0;
}

void child_forker_free(struct child_forker *f)
{
	if (!f)
		return;
	end_forker(f);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

static bool give_order(const struct child_forker *f, struct order *o, const int *fds)
{
	struct fd_message m;

	fd_message_init(&m, o, sizeof(*o));
	fd_message_attach(&m, fds, o->nr_fds);
	return fd_message_send(f->sock, &m, 0) >= 0;
}

/* -ETIMEDOUT: it sleeps, or was stopped. */
static int await_answer(const struct child_forker *f)
{
	struct pollfd pfd = { .fd = f->sock, .events = POLLIN };
	int asleep = 0, looks = 0;

	while (poll(&pfd, 1, LOOK_MS) <= 0) {
		asleep += !task_wants_cpu(f->pid, f->pid);
		if (asleep >= SLEEP_LOOKS || ++looks >= MOST_LOOKS)
			return -ETIMEDOUT;
	}
	return 0;
}

static void lose_forker(struct child_forker *f, bool is_silent)
{
	helper_deaths_add(f->deaths, NAME,
			  is_silent ? HELPER_END_SILENT : helper_end_status(&f->pid));
	end_forker(f);
}

/* 0: the forker is of no use any more. The lock is held. */
static pid_t ask_locked(struct child_forker *f, struct order *o, const int *fds)
{
	bool is_silent;
	pid_t pid;

	if (f->pid <= 0)
		return 0;
	is_silent = give_order(f, o, fds) && await_answer(f);
	if (!is_silent && recv(f->sock, &pid, sizeof(pid), MSG_DONTWAIT) == sizeof(pid))
		return pid;
	lose_forker(f, is_silent);
	return 0;
}

static pid_t ask(struct child_forker *f, struct order *o, const int *fds)
{
	pid_t pid;

	pthread_mutex_lock(&f->lock);
	pid = ask_locked(f, o, fds);
	pthread_mutex_unlock(&f->lock);
	return pid;
}

pid_t child_forker_fork(struct child_forker *f, void (*child_main)(void), const int *fds,
			size_t nr)
{
	struct order o = { child_main, nr };
	pid_t pid;

	assert(nr && nr <= HELPER_FDS);
	pid = f ? ask(f, &o, fds) : 0;
	if (pid)
		return pid;
	pid = helper_fork(fds, nr);
	if (!pid) {
		child_main();
		_exit(1);
	}
	return pid;
}

void child_forker_bury(struct child_forker *f, const char *name, pid_t *pid, int ended)
{
	helper_deaths_add(f ? f->deaths : NULL, name, ended ? ended : helper_end_status(pid));
}

void child_forker_look(struct child_forker *f)
{
	char byte;

	pthread_mutex_lock(&f->lock);
	if (f->pid > 0 && !recv(f->sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT))
		lose_forker(f, false);
	pthread_mutex_unlock(&f->lock);
}
