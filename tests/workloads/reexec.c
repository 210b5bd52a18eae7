/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * red (built with -DCOLOUR=red -DOTHER=blue) and blue: each spins 10 ms in COLOUR_leaf, then execs the
 * other, for ever, in one process. A stack with both colours mixes two lives of the process.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ready.h"

#define GLUE(a, b) a##b
#define NAME(colour, rest) GLUE(colour, rest)
#define TEXT(x) #x
#define STRING(x) TEXT(x)

FRAME static void NAME(COLOUR, _leaf)(void)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		burn(ROUNDS_PER_MS / 10);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 10000000);
}

FRAME static void NAME(COLOUR, _outer)(void)
{
	NAME(COLOUR, _leaf)();
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	char path[PATH_MAX] = "";
	char *slash;
	char again[] = "again";
	char *next[] = { path, again, NULL };

	if (argc < 2)
		say_ready();
	NAME(COLOUR, _outer)();
	if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
		return 1;
	slash = strrchr(path, '/');
	strcpy(slash + 1, STRING(OTHER));
	execv(path, next);
	return argv[0] == NULL;
}
