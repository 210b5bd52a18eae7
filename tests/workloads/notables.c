/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of a known grammar in code without unwind tables and without frame pointers, to be compiled in several ways:
 *
 *	worker;climb;climb;climb;climb;choose;(small|large;leaf|moving;leaf|sorted;(libc's qsort;)compare;leaf)
 *	sleeper;nap x 8;(libc)
 *	main;nap x 4;(libc)
 *
 * Two threads work, one sleeps. Frames of several sizes, a switch, alloca, a callback from libc.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ready.h"

static volatile unsigned long sink;

FRAME static void leaf(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i * n;
}

FRAME static int compare(const void *a, const void *b)
{
	leaf(300);
	return *(const int *)a - *(const int *)b;
}

FRAME static void small(unsigned n)
{
	for (unsigned i = 0; i < 50 * n; i++)
		sink ^= i;
}

FRAME static void large(unsigned n)
{
	volatile char frame[9000];

	frame[n] = 1;
	leaf(20 * n);
	sink += (unsigned long)frame[n];
}

FRAME static void moving(unsigned n)
{
	char *bytes = alloca(n * 8);

	memset(bytes, (int)n, n * 8);
	leaf(20 * n);
	sink += (unsigned long)bytes[n];
}

FRAME static void sorted(unsigned n)
{
	int v[32];

	for (unsigned i = 0; i < 32; i++)
		v[i] = (int)(i * 7919 % (n + 1));
	qsort(v, 32, sizeof(v[0]), compare);
	sink += (unsigned long)v[3];
}

FRAME static void choose(unsigned which, unsigned n)
{
	switch (which % 6) {
	case 0: small(n); sink += 1; break;
	case 1: large(n); sink ^= 2; break;
	case 2: moving(n); sink += 3; break;
	case 3: sorted(n); sink -= 4; break;
	case 4: large(2 * n); sink ^= 5; break;
	case 5: moving(n + 100); sink += 6; break;
	}
}

FRAME static void climb(unsigned depth, unsigned which)
{
	if (depth > 1)
		climb(depth - 1, which);
	else
		choose(which, 300);
	NO_TAIL_CALL();
}

FRAME static void *worker(void *arg)
{
	for (unsigned i = 0;; i++)
		climb(4, i);
	return arg;
}

FRAME static void nap(unsigned depth)
{
	if (depth > 1)
		nap(depth - 1);
	else
		for (unsigned i = 0; i < LIFETIME_S * 100; i++)
			usleep(10000);
	NO_TAIL_CALL();
}

FRAME static void *sleeper(void *arg)
{
	nap(8);
	NO_TAIL_CALL();
	return arg;
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t, NULL, worker, NULL))
			return 1;
	if (pthread_create(&t, NULL, sleeper, NULL))
		return 1;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	nap(4);
	NO_TAIL_CALL();
	return 0;
}
