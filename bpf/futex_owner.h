/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the owner of the lock that a futex wait is for, as far as the memory of the lock tells it.
 * No kernel interface does. The rules are those of the C libraries, which keep the owner's tid in
 * the word that is waited on or beside it. The result is a candidate: other programs keep other
 * things there, so user space checks whether such a thread exists in the process.
 *
 *	PI and robust mutexes, musl	the word is owner | FUTEX_WAITERS (FUTEX_TID_MASK in glibc)
 *	glibc mutex			the word is 2: locked with waiters, and begins
 *					{lock, count, owner, users, kind}
 *	glibc rwlock			the word is 3: used by a writer. __cur_writer is at +24 of
 *					the lock, the words to wait on are at +8 and +12
 *	pthread_join()			the word is the tid of the thread that is waited for; the
 *					kernel clears it when that thread ends
 *
 * glibc: sysdeps/nptl/bits/struct_mutex.h and struct_rwlock.h; the layout is part of its ABI since
 * 2.26. Freestanding, so that its test runs on the host.
 */
#pragma once

#include <stdint.h>

#define FUTEX_OWNER_WORDS 8	/* that are read, from the word waited on */

enum futex_wait_op {
	FUTEX_OP_WAIT = 0, FUTEX_OP_LOCK_PI = 6, FUTEX_OP_WAIT_BITSET = 9, FUTEX_OP_LOCK_PI2 = 13,
	FUTEX_OP_MASK = 0x7f,
	FUTEX_OP_PRIVATE = 0x80,
};
#define FUTEX_WORD_WAITERS 0x80000000u
#define FUTEX_WORD_TID 0x3fffffffu

/* In a mutex kind holds type, robust and protocol bits only. */
static inline __attribute__((always_inline)) uint32_t futex_mutex_owner(const uint32_t *w)
{
	uint32_t users = w[3], kind = w[4];

	return w[0] && users - 1 < 0xffff && kind < 0x400 ? w[2] : 0;
}

static inline __attribute__((always_inline)) uint32_t futex_rwlock_owner(const uint32_t *w)
{
	/* __cur_writer is w[4] if the word at +8 is waited on, w[3] if that at +12 is. */
	return w[4] > 1 ? w[4] : w[3];
}

/* Whether memory may name an owner. For condition variables and semaphores it does not. */
static inline __attribute__((always_inline)) int futex_has_owner(uint32_t op, uint32_t val)
{
	uint32_t command = op & FUTEX_OP_MASK;

	if (command == FUTEX_OP_LOCK_PI || command == FUTEX_OP_LOCK_PI2)
		return 1;
	return (command == FUTEX_OP_WAIT || command == FUTEX_OP_WAIT_BITSET) &&
	       (val & FUTEX_WORD_WAITERS || val == 2 || val == 3 ||
		(val && !(op & FUTEX_OP_PRIVATE)));
}

/*
 * To be called if futex_has_owner(). op and val are as given to futex(); w is the word waited on
 * and those behind it. 0: no owner is named.
 */
static inline __attribute__((always_inline)) uint32_t futex_owner(uint32_t op, uint32_t val,
								  const uint32_t *w)
{
	uint32_t command = op & FUTEX_OP_MASK;

	if (command == FUTEX_OP_LOCK_PI || command == FUTEX_OP_LOCK_PI2)
		return w[0] & FUTEX_WORD_TID;
	if (val & FUTEX_WORD_WAITERS)
		return w[0] & FUTEX_WORD_TID;
	if (val == 2)
		return futex_mutex_owner(w);
	if (val == 3)
		return futex_rwlock_owner(w);
	return !(op & FUTEX_OP_PRIVATE) && w[0] == val ? val : 0;
}
