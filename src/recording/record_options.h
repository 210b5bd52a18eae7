/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command lines of `probee sample`, `probee snapshot` and `probee record`: one struct, and
 * tables of options that each of the three is put together from.
 *
 *	struct record_args args;
 *	record_args_parse(&record_modes[RECORD_SAMPLE], argc, argv, &args)
 *	record_args_release(&args)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "formats/render/renderer.h"
#include "src/base/opt.h"
#include "src/capture/collectors/collector.h"
#include "src/capture/recorder.h"
#include "formats/render/output_list.h"

struct record_args {
	const char *output;		/* the trace; NULL: trace.pbz */
	char *trace_name;		/* ours, when output named a picture */
	enum unwind_mode unwind;
	bool user_only, kernel_only, include_idle, quiet, verbose, strict, all;
	uint32_t max_frames;
	uint32_t audit;			/* keep the memory of one in so many stacks; 0: of none */
	struct id_list pids, tids;
	struct output_list outputs;	/* reports to render right after */
	struct render_opts render;
	uint64_t duration_ns;		/* 0: no end */
	double freq_hz;			/* samples or, of snapshot, scans a second */
	const char *cpus;		/* as written; NULL: all */
	uint32_t period;		/* of events that count; 0: none was given */
	int command;			/* index in argv of the words behind "--"; argc: none */
	struct capture_options capture;
};

enum record_mode_id { RECORD_SAMPLE, RECORD_SNAPSHOT, RECORD_BOTH };

struct record_mode {
	const char *name;		/* the command */
	bool sample, scan;
	bool has_command;		/* takes "-- CMD" */
	double freq_hz, scan_hz;	/* defaults of -F and --snap-freq */
};

extern const struct record_mode record_modes[];	/* by enum record_mode_id */

/* 0: go on; OPT_HELP: help was printed; -EINVAL: the mistake was explained. */
int record_args_parse(const struct record_mode *mode, int argc, char **argv,
		      struct record_args *args);
void record_args_release(struct record_args *args);

const char *unwind_mode_name(enum unwind_mode mode);

/*
 * For help: the option tables of a mode. Returns their number, RECORD_LISTS at most; rows is
 * filled.
 */
#define RECORD_LISTS 7
size_t record_opt_lists(const struct record_mode *mode, struct opt *rows,
			struct opt_list lists[RECORD_LISTS]);
