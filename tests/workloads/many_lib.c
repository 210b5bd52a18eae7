/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library with many functions and some 9,600 rows of unwind tables, of which hundreds of copies are made that differ
 * in their build-id. Built with other FRAME_BYTES the rules for the same addresses are others: rows of one taken for
 * those of another lead astray. many.c calls many_outer(); the functions in between are never called.
 */
#ifndef FRAME_BYTES
#define FRAME_BYTES 64
#endif
#define FRAME __attribute__((noipa, noinline))
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

/* Five saved registers and a frame: each function has a dozen rows. */
#define FILLER(name) \
	long name(long a, long b, long c, long (*f)(long, long, long)); \
	long name(long a, long b, long c, long (*f)(long, long, long)) \
	{ \
		volatile char frame[FRAME_BYTES]; \
		long x, y, z; \
		frame[0] = 1; \
		x = f(a, b, c), y = f(b, c, x), z = f(c, x, y); \
		return f(x + a, y + b, z + c) + frame[0]; \
	}
#define FOUR(n) FILLER(n##0) FILLER(n##1) FILLER(n##2) FILLER(n##3)
#define SIXTEEN(n) FOUR(n##0) FOUR(n##1) FOUR(n##2) FOUR(n##3)
#define MANY(n) SIXTEEN(n##0) SIXTEEN(n##1) SIXTEEN(n##2) SIXTEEN(n##3)

void many_outer(void (*wait)(void));
FRAME void many_middle(void (*wait)(void));
FRAME void many_inner(void (*wait)(void));

MANY(a) MANY(b) MANY(c) MANY(d)

#define STEP(name, call) \
	FRAME void name(void (*wait)(void)) \
	{ \
		volatile char frame[FRAME_BYTES]; \
		frame[0] = 1; \
		call; \
		NO_TAIL_CALL(); \
		(void)frame[0]; \
	}

STEP(many_inner, wait())
MANY(e) MANY(f) MANY(g)
STEP(many_middle, many_inner(wait))
MANY(h) MANY(i) MANY(j)
STEP(many_outer, many_middle(wait))
