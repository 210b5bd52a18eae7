/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports that clients ask for. Each is made by a child process, which has no more rights than the
 * server, and read from a pipe. So a report that takes long, or needs much memory, or is of a trace
 * that was made to break a renderer, delays and harms nothing else.
 *
 *	download_open(&request)		starts a child, suspends the connection
 *	downloads_fds(s, fds)		what to poll for
 *	downloads_wake(s)		resumes connections whose child has written, or has ended
 *	download_answer(&request, d)	the connection is asked again: the first bytes are there
 *	download_completed(s, state)	the request is over
 *
 * Until the child has written something, nothing is sent. So a report that cannot be made is
 * answered with what the child says, and not with a page that is cut.
 */
#pragma once

#include <poll.h>

#include "src/serve/server.h"

struct download;

/* What is being waited for; NULL: *result is what the handler returns. */
struct download *download_open(const struct http_request *r, enum MHD_Result *result);
enum MHD_Result download_answer(struct MHD_Connection *c, struct download *d);
/* state: of any request. */
void download_completed(struct serve *s, const void *state);

size_t downloads_fds(const struct serve *s, struct pollfd *fds);	/* at most SERVE_CHILDREN */
void downloads_wake(struct serve *s);
