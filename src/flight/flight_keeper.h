/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flight recorder: the last minute of a recording is in memory, and a trigger has it written.
 *
 * The problem. A machine is slow for ten seconds at night, and the cause is gone in the morning.
 * Recording all the time would show it, among gigabytes of nights in which nothing was wrong.
 *
 * The idea. Two processes, as in `probee top`. The recorder writes its trace into a file in memory,
 * in short segments. The keeper, which the user has started and who gets the signals, knows where
 * these begin and gives back what is old (flight_ring.h). It watches for triggers (trigger.h),
 * which the recorder also tells it of. When one comes:
 *
 *	1. MARK		the recorder puts META flight.* and a NOTE into the trace, and makes a
 *			snapshot of every thread at once
 *	2. after 5 s	what follows is wanted, too (--flight-after)
 *	3. CUT		the recorder ends the segment, with its names and losses
 *	4. WRITE	a child of the keeper copies the segments into a file, which takes its place
 *			when it is whole. The recording goes on meanwhile; what is copied stays
 *
 * Only the keeper has the right to put files in their places, and it parses nothing but the framing
 * of the trace. The recorder writes into memory alone. If it dies, the keeper still has the trace.
 *
 *	flight_keeper_open(&job, &k)	opens all that it needs, before the fork and any thread
 *	fork
 *	flight_keeper_leave(k)		in the recorder: it keeps job.trace and job.link
 *	flight_keeper_run(k, pid)	in the keeper, until the recorder has ended
 *	flight_keeper_close(k)
 *
 * Limits. A disk that takes the file more slowly than the recording grows cannot hold it up: when
 * twice the memory that is allowed is in use, that file is given up, and said; and so much ends the
 * time behind a trigger, whatever is left of it. Triggers that come
 * while a file is pending, or too soon, are counted and noted in the trace. SIGTERM writes nothing,
 * unless a trigger had come or .flush_on_exit is set.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "src/flight/flight_settings.h"

struct flight_keeper;

struct flight_job {
	const struct flight_settings *settings;	/* borrowed until the close */
	const char *path;		/* of the trace; flight_file.h says what it becomes */
	bool force;
	/* Set by flight_keeper_open(), for the recorder: its trace, its end of the link. */
	int trace, link;
};

/* 0 or -errno, explained. */
int flight_keeper_open(struct flight_job *job, struct flight_keeper **kp);
void flight_keeper_leave(struct flight_keeper *k);
/* 0 or -errno, explained. status: of the recorder, as of waitpid(). */
int flight_keeper_run(struct flight_keeper *k, pid_t recorder, int *status);
void flight_keeper_close(struct flight_keeper *k);	/* NULL is fine */
