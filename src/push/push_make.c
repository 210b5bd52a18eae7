/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the process that reads a trace: from the descriptor to the bodies. */
#include "src/push/push_reader.h"

#include "src/base/fail.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/push/push_encode.h"

/* When the last recording in the trace ended, CLOCK_REALTIME; 0: it has no times. */
static uint64_t end_of(const struct report *rep)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < report_info(rep)->nr_segments; i++) {
		struct time_window span;

		report_span(rep, i, &span);
		if (span.to_ns > end)
			end = span.to_ns;
	}
	return end;
}

/* Says what the sender should know of the trace. */
static void say(const struct report *rep, const char *name)
{
	if (report_is_incomplete(rep))
		note("%s: %s", name, report_warning(rep));
	if (report_emptiness(rep))
		note("%s %s", name, report_emptiness(rep));
}

int push_make(const struct push_request *q, const struct push_encode_opts *o, push_body_fn fn,
	      void *ctx, struct push_counts *counts)
{
	struct push_encode_opts opts = *o;
	struct query query = { .no_limits = false };
	struct report *rep = NULL;
	int err = report_open_fd(q->fd, q->name, &query, &rep);

	if (!err && q->rebase_to_ns && end_of(rep))
		opts.rebase_ns = (int64_t)(q->rebase_to_ns - end_of(rep));
	if (q->max_body_bytes)
		opts.max_body_bytes = q->max_body_bytes;
	if (q->max_cost)
		opts.max_cost = q->max_cost;
	opts.skip = q->skip;
	opts.take = q->take;
	opts.first_profile = q->first_profile;
	if (!err && !q->take)
		say(rep, q->name);
	if (!err)
		err = push_encode(rep, &opts, fn, ctx, counts);
	report_close(rep);
	return err;
}
