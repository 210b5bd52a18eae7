/*
 * Walks over all tasks at multiples of an interval, into the session of a recorder: what `probee snapshot` and
 * `probee record` share.
 *
 *	walks_open(w, recorder, &opts)
 *	walks_one(w)				a walk now, and its receipt
 *	walks_due(w)				when the next one is due, CLOCK_MONOTONIC
 *	walks_overslept(w)			wait for walks_due() once more
 *	walks_end(w, ...)			at the end: what it took, and whose stacks were not read
 *
 * A multiple at which no walk begins, because the one before it takes longer than the interval or nobody was awake, is
 * left out; it is counted, and a LOST record says which they were.
 *
 *	walks_close(w)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/collectors/task_snapshot.h"

struct recorder;

/* Processes with stacks that were not read. */
#define UNREAD_NAMED 8

struct unread {
	uint32_t tgid[UNREAD_NAMED];
	char comm[UNREAD_NAMED][WIRE_COMM];
	uint32_t nr;
	uint64_t rows;
};

struct walks {
	struct recorder *recorder;
	struct task_snapshot *iter;
	uint64_t interval_ns, begin_ns;
	uint32_t nr;			/* walked */
	/* The caller's: the first walk and that of this number wait long for the tables that they need. 0: none does. */
	uint32_t patient;
	uint64_t next;			/* the first multiple behind that of the last walk */
	uint64_t left_out;		/* multiples without a walk so far */
	bool overslept;			/* and waited for the next multiple */
	uint64_t walk_ns, rows;		/* sums */
	struct unread unread;
};

/* The walks begin now: multiples of the interval count from here. opts->say is theirs to set. */
int walks_open(struct walks *w, struct recorder *recorder, const struct task_snapshot_options *opts,
	       uint64_t interval_ns);
int walks_one(struct walks *w);
uint64_t walks_due(const struct walks *w);
/* The walk due at this time is so late that the next multiple is due. True only once in a row: some walk has to begin. */
bool walks_overslept(struct walks *w, uint64_t due_ns);

/* unread: name those whose stacks were not read. until_ns: when no more walks were due, 0: after the last one. */
int walks_end(struct walks *w, bool unread, uint64_t until_ns);
uint64_t walks_cpu_ns(const struct walks *w);	/* processor time of other processes of ours */
void walks_close(struct walks *w);	/* all zero is fine */
