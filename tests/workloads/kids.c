/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kids MODE COUNT [PROGRAM ARG...]: makes children, COUNT of them, once it has got SIGUSR1, which is after
 * "ready PID"; then says "made", and waits in wait_forever(). With "now" before MODE it does not wait for
 * the signal and exits 7 after its last child.
 *	fork	at the same time; each spins in fork_child > fork_leaf for a second of CPU time
 *	exec	one after the other: fork, then PROGRAM ARG...
 *	vfork	one after the other: vfork; the child spins 300 ms of CPU time in vfork_leaf, then PROGRAM ARG...
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "ready.h"

/* The CPU time of this process: on a busy machine others have the rest of the time. */
static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

FRAME static void fork_leaf(void)
{
	double end = now_s() + 1;

	while (now_s() < end)
		burn(ROUNDS_PER_MS);
}

FRAME static void fork_child(void)
{
	fork_leaf();
	NO_TAIL_CALL();
}

FRAME static void vfork_leaf(void)
{
	double end = now_s() + 0.3;

	while (now_s() < end)
		burn(ROUNDS_PER_MS);
}

FRAME static void make_fork(char **program)
{
	(void)program;
	if (!fork()) {
		fork_child();
		_exit(0);
	}
}

FRAME static void make_exec(char **program)
{
	if (!fork()) {
		execv(program[0], program);
		_exit(127);
	}
	wait(NULL);
}

FRAME static void make_vfork(char **program)
{
	if (!vfork()) {
		vfork_leaf();
		execv(program[0], program);
		_exit(127);
	}
	wait(NULL);
}

static const struct {
	const char *name;
	void (*make)(char **program);
} modes[] = { { "fork", make_fork }, { "exec", make_exec }, { "vfork", make_vfork } };

FRAME static void make_children(const char *mode, int count, char **program)
{
	size_t i;

	for (i = 0; i < sizeof modes / sizeof modes[0]; i++)
		while (!strcmp(modes[i].name, mode) && count-- > 0)
			modes[i].make(program);
	while (wait(NULL) > 0)
		;
}

FRAME static void wait_forever(void)
{
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int at_once = argc > 1 && !strcmp(argv[1], "now"), signr;
	sigset_t set;

	argv += at_once;
	argc -= at_once;
	if (argc < 3) {
		fprintf(stderr, "usage: kids [now] fork|exec|vfork COUNT [PROGRAM ARG...]\n");
		return 2;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	say_ready();
	if (!at_once)
		sigwait(&set, &signr);
	make_children(argv[1], atoi(argv[2]), argv + 3);
	if (at_once)
		return 7;
	puts("made");
	fflush(stdout);
	wait_forever();
	return 0;
}
