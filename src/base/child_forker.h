/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forks children of this process in another one, which is small.
 *
 * The problem. A child that is forked shares all memory that its parent has at that moment, and
 * keeps its own copy of whatever the parent changes later. The readers of tasks and of memory
 * (task_reader.h, memory_reader.h) need none of it, and are forked when the recorder has tens of
 * MiB. They cannot give it back: which of it is the allocator's is known to the allocator alone,
 * and any library may be in use before the first line of main() (LD_PRELOAD, LD_AUDIT).
 *
 * The idea. A process is forked first of all, while there are few threads and little memory. It
 * forks the children, with CLONE_PARENT: they are not its children, but those of the process that
 * asks, which waits for them, and with whose end they end.
 *
 *	probee --- main function, descriptors ---> probee-forker
 *	   |  <-------------- pid ----------------
 *	   +--- child that runs this function: its memory is that of the forker
 *
 * Both are the same program at the same addresses, so a function is named by its address.
 *
 * Limits. The children see variables as they were when the forker began. Their C library takes them
 * for the forker's thread, so raise() and mutexes that know their owner do not work there. A forker
 * that was killed, or does not answer, is left: then this process forks by itself, and the child
 * has its memory.
 *
 *	child_forker_new(begin, deaths, &f)	before there is much memory
 *	child_forker_fork(f, main, fds, nr)	from any thread
 *	child_forker_free(f)		the children stay
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct child_forker;
struct helper_deaths;

/*
 * begin(): what the forker does first, e.g. gives up rights; or NULL. deaths is borrowed.
 * 0 or -errno.
 */
int child_forker_new(void (*begin)(void), struct helper_deaths *deaths, struct child_forker **fp);
void child_forker_free(struct child_forker *f);		/* NULL is fine */

/*
 * The pid of a child in which fds[i] has become i + 3 and child_main() runs, which never returns;
 * or -errno. f NULL: this process forks. At most HELPER_FDS descriptors (helper_process.h).
 */
pid_t child_forker_fork(struct child_forker *f, void (*child_main)(void), const int *fds,
			size_t nr);

/*
 * A child called name has ended unasked: waits for its status, and reports it. ended is a
 * HELPER_END_... if the caller knows why, else 0. f NULL: it is only said. *pid is 0 once it is
 * reaped.
 */
void child_forker_bury(struct child_forker *f, const char *name, pid_t *pid, int ended);

/* Reports the forker itself if it has ended since. */
void child_forker_look(struct child_forker *f);
