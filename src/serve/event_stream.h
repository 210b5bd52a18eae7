/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clients that are told whenever something is new, as server-sent events (HTML Living Standard,
 * "Server-sent events").
 *
 * A page gets the messages of live_page.h, in base64, and says with Last-Event-ID where it is when
 * it comes again. Clients of the ancestor's kind get the whole call tree as JSON each time. Both
 * are told when they can take it: a client that reads slowly misses states in between, and no
 * memory is spent on it.
 *
 *	event_stream_open(&request, kind)	answers the request
 *	event_streams_wake(s)			after each update of the traces
 */
#pragma once

#include "src/serve/server.h"

enum stream_kind { STREAM_PAGE, STREAM_TREE };

enum MHD_Result event_stream_open(const struct http_request *r, enum stream_kind kind);
void event_streams_wake(struct serve *s);
size_t event_streams_count(const struct serve *s);
