/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record is one fact of a recording, and a trace is a stream of records. What a record refers to
 * by id has come before it. A consumer of records (trace writer, report, filter) is a record_fn;
 * the record and all it points to are borrowed until the call returns.
 *
 * Ids are dense, start at 1 and are given by the producer in ascending order; 0 means none (string
 * 0 is the empty string, node 0 the empty stack). An id is valid within one recording. Times are
 * nanoseconds of CLOCK_MONOTONIC. Strings are raw bytes: they need not be UTF-8 and may contain
 * NUL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_tag {
#define RECORD(tag, NAME, field, STORED) REC_##NAME = (tag),
#include "src/model/records.def"
};

/* The size of tables indexed by enum record_tag: the highest tag plus one. */
union record_tags {
#define RECORD(tag, NAME, field, STORED) char field[(tag) + 1];
#include "src/model/records.def"
};
enum { RECORD_TAGS = sizeof(union record_tags) };

/* Facts about the whole recording; the keys are listed in TRACE.md. */
struct rec_meta {
	const char *key;		/* NUL-terminated */
	const void *value;
	size_t len;
};

/* The three clocks read together: how to turn time_ns into a date. */
struct rec_clock {
	uint64_t mono_ns, real_ns, boot_ns;
	uint64_t uncertainty_ns;
};

struct rec_string {
	uint32_t id;			/* 1, 2, 3, ... */
	const char *bytes;
	size_t len;
};

enum binary_kind {
	BINARY_ELF, BINARY_KERNEL, BINARY_MODULE, BINARY_VDSO, BINARY_BPF, BINARY_ANON,
	BINARY_PERF_MAP, BINARY_SCRIPT, BINARY_DELETED,
	BINARY_KINDS
};

enum {
	BINARY_HAS_DEBUGINFO = 1,
	BINARY_HAS_DEBUGLINK = 2,
	BINARY_STRIPPED = 4,
	BINARY_HAS_UNWIND_TABLE = 8
};

/* One executable PT_LOAD. */
struct rec_segment {
	uint64_t offset, vaddr, filesz;
};

/* The identity (not the content) of one binary: an ELF file, the kernel, a module, the vdso. */
struct rec_binary {
	uint32_t id;
	uint8_t kind;			/* enum binary_kind */
	uint32_t path;			/* string */
	uint8_t build_id[64];
	uint8_t build_id_len;
	uint64_t size_bytes;
	int64_t mtime_ns;
	uint64_t dev, ino;
	uint32_t flags;			/* BINARY_HAS_... */
	const struct rec_segment *segments;
	uint32_t nr_segments;
};

enum { PROCESS_KTHREAD = 1, PROCESS_EXITED = 2, PROCESS_FROM_SCAN = 4 };

/* One life of a thread group between two execs: a new id after fork and after exec. */
struct rec_process {
	uint32_t id;
	uint32_t tgid;
	uint64_t start_boottime_ns;	/* tells reuses of a tgid apart; 0 unknown */
	uint32_t parent;		/* process id; 0 unknown */
	uint32_t comm;			/* string: of the group leader */
	uint32_t exe;			/* binary; 0 unknown */
	uint32_t flags;			/* PROCESS_... */
	uint32_t ns_tgid;		/* in its own pid namespace; 0 = same as tgid or unknown */
	uint32_t uid;
	uint32_t cgroup;		/* string */
	uint32_t cmdline;		/* string; 0 unless asked for */
};

/* One thread under one name: a new id when the thread renames itself. */
struct rec_thread {
	uint32_t id;
	uint32_t process;
	uint32_t tid;
	uint32_t comm;			/* string */
	uint64_t start_boottime_ns;
	uint32_t ns_tid;
	/* Set by stores alone: the kernel's name, where comm is a THREADNAME's; otherwise 0. */
	uint32_t kernel_comm;
};

static inline uint32_t rec_thread_kernel_comm(const struct rec_thread *t)
{
	return t->kernel_comm ? t->kernel_comm : t->comm;
}

/* What a runtime calls a thread. It comes late, and stands for the name in the kernel. */
struct rec_threadname {
	uint32_t thread;
	uint32_t name;			/* string */
};

enum taskev_kind { TASK_FORK, TASK_EXEC, TASK_COMM, TASK_EXIT, TASK_EVENTS };

struct rec_taskev {
	uint64_t time_ns;
	uint8_t event;			/* enum taskev_kind */
	uint32_t process;
	uint32_t arg;			/* FORK: parent process; COMM: string; EXIT: wait status */
};

enum mapping_op { MAPPING_ADD, MAPPING_DEL, MAPPING_SNAPSHOT, MAPPING_OPS };

/* Executable memory of a process (0: of the kernel) came or went. */
struct rec_mapping {
	uint64_t time_ns;
	uint32_t process;
	uint8_t op;			/* enum mapping_op */
	uint8_t prot;			/* PROT_... */
	uint64_t start, len, pgoff_bytes;
	uint32_t binary;		/* 0: anonymous */
};

enum frame_kind { FRAME_USER, FRAME_KERNEL, FRAME_JIT, FRAME_BPF, FRAME_SYNTHETIC, FRAME_KINDS };

enum {
	FRAME_RETURN_ADDRESS = 1,	/* addr is after a call; else the exact instruction */
	FRAME_GUESSED = 2,		/* found by the frame pointer, without an unwind table */
	FRAME_UNMAPPED = 4,		/* addr is absolute: no mapping was known there */
	FRAME_VARIABLE = 8,		/* addr is no code but a variable, and in no stack */
	/*
	 * A frame that a runtime keeps itself (an interpreter's). addr: number of its code object
	 * << 32 | instruction. A native frame that it has called is the interpreter's loop.
	 */
	FRAME_RUNTIME = 16,
	/* With FRAME_RUNTIME: not interpreted but compiled, or inlined into such code. */
	FRAME_COMPILED = 32,
	FRAME_INLINED = 64,
	/*
	 * Generated code that only runs the loop of the function that it has called, which has
	 * FRAME_RUNTIME, so that profilers see that function on the native stack.
	 */
	FRAME_TRAMPOLINE = 128,
};

/*
 * Frames of kind FRAME_SYNTHETIC from this addr on stand for frames of a runtime that are missing.
 */
#define FRAME_MISSING (1ull << 40)

/*
 * One code address. With a binary, addr is a virtual address of that ELF file (for the kernel and
 * its modules: the offset from the lowest text address), so it does not depend on where the file
 * was mapped. Without a binary, addr is an absolute address.
 */
struct rec_frame {
	uint32_t id;
	uint8_t kind;			/* enum frame_kind */
	uint8_t flags;			/* FRAME_... */
	uint32_t binary;
	uint64_t addr;
};

/* A stack is a node: frame, called by the stack of node parent (0: no caller). parent < id. */
struct rec_node {
	uint32_t id;
	uint32_t parent;
	uint32_t frame;
};

/* Flags of a function. Three bits hold its enum func_tier. */
enum { FUNC_JIT = 1, FUNC_PLT = 2, FUNC_THUNK = 4, FUNC_TIER_SHIFT = 3, FUNC_TIERS = 7 << 3 };
/* Languages of generated code have numbers from 16 on. */
enum func_lang {
	LANG_UNKNOWN, LANG_C, LANG_CXX, LANG_RUST, LANG_GO, LANG_D, LANG_ADA, LANG_SWIFT,
	LANG_JAVASCRIPT = 16, LANG_PYTHON, LANG_JAVA, LANG_PHP, LANG_RUBY, LANG_ERLANG, LANG_DOTNET,
	LANG_PERL, LANGS
};

/* How the code of a function that a runtime has named came about. */
enum func_tier {
	TIER_NONE,			/* unknown, or not made at run time */
	TIER_INTERPRETED,		/* an interpreter runs it */
	TIER_BASELINE,			/* by a compiler that is quick */
	TIER_OPTIMIZED,			/* by one that optimizes */
	TIER_COMPILED,			/* by one of them */
	TIER_BUILTIN,			/* the runtime's own code */
	TIERS
};

static inline uint8_t func_flags_tier(unsigned flags)
{
	return (flags & FUNC_TIERS) >> FUNC_TIER_SHIFT;
}

/*
 * What reports call code of an enum frame_kind and an enum func_tier: "user", "kernel", "jit",
 * "interpreted" (a function that an interpreter runs), "bpf", "synthetic".
 */
const char *frame_kind_name(unsigned kind, unsigned tier);

struct rec_func {
	uint32_t id;
	uint32_t name;			/* string, demangled */
	uint32_t sysname;		/* string, as in the symbol table; may equal name */
	uint32_t file;			/* string; 0 unknown */
	uint32_t start_line;
	uint8_t lang;			/* enum func_lang */
	uint8_t flags;			/* FUNC_... */
};

enum symbol_status {
	SYMBOL_OK, SYMBOL_OK_SYMTAB, SYMBOL_NONE, SYMBOL_STRIPPED, SYMBOL_UNREADABLE, SYMBOL_GONE,
	SYMBOL_LIMITED, SYMBOL_UNANSWERED, SYMBOL_ENDED,
	SYMBOL_STATUSES
};

/* One function of an inline chain. */
struct rec_line {
	uint32_t func;
	uint32_t line, column;		/* 0 unknown */
	uint32_t file;			/* of the line, by a PLACE; 0: that of func */
};

/* The functions of a frame. Comes after the frame, perhaps much later; at most once per frame. */
struct rec_symbol {
	uint32_t frame;
	uint8_t status;			/* enum symbol_status */
	uint64_t offset;		/* addr minus start of the outermost function */
	const struct rec_line *lines;	/* innermost (inlined) first, outermost last */
	uint32_t nr_lines;		/* 0: no name */
};

/*
 * The line of a function of a frame, where it is in another file than the function: code of a
 * macro, or of a file that is included in a function. Comes after the SYMBOL of the frame, whose
 * line says 0 there.
 */
struct rec_place {
	uint32_t frame;
	uint32_t nth;			/* which one of the SYMBOL's lines */
	uint32_t file;
	uint32_t line, column;
};

enum event_kind {
	EVENT_CPU_CLOCK, EVENT_CYCLES, EVENT_SCHED, EVENT_KPROBE, EVENT_UPROBE, EVENT_TRACEPOINT,
	EVENT_SNAPSHOT,
	EVENT_SOFTWARE,		/* any other counter that the kernel keeps by itself */
	EVENT_HARDWARE,		/* any other counter of the CPU */
	EVENT_KINDS
};

/* The events of --weight cpu (CPU time, by the clock or in cycles) and of --weight wall. */
static inline bool event_is_cpu_time(unsigned kind)
{
	return kind == EVENT_CPU_CLOCK || kind == EVENT_CYCLES;
}

static inline bool event_is_wall_time(unsigned kind)
{
	return kind == EVENT_SNAPSHOT;
}

/* A source of samples in this recording. */
struct rec_event {
	uint32_t id;
	uint32_t name;			/* string, "cpu-clock" */
	uint8_t kind;			/* enum event_kind */
	uint64_t freq_mhz;		/* thousandths of a hertz; 0: not by time */
	uint64_t period;		/* weight of a sample without its own weight, in unit */
	uint32_t unit;			/* string: "ns", "cycles", "count" */
};

/* Scheduler state of a task, normalised; order is on disk. */
enum task_state {
	TASK_STATE_UNKNOWN, TASK_RUNNING, TASK_RUNNABLE, TASK_SLEEPING, TASK_DISK, TASK_DISK_NOLOAD,
	TASK_KILLABLE, TASK_STOPPED, TASK_TRACED, TASK_IDLE, TASK_ZOMBIE, TASK_DEAD, TASK_PARKED,
	TASK_WAKING, TASK_NEW, TASK_RTLOCK, TASK_FROZEN,
	TASK_STATES
};

/*
 * Why a user stack ended. The first ones are the unwinder's end codes (unwind/unwind_step.h); the
 * order is on disk.
 */
enum stack_end {
	END_UNKNOWN,		/* no user stack was asked for */
	END_ROOT,		/* reached the outermost frame: the stack is whole */
	/*
	 * Probably whole: in code without tables the chain of frame pointers ended with 0, or the
	 * return address was 0.
	 */
	END_ROOT_GUESS,
	END_TRUNCATED,		/* more frames than the limit */
	END_NO_PROCESS,		/* process too new: its mappings were not loaded yet */
	END_NO_MAPPING,		/* address in no known executable mapping */
	END_JIT,		/* anonymous code and the frame pointer did not help */
	END_NO_TABLE,		/* the binary's table was not built (yet) or could not be */
	END_NO_FDE,		/* no unwind row at this address; the frame pointer did not help */
	END_BAD_RULE,		/* a rule that is not supported */
	END_READ_RA,		/* stack memory unreadable at the return address */
	END_READ_FP,		/* stack memory unreadable at the saved frame pointer */
	END_RA_ZERO,		/* return address 0 */
	END_SP_BACK,		/* stack pointer did not grow */
	END_BUSY,		/* the process's memory map was locked */
	END_RUNNING,		/* thread was on a CPU: registers are not in memory */
	END_TORN,		/* thread ran while it was read */
	END_COMPAT32,		/* 32-bit process */
	END_KTHREAD,		/* has no user stack */
	END_NO_MM,		/* exiting: its memory is gone */
	END_BUG,		/* cannot happen */
	END_FP_END,		/* --unwind fp: the chain of frame pointers ended, somewhere */
	END_EXEC,		/* inside execve: the old memory is gone, the new not there yet */
	END_NOT_READ,		/* stack memory not read because that could block (--faults) */
	STACK_ENDS
};

/* The summary of one scan of all tasks. It comes after its rows, which carry the scan's number. */
struct rec_scan {
	uint32_t scan;			/* 1, 2, 3, ... */
	uint64_t time_ns, duration_ns, interval_ns;
	uint64_t tasks_seen, rows, skipped_idle_kthreads, filtered, read_faults, vanished;
	uint64_t on_cpu, torn;
	uint64_t hung;			/* readers replaced because they hung in some memory */
	uint64_t kernel_failed;		/* rows whose kernel stack could not be read */
	uint64_t ends[STACK_ENDS + 1];	/* rows by enum stack_end; the last: unknown ends */
};

enum {
	SAMPLE_IN_KERNEL = 1,		/* interrupted in kernel mode */
	SAMPLE_KERNEL_TRUNCATED = 2,	/* kernel stack deeper than the limit */
	SAMPLE_HAS_GUESS = 4,		/* some frame is FRAME_GUESSED */
	SAMPLE_LATE = 8,		/* taken after the visit of its scan */
};

/* What a thread waits for, where that is not a futex; order is on disk. */
enum wait_kind {
	WAIT_UNKNOWN, WAIT_PIPE, WAIT_FIFO, WAIT_UNIX, WAIT_TCP,
	WAIT_LISTENER,			/* a socket that waits for connections */
	WAIT_SOCKET,			/* any other */
	WAIT_FILE_LOCK,			/* flock(), fcntl() */
	WAIT_CHILD,			/* the end of a child */
	WAIT_VFORK,			/* a vfork child that uses the parent's memory */
	WAIT_KINDS
};

#define SAMPLE_ARGS 6

/*
 * One stack of one thread at one time. sample_columns.def has its members, and what each means. The
 * wider ones come first, so that there are no gaps.
 */
struct rec_sample {
#define COLUMN(bits, id, member, encodings) MEMBER_##bits(member)
#define MEMBER_64(member) uint64_t member;
#define MEMBER_32(member)
#define MEMBER_8(member)
#include "src/model/sample_columns.def"
#undef MEMBER_64
#undef MEMBER_32
#define COLUMN(bits, id, member, encodings) MEMBER_##bits(member)
#define MEMBER_64(member)
#define MEMBER_32(member) uint32_t member;
#include "src/model/sample_columns.def"
#undef MEMBER_32
#undef MEMBER_8
#define COLUMN(bits, id, member, encodings) MEMBER_##bits(member)
#define MEMBER_32(member)
#define MEMBER_8(member) uint8_t member;
#include "src/model/sample_columns.def"
#undef MEMBER_64
#undef MEMBER_32
#undef MEMBER_8
};

/* The members of a sample that are ids, and what they refer to: X(member, NAME). */
#define SAMPLE_REFERENCES(X) \
	X(event, EVENT) X(thread, THREAD) X(kstack, NODE) X(ustack, NODE) X(variable, FRAME) \
	X(file, STRING) X(mount, STRING)

/* Threads with consecutive ids: nr of them, beginning with thread. */
struct rec_run {
	uint32_t thread, nr;		/* nr > 0 */
};

/*
 * The threads that have not changed since the scan before. Each of them has a row in this scan that
 * equals its last row of a scan, except for the time and the number of the scan. A REPEAT comes
 * after the rows of earlier scans and before those of later ones. The runs ascend and do not
 * overlap. The trace reader turns a REPEAT into samples, so no consumer of a trace sees one.
 */
struct rec_repeat {
	uint64_t time_ns;
	uint32_t scan;			/* not 0 */
	const struct rec_run *runs;
	uint32_t nr_runs;
};

enum loss_cause {
	LOSS_RING_FULL, LOSS_RING_DISCARD, LOSS_MAP_FULL, LOSS_THROTTLED, LOSS_QUEUE_FULL,
	LOSS_RATE_LIMIT,
	LOSS_ITER_RESTART, LOSS_TASK_VANISHED, LOSS_SYMBOL_BUDGET, LOSS_WRITER_STALL,
	LOSS_TASK_EVENTS,
	LOSS_TABLE_FULL, LOSS_BAD_RECORD, LOSS_KERNEL_STACK, LOSS_SCANS, LOSS_NESTED,
	LOSS_TICKS,			/* ticks of the timer that never came, by /proc/stat */
	LOSS_LINE_BUDGET,		/* addresses with a name whose lines cost too much */
	LOSS_NO_ANSWER,			/* stacks that end in a file that was not read in time */
	LOSS_HELPER_DIED,		/* processes of the recorder that ended unasked */
	LOSS_CAUSES
};

/* Between time_ns and time_ns + duration_ns, count samples (or what the cause says) are missing. */
struct rec_lost {
	uint64_t time_ns, duration_ns;
	uint8_t cause;			/* enum loss_cause */
	uint32_t cpu;			/* UINT32_MAX: all */
	uint64_t count;
};

/*
 * What the stack of a sample was unwound from: the user registers and the stack memory from start
 * on. It is kept for a few samples (--audit), so that `probee verify` can unwind it with libdw. The
 * MAPPING records of the thread's process are written with it.
 */
struct rec_rawstack {
	uint64_t time_ns;		/* of its sample */
	uint32_t thread;
	uint32_t ustack;		/* node: what was found; 0: nothing */
	uint8_t end;			/* enum stack_end of ustack */
	/*
	 * 64-bit little-endian words in the order of the kernel's struct: 21 of pt_regs on x86_64,
	 * 34 of user_pt_regs on aarch64.
	 */
	const void *regs;
	size_t regs_len;		/* bytes */
	uint64_t start;			/* address of bytes[0]; not above the stack pointer */
	const void *bytes;
	size_t len;
};

struct rec_note {
	uint8_t severity;		/* 0 information, 1 warning, 2 error */
	uint64_t time_ns;
	const char *text;
	size_t len;
};

enum end_reason {
	ENDED_DURATION,
	ENDED_SIGNAL,
	ENDED_TARGET_EXIT,
	ENDED_ITERATIONS,
	ENDED_DISK_FULL,
	ENDED_ERROR,
	ENDED_CONTINUED,		/* the recording goes on in the next segment */
	ENDED_TRIGGER,			/* a flight recorder was written; it goes on in memory */
	ENDED_REASONS
};

/* The last record of a recording that ended in good order. */
struct rec_end {
	uint64_t time_ns;		/* when it stopped; names may have taken longer */
	uint8_t reason;			/* enum end_reason */
	uint64_t samples, scans, lost, unresolved, raw_bytes, cpu_time_ns;
	int32_t target_status;		/* wait status of -- CMD; -1 none */
};

struct record {
	enum record_tag tag;
	union {
#define RECORD(tag, NAME, field, STORED) struct rec_##field field;
#include "src/model/records.def"
	};
};

/* The place of the id that a record defines; NULL for types that define none. */
uint32_t *record_id(struct record *rec);

/* Whether records of a type define something, and so have an id. */
bool record_is_definition(enum record_tag tag);

/* The id that a record defines; 0 for types that define none. */
uint32_t record_defines(const struct record *rec);

/* The PLACE that goes with the nth line of a SYMBOL. false: it needs none. */
bool record_place(const struct rec_symbol *s, uint32_t nth, struct rec_place *p);

/* How many samples a REPEAT stands for. */
uint64_t repeat_rows(const struct rec_repeat *r);

/* Consumes one record. 0, or -errno to stop the producer. */
typedef int (*record_fn)(void *ctx, const struct record *rec);

/* Names for users and for tests; never NULL ("?" for a number unknown to this version). */
const char *record_name(enum record_tag tag);		/* "SAMPLE" */
const char *stack_end_name(unsigned end);		/* "no-mapping" */
/* Waits that no signal ends, or only one that kills: state D of ps. */
bool task_state_is_disk(uint8_t state);
const char *task_state_name(unsigned state);		/* "RUNNING", "SLEEP", as in xstack */
char task_state_letter(unsigned state);			/* 'R', 'S', 'D', as in ps */
const char *wait_kind_name(unsigned kind);		/* "pipe" */
const char *loss_cause_name(unsigned cause);		/* "ring-full" */
const char *event_kind_name(unsigned kind);		/* "cpu-clock" */
const char *binary_kind_name(unsigned kind);
const char *end_reason_name(unsigned reason);

/* True if another part of the recording may follow: then an END is about its part only. */
bool end_reason_goes_on(unsigned reason);

/*
 * True if a loss of this cause counts samples; other causes count tasks, frames, names or events.
 */
bool loss_is_samples(unsigned cause);

/*
 * False for the ends of tasks that have no user stack: kernel threads, zombies, tasks inside
 * execve.
 */
bool stack_end_has_stack(unsigned end);

/* True when the stack is whole (END_ROOT, END_ROOT_GUESS). */
bool stack_end_is_root(unsigned end);
