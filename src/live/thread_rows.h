/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a recording as they are now: what the newest snapshot says of each, and how much
 * CPU time it took lately. Where a recording has no snapshots, those that took CPU time.
 *
 *	thread_rows_init(&r, live, &which)	0 or -ENOMEM
 *	thread_rows_sort(&r, sort, group)
 *	thread_rows_release(&r)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct live_choice;
struct live_profile;
struct rec_process;
struct rec_sample;
struct rec_thread;

enum thread_sort { SORT_CPU, SORT_WAITED, SORT_STATE, SORT_NAME, SORT_TID, SORTS };
enum thread_group { GROUP_NONE, GROUP_PROCESS, GROUP_STATE, GROUP_STACK, GROUPS };

struct thread_row {
	uint32_t thread;		/* id of its record */
	const struct rec_thread *t;
	const struct rec_process *p;	/* NULL: unknown */
	const struct rec_sample *rec;	/* NULL: no snapshot has it */
	uint64_t cpu_ns;		/* of the last thread_rows.cpu_of_ns */
	uint64_t waited_ns;		/* UINT64_MAX: it runs, or it is not known */
};

/* A line of the list: a thread, or what those below it have in common. */
struct thread_line {
	uint32_t row;			/* of the first thread */
	uint32_t nr;			/* 0: a thread; else a heading of so many */
};

struct thread_rows {
	const struct live_profile *live;
	struct thread_row *v;
	size_t nr, cap;
	struct thread_line *lines;
	size_t nr_lines, cap_lines;
	uint64_t cpu_of_ns;		/* 0: nothing is known of CPU time */
	uint32_t states[16];		/* threads by enum task_state */
};

int thread_rows_init(struct thread_rows *r, const struct live_profile *live,
		     const struct live_choice *which);
int thread_rows_sort(struct thread_rows *r, enum thread_sort sort, enum thread_group group);
void thread_rows_release(struct thread_rows *r);

const char *thread_row_comm(const struct thread_rows *r, const struct thread_row *row);
const char *thread_row_process(const struct thread_rows *r, const struct thread_row *row);
