/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * many PROCESSES LIBS FILE...: so many children, each with LIBS of the files loaded, the first of which it sleeps in:
 * main > child > many_outer > many_middle > many_inner > wait_here. Child number i begins with file number i.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "ready.h"

static int ready_fd;

FRAME void wait_here(void);
FRAME void child(char **files, int nr, int first, int libs);

FRAME void wait_here(void)
{
	if (write(ready_fd, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

FRAME void child(char **files, int nr, int first, int libs)
{
	void (*outer)(void (*)(void)) = NULL;
	void *lib = NULL;

	for (int i = libs - 1; i >= 0; i--)
		lib = dlopen(files[(first + i) % nr], RTLD_NOW | RTLD_LOCAL);
	if (lib)
		outer = (void (*)(void (*)(void)))dlsym(lib, "many_outer");
	if (!outer) {
		fprintf(stderr, "many: %s\n", dlerror());
		_exit(1);
	}
	outer(wait_here);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	int processes = argc > 3 ? atoi(argv[1]) : 0, fds[2];
	char byte;

	if (!processes || pipe(fds))
		return 2;
	ready_fd = fds[1];
	for (int i = 0; i < processes; i++) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(LIFETIME_S);
			child(argv + 3, argc - 3, i, atoi(argv[2]));
		}
	}
	for (int i = 0; i < processes; i++)
		if (read(fds[0], &byte, 1) != 1)
			return 1;
	say_ready();
	for (;;)
		pause();
}
