/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain30 [spin|stream|sleep]: main > f1 > ... > f30, over and over. Nearly all time is spent in f30 (spin:
 * about 1 ms in each round; stream: about 10 ms of ready.h's stream(); sleep: blocked in pause()), so at least
 * 99 % of its samples hold the whole chain.
 * Every third frame is large and every fifth keeps an array of a size known only at run time, which gives
 * different unwind rules. All of it fits into 8 KiB, what perf copies of a stack.
 */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#include "ready.h"

static volatile int asleep;
static volatile char *memory;
static volatile long sink;

FRAME static void keep(void *p)
{
	sink += *(volatile char *)p;
}

FRAME static long f30(long n)
{
	if (asleep)
		for (;;)
			pause();
	if (memory)
		stream(memory);
	else
		burn(ROUNDS_PER_MS);
	return n;
}

#define LINK(name, callee, large, dynamic) \
	FRAME static long name(long n) \
	{ \
		char room[large]; \
		char *more = (dynamic) ? alloca((size_t)(n & 63) + 16) : room; \
		long sum; \
		more[0] = room[0] = (char)n; \
		keep(more); \
		sum = callee(n + 1); \
		keep(room); \
		return sum + room[0]; \
	}

LINK(f29, f30, 8, 0)
LINK(f28, f29, 8, 0)
LINK(f27, f28, 200, 0)
LINK(f26, f27, 8, 0)
LINK(f25, f26, 8, 1)
LINK(f24, f25, 200, 0)
LINK(f23, f24, 8, 0)
LINK(f22, f23, 8, 0)
LINK(f21, f22, 200, 0)
LINK(f20, f21, 8, 1)
LINK(f19, f20, 8, 0)
LINK(f18, f19, 900, 0)
LINK(f17, f18, 8, 0)
LINK(f16, f17, 8, 0)
LINK(f15, f16, 200, 1)
LINK(f14, f15, 8, 0)
LINK(f13, f14, 8, 0)
LINK(f12, f13, 200, 0)
LINK(f11, f12, 8, 0)
LINK(f10, f11, 8, 1)
LINK(f9, f10, 200, 0)
LINK(f8, f9, 8, 0)
LINK(f7, f8, 8, 0)
LINK(f6, f7, 200, 0)
LINK(f5, f6, 8, 1)
LINK(f4, f5, 8, 0)
LINK(f3, f4, 200, 0)
LINK(f2, f3, 8, 0)
LINK(f1, f2, 8, 0)

int main(int argc, char **argv)
{
	asleep = argc > 1 && !strcmp(argv[1], "sleep");
	if (argc > 1 && !strcmp(argv[1], "stream"))
		memory = calloc(1, STREAM_BYTES);
	say_ready();
	for (;;)
		sink += f1(1);
}
