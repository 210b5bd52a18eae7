/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a report by thread and in the order of time, each with the node of its innermost
 * function in one call tree: what renderers with a time axis draw.
 *
 *	thread_tracks_make(rep, opts, &t)
 *	thread_tracks_add_states(rep, t)	if they are wanted
 *	for (size_t i = 0; i < t->nr; i++)	t->v[i].samples, the busiest process first
 *	thread_tracks_free(t)			before report_close()
 *
 * A thread that sleeps has the same stack in thousands of snapshots. So samples of equal stacks,
 * states and weights that follow each other without a gap are one run. Memory grows with runs.
 * Rows of snapshots have no gaps while their thread lives. Samples whose weight is no time are
 * one run if they are less than 10 ms apart.
 *
 * Threads of different recordings are different tracks, and so are threads whose number was used
 * again. A thread that renames itself stays one track, with its last name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct definition_store;
struct profile;
struct render_opts;
struct report;

struct track_run {
	uint64_t first_ns, last_ns;	/* CLOCK_REALTIME of its first and its last sample */
	uint64_t weight;		/* of each sample */
	uint32_t nr;			/* samples */
	uint32_t node;			/* of the profile */
	uint32_t track;			/* internal */
	uint8_t activity;		/* enum activity */
};

struct track_runs {
	struct track_run *v;		/* in the order of time; part of those of thread_tracks */
	size_t nr;
	size_t latest;			/* internal: the latest one, plus 1 */
};

struct thread_track {
	uint32_t segment, tgid, tid;
	bool is_known;			/* false: the records of the thread are lost */
	bool is_main;			/* its process begins with it */
	const char *name;		/* of the thread; borrowed from the report */
	size_t name_len;
	const char *process;		/* name of the process; borrowed */
	size_t process_len;
	struct track_runs samples;
	struct track_runs states;	/* by snapshots; they have neither node nor weight */
	uint64_t weight;		/* of all samples; at most UINT64_MAX */
	uint64_t process_weight;	/* of all threads of the process */
	/* Internal: what tells threads of one number apart. */
	uint64_t start_ns;
	uint32_t idle_name;
};

struct thread_tracks {
	struct profile *profile;
	struct thread_track *v;
	size_t nr, cap;
	struct run_list {		/* of all threads, one thread after the other */
		struct track_run *v;
		size_t nr, cap;
	} samples, states;
	bool is_time;			/* weights are nanoseconds */
	bool is_wall;			/* rows of snapshots */
	bool several;			/* tracks are of more than one recording */
	struct track_axis {		/* CLOCK_REALTIME: what the samples cover */
		uint64_t begin_ns, end_ns;
	} axis, *recordings;		/* of all, and by segment */
	size_t cap_recordings;
};

/*
 * The roots of the tree are what --by says or else functions; of rows of snapshots, what threads
 * were doing (state_words.h). *tp is the caller's. 0 or -errno: an error of the report, or -ENOMEM,
 * silently.
 */
int thread_tracks_make(struct report *rep, const struct render_opts *opts,
		       struct thread_tracks **tp);

/* What the threads that have samples were doing, whatever event the samples are of. */
int thread_tracks_add_states(struct report *rep, struct thread_tracks *t);
void thread_tracks_free(struct thread_tracks *t);	/* NULL is fine */

/* Where the time of a run begins: a sample stands for the time before it. */
uint64_t track_run_begin(const struct thread_tracks *t, const struct track_run *run);

/*
 * "server (100)" of a main thread, "server (100): worker (101)" of another. The caller frees it;
 * NULL: out of memory.
 */
char *thread_track_label(const struct thread_tracks *t, const struct thread_track *track,
			 size_t *len);
