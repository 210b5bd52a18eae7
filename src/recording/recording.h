/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording from its command line to its reports: `probee sample`, `probee snapshot` and
 * `probee record` are this with other options.
 *
 *	recording_run(mode, &args, argv, &result)
 *
 * In this order: programs are loaded and events opened; the trace is created (only now, so that a
 * recording that cannot begin leaves an earlier trace of that name alone); the loop runs
 * (capture_loop.h); names and losses are written; the summary is said; reports are rendered.
 */
#pragma once

#include <stdint.h>

#include "src/recording/record_options.h"

struct recording_result {
	uint64_t lost;		/* samples */
};

/*
 * argc, argv: the command's own name and what follows, for the trace. 0 or an error, which was
 * said.
 */
int recording_run(const struct record_mode *mode, const struct record_args *args, int argc,
		  char **argv, struct recording_result *result);
