/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child process for work that may block for ever.
 *
 * The problem. probee reads memory and files of processes that it does not control. A page of such
 * memory may lie in a file whose FUSE or NFS server does not answer. No signal ends a thread that
 * waits for that page, and a process with such a thread is never reaped. If probee itself read the
 * page, it could not end any more.
 *
 * The idea. A forked child reads instead, and answers through a pipe or a socket. When it does not
 * answer in time, probee leaves it behind and forks another one for the next request. A child that
 * is left behind must disturb no other process, so:
 *
 *	it keeps only the descriptors it was given	a pipe from probee to a reader ends when
 *							probee ends, not when the child does
 *	it has /dev/null as descriptors 0, 1 and 2	it holds no terminal
 *	it asks for SIGKILL when its parent ends	it ends as soon as it can end at all
 *
 * Example: a child that is given a request pipe and an answer pipe.
 *
 *	pid = helper_fork((int[]){ requests[0], answers[1] }, 2)
 *	if (!pid)
 *		serve();	never returns; reads requests from 3, writes answers to 4
 *	...
 *	helper_end(pid, answer_is_overdue)
 *
 * Limits. probee has threads, and only the one that forks lives on in the child, where a lock that
 * another one held stays locked for ever. glibc takes the locks of malloc() and stdio before it
 * forks, so the child may use both. It may use nothing else that has a lock: no pthread functions,
 * no dlopen(), no mutex of ours. A child that hangs stays in the list of processes until the server
 * answers. The kernel sends SIGKILL when the thread ends that has forked (PR_SET_PDEATHSIG): that
 * is one that lives as long as probee, or the child takes the request back, and ends when its
 * socket does.
 *
 *	helper_fork(fds, nr)	0 in the child, where fds[i] has become i + 3; in the parent the
 *				child's pid, or -errno
 *	helper_end(pid, hangs)	kills the child, and waits up to 1 s for its end unless it hangs
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HELPER_FDS 4					/* the most that a child can be given */

pid_t helper_fork(const int *fds, size_t nr);		/* nr <= HELPER_FDS */
/* In a child of parent that was made in another way (child_forker.h). */
void helper_begin(pid_t parent, const int *fds, size_t nr);
void helper_end(pid_t pid, bool hangs);			/* pid <= 0: does nothing */
void helper_await(pid_t pid);				/* one that ends by itself: up to 1 s */
