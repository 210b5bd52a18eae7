/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rename: one thread that is called "phase-one" while in work_one() and "phase-two" while in work_two(),
 * 200 ms each; the main thread keeps its name and waits.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "ready.h"

static void burn_for(long ms)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		burn(ROUNDS_PER_MS / 4);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

FRAME static void work_one(void)
{
	burn_for(200);
	NO_TAIL_CALL();
}

FRAME static void work_two(void)
{
	burn_for(200);
	NO_TAIL_CALL();
}

FRAME static void *renamer(void *arg)
{
	(void)arg;
	for (;;) {
		prctl(PR_SET_NAME, "phase-one");
		work_one();
		prctl(PR_SET_NAME, "phase-two");
		work_two();
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, renamer, NULL);
	say_ready();
	for (;;)
		pause();
}
