/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leaderless: the main thread is gone, another one spins in orphan_main > orphan_leaf. */
#include <pthread.h>
#include <sys/syscall.h>

#include "ready.h"

FRAME static void orphan_leaf(void)
{
	for (;;)
		burn(ROUNDS_PER_MS);
}

FRAME static void *orphan_main(void *arg)
{
	usleep(20000);		/* the leader is dead by now */
	say_ready();
	orphan_leaf();
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, orphan_main, NULL);
	syscall(SYS_exit, 0);
	return 0;
}
