/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every workload shares: it says "ready PID" once its threads and children are in place, so a test
 * waits for a line and not for a time; and it ends by itself should a test forget it.
 */
#pragma once

#include <stdio.h>
#include <unistd.h>

/* One function, one frame: gcc may neither inline, clone, rename nor tail-call it. */
#define FRAME __attribute__((noipa, noinline))

/* Placed after a call it keeps the call from becoming a jump. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

enum { LIFETIME_S = 300 };

/* Rounds of burn() that take about a millisecond here: a figure to be near, not one to rely on. */
enum { ROUNDS_PER_MS = 500000 };

static inline void say_ready(void)
{
	alarm(LIFETIME_S);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
}

/* Spins without a call, so the leaf is the function it was written into. */
static inline __attribute__((always_inline)) void burn(long rounds)
{
	volatile long left = rounds;

	while (left > 0)
		left = left - 1;
}

/*
 * Goes through half of STREAM_BYTES of memory. No second-level cache holds that, so who interrupts it finds nothing
 * in there, neither the stack nor what is his own.
 */
enum { STREAM_BYTES = 64 << 20 };

static inline __attribute__((always_inline)) void stream(volatile char *memory)
{
	static unsigned place;

	for (unsigned i = 0; i < STREAM_BYTES / 2; i += 64)
		memory[(place += 64) % STREAM_BYTES]++;
}
