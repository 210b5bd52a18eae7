/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ever_new [SEED]: calls sixteen functions in random order, 24 deep, and stays a while at the end of each way: hardly any
 * two samples of it have the same stack.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FRAME __attribute__((noinline))
#define DEPTH 24

static uint64_t state = 1;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

typedef void (*step_fn)(int depth);
static const step_fn steps[16];

static FRAME void stay(void)
{
	for (volatile int i = 0; i < 20000; i++)
		;
}

#define STEP(n)						\
	static FRAME void step##n(int depth)		\
	{						\
		if (depth)				\
			steps[next() & 15](depth - 1);	\
		else					\
			stay();				\
		__asm__ volatile("");			\
	}
STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)

static const step_fn steps[16] = {
	step0, step1, step2, step3, step4, step5, step6, step7,
	step8, step9, step10, step11, step12, step13, step14, step15,
};

int main(int argc, char **argv)
{
	state = argc > 1 ? strtoull(argv[1], NULL, 10) * 2654435769u + 1 : 1;
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;)
		steps[next() & 15](DEPTH);
}
