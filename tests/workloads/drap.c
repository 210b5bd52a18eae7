/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drap: recursion through a function whose stack is realigned and grows at run time, so its caller's frame
 * is found through a saved argument pointer (gcc's DRAP) and rbp is saved by an expression:
 * main > realigned x 7 > drap_leaf.
 */
#include <alloca.h>
#include <string.h>

#include "ready.h"

FRAME static void touch(void *p, int n)
{
	memset(p, n, 8);
}

FRAME static int drap_leaf(int n)
{
	burn(ROUNDS_PER_MS);
	return n;
}

FRAME static int realigned(int n, int a, int b, int c, int d, int e, int f, int g)
{
	_Alignas(64) char room[256];
	char *more = alloca((size_t)n * 8 + 16);
	int sum;

	touch(room, n);
	touch(more, g);
	sum = n <= 0 ? drap_leaf(n) : realigned(n - 1, b, c, d, e, f, g, a);
	touch(room, sum);
	return sum + room[0];
}

int main(void)
{
	say_ready();
	for (;;)
		realigned(6, 1, 2, 3, 4, 5, 6, 7);
}
