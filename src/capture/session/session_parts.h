/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What session.c, session_names.c and session_segment.c share. Internal to the session. */
#pragma once

#include "bpf/knobs.h"
#include "src/capture/session/met_tasks.h"
#include "src/capture/session/session.h"
#include "src/capture/session/stack_definer.h"

struct definitions;
struct descriptor_names;
struct jit_names;
struct last_samples;
struct runtime_attacher;
struct process;
struct runtime_locks;
struct runtime_names;
struct runtime_threads;
struct stacks;
struct stuck_files;
struct wait_facts;

struct session {
	struct session_deps deps;
	struct definitions *defs;
	struct jit_names *jit;
	struct runtime_names *runtimes;
	struct runtime_attacher *attacher;
	struct runtime_locks *locks;
	struct runtime_threads *threads;
	struct stacks *stacks;
	struct stack_definer definer;
	struct last_samples *last_samples;	/* rows of scans */
	uint32_t *same;			/* threads of this scan whose row is their last one again */
	size_t nr_same, cap_same;
	struct wait_facts *waits;
	struct descriptor_names *files;
	struct stuck_files *stuck;
	struct peer_samples peers;	/* rows of this scan that wait for others */
	struct met_tasks met;		/* of the recording, as the next one */
	struct session_stats stats;
	struct session_info info;
	uint32_t part;			/* 1, 2, ... */
	uint64_t scans, lost;		/* of this part: SCAN records; sum of its LOST records */
	/* What END records of earlier parts have told. */
	struct { uint64_t samples, unresolved, cpu_time_ns; } told;
	uint64_t earlier_frames, earlier_nodes;		/* of earlier parts */
	uint64_t scan_ends[STACK_ENDS], scan_kernel_failed;	/* rows since the last SCAN */
	struct session_event events[WIRE_MAX_EVENTS];	/* by number minus 1 */
	uint32_t nr_events;
	uint64_t next_clock_ns;
};

/* The process of a sample at its time. NULL: it has none, or there is no memory. */
struct process *session_process(const struct session *s, const struct wire_sample *head);

/* ---- session_locks.c ---- */

/* Whether a row of a scan is kept until the runtime of its process was asked (runtime_locks.h). */
bool session_asks_runtime(const struct session *s, const struct process *p,
			  const struct rec_sample *sample);
/* Decides this for a row that repeats the last one: an answer of the runtime is enough. */
bool session_asks_again(const struct session *s, const struct wire_sample *head,
			const struct rec_sample *sample);
/* Fills in the owners of locks that runtimes know, in the rows that were kept. 0 or -ENOMEM. */
int session_ask_runtimes(struct session *s);
