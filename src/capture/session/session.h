/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the stacks of the BPF programs into the records of a trace. A process, thread, binary or
 * frame that is new is defined by a record before the SAMPLE that refers to it. Names follow later
 * (session_names()).
 *
 *	session_new(&deps, &s)
 *	session_add_event(s, &event) ...	each source of stacks
 *	session_kernel(s, &k)			before the first stack with frames of the kernel
 *	session_begin(s, &info)			writes META, CLOCK, and an EVENT for each source
 *	session_sample(s, stack, scan) ...	writes a SAMPLE and its definitions
 *	session_scan(s, &scan)			after the rows of a scan: writes its SCAN record
 *	session_names(s, wait)			writes SYMBOL and FUNC records for the names that
 *						have been looked up by now; wait: for all names
 *	session_end(s, &end)			writes CLOCK and END
 *	session_free(s)
 *
 * A long recording goes on in another segment of the trace now and then, so that what is defined
 * does not become ever more (session_segment.c):
 *
 *	session_memory(s)			what the definitions of this part take
 *	session_settle_names(s, wait)		as session_names(), and forgets what is not known
 *	session_continue(s, &end, fn, ctx)	ends this part and begins the next one
 *
 * The session knows nothing of BPF objects or files: it gets decoded stacks and gives records.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/session/code_owners.h"
#include "src/capture/waits/peer_samples.h"
#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"
#include "src/symbolize/lines_lack.h"

struct child_forker;
struct user_costs;
struct session;
struct shadow_name;
struct binaries;
struct file_opener;
struct jvm_maps;
struct mapping;
struct parsers;
struct patience;
struct process;
struct process_runtimes;
struct process_tracker;
struct symbolizer;
struct kernel_code;
struct kernel_debug;
struct kernel_symbols;

struct session_deps {
	record_fn sink;
	void *sink_ctx;
	struct process_tracker *tracker;
	struct binaries *binaries;
	struct symbolizer *symbolizer;
	struct file_opener *opener;	/* for jit_names.h, as parsers */
	struct parsers *parsers;
	struct jvm_maps *jvms;		/* as in jit_names.h */
	/* See runtime_names.h. runtimes NULL: no frames of runtimes are shown. */
	struct process_runtimes *runtimes;
	void (*begin_thread)(void);
	void (*begin_urgent)(void);	/* the same for runtime_attacher.h */
	struct child_forker *forker;	/* of who reads memory */
	struct user_costs *costs;	/* of memory_reader_new() */
	process_owner_fn process_owner;	/* NULL: all processes are one user's */
	/* Told of each binary that a new stack goes through. NULL: not wanted. */
	void (*on_binary)(void *ctx, uint32_t binary, uint64_t time_ns);
	/*
	 * A stack goes through addr, which m holds: its file may not be read, or not be held any
	 * more. true: more is known of p now, and m is no longer valid. NULL: all files are there.
	 */
	bool (*meet)(void *ctx, struct process *p, const struct mapping *m, uint64_t addr);
	/* After a scan: finds the other ends of pipes and sockets. NULL: not wanted. */
	find_peers_fn find_peers;
	bool no_names;			/* no names are looked up: frames stay addresses */
	void *ctx;
};

/* The texts are borrowed until session_free(). */
struct session_info {
	const char *mode;		/* "sample", "snapshot", "record" */
	int argc;
	char **argv;
	const char *unwind;		/* "auto", "fp", "dwarf" */
	const char *symbolize;		/* "stream", "none" */
	const char *rate;		/* META rate.budget of the next part; NULL or "": none */
	const char *user_rates;		/* likewise META rate.users */
};

/* A source of samples. */
struct session_event {
	const char *name, *unit;	/* literals */
	uint8_t kind;			/* enum event_kind */
	double freq_hz;			/* 0: not by time */
	uint64_t period;		/* in unit; 0: each sample has a weight of its own */
};

struct session_stats {
	uint64_t samples, user_stacks, whole, guessed, frames, nodes, threads, processes;
	uint64_t unresolved;		/* frames without a name */
	uint64_t lines_lost;		/* frames whose lines were given up */
	struct lines_lack lines_lack;	/* frames whose lines cannot be read */
	uint64_t ends[STACK_ENDS];
	uint64_t bad;			/* stacks of an event that was never added */
};

/* p ended long ago, and no stack of it comes any more. */
void session_forget_process(struct session *s, const struct process *p);

int session_new(const struct session_deps *deps, struct session **sp);
void session_free(struct session *s);		/* NULL is fine */
/* Borrowed until session_free(), as in struct stack_definer_deps. */
struct session_kernel {
	const struct kernel_symbols *symbols;
	struct kernel_debug *debug;
	const struct kernel_code *code;
};

/* Not called, or without symbols: frames of the kernel stay without names. */
void session_kernel(struct session *s, const struct session_kernel *k);
/*
 * To be called before session_begin(). Returns the number of the event, 1, 2, 3, ...;
 * -E2BIG: there are more than WIRE_MAX_EVENTS.
 */
int session_add_event(struct session *s, const struct session_event *event);
int session_begin(struct session *s, const struct session_info *info);

/* scan: number of the scan that the row belongs to; 0: it is a sample. 0 or the sink's error. */
int session_sample(struct session *s, const struct wire_stack *stack, uint32_t scan);
/* Whether the names of a stack's code are not there yet, and come soon (jit_names_must_wait()). */
bool session_must_wait(struct session *s, const struct wire_stack *stack);
void session_hurry(struct session *s);	/* nothing else is to be done than to wait for them */
int session_scan(struct session *s, const struct rec_scan *scan);
/* The rate of an event, and its period, from the next part on. */
void session_set_rate(struct session *s, uint32_t number, double freq_hz, uint64_t period);
/* Gives a record to the sink as it is: SCAN, LOST, NOTE. */
int session_emit(struct session *s, const struct record *rec);
int session_tell(struct session *s, const char *key, const char *value);	/* META */
int session_note(struct session *s, uint8_t severity, const char *text);	/* NOTE */
/*
 * Now and then: looks at processes whose runtime tells only when it runs where its frames are, with
 * wait until each has been looked at; and when to call that next.
 */
void session_attach(struct session *s, struct patience *wait);
int session_attach_fd(const struct session *s);		/* as runtime_attacher_fd() */
uint64_t session_next_attach_ns(const struct session *s);
int session_tell_runtimes(struct session *s);	/* META runtimes, runtimes.code */
int session_clock(struct session *s);
int session_names(struct session *s, struct patience *wait);
/*
 * end.cpu_time_ns: the CPU time of our other processes; that of this process is added, and what the
 * ENDs of earlier parts have told is taken off. end.time_ns: when sampling ended; 0: now. Numbers
 * of samples, scans and losses are counted here, those of this part.
 */
int session_end(struct session *s, const struct rec_end *end);
uint64_t session_files_unnamed(const struct session *s);	/* rows: descriptor_names.h */
uint64_t session_names_late(const struct session *s);	/* see jit_names_late() */
uint64_t session_names_lost(const struct session *s);	/* given up: symbolizer.h, jit_names.h */
/* true: stacks of p came. */
bool session_has_process(const struct session *s, const struct process *p);
struct session_stats session_stats(const struct session *s);

/* ---- shadow stacks ---- */

/* Names a frame of the session, now or when it comes. 0 or -ENOMEM. */
int session_shadow_name(struct session *s, uint64_t id, const struct shadow_name *name);
uint64_t session_shadow_nameless(const struct session *s);
/* Stacks whose outer part was unwound later: only the kernel side knew its shadow frames. */
uint64_t session_shadow_rewound(const struct session *s);

/* ---- parts ---- */

size_t session_memory(const struct session *s);		/* bytes */
uint64_t session_tasks(const struct session *s);	/* processes and threads that are defined */
uint32_t session_part(const struct session *s);		/* 1, 2, ... */
/* true: no rows of a scan wait to be written, so that another part can begin. */
bool session_is_quiet(const struct session *s);
/*
 * Waits for the names that have been asked for. When the patience is over, the others stay unknown
 * and count as lost. Nothing that was asked before is answered after it.
 */
int session_settle_names(struct session *s, struct patience *wait);
/*
 * Writes the END of this part, calls begin_segment, and begins the next part as session_begin().
 * The names are settled, and the session is quiet. All ids are new from here on: the next scan must
 * have whole rows, without WIRE_SAME. 0 or the first error; without memory this part goes on.
 */
int session_continue(struct session *s, const struct rec_end *end, int (*begin_segment)(void *ctx),
		     void *ctx);
