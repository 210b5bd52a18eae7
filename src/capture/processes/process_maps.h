/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc says of a process: what it is, which files it has mapped where. Fills the model
 * (src/model/process.h) from it. Part of the process tracker.
 *
 *	process_maps_new(&deps, &pm)
 *	process_maps_scan(pm, p, born)		reads all that /proc says of p
 *	process_maps_event(pm, p, ...)		one mapping, of which an event told
 *	process_maps_learn(pm, p, addr)		a stack needs to know what is at addr
 *	process_maps_review(pm, p)		now and then: has p lost mappings?
 *	process_maps_forget(pm, p)
 *	process_maps_free(pm)
 *
 * What is read when. No event tells of mappings that go, so /proc/PID/maps is read again when a
 * stack is in no known mapping, and when 64 mappings came since the last time; but not more often
 * than every 100 ms, and for a twentieth of the time. Only the mapping in question is asked for
 * where a process is crowded (src/proc/map_at.h).
 *
 * Files. The file of a mapping is opened when the mapping becomes known, because the process may be
 * gone when a stack comes. A user who maps very many has them opened when a stack meets them
 * (binary_store.h); until then the mapping is_unread.
 *
 * Limits. A process that stays locked (a file of its /proc does not answer in 500 ms) is told to
 * the user and not asked again. A file that was not opened while its process lived is unknown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct binaries;
struct binary_store;
struct proc_map;
struct process;
struct process_maps;
struct process_tmp;

/* What is known of a process now. */
enum process_learnt {
	PROCESS_LEARNT_NOTHING,		/* no more than before, and no more will be */
	PROCESS_ASK_LATER,		/* it was not asked for now */
	PROCESS_LEARNT_MORE,
};

struct process_maps_deps {
	struct binaries *binaries;
	struct binary_store *store;
	void (*begin_thread)(void);	/* what its thread does first; NULL: nothing */
	bool (*hurry)(void *ctx);	/* true: what is not read by now is left out; NULL: never */
	void *ctx;
};

int process_maps_new(const struct process_maps_deps *deps, struct process_maps **pmp);
void process_maps_free(struct process_maps *pm);	/* NULL is fine */

/* 0; -ESRCH: the process is gone; or another -errno. */
int process_maps_scan(struct process_maps *pm, struct process *p, uint64_t born_ns);
/* Asks when p began, and whether it is a kernel thread, if that was not done and p lives. */
void process_maps_describe(struct process_maps *pm, struct process *p);
/* tid: a thread of p. 0 or -errno. */
int process_maps_event(struct process_maps *pm, struct process *p, pid_t tid,
		       const struct proc_map *map, uint64_t time_ns);

enum process_learnt process_maps_learn(struct process_maps *pm, struct process *p, uint64_t addr);
/* true: there was a change. */
bool process_maps_review(struct process_maps *pm, struct process *p);

/* See process_tracker_open_tmp(). */
void process_maps_open_tmp(struct process_maps *pm, const struct process *p,
			   struct process_tmp *out);
void process_maps_forget(struct process_maps *pm, const struct process *p);
