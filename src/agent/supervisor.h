/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `probee agent`: records all the time, keeps what was recorded, and sends it to receivers.
 *
 *	recorder ---- trace ----> supervisor ---> spool (files) ---> sender of each target ---> net
 *	 (rights)      pipe        |     cuts it into windows             (network, no rights)
 *	                           +---> metrics (listens, no rights)
 *
 * The supervisor starts the others, each in a process of its own, and starts them again when they
 * end. It reads the recorder's trace, cuts it where a segment begins, and keeps each segment as a
 * file (spool.h). It parses nothing of that but the frames of the trace. Senders read the files,
 * so a receiver that hangs holds up neither the recording nor another receiver.
 *
 * A child that makes no progress (no chunk of a trace, no sign of life) is killed and started
 * again. The watchdog of systemd is told of life only as long as all of them make progress: where
 * even killing does not help, systemd ends the service.
 *
 *	SIGHUP		reads the configuration again. Only what has changed is started again; if
 *			there is a mistake in it, the old one stays
 *	SIGTERM, SIGINT	the recorder ends, its last window is kept, what is left is sent if the
 *			receiver takes it within seconds, senders end with the request under way
 *
 *	agent_run(path, &hooks)		until a signal comes; an exit code
 *	agent_status(path)		prints how a running agent is: 0, or 1: none runs
 *
 * The lower layers know neither how to record nor how to send: hooks do.
 */
#pragma once

#include <stdint.h>

#include "src/agent/agent_config.h"
#include "src/agent/window_sender.h"

struct shared_rates;

struct agent_hooks {
	/*
	 * In a process of its own: records to standard output; argv[0] is "record" or "sample". The
	 * exit code. rates: see capture_options.rates.
	 */
	int (*record)(int argc, char **argv, struct shared_rates *rates);
	/* Whether that command line makes sense; says why not. 0 or -EINVAL. */
	int (*check_record)(int argc, char **argv);
	/*
	 * In a process of its own: opens a target, and sets send, shut_in and ctx of w. 0 or
	 * -errno, explained.
	 */
	int (*open_target)(const struct agent_target *t, struct window_sender *w);
	/* Whether the target makes sense; opens and connects nothing. 0 or -EINVAL, explained. */
	int (*check_target)(const struct agent_target *t);
};

/* Reads and checks a configuration, with what hooks say of it. 0 or -errno, explained. */
int agent_check(const char *path, const struct agent_hooks *hooks);
int agent_run(const char *path, const struct agent_hooks *hooks);
int agent_status(const char *path);
