/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A web server that shows traces, finished or under way, to browsers and programs of this machine.
 *
 *	serve_open(&opts, &s)			listens; rights are still needed for that
 *	serve_add(s, &source) ...		each trace
 *	serve_url(s)				the address to open
 *	serve_run(s)				until a stop signal comes
 *	serve_close(s)
 *
 * It reads records only, so it needs no rights; .shut_in is called before the first byte of a
 * trace or of a client is read. All runs in one thread. What takes long, a report, runs in a child.
 *
 * Below /TOKEN/ (access.h), and below /TOKEN/N/ of the Nth trace where there are several:
 *
 *	(nothing)	the page
 *	events		server-sent events: what the page needs to follow (event_stream.h)
 *	json		the call tree as nested {name, value, children}: ?event=NAME
 *	stream		the same as server-sent events, whenever it has changed
 *	metrics		for Prometheus
 *	trace.pbz	the trace, or what is still kept of it
 *	reports		the names of all reports, as JSON
 *	report/NAME	one of them: ?from=10s&pid=123...
 *
 * Limits: SERVE_CLIENTS connections at a time of those who have shown the token, and
 * SERVE_STRANGERS of others (http_places.h); each may send 16 KiB of headers and no body;
 * SERVE_CHILDREN reports at a time, each for SERVE_REPORT_S seconds.
 */
#pragma once

#include "src/serve/serve_source.h"

struct serve;

/* All of these: 0 or -errno, which was reported. */
int serve_open(const struct serve_options *opts, struct serve **sp);
int serve_add(struct serve *s, const struct serve_source *source);
int serve_run(struct serve *s);
void serve_close(struct serve *s);		/* NULL is fine */
const char *serve_url(const struct serve *s);
