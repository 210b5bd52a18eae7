/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory processes of this machine have, for a view that may not open files any more: a
 * process of its own reads /proc/PID/statm for it. It gets numbers and gives numbers, and no other
 * file can be asked for.
 *
 *	process_memory_open(&m, shut_in)	before the rights go; 0 or -errno, explained
 *	process_memory_ask(&m, pids, nr, bytes)	of MEMORY_ASKED processes at most
 *	process_memory_close(&m)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_ASKED 128

struct process_memory {
	pid_t pid;			/* 0: not open */
	int fd;				/* a socket of whole messages */
};

/* shut_in: gives up the rights of the process that reads; NULL: it has none. */
int process_memory_open(struct process_memory *m, int (*shut_in)(void));
/*
 * Resident bytes; UINT64_MAX: the process is gone. False: nobody is asked, or does not answer in
 * time; then it is asked no more.
 */
bool process_memory_ask(struct process_memory *m, const uint32_t *pids, size_t nr,
			uint64_t *bytes);
void process_memory_close(struct process_memory *m);
