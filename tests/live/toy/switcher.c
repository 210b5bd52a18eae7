/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switcher THREADS: threads of which the i-th sleeps 7 * i times for a moment and then waits for ever, and a last one that spins. So all but
 * that one have left their CPU a number of times that does not change any more. Prints "ready PID" when they wait.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_barrier_t have_slept;

static void *sleeper(void *arg)
{
	for (intptr_t i = 0; i < 7 * (intptr_t)arg; i++)
		usleep(1);
	prctl(PR_SET_NAME, "sleeper");
	pthread_barrier_wait(&have_slept);
	for (;;)
		pause();
	return NULL;
}

static void *spinner(void *arg)
{
	volatile uint64_t *turns = arg;

	prctl(PR_SET_NAME, "spinner");
	for (;;)
		++*turns;
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1;
	static volatile uint64_t turns;
	pthread_t t;

	pthread_barrier_init(&have_slept, NULL, (unsigned)nr + 1);
	for (intptr_t i = 1; i <= nr; i++)
		if (pthread_create(&t, NULL, sleeper, (void *)i))
			return 1;
	if (pthread_create(&t, NULL, spinner, (void *)&turns))
		return 1;
	pthread_barrier_wait(&have_slept);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}
