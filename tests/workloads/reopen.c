/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens and closes a library (argv[1]) again and again: main;reopen;(ld.so);_init... */
#include <dlfcn.h>
#include <stdlib.h>

#include "ready.h"

FRAME static void reopen(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	dlclose(lib);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (unsigned i = 0; i < LIFETIME_S * 400; i++)
		reopen(argv[1]);
	return 0;
}
