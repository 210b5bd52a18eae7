/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PID namespace that probee is in. One recording uses the numbers of that namespace everywhere:
 * in BPF programs (bpf/task_ids.bpf.h), perf events, /proc and the user's options. Threads outside
 * of it are left out and counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * true: it is a container's namespace, not the one that the machine began with. false also when
 * that cannot be told.
 */
bool pid_namespace_is_inner(void);

/* Inode number of the namespace, as ls -l /proc/PID/ns/pid shows it. 0: unknown. */
uint64_t pid_namespace_inode(void);

/*
 * 0: recording is possible. -ENOTSUP, and the reason is printed: /proc shows another namespace, or
 * our children would be in another one.
 */
int pid_namespace_check(void);

/*
 * The check of /proc alone, with the status file to read, for tests. 0; -ENOENT: there is no such
 * file; -EXDEV: it belongs to the /proc of another namespace.
 */
int pid_namespace_check_proc(const char *status_path);

/*
 * Number of threads of the machine that /proc does not show, give or take those that come and go
 * while it counts. 0: unknown.
 */
uint64_t pid_namespace_outside(void);
