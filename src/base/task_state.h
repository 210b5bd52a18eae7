/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a process or thread does not answer: it waits for something, or it only waits for a CPU. On a
 * busy machine the latter is no reason to give it up.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * true: the thread tid of process pid runs or is ready to run, by /proc/PID/task/TID/stat (proc(5),
 * field 3). false: it sleeps, whatever for, or it is gone. Allocates nothing, so it may be asked of
 * a thread that hangs inside malloc().
 */
bool task_wants_cpu(pid_t pid, pid_t tid);

/*
 * The letter of its state: R, S, D, T (stopped by a signal), t (by a debugger), Z, ...; '?': it is
 * gone, or /proc does not show it. Allocates nothing.
 */
char task_state(pid_t pid, pid_t tid);
