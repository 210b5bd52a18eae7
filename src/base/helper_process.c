/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/close_fds.h"

#define FIRST_FD 3
#define REAP_MS 1000

/*
 * Moves fds[i] to i + 3 and closes all others. One of fds may already have the number that another
 * is to get, so each is first copied to a number above all of those.
 */
static bool keep_only(const int *fds, size_t nr)
{
	int high[HELPER_FDS], null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < FIRST_FD && null >= 0; fd++)
		dup2(null, fd);
	if (null >= FIRST_FD)
		close(null);	/* a low limit of descriptors leaves few numbers */
	for (size_t i = 0; i < nr; i++) {
		high[i] = fcntl(fds[i], F_DUPFD, FIRST_FD + (int)nr);
		if (high[i] < 0)
			return false;
	}
	for (size_t i = 0; i < nr; i++)
		if (dup2(high[i], FIRST_FD + (int)i) < 0)
			return false;
	return close_fds(FIRST_FD + (unsigned)nr, UINT_MAX);
}

void helper_begin(pid_t parent, const int *fds, size_t nr)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !keep_only(fds, nr))
		_exit(1);
}

pid_t helper_fork(const int *fds, size_t nr)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid < 0 ? -errno : pid;
	helper_begin(parent, fds, nr);
	return 0;
}

void helper_await(pid_t pid)
{
	for (int ms = 0; pid > 0 && ms < REAP_MS && !waitpid(pid, NULL, WNOHANG); ms++)
		nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC }, NULL);
}

void helper_end(pid_t pid, bool hangs)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	if (!hangs)
		helper_await(pid);
}
