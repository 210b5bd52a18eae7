/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command after "--". It is forked at once, so that its pid can be a target, and held back
 * until everything is ready.
 *
 *	target_command_find(name)	whether it can be run at all; -errno with a message
 *	target_command_fork(argv, &c)
 *	target_command_go(c)		lets it exec; -errno with a message when that fails
 *	target_command_ended(c)		true once it has exited (status in c->status)
 *	target_command_stop(c, ns)	ends it if it still runs
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target_command {
	pid_t pid;			/* 0: none */
	int go_fd, error_fd;
	const char *name;
	bool ended;
	bool is_stopped;		/* it did not end by itself */
	int status;			/* wait status */
};

int target_command_find(const char *name);	/* as execvp(3) looks for it */
int target_command_fork(char **argv, struct target_command *c);
int target_command_go(struct target_command *c);
bool target_command_ended(struct target_command *c);
/* SIGTERM, and SIGKILL after patience_ns. One that does not end even then is left behind. */
void target_command_stop(struct target_command *c, uint64_t patience_ns);

/* "exited with status 3", "was killed by signal 11 (Segmentation fault)". */
void target_command_describe(const struct target_command *c, char *buf, unsigned long size);
