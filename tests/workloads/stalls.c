/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stalls: measures how long the CPUs of this machine are away. A thread on each CPU sleeps one millisecond at a time with a
 * real-time priority, until the standard input ends. Each time that it wakes more than two milliseconds late, the host or a
 * program of a higher priority had the CPU. The output is the sum of these times, in thousandths of all of the time.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LATE_US 2000
#define MAX_CPUS 256

static atomic_int over;
static atomic_uint_least64_t late_us, all_us;

static uint64_t clock_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void *watch(void *arg)
{
	struct sched_param param = { .sched_priority = 1 };
	uint64_t then = clock_us(), now;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((int)(intptr_t)arg, &set);
	sched_setaffinity(0, sizeof(set), &set);
	sched_setscheduler(0, SCHED_FIFO, &param);
	for (; !over; then = now) {
		usleep(1000);
		now = clock_us();
		all_us += now - then;
		if (now - then > 1000 + LATE_US)
			late_us += now - then - 1000;
	}
	return NULL;
}

int main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[MAX_CPUS];
	struct pollfd in = { 0, POLLIN, 0 };
	int n = 0;

	while (n < cpus && n < MAX_CPUS && !pthread_create(&threads[n], NULL, watch, (void *)(intptr_t)n))
		n++;
	poll(&in, 1, -1);
	over = 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%llu\n", (unsigned long long)(all_us ? 1000 * late_us / all_us : 0));
	return 0;
}
