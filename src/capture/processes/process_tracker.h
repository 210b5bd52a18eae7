/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the model of the machine's processes (src/model/process.h) true while recording: which
 * processes run, and which files they have mapped where. Changes are published to the BPF programs
 * through the unwind loader.
 *
 * There are two sources, and neither is enough alone:
 *
 * - /proc shows every process, but only as it is now. Reading all of it takes long, and a process
 *   that lives for 5 ms is gone before. It is read at the start, for a process of which no event
 *   came, and to repair the model when events were lost.
 * - Task events (task_events.h) tell each fork, exec, executable mapping and exit with its time.
 *   But they tell no munmap, they may be lost, and where perf_event_open() is not allowed there are
 *   none.
 *
 * Example: make forks, and its child becomes cc1. The fork event makes a process with all mappings
 * of make. The exec event ends this process and begins another one with the same tgid, and the
 * mapping events that follow fill it. process_tracker_update() then publishes the mappings. A stack
 * taken between the two events is resolved with the mappings of make, because each process has
 * times of birth and death.
 *
 * munmap, dlclose and mremap have no event. So /proc/PID/maps is read again when a stack is in no
 * known mapping (process_tracker_learn()), and when many mappings came since it was read:
 * process_maps.h.
 *
 * Limits: a process that began and ended before its events could be read is known by the events
 * alone. A process that stays locked (a file of its /proc does not answer in 500 ms) is told
 * to the user and not asked again. Ends of which no event came are found within 10 s.
 *
 *	process_tracker_new(&deps, &t)
 *	process_tracker_scan(t, pids, nr)	reads /proc; nr 0: every process. Before or after
 *						the start
 *	process_tracker_start(t, loader)	publishes all that is known; from here on changes
 *						are published, too
 *	process_tracker_fd(t)			for poll(); -1: no events, /proc alone is used
 *	process_tracker_update(t)		drains events, publishes changed processes
 *	process_tracker_find(t, tgid, time)	the process that tgid was then; reads /proc for an
 *						unknown one
 *	process_tracker_await(t, tgid, time)	a deferred stack needs it: the next prune keeps it
 *	process_tracker_prune(t, now)		forgets what ended long ago (lifetimes.h)
 *	process_tracker_free(t)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/processes/process_maps.h"
#include "src/model/process.h"

struct process_tracker;
struct binaries;
struct binary_store;
struct cmdlines;
struct process_tmp;
struct task_event;
struct unwind_loader;
struct user_costs;

struct process_tracker_deps {
	struct processes *processes;
	struct binaries *binaries;
	struct binary_store *store;
	bool (*wanted)(void *ctx, uint32_t tgid);	/* NULL: every process is followed */
	/*
	 * Asked of a process that is not wanted and has exec'ed, or has another name: true: it is
	 * wanted from now on. NULL: never.
	 */
	bool (*joins)(void *ctx, uint32_t tgid);
	struct cmdlines *cmdlines;	/* NULL: not wanted */
	struct user_costs *costs;	/* NULL: costs are not measured */
	void (*begin_thread)(void);	/* what its thread does first; NULL: nothing */
	bool (*hurry)(void *ctx);	/* the user wants it to end now; NULL: never */
	bool patient;			/* the fd is readable only when very many events wait */
	/* Told of TASK_EVENT_CODE. NULL: not wanted. */
	void (*on_code)(void *ctx, const struct task_event *ev);
	/* A process that ended long ago is forgotten. NULL: not wanted. */
	void (*on_forget)(void *ctx, const struct process *p);
	void *ctx;
};

int process_tracker_new(const struct process_tracker_deps *deps, struct process_tracker **tp);
void process_tracker_free(struct process_tracker *t);	/* NULL is fine */
/*
 * To be called once, when the BPF programs run that see forks and execs. loader NULL: the kernel
 * side needs no tables (--unwind fp).
 */
int process_tracker_start(struct process_tracker *t, struct unwind_loader *loader);
int process_tracker_scan(struct process_tracker *t, const uint32_t *pids, size_t nr);
int process_tracker_fd(const struct process_tracker *t);
int process_tracker_update(struct process_tracker *t);
/* One event, as process_tracker_update() gets them from the kernel; a task_event_fn of t. */
int process_tracker_event(void *t, const struct task_event *ev);
struct process *process_tracker_find(struct process_tracker *t, uint32_t tgid, uint64_t time_ns);
/*
 * Asks /proc when p began, whether it is a kernel thread, and for its command line if that is
 * wanted, if no one has done that and it lives.
 */
void process_tracker_describe(struct process_tracker *t, struct process *p);

/*
 * false: events from before that time may tell of other files at the places of p's mappings; after
 * the next process_tracker_update() they are known.
 */
bool process_tracker_knows(const struct process_tracker *t, const struct process *p,
			   uint64_t time_ns);

/* A stack needs to know what p has at addr: which mapping, or its file. */
enum process_learnt process_tracker_learn(struct process_tracker *t, struct process *p,
					  uint64_t addr);
/*
 * The /tmp of p. It was opened while p lived if p mapped memory for generated code; else this is
 * procfs_tmp(). The caller closes out->dir. t: a struct process_tracker.
 */
void process_tracker_open_tmp(void *t, const struct process *p, struct process_tmp *out);
void process_tracker_await(struct process_tracker *t, uint32_t tgid, uint64_t time_ns);
void process_tracker_prune(struct process_tracker *t, uint64_t now);
/* Each second: CPUs may have gone offline or be back. */
int process_tracker_watch(struct process_tracker *t);
const struct processes *process_tracker_processes(const struct process_tracker *t);
/* The number of task events that the kernel has lost so far. */
uint64_t process_tracker_lost(const struct process_tracker *t);
