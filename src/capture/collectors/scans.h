/*
 * Walks over all tasks at multiples of an interval, into the session of a recorder: what `probee
 * snapshot` and `probee record` share.
 *
 *	scans_open(w, recorder, &opts)
 *	scans_one(w)				a walk now, and its receipt
 *	scans_due(w)				when the next one is due, CLOCK_MONOTONIC
 *	scans_overslept(w)			wait for scans_due() once more
 *	scans_end(w, ...)			at the end: what it took, and whose stacks were not
 *						read
 *
 * A multiple at which no walk begins, because the one before it takes longer than the interval or
 * nobody was awake, is left out; it is counted, and a LOST record says which they were.
 *
 *	scans_close(w)
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

struct scans {
	struct recorder *recorder;
	struct task_snapshot *iter;
	uint64_t interval_ns, begin_ns;
	uint32_t nr;			/* walked */
	/*
	 * The caller's: the first walk and that of this number wait long for the tables that they
	 * need. 0: none does.
	 */
	uint32_t patient;
	uint64_t next;			/* the first multiple behind that of the last walk */
	uint64_t left_out;		/* multiples without a walk so far */
	bool overslept;			/* and waited for the next multiple */
	uint64_t scan_ns, rows;		/* sums */
	struct unread unread;
};

/* The walks begin now: multiples of the interval count from here. opts->say is theirs to set. */
int scans_open(struct scans *w, struct recorder *recorder, const struct task_snapshot_options *opts,
	       uint64_t interval_ns);
int scans_one(struct scans *w);
uint64_t scans_due(const struct scans *w);
/*
 * The walk due at this time is so late that the next multiple is due. True only once in a row: some
 * walk has to begin.
 */
bool scans_overslept(struct scans *w, uint64_t due_ns);

/*
 * unread: name those whose stacks were not read. until_ns: when no more walks were due, 0: after
 * the last one.
 */
int scans_end(struct scans *w, bool unread, uint64_t until_ns);
uint64_t scans_cpu_ns(const struct scans *w);	/* processor time of other processes of ours */
void scans_close(struct scans *w);	/* all zero is fine */
