/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CONTRACT user space <-> kernel: settings (read-only data, set before loading), counters (per
 * CPU), and what both sides write for scans.
 */
#pragma once

#include <stdint.h>

#define WIRE_MAX_EVENTS 32		/* event sources of one recording */

#define USER_RATES 256			/* users whose rate is lowered, by number */

#define NO_PROCESS UINT32_MAX		/* no thread group has this number */

struct knobs {
	uint32_t mode;			/* UNWIND_BY_TABLES | ... */
	uint32_t max_frames;
	uint32_t want_user, want_kernel;
	uint32_t only_targets;		/* only thread groups in the targets map */
	uint32_t only_tids;		/* only threads in the tids map */
	uint32_t self_tgid;		/* our first process: ours are not recorded; NO_PROCESS */
	uint32_t include_idle;		/* sampler: CPU idle time; scan: idle kernel threads */
	uint32_t wakeup_bytes;		/* ring buffer fill that wakes the reader */
	uint32_t ask;			/* scan: threads on a CPU are requested (running.bpf.h) */
	uint32_t snapshot_slot;		/* of dump_scratch: the first of SCAN_SLOTS for scans */
	uint32_t running_slot;		/* and the first for threads that a scan meets on a CPU */
	uint32_t skip_same;		/* scan: threads that have not run are not unwound again */
	uint32_t last_scans;		/* entries of the map last_scans: a power of two */
	uint32_t audit;			/* one stack in so many comes with its memory; 0: none */
	uint32_t deferred;		/* so do stacks that lack a mapping or a table */
	uint32_t faults;		/* enum fault_mode */
	uint32_t ring_room;		/* no memory is added to a ring that holds more bytes */
	uint32_t in_pid_ns;		/* probee is not in the initial PID namespace */
	uint32_t limit_rate;		/* ticks may be passed over (bpf/rate_limit.h) */
	uint32_t part_pages;		/* of struct wire_delta: a power of two */
	uint32_t shared_slots;		/* mirrors, and slots of dump_scratch for each purpose */
	uint32_t memos;			/* of the sampler, for each CPU; 0: none */
	uint32_t leaving_sets;		/* of memos of kernel stacks, for each CPU */
	uint32_t want_args;		/* scan: all arguments of system calls */
	uint32_t off_cpu_slot;		/* of dump_scratch: the first for stays off the CPU */
	uint32_t probe_slot;		/* and the first of those for probes */
	uint32_t raw_tp_cookies;	/* the kernel has them: Linux 6.10 */
	uint32_t shadow;		/* shadow stacks are kept (bpf/shadow.bpf.h) */
	uint32_t runtimes;		/* frame programs are run (unwind/frame_program.h) */
	uint32_t rare;			/* rare kinds of code are looked for: memory to verify */
	uint32_t returns;		/* probes at returns: the function is a frame */
	uint64_t hash_seed;		/* secret; the ids of stacks depend on it */
};

/*
 * Which memory of threads that do not run a scan reads. Reading may fault pages in, and so wait for
 * the file server or device that has them.
 */
enum fault_mode {
	FAULTS_NEVER,			/* none */
	FAULTS_ANON,			/* anonymous and shared memory: the kernel or swap has it */
	FAULTS_ALL			/* files, too: a server (FUSE, NFS) may never answer */
};

/*
 * Kinds of system calls that wait, by what their arguments tell. The table of WAIT_CALLS entries is
 * indexed by the number of the call; src/capture/bpf/wait_calls.c fills it.
 */
#define WAIT_CALLS 512

enum wait_call {
	CALL_OTHER,			/* nothing is known */
	/* From or to the descriptor in the first argument; accept and connect, too. */
	CALL_READ, CALL_WRITE,
	/* The first argument is a descriptor that has no other end. */
	CALL_FD,
	/* The first argument is a descriptor whose file another process may have locked. */
	CALL_FILE_LOCK,
	CALL_POLL, CALL_EPOLL,
	CALL_FUTEX,			/* of any kind */
	CALL_WAIT4, CALL_WAITID,
	CALL_CLONE,			/* vfork waits for its child */
	/* Looks up a path: the first argument, or the second, from the directory of the first. */
	CALL_PATH, CALL_PATH_AT
};

/*
 * Threads whose stacks are taken when they next leave a CPU, whichever it is: bpf/running.bpf.h. A
 * thread has the entry of its number in the initial namespace; user space empties all.
 */
#define SWITCH_REQUESTS 1024		/* a power of two */

struct switch_requests {
	uint32_t any;			/* has a cache line of its own: every switch reads it */
	uint32_t pad[15];
	uint32_t tids[SWITCH_REQUESTS];	/* 0: none */
};

#define ONCPU_REQUEST_BYTES 64	/* of struct oncpu_request: a cache line for each CPU */

enum counter {
	COUNTER_FIRED,			/* sampler program runs: the sum of the next seven */
	COUNTER_IDLE,			/* the CPU was idle */
	COUNTER_FILTERED,		/* the thread is not a target */
	COUNTER_OUTSIDE,		/* the thread is outside of probee's PID namespace */
	COUNTER_SUBMITTED,		/* the ring buffer took the record */
	COUNTER_RING_FULL,		/* the ring buffer refused it */
	COUNTER_PASSED_OVER,		/* the rate was lowered (bpf/rate_limit.h) */
	COUNTER_OF_SLOWED,		/* that of the user was (bpf/user_rates.bpf.h) */
	COUNTER_KERNEL_STACK,		/* kernel stacks that could not be read */
	COUNTER_STACKS,			/* user stacks unwound */
	/* Intervals off the CPU (bpf/off_cpu.bpf.h). */
	COUNTER_SHORT,			/* shorter or longer than asked for */
	COUNTER_NO_ENTRY,		/* there was no room for the thread */
	COUNTER_NOT_CHOSEN,		/* --off-cpu-prob left it out */
	COUNTER_WAKERS,			/* of COUNTER_STACKS: those of who woke a thread */
	COUNTER_FIRED_BY,		/* [COUNTER_FIRED_BY + event]: of COUNTER_FIRED, by event */
	COUNTERS = COUNTER_FIRED_BY + WIRE_MAX_EVENTS + 1
};

/*
 * Totals of one scan. A single reader writes them, so plain memory will do. A task may be visited
 * twice (when its row did not fit the buffer), so only the visit that wrote its row counts.
 */
struct scan_totals {
	uint64_t rows, filtered, idle_kthreads, on_cpu;
	uint64_t seen;			/* tasks: rows + filtered + idle_kthreads if all is well */
	uint64_t last_seen;		/* address of the last: a second visit follows the first */
	uint64_t reads, faulted;	/* pages of memory read; of these: faulted in */
	uint64_t stacks;		/* user stacks unwound */
	uint64_t same;			/* rows of threads that have not run since the last scan */
	uint64_t of_slowed;		/* of filtered: it was not the turn of the user's threads */
	uint64_t misled;		/* 1: a memo gave a wrong stack (bpf/kernel_memo.bpf.h) */
	uint64_t has_clocks;		/* the next two are known */
	uint64_t sched_behind_ns;	/* CLOCK_MONOTONIC minus the scheduler's clock */
	uint64_t task_behind_ns;	/* the scheduler's clock minus the clock of tasks */
};

/* probee's PID namespace, which the kernel side finds itself (bpf/task_ids.bpf.h). */
struct own_pid_ns {
	uint64_t address;		/* of its struct pid_namespace */
	uint32_t level, pad;
};

/*
 * Which process reads the task iterator and which task it has come to, so that a reader that hangs
 * can be given up (src/capture/collectors/task_reader.h). A reader is known by its start time:
 * unlike a pid that is the same in each PID namespace, and a later reader has a greater one.
 */
struct scan_place {
	uint64_t visits;		/* grows with each task */
	uint64_t reader;		/* start_boottime of the reader */
	uint32_t tgid, tid;		/* the task last visited */
	uint32_t uid, pad;		/* whose it is, in the initial user namespace */
	char comm[16];
};

/* Written by user space between scans. */
struct scan_control {
	uint64_t begin_ns;		/* of this scan; rows of unchanged threads have this time */
	uint64_t interval_ns;		/* from scan to scan: what a row weighs */
	uint64_t given_up;		/* readers started up to then write no rows any more */
	uint32_t slot;			/* scratch of this reader and of no other, hung or not */
	uint32_t no_reads;		/* no thread's memory is read */
	/* No thread is taken for unchanged: its last row may not have arrived. */
	uint32_t all_anew;
	/* It is not one of those that follow each other: it remembers nothing for the next. */
	uint32_t aside;
	uint32_t no_memo;		/* kernel stacks are not taken from memos */
	uint32_t event;			/* number of the event that rows of scans belong to */
	uint32_t hung_users;		/* in the map hung, besides processes */
	uint32_t scan;			/* its number; aside: 0 */
};

/* State of the scan of all descriptors (bpf/holders.bpf.h). User space zeroes it before each. */
struct holder_scan {
	/* Table of descriptors seen last: threads of a process follow each other and share it. */
	uint64_t last_files;
	uint64_t cut;			/* processes left out, or only their highest descriptors */
	uint64_t passed;		/* inside a PID namespace: the process list has been seen */
};

/* Bits of the states that a thread may leave a CPU in, and one for: it could go on. */
#define OFF_CPU_RUNNABLE (1u << 31)
/* In place of an event: what a struct wire_stay is. */
#define OFF_CPU_STAY 1
#define OFF_CPU_WAKER 2			/* the head and the stack are those of who ends the sleep */

/*
 * Where the entries of interrupts lie in the kernel, and the functions in which a thread that was
 * interrupted in its program does work of its own before it goes on there, such as dying by a
 * signal. A frame of them is a return address: behind start, and not behind end. x86-64; all 0 if
 * they are not known.
 */
#define KERNEL_EXITS 2

struct kernel_range {
	uint64_t start, end;
};

struct kernel_entries {
	struct kernel_range interrupts, exits[KERNEL_EXITS];
	struct kernel_range wake;	/* the function in which the tracepoint of wakers lies */
};

/* What stays off the CPU are recorded (bpf/off_cpu.bpf.h). */
struct off_cpu_control {
	uint64_t min_ns, max_ns;	/* max_ns 0: no limit */
	uint32_t states;		/* 0: all */
	uint32_t share;			/* of 2^32: how many stays are recorded; 0: all */
	uint32_t misled;		/* 1: a memo gave a wrong stack (bpf/kernel_memo.bpf.h) */
	/* Thousandths of a CPU's time that the program may take; 0: without limit. */
	uint32_t budget;
	uint32_t wakers;		/* who wakes threads is recorded, too */
	uint32_t pad;
	struct kernel_entries entries;	/* tell of wakers who was interrupted */
};

/* ---- probes (bpf/probe.bpf.h) ---- */

#define PROBE_SLOTS 4		/* runs on a CPU that may be going on at the same time */
#define PROBE_MEMOS 256		/* of threads */
#define PROBE_CONDITIONS 8
#define PROBE_ENTRY (1u << 16)	/* in a cookie: where calls of a timed event begin */
/* In a cookie: an entry or a return of a shadow stack. Its event is 0, or that of each entry. */
#define PROBE_SHADOW_ENTRY (1u << 17)
#define PROBE_SHADOW_RETURN (1u << 18)
#define PROBE_RETURN (1u << 19)	/* in a cookie: at the return of a function */
#define SHADOW_FRAMES 65536	/* calls that have begun, by where on the stack they are */
#define SHADOW_KNOWN 16384	/* texts that user space has got */
#define SHADOW_RECENT 4096	/* a power of two: some of these, to be found faster */

struct shadow_key {
	uint64_t cfa;			/* of the native function */
	uint32_t tgid, pad;
};

enum shadow_counter {
	SHADOW_ENTERED,
	SHADOW_RETURNED,
	SHADOW_UNPAIRED,		/* returns whose entry is not known (any more) */
	SHADOW_NO_ROOM,			/* entries that are not kept */
	SHADOW_UNREAD,			/* entries without a name: memory that cannot be read */
	SHADOW_NESTED,			/* entries that are not kept: no slot was free */
	SHADOW_REFUSED,			/* texts that the ring buffer refused; they come again */
	SHADOW_STALE,			/* frames of other functions at the same place: not shown */
	SHADOW_COUNTERS
};

struct shadow_counts {
	uint64_t v[SHADOW_COUNTERS];
};

#define PROBE_ENTRIES 16384	/* calls that have begun and not returned */

enum probe_counter {
	PROBE_FIRED,			/* the sum of the others */
	PROBE_IDLE, PROBE_OUTSIDE, PROBE_OF_OTHERS,
	PROBE_UNFIT,			/* a condition did not hold */
	PROBE_QUICK,			/* it took less time than --min-latency */
	PROBE_UNPAIRED,			/* a return whose entry is not known (any more) */
	PROBE_NESTED,			/* no slot was free */
	PROBE_SUBMITTED, PROBE_RING_FULL,
	PROBE_SUMMED,			/* added to a sum (bpf/probe_sums.bpf.h) */
	PROBE_COUNTERS
};

struct probe_counts {
	uint64_t v[PROBE_COUNTERS];
};

/* Events of a thread at one stack. */
struct probe_sum {
	uint64_t weight;		/* so far */
	uint64_t last_ns;		/* when the last one came */
};

enum probe_op { PROBE_EQ, PROBE_NE, PROBE_LT, PROBE_LE, PROBE_GT, PROBE_GE, PROBE_AND };

/*
 * Compares the size (1, 2, 4 or 8) bytes at offset of the program's context with value; or the
 * argument of this number, from 1 on, of the USDT probe.
 */
struct probe_condition {
	uint64_t value;
	uint32_t offset;
	uint8_t size, is_signed, op, argument;
};

enum { SHADOW_CLASS, SHADOW_NAME, SHADOW_FILE, SHADOW_TEXTS };

/* Where an argument of a USDT probe is. */
enum { ARGUMENT_NONE, ARGUMENT_CONSTANT, ARGUMENT_REGISTER, ARGUMENT_MEMORY };

#define PROBE_NO_REGISTER 0xff
#define USDT_ARGUMENTS 12

struct probe_argument {
	int64_t value;			/* the constant, or what is added to the address */
	uint8_t kind, size, is_signed;
	uint8_t reg, index;		/* words of struct pt_regs, or PROBE_NO_REGISTER */
	uint8_t scale;			/* of the index: 1, 2, 4 or 8 */
	uint8_t shift;			/* of the register: 8 for %ah */
	uint8_t pad;
};

/* A place of a USDT probe; its number, from 1 on, is in the upper half of the cookie. */
#define USDT_PLACES 4096

struct usdt_place {
	struct probe_argument v[USDT_ARGUMENTS];
	/* Shadow stacks only: */
	int32_t cfa_off;		/* the CFA is that far from the register */
	uint8_t cfa_reg;		/* word of struct pt_regs */
	uint8_t line;			/* number of the argument that has it, from 1 on; or 0 */
	uint8_t texts[SHADOW_TEXTS];	/* the same of those that point to texts */
	uint8_t pad[7];
	uint64_t before;		/* bytes of the function before the place */
	uint64_t size;			/* of the function */
};

_Static_assert(sizeof(struct usdt_place) == 16 * USDT_ARGUMENTS + 32, "place layout");

#define PROBE_VALUES 6		/* arguments of a USDT probe that are recorded */

struct probe_value {
	uint8_t argument;		/* its number, from 1 on */
	uint8_t is_text;		/* what it points to is wanted; at most SHADOW_TEXTS are */
};

struct probe_filter {
	uint32_t nr;
	uint32_t is_timed;		/* a return, which weighs the time since the entry */
	uint64_t min_latency_ns;
	struct probe_condition v[PROBE_CONDITIONS];	/* all of them must hold */
	uint32_t nr_values;
	struct probe_value values[PROBE_VALUES];
};

struct probe_control {
	uint32_t raw_tp_event;		/* without cookies: the only one */
	uint32_t stopped;		/* nothing is recorded any more: to detach may take long */
};

/* ---- interrupts (bpf/irq.bpf.h) ---- */

/* What a number of a vector is the number of. */
enum irq_class {
	IRQ_LINE = 1,			/* as in /proc/interrupts */
	IRQ_SOFT,			/* a soft interrupt: NET_RX_SOFTIRQ, ... */
	IRQ_LOCAL			/* an entry of x86-64's own table: timer, other CPUs */
};

#define IRQ_NUMBER_BITS 24
#define IRQ_OWN (1u << 23)	/* in a number: runs in which a tick of -e irq itself came */
#define IRQ_VECTOR(class, number) ((uint32_t)(class) << IRQ_NUMBER_BITS | (number))

struct irq_total {
	uint64_t runs;			/* handlers that have ended */
	uint64_t ns;			/* their time */
	uint64_t pending_ns;		/* of that: not yet in a record */
};

enum irq_counter {
	IRQ_RUNS,			/* handlers that have ended: the sum of the next two */
	IRQ_COUNTED, IRQ_OF_OTHERS,
	IRQ_UNPAIRED,			/* ends whose beginning is not known */
	IRQ_STACKS, IRQ_REFUSED,	/* refused: the time stays pending */
	IRQ_NO_ROOM,			/* of IRQ_COUNTED: there was no room for the vector */
	IRQ_COUNTERS
};

struct irq_counts {
	uint64_t v[IRQ_COUNTERS];
};

struct irq_control {
	uint32_t event;			/* number of the event in the recording */
	uint32_t pad;
};

#define SCAN_SLOTS 8
#define MEMO_SETS 32		/* of memos of kernel stacks, by system call */
/* A key of the map hung that is a user, and no thread group. */
#define HUNG_USER (1ull << 32)
