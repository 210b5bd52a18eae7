/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deep DEPTH [spin|stream|sleep]: main > start > recurse x DEPTH > bottom; bottom never returns. */
#include <stdlib.h>
#include <string.h>

#include "ready.h"

static volatile int asleep;
static volatile char *memory;
static volatile int sink;

FRAME static void bottom(void)
{
	for (;;) {
		if (asleep)
			pause();
		if (memory)
			stream(memory);
		else
			burn(ROUNDS_PER_MS);
	}
}

FRAME static int recurse(int left)
{
	volatile char room[40];
	int below;

	room[left % 40] = (char)left;
	if (left <= 1) {
		bottom();
		below = 0;
	} else {
		below = recurse(left - 1);
	}
	sink = room[left % 40];
	return below + 1;
}

FRAME static int start(int depth)
{
	int got = recurse(depth);

	NO_TAIL_CALL();
	return got;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 500;

	asleep = argc > 2 && !strcmp(argv[2], "sleep");
	if (argc > 2 && !strcmp(argv[2], "stream"))
		memory = calloc(1, STREAM_BYTES);
	say_ready();
	return start(depth) == depth;
}
