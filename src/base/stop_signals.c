/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/stop_signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "src/base/fail.h"

#define SAME_STOP_MS 100

static void stop_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

int stop_signals_open(struct stop_signals *s)
{
	sigset_t set;

	stop_set(&set);
	sigaddset(&set, SIGCHLD);
	s->stopped = false;
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? fail(-errno, "wait for signals") : 0;
}

static bool stop_was_sent(int fd)
{
	struct signalfd_siginfo info;
	bool was = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info))
		was |= info.ssi_signo != SIGCHLD;
	return was;
}

void stop_signals_read(struct stop_signals *s)
{
	sigset_t set;

	if (!stop_was_sent(s->fd) || s->stopped)
		return;
	s->stopped = true;
	/*
	 * timeout(1) sends its signal to the process and then to its group. Both together are one
	 * request to stop; without this pause the second would end the program at once.
	 */
	poll(NULL, 0, SAME_STOP_MS);
	stop_was_sent(s->fd);
	stop_set(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void stop_signals_close(struct stop_signals *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void stop_signals_default(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}
