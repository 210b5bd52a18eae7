#include "src/model/record.h"

#define NAME_OF(table, i)                                                                          \
	((i) < sizeof(table) / sizeof((table)[0]) && (table)[i] ? (table)[i] : "?")

uint64_t repeat_rows(const struct rec_repeat *r)
{
	uint64_t rows = 0;

	for (uint32_t i = 0; i < r->nr_runs; i++)
		rows += r->runs[i].nr;
	return rows;
}

const char *record_name(enum record_tag tag)
{
	switch (tag) {
#define RECORD(tag, NAME, field, STORED) case REC_##NAME: return #NAME;
#include "src/model/records.def"
	}
	return "?";
}

uint32_t *record_id(struct record *rec)
{
	switch (rec->tag) {
#define RECORD(tag, NAME, field, STORED) case REC_##NAME: break;
#define DEFINITION(tag, NAME, field, STORED, max_id) case REC_##NAME: return &rec->field.id;
#include "src/model/records.def"
	}
	return NULL;
}

uint32_t record_defines(const struct record *rec)
{
	const uint32_t *id = record_id((struct record *)rec);

	return id ? *id : 0;
}

static const struct {
	const char *name, *help;
} ends[STACK_ENDS] = {
	[END_UNKNOWN] = { "none", "no user stack was asked for" },
	[END_ROOT] = { "root", "whole: reached the outermost frame" },
	[END_ROOT_GUESS] = { "root-guess", "probably whole: the frame pointer chain ended, or the "
					   "return address is 0" },
	[END_TRUNCATED] = { "truncated", "deeper than the frame limit" },
	[END_NO_PROCESS] = { "no-process",
			     "the process was too new: its mappings were not loaded yet" },
	[END_NO_MAPPING] = { "no-mapping",
			     "an address in no executable mapping known at that time" },
	[END_JIT] = { "jit", "generated code without a usable frame pointer; run the JIT with "
			     "frame pointers "
			     "(java -XX:+PreserveFramePointer, node "
			     "--interpreted-frames-native-stack, erl +JPperf true)" },
	[END_NO_TABLE] = { "no-table",
			   "the unwind table of this binary was not ready or could not be built" },
	[END_NO_FDE] = { "no-fde",
			 "code without unwind information and without a usable frame pointer; "
			 "build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer" },
	[END_BAD_RULE] = { "bad-rule", "an unwind rule that probee does not support" },
	[END_READ_RA] = { "read-ra", "stack memory was unreadable at the return address" },
	[END_READ_FP] = { "read-fp", "stack memory was unreadable at a saved register" },
	[END_RA_ZERO] = { "ra-zero", "a return address of 0: in the middle of a change of stacks, "
				     "or behind guesses" },
	[END_SP_BACK] = { "sp-back", "the stack pointer went backwards" },
	[END_BUSY] = { "busy", "the memory map of the process was locked" },
	[END_RUNNING] = { "on_cpu", "the thread was running: its registers are not in memory; "
				    "probee sample sees such threads" },
	[END_TORN] = { "torn", "the thread ran while its stack was read" },
	[END_COMPAT32] = { "compat32", "a 32-bit process" },
	[END_KTHREAD] = { "kthread", "a kernel thread has no user stack" },
	[END_NO_MM] = { "no-mm", "the task was exiting: its memory is gone" },
	[END_BUG] = { "bug", "an inconsistency inside probee; please report it" },
	[END_FP_END] = { "fp-end", "the chain of frame pointers ended, and frame pointers alone "
				   "cannot tell whether that was "
				   "the root; use --unwind auto" },
	[END_EXEC] = { "exec", "inside execve: the old program's memory is gone, the new one has "
			       "not begun" },
	[END_NOT_READ] = { "not-read", "the stack is in memory that was not read, because reading "
				       "it could block the walk: see "
				       "--faults" },
};

bool stack_end_has_stack(unsigned end)
{
	return end != END_UNKNOWN && end != END_KTHREAD && end != END_NO_MM && end != END_EXEC;
}

const char *stack_end_name(unsigned end)
{
	return end < STACK_ENDS ? ends[end].name : "?";
}

const char *stack_end_help(unsigned end)
{
	return end < STACK_ENDS ? ends[end].help : "unknown to this version";
}

bool stack_end_is_root(unsigned end)
{
	return end == END_ROOT || end == END_ROOT_GUESS;
}

static const struct {
	const char *name;
	char letter;
} states[TASK_STATES] = {
	[TASK_STATE_UNKNOWN] = { "UNKNOWN", '?' }, [TASK_RUNNING] = { "RUNNING", 'R' },
	[TASK_RUNNABLE] = { "RUNNABLE", 'R' },	   [TASK_SLEEPING] = { "SLEEP", 'S' },
	[TASK_DISK] = { "DISK", 'D' },		   [TASK_DISK_NOLOAD] = { "DISK_NOLOAD", 'D' },
	[TASK_KILLABLE] = { "KILLABLE", 'D' },	   [TASK_STOPPED] = { "STOPPED", 'T' },
	[TASK_TRACED] = { "TRACED", 't' },	   [TASK_IDLE] = { "IDLE", 'I' },
	[TASK_ZOMBIE] = { "ZOMBIE", 'Z' },	   [TASK_DEAD] = { "DEAD", 'X' },
	[TASK_PARKED] = { "PARKED", 'P' },	   [TASK_WAKING] = { "WAKING", 'W' },
	[TASK_NEW] = { "NEW", 'N' },		   [TASK_RTLOCK] = { "RTLOCK", 'D' },
	[TASK_FROZEN] = { "FROZEN", 'F' },
};

const char *task_state_name(unsigned state)
{
	return state < TASK_STATES ? states[state].name : "?";
}

char task_state_letter(unsigned state)
{
	return state < TASK_STATES ? states[state].letter : '?';
}

const char *wait_kind_name(unsigned kind)
{
	static const char *const names[WAIT_KINDS] = {
		"unknown",  "pipe",   "fifo",	   "unix",  "tcp",
		"listener", "socket", "file-lock", "child", "vfork",
	};

	return NAME_OF(names, kind);
}

const char *loss_cause_name(unsigned cause)
{
	static const char *const names[LOSS_CAUSES] = {
		[LOSS_RING_FULL] = "ring-full",		  [LOSS_RING_DISCARD] = "ring-discard",
		[LOSS_MAP_FULL] = "map-full",		  [LOSS_THROTTLED] = "throttled",
		[LOSS_QUEUE_FULL] = "queue-full",	  [LOSS_RATE_LIMIT] = "rate-limit",
		[LOSS_ITER_RESTART] = "iterator-restart", [LOSS_TASK_VANISHED] = "task-vanished",
		[LOSS_SYMBOL_BUDGET] = "symbol-budget",	  [LOSS_WRITER_STALL] = "writer-stall",
		[LOSS_TASK_EVENTS] = "task-events",	  [LOSS_TABLE_FULL] = "table-full",
		[LOSS_BAD_RECORD] = "bad-record",	  [LOSS_KERNEL_STACK] = "kernel-stack",
		[LOSS_SCANS] = "walks-left-out",		  [LOSS_NESTED] = "nested",
	};

	return NAME_OF(names, cause);
}

const char *binary_kind_name(unsigned kind)
{
	static const char *const names[BINARY_KINDS] = {
		"elf", "kernel", "module", "vdso", "bpf", "anon", "perf-map", "script", "deleted",
	};

	return NAME_OF(names, kind);
}

const char *end_reason_name(unsigned reason)
{
	static const char *const names[ENDED_REASONS] = {
		"duration", "signal", "target-exit", "iterations", "disk-full", "error",
	};

	return NAME_OF(names, reason);
}

const char *symbol_status_name(unsigned status)
{
	static const char *const names[SYMBOL_STATUSES] = {
		"ok", "ok-symtab-only", "no-symbols", "stripped", "unreadable", "gone", "limited",
	};

	return NAME_OF(names, status);
}
