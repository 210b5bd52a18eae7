/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vforked: main > shell > child: a vfork whose child never execs, so the parent stays inside of libc's vfork, which keeps
 * its return address in a register; the child shares the stack and sleeps in nap_in_child.
 */
#include "ready.h"

FRAME static void nap_in_child(void)
{
	say_ready();
	for (;;)
		pause();
}

FRAME static int shell(int n)
{
	pid_t pid = vfork();

	if (!pid) {
		nap_in_child();
		_exit(0);
	}
	NO_TAIL_CALL();
	return n + (int)pid;
}

int main(void)
{
	return shell(1) == 0;
}
