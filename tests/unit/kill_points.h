/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs something in a forked process and kills it at its nth system call, for each n: whatever is on
 * the disk then is what a kill -9 or a crash of the program can leave there.
 *
 *	for (n = 1; kill_at_call(n, run, ctx); n++)
 *		look at what is left
 *
 * Half of the calls that are counted are entries and half are exits, so a call is interrupted before
 * it has done anything, and after it has done everything.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* True: it was killed there. False: it had ended before, with exit code 0. */
static inline bool kill_at_call(unsigned n, void (*run)(void *ctx), void *ctx)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		run(ctx);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (unsigned i = 0; i < n && WIFSTOPPED(status); i++) {
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	if (!WIFSTOPPED(status)) {
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
		return false;
	}
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == pid && !WIFSIGNALED(status))
		;
	return true;
}
