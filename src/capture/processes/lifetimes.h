/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a recording keeps what it needs to say what a stack of some seconds ago means. All of it
 * is here, because each figure rests on another one: a stack may wait for the unwind tables of its
 * binaries, and as long as it waits, its process, the mappings it had and the names of its
 * code must not be forgotten; and readers of the trace must know by how much its records are out
 * of order.
 *
 *	a stack is taken ... comes out of the ring ... has waited for its tables ... is written
 *	0 s                  <= STACK_DELAY_NS         <= STACK_WAITS_NS             <= REORDER_NS
 */
#pragma once

#include "src/base/clock.h"

/* A stack that waits for tables is given up so long after it was taken. */
#define STACK_WAITS_NS (12 * NSEC_PER_SEC)

/* From a moment at which something is due to the moment at which the recording gets to do it. */
#define STACK_DELAY_NS (2 * NSEC_PER_SEC)

/* META reorder_ns (TRACE.md): samples of neighbouring chunks overlap by no more than this. */
#define REORDER_NS (14 * NSEC_PER_SEC)

/*
 * The end of a walk waits so long for its stacks that wait; longer where nothing else is to be
 * done.
 */
#define SETTLE_NS NSEC_PER_SEC
#define SETTLE_PATIENT_NS (10 * NSEC_PER_SEC)

/*
 * Processes that have ended, mappings that are gone and the names of their code are kept so long.
 * Thousands of processes may end in a second, so only those that a waiting stack needs are kept
 * for the time that a stack may wait (processes_await()).
 */
#define ENDED_KEPT_NS (5 * NSEC_PER_SEC)
#define AWAITED_KEPT_NS (14 * NSEC_PER_SEC)

/* A thread that was not met for so long, and has ended, is forgotten: it has no more stacks. */
#define THREAD_KEPT_NS (15 * NSEC_PER_SEC)

_Static_assert(STACK_WAITS_NS + STACK_DELAY_NS <= REORDER_NS,
	       "a stack that waited is written within the time that readers are told");
_Static_assert(STACK_WAITS_NS + STACK_DELAY_NS <= AWAITED_KEPT_NS,
	       "what a waiting stack needs is kept until that is given up");
_Static_assert(STACK_DELAY_NS < ENDED_KEPT_NS,
	       "a process is kept until its last stack can be known to wait");
_Static_assert(STACK_WAITS_NS + STACK_DELAY_NS <= THREAD_KEPT_NS,
	       "a thread is kept until its last stack is written");
_Static_assert(SETTLE_NS <= SETTLE_PATIENT_NS && SETTLE_PATIENT_NS < STACK_WAITS_NS,
	       "the end of a walk is over before its stacks are given up");
