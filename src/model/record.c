/* SPDX-License-Identifier: GPL-2.0-or-later */
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

bool record_place(const struct rec_symbol *s, uint32_t nth, struct rec_place *p)
{
	const struct rec_line *l = &s->lines[nth];

	*p = (struct rec_place){ s->frame, nth, l->file, l->line, l->column };
	return l->file;
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

bool record_is_definition(enum record_tag tag)
{
	return record_id(&(struct record){ .tag = tag });
}

uint32_t record_defines(const struct record *rec)
{
	const uint32_t *id = record_id((struct record *)rec);

	return id ? *id : 0;
}

const char *frame_kind_name(unsigned kind, unsigned tier)
{
	static const char *const names[FRAME_KINDS] = { "user", "kernel", "jit", "bpf",
							"synthetic" };

	if ((kind == FRAME_JIT || kind == FRAME_SYNTHETIC) && tier == TIER_INTERPRETED)
		return "interpreted";
	return kind < FRAME_KINDS ? names[kind] : "user";
}

static const char *const stack_ends[STACK_ENDS] = {
	[END_UNKNOWN] = "none", [END_ROOT] = "root",
	[END_ROOT_GUESS] = "root-guess", [END_TRUNCATED] = "truncated",
	[END_NO_PROCESS] = "no-process", [END_NO_MAPPING] = "no-mapping",
	[END_JIT] = "jit", [END_NO_TABLE] = "no-table",
	[END_NO_FDE] = "no-fde", [END_BAD_RULE] = "bad-rule",
	[END_READ_RA] = "read-ra", [END_READ_FP] = "read-fp",
	[END_RA_ZERO] = "ra-zero", [END_SP_BACK] = "sp-back",
	[END_BUSY] = "busy", [END_RUNNING] = "on_cpu",
	[END_TORN] = "torn", [END_COMPAT32] = "compat32",
	[END_KTHREAD] = "kthread", [END_NO_MM] = "no-mm",
	[END_BUG] = "bug", [END_FP_END] = "fp-end",
	[END_EXEC] = "exec", [END_NOT_READ] = "not-read",
};

bool stack_end_has_stack(unsigned end)
{
	return end != END_UNKNOWN && end != END_KTHREAD && end != END_NO_MM && end != END_EXEC;
}

const char *stack_end_name(unsigned end)
{
	return NAME_OF(stack_ends, end);
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

bool task_state_is_disk(uint8_t state)
{
	return state == TASK_DISK || state == TASK_DISK_NOLOAD || state == TASK_KILLABLE;
}

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
		[LOSS_TICKS] = "no-tick",		  [LOSS_LINE_BUDGET] = "line-budget",
		[LOSS_NO_ANSWER] = "no-answer",		  [LOSS_HELPER_DIED] = "helper-died",
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
		"duration",  "signal", "target-exit", "iterations",
		"disk-full", "error",  "continued",   "trigger",
	};

	return NAME_OF(names, reason);
}

bool end_reason_goes_on(unsigned reason)
{
	return reason == ENDED_CONTINUED || reason == ENDED_TRIGGER;
}

const char *event_kind_name(unsigned kind)
{
	static const char *const names[EVENT_KINDS] = {
		"cpu-clock",  "cycles",	  "sched",    "kprobe",	  "uprobe",
		"tracepoint", "snapshot", "software", "hardware",
	};

	return NAME_OF(names, kind);
}

bool loss_is_samples(unsigned cause)
{
	switch ((enum loss_cause)cause) {
	case LOSS_RING_FULL: case LOSS_RING_DISCARD: case LOSS_THROTTLED: case LOSS_QUEUE_FULL:
	case LOSS_RATE_LIMIT: case LOSS_WRITER_STALL: case LOSS_BAD_RECORD: case LOSS_MAP_FULL:
	case LOSS_NESTED:
		return true;
	case LOSS_ITER_RESTART:
	case LOSS_TASK_VANISHED:
	case LOSS_SYMBOL_BUDGET:
	case LOSS_TASK_EVENTS:
	case LOSS_TABLE_FULL: case LOSS_KERNEL_STACK: case LOSS_SCANS: case LOSS_TICKS:
	case LOSS_LINE_BUDGET: case LOSS_NO_ANSWER: case LOSS_HELPER_DIED:
	case LOSS_CAUSES:
		break;
	}
	return false;
}
