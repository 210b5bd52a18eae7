/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks in nanoseconds. All times inside probee are CLOCK_MONOTONIC, like bpf_ktime_get_ns(). */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/*
 * The CPU time of all threads of a process; 0: it is gone. The clock's number is that of
 * linux/posix-timers.h (MAKE_PROCESS_CPUCLOCK, CPUCLOCK_SCHED). clock_getcpuclockid() gives the
 * same one, after a system call that only tells whether there is such a process.
 */
static inline uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec ts;

	if (clock_gettime((clockid_t)(~(uint32_t)pid << 3 | 2), &ts))
		return 0;
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static inline uint64_t ns_before(uint64_t now, uint64_t ns)
{
	return now > ns ? now - ns : 0;		/* the machine may run for less than ns */
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
