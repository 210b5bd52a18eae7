/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"

#define FIRST_FD 3
#define REAP_MS 1000
#define LEAST_FORGOTTEN (256u << 10)	/* bytes */

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
	return !syscall(SYS_close_range, FIRST_FD + (unsigned)nr, ~0u, 0u);
}

pid_t helper_fork(const int *fds, size_t nr)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid < 0 ? -errno : pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !keep_only(fds, nr))
		_exit(1);
	return 0;
}

#ifndef __SANITIZE_ADDRESS__
/* The number in hexadecimal digits at *p, which moves behind it and the character after it. */
static uintptr_t take_number(const char **p)
{
	uintptr_t v = 0;

	for (; **p && **p != ' ' && **p != '-'; ++*p)
		v = v << 4 | (uintptr_t)(**p <= '9' ? **p - '0' : **p - 'a' + 10);
	*p += **p != 0;
	return v;
}

/*
 * Whether a line of /proc/self/maps is memory that malloc() has: "[heap]", or a mapping without a
 * name that is larger than what the C library keeps for itself.
 */
static bool is_allocated(const char *line, uintptr_t bytes)
{
	const char *name = strrchr(line, ' ');

	if (!name || strncmp(line, "rw-p 00000000 00:00 0", 21))
		return false;
	return !strcmp(name, " [heap]") || (strcmp(name, " 0") == 0 && bytes >= LEAST_FORGOTTEN) ||
	       (!name[1] && bytes >= LEAST_FORGOTTEN);
}

/* Looks at a line of /proc/self/maps: addresses, rights, offset, device, inode, name. */
static void forget_line(const char *line)
{
	uintptr_t here = (uintptr_t)&line, thread = (uintptr_t)__builtin_thread_pointer();
	uintptr_t begin = take_number(&line), end = take_number(&line);

	if (!is_allocated(line, end - begin) || (here >= begin && here < end) ||
	    (thread >= begin && thread < end))
		return;
	madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* Uses memory on its stack alone. */
void helper_forget_memory(void)
{
	char buf[4096];
	size_t have = 0;
	ssize_t n;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && (n = read(fd, buf + have, sizeof(buf) - 1 - have)) > 0) {
		char *line = buf, *nl;

		have += (size_t)n;
		buf[have] = 0;
		for (; (nl = strchr(line, '\n')); line = nl + 1) {
			*nl = 0;
			forget_line(line);
		}
		have -= (size_t)(line - buf);
		if (have == sizeof(buf) - 1)
			break;
		memmove(buf, line, have);
	}
	if (fd >= 0)
		close(fd);
}
#else
/* AddressSanitizer needs its own memory to the end. */
void helper_forget_memory(void)
{
}
#endif

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
