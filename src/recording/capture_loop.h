/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one loop of every recording: runs the collectors that were asked for until something ends it.
 *
 *	capture_loop_open(l, recorder, options)	opens the collectors; they define their events
 *	... recorder_begin()
 *	capture_loop_run(l, &hooks)		from the first stack possible to the last;
 *						l->reason,
 *						l->begin_ns, l->end_ns
 *	capture_loop_end(l, &end)		what the collectors say of all; fills end
 *	capture_loop_counts(l, &counts), capture_loop_losses(l, totals)		any time
 *	capture_loop_close(l)
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

#define HOOK_FDS 16		/* at most so many of a hook's */

/*
 * What takes part in the loop besides collectors: readers of live outputs, the line on a terminal.
 */
struct capture_hooks {
	void *ctx;
	size_t (*fds)(void *ctx, struct pollfd *fds);	/* to be woken by; at most HOOK_FDS */
	uint64_t (*patience_ns)(void *ctx);	/* it wants to be called again within this time */
	bool (*is_full)(void *ctx);		/* no more rows now: collectors that can pause do */
	bool (*is_over)(void *ctx);		/* nobody wants any more */
	int (*after_take)(void *ctx, const struct collector *c);	/* a collector has taken */
	int (*turn)(void *ctx);			/* after every turn of the loop */
};

struct capture_loop {
	struct recorder *recorder;
	const struct capture_options *options;
	struct {
		const struct collector *ops;
		void *state;
	} v[COLLECTORS_MAX];
	size_t nr;
	/* The caller's. */
	struct stop_signals *stop;
	struct target_command *command;	/* ends with it; NULL: there is none */
	uint64_t duration_ns;		/* 0: no end */
	bool has_targets;		/* ends with the last one of them */
	/* Its own. */
	uint64_t begin_ns, end_ns, until_ns, next_ask_ns;
	uint8_t reason;			/* enum end_reason */
};

/* The BPF programs that the collectors asked for need: CAPTURE_... */
unsigned capture_loop_programs(const struct capture_options *options);

int capture_loop_open(struct capture_loop *l, struct recorder *recorder,
		      const struct capture_options *options);
int capture_loop_start(struct capture_loop *l);
int capture_loop_run(struct capture_loop *l, const struct capture_hooks *hooks);
int capture_loop_end(struct capture_loop *l, struct rec_end *end);
void capture_loop_counts(const struct capture_loop *l, struct collector_counts *out);
void capture_loop_losses(const struct capture_loop *l, uint64_t totals[LOSS_CAUSES]);
void capture_loop_close(struct capture_loop *l);	/* all zero is fine */
