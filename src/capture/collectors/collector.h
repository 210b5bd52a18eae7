/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A collector is one way of taking stacks. Each is a const row of collectors[]; the capture loop
 * (src/recording/capture_loop.h) calls those that the options ask for and knows nothing else of
 * them. A new kind of capture is one file with such a row, which exports it as NAME_collector, and
 * rows of bpf/kinds.def, with its BPF program.
 *
 * A kind that has options keeps them in a struct of its own, which its rows of options fill:
 *
 *	const struct NAME_options *own = o->own[COLLECTOR_NAME];
 *
 *	open(&ctx, &state)	its programs are loaded; it opens what it needs and defines its
 *				events with recorder_add_event(). No stack is taken yet
 *	start(state, begin_ns)	stacks are taken from here on
 *	fds(state, fds)		to poll: when one becomes readable, take() is called
 *	due_ns(state)		when take() is called in any case, CLOCK_MONOTONIC
 *	take(state)		hands the stacks that there are to recorder_stack()
 *	stop(state)		no new ones are taken
 *	take(state)		the last ones, again and again until it returns 0
 *	end(state, &end)	sums up, for the trace and for the user
 *	close(state)		NULL is fine
 *
 * open(), start(), take() and end() return 0 or an error that ends the recording, which was
 * reported. take() returns 1 if there are more stacks than it hands out at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/knobs.h"
#include "src/base/opt.h"
#include "src/capture/collectors/collector_ids.h"
#include "src/capture/collectors/event_table.h"
#include "src/model/record.h"
#include "src/proc/cpus.h"

struct recorder;
struct shared_rates;

#define COLLECTOR_FDS 2		/* of each collector */

/* What is to be captured. Filled from the command line; collectors look at their part. */
struct capture_options {
	bool sample;			/* the sampler takes part */
	bool scan;			/* scans over all tasks take part */
	const struct id_list *pids, *tids;	/* empty: everything */
	const struct id_list *only_pids;	/* those of the user, without a command's */
	const char *command;		/* the program behind "--"; NULL: none */
	/* The sampler. */
	struct event_list events;
	double freq_hz;
	bool include_idle;		/* ticks of idle CPUs are samples, too */
	bool is_followed;		/* its trace is read while it grows: top, pipes */
	struct cpu_list cpus;		/* empty: all */
	/* Scans. */
	double scan_hz;
	bool scan_when_asked;		/* scans are made when they are asked for, and not else */
	uint32_t scans;			/* how many; 0: until the recording ends */
	/*
	 * Nothing else is recorded: the first and the last scan may wait for tables, and rows are
	 * shown as they come.
	 */
	bool scan_is_all;
	uint32_t faults;		/* enum fault_mode */
	bool scan_unchanged;		/* unwind threads that have not run since the last, too */
	bool syscall_args;		/* rows have all arguments of system calls */
	/*
	 * Memory shared with an agent, which sets rates: from the next segment on stacks are taken
	 * at these. NULL: the rates stay.
	 */
	struct shared_rates *rates;
	/* The options of each kind, all 0 at first; NULL: it has none of its own. */
	void *own[COLLECTORS];
};

/*
 * Makes the options of all kinds. 0 or -ENOMEM, explained; they may be released in any case, which
 * leaves all other fields alone.
 */
int capture_options_init(struct capture_options *o);
void capture_options_release(struct capture_options *o);

struct collector_context {
	struct recorder *recorder;
	const struct capture_options *options;
};

/* What a collector has taken so far. */
struct collector_counts {
	uint64_t samples;		/* of events */
	uint64_t scans, rows;
	uint64_t missing;		/* scans that were left out, and rows that others lack */
};

/* How a recording ended, for end(). */
struct collector_end {
	uint64_t begin_ns, end_ns;	/* the first stack was possible at begin_ns */
	uint8_t reason;			/* enum end_reason */
	struct rec_end *end;		/* .cpu_time_ns is added to */
};

struct collector {
	const char *name;
	/* Options of `sample` and `record`, which fill a struct of options_size. NULL: none. */
	const struct opt *options;
	size_t nr_options, options_size;
	/* Completes and checks them. 0 or -EINVAL, explained. NULL: there is nothing to check. */
	int (*check)(void *own);
	void (*release)(void *own);	/* frees what is in them. NULL: nothing */
	/* `sample` does not sample because of it, unless -e asks for samples. NULL: never. */
	bool (*is_instead)(const struct capture_options *o);
	unsigned programs;		/* CAPTURE_...: which BPF programs it needs */
	unsigned (*programs_of)(const struct capture_options *o);	/* NULL: programs */
	/* take() hands out a whole scan: it may be put off, and rows can be shown after it. */
	bool by_scans;
	bool (*is_wanted)(const struct capture_options *o);
	int (*open)(const struct collector_context *ctx, void **state);
	int (*start)(void *state, uint64_t begin_ns);
	size_t (*fds)(const void *state, int fds[COLLECTOR_FDS]);	/* NULL: none */
	uint64_t (*due_ns)(const void *state);
	int (*take)(void *state);
	void (*ask)(void *state);	/* take() is due now, once; NULL: it cannot be asked */
	/* From the next segment on it is so many times as slow as asked for. NULL: it never is. */
	void (*slow)(void *state, uint32_t times);
	void (*stop)(void *state);	/* NULL: nothing to stop */
	bool (*is_over)(const void *state);	/* it has all that was asked for; NULL: never */
	int (*end)(void *state, const struct collector_end *end);
	void (*counts)(const void *state, struct collector_counts *add);
	void (*losses)(const void *state, uint64_t totals[LOSS_CAUSES]);	/* adds */
	void (*close)(void *state);
};

extern const struct collector *const collectors[COLLECTORS + 1];	/* ends with NULL */
