/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library that late opens: plugin_entry > plugin_mid > plugin_leaf, 1 ms. */
#include "ready.h"

long plugin_entry(long n);

FRAME static long plugin_leaf(long n)
{
	burn(ROUNDS_PER_MS);
	return n;
}

FRAME static long plugin_mid(long n)
{
	long r = plugin_leaf(n);

	NO_TAIL_CALL();
	return r + 1;
}

long plugin_entry(long n)
{
	long r = plugin_mid(n);

	NO_TAIL_CALL();
	return r + 1;
}
