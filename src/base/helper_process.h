/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child process for work that may block for ever. No signal ends a process that waits for a page
 * or a file whose server does not answer, and a process with such a thread is never reaped; a child
 * can be left behind.
 *
 * It holds nothing but the file descriptors it was given, so that a reader of our output sees its
 * end when we end. It dies with us if it can. As we have threads, it makes only system calls until
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
