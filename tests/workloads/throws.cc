/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * throws: exceptions all the time: main > day > wade x 12 > deepest, which throws; every wade has a destructor
 * to run and every third catches and throws again. Most time goes to libgcc's unwinder and to libstdc++.
 */
#include <string>

#include "ready.h"

static volatile long sink;

struct Guard {
	std::string text{"a string that is too long to be kept inside of its object"};
	FRAME ~Guard() { sink = sink + static_cast<long>(text.size()); }
};

FRAME static long deepest(long n)
{
	if (n >= 0)
		throw n;
	return n;
}

FRAME static long wade(int left, long n)
{
	Guard guard;

	if (left == 0)
		return deepest(n) + 1;
	if (left % 3)
		return wade(left - 1, n) + 1;
	try {
		return wade(left - 1, n) + 1;
	} catch (long &) {
		throw;
	}
}

FRAME static long day()
{
	try {
		return wade(11, 7);
	} catch (long n) {
		return n;
	}
}

int main()
{
	say_ready();
	for (;;)
		sink = sink + day();
}
