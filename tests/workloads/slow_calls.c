/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slow_calls [SECONDS]: calls nap() 100 times, each tenth time for 20 ms, otherwise for 0.1 ms; then nest(5), which calls itself, and whose
 * innermost call spins for so long (default 0.5).
 */
#include <stdlib.h>
#include <time.h>

#include "ready.h"

FRAME void nap(int us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
	__asm__ volatile("");
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

FRAME int nest(int depth, double seconds)
{
	double until = cpu_seconds() + seconds;
	int r = 0;

	if (depth)
		r = nest(depth - 1, seconds) + 1;
	else
		while (cpu_seconds() < until)
			;
	__asm__ volatile("");
	return r;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 100; i++)
		nap(i % 10 ? 100 : 20000);
	return nest(5, argc > 1 ? atof(argv[1]) : 0.5) != 5;
}
