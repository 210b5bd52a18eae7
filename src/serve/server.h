/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the server share: libmicrohttpd's daemon, the traces, and the connections that
 * wait for something; and how a response is sent. All of it belongs to one thread.
 *
 * A connection that waits is suspended, so libmicrohttpd leaves it alone until it is resumed:
 *
 *	event_stream.h	until there is something new, or a sign of life is due
 *	download.h	until a child has written something
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/stop_signals.h"
#include "src/serve/access.h"
#include "src/serve/http_library.h"
#include "src/serve/http_places.h"
#include "src/serve/listen_address.h"
#include "src/serve/serve_source.h"
#include "src/serve/served.h"

struct download;
struct event_stream;

/* Counted for /metrics. */
struct server_counts {
	uint64_t requests, refused, streams, reports, failed_reports;
};

struct serve {
	struct serve_options opts;
	struct access access;
	struct listen_address address;
	int listen_fd, epoll_fd;
	struct http_library http;
	struct http_places places;
	struct MHD_Daemon *daemon;
	struct served *v;
	size_t nr, cap;
	struct event_stream *streams;	/* all that are open */
	struct download *downloads;
	struct stop_signals stop;
	bool is_stopping;		/* whatever waits ends now */
	struct server_counts counts;
	char url[LISTEN_TEXT_MAX + TOKEN_MAX + 16];
};

/* A request that may be answered. */
struct http_request {
	struct serve *s;
	struct served *v;
	struct MHD_Connection *connection;
	const char *rest;		/* of the path, behind the name of the route */
};

/* Sends a response with the headers that all have, and drops it. NULL: out of memory. */
enum MHD_Result server_send(const struct serve *s, struct MHD_Connection *c, unsigned status,
			    const char *type, struct MHD_Response *response);
/* A short text, which is copied. */
enum MHD_Result server_say(const struct serve *s, struct MHD_Connection *c, unsigned status,
			   const char *text);

/* NULL: not there. */
const char *server_header(const struct serve *s, struct MHD_Connection *c, const char *name);
const char *server_query(const struct serve *s, struct MHD_Connection *c, const char *name);
