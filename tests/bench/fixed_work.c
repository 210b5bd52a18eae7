/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fixed_work CPU: does the same work again and again on that CPU, 30 calls deep and without frame pointers. Prints its number, and
 * then the CPU time of each piece of work in seconds, a line each, some 6 ms.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TURNS 20000000L

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static double work(void)
{
	double before = cpu_s();

	for (volatile long i = 0; i < TURNS; i++)
		;
	return cpu_s() - before;
}

__attribute__((noinline)) static double descend(int n)
{
	double r = n ? descend(n - 1) : work();

	__asm__ volatile("" : "+m"(r));
	return r;
}

int main(int argc, char **argv)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return 1;
	printf("%d\n", (int)getpid());
	for (;;) {
		printf("%.9f\n", descend(30));
		if (fflush(stdout))
			return 0;
	}
}
