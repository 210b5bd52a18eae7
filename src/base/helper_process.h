/*
 * A child for what may block for ever: no signal ends a process that waits for a page or a file
 * whose server does not answer, and one that has such a thread is never reaped. A child can be left
 * behind. It holds nothing but the file descriptors it was given, so whoever reads our output sees
 * its end; it dies with us if it can; and as we have threads it makes only system calls until
 * _exit().
 *
 *	pid = helper_fork(fds, nr)	0 in the child, where fds[i] is i + 3 now; or -errno
 *	helper_end(pid, hangs)		kills it, and waits for its end unless it hangs
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HELPER_FDS 4

pid_t helper_fork(const int *fds, size_t nr);		/* nr <= HELPER_FDS */
void helper_end(pid_t pid, bool hangs);			/* pid <= 0 is fine */
