/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usdt_calls SECONDS: calls a function that USDT probes tell of as often as it can, below ten others. Prints "call_ns N", of the
 * quickest thousand, "mean_ns N" of all, and "calls N".
 */
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <time.h>

#define SEMAPHORE(name) __extension__ unsigned short calls_##name##_semaphore __attribute__((section(".probes"), used))
SEMAPHORE(entry);
SEMAPHORE(leave);

static long calls;
static double best = 1e9;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noipa, noinline)) static void hot(const char *file, const char *name, int line)
{
	if (calls_entry_semaphore)
		STAP_PROBE3(calls, entry, file, name, line);
	__asm__ volatile("");
	if (calls_leave_semaphore)
		STAP_PROBE3(calls, leave, file, name, line);
}

__attribute__((noipa, noinline)) static void work(double until)
{
	static const char *const names[] = { "total", "get_query_set", "__init__", "process_request" };
	double begin = now(), end = begin;

	while (end < until) {
		for (long i = 0; i < 1000; i++)
			hot("/usr/lib/python3/site/shop/models/cart.py", names[i % 4], 100 + (int)(i % 4));
		end = now();
		calls += 1000;
		if (end - begin < best)
			best = end - begin;
		begin = end;
	}
}

__attribute__((noipa, noinline)) static void below(int depth, double until)
{
	if (depth)
		below(depth - 1, until);
	else
		work(until);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	double begin = now(), seconds = argc > 1 ? atof(argv[1]) : 1;

	below(10, begin + seconds);
	printf("call_ns %.1f\nmean_ns %.1f\ncalls %ld\n", best * 1e6, (now() - begin) * 1e9 / (double)calls, calls);
	return 0;
}
