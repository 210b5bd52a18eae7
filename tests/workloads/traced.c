/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traced seize|attach|syscall: a tracer and its tracee, which sleeps in traced_sleep(): stopped by PTRACE_INTERRUPT, by
 * PTRACE_ATTACH, or at the end of a system call. "ready PID TRACEE".
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "ready.h"

static volatile int rounds;

/* Short naps, so that it comes to the ends of system calls. */
FRAME static void traced_sleep(void)
{
	for (;;) {
		usleep(1000);
		rounds++;
	}
}

static int stop(const char *how, pid_t tracee)
{
	int status;

	if (ptrace(strcmp(how, "attach") ? PTRACE_SEIZE : PTRACE_ATTACH, tracee, 0, 0))
		return -1;
	if (strcmp(how, "attach") && ptrace(PTRACE_INTERRUPT, tracee, 0, 0))
		return -1;
	if (waitpid(tracee, &status, 0) != tracee || !WIFSTOPPED(status))
		return -1;
	if (strcmp(how, "syscall"))
		return 0;
	for (int i = 0; i < 2; i++)
		if (ptrace(PTRACE_SYSCALL, tracee, 0, 0) || waitpid(tracee, &status, 0) != tracee)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	pid_t tracee = fork();

	if (!tracee) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		traced_sleep();
	}
	usleep(50000);
	if (argc < 2 || stop(argv[1], tracee))
		return 2;
	alarm(LIFETIME_S);
	printf("ready %d %d\n", (int)getpid(), (int)tracee);
	fflush(stdout);
	for (;;)
		pause();
}
