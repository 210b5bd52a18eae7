/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads N [sleep|spin|noise]: N threads, each blocked (or spinning) at the end of t1 > t2 > ... > tK with K from
 * 15 to 20 by thread. Stacks are small: 12,000 threads fit. The main thread waits in main > wait_forever.
 * noise: they spin, and their stacks have memory that changes all the time and that nothing can compress.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ready.h"

enum { STACK_BYTES = 64 * 1024, SHALLOWEST = 15, DEPTHS = 6, NOISE_WORDS = 2048 };

static volatile int spinning, noisy;
static atomic_int arrived;

/* xorshift64 by Marsaglia, 2003. */
FRAME static void make_noise(void)
{
	volatile uint64_t noise[NOISE_WORDS];
	uint64_t x = (uintptr_t)noise | 1;

	for (unsigned i = 0;; i = (i + 1) % NOISE_WORDS) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		noise[i] = x;
	}
}

static inline __attribute__((always_inline)) void stay(void)
{
	atomic_fetch_add(&arrived, 1);
	if (noisy)
		make_noise();
	for (;;) {
		if (spinning)
			burn(ROUNDS_PER_MS);
		else
			pause();
	}
}

#define LINK(name, level, callee) \
	FRAME static void name(int depth) \
	{ \
		if (depth == (level)) \
			stay(); \
		else \
			callee(depth); \
		NO_TAIL_CALL(); \
	}

FRAME static void t20(int depth)
{
	(void)depth;
	stay();
}

LINK(t19, 19, t20)
LINK(t18, 18, t19)
LINK(t17, 17, t18)
LINK(t16, 16, t17)
LINK(t15, 15, t16)
LINK(t14, 14, t15)
LINK(t13, 13, t14)
LINK(t12, 12, t13)
LINK(t11, 11, t12)
LINK(t10, 10, t11)
LINK(t9, 9, t10)
LINK(t8, 8, t9)
LINK(t7, 7, t8)
LINK(t6, 6, t7)
LINK(t5, 5, t6)
LINK(t4, 4, t5)
LINK(t3, 3, t4)
LINK(t2, 2, t3)
LINK(t1, 1, t2)

FRAME static void *thread_main(void *depth)
{
	t1((int)(intptr_t)depth);
	NO_TAIL_CALL();
	return NULL;
}

FRAME static void wait_forever(void)
{
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int want = argc > 1 ? atoi(argv[1]) : 10, i;
	pthread_attr_t attr;
	pthread_t thread;

	spinning = argc > 2 && !strcmp(argv[2], "spin");
	noisy = argc > 2 && !strcmp(argv[2], "noise");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (i = 0; i < want; i++) {
		int depth = SHALLOWEST + i % DEPTHS;

		if (pthread_create(&thread, &attr, thread_main, (void *)(intptr_t)depth)) {
			perror("pthread_create");
			return 1;
		}
	}
	while (atomic_load(&arrived) < want)
		usleep(1000);
	usleep(20000);		/* from the counter into pause() */
	say_ready();
	wait_forever();
	return 0;
}
