/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm threads|procs|maps [PARALLEL]: threads (or processes) that come, live for up to 2 ms in storm_leaf() and end,
 * PARALLEL (default 4) makers at a time, for as long as it runs; maps: they lock the memory map for long, again and again.
 * Three threads stay all the time, asleep in stay().
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ready.h"

FRAME static void stay(void)
{
	for (;;)
		pause();
}

static void *staying(void *arg)
{
	stay();
	return arg;
}

FRAME static void storm_leaf(unsigned us)
{
	usleep(us);
	NO_TAIL_CALL();
}

static void *brief(void *arg)
{
	storm_leaf((unsigned)(uintptr_t)arg % 2000);
	return NULL;
}

static void *make_threads(void *arg)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (uintptr_t i = 0;; i += 37) {
		if (!pthread_create(&t, &attr, brief, (void *)i))
			pthread_join(t, NULL);
	}
	return arg;
}

static void *make_processes(void *arg)
{
	for (uintptr_t i = 0;; i += 37) {
		pid_t child = fork();

		if (!child) {
			brief((void *)i);
			_exit(0);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
	}
	return arg;
}

enum { LOCKED_BYTES = 16 << 20 };

static void *lock_maps(void *arg)
{
	void *p = mmap(NULL, LOCKED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	while (p != MAP_FAILED) {
		mprotect(p, LOCKED_BYTES, PROT_READ);
		mprotect(p, LOCKED_BYTES, PROT_READ | PROT_WRITE);
		usleep(200);
	}
	return arg;
}

static const struct {
	const char *name;
	void *(*run)(void *arg);
} makers[] = { { "threads", make_threads }, { "procs", make_processes }, { "maps", lock_maps } };

int main(int argc, char **argv)
{
	int parallel = argc > 2 ? atoi(argv[2]) : 4;
	size_t kind = 0;
	pthread_t t;

	while (argc > 1 && kind < 2 && strcmp(argv[1], makers[kind].name))
		kind++;

	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, staying, NULL);
	for (int i = 0; i < parallel; i++)
		pthread_create(&t, NULL, makers[kind].run, NULL);
	usleep(20000);
	say_ready();
	stay();
	return 0;
}
