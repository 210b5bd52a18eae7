/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * brief [MS=5 [cpu]]: lives for MS milliseconds, all of it in main > brief_outer > brief_leaf; with cpu it lives
 * until it has had so much CPU time. When it lived for more than a second it says "cpu_ms N" at the end: what it
 * got of that.
 */
#include <stdlib.h>
#include <time.h>

#include "ready.h"

static clockid_t its_clock = CLOCK_MONOTONIC;

static long now_us(void)
{
	struct timespec ts;

	clock_gettime(its_clock, &ts);
	return ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

FRAME static void brief_leaf(long us)
{
	long end = now_us() + us;

	do
		burn(ROUNDS_PER_MS / 10);
	while (now_us() < end);
}

FRAME static void brief_outer(long us)
{
	brief_leaf(us);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	long us = argc > 1 ? atol(argv[1]) * 1000 : 5000;
	struct timespec cpu;

	if (argc > 2)
		its_clock = CLOCK_PROCESS_CPUTIME_ID;
	brief_outer(us);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	if (us > 1000000)
		printf("cpu_ms %ld\n", (long)cpu.tv_sec * 1000 + cpu.tv_nsec / 1000000);
	return 0;
}
