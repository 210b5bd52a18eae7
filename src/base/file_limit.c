/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/file_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/process_limits.h"

#define FILES_SPARED 16
#define FILES_IN_MESSAGES (1u << 20)	/* the kernel's default for one process */

unsigned long file_limit_advice(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned long needed = process_limits_files(cpus > 0 ? (unsigned)cpus : 1, 1);
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur < needed / 2)
		return needed;
	return 2ul * lim.rlim_cur;
}

/* The lowest free number is given to each file, so the number says how many are open. */
int file_limit_keep(int fd)
{
	struct rlimit lim;

	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &lim) ||
	    (rlim_t)fd + FILES_SPARED + lim.rlim_cur / 32 < lim.rlim_cur)
		return fd;
	close(fd);
	return -1;
}

unsigned long file_limit_now(void)
{
	struct rlimit lim;

	return getrlimit(RLIMIT_NOFILE, &lim) ? 1024 : (unsigned long)lim.rlim_cur;
}

bool file_limit_is_near(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	struct rlimit lim;

	if (fd < 0)
		return errno == EMFILE;
	close(fd);
	return !getrlimit(RLIMIT_NOFILE, &lim) && (rlim_t)fd > lim.rlim_cur / 2;
}

/*
 * The kernel compares this limit with the number of files that all processes of the user have in
 * messages to each other, and helpers could pass us no file where others have many
 * (ETOOMANYREFS). How many files we hold is limited by shares (user_shares.h).
 */
static void raise_further(struct rlimit *lim)
{
	if (lim->rlim_max < FILES_IN_MESSAGES)
		lim->rlim_cur = lim->rlim_max = FILES_IN_MESSAGES;
	setrlimit(RLIMIT_NOFILE, lim);		/* root alone may; else it stays */
}

int file_limit_raise(unsigned long needed)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return 0;
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	if (lim.rlim_max >= needed) {
		raise_further(&lim);
		return 0;
	}
	return fail_why(-EMFILE,
			"open files: %lu may be open at a time, but %lu are needed here. "
			"Try: ulimit -n %lu",
			(unsigned long)lim.rlim_max, needed, needed);
}
