/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one loop of every recording: it runs the collectors that were asked for until something ends
 * the recording.
 *
 * The problem. A recording has several sources of stacks (the sampler, scans of all tasks), a
 * recorder that must be updated and flushed in time, readers of live rows that may be slow, and
 * half a dozen reasons to end. All of them belong to one thread, because records must reach the
 * trace in one order, and because state that one thread owns needs no locks.
 *
 * The idea. Each source is a collector (src/capture/collectors/collector.h): a row of functions
 * that say which descriptors to poll, when it is next due, and how to take what has come. One turn
 * of the loop is then the same for all:
 *
 *	1. sleep	ppoll() on all descriptors, until the earliest due time of any part
 *	2. update	the recorder reads what became of processes, so that samples find them
 *	3. take		each collector that is readable or due hands its stacks to the recorder
 *	4. service	once a second the recorder writes names and losses and flushes the trace
 *	5. hooks	live rows are written, the line on the terminal is renewed
 *
 * The loop knows no collector by name and no output by name; the outputs are a struct of hooks.
 *
 * Example: `probee record -a -d 10` runs the sampler and the scanner. The ring of the sampler wakes
 * the loop many times a second, and each time step 3 takes samples only. Once a second the scanner
 * is due, and the same step takes a scan. After 10 s the end is due: the collectors are stopped,
 * what they still hold is taken, and l->reason is ENDED_DURATION.
 *
 * Limits. While one collector takes, nothing else runs: a scan of 100,000 threads delays the ring,
 * which the kernel fills meanwhile, and what does not fit there is counted as lost. Whether the
 * targets still live is asked every 0.1 s only. When a reader of live rows is too slow, the next
 * scan is put off (is_full()); the sampler never is, because its ring would overflow.
 *
 *	capture_loop_open(l, recorder, options)	opens the collectors; they define their events
 *	... recorder_begin()
 *	capture_loop_start(l)			from here on there may be stacks
 *	capture_loop_run(l, &hooks)		until the end; sets l->reason and l->end_ns
 *	capture_loop_end(l, &end)		the collectors' last records; fills end
 *	capture_loop_close(l)
 *
 * capture_loop_ask(), capture_loop_counts() and capture_loop_losses() may be called at any time.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/collectors/collector.h"

struct recorder;
struct stop_signals;
struct target_command;

#define HOOK_FDS 16		/* the most descriptors that a hook may add */

/* What takes part in the loop besides collectors: live outputs and the line on a terminal. */
struct capture_hooks {
	void *ctx;
	/* Fills in descriptors that wake the loop; returns their number, at most HOOK_FDS. */
	size_t (*fds)(void *ctx, struct pollfd *fds);
	uint64_t (*patience_ns)(void *ctx);	/* turn() is called again within this time */
	bool (*is_full)(void *ctx);		/* too many rows wait: no scan begins */
	bool (*is_over)(void *ctx);		/* every reader has gone: the recording ends */
	int (*after_take)(void *ctx, const struct collector *c);	/* c has taken */
	int (*turn)(void *ctx);			/* at the end of every turn of the loop */
};

struct capture_loop {
	struct recorder *recorder;
	const struct capture_options *options;
	struct {
		const struct collector *ops;
		void *state;
	} v[COLLECTORS];
	size_t nr;
	/* Set by the caller. */
	struct stop_signals *stop;
	struct target_command *command;	/* the recording ends with it; NULL: there is none */
	uint64_t duration_ns;		/* 0: unlimited */
	bool has_targets;		/* the recording ends with the last of its targets */
	/* Set by the loop. */
	uint64_t begin_ns, end_ns, until_ns, next_ask_ns;
	uint8_t reason;			/* enum end_reason */
};

/* The BPF programs that the wanted collectors need: CAPTURE_... */
unsigned capture_loop_programs(const struct capture_options *options);

int capture_loop_open(struct capture_loop *l, struct recorder *recorder,
		      const struct capture_options *options);
int capture_loop_start(struct capture_loop *l);
int capture_loop_run(struct capture_loop *l, const struct capture_hooks *hooks);
void capture_loop_ask(struct capture_loop *l);	/* the next turn has a scan of all tasks */
/* Samples and scans come so many times as slowly from the next segment on. */
void capture_loop_slow(struct capture_loop *l, uint32_t times);
int capture_loop_end(struct capture_loop *l, struct rec_end *end);
void capture_loop_counts(const struct capture_loop *l, struct collector_counts *out);
void capture_loop_losses(const struct capture_loop *l, uint64_t totals[LOSS_CAUSES]);
void capture_loop_close(struct capture_loop *l);	/* l may be all zero */
