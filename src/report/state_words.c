/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/state_words.h"

#include <stddef.h>
#include <string.h>

#include "src/model/record.h"

/* New system calls have the same number on all machines. */
#define SYS_FUTEX_WAITV 449
#define SYS_FUTEX_WAIT 455

static const char *const names[ACTIVITIES] = {
	[ACTIVITY_RUNNING] = "running",
	[ACTIVITY_RUN_QUEUE] = "waiting for a CPU",
	[ACTIVITY_DISK] = "waiting for a disk or file server (D)",
	[ACTIVITY_LOCK] = "waiting for a lock or another thread (futex)",
	[ACTIVITY_SLEEPING] = "sleeping",
	[ACTIVITY_IDLE_KERNEL] = "idle kernel thread",
	[ACTIVITY_STOPPED] = "stopped",
	[ACTIVITY_ENDED] = "ended",
	[ACTIVITY_UNKNOWN] = "state unknown",
};

/* Those that are no state D: task_state_is_disk() has these. */
static const enum activity of_state[TASK_STATES] = {
	[TASK_STATE_UNKNOWN] = ACTIVITY_UNKNOWN,
	[TASK_RUNNING] = ACTIVITY_RUNNING,
	[TASK_RUNNABLE] = ACTIVITY_RUN_QUEUE,
	[TASK_SLEEPING] = ACTIVITY_SLEEPING,
	[TASK_STOPPED] = ACTIVITY_STOPPED,
	[TASK_TRACED] = ACTIVITY_STOPPED,
	[TASK_IDLE] = ACTIVITY_IDLE_KERNEL,
	[TASK_ZOMBIE] = ACTIVITY_ENDED,
	[TASK_DEAD] = ACTIVITY_ENDED,
	[TASK_PARKED] = ACTIVITY_STOPPED,
	[TASK_WAKING] = ACTIVITY_RUN_QUEUE,
	[TASK_NEW] = ACTIVITY_RUN_QUEUE,
	[TASK_RTLOCK] = ACTIVITY_LOCK,
	[TASK_FROZEN] = ACTIVITY_STOPPED,
};

const char *activity_name(enum activity a)
{
	return names[(unsigned)a < ACTIVITIES ? a : ACTIVITY_UNKNOWN];
}

unsigned activity_futex(const char *arch)
{
	static const struct {
		const char *arch;
		unsigned nr;
	} calls[] = { { "x86_64", 202 }, { "aarch64", 98 } };

	for (size_t i = 0; arch && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].arch, arch))
			return calls[i].nr + 1;
	return 0;
}

static bool is_futex(unsigned syscall, unsigned futex)
{
	return (futex && syscall == futex) || syscall == SYS_FUTEX_WAITV + 1 ||
	       syscall == SYS_FUTEX_WAIT + 1;
}

/* Where all CPUs are busy, the reader of a snapshot takes that of some thread. */
static bool was_displaced(const struct rec_sample *rec)
{
	return rec->scan && rec->ran_ns && rec->ran_ns <= rec->time_ns &&
	       rec->time_ns - rec->ran_ns < DISPLACED_NS;
}

static enum activity activity_of_state(uint8_t state)
{
	if (task_state_is_disk(state))
		return ACTIVITY_DISK;
	return state < TASK_STATES ? of_state[state] : ACTIVITY_UNKNOWN;
}

enum activity sample_activity(const struct rec_sample *rec, unsigned futex)
{
	enum activity a = activity_of_state(rec->state);

	/* Samples of an event come from a thread on a CPU; not all kinds state so. */
	if (a == ACTIVITY_UNKNOWN && !rec->scan && rec->cpu != UINT32_MAX)
		return ACTIVITY_RUNNING;
	if (a == ACTIVITY_RUN_QUEUE && was_displaced(rec))
		return ACTIVITY_RUNNING;
	return a == ACTIVITY_SLEEPING && is_futex(rec->syscall, futex) ? ACTIVITY_LOCK : a;
}
