/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that a walk over all tasks did not meet although they live: some kernels show BPF
 * iterators not all tasks (virtual machines that hide their own init). So every thread that is
 * missing from a walk has a name. Those outside of our PID namespace are no part of this: /proc
 * does not show them either (pid_namespace.h counts them).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_list;
struct process;
struct processes;

struct hidden_scope {
	const struct id_list *pids, *tids;	/* what was asked for; both NULL or empty: every
						   process */
	bool (*was_met)(const void *ctx, const struct process *p);	/* rows of it came */
	const void *ctx;
};

/*
 * Once, behind the first walk, which began at begin_ns and whose rows have been handed out. The
 * number of threads of all such processes that the options ask for, and a line of text that names
 * them.
 */
uint64_t hidden_tasks(const struct processes *ps, const struct hidden_scope *scope,
		      uint64_t begin_ns, char *text, size_t size);
