/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who runs, and what is mapped where, kept true while recording: /proc to start and to repair, task
 * events in between. Feeds the kernel's tables through the unwind loader.
 *
 *	process_tracker_new(&deps, &t)
 *	process_tracker_scan(t, pids, nr)	nr 0: every process; before or behind the next
 *	process_tracker_start(t, loader)	from here on the kernel's tables are fed, with what
 *						is known by then to begin with
 *	process_tracker_fd(t)			poll it; -1: no events (then /proc alone is used)
 *	process_tracker_update(t)		drains events, publishes changed processes
 *	process_tracker_find(t, tgid, time)	who that was; looks into /proc when unknown
 *	process_tracker_await(t, tgid, time)	a stack of it waits: the next prune spares it
 *	process_tracker_prune(t, now)		forgets what ended long ago (lifetimes.h)
 *	process_tracker_free(t)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/process.h"

struct process_tracker;
struct binaries;
struct binary_store;
struct process_tmp;
struct task_event;
struct unwind_loader;

struct process_tracker_deps {
	struct processes *processes;
	struct binaries *binaries;
	struct binary_store *store;
	bool (*wanted)(void *ctx, uint32_t tgid);	/* NULL: every process matters */
	bool patient;			/* events may wait for the next update, unless there are
					   very many */
	void *ctx;
};

int process_tracker_new(const struct process_tracker_deps *deps, struct process_tracker **tp);
void process_tracker_free(struct process_tracker *t);	/* NULL is fine */
/*
 * Once, when the programs run that tell the kernel side of forks and execs. loader NULL: it needs
 * no tables (--unwind fp).
 */
int process_tracker_start(struct process_tracker *t, struct unwind_loader *loader);
int process_tracker_scan(struct process_tracker *t, const uint32_t *pids, size_t nr);
int process_tracker_fd(const struct process_tracker *t);
int process_tracker_update(struct process_tracker *t);
/* One event, as process_tracker_update() gets them from the kernel; a task_event_fn of t. */
int process_tracker_event(void *t, const struct task_event *ev);
struct process *process_tracker_find(struct process_tracker *t, uint32_t tgid, uint64_t time_ns);
/*
 * Reads p's mappings from /proc again, unless that was done a moment ago; true: they are others
 * now.
 */
bool process_tracker_look_again(struct process_tracker *t, struct process *p);
/*
 * The /tmp of p, opened while it lived when it made room for generated code; else as procfs_tmp().
 * out->dir is the caller's. t: a struct process_tracker.
 */
void process_tracker_open_tmp(void *t, const struct process *p, struct process_tmp *out);
void process_tracker_await(struct process_tracker *t, uint32_t tgid, uint64_t time_ns);
void process_tracker_prune(struct process_tracker *t, uint64_t now);
const struct processes *process_tracker_processes(const struct process_tracker *t);
uint64_t process_tracker_lost(const struct process_tracker *t);	/* task events lost by the kernel so
								   far */
