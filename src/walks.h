/*
 * Walks over all tasks at multiples of an interval, into the session of a recorder: what `probee snapshot` and
 * `probee record` share.
 *
 *	walks_open(w, recorder, &opts)
 *	walks_one(w)				a walk now, and its receipt
 *	walks_due(w)				when the next one is due, CLOCK_MONOTONIC
 *	walks_say(w, ...)			at the end: what it took, and whose stacks were not read
 *	walks_close(w)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/task_snapshot.h"

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
	uint32_t nr, late;		/* walked; skipped because one took longer than the interval */
	uint64_t walk_ns, rows;		/* sums */
	struct unread unread;
};

/* The walks begin now: multiples of the interval count from here. opts->say is theirs to set. */
int walks_open(struct walks *w, struct recorder *recorder, const struct task_snapshot_options *opts,
	       uint64_t interval_ns);
int walks_one(struct walks *w);
uint64_t walks_due(struct walks *w);
void walks_say(struct walks *w, bool unread);	/* unread: name those whose stacks were not read */
uint64_t walks_cpu_ns(const struct walks *w);	/* processor time of other processes of ours */
void walks_close(struct walks *w);	/* all zero is fine */
