/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording, from its command line to its reports. `probee sample`, `probee snapshot` and
 * `probee record` all call this, with different options.
 *
 *	recording_run(mode, &args, argc, argv, &result)
 *
 * The order of the steps:
 *
 *	1. the command is looked up
 *	2. the trace and all reports are opened beside their names (src/output/output_files.h), so
 *	   that a path that cannot be written is said now and not after an hour
 *	3. programs are loaded and events opened
 *	4. the loop runs (capture_loop.h). Only now the trace takes its place: a recording that
 *	   cannot begin leaves an earlier trace of that name alone
 *	5. names and losses are written
 *	6. the summary is printed
 *	7. reports are rendered, and each takes its place when it is complete
 */
#pragma once

#include <stdint.h>

#include "src/recording/record_options.h"

struct recording_result {
	uint64_t lost;			/* 0: nothing at all is missing, as far as it is known */
};

/*
 * argc, argv: the command's name and its arguments, for the trace. 0 or -errno, which was reported.
 */
int recording_run(const struct record_mode *mode, const struct record_args *args, int argc,
		  char **argv, struct recording_result *result);
