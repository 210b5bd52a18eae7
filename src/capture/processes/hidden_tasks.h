/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds processes that live but were not met by a scan. Some kernels do not show all tasks to BPF
 * iterators (virtual machines that hide their own init). The user is told which processes are
 * missing from snapshots. Processes outside of our PID namespace do not count here: /proc does not
 * show them either (pid_namespace.h counts them).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_list;
struct process;
struct processes;

struct hidden_scope {
	/* The ids that the user asked for; both NULL or empty: every process. */
	const struct id_list *pids, *tids;
	bool (*was_met)(const void *ctx, const struct process *p);	/* the scan had rows of p */
	const void *ctx;
	uint32_t own_root;		/* procfs_own_root() */
};

/*
 * To be called once, after the first scan, which began at begin_ns and whose rows have been given
 * on. Returns the number of threads of all hidden processes that the user asked for, and writes a
 * line that names the processes.
 */
uint64_t hidden_tasks(const struct processes *ps, const struct hidden_scope *scope,
		      uint64_t begin_ns, char *text, size_t size);
