/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sigalt [alt|same]: a timer interrupts inner() at some instruction; the handler, on its own stack with
 * "alt", never returns: main > outer > inner > (trampoline) > on_signal > handler_mid > handler_leaf.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "ready.h"

static volatile long sink;

FRAME static void handler_leaf(void)
{
	say_ready();
	for (;;)
		burn(ROUNDS_PER_MS);
}

FRAME static void handler_mid(void)
{
	handler_leaf();
	NO_TAIL_CALL();
}

FRAME static void on_signal(int signr)
{
	(void)signr;
	handler_mid();
	NO_TAIL_CALL();
}

FRAME static long inner(void)
{
	for (;;)
		burn(ROUNDS_PER_MS);
	return sink;
}

FRAME static long outer(void)
{
	long n = inner();

	NO_TAIL_CALL();
	return n + 1;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct itimerval once = { .it_value = { .tv_usec = 20000 } };
	stack_t alt = { .ss_size = 64 * 1024 };

	if (argc < 2 || strcmp(argv[1], "same")) {
		alt.ss_sp = malloc(alt.ss_size);
		if (!alt.ss_sp || sigaltstack(&alt, NULL))
			return 1;
		act.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGVTALRM, &act, NULL);
	setitimer(ITIMER_VIRTUAL, &once, NULL);
	sink = outer();
	return 0;
}
