/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mayfly US: lives for about US microseconds of CPU time, in main > work, where twice and norm are inlined.
 * mayfly start DIR NUMBER PER_SECOND TIMES US [delete]: starts DIR/0 to DIR/NUMBER-1 in turn, TIMES in all, each with US, waits for
 * each, and deletes its file at once. Where there is no time for so many a second it makes no pauses. Says "missing N" at the
 * end: how many could not be started.
 */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ready.h"

#define ROUNDS 5000

static inline double norm(double x)
{
	for (int i = 0; i < ROUNDS; i++)
		x = x * 1.000001 + 1;
	return x;
}

static inline double twice(double x)
{
	return norm(x) + norm(x * 3);
}

FRAME static double work(double x)
{
	return twice(x);
}

static uint64_t clock_us(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

FRAME static void live(uint64_t us)
{
	volatile double x = 1;

	do
		x = work(x);
	while (clock_us(CLOCK_PROCESS_CPUTIME_ID) < us);
}

/* false: it could not be started. */
static int start_one(const char *dir, long nr, char *us, int is_deleted)
{
	char path[256], *argv[] = { path, us, NULL }, *env[] = { NULL };
	pid_t pid;
	int err;

	snprintf(path, sizeof(path), "%s/%ld", dir, nr);
	err = posix_spawn(&pid, path, NULL, NULL, argv, env);
	if (!err)
		waitpid(pid, NULL, 0);
	if (is_deleted)
		unlink(path);
	return !err;
}

static int start(char **argv, int is_deleted)
{
	long number = atol(argv[1]), times = atol(argv[3]), missing = 0;
	uint64_t next = clock_us(CLOCK_MONOTONIC), every = 1000000 / (uint64_t)atol(argv[2]), now;

	for (long i = 0; i < times; i++) {
		missing += !start_one(argv[0], i % number, argv[4], is_deleted);
		next += every;
		now = clock_us(CLOCK_MONOTONIC);
		if (now < next)
			usleep((unsigned)(next - now));
		else
			next = now;
	}
	printf("missing %ld\n", missing);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 6 && !strcmp(argv[1], "start"))
		return start(argv + 2, argc > 7);
	live(argc > 1 ? (uint64_t)atol(argv[1]) : 1000);
	NO_TAIL_CALL();
	return 0;
}
