/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The function of a program in which a thread waits, and what kind of lock it waits for.
 *
 * The innermost functions of a thread that waits are those of libraries: pthread_mutex_lock() for
 * any mutex. The first function outside of them tells more. In a program with a runtime (Java, Go,
 * Python, PostgreSQL) the kernel sees one futex behind many locks, and does not know who holds
 * them; but the functions of the runtime say which kind of lock it is, and for each kind there is
 * a tool that knows the holder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/definition_store.h"

enum lock_class {
	LOCK_HELD,			/* another thread has it, and must let go of it */
	LOCK_HELD_ELSEWHERE,		/* the same; the futex is the thread's, not the lock's */
	LOCK_MAYBE,			/* the same functions wait for locks and for work */
	LOCK_IDLE,			/* mostly waits for work */
};

struct lock_kind {
	const char *function;		/* pattern: "name", or "prefix*" */
	const char *what;		/* "Java monitor" */
	const char *ask;		/* who knows its holder; PID stands for the process; "" */
	enum lock_class class;
};

struct wait_function {
	const char *name;		/* "": no function is known; lives in the store or in buf */
	size_t len;
	const struct lock_kind *lock;	/* NULL: none that is known */
	char buf[FRAME_TEXT_MAX];
};

/*
 * Whether a thread waits for its next piece of work: in a condition, a semaphore, or what a runtime
 * has for that, with at most `depth` functions of the program between that and where threads begin.
 */
bool wait_is_for_work(const struct definition_store *t, uint32_t ustack, unsigned depth);

/*
 * Whether a thread has work under way, however it waits: for a lock that another one has, or for
 * the answer to what it has asked (a row lock of PostgreSQL sleeps in epoll_wait(), a socket of
 * Python with a time limit in poll()).
 */
bool wait_is_for_answer(const struct definition_store *t, uint32_t ustack);

/*
 * The kind of lock by the static variable that a row's futex lies in: functions of a runtime may be
 * inlined, and then no function tells. NULL: it tells nothing.
 */
const struct lock_kind *wait_lock_of_variable(const struct definition_store *t,
					      const struct rec_sample *rec);

/* Finds the function that waits in the user stack whose innermost node is ustack. */
void wait_function_of(const struct definition_store *t, uint32_t ustack, struct wait_function *f);
