/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a trace that a user wants to see.
 *
 *	struct query q = { 0 };			everything
 *	query_parse_...()			from options, any number of times
 *	query_window(&q, first, last, &w)	once the time of the first sample is known
 *	query_release(&q)
 *
 * Conditions of different kinds must all hold; of several conditions of one kind, one must hold.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/opt.h"
#include "src/report/stack_filter.h"

/*
 * Two events that a recording may have can be asked for by what they measure: CPU time (samples of
 * running threads) or wall time (rows of snapshots). Samples of different events are added only if
 * the query names these events.
 */
enum query_weight { WEIGHT_ANY, WEIGHT_CPU, WEIGHT_WALL };

enum time_point_kind { TIME_NONE, TIME_RELATIVE, TIME_BEFORE_END, TIME_OF_DAY, TIME_DATE };

struct time_point {
	enum time_point_kind kind;
	/* By kind: since the first sample, before the last, since midnight, since 1970 (UTC). */
	uint64_t ns;
};

struct glob_list {			/* patterns as in the shell; empty: all */
	const char **v;			/* borrowed from argv */
	size_t nr, cap;
};

struct query {
	struct id_list pids, tids, cpus;	/* empty: all */
	struct glob_list comms, processes, cgroups;
	struct stack_filter names;	/* --include, --exclude */
	struct stack_filter hidden;	/* --hide */
	uint32_t states;		/* 1 << enum task_state; 0: all */
	uint32_t activities;		/* 1 << enum activity (state_words.h); 0: all */
	const char *event;	/* name, or several; borrowed from argv; NULL: weight chooses */
	enum query_weight weight;	/* ANY: see trace_events_choose() */
	struct time_point from, to;
	bool no_limits;			/* read it all, whatever it costs: trace_reader.h */
	bool may_come;			/* the trace may still grow: what matches nothing yet is no
					   mistake, and nothing is said of it */
	bool native_loops;		/* interpreters' loops are frames: definition_store.h */
	bool native_only;		/* frames of interpreted programs are not */
	bool script_only;		/* no others are */
	bool goes_on;			/* a recorder writes it now: it has no end yet */
};

struct time_window {			/* CLOCK_REALTIME in ns: from_ns <= t < to_ns */
	uint64_t from_ns, to_ns;
};

void query_release(struct query *q);

/*
 * For option rows. The last argument is a glob_list of a struct query, its .states, .weight or a
 * time_point.
 */
int query_parse_glob(const struct opt *o, const char *value, void *globs);
int query_parse_states(const struct opt *o, const char *value, void *states);	/* "R,D,SLEEP" */
int query_parse_weight(const struct opt *o, const char *value, void *weight);
/*
 * A point in time: "10s", "200ms" (after the first sample), "-10s" (before the last one),
 * "HH:MM[:SS[.f]]", "YYYY-MM-DD HH:MM:SS[.f]" (local time).
 */
int query_parse_time(const struct opt *o, const char *value, void *point);

/* What is asked about a thread. Names end with NUL. */
struct query_thread {
	uint32_t tgid, tid;		/* UINT32_MAX: unknown */
	const char *comm, *kernel_comm;	/* the same, unless a runtime has named the thread */
	const char *process, *cgroup;
};
bool query_wants_thread(const struct query *q, const struct query_thread *t);
bool query_wants_state(const struct query *q, unsigned state);
bool query_wants_cpu(const struct query *q, uint32_t cpu);	/* UINT32_MAX: on none */

/* True if the query leaves out samples of the chosen event. */
bool query_has_filter(const struct query *q);
/* True if it chooses some threads of all. */
bool query_chooses_threads(const struct query *q);

/*
 * Turns from and to into dates. A time of day is meant on the day of the first sample or, when it
 * had already passed then and comes again before the last sample, on the next day.
 */
void query_window(const struct query *q, uint64_t first_ns, uint64_t last_ns,
		  struct time_window *w);
