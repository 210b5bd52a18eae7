/*
 * What `probee sample` and `probee snapshot` share: common options, the trace file, signals, the
 * status line, the summary and the reports rendered right after.
 *
 *	recording_open(rec, args)
 *	recording_options(rec, &opts)		for recorder_open()
 *	recording_start(rec, live)		creates the trace: only now, so that a recording
 *						that cannot begin leaves an earlier trace of that
 *						name alone. live: reports that can are written while
 *						it runs
 *	recording_live_begin(rec)		behind recorder_begin()
 *	recording_live_scan(rec, session)	after each walk
 *	recording_live_rows(rec, session)	between them, often: names come, readers read
 *	... recording_live(rec, ...), recording_stopped(rec)
 *	recording_close(rec)			writes out and closes the trace; its error
 *	recording_summary(rec, ...)
 *	recording_render(rec)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "formats/render/renderer.h"
#include "formats/trace/trace_writer.h"
#include "src/base/opt.h"
#include "src/capture/recorder.h"
#include "src/recording/live_line.h"
#include "src/recording/live_rows.h"
#include "src/recording/output_list.h"
#include "src/recording/record_tee.h"
#include "src/recording/stop_signals.h"

struct pollfd;

struct recording_args {			/* first member of each command's args */
	const char *output;
	enum unwind_mode unwind;
	bool user_only, kernel_only, include_idle, quiet, verbose, strict, all;
	uint32_t max_frames;
	uint32_t audit;			/* keep the memory of one in so many stacks; 0: of none */
	struct id_list pids;
	struct output_list outputs;	/* reports to render right after */
	struct render_opts render;
};

extern const struct opt recording_opts[];
extern const size_t nr_recording_opts;

struct recording {
	const struct recording_args *args;
	struct trace_writer *writer;
	struct stop_signals stop;
	struct live_line live;
	struct record_tee tee;		/* records go to the writer, and to live consumers */
	struct live_rows *rows;		/* NULL: no report is written while it runs */
	struct output_list later;	/* the others */
	int rows_err;
	const char *path;
	uint64_t run_ns;		/* set by the command: from the first tick or walk possible
					   to the last */
	uint64_t file_bytes;
};

int recording_open(struct recording *rec, const struct recording_args *args);
int recording_start(struct recording *rec, bool live);
int recording_live_begin(struct recording *rec);
int recording_live_scan(struct recording *rec, struct session *session);
int recording_live_rows(struct recording *rec, struct session *session);
/* as live_rows_fds() */
size_t recording_live_fds(const struct recording *rec, struct pollfd *fds);
bool recording_live_waits(const struct recording *rec);		/* for names: recording_live_rows()
								   soon */
bool recording_live_full(const struct recording *rec);		/* no walk now: too many rows wait
								   for their reader */
bool recording_live_over(const struct recording *rec);		/* the readers of the rows have
								   gone */
void recording_options(struct recording *rec, struct recorder_options *out);
void recording_live(struct recording *rec, uint64_t samples, uint64_t lost, uint64_t scans);
int recording_close(struct recording *rec);

/* The reports asked for, from the file just written. */
int recording_render(struct recording *rec);
/* what: "samples"; others: what else was lost, in words; "" nothing. */
void recording_summary(const struct recording *rec, const struct session_stats *st, uint64_t lost,
		       const char *what, const char *others);

const char *unwind_mode_name(enum unwind_mode mode);
