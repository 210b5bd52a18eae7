/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words for what a thread was doing when a sample was taken: running, waiting for a CPU, for a
 * disk or for a lock, sleeping. A thread that is ready to run waits for a CPU, unless it was on
 * one until less than DISPLACED_NS ago: then the snapshot itself took that CPU, and the thread
 * counts as running (a thread that waits for another one's time slice to end mostly waits for
 * longer). One that sleeps in futex() waits for a lock or for another thread; one that sleeps
 * uninterruptibly waits for a disk or a file server.
 */
#pragma once

#include <stdbool.h>

struct rec_sample;

#define DISPLACED_NS 1000000

enum activity {
	ACTIVITY_RUNNING,
	ACTIVITY_RUN_QUEUE,
	ACTIVITY_DISK,
	ACTIVITY_LOCK,
	ACTIVITY_SLEEPING,
	ACTIVITY_IDLE_KERNEL,		/* a kernel thread without work */
	ACTIVITY_STOPPED,		/* by a signal or a debugger, frozen, parked */
	ACTIVITY_ENDED,			/* zombies */
	ACTIVITY_UNKNOWN,
	ACTIVITIES
};

/* futex: the number of the system call on the recording's machine plus 1; 0: unknown. */
enum activity sample_activity(const struct rec_sample *rec, unsigned futex);

const char *activity_name(enum activity a);	/* "waiting for a CPU"; never NULL */

/* The number of futex() plus 1 on a machine of this arch ("x86_64"); 0: unknown. */
unsigned activity_futex(const char *arch);
