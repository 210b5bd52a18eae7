/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that sleep when a recording of time off the CPU begins. The programs of off_cpu.bpf.h see
 * a thread when it leaves a CPU, so of a thread that hangs they would know nothing at all. A scan
 * finds these threads, and each gets the entry that it would have if it had left at the beginning.
 *
 *	sleepers_open(&deps, &s)
 *	sleepers_look(s)		a scan, after the programs were attached
 *	sleepers_due(s)			when to look again; UINT64_MAX: not any more
 *	sleepers_look_last(s)		when the recording ends
 *	sleepers_close(s)
 *
 * A stack that lacks a table is left for the next look: as long as its thread sleeps, it stays what
 * it is. A thread that wakes before that is not accounted for until then.
 *
 * Limits. Inside a PID namespace nothing is found, because the entries have other numbers.
 */
#pragma once

#include <stdint.h>

struct capture_bpf;
struct capture_options;
struct recorder;
struct sleepers;
struct stack_ids;

struct sleepers_deps {			/* borrowed */
	const struct capture_options *options;
	struct recorder *recorder;
	struct capture_bpf *bpf;
	struct stack_ids *stacks;	/* gets what is found */
	uint64_t begin_ns;		/* of the recording */
};

int sleepers_open(const struct sleepers_deps *deps, struct sleepers **sp);
/* 0, or -errno, which was reported. */
int sleepers_look(struct sleepers *s);
int sleepers_look_last(struct sleepers *s);
uint64_t sleepers_due(const struct sleepers *s);
uint64_t sleepers_found(const struct sleepers *s);
void sleepers_close(struct sleepers *s);		/* NULL is fine */
