/*
 * storm threads|procs [PARALLEL]: threads (or processes) that come, live for up to 2 ms in storm_leaf() and end, PARALLEL
 * (default 4) makers at a time, for as long as it runs. Three threads stay all the time, asleep in stay().
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
	int processes = argc > 1 && !strcmp(argv[1], "procs"), parallel = argc > 2 ? atoi(argv[2]) : 4;
	pthread_t t;

	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, staying, NULL);
	for (int i = 0; i < parallel; i++)
		pthread_create(&t, NULL, processes ? make_processes : make_threads, NULL);
	usleep(20000);
	say_ready();
	stay();
	return 0;
}
