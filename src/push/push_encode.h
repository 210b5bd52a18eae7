/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the bodies of the requests by which a trace is sent to a receiver of profiles.
 *
 *	report_open(...)				without a query, or with one by time
 *	push_encode(rep, &opts, fn, ctx, &counts)	fn gets each body
 *
 * The samples of a trace are cut into windows of time, and those of one window, process and event
 * are one profile: its samples are the distinct {stack, thread, state} with what they weigh
 * together. docs/PUSH.md says how profiles, types, attributes and labels are called.
 *
 * Equal traces and options give equal bodies in equal order, and equal profile ids, so a sender
 * that was stopped behind body k goes on with body k + 1.
 *
 * Memory grows with the definitions of the trace, as in all of report.h, and with the distinct rows
 * of the windows that are open: at most max_rows. What comes later than its window is open makes
 * another profile of the same window. Everything that is counted in a trace is in some body;
 * push_counts has the sums.
 */
#pragma once

#include "src/push/push_body.h"
#include "src/push/push_encode_opts.h"

struct report;

/*
 * 0; what fn returned; -EINVAL: options out of range; -ENOMEM; or, after a message, what reading
 * the trace gave, or -EMSGSIZE: it stands for more than a trace of its size should. counts is
 * filled in any case.
 */
int push_encode(struct report *rep, const struct push_encode_opts *opts, push_body_fn fn, void *ctx,
		struct push_counts *counts);
