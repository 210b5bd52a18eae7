/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forks, execs, executable mappings, renames and exits as they happen, and code that the kernel
 * makes (src/symbolize/kernel_code.h), from a PERF_COUNT_SW_DUMMY event on each CPU.
 *
 *	task_events_open(patient, &te)
 *	task_events_fd(te)		an epoll fd; readable as soon as there is an event, or
 *					(patient) when a buffer is half full
 *	task_events_drain(te, fn, ctx)	calls fn for all events until now, oldest first
 *	task_events_watch(te, fn, ctx)	each second: CPUs go offline and come back
 *	task_events_close(te)
 *
 * The kernel counts events that it has lost; they are reported as TASK_EVENT_LOST.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum task_event_kind {
	TASK_EVENT_FORK,
	TASK_EVENT_EXEC,
	TASK_EVENT_COMM,
	TASK_EVENT_MAP,
	TASK_EVENT_EXIT,
	TASK_EVENT_CODE,		/* of no task: the kernel has made or given up code */
	TASK_EVENT_LOST
};

struct task_event {
	enum task_event_kind kind;
	uint64_t time_ns;
	uint32_t tgid, tid;
	uint32_t parent_tgid;		/* FORK */
	uint64_t start, len, pgoff_bytes;	/* MAP, CODE */
	uint64_t dev, ino;
	uint8_t prot;
	bool is_bpf, is_end;		/* CODE */
	const char *text;	/* MAP: path; COMM, EXEC, CODE: name; borrowed for the call */
	uint64_t lost;			/* LOST; 0: not known how many */
};

struct task_events;
typedef int (*task_event_fn)(void *ctx, const struct task_event *ev);

/* 0 or -errno of perf_event_open, mmap or malloc. Prints nothing: the caller says what it means. */
int task_events_open(bool patient, struct task_events **tep);
int task_events_fd(const struct task_events *te);
int task_events_drain(struct task_events *te, task_event_fn fn, void *ctx);
/*
 * A CPU that is online again has its events again. What it missed is told as TASK_EVENT_LOST
 * without a number, because nobody knows it.
 */
int task_events_watch(struct task_events *te, task_event_fn fn, void *ctx);
void task_events_close(struct task_events *te);		/* NULL is fine */
