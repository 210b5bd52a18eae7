/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a recorder. Only its own files include this: recorder.c, which keeps it going,
 * recorder_open.c, which puts it together and takes it apart, recorder_workers.c,
 * recorder_kernel.c, which has the kernel's symbols read, and recorder_segments.c, which divides
 * what it writes.
 */
#pragma once

#include "src/base/clock.h"
#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/capture/losses.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/recorder.h"
#include "src/capture/session/stack_definer.h"
#include "src/capture/stacks/held_stacks.h"
#include "src/capture/tables/user_costs.h"
#include "src/model/binary.h"
#include "src/model/process.h"
#include "src/symbolize/kernel_code.h"
#include "src/symbolize/kernel_hidden.h"
#include "src/symbolize/kernel_symbols.h"

/* The reading of the kernel's symbols by a worker (recorder_kernel.c). */
struct kernel_job {
	struct worker_job job;
	struct file_opener *opener;
	struct parsers *parsers;
	bool no_names;			/* nor lines */
	struct kernel_files files;
	struct kernel_hidden hidden;	/* with the rights that the files were opened with */
	struct kernel_symbols *symbols;	/* the worker's until is_read; NULL: they cannot be read */
	struct kernel_debug debug;	/* likewise */
	struct kernel_code code;	/* the recorder's own */
	bool is_asked, is_read;
	bool is_there;			/* the session has them, or none are wanted */
	struct held_stacks held;	/* until then */
};

/* The loading of the BPF programs, which the kernel checks while /proc is read. */
struct load_job {
	struct worker_job job;
	struct worker_pool *pool;	/* NULL: it has not begun */
	struct recorder *recorder;
	struct unwind_loader *loader;	/* what it has made besides recorder->bpf */
	int err;
};

struct recorder {
	struct recorder_options opts;
	struct capture_bpf *bpf;
	struct helper_deaths *deaths;		/* of all its processes */
	struct child_forker *forker;		/* of readers of tasks and memory */
	struct helper_keeper *keeper;		/* of the processes of the next two */
	struct file_opener *opener;
	struct debug_server *server;	/* NULL: --debuginfod was not given */
	struct parsers *parsers;
	struct jvm_maps *jvms;		/* NULL unless JVMs are asked */
	struct worker_pool *pool, *name_pool;	/* for tables; for names */
	struct worker_pool *code_pool;	/* reads generated code */
	struct symbolizer *symbolizer;
	struct kernel_job kernel;
	struct held_stacks code_held;	/* names of generated code are awaited */
	struct processes processes;
	struct binaries binaries;
	struct unwind_loader *loader;
	struct process_runtimes *runtimes;
	struct binary_store *store;
	struct process_tracker *tracker;
	struct cmdlines *cmdlines;	/* NULL: not wanted */
	struct session *session;
	struct losses losses;
	struct deferred_stacks *deferred;
	struct wait_peers *peers;	/* NULL: no scans */
	struct user_costs *costs;	/* NULL: costs are not measured */
	bool is_naming;			/* what is looked at now was named by the user */
	uint32_t *without;		/* binaries without a table, met before loader was there */
	size_t nr_without, cap_without;
	uint64_t evicted;		/* binaries whose table was thrown out */
	/* The patience for waits at the end and after the first scan. */
	struct patience patience;
	uint64_t patience_begin_ns, patience_used_ns;
	bool has_said_waiting;
	uint64_t next_flush_ns, last_update_ns;
	uint64_t flush_ns;		/* until the next flush; grows to a second */
	bool is_cut_asked;		/* recorder_ask_cut() */
	uint64_t part_begin_ns;		/* of the part of the recording that is being written */
	uint64_t part_until_ns;		/* another one begins then; 0: not by time */
};

/* true: the user asked for certain processes or threads, not for all. */
bool recorder_has_filter(const struct recorder_options *o);
/* true: these are few, and only their children join them. */
bool recorder_has_few_targets(const struct recorder_options *o);

int recorder_report_losses(struct recorder *r);	/* LOST records. 0, or an error of the sink */

/*
 * recorder_segments.c: goes on in another segment of the trace if this one has become large. To be
 * called between two turns of the capture loop. 0, or an error that ends the recording.
 */
/* recorder_tell.c: at the end, all that a recording says of itself. 0, or an error that ends it. */
int recorder_tell(struct recorder *r);
/* NOTE records of all that was said with note_kept(). 0, or an error of the sink. */
int recorder_tell_kept(struct recorder *r);

/* ---- recorder.c: what others ask of the recorder, ctx ---- */

struct mapping;
struct process;
void recorder_on_binary(void *ctx, uint32_t binary, uint64_t time_ns);

/* recorder_owners.c: when the parsers are there. 0 or -ENOMEM. */
int recorder_costs_open(struct recorder *r);
/* These are callbacks of struct user_costs_deps and struct unwind_loader_options. */
int recorder_process_users(void *r, uint32_t tgid, struct process_users *out);
uint32_t recorder_table_owner(void *r, uint32_t binary);
uint32_t recorder_process_owner(void *r, uint32_t tgid);
bool recorder_meet(void *ctx, struct process *p, const struct mapping *m, uint64_t addr);
bool recorder_wants_to_end(void *ctx);

int recorder_look_at_part(struct recorder *r);
/* To be called when a part begins: sets until when it lasts. */
void recorder_time_part(struct recorder *r);
/* How long it is at a time of CLOCK_REALTIME until the next multiple of ns, or offset_ns later. */
uint64_t recorder_until_multiple(uint64_t real_ns, uint64_t ns, uint64_t offset_ns);
/* CPU time of all processes but this one and the readers of scans. */
uint64_t recorder_helpers_cpu_ns(const struct recorder *r);

/* ---- recorder_kernel.c ---- */

/* process_tracker_deps.on_code; r: the recorder. */
struct task_event;
void recorder_kernel_code(void *r, const struct task_event *ev);
/* Opens the files; their contents are asked for when they are needed. The workers are there. */
void recorder_kernel_open(struct recorder *r);

/*
 * recorder_workers.c: the helper processes, which are started before there are threads, and then
 * the threads. 0, or -errno with a message.
 */
#define RECORDER_NICE (-15)		/* of who must not wait where all CPUs are busy */
int recorder_helpers_open(struct recorder *r);
int recorder_workers_open(struct recorder *r);
/* Gives this thread a lower nice value if that is allowed. Returns the one that it had. */
int recorder_be_urgent(int nice);
void recorder_be_as_before(int before);
void recorder_begin_thread(void);	/* what threads that stay do first */
void recorder_begin_urgent_thread(void);	/* the same, while rights are held */
/* Bytes that the control groups leave. */
uint64_t recorder_memory_room(void);
bool recorder_has_little_memory(void);
/* When no worker runs any more. */
void recorder_kernel_close(struct recorder *r);

/* These return 0, or an error that ends the recording. */

/* Gives a stack to the session, as recorder_stack(), but holds it if its names are not there. */
int recorder_give(struct recorder *r, const struct wire_stack *stack, uint32_t scan);
/* Gives on what waits for names of generated code: what has them by now, or all. */
int recorder_code_take(struct recorder *r);
int recorder_code_settle(struct recorder *r, struct patience *wait);
/* Gives on what is held, if the symbols are there; waits for them; waits if anything is held. */
int recorder_kernel_take(struct recorder *r);
int recorder_kernel_wait(struct recorder *r);
int recorder_kernel_settle(struct recorder *r);

/* For the tracker of processes; ctx: struct recorder. */
bool recorder_wants_process(void *ctx, uint32_t tgid);
bool recorder_lets_join(void *ctx, uint32_t tgid);
void recorder_forget_process(void *recorder, const struct process *p);
/* Tells the kernel's side which processes and threads are named. */
int recorder_add_targets(struct recorder *r);
