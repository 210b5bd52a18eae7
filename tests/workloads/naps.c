/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * naps SECONDS: threads that leave the CPU in known ways, for so long. Each tells by its own clocks how long it lived
 * and was not on a CPU ("off NAME SECONDS").
 *
 *	napper	sleeps 1 ms, below 20 calls of itself
 *	locker	two of them take turns at a lock that each holds for 5 ms
 *	spinner	never sleeps
 *	late	sleeps from the start to the end
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ready.h"

static volatile int over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct life {
	double begin;
};

static struct life begin(const char *name)
{
	pthread_setname_np(pthread_self(), name);
	return (struct life){ seconds(CLOCK_MONOTONIC) };
}

static void end(struct life life, const char *name)
{
	double wall = seconds(CLOCK_MONOTONIC) - life.begin;

	printf("off %s %.6f\n", name, wall - seconds(CLOCK_THREAD_CPUTIME_ID));
	fflush(stdout);
}

FRAME static void take_a_nap(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
	__asm__ volatile("");
}

FRAME static int descend(int n, long us)
{
	int r;

	if (!n) {
		take_a_nap(us);
		return 1;
	}
	r = descend(n - 1, us);
	__asm__ volatile("" : "+r"(r));
	return r + 1;
}

static void *napper(void *arg)
{
	struct life life = begin("napper");

	(void)arg;
	while (!over)
		descend(20, 1000);
	end(life, "napper");
	return NULL;
}

FRAME static void hold(void)
{
	pthread_mutex_lock(&lock);
	take_a_nap(5000);
	pthread_mutex_unlock(&lock);
}

static void *locker(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "locker");
	while (!over)
		hold();
	return NULL;
}

static void *spinner(void *arg)
{
	struct life life = begin("spinner");

	(void)arg;
	while (!over)
		;
	end(life, "spinner");
	return NULL;
}

static void *late(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "late");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static void *(*const run[])(void *) = { napper, locker, locker, spinner };
	pthread_t t[4], last;

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, run[i], NULL);
	pthread_create(&last, NULL, late, NULL);
	say_ready();
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : LIFETIME_S);
	over = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	exit(0);
}
