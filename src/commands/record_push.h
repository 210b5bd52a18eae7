/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `probee sample --push URL`, `probee record --push URL`: the trace is sent while it is recorded,
 * by a process of its own, window by window.
 *
 * The recorder writes its trace as always, in segments of some seconds, to a file that the user
 * wants (-o) or to one in memory. The sender reads that file as it grows. What a receiver does not
 * take at once waits in it: on disk as long as it takes, in memory up to RECORD_PUSH_BYTES, beyond
 * which the oldest windows are dropped and counted. When the recording is over the rest is sent,
 * for as long as --give-up says; another Ctrl-C ends that.
 *
 *	record_push_words(&words, argc, argv, &p)	1: --push was given; 0: it was not; -EINVAL
 *	args.opened = record_push_begin, .opened_ctx = &p	before recording_run()
 *	record_push_end(&p)				waits for the sender: its exit code
 *	record_push_release(&p)
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "src/base/opt.h"
#include "src/push/push_options.h"

#define RECORD_PUSH_BYTES (256u << 20)
#define RECORD_PUSH_WINDOW_NS 10000000000ull	/* of a segment, unless --segment-time says */

struct live_words;

struct record_push {
	struct push_options options;	/* .to: NULL without --push */
	pid_t pid;			/* 0: it has not begun */
	int lifeline;			/* closing it says that the recording is over */
};

/* The rows of --push and what belongs to it; filled into rows[PUSH_OPTS_MAX]. */
struct opt_list record_push_rows(struct opt *rows);

int record_push_words(struct live_words *w, int argc, char **argv, struct record_push *p);
/* record_args.opened: 0 or -errno, explained. */
int record_push_begin(void *push, int trace_fd);
int record_push_end(struct record_push *p);
void record_push_release(struct record_push *p);
