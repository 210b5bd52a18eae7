/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pingpong SECONDS: two threads on one CPU pass a byte to and fro through pipes, below 20 calls without frame pointers. Prints
 * "switch_ns N": the time of a context switch, of which there are two for each round.
 * pingpong SECONDS call: calls hot() as often as it can instead, and prints "call_ns N" and "calls N".
 * pingpong SECONDS sys: the same with a system call.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static volatile int over;
static long rounds;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pass(int from, int to)
{
	char c = 1;

	if (from >= 0 && read(from, &c, 1) != 1)
		exit(1);
	if (write(to, &c, 1) != 1)
		exit(1);
}

static void ping(void)
{
	rounds++;
	pass(-1, there[1]);
	if (read(back[0], &(char){ 0 }, 1) != 1)
		exit(1);
}

static void pong(void) { pass(there[0], back[1]); }

__attribute__((noipa, noinline)) void hot(void) { __asm__ volatile(""); }

static void call(void)
{
	rounds++;
	hot();
}

static void ask_kernel(void)
{
	rounds++;
	syscall(SYS_getppid);
}

__attribute__((noipa, noinline)) static int descend(int n, void (*fn)(void))
{
	int r;

	if (!n) {
		do
			fn();
		while (!over);
		return 1;
	}
	r = descend(n - 1, fn);
	__asm__ volatile("" : "+r"(r));
	return r + 1;
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static _Noreturn void *answer(void *arg)
{
	(void)arg;
	pin();
	for (;;)
		descend(14, pong);
}

static void *end(void *seconds)
{
	usleep((useconds_t)(*(double *)seconds * 1e6));
	over = 1;
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, begin;
	void (*calls)(void) = argc < 3 ? NULL : strcmp(argv[2], "sys") ? call : ask_kernel;
	pthread_t t;

	pin();
	if (pipe(there) || pipe(back))
		return 1;
	if (!calls)
		pthread_create(&t, NULL, answer, NULL);
	pthread_create(&t, NULL, end, &seconds);
	begin = now();
	descend(14, calls ? calls : ping);
	begin = now() - begin;
	if (calls)
		printf("call_ns %.1f\ncalls %ld\n", begin * 1e9 / (double)rounds, rounds);
	else
		printf("switch_ns %.1f\n", begin * 1e9 / (2.0 * (double)rounds));
	fflush(stdout);
	_exit(0);
}
