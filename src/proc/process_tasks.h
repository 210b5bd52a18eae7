/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a process, from the names in /proc/PID/task. They come and go while they are read,
 * so a thread may be gone when somebody looks at it. These functions print nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Calls fn for each thread. 0, -errno, or what fn returned: another value than 0 ends the walk. */
int process_tasks_each(pid_t pid, int (*fn)(void *ctx, pid_t tid), void *ctx);

/* The thread of the process whose number in its own PID namespace is ns_tid; 0: none. */
pid_t process_tasks_called(pid_t pid, uint32_t ns_tid);

/* Whether tid is a thread of that process; both are numbers in our own PID namespace. */
bool process_tasks_has(pid_t pid, pid_t tid);

/* The child of pid that has this number in the namespace depth levels below ours; 0: none. */
pid_t process_tasks_child(pid_t pid, uint32_t number, uint32_t depth);

/*
 * A thread of the process that is alive: the leader, or another one when the leader is dead (a dead
 * leader's maps are empty). 0: none.
 */
pid_t process_tasks_living(pid_t pid);
