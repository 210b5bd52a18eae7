/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * late LIBRARY [again [LIBRARY]]: on SIGUSR1 (after "ready PID") opens LIBRARY and calls it for ever:
 * main > host_call > plugin_entry > plugin_mid > plugin_leaf. With "again" it is closed and opened anew for
 * every 20 calls, or in turn with the other library, which then has its addresses. Until the signal it spins in
 * before_open().
 */
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#include "ready.h"

static volatile sig_atomic_t go;
static volatile long sink;

static void on_usr1(int signr)
{
	(void)signr;
	go = 1;
}

FRAME static void before_open(void)
{
	while (!go)
		burn(ROUNDS_PER_MS);
}

FRAME static void host_call(const char *path, int calls)
{
	void *lib = dlopen(path, RTLD_NOW);
	long (*entry)(long) = NULL;

	if (lib)
		*(void **)&entry = dlsym(lib, "plugin_entry");
	if (!entry) {
		fprintf(stderr, "late: %s\n", dlerror());
		_exit(1);
	}
	while (calls < 0 || calls-- > 0)
		sink += entry(1);
	dlclose(lib);
}

int main(int argc, char **argv)
{
	int calls = argc > 2 && !strcmp(argv[2], "again") ? 20 : -1;

	if (argc < 2)
		return 2;
	signal(SIGUSR1, on_usr1);
	say_ready();
	before_open();
	for (;;) {
		host_call(argv[1], calls);
		if (argc > 3)
			host_call(argv[3], calls);
	}
}
