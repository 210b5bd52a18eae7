/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which PROCESS records are one process to a receiver: those that are called the same in all that
 * is sent of them. A trace has a new record after each fork and exec. Embedded; all zero is empty.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

struct rec_process;

struct push_process {
	uint32_t segment, id;		/* the first record of its kind */
	uint32_t tgid, comm, exe, cgroup;
};

struct push_processes {
	struct push_process *v;
	size_t nr, cap;
	struct hash_index index;
	uint32_t *first;		/* by PROCESS id of the last segment; 0: not met yet */
	size_t cap_first;
	uint32_t segment;
};

/* The id of the first record that is like p. 0 or -ENOMEM. */
int push_processes_find(struct push_processes *ps, uint32_t segment, const struct rec_process *p,
			uint32_t *id);
void push_processes_release(struct push_processes *ps);
