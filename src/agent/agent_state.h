/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the processes of an agent know of each other: a page of memory that all of them share. Each
 * field has one writer; numbers are read and written whole, texts may be half of two.
 *
 *	agent_state_new()	NULL: no memory. Before the children are forked
 *	agent_state_free(st)
 *
 * What it counts for people is one table, from which /metrics, the state file and `probee agent
 * --status` come: agent_figures.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/agent/agent_config.h"
#include "src/base/shared_rates.h"

/* How far a target has got; in the spool, too (target-NAME.state). */
enum target_count {
	TARGET_SENT,			/* windows all of which were taken */
	TARGET_REFUSED,			/* windows of which the receiver refused a part for good */
	TARGET_BAD,			/* windows that could not be read */
	TARGET_MISSED,			/* windows that were dropped, lost or empty before */
	TARGET_BODIES,			/* requests that were taken */
	TARGET_BODIES_REFUSED,
	TARGET_MAYBE_TWICE,		/* sent again, and may have arrived before */
	TARGET_MAYBE_LOST,		/* not sent again, and may not have arrived */
	TARGET_BYTES,
	TARGET_SAMPLES,
	TARGET_FAILURES,		/* attempts that did not succeed, and are repeated */
	TARGET_COUNTS
};

struct target_state {
	char name[AGENT_NAME + 1];
	_Atomic uint64_t next_seq;	/* of the sender: the first window that it has not done */
	_Atomic uint64_t due_seq;	/* of the supervisor: windows below are to be sent by now */
	/* The windows that the sender is sending; busy_seq 0: none. */
	_Atomic uint64_t busy_seq, busy_last;
	_Atomic uint64_t beat_ns;	/* CLOCK_MONOTONIC: it was alive then */
	_Atomic uint64_t retry_ns;	/* CLOCK_MONOTONIC: it waits until then; 0: it does not */
	_Atomic uint64_t counts[TARGET_COUNTS];
	char error[256];		/* why it waits; "": it does not */
};

enum agent_count {
	/* of the spool, since it was made */
	AGENT_RECORDED, AGENT_RECOVERED, AGENT_EMPTY, AGENT_LOST, AGENT_DROPPED, AGENT_DELETED,
	AGENT_BYTES,
	/* of this agent */
	AGENT_RECORDER_STARTS, AGENT_SENDER_STARTS, AGENT_HANGS, AGENT_RELOADS, AGENT_SLOWED,
	AGENT_DAMAGED,
	/* as it is now */
	AGENT_SPOOL_WINDOWS, AGENT_SPOOL_BYTES, AGENT_SPOOL_LIMIT, AGENT_TIMES,
	AGENT_COST_PPM, AGENT_CPU_MS, AGENT_BUDGET_PPM, AGENT_FREQ_MHZ, AGENT_SCAN_MHZ,
	AGENT_RECORDING,
	AGENT_COUNTS
};

struct agent_state {
	_Atomic uint64_t counts[AGENT_COUNTS];
	_Atomic uint64_t newest_seq;	/* of the complete windows */
	struct shared_rates rates;	/* of the supervisor and the recorder */
	uint32_t nr_targets;
	struct target_state targets[AGENT_TARGETS];
};

struct agent_state *agent_state_new(void);
void agent_state_free(struct agent_state *st);

static inline uint64_t agent_count(const struct agent_state *st, enum agent_count c)
{
	return atomic_load_explicit(&st->counts[c], memory_order_relaxed);
}

static inline void agent_set(struct agent_state *st, enum agent_count c, uint64_t value)
{
	atomic_store_explicit(&st->counts[c], value, memory_order_relaxed);
}

static inline void agent_add(struct agent_state *st, enum agent_count c, uint64_t value)
{
	atomic_fetch_add_explicit(&st->counts[c], value, memory_order_relaxed);
}

/* Windows in the spool that this target does not have yet. */
uint64_t target_backlog(const struct agent_state *st, const struct target_state *t);

/* All figures in the text format of Prometheus. */
void agent_state_metrics(const struct agent_state *st, FILE *out);
/* All figures as words for people, several lines. */
void agent_state_text(const struct agent_state *st, FILE *out);
/* One line for the log. */
void agent_state_line(const struct agent_state *st, char *buf, size_t size);
