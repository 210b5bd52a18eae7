/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/process_tracker.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/capture/processes/binary_store.h"
#include "src/capture/processes/cmdlines.h"
#include "src/capture/processes/lifetimes.h"
#include "src/capture/processes/process_maps.h"
#include "src/capture/processes/task_events.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/capture/tables/user_costs.h"
#include "src/proc/process_tasks.h"
#include "src/proc/procfs.h"

/*
 * The event of an exec comes before the kernel side drops the old slice of the process, and with it
 * the new one if that was published already. For this long after an exec the slice is checked, and
 * published again if it is gone.
 */
#define EXEC_SETTLES_NS (100 * NSEC_PER_MSEC)

#define LOOK_FOR_ENDS_NS (10 * NSEC_PER_SEC)
#define LOOK_AT_ALL_NS (50 * NSEC_PER_MSEC)
/* After events were lost, /proc is read again: at once, then not before this, or for 1/20. */
#define REPAIR_NS (200 * NSEC_PER_MSEC)
#define REPAIR_SHARE 20
/* A process with so many mappings is published again after this time for each of them. */
#define MANY_MAPPINGS 1024
#define PUBLISH_NS (50 * 1000)

#define UNWANTED 64

struct process_tracker {
	struct process_tracker_deps deps;
	struct process_maps *maps;	/* what /proc says */
	struct unwind_loader *loader;	/* NULL: not started yet, or the kernel needs no tables */
	struct task_events *events;
	int no_events;			/* -errno: why events is NULL */
	uint64_t lost;
	uint64_t settle_until_ns;	/* some process has exec'ed within EXEC_SETTLES_NS */
	uint64_t next_look_ns;		/* when to look for ends of which no event came */
	uint64_t drained_ns;		/* all events from before this are known */
	/*
	 * Those that have changed or exec'ed lately. Where programs start all the time there are
	 * thousands of others that have ended, and these are looked through only now and then.
	 */
	struct process **changed;
	size_t nr_changed, cap_changed;
	bool any_dirty;			/* one that is not listed, too */
	uint64_t next_all_ns;		/* when all are looked through */
	bool repair;			/* events were lost: /proc must be read again, */
	uint64_t next_repair_ns;	/* but not before this */
	/*
	 * Processes that were not wanted when a mapping of theirs was told, by tgid. A program that
	 * begins has some 30, and to ask whether it is wanted is a system call.
	 */
	uint32_t unwanted[UNWANTED];
};

static bool wanted(const struct process_tracker *t, uint32_t tgid)
{
	/* A process that was followed while it lived stays so: its last events come later. */
	return !t->deps.wanted || processes_find(t->deps.processes, tgid, TIME_NEVER) ||
	       t->deps.wanted(t->deps.ctx, tgid);
}

/*
 * Whether this is one more mapping of a process that is not wanted. Only what a program does before
 * or besides makes one wanted: a fork, exec, another name.
 */
static bool is_unwanted_again(struct process_tracker *t, const struct task_event *ev)
{
	uint32_t *known = &t->unwanted[ev->tgid % UNWANTED];

	if (ev->kind != TASK_EVENT_MAP && *known == ev->tgid)
		*known = 0;
	return ev->kind == TASK_EVENT_MAP && *known == ev->tgid && ev->tgid;
}

int process_tracker_new(const struct process_tracker_deps *deps, struct process_tracker **tp)
{
	const struct process_maps_deps maps = {
		.binaries = deps->binaries, .store = deps->store,
		.begin_thread = deps->begin_thread, .hurry = deps->hurry, .ctx = deps->ctx,
	};
	struct process_tracker *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->deps = *deps;
	err = process_maps_new(&maps, &t->maps);
	if (err) {
		free(t);
		return err;
	}
	t->no_events = task_events_open(deps->patient, &t->events);
	*tp = t;
	return 0;
}

static void unlist(struct process_tracker *t, size_t i)
{
	t->changed[i]->is_listed = false;
	t->changed[i] = t->changed[--t->nr_changed];
}

/* Without memory it is found among all. */
static void list(struct process_tracker *t, struct process *p)
{
	struct process **at;

	t->any_dirty = true;
	if (p->is_listed)
		return;
	at = array_push(&t->changed, &t->nr_changed, &t->cap_changed);
	if (at)
		*at = p;
	p->is_listed = at;
}

static void forget(void *ctx, struct process *p)
{
	struct process_tracker *t = ctx;

	for (size_t i = 0; p->is_listed && i < t->nr_changed; i++)
		if (t->changed[i] == p)
			unlist(t, i);
	if (t->loader)
		unwind_loader_forget(t->loader, p);
	process_maps_forget(t->maps, p);
	if (t->deps.on_forget)
		t->deps.on_forget(t->deps.ctx, p);
}

void process_tracker_free(struct process_tracker *t)
{
	if (!t)
		return;
	for (struct process *p = t->deps.processes->all; p; p = p->next)
		forget(t, p);
	task_events_close(t->events);
	process_maps_free(t->maps);
	free(t->changed);
	free(t);
}

int process_tracker_fd(const struct process_tracker *t)
{
	return t->events ? task_events_fd(t->events) : -1;
}

const struct processes *process_tracker_processes(const struct process_tracker *t)
{
	return t->deps.processes;
}

uint64_t process_tracker_lost(const struct process_tracker *t)
{
	return t->lost;
}

/* ---- /proc ---- */

/*
 * Each publication of a process takes new room for all its mappings, and gives the old one back a
 * second later. One that has very many and meets new ones all the time would take all the room.
 */
static bool is_too_early(const struct process *p)
{
	return p->nr_live > MANY_MAPPINGS &&
	       now_ns() < p->published[0].since_ns + p->nr_live * PUBLISH_NS;
}

static void publish(struct process_tracker *t, struct process *p)
{
	if (!t->loader)
		return;
	if (p->dirty && is_too_early(p)) {
		list(t, p);
		return;
	}
	if (p->dirty && p->nr_live && p->died_ns == TIME_NEVER &&
	    unwind_loader_process(t->loader, t->deps.binaries, p) == -EAGAIN) {
		list(t, p);		/* there is room soon */
		return;
	}
	p->dirty = false;
}

static int scan_one(void *ctx, pid_t pid)
{
	struct process_tracker *t = ctx;
	struct process *p = processes_find(t->deps.processes, (uint32_t)pid, TIME_NEVER);
	/*
	 * If a process with this number was known before, a new one began after that one, not
	 * before the recording.
	 */
	uint64_t born_ns =
		processes_find(t->deps.processes, (uint32_t)pid, TIME_NEVER - 1) ? now_ns() : 0;

	if (!wanted(t, (uint32_t)pid))
		return 0;
	/* Processes that are left out are read when a stack of theirs comes. */
	if (t->deps.hurry && t->deps.hurry(t->deps.ctx))
		return -EINTR;
	if (!p)
		p = processes_add(t->deps.processes, (uint32_t)pid, born_ns);
	if (!p)
		return -ENOMEM;
	process_maps_scan(t->maps, p, born_ns);
	publish(t, p);
	return 0;
}

int process_tracker_scan(struct process_tracker *t, const uint32_t *pids, size_t nr)
{
	int err = 0;

	if (!nr)
		err = procfs_each_process(scan_one, t);
	for (size_t i = 0; i < nr && !err; i++)
		err = scan_one(t, (pid_t)pids[i]);
	return err == -EINTR ? 0 : err;
}

/* ---- events ---- */

static struct process *living(struct process_tracker *t, uint32_t tgid)
{
	return processes_find(t->deps.processes, tgid, TIME_NEVER);
}

static int event_fork(struct process_tracker *t, const struct task_event *ev)
{
	struct process *parent = living(t, ev->parent_tgid), *child = living(t, ev->tgid);

	if (ev->tgid == ev->parent_tgid)	/* a thread */
		return 0;
	if (child && child->scanned && child->born_ns >= ev->time_ns)
		return 0;			/* /proc was faster */
	child = processes_add(t->deps.processes, ev->tgid, ev->time_ns);
	if (!child)
		return -ENOMEM;
	child->birth_was_told = true;
	child->parent_tgid = ev->parent_tgid;
	if (!parent)
		return 0;
	child->dirty = !t->loader || !unwind_loader_inherit(t->loader, child, parent) ||
		       parent->dirty;
	if (child->dirty)
		list(t, child);
	return process_inherit(child, parent, ev->time_ns);
}

static int event_exec(struct process_tracker *t, const struct task_event *ev)
{
	struct process *old = processes_find(t->deps.processes, ev->tgid, ev->time_ns);
	struct process *p = living(t, ev->tgid);

	if (p && p->exec_ns >= ev->time_ns)
		return 0;
	p = processes_add(t->deps.processes, ev->tgid, ev->time_ns);
	if (!p)
		return -ENOMEM;
	p->birth_was_told = true;
	p->exec_ns = ev->time_ns;
	if (old) {
		p->parent_tgid = old->parent_tgid;
		p->start_boottime_ns = old->start_boottime_ns;
	}
	strncpy(p->comm, ev->text, sizeof(p->comm) - 1);
	cmdlines_read(t->deps.cmdlines, p);
	t->settle_until_ns = ev->time_ns + EXEC_SETTLES_NS;
	list(t, p);
	return 0;
}

/*
 * The living process of an event. An unknown one is read from /proc as a whole, and the mapping of
 * the event is among those that are read.
 */
static struct process *known(struct process_tracker *t, const struct task_event *ev)
{
	struct process *p = living(t, ev->tgid);

	if (p)
		return p;
	p = processes_add(t->deps.processes, ev->tgid, ev->time_ns);
	if (p) {
		process_maps_scan(t->maps, p, ev->time_ns);
		list(t, p);
	}
	return p;
}

static int event_map(struct process_tracker *t, const struct task_event *ev)
{
	struct proc_map map = {
		.start = ev->start, .end = ev->start + ev->len, .pgoff_bytes = ev->pgoff_bytes,
		.prot = ev->prot, .dev = ev->dev, .ino = ev->ino, .path = ev->text,
	};
	struct process *p = known(t, ev);

	if (!p)
		return -ENOMEM;
	if (!(ev->prot & PROT_EXEC))
		return 0;
	if (!strncmp(ev->text, "//anon", 6))
		map.path = "";
	cmdlines_read(t->deps.cmdlines, p);
	list(t, p);
	return process_maps_event(t->maps, p, (pid_t)ev->tid, &map, ev->time_ns);
}

static int event_comm(struct process_tracker *t, const struct task_event *ev)
{
	struct process *p = ev->tid == ev->tgid ? living(t, ev->tgid) : NULL;

	if (p) {
		memset(p->comm, 0, sizeof(p->comm));
		strncpy(p->comm, ev->text, sizeof(p->comm) - 1);
	}
	return 0;
}

static int event_exit(struct process_tracker *t, const struct task_event *ev)
{
	struct process *p = ev->tid == ev->tgid ? living(t, ev->tgid) : NULL;

	/* A leader may end before its threads do: then the process goes on. */
	if (p && !process_tasks_living((pid_t)ev->tgid))
		process_exit(p, ev->time_ns);
	return 0;
}

static int event_lost(struct process_tracker *t, const struct task_event *ev)
{
	t->lost += ev->lost;
	t->repair = true;
	return 0;
}

static int event_code(struct process_tracker *t, const struct task_event *ev)
{
	if (t->deps.on_code)
		t->deps.on_code(t->deps.ctx, ev);
	return 0;
}

/* The process that has caused the event; 0: none has. */
static uint32_t whose(const struct task_event *ev)
{
	if (ev->kind == TASK_EVENT_LOST || ev->kind == TASK_EVENT_CODE)
		return 0;
	return ev->kind == TASK_EVENT_FORK ? ev->parent_tgid : ev->tgid;
}

/* Whether a process that was not wanted is, with its new program or name. */
static bool joins(const struct process_tracker *t, const struct task_event *ev)
{
	bool may = ev->kind == TASK_EVENT_EXEC || (ev->kind == TASK_EVENT_COMM &&
						   ev->tid == ev->tgid);

	return may && t->deps.joins && t->deps.joins(t->deps.ctx, ev->tgid);
}

int process_tracker_event(void *ctx, const struct task_event *ev)
{
	static int (*const handlers[])(struct process_tracker *, const struct task_event *) = {
		[TASK_EVENT_FORK] = event_fork, [TASK_EVENT_EXEC] = event_exec,
		[TASK_EVENT_COMM] = event_comm, [TASK_EVENT_MAP] = event_map,
		[TASK_EVENT_EXIT] = event_exit, [TASK_EVENT_CODE] = event_code,
		[TASK_EVENT_LOST] = event_lost,
	};
	struct process_tracker *t = ctx;
	bool is_of_task = ev->kind != TASK_EVENT_LOST && ev->kind != TASK_EVENT_CODE;
	struct cost_piece piece;
	int err;

	if (is_of_task && is_unwanted_again(t, ev))
		return 0;
	if (is_of_task && ev->kind != TASK_EVENT_FORK && !wanted(t, ev->tgid)) {
		if (ev->kind == TASK_EVENT_MAP)
			t->unwanted[ev->tgid % UNWANTED] = ev->tgid;
		return joins(t, ev) ? process_tracker_scan(t, &ev->tgid, 1) : 0;
	}
	if (ev->kind == TASK_EVENT_FORK && !wanted(t, ev->tgid) && !wanted(t, ev->parent_tgid))
		return 0;
	piece = user_costs_begin(t->deps.costs, whose(ev));
	err = handlers[ev->kind](t, ev);
	user_costs_end(t->deps.costs, piece);
	return err;
}

static bool is_settling(const struct process *p, uint64_t now)
{
	return p->died_ns == TIME_NEVER && p->exec_ns + EXEC_SETTLES_NS > now;
}

static void bring_up_to_date(struct process_tracker *t, struct process *p, uint64_t now)
{
	if (p->dirty)
		publish(t, p);
	else if (t->loader && is_settling(p, now))
		unwind_loader_check(t->loader, p);
}

static void publish_changed(struct process_tracker *t, uint64_t now)
{
	for (size_t i = t->nr_changed; i-- > 0;) {
		struct process *p = t->changed[i];

		bring_up_to_date(t, p, now);
		if (!p->dirty && !is_settling(p, now))
			unlist(t, i);
	}
}

static void publish_all(struct process_tracker *t)
{
	uint64_t now = now_ns();

	if (!t->any_dirty && t->settle_until_ns <= now)
		return;
	if (now < t->next_all_ns) {
		publish_changed(t, now);
		return;
	}
	t->next_all_ns = now + LOOK_AT_ALL_NS;
	t->any_dirty = false;
	publish_changed(t, now);
	for (struct process *p = t->deps.processes->all; p; p = p->next)
		bring_up_to_date(t, p, now);
}

/* Reads all of /proc. A program can cause losses all the time, so that takes a share of it only. */
static int repair(struct process_tracker *t)
{
	uint64_t begin = now_ns(), took;
	int err;

	t->repair = false;
	err = process_tracker_scan(t, NULL, 0);
	took = now_ns() - begin;
	t->next_repair_ns =
		begin + (took * REPAIR_SHARE > REPAIR_NS ? took * REPAIR_SHARE : REPAIR_NS);
	return err;
}

bool process_tracker_knows(const struct process_tracker *t, const struct process *p,
			   uint64_t time_ns)
{
	return !p->has_fleeting || !t->events || t->drained_ns > time_ns;
}

int process_tracker_update(struct process_tracker *t)
{
	uint64_t begin = now_ns();
	int err;

	memset(t->unwanted, 0, sizeof(t->unwanted));
	err = t->events ? task_events_drain(t->events, process_tracker_event, t) : 0;
	t->drained_ns = begin;
	publish_all(t);
	if (err || !t->repair || now_ns() < t->next_repair_ns)
		return err;
	return repair(t);
}

/*
 * Events from before the BPF programs ran are drained first: the kernel side has not seen them, so
 * they are published with all else. The note that processes cannot be followed is printed only
 * here, because a user who may not record at all should read that error alone.
 */
int process_tracker_start(struct process_tracker *t, struct unwind_loader *loader)
{
	int err;

	assert(!t->loader);
	err = process_tracker_update(t);
	if (t->no_events)
		note_kept("cannot follow processes as they come and go (perf_event_open: %s): new "
			  "ones are looked up in /proc, short-lived ones may stay nameless",
			  strerror(-t->no_events));
	t->loader = loader;
	t->any_dirty = true;
	t->next_all_ns = 0;
	publish_all(t);
	return err;
}

/*
 * All lives of tgid that are known began after time_ns. If no event told the birth of the oldest
 * one, the process of time_ns is that one, met late. Else it was another process that had the
 * number before; /proc must not be asked, as it would describe the new one.
 */
static struct process *find_before(struct process_tracker *t, struct process *oldest,
				   uint64_t time_ns)
{
	if (!oldest->birth_was_told)
		return oldest;
	return processes_add_before(t->deps.processes, oldest, time_ns);
}

struct process *process_tracker_find(struct process_tracker *t, uint32_t tgid, uint64_t time_ns)
{
	struct process *p = processes_find(t->deps.processes, tgid, time_ns);

	if (p)
		return p;
	p = processes_oldest(t->deps.processes, tgid);
	if (p)
		return find_before(t, p, time_ns);
	p = processes_add(t->deps.processes, tgid, time_ns);
	if (!p)
		return NULL;
	process_maps_scan(t->maps, p, time_ns);
	publish(t, p);
	return p;
}

enum process_learnt process_tracker_learn(struct process_tracker *t, struct process *p,
					  uint64_t addr)
{
	uint32_t before = p->generation;
	enum process_learnt learnt;

	/* What happened before /proc is read must be known before. */
	if (t->events)
		task_events_drain(t->events, process_tracker_event, t);
	learnt = process_maps_learn(t->maps, p, addr);
	publish(t, p);
	return p->generation == before ? learnt : PROCESS_LEARNT_MORE;
}

void process_tracker_describe(struct process_tracker *t, struct process *p)
{
	cmdlines_read(t->deps.cmdlines, p);
	process_maps_describe(t->maps, p);
}

void process_tracker_open_tmp(void *tracker, const struct process *p, struct process_tmp *out)
{
	process_maps_open_tmp(((struct process_tracker *)tracker)->maps, p, out);
}

void process_tracker_await(struct process_tracker *t, uint32_t tgid, uint64_t time_ns)
{
	processes_await(t->deps.processes, tgid, time_ns);
}

int process_tracker_watch(struct process_tracker *t)
{
	return t->events ? task_events_watch(t->events, process_tracker_event, t) : 0;
}

/* Events tell the ends of processes. Ends whose events were lost are looked for now and then. */
void process_tracker_prune(struct process_tracker *t, uint64_t now)
{
	bool look = !t->events || now >= t->next_look_ns;

	if (look)
		t->next_look_ns = now + LOOK_FOR_ENDS_NS;
	for (struct process *p = t->deps.processes->all; p; p = p->next) {
		if (look && p->died_ns == TIME_NEVER && !procfs_exists((pid_t)p->tgid))
			process_exit(p, now);
		else if (p->died_ns == TIME_NEVER &&
			 process_maps_review(t->maps, p) + process_has_settled(p, now))
			publish(t, p);
	}
	binary_store_close_unused(t->deps.store, t->deps.processes, now);
	processes_prune(t->deps.processes, ns_before(now, ENDED_KEPT_NS),
			ns_before(now, AWAITED_KEPT_NS), forget, t);
}
