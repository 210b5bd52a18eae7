/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stackless SECONDS: starts itself again and again; each child, before anything can be known of it, takes its stack
 * pointer to where no memory is, spins some milliseconds and is gone.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void spin_without_stack(unsigned long turns)
{
	__asm__ volatile("mov %%rsp, %%r8\n\tmov $8, %%esp\n1:\tdec %0\n\tjnz 1b\n\tmov %%r8, %%rsp"
			 : "+r"(turns) : : "r8", "cc");
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0);

	if (argc < 2)
		spin_without_stack(4000000);
	while (time(NULL) < end) {
		pid_t pid = fork();

		if (!pid) {
			execl(argv[0], argv[0], (char *)NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			return 1;
	}
	return 0;
}
