/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CONTRACT kernel -> user space: the records that the BPF programs hand out. Fixed-width integers,
 * explicit padding. Records on disk are of other types (src/model/record.h).
 *
 * A record is a struct wire_sample, then nr_user words of user frames (innermost first, with
 * UNWIND_ flags in the top bits; a frame of a runtime has two words, see unwind/frame_program.h),
 * then nr_kernel kernel addresses (innermost first), and with WIRE_WAIT and WIRE_OBJECT the structs
 * of these names. With WIRE_DUMP it is a struct wire_dump, which has room
 * for all of them, and stack memory follows. With WIRE_DELTA it is a struct wire_delta.
 */
#pragma once

#include <stdint.h>

#include ARCH_HEADER
#include "bpf/knobs.h"
#include "unwind/unwind_limits.h"

#define WIRE_COMM 16
#define WIRE_MAX_KERNEL 127
#define WIRE_ARGS 6
#define WIRE_UNIX_NAME 108

enum wire_flags {
	WIRE_IN_KERNEL = 1,		/* interrupted in kernel mode */
	WIRE_GUESSED = 2,		/* some user frame is a guess */
	WIRE_KTHREAD = 4,
	WIRE_ON_CPU = 8,		/* the thread was on a CPU when it was looked at */
	WIRE_KERNEL_FAILED = 16,	/* the kernel stack could not be read */
	WIRE_DUMP = 32,			/* a struct wire_dump: with registers and stack memory */
	WIRE_AUDIT = 64,		/* these are to be kept (--audit) */
	WIRE_SAME = 256,		/* it has not run: the stack is that of its last row */
	WIRE_ON_ITS_CPU = 128,		/* taken on its CPU: our frames begin the kernel stack */
	WIRE_WAIT = 512,		/* a struct wire_wait comes behind the frames */
	WIRE_OBJECT = 1024,		/* and a struct wire_object behind that */
	WIRE_DELTA = 2048,		/* a struct wire_delta: with registers and changed memory */
	WIRE_LEAF = 4096,		/* --unwind fp: no table yet of an interrupted frame */
	WIRE_WANTS_CODE = 8192,		/* it met generated code of which nothing is known */
	WIRE_TRACEPOINT = 16384,	/* taken in a tracepoint: its functions begin the stack */
	WIRE_INTERRUPT = 32768,		/* on the stack of interrupts: see interrupted.h */
};

#define INTERRUPT_COMM "interrupt"	/* of thread 0, which stands for them */

/*
 * An outermost kernel frame that is no address but an interrupt vector, whose handler the other
 * frames are of. Addresses of the kernel have the highest bit set.
 */
#define WIRE_VECTOR_FRAME (1ull << 40)
#define WIRE_IS_VECTOR(frame) ((frame) >> 32 == WIRE_VECTOR_FRAME >> 32)

struct wire_sample {
	uint64_t time_ns;
	uint64_t weight;		/* the event's period; 0 in most rows of scans */
	uint64_t start_boottime_ns;	/* of the thread: tells apart threads with the same tid */
	uint32_t tgid, tid;		/* in probee's PID namespace, as all but wire_wait.owner */
	uint32_t cpu;
	uint32_t state;			/* __state | exit_state << 16 */
	uint16_t nr_user;
	uint8_t nr_kernel;
	uint8_t end;			/* enum unwind_end */
	uint16_t flags;			/* enum wire_flags */
	uint16_t event;			/* number of the event that it belongs to, from 1 on */
	char comm[WIRE_COMM];
};

_Static_assert(sizeof(struct wire_sample) == 64, "wire layout");

/*
 * A last kernel frame that is no address but the id of a sum (bpf/probe_sums.bpf.h): the highest
 * bits are 01, and those of addresses of the kernel 11.
 */
#define WIRE_SUM_ID (1ull << 62)
#define WIRE_IS_SUM_ID(frame) ((frame) >> 62 == 1)

/* In place of an event: the record is a struct wire_shadow. */
#define WIRE_SHADOW_EVENT UINT16_MAX
#define WIRE_SHADOW_TEXT 256

/* What the frames of shadow stacks with this id are (bpf/shadow.bpf.h). It comes once, or again. */
struct wire_shadow {
	struct wire_sample head;	/* only .event has a meaning */
	uint64_t id;
	uint32_t line;
	uint32_t place;			/* number of the place of the entry */
	/* The arguments of a frame that stands for them (--args): how many, and the numbers. */
	uint32_t nr_values, pad;
	uint64_t values[PROBE_VALUES];
	/* Class, name and file, or texts among the arguments, each with its end; cut if longer. */
	char texts[SHADOW_TEXTS][WIRE_SHADOW_TEXT];
};

/* What a thread that is not on a CPU waits for. */
struct wire_wait {
	uint64_t ran_ns;		/* when it was last on a CPU, CLOCK_MONOTONIC; 0: unknown */
	/*
	 * The first argument of the system call. futex_waitv: the address of the first futex; poll:
	 * the only descriptor, or UINT32_MAX; waitid: the child's pid, -1 for any child, 0 for
	 * others.
	 */
	uint64_t what;
	uint32_t syscall;		/* its number + 1; 0: the thread is in none */
	/*
	 * The tid, in the PID namespace of the thread itself, that memory names as the lock's
	 * holder. Not verified; 0: none.
	 */
	uint32_t owner;
	uint32_t futex_op, futex_val;
	uint32_t child;			/* tid of the only child it can be waiting for; 0: none */
	uint32_t pad;
	uint64_t args[WIRE_ARGS];	/* of the system call; all 0: not wanted */
};

_Static_assert(sizeof(struct wire_wait) == 88, "wire layout");
#define WIRE_WAIT_WORDS 11

/*
 * A stay off the CPU that has ended (bpf/off_cpu.bpf.h). It has no frames of its own: .stack is the
 * id of a stack that came before it, as a record with event 0 and the id in place of its weight.
 * The head says when and where the thread came back, and the state and the end of that stack.
 */
struct wire_stay {
	struct wire_sample head;	/* .event is OFF_CPU_STAY or OFF_CPU_WAKER */
	uint64_t stack;
	uint64_t left_ns;		/* when the thread left the CPU */
	uint64_t woken_ns;		/* since when it could go on; 0: until it did */
	uint32_t share;			/* it stands for 2^32 / share stays; 0: for itself */
	uint32_t pad;
	struct wire_wait wait;		/* .ran_ns is 0: it is left_ns */
};

_Static_assert(sizeof(struct wire_stay) == 184, "wire layout");

/* What is known of a thread off the CPU; user space reads those that have not come back. */
struct off_cpu_thread {
	uint64_t start_boottime;
	uint64_t left_ns;		/* 0: it is on a CPU, or this stay is not recorded */
	uint64_t woken_ns, stack;	/* as in struct wire_stay */
	uint32_t tgid, tid;		/* as in struct wire_sample, as all down to comm */
	uint32_t state, share;
	uint32_t end, pad;
	char comm[WIRE_COMM];
	struct wire_wait wait;
};

_Static_assert(sizeof(struct off_cpu_thread) == 160, "wire layout");

enum peer_end { PEER_NONE, PEER_READERS, PEER_WRITERS, PEER_SOCKET, PEER_TCP };

/*
 * The key by which the holders of the other end of a wait are found. It has a meaning in the
 * running kernel only.
 */
struct peer_key {
	/*
	 * Address of the inode. PEER_TCP: of the network namespace, or 0 where the addresses are
	 * enough.
	 */
	uint64_t id;
	/* PEER_TCP, as seen from the other end: IPv6 or mapped into it, in network order. */
	uint32_t local[4], remote[4];
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
	OBJECT_FILE,
	OBJECT_PATH		/* .name: the path that a call looks up, .file: from where */
};

/* The object behind the descriptor that a thread waits for. */
struct wire_object {
	uint64_t inode;			/* inode number, as in /proc/PID/fdinfo */
	uint64_t file;			/* address of its struct file, to tell files apart */
	uint32_t kind;			/* enum object_kind */
	/* A socket's family, protocol and state, as the kernel numbers them. */
	uint16_t family;
	uint8_t protocol, state;
	/*
	 * .end 0: nothing is known of another end. Addresses and ports of a socket of the internet
	 * families are there all the same.
	 */
	struct peer_key other;
	/* Address of a unix socket, or of its peer if it has none; abstract: begins with NUL. */
	char name[WIRE_UNIX_NAME];
	uint16_t name_len;
	uint16_t name_is_of_peer;
};

_Static_assert(sizeof(struct wire_object) == 184, "wire layout");
#define WIRE_OBJECT_WORDS 23

/* What the scan of all descriptors has found for one key. */
struct peer_holders {
	uint32_t nr;			/* processes that hold it */
	uint32_t tgid;			/* of the first one; 0: outside of probee's PID namespace */
	uint32_t last;			/* tgid of the last one in the initial PID namespace */
};

/*
 * A stack that user space unwinds again because the kernel did not know enough yet, or that it
 * keeps (--audit). Frames, wait and object stand behind the head as in any record; the rest of
 * frames[] has no meaning.
 */
#define WIRE_DUMP_FRAMES \
	((UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL + WIRE_WAIT_WORDS + WIRE_OBJECT_WORDS + 1) & ~1)
#define WIRE_DUMP_PAGES 16		/* 64 KiB, as much as perf can keep */

struct wire_dump {
	struct wire_sample head;
	uint64_t frames[WIRE_DUMP_FRAMES];
	uint64_t regs[ARCH_NR_REGS + (ARCH_NR_REGS & 1)];	/* as the kernel saved them */
	uint64_t start;			/* address of the memory behind: the stack pointer's page */
	uint64_t bytes;			/* its length: at most WIRE_DUMP_PAGES whole pages */
};

_Static_assert(sizeof(struct wire_dump) % 16 == 0, "wire layout");

/*
 * A sample that user space unwinds again, with the memory that differs from what user space has.
 *
 * The memory is in two parts of WIRE_PART_PAGES pages: from the page of the stack pointer on, and
 * if there is more, the outermost pages. So a stack with one huge array in the middle is there as
 * far as it is needed (rustc has one of 527 KiB in each of its stacks).
 *
 * Where there are many CPUs a part has fewer pages (part_pages), and the pages from there to
 * WIRE_PART_PAGES are absent.
 *
 * Both sides keep mirrors of each part; a CPU has one, or shares it with others. A page of the
 * stack has its place in the mirror by its address alone, whosever stack it is. The kernel side
 * compares each block of the stack with its mirror, and sends and keeps those that differ; user
 * space puts them into its own mirror, which is the same then. Blocks below the stack pointer are
 * not looked at, so what the mirrors have there is of any other stack. Consecutive samples of a
 * thread differ in a few blocks: a tenth of the memory that is unwound. While the ring fills up a
 * record has WIRE_DELTA_BYTES of them at most, so of a stack that is deeper and new the upper part
 * comes with the next samples.
 *
 * Behind the struct stand the blocks that have changed, lowest address first, and then the frames.
 */
#define WIRE_BLOCK 512
#define WIRE_PAGE_BLOCKS (UNWIND_MEMORY_PAGE / WIRE_BLOCK)
#define WIRE_PART_PAGES 32
#define WIRE_DELTA_PAGES (2 * WIRE_PART_PAGES)
#define WIRE_ALL_PAGES (~0ull >> (64 - WIRE_DELTA_PAGES))
#define WIRE_BLOCKS (WIRE_DELTA_PAGES * WIRE_PAGE_BLOCKS)
#define WIRE_DELTA_BYTES (64 << 10)
/* Bytes of a mirror and of a record that are not needed for shorter parts. */
#define WIRE_DELTA_SPARE(part_pages) (4 * (WIRE_PART_PAGES - (part_pages)) * UNWIND_MEMORY_PAGE)

struct wire_delta {
	struct wire_sample head;
	uint64_t regs[ARCH_NR_REGS + (ARCH_NR_REGS & 1)];
	uint64_t start;			/* as in struct wire_dump */
	uint64_t outer;			/* where the pages from number WIRE_PART_PAGES on begin */
	/*
	 * Bit i: page i is not there. Large local arrays have pages that were never touched,
	 * between others that were.
	 */
	uint64_t absent;
	uint64_t changed[WIRE_BLOCKS / 64];	/* bit i: block i has changed */
	uint32_t bytes;			/* up to the end of the last page that is there */
	uint32_t number;		/* counts the deltas of its mirror; a gap: some are lost */
	uint32_t part_pages;		/* of each part: a power of two, the same in all records */
	uint32_t mirror;		/* its number */
};

_Static_assert(WIRE_BLOCKS % 64 == 0 && sizeof(struct wire_delta) % 8 == 0, "wire layout");

/* The place of page i of a delta in the mirrors of both parts, as a number of pages. */
static inline uint32_t wire_mirror_page(const struct wire_delta *d, uint32_t i)
{
	uint64_t addr = i < WIRE_PART_PAGES ? d->start : d->outer;

	return (i & WIRE_PART_PAGES) | ((addr / UNWIND_MEMORY_PAGE + i) & (d->part_pages - 1));
}
