/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything one recording needs, put together: BPF object, knowledge of processes, tables, names,
 * session. The commands add what makes the stacks (sampler, snapshot) and where the records go.
 *
 *	recorder_open(&opts, &r)	loads programs, learns who runs, builds tables (waits a
 *					moment for them)
 *	recorder_add_event(r, &event) ...	the collectors do
 *	recorder_begin(r, &info)	META, CLOCK, EVENTs
 *	... recorder_update(r) before stacks are resolved; recorder_stack(r, ...)
 *	recorder_settle(r, walk, ...)	waits for the stacks of a walk that wait for tables: a
 *					second, or ten
 *	recorder_service(r)		between: tables, names, losses; each second a flush of the
 *					sink
 *	recorder_end(r, &end)		last losses and names, END
 *	recorder_close(r)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/session/session.h"
#include "src/capture/stacks/wire_decode.h"

struct recorder;
struct capture_bpf;
struct id_list;

enum unwind_mode { UNWIND_AUTO, UNWIND_FP, UNWIND_DWARF };

struct recorder_options {
	unsigned programs;		/* CAPTURE_... */
	enum unwind_mode unwind;
	bool user_only, kernel_only, include_idle;
	uint32_t faults;		/* walks: enum fault_mode of bpf/knobs.h */
	bool skip_same;			/* walks: not again the threads that have not run since the
					   last one */
	const struct id_list *pids;	/* targets with their children; empty: everybody. Borrowed,
					   as tids, until the close */
	const struct id_list *tids;	/* only these threads */
	uint32_t audit;			/* keep registers and memory of one in so many stacks; 0: of
					   none */
	uint32_t max_frames;		/* 0: 1,024 */
	uint32_t ring_bytes;		/* 0: 8 MiB */
	/* Adds to each cause what the collectors have lost so far. */
	void (*losses)(void *sink_ctx, uint64_t totals[LOSS_CAUSES]);
	record_fn sink;
	int (*flush)(void *sink_ctx);	/* NULL: none */
	bool (*hurry)(void *sink_ctx);	/* whoever records waits no longer for tables; NULL: always
					   does */
	void *sink_ctx;
};

int recorder_open(const struct recorder_options *opts, struct recorder **rp);
void recorder_close(struct recorder *r);		/* NULL is fine */

struct session *recorder_session(struct recorder *r);
struct capture_bpf *recorder_bpf(struct recorder *r);

/* Nobody in particular is recorded, and probee sees every process of the machine. */
bool recorder_is_whole_machine(const struct recorder *r);

/*
 * fds for poll(): whatever comes readable, call recorder_update(). Returns how many (at most 2).
 * Where processes come and go by the thousand each event would be a wake-up of its own:
 * recorder_hold_off() sleeps until 0.3 ms after the last update, so that one wake-up serves many.
 */
size_t recorder_fds(const struct recorder *r, int fds[2]);
void recorder_hold_off(const struct recorder *r);

/*
 * Around a scan: what the iterator may be reading of the unwind tables is not used again meanwhile
 * (src/capture/tables/epoch.h).
 */
void recorder_iter_begin(struct recorder *r);
void recorder_iter_end(struct recorder *r);

/* Before recorder_begin(): a source of stacks. Its number, as session_add_event(). */
int recorder_add_event(struct recorder *r, const struct session_event *event);
int recorder_begin(struct recorder *r, const struct session_info *info);
int recorder_update(struct recorder *r);

/*
 * One stack for the session: at once, or when its process and tables are known. walk as for
 * session_sample().
 */
int recorder_stack(struct recorder *r, const struct wire_stack *stack, uint32_t scan);
/*
 * walk 0: all. patient: nothing else is to be done. again, ctx: visits a thread whose stack was
 * longer than what was kept of it.
 */
int recorder_settle(struct recorder *r, uint32_t scan, bool patient, revisit_fn again, void *ctx);
int recorder_service(struct recorder *r);
/* Behind the first walk: threads that none will show, see hidden_tasks.h. */
uint64_t recorder_hidden(const struct recorder *r, uint64_t begin_ns, char *text, size_t size);
/* end->lost: what the caller has put into LOST records itself. */
int recorder_end(struct recorder *r, const struct rec_end *end);

/* Samples lost so far, and in words what else was (false: nothing). */
uint64_t recorder_lost(const struct recorder *r);
bool recorder_lost_others(const struct recorder *r, char *buf, size_t size);

/* Tables and memory, for -v and for the trace. */
void recorder_describe(const struct recorder *r, char *buf, size_t size);
