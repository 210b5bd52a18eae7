/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/stack_cause.h"

#include <stddef.h>

#include "src/model/record.h"

#define BUILD_WITH "build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer"
#define RUN_JIT_WITH                                                                               \
	"run the JIT with frame pointers if it can make them (java -XX:+PreserveFramePointer, "    \
	"node --interpreted-frames-native-stack, erl +JPperf true)"

enum { HAS_PLACE = 1, HAS_RULE = 2 };

static const struct {
	const char *text, *remedy;
	unsigned flags;
} causes[STACK_ENDS] = {
	[END_UNKNOWN] = { "no user stack was asked for", NULL, 0 },
	[END_ROOT] = { "whole: reached the outermost frame", NULL, 0 },
	[END_ROOT_GUESS] = { "probably whole: the frame pointer chain ended, or the return address "
			     "is 0", NULL, 0 },
	[END_KTHREAD] = { "a kernel thread has no user stack", NULL, 0 },
	[END_NO_MM] = { "the task was exiting, its memory is gone", NULL, 0 },
	[END_EXEC] = { "inside execve: the old program's memory is gone, the new one has not begun",
		       NULL, 0 },
	[END_TRUNCATED] = { "deeper than the frame limit",
			    "record without --max-depth; more than 1024 frames are never taken, of "
			    "which those of an interpreter count twice",
			    0 },
	[END_NO_PROCESS] = { "process too new, its mappings were not known", NULL, 0 },
	[END_NO_MAPPING] = { "return address in no known mapping", NULL, HAS_PLACE | HAS_RULE },
	[END_JIT] = { "generated code, frame pointer chain broke", RUN_JIT_WITH, HAS_PLACE },
	[END_NO_TABLE] = { "unwind table not ready or not built", NULL, HAS_PLACE | HAS_RULE },
	[END_NO_FDE] = { "no unwind information, frame pointer chain broke", BUILD_WITH,
			 HAS_PLACE | HAS_RULE },
	[END_BAD_RULE] = { "rule not supported", NULL, HAS_PLACE | HAS_RULE },
	[END_READ_RA] = { "stack memory unreadable at the return address", NULL,
			  HAS_PLACE | HAS_RULE },
	[END_READ_FP] = { "stack memory unreadable at a saved register", NULL,
			  HAS_PLACE | HAS_RULE },
	[END_RA_ZERO] = { "return address 0", NULL, HAS_PLACE | HAS_RULE },
	[END_SP_BACK] = { "stack pointer went backwards", NULL, HAS_PLACE | HAS_RULE },
	[END_BUSY] = { "memory map locked", NULL, 0 },
	[END_RUNNING] = { "on a CPU during the snapshot",
			  "record with probee sample, which sees running threads", 0 },
	[END_TORN] = { "ran while it was read", NULL, 0 },
	[END_COMPAT32] = { "32-bit process", NULL, 0 },
	[END_BUG] = { "inconsistency inside probee", "report it", 0 },
	[END_FP_END] = { "end of the frame pointer chain, which may be the root or not",
			 "record with --unwind auto", HAS_PLACE },
	[END_NOT_READ] = { "stack memory not read, it could block",
			   "record with --faults=all, which may hang", 0 },
};

/* What stands in the stack itself, so it is short. NULL: nothing does. */
static const char *const briefs[STACK_ENDS] = {
	[END_NO_MM] = "the process was ending",
	[END_EXEC] = "inside execve",
	[END_TRUNCATED] = "deeper than the frame limit",
	[END_NO_PROCESS] = "the process was too new",
	[END_NO_MAPPING] = "an address in no known file",
	[END_JIT] = "generated code without frame pointers",
	[END_NO_TABLE] = "its unwind table was not ready",
	[END_NO_FDE] = "no unwind table for this address",
	[END_BAD_RULE] = "a rule that is not supported",
	[END_READ_RA] = "stack memory cannot be read",
	[END_READ_FP] = "a saved register cannot be read",
	[END_RA_ZERO] = "return address 0",
	[END_SP_BACK] = "the stack pointer went backwards",
	[END_BUSY] = "the memory map was locked",
	[END_RUNNING] = "it ran during the snapshot",
	[END_TORN] = "it ran while it was read",
	[END_COMPAT32] = "a 32-bit process",
	[END_BUG] = "a mistake of probee",
	[END_NOT_READ] = "memory that could block was not read",
};

const char *stack_cause_brief(unsigned end)
{
	return end < STACK_ENDS ? briefs[end] : NULL;
}

const char *stack_cause_text(unsigned end)
{
	return end < STACK_ENDS && causes[end].text ? causes[end].text
						    : "cause unknown to this version";
}

const char *stack_cause_remedy(unsigned end)
{
	return end < STACK_ENDS && causes[end].remedy ? causes[end].remedy : "";
}

bool stack_cause_has_place(unsigned end)
{
	return end >= STACK_ENDS || causes[end].flags & HAS_PLACE;
}

bool stack_cause_has_rule(unsigned end)
{
	return end < STACK_ENDS && causes[end].flags & HAS_RULE;
}
