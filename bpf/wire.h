/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CONTRACT kernel -> user space: what the BPF programs hand out. Fixed-width integers, explicit
 * padding. What goes to disk is another type (src/model/record.h). After the header come nr_user
 * user frames (innermost first, with UNWIND_ flags in the top bits), then nr_kernel kernel
 * addresses (innermost first).
 */
#pragma once

#include <stdint.h>

#include ARCH_HEADER
#include "unwind/unwind_limits.h"

#define WIRE_COMM 16
#define WIRE_MAX_KERNEL 127

enum wire_flags {
	WIRE_IN_KERNEL = 1,		/* interrupted in kernel mode */
	WIRE_GUESSED = 2,		/* some user frame is a guess */
	WIRE_KTHREAD = 4,
	WIRE_ON_CPU = 8,		/* was on a CPU when a walk met it */
	WIRE_KERNEL_FAILED = 16,	/* the kernel stack could not be read */
	WIRE_DUMP = 32,			/* it is a struct wire_dump: registers and stack memory go
					   with it */
	WIRE_AUDIT = 64,		/* they are to be kept */
	WIRE_SAME = 256,		/* has not run since its last row: the stack is that
					   one's */
	WIRE_ON_ITS_CPU = 128,		/* taken on the thread's own CPU: the kernel stack begins
					   with our frames */
	WIRE_WAIT = 512,		/* a struct wire_wait comes behind the frames */
	WIRE_OBJECT = 1024,		/* and a struct wire_object behind that */
};

struct wire_sample {
	uint64_t time_ns;
	uint64_t weight;		/* of a sample: the event's period; of a row: 0 */
	uint64_t start_boottime_ns;	/* of the thread: identity when tids are reused */
	uint32_t tgid, tid;		/* in the PID namespace of probee, as all others but one */
	uint32_t cpu;
	uint32_t state;			/* __state | exit_state << 16 */
	uint16_t nr_user;
	uint8_t nr_kernel;
	uint8_t end;			/* enum unwind_end */
	uint16_t flags;			/* enum wire_flags */
	uint16_t event;			/* number of the event that made it; 1, 2, 3, ... */
	char comm[WIRE_COMM];
};

_Static_assert(sizeof(struct wire_sample) == 64, "wire layout");

/* What a thread waits for that is not on a CPU. */
struct wire_wait {
	uint64_t ran_ns;		/* CLOCK_MONOTONIC when it last was on a CPU; 0 unknown */
	uint64_t what;			/* first argument of the system call; of futexes the address
					   of the first one */
	uint32_t syscall;		/* number + 1; 0: it is in none */
	uint32_t owner;			/* tid, in its own namespace, that memory names as the
					   holder: not verified */
	uint32_t futex_op, futex_val;
	uint32_t unread;		/* the futex is in memory that the walk must not touch */
	uint32_t child;			/* tid of the only child that it can be waiting for */
};

_Static_assert(sizeof(struct wire_wait) == 40, "wire layout");
#define WIRE_WAIT_WORDS 5

enum peer_end { PEER_NONE, PEER_READERS, PEER_WRITERS, PEER_SOCKET, PEER_TCP };

/*
 * Which holders are on the other end of what a thread waits for: a key that means something in this
 * kernel only.
 */
struct peer_key {
	uint64_t id;			/* address of the inode; of TCP the network namespace, 0
					   where addresses are enough */
	uint32_t local[4], remote[4];	/* of TCP: as the other end has them, IPv6 or mapped into
					   it, network order */
	uint16_t local_port, remote_port;	/* host order */
	uint32_t end;			/* enum peer_end */
};

_Static_assert(sizeof(struct peer_key) == 48, "wire layout");

enum object_kind {
	OBJECT_NONE,
	OBJECT_PIPE,
	OBJECT_FIFO,
	OBJECT_UNIX,
	OBJECT_TCP,
	OBJECT_LISTENER,
	OBJECT_SOCKET,
	OBJECT_FILE
};

/* What the descriptor is that a thread waits for. */
struct wire_object {
	uint64_t inode;			/* its number, as in /proc/PID/fd */
	uint32_t kind;			/* enum object_kind */
	uint32_t pad;
	struct peer_key other;		/* .end 0: nothing is known of another end */
};

_Static_assert(sizeof(struct wire_object) == 64, "wire layout");
#define WIRE_OBJECT_WORDS 8

/* What the scan over all descriptors found of one key. */
struct peer_holders {
	uint32_t nr;			/* processes */
	uint32_t tgid;			/* of the first one met; 0: it is outside of probee's PID
					   namespace */
	uint32_t last;			/* the last one met, by its number in the initial
					   namespace */
};

/*
 * A stack that user space unwinds itself, because the kernel did not know enough yet, or that it
 * keeps. The frames stand where those of a wire_sample stand; what is behind them and before regs
 * has no meaning.
 */
#define WIRE_DUMP_FRAMES (UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL + WIRE_WAIT_WORDS + WIRE_OBJECT_WORDS)
#define WIRE_DUMP_PAGES 16		/* 64 KiB, as much as perf can keep */

struct wire_dump {
	struct wire_sample head;
	uint64_t frames[WIRE_DUMP_FRAMES];
	uint64_t regs[ARCH_NR_REGS + (ARCH_NR_REGS & 1)];	/* as the kernel saved them */
	uint64_t start;			/* address of the memory that follows: the page of the stack
					   pointer */
	uint64_t bytes;			/* of it: whole pages, at most WIRE_DUMP_PAGES */
};

_Static_assert(sizeof(struct wire_dump) % 16 == 0, "wire layout");
