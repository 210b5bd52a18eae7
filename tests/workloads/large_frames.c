/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * large_frames: naps 3,000 times, from its first moment on, below three functions whose frames are 14,000 bytes each and
 * wholly in use. It says nothing and ends by itself.
 */
#include <time.h>

#include "ready.h"

FRAME void nap(void)
{
	struct timespec t = { 0, 200000 };

	nanosleep(&t, NULL);
	NO_TAIL_CALL();
}

#define LARGE(name, next)                                                                            \
	FRAME void name(void)                                                                        \
	{                                                                                            \
		volatile char room[14000];                                                           \
												     \
		for (int i = 0; i < 14000; i += 512)                                                 \
			room[i] = 1;                                                                 \
		next();                                                                              \
		room[0] = 2;                                                                         \
	}

LARGE(inner, nap)
LARGE(middle, inner)
LARGE(outer, middle)

int main(void)
{
	for (int i = 0; i < 3000; i++)
		outer();
	return 0;
}
