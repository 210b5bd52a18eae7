/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CONTRACT user space <-> kernel: settings (read-only data, set before loading) and counters (per
 * CPU).
 */
#pragma once

#include <stdint.h>

#define WIRE_MAX_EVENTS 32		/* event sources of one recording */

struct knobs {
	uint32_t mode;			/* UNWIND_BY_TABLES | UNWIND_BY_FRAME_POINTERS */
	uint32_t max_frames;
	uint32_t want_user, want_kernel;
	uint32_t only_targets;		/* only thread groups in the targets map */
	uint32_t only_tids;		/* only threads in the tids map */
	uint32_t self_tgid;		/* never looked at */
	uint32_t include_idle;		/* sampler: CPU idle time; snapshot: idle kernel threads */
	uint32_t wakeup_bytes;		/* ring buffer fill that wakes the reader */
	uint32_t ask;			/* snapshot: threads on a CPU are wished for there */
	uint32_t snapshot_slot;		/* of dump_scratch: the first of SCAN_SLOTS */
	uint32_t skip_same;		/* snapshot: a thread that has not run since the last walk
					   is not walked again */
	uint32_t last_scans;		/* entries of the map of that name: a power of two */
	uint32_t audit;			/* registers and memory of one in so many stacks are handed
					   out; 0: of none */
	uint32_t deferred;			/* they are handed out when the tables did not know
						   enough */
	uint32_t faults;		/* enum fault_mode */
	uint32_t ring_room;		/* bytes: with more than that in the ring no memory is added
					   to it */
	uint32_t in_pid_ns;		/* probee is in a PID namespace other than the initial
					   one */
};

/*
 * Which memory of a thread that does not run is read: reading it may bring pages in, and so wait
 * for whoever has them.
 */
enum fault_mode {
	FAULTS_NEVER,			/* none */
	FAULTS_ANON,			/* anonymous and shared memory: it needs nobody but the
					   kernel and its swap devices */
	FAULTS_ALL			/* that of files, too: a server (FUSE, NFS) may never
					   answer */
};

/*
 * System calls that wait, by what their arguments tell (src/capture/bpf/wait_calls.h). Indexed by
 * number; 0: nothing.
 */
#define WAIT_CALLS 512

enum wait_call {
	CALL_OTHER,
	CALL_READ, CALL_WRITE,		/* from, to the descriptor in the first argument; connect
					   and accept, too */
	CALL_FD,			/* that is a descriptor, but nobody is on its other end */
	CALL_FILE_LOCK,			/* that is a descriptor, and somebody may have locked the
					   file */
	CALL_POLL, CALL_EPOLL,
	CALL_FUTEX,			/* of any kind */
	CALL_WAIT4, CALL_WAITID,
	CALL_CLONE			/* vfork waits for its child */
};

#define ONCPU_REQUEST_BYTES 64			/* of struct wish: a cache line for each CPU */

enum counter {
	COUNTER_FIRED,			/* sampler program runs */
	COUNTER_IDLE,			/* of those: idle CPU */
	COUNTER_FILTERED,		/* of those: not a target */
	COUNTER_OUTSIDE,		/* of those: not in probee's PID namespace */
	COUNTER_SUBMITTED,
	COUNTER_RING_FULL,		/* of those: refused by the ring buffer */
	COUNTER_KERNEL_STACK,		/* kernel stacks that could not be read */
	COUNTER_STACKS,			/* user stacks unwound */
	COUNTER_FIRED_BY,		/* [COUNTER_FIRED_BY + event]: of COUNTER_FIRED, by event */
	COUNTERS = COUNTER_FIRED_BY + WIRE_MAX_EVENTS + 1
};

/*
 * Totals of one walk of the task iterator. Single reader: plain memory. A task may be visited twice
 * (when its row did not fit the buffer), so only the visit that wrote its row counts.
 */
struct scan_totals {
	uint64_t rows, filtered, idle_kthreads, on_cpu;
	uint64_t seen;			/* tasks: the sum of the first three, if nothing went
					   wrong */
	uint64_t last_seen;		/* address of the last one: a second visit comes right
					   behind the first */
	uint64_t reads, faulted;	/* pages of memory read, and how many of them had to be
					   brought in */
	uint64_t stacks;		/* user stacks walked */
	uint64_t same;			/* rows of threads that have not run since the last walk */
	uint64_t misled;		/* a kernel stack was taken for one seen before, and was not
					   (bpf/kernel_memo.bpf.h) */
	uint64_t has_clocks;
	uint64_t sched_behind_ns;	/* the scheduler's clock plus this is CLOCK_MONOTONIC */
	uint64_t task_behind_ns;	/* the clock of tasks plus this is the scheduler's */
};

/* Found by the kernel side for itself (bpf/task_ids.bpf.h). */
struct own_pid_ns {
	uint64_t address;		/* of its struct pid_namespace */
	uint32_t level, pad;
};

/*
 * Who walks and where it is, so that a walk that hangs can be given up
 * (src/capture/collectors/task_reader.h). A reader is known by the time it was started: unlike a
 * pid that is the same in each namespace, and later ones are greater.
 */
struct scan_place {
	uint64_t visits;		/* grows with each task */
	uint64_t reader;		/* start_boottime of who walks */
	uint32_t tgid, tid;		/* the task last visited */
	char comm[16];
};

struct scan_control {			/* written by user space between walks */
	uint64_t begin_ns;		/* of this walk; rows of unchanged threads have no other
					   time */
	uint64_t given_up;		/* readers started up to then do nothing any more */
	uint32_t slot;			/* scratch that the reader uses: nobody else does, not even
					   one given up */
	uint32_t no_reads;		/* nobody's memory is read */
	uint32_t all_anew;		/* no thread is taken for unchanged: a row of it may never
					   have arrived */
	uint32_t no_memo;		/* kernel stacks are not taken from earlier ones */
	uint32_t event;			/* number of the event that rows of scans belong to */
};

/* The look at all descriptors (bpf/holders.bpf.h); zeroed by user space before it. */
struct holder_scan {
	uint64_t last_files;		/* threads of a process come one behind the other and share
					   their descriptors */
	uint64_t cut;			/* processes that were not looked at, or not at their
					   highest descriptors */
	uint64_t passed;		/* inside a PID namespace: the list of all processes has
					   been gone through */
};

#define SCAN_SLOTS 8
