/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * states: one child in each state ps knows. After "ready PID" on the same line: R= S= T= t= Z= D=, the
 * child's pid. D is a parent waiting for its vfork child, R spins, T was stopped, t is traced and stopped.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "ready.h"

FRAME static void state_running(void)
{
	for (;;)
		burn(ROUNDS_PER_MS);
}

FRAME static void state_sleeping(void)
{
	for (;;)
		pause();
}

FRAME static void state_stopped(void)
{
	raise(SIGSTOP);
	state_sleeping();
}

FRAME static void state_traced(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	state_sleeping();
}

FRAME static void state_zombie(void)
{
	_exit(3);
}

FRAME static void state_disk(void)
{
	pid_t child = vfork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	state_sleeping();
}

static const struct {
	char letter;
	void (*run)(void);
} states[] = {
	{ 'R', state_running }, { 'S', state_sleeping }, { 'T', state_stopped },
	{ 't', state_traced }, { 'Z', state_zombie }, { 'D', state_disk },
};

enum { STATES = sizeof states / sizeof states[0] };

static pid_t start_child(void (*run)(void))
{
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		_exit(0);
	}
	return child;
}

int main(void)
{
	pid_t child[STATES];
	int i;

	for (i = 0; i < STATES; i++)
		child[i] = start_child(states[i].run);
	usleep(200000);		/* the tracer must not wait() for the zombie, so there is nothing to wait on */
	alarm(LIFETIME_S);
	printf("ready %d", (int)getpid());
	for (i = 0; i < STATES; i++)
		printf(" %c=%d", states[i].letter, (int)child[i]);
	printf("\n");
	fflush(stdout);
	state_sleeping();
	return 0;
}
