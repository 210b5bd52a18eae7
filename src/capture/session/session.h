/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns stacks as the kernel handed them out into the records of a trace: new process? new thread?
 * new binary? new frames? Each is defined by a record before the SAMPLE that refers to it. Names
 * follow later (session_names()).
 *
 *	session_new(&deps, &s)
 *	session_add_event(s, &event) ...	what its stacks may come from
 *	session_begin(s, &info)			META, CLOCK, an EVENT for each
 *	session_sample(s, stack, walk) ...
 *	session_scan(s, &walk)			its receipt, behind its rows
 *	session_names(s, wait)			SYMBOL and FUNC records for what has been looked up
 *						by now
 *	session_end(s, &end)			last names, CLOCK, END
 *	session_free(s)
 *
 * Knows nothing of BPF objects or files: it gets decoded stacks and gives records.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/waits/peer_samples.h"
#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"

struct session;
struct binaries;
struct process;
struct process_tracker;
struct symbolizer;
struct kernel_symbols;

struct session_deps {
	record_fn sink;
	void *sink_ctx;
	struct process_tracker *tracker;
	struct binaries *binaries;
	struct symbolizer *symbolizer;
	struct kernel_symbols *kernel;
	/* A new stack goes through this binary. NULL: nobody asks. */
	void (*on_binary)(void *ctx, uint32_t binary, uint64_t time_ns);
	/*
	 * At the end of a walk: who holds the other ends of pipes and sockets. NULL: nobody asks.
	 */
	find_peers_fn find_peers;
	void *ctx;
};

struct session_info {
	const char *mode;		/* "sample", "snapshot", "record" */
	int argc;
	char **argv;
	const char *unwind;		/* "auto", "fp", "dwarf" */
};

/* A source of samples. */
struct session_event {
	const char *name, *unit;	/* literals */
	uint8_t kind;			/* enum event_kind */
	double freq_hz;			/* 0: not by time */
	uint64_t period;		/* in unit; 0: each sample has a weight of its own */
};

struct session_stats {
	uint64_t samples, user_stacks, whole, guessed, unresolved, frames, nodes, threads,
		processes;
	uint64_t ends[STACK_ENDS];
	uint64_t bad;			/* stacks of an event that was never added */
};

int session_new(const struct session_deps *deps, struct session **sp);
void session_free(struct session *s);		/* NULL is fine */
/* Before session_begin(): the event's number, 1, 2, 3, ...; -E2BIG: more than WIRE_MAX_EVENTS. */
int session_add_event(struct session *s, const struct session_event *event);
int session_begin(struct session *s, const struct session_info *info);

/* walk: number of the walk the stack belongs to; 0: it is a sample. 0 or the sink's error. */
int session_sample(struct session *s, const struct wire_stack *stack, uint32_t scan);
int session_scan(struct session *s, const struct rec_scan *scan);
/* straight to the sink: SCAN, LOST, NOTE */
int session_emit(struct session *s, const struct record *rec);
int session_tell(struct session *s, const char *key, const char *value);	/* META */
int session_clock(struct session *s);
int session_names(struct session *s, bool wait);
/* end.cpu_time_ns: of other processes that took part; ours is added. */
int session_end(struct session *s, const struct rec_end *end);
/* Stacks of it came. */
bool session_has_process(const struct session *s, const struct process *p);
const struct session_stats *session_stats(const struct session *s);
