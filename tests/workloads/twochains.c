/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * twochains ROUNDS NSPIN NSLEEP: threads that alternate between the call chains a1 > a2 > a3 and
 * b1 > b2 > b3, both below alternate(), ROUNDS of a counting loop in each. A stack that mixes the two, or
 * that skips a level, cannot exist: whoever reports one has read registers and memory of different moments.
 * NSPIN threads never sleep; of the NSLEEP others the even ones sleep between the chains, the odd ones in
 * the leaf. All of them are threads: the main thread waits in pause().
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "ready.h"

enum sleeper { NEVER, BETWEEN, IN_LEAF };

static long rounds;
static __thread enum sleeper sleeper;

/* Inline and without libc: the sleeping leaf is a3 or b3 itself, as it is when it spins. */
static inline __attribute__((always_inline)) void nap(void)
{
	struct timespec ts = { 0, 20000 };
#ifdef __x86_64__
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"((long)SYS_nanosleep), "D"(&ts), "S"(0L)
			 : "rcx", "r11", "memory");
#else
	register long nr __asm__("x8") = SYS_nanosleep;
	register void *arg0 __asm__("x0") = &ts;
	register long arg1 __asm__("x1") = 0;

	__asm__ volatile("svc 0" : "+r"(arg0) : "r"(nr), "r"(arg1) : "memory");
#endif
}

#define CHAIN(x) \
	FRAME static void x##3(void) \
	{ \
		burn(rounds); \
		if (sleeper == IN_LEAF) \
			nap(); \
		NO_TAIL_CALL(); \
	} \
	FRAME static void x##2(void) \
	{ \
		x##3(); \
		NO_TAIL_CALL(); \
	} \
	FRAME static void x##1(void) \
	{ \
		x##2(); \
		NO_TAIL_CALL(); \
	}

CHAIN(a)
CHAIN(b)

FRAME static void *alternate(void *arg)
{
	sleeper = (enum sleeper)(intptr_t)arg;
	for (;;) {
		a1();
		if (sleeper == BETWEEN)
			nap();
		b1();
		if (sleeper == BETWEEN)
			nap();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int nr_spin, nr_sleep, i;
	pthread_t thread;

	if (argc != 4) {
		fprintf(stderr, "usage: twochains ROUNDS NSPIN NSLEEP\n");
		return 2;
	}
	rounds = atol(argv[1]);
	nr_spin = atoi(argv[2]);
	nr_sleep = atoi(argv[3]);
	for (i = 0; i < nr_spin; i++)
		pthread_create(&thread, NULL, alternate, (void *)(intptr_t)NEVER);
	for (i = 0; i < nr_sleep; i++)
		pthread_create(&thread, NULL, alternate,
			       (void *)(intptr_t)(i % 2 ? IN_LEAF : BETWEEN));
	say_ready();
	for (;;)
		pause();
}
