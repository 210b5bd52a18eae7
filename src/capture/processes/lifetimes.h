/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a recording keeps processes, mappings, threads and stacks.
 *
 * A stack is not written at the moment at which it is taken. It waits in the ring until the
 * recording reads it, and may then wait for the unwind tables of its binaries (deferred_stacks.h).
 * When it is resolved at last, its process and the mappings of its time must still be known,
 * although both may be gone since; so must the names of code that the process made at run time
 * (jit_names.h). And readers of the trace must be told by how much its records may be out of order.
 *
 * All these times are in this file because they depend on each other. The assertions below say how:
 *
 *	a stack is taken ... comes out of the ring ... has waited for its tables ... is written
 *	0 s                  <= STACK_DELAY_NS         <= STACK_WAITS_NS             <= REORDER_NS
 *	                     2 s                       12 s                          14 s
 *
 * Example: a compiler runs for 50 ms at t = 0 s and is sampled in a library whose table is not
 * built yet. Its end would be forgotten at t = 5 s (ENDED_KEPT_NS). But at each prune the stack
 * that waits asks for its process (deferred_stacks_await()), so the process is kept until t = 14 s.
 * The table comes at t = 7 s, and the stack is unwound with the mappings of t = 0 s. Without the
 * table it would have been given up at t = 12 s.
 *
 * Limit: STACK_DELAY_NS is an assumption, not a promise. A recording that does not get to run for
 * longer (a machine that is paused or overloaded) may find a process forgotten: its stack ends with
 * "no-process".
 */
#pragma once

#include "src/base/clock.h"

/* A stack that waits for tables is given up this long after it was taken. */
#define STACK_WAITS_NS (12 * NSEC_PER_SEC)

/* The longest delay between the moment at which work is due and that at which it is done. */
#define STACK_DELAY_NS (2 * NSEC_PER_SEC)

/* META reorder_ns (TRACE.md): samples of neighbouring chunks overlap by no more than this. */
#define REORDER_NS (14 * NSEC_PER_SEC)

/*
 * After a scan the recording waits this long for the deferred stacks of that scan;
 * SETTLE_PATIENT_NS holds when it has nothing else to do.
 */
#define SETTLE_NS NSEC_PER_SEC
#define SETTLE_PATIENT_NS (10 * NSEC_PER_SEC)

/*
 * Processes that have ended, mappings that are gone and the names of their code are kept for
 * ENDED_KEPT_NS. Thousands of processes may end in a second, so only those that a deferred stack
 * needs are kept for AWAITED_KEPT_NS, which is longer than a stack may wait (processes_await()).
 */
#define ENDED_KEPT_NS (5 * NSEC_PER_SEC)
#define AWAITED_KEPT_NS (14 * NSEC_PER_SEC)

/* A thread that has ended is forgotten if no stack of it came for this long. */
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
	       "the end of a scan is over before its stacks are given up");
