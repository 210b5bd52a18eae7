/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library that late opens: plugin_entry > plugin_mid > plugin_leaf, 1 ms. In the frames are zeros, so who
 * mistakes their size finds the end of a stack.
 */
#include <string.h>

#include "ready.h"

#ifndef MID_BYTES
#define MID_BYTES 16
#define ENTRY_BYTES 16
#endif

long plugin_entry(long n);

FRAME static long plugin_leaf(long n)
{
	burn(ROUNDS_PER_MS);
	return n;
}

FRAME static long plugin_mid(long n)
{
	volatile char frame[MID_BYTES];
	long r;

	memset((char *)frame, 0, sizeof(frame));
	r = plugin_leaf(n) + frame[0];
	NO_TAIL_CALL();
	return r + 1;
}

long plugin_entry(long n)
{
	volatile char frame[ENTRY_BYTES];
	long r;

	memset((char *)frame, 0, sizeof(frame));
	r = plugin_mid(n) + frame[0];
	NO_TAIL_CALL();
	return r + 1;
}
