/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All parts of one recording, put together and kept going: the BPF programs, the model of the
 * machine's processes, unwind tables, names, and the session that writes records. The collectors
 * (src/capture/collectors) add the sources of stacks, and the caller's sink gets the records.
 *
 *	                 task events, /proc
 *	                        |
 *	                 process_tracker ----------> mappings --+
 *	                        |                               v
 *	workers <------- binary_store --> unwind_loader --> BPF programs
 *	                                                        | stacks
 *	sink <-- session <-- deferred_stacks <-- recorder_stack() <-- collectors
 *
 * A collector hands each stack to recorder_stack(). A whole stack goes to the session at once. A
 * stack that the kernel side could not unwind yet waits in deferred_stacks. recorder_update()
 * brings the model and the tables up to date, and gives on the stacks that can be unwound then. A
 * collector calls it before it reads stacks, so that the events of a new process are known before
 * its first stack is resolved.
 *
 * Example: a program starts, and is sampled 3 ms later in a library that is new to the recording.
 * Its fork, exec and mapping events make process_tracker_fd() readable; recorder_update() makes the
 * process, has the workers build the table of the library, and publishes the mappings. The stack
 * comes out of the ring without the frames behind that library and waits. The workers are done, and
 * worker_fd() is readable: recorder_update() loads the table, and the stack is unwound and goes on.
 *
 * Everything here runs in one thread, the caller's. Work that may take long or block is left to
 * worker threads (tables, names), helper threads and child processes, so that no file and no other
 * process can stop a recording.
 *
 *	recorder_open(&opts, &r)	loads programs, reads /proc, builds tables (and waits a
 *					moment for them)
 *	recorder_add_event(r, &event) ...	called by the collectors
 *	recorder_begin(r, &info)	writes META, CLOCK, EVENTs
 *	recorder_update(r)		to be called before stacks are resolved
 *	recorder_stack(r, stack, scan) ...
 *	recorder_show(r)		after the rows of the first scan: those who look see them
 *	recorder_settle(r, scan, ...)	after a scan: waits for its deferred stacks, for a second
 *					or ten
 *	recorder_service(r)		now and then: names, losses, and each second a flush of the
 *					sink; another segment (recorder_segments.c)
 *	recorder_ask_cut(r)		ends the segment soon (flight recorder)
 *	recorder_end(r, &end)		writes the last losses and names, and END
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
struct child_forker;
struct id_list;
struct shared_rates;

enum unwind_mode { UNWIND_AUTO, UNWIND_FP, UNWIND_DWARF };

struct target_rules;

struct recorder_options {
	unsigned programs;		/* CAPTURE_... */
	unsigned events;		/* that will be opened on each CPU */
	enum unwind_mode unwind;
	bool user_only, kernel_only, include_idle;
	uint32_t faults;		/* scans: enum fault_mode of bpf/knobs.h */
	bool self_profile;		/* probee itself is recorded, too */
	bool skip_same;			/* scans: do not unwind threads that have not run again */
	bool syscall_args;		/* scans: rows have all arguments of system calls */
	/* Targets, with their children, and threads. Both empty: all. Borrowed until the close. */
	const struct id_list *pids;
	const struct id_list *tids;	/* only these threads */
	const struct target_rules *rules;	/* what begins and fits joins; NULL: nothing */
	uint32_t audit;			/* keep registers and memory of each n-th stack; 0: none */
	uint32_t max_frames;		/* 0: 1,024 */
	uint32_t inline_depth;		/* functions at one address; 0: as many as there are */
	bool no_names;			/* frames stay addresses */
	bool cmdlines;			/* command lines of processes are recorded */
	double samples_hz;		/* of a CPU, of all events; 0: not known */
	const char *debug_urls;		/* servers of debug files (debug_server.h); NULL: none */
	bool asks_jvms;			/* for maps of their code */
	bool limit_rate;		/* samples come so fast that ticks may be passed over */
	/* Adds to each cause what the collectors have lost so far. */
	void (*losses)(void *sink_ctx, uint64_t totals[LOSS_CAUSES]);
	record_fn sink;
	int (*flush)(void *sink_ctx);	/* NULL: none */
	/* The next record is the first of another segment. NULL: the recording has one only. */
	int (*begin_segment)(void *sink_ctx);
	uint64_t (*segment_bytes)(void *sink_ctx);	/* written of this segment so far */
	uint64_t max_segment_bytes;	/* another one begins then; 0: for its memory alone */
	/*
	 * Another one begins each time that the clock of the wall shows a multiple of segment_ns,
	 * or segment_offset_ns later than that. 0: not by time.
	 */
	uint64_t segment_ns, segment_offset_ns;
	struct shared_rates *rates;	/* costs and rates of users; NULL: costs are not measured */
	/* true: the user does not want to wait for tables and names any longer. NULL: never. */
	bool (*hurry)(void *sink_ctx);
	void *sink_ctx;
};

int recorder_open(const struct recorder_options *opts, struct recorder **rp);
void recorder_close(struct recorder *r);		/* NULL is fine */

struct session *recorder_session(struct recorder *r);
size_t recorder_waiting_bytes(const struct recorder *r);	/* of stacks that wait for tables */
struct capture_bpf *recorder_bpf(struct recorder *r);
struct child_forker *recorder_forker(struct recorder *r);

/* true: all processes are recorded, and probee sees every process of the machine. */
bool recorder_is_whole_machine(const struct recorder *r);

/* true: what only makes the recording better is not waited for any longer. */
bool recorder_in_a_hurry(const struct recorder *r);

/*
 * Waits for the kernel's symbols and tells where entries of interrupts lie. 0, or an error that
 * ends the recording.
 */
struct kernel_entries;
int recorder_kernel_entries(struct recorder *r, struct kernel_entries *entries);

#define RECORDER_FDS 4

/*
 * Sets fds for poll() and returns their number, RECORDER_FDS at most. When one of them is readable,
 * recorder_update() is to be called. Where processes come and go by the thousand, each event would
 * be a wake-up of its own: recorder_hold_off() sleeps until 0.3 ms after the last update, so that
 * one wake-up serves many events.
 */
size_t recorder_fds(const struct recorder *r, int fds[RECORDER_FDS]);
void recorder_hold_off(const struct recorder *r);

/*
 * To be called before and after a scan. Between them, parts of the unwind tables that the iterator
 * may be reading are not used for anything else (src/capture/tables/epoch.h).
 */
void recorder_iter_begin(struct recorder *r);
void recorder_iter_end(struct recorder *r);

/* CPU time that others took for the stacks since the last call: their users pay for it. */
void recorder_divide_cost(struct recorder *r, uint64_t ns);
/* From now on stacks are taken at the rates of users. Writes META rate.users; "": all are at 1. */
void recorder_slow_users(struct recorder *r, char *buf, size_t size);

/* Adds a source of stacks, before recorder_begin(). Returns its number, as session_add_event(). */
int recorder_add_event(struct recorder *r, const struct session_event *event);
int recorder_begin(struct recorder *r, const struct session_info *info);
int recorder_update(struct recorder *r);

/*
 * Gives one stack to the session: at once, or later when its process and tables are known. scan as
 * in session_sample().
 */
int recorder_stack(struct recorder *r, const struct wire_stack *stack, uint32_t scan);
/*
 * Waits for the deferred stacks of a scan (0: all stacks), then gives on the rest as they are.
 * patient: the recording has nothing else to do, so it may take 10 s. again, ctx: visits a thread
 * whose stack was longer than the memory that came with it.
 */
int recorder_settle(struct recorder *r, uint32_t scan, bool patient, revisit_fn again, void *ctx);
/*
 * Names and flushes what is there. A view of the recording has its first picture then, while
 * recorder_settle() waits for the tables of other stacks.
 */
int recorder_show(struct recorder *r);
int recorder_service(struct recorder *r);
uint64_t recorder_next_service_ns(const struct recorder *r);	/* CLOCK_MONOTONIC */
/* Whether some processes or threads alone were asked for. */
bool recorder_is_filtered(const struct recorder *r);

/* To be called after the first scan: threads that no scan will show, as hidden_tasks(). */
uint64_t recorder_hidden(const struct recorder *r, uint64_t begin_ns, char *text, size_t size);
/*
 * The next recorder_service() ends the part of the recording that is being written, with its names
 * and losses, so that what was written until then is a trace of its own (ENDED_TRIGGER), and begins
 * the next one. session_part() says when that was done.
 */
void recorder_ask_cut(struct recorder *r);
int recorder_end(struct recorder *r, const struct rec_end *end);

/* The number of samples lost so far, and a text about other losses (false: there are none). */
uint64_t recorder_lost(const struct recorder *r);
bool recorder_lost_others(const struct recorder *r, char *buf, size_t size);

/* Writes a text about tables and memory, for -v and for the trace. */
void recorder_describe(const struct recorder *r, char *buf, size_t size);
