/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PID namespace that probee is in. All of one recording speaks in the numbers of that
 * namespace: BPF programs (bpf/task_ids.bpf.h), perf events, /proc, the user. Threads outside of it
 * are left out and counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A container's: not the one that the machine began with. False also when that cannot be told. */
bool pid_namespace_is_inner(void);

/* Its inode number, by which ls -l /proc/PID/ns/pid shows it. 0: unknown. */
uint64_t pid_namespace_inode(void);

/*
 * What makes recording impossible: /proc is another namespace's, or our children would be in
 * another one. Says so and returns -ENOTSUP; else 0.
 */
int pid_namespace_check(void);

/*
 * The same about a status file, for tests: 0, -ENOENT there is none, -EXDEV it is of another
 * namespace's /proc.
 */
int pid_namespace_check_proc(const char *status_path);

/*
 * Threads of the machine that /proc does not show, give or take those that come and go. 0: unknown.
 */
uint64_t pid_namespace_outside(void);
