/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The owner that a lock's memory names, on locks that the C library of this machine has made itself. */
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/futex_owner.h"

_Static_assert((int)FUTEX_OP_WAIT == FUTEX_WAIT && (int)FUTEX_OP_LOCK_PI == FUTEX_LOCK_PI &&
	       (int)FUTEX_OP_WAIT_BITSET == FUTEX_WAIT_BITSET && (int)FUTEX_OP_PRIVATE == FUTEX_PRIVATE_FLAG &&
	       FUTEX_WORD_WAITERS == FUTEX_WAITERS && FUTEX_WORD_TID == FUTEX_TID_MASK, "as the kernel's");

#define PRIVATE FUTEX_PRIVATE_FLAG

static uint32_t me(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static uint32_t owner_at(uint32_t op, uint32_t val, const void *word)
{
	uint32_t words[FUTEX_OWNER_WORDS];

	memcpy(words, word, sizeof(words));
	return futex_has_owner(op, val) ? futex_owner(op, val, words) : 0;
}

/* type: PTHREAD_MUTEX_...; the word that others wait for is the first. */
static void check_mutex(int type, int robust, int protocol, uint32_t op, uint32_t val)
{
	pthread_mutexattr_t attr;
	union {
		pthread_mutex_t mutex;
		uint32_t words[64];
	} u = { 0 };

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, robust);
	pthread_mutexattr_setprotocol(&attr, protocol);
	assert_int_equal(pthread_mutex_init(&u.mutex, &attr), 0);
	assert_int_equal(owner_at(op, val, u.words), 0);
	assert_int_equal(pthread_mutex_lock(&u.mutex), 0);
	assert_int_equal(owner_at(op, val, u.words), me());
	assert_int_equal(pthread_mutex_unlock(&u.mutex), 0);
	assert_int_equal(owner_at(op, val, u.words), 0);
	pthread_mutex_destroy(&u.mutex);
}

static void test_mutexes(void **state)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
				     PTHREAD_MUTEX_ADAPTIVE_NP };

	(void)state;
	for (int i = 0; i < 4; i++) {
		check_mutex(types[i], PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, FUTEX_WAIT | PRIVATE, 2);
		check_mutex(types[i], PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, FUTEX_WAIT_BITSET | PRIVATE, 2);
		check_mutex(types[i], PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE, FUTEX_WAIT, me() | FUTEX_WAITERS);
		check_mutex(types[i], PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT, FUTEX_LOCK_PI | PRIVATE, 0);
		check_mutex(types[i], PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT, FUTEX_OP_LOCK_PI2 | PRIVATE, 0);
	}
}

static void test_rwlock(void **state)
{
	union {
		pthread_rwlock_t lock;
		uint32_t words[64];
	} u = { 0 };

	(void)state;
	assert_int_equal(pthread_rwlock_init(&u.lock, NULL), 0);
	for (int wrote = 0; wrote < 2; wrote++) {
		assert_int_equal(wrote ? pthread_rwlock_wrlock(&u.lock) : pthread_rwlock_rdlock(&u.lock), 0);
		assert_int_equal(owner_at(FUTEX_WAIT | PRIVATE, 3, &u.words[2]), wrote ? me() : 0);	/* readers */
		assert_int_equal(owner_at(FUTEX_WAIT | PRIVATE, 3, &u.words[3]), wrote ? me() : 0);	/* writers */
		assert_int_equal(owner_at(FUTEX_WAIT | PRIVATE, 2, &u.words[2]), 0);	/* a writer for readers */
		assert_int_equal(pthread_rwlock_unlock(&u.lock), 0);
	}
}

/* What has no owner names none, whatever lies in its memory. */
static void test_others(void **state)
{
	uint32_t w[FUTEX_OWNER_WORDS] = { 4711, 4711, 4711, 1, 0, 4711, 4711, 4711 };

	(void)state;
	assert_int_equal(owner_at(FUTEX_WAIT, 4711, w), 4711);			/* pthread_join() */
	assert_int_equal(owner_at(FUTEX_WAIT | PRIVATE, 4711, w), 0);		/* some word */
	assert_int_equal(owner_at(FUTEX_WAIT, 4712, w), 0);			/* it has ended meanwhile */
	assert_int_equal(owner_at(FUTEX_WAIT_BITSET | PRIVATE, 0, w), 0);	/* condition variable, semaphore */
	assert_int_equal(owner_at(FUTEX_WAIT_REQUEUE_PI | PRIVATE, 2, w), 0);
	assert_int_equal(owner_at(FUTEX_WAKE, 2, w), 0);
	assert_int_equal(owner_at(FUTEX_WAIT | PRIVATE, 2, w), 4711);
	w[4] = 4711;								/* no kind of mutex */
	assert_int_equal(owner_at(FUTEX_WAIT | PRIVATE, 2, w), 0);
	w[4] = 0;
	w[3] = 0;								/* nobody uses it */
	assert_int_equal(owner_at(FUTEX_WAIT | PRIVATE, 2, w), 0);
	w[3] = 1;
	w[0] = 0;								/* it is free */
	assert_int_equal(owner_at(FUTEX_WAIT | PRIVATE, 2, w), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutexes),
		cmocka_unit_test(test_rwlock),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
