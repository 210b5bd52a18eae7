/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command lines of `probee sample`, `probee snapshot` and `probee record`: one struct for all
 * three, and tables of options from which each of the three is put together.
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
#include "src/proc/target_rules.h"
#include "src/flight/flight_settings.h"
#include "formats/render/output_list.h"

struct record_args {
	const char *output;		/* path of the trace; NULL: trace.pbz */
	char *trace_name;		/* owned; path of the trace when -o named a picture */
	enum unwind_mode unwind;
	bool user_only, kernel_only, include_idle, quiet, verbose, strict, all;
	bool java_perf_map;		/* asks JVMs for maps of their code */
	bool no_symbolize;		/* addresses only */
	bool cmdlines;
	bool dry_run;			/* only says where probes would be put */
	bool self_profile;		/* probee is recorded, too */
	bool force;			/* replaces files that are no earlier outputs */
	uint32_t max_frames;
	uint32_t audit;			/* one in so many stacks keeps its memory; 0: none */
	struct target_rules rules;	/* -p and its kin, as written */
	struct id_list pids, tids;	/* pids: record_args_find_targets() */
	struct output_list outputs;	/* reports to render with the recording */
	struct render_opts render;
	uint64_t duration_ns;		/* 0: unlimited */
	uint64_t segment_bytes;		/* the trace goes on in another segment then; 0: no limit */
	/* It goes on in another one each segment_ns of the clock, offset by so much; 0: not. */
	uint64_t segment_ns, segment_offset_ns;
	struct flight_settings flight;
	int flight_link, flight_trace;	/* set for the recorder of one: flight_keeper.h */
	double freq_hz;			/* samples a second; with `snapshot`, scans a second */
	const char *cpus;		/* as written; NULL: all */
	uint32_t period;		/* of events that count; 0: not given */
	const char *debug_urls;		/* servers of debug files; NULL: none is asked */
	int command;			/* index in argv of the words after "--"; argc: none */
	struct capture_options capture;
	/*
	 * Called when the trace's file is there, before there are threads: fd, which is the
	 * callee's, reads it as it grows. 0 or -errno, explained. NULL: not called.
	 */
	int (*opened)(void *ctx, int fd);
	void *opened_ctx;
};

enum record_mode_id { RECORD_SAMPLE, RECORD_SNAPSHOT, RECORD_BOTH };

struct record_mode {
	const char *name;		/* the command */
	bool sample, scan;
	bool has_command;		/* accepts "-- CMD" */
	double freq_hz, scan_hz;	/* defaults of -F and --snap-freq */
};

extern const struct record_mode record_modes[];	/* by enum record_mode_id */

/*
 * 0: go on, or say what render.columns_shown.wants_help or capture.events.wants_help asks for.
 * enum opt_help: help is asked for.
 * -EINVAL: the mistake was reported.
 */
int record_args_parse(const struct record_mode *mode, int argc, char **argv,
		      struct record_args *args);
void record_args_release(struct record_args *args);
/* Whether some processes or threads are named, and not the whole machine. */
bool record_args_have_target(const struct record_args *args);
/* Looks for the processes that run now, once. 0, or an error that was reported. */
int record_args_find_targets(struct record_args *args);

const char *unwind_mode_name(enum unwind_mode mode);

/*
 * The option tables of a mode. Fills rows and lists, and returns the number of lists, at most
 * RECORD_LISTS. capture: its kinds' options are what their tables fill; NULL: for help.
 */
#define RECORD_LISTS (9 + COLLECTORS)
size_t record_opt_lists(const struct record_mode *mode, const struct capture_options *capture,
			struct opt *rows, struct opt_list lists[RECORD_LISTS]);
