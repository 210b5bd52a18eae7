/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/flight_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/memory.h"
#include "src/commands/command.h"
#include "src/flight/flight_keeper.h"
#include "src/recording/recording.h"

/*
 * Ctrl-C reaches the keeper alone, which may want a last snapshot before the end. A command behind
 * "--" stays in the group of the terminal, which it may want to read, and the recorder with it.
 */
static void become_recorder(struct flight_keeper *k, const struct record_mode *mode,
			    const struct record_args *args, int argc, char **argv)
{
	struct recording_result result = { 0 };
	int err;

	flight_keeper_leave(k);
	if (args->command >= argc)
		setpgid(0, 0);
	err = recording_run(mode, args, argc, argv, &result);
	if (err)
		exit(exit_code_of(fail_if_silent(err, "%s", mode->name)));
	exit(args->strict && (result.lost || memory_refusals()) ? EXIT_LOSS : EXIT_OK);
}

static int code_of(int status, int err)
{
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status) || !err ? WEXITSTATUS(status) : exit_code_of(err);
}

int flight_command(const struct record_mode *mode, struct record_args *args, int argc, char **argv)
{
	struct flight_job job = { .settings = &args->flight,
				  .path = args->output ? args->output : "trace.pbz",
				  .force = args->force };
	struct flight_keeper *k = NULL;
	int err, status = 0;
	pid_t pid;

	fail_set_verbosity(args->quiet ? -1 : args->verbose);
	err = flight_keeper_open(&job, &k);
	if (err)
		return exit_code_of(err);
	args->flight_trace = job.trace;
	args->flight_link = job.link;
	fflush(NULL);
	pid = fork();
	if (!pid)
		become_recorder(k, mode, args, argc, argv);
	err = pid < 0 ? fail(-errno, "start a recording") : flight_keeper_run(k, pid, &status);
	flight_keeper_close(k);
	return code_of(status, err);
}
