/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/target_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/program_path.h"
#include "src/base/stop_signals.h"

#define KILLED_NS (200 * NSEC_PER_MSEC)	/* who has not ended by then hangs in the kernel */

int target_command_find(const char *name)
{
	int err = program_look_up(name);

	return err ? fail(err, "run %s", name) : 0;
}

static void child_main(char **argv, int go_fd, int error_fd)
{
	char c;
	int err;

	stop_signals_default();
	if (read(go_fd, &c, 1) != 1)
		_exit(127);	/* the recording did not begin */
	execvp(argv[0], argv);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int target_command_fork(char **argv, struct target_command *c)
{
	int go[2], error[2];

	memset(c, 0, sizeof(*c));
	if (pipe2(go, O_CLOEXEC))
		return fail(-errno, "start %s", argv[0]);
	if (pipe2(error, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return fail(-errno, "start %s", argv[0]);
	}
	c->name = argv[0];
	c->pid = fork();
	if (!c->pid) {
		close(go[1]);
		child_main(argv, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	c->go_fd = go[1];
	c->error_fd = error[0];
	return c->pid < 0 ? fail(-errno, "start %s", argv[0]) : 0;
}

int target_command_go(struct target_command *c)
{
	int err = 0;
	ssize_t n;

	if (write(c->go_fd, "g", 1) != 1)
		return fail(-errno, "start %s", c->name);
	close(c->go_fd);
	/* A successful exec closes the other end, and read() returns 0. */
	do {
		n = read(c->error_fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(c->error_fd);
	c->go_fd = c->error_fd = -1;
	if (n != sizeof(err))
		return 0;
	waitpid(c->pid, &c->status, 0);
	c->ended = true;
	return fail(-err, "run %s", c->name);
}

bool target_command_ended(struct target_command *c)
{
	if (c->pid > 0 && !c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->ended = true;
	return c->ended;
}

static void wait_for_end(struct target_command *c, uint64_t ns)
{
	uint64_t until = now_ns() + ns;

	while (!target_command_ended(c) && now_ns() < until)
		usleep(2000);
}

void target_command_stop(struct target_command *c, uint64_t patience_ns)
{
	if (c->pid <= 0)
		return;
	if (c->go_fd > 0)
		close(c->go_fd);	/* a child that still waits for "go" exits by itself */
	c->go_fd = -1;
	if (!target_command_ended(c)) {
		c->is_stopped = true;
		kill(c->pid, SIGTERM);
	}
	wait_for_end(c, patience_ns);
	if (c->ended)
		return;
	kill(c->pid, SIGKILL);
	wait_for_end(c, KILLED_NS);
	c->ended = true;
}

void target_command_describe(const struct target_command *c, char *buf, unsigned long size)
{
	if (WIFSIGNALED(c->status))
		snprintf(buf, size, "%s was killed by signal %d (%s)", c->name, WTERMSIG(c->status),
			 strsignal(WTERMSIG(c->status)));
	else
		snprintf(buf, size, "%s exited with status %d", c->name, WEXITSTATUS(c->status));
}
