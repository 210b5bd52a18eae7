/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaves: tiny functions called in a hot loop, so that most of the time goes into prologues, epilogues and functions
 * without a frame. Built with frame pointers and without unwind tables. Every stack is one of
 *
 *	main > work > direct | through_pointer > add | mix | twice
 *	main > work > direct > branch > add | mix
 *	main > work > framed > inside
 *	main > work > framed
 */
#include "ready.h"

static volatile unsigned long sink;
static unsigned long (*volatile pointer)(unsigned long);

FRAME static unsigned long add(unsigned long x)
{
	return x + sink;
}

FRAME static unsigned long mix(unsigned long x)
{
	return (x ^ x >> 7) * 0x9e3779b97f4a7c15ul;
}

/* Has two ways out. */
FRAME static unsigned long twice(unsigned long x)
{
	if (x & 1)
		return x * 2;
	return x + x / 3;
}

FRAME static unsigned long branch(unsigned long x)
{
	unsigned long y = add(x);

	return y + mix(y);
}

FRAME static unsigned long inside(unsigned long *v)
{
	return v[1] + v[3];
}

/* Its own stack slots, some never written, must not be taken for return addresses. */
FRAME static unsigned long framed(unsigned long x)
{
	volatile unsigned long dead[6];
	unsigned long v[4] = { x, x + 1, x + 2, x + 3 };

	dead[3] = inside(v);
	for (int i = 0; i < 20; i++)
		sink += x;
	return dead[3];
}

FRAME static unsigned long direct(unsigned long x)
{
	for (int i = 0; i < 100; i++)
		x = add(x) + mix(x) + twice(x) + branch(x);
	return x;
}

FRAME static unsigned long through_pointer(unsigned long x)
{
	static unsigned long (*const all[])(unsigned long) = { add, mix, twice };

	for (int i = 0; i < 99; i++) {
		pointer = all[i % 3];
		x += pointer(x);
	}
	return x;
}

FRAME static void work(void)
{
	unsigned long x = 1;

	for (;;) {
		x = direct(x);
		x = through_pointer(x);
		for (int i = 0; i < 20; i++)
			x += framed(x);
		sink = x;
	}
}

int main(void)
{
	say_ready();
	work();
	return 0;
}
