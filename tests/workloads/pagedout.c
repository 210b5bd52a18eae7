/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagedout N: N threads asleep at the end of p1 > ... > p8, 8 KiB of stack each, whose stacks the main thread then has the
 * kernel page out. How many are is VmSwap in /proc/PID/status.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ready.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

enum { STACK_BYTES = 128 * 1024, MAX = 1000 };

static char *stacks[MAX];
static atomic_int arrived;

FRAME static void stay(void)
{
	atomic_fetch_add(&arrived, 1);
	for (;;)
		pause();
}

#define LINK(name, callee) \
	FRAME static void name(void) \
	{ \
		volatile char room[8192]; \
		memset((char *)room, 1, sizeof(room)); \
		callee(); \
		room[0] = 2; \
	}

LINK(p8, stay)
LINK(p7, p8)
LINK(p6, p7)
LINK(p5, p6)
LINK(p4, p5)
LINK(p3, p4)
LINK(p2, p3)
LINK(p1, p2)

static void *thread_main(void *arg)
{
	p1();
	NO_TAIL_CALL();
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	pthread_attr_t attr;
	pthread_t t;

	if (n > MAX)
		n = MAX;
	for (int i = 0; i < n; i++) {
		stacks[i] = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_attr_init(&attr);
		pthread_attr_setstack(&attr, stacks[i], STACK_BYTES);
		if (stacks[i] == MAP_FAILED || pthread_create(&t, &attr, thread_main, NULL))
			return 1;
	}
	while (atomic_load(&arrived) < n)
		usleep(1000);
	usleep(50000);
	alarm(LIFETIME_S);
	for (int i = 0; i < n; i++)
		madvise(stacks[i], STACK_BYTES, MADV_PAGEOUT);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}
