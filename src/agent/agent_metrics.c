/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/agent_metrics.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/agent/agent_state.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/rights/sandbox.h"
#include "src/serve/access.h"
#include "src/serve/http_library.h"
#include "src/serve/http_places.h"

enum {
	CLIENTS = 16,			/* whose request is being answered */
	STRANGERS = 32,
	CONNECTION_BYTES = 8 << 10,
	IDLE_S = 10,
	MOST_WAIT_MS = 60000,
};

struct metrics_server {
	const struct agent_state *state;
	struct http_library http;
	struct http_places places;
	struct MHD_Daemon *daemon;
	struct access access;
	int epoll_fd;
};

static enum MHD_Result respond(const struct metrics_server *m, struct MHD_Connection *c,
			    unsigned status, char *text, size_t len)
{
	struct MHD_Response *r =
		m->http.create_response_from_buffer(len, text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result sent;

	if (!r)
		return MHD_NO;
	m->http.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				    status == MHD_HTTP_OK ? "text/plain; version=0.0.4"
							  : "text/plain");
	m->http.add_response_header(r, "Cache-Control", "no-store");
	m->http.add_response_header(r, "X-Content-Type-Options", "nosniff");
	/* Anybody may ask, so nobody keeps a connection. */
	m->http.add_response_header(r, "Connection", "close");
	sent = m->http.queue_response(c, status, r);
	m->http.destroy_response(r);
	return sent;
}

static enum MHD_Result send_metrics(const struct metrics_server *m, struct MHD_Connection *c)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	enum MHD_Result sent = MHD_NO;

	if (!out)
		return MHD_NO;
	agent_state_metrics(m->state, out);
	if (!fclose(out))
		sent = respond(m, c, MHD_HTTP_OK, text, len);
	free(text);
	return sent;
}

static const char *header(const struct metrics_server *m, struct MHD_Connection *c,
			  const char *name)
{
	return m->http.lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result refuse(const struct metrics_server *m, struct MHD_Connection *c,
			      unsigned status)
{
	static char text[] = "There is only GET /metrics here.\n";

	return respond(m, c, status, text, strlen(text));
}

static enum MHD_Result answer(void *ctx, struct MHD_Connection *c, const char *path,
			      const char *method, const char *version, const char *body,
			      size_t *body_len, void **state)
{
	struct metrics_server *m = ctx;
	const struct access_request request = {
		.path = path,
		.host = header(m, c, "Host"),
		.origin = header(m, c, "Origin"),
		.fetch_site = header(m, c, "Sec-Fetch-Site"),
		.fetch_mode = header(m, c, "Sec-Fetch-Mode"),
	};
	const char *rest;

	(void)version;
	(void)body;
	if (*body_len)			/* it is not read */
		return MHD_NO;
	if (!*state) {			/* the head alone has come */
		*state = (void *)m;
		return MHD_YES;
	}
	if (access_check(&m->access, &request, &rest) != ACCESS_OK)
		return refuse(m, c, MHD_HTTP_FORBIDDEN);
	if (strcmp(method, "GET"))
		return refuse(m, c, MHD_HTTP_METHOD_NOT_ALLOWED);
	if (!http_places_admit(&m->places, c))
		return refuse(m, c, MHD_HTTP_SERVICE_UNAVAILABLE);
	return strcmp(path, "/metrics") ? refuse(m, c, MHD_HTTP_NOT_FOUND) : send_metrics(m, c);
}

static void log_nothing(void *ctx, const char *format, va_list args)
{
	(void)ctx;
	(void)format;
	(void)args;
}

static int start(struct metrics_server *m, int listen_fd)
{
	const struct sandbox_rules rules = { .kind = SANDBOX_REPORT, .opens_nothing = true,
					     .serves = true };
	const union MHD_DaemonInfo *info;
	int err = http_library_open(&m->http);

	if (err)
		return err;
	http_places_init(&m->places, &m->http, STRANGERS, CLIENTS);
	m->daemon = m->http.start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer, m,
		MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL, MHD_OPTION_LISTEN_SOCKET, listen_fd,
		MHD_OPTION_CONNECTION_LIMIT, http_places_limit(&m->places),
		MHD_OPTION_NOTIFY_CONNECTION, http_places_notify, &m->places,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	info = m->daemon ? m->http.get_daemon_info(m->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info)
		return fail_why(-EIO, "/metrics could not be started");
	m->epoll_fd = info->epoll_fd;
	err = sandbox_enter(&rules);
	return err < 0 ? fail(err, "give up rights") : 0;
}

static int wait_ms(struct metrics_server *m)
{
	uint64_t now = now_ns(), leaves_ns = http_places_expire(&m->places, now);
	MHD_UNSIGNED_LONG_LONG ms;

	if (m->http.get_timeout(m->daemon, &ms) != MHD_YES || ms > MOST_WAIT_MS)
		ms = MOST_WAIT_MS;
	if (leaves_ns != UINT64_MAX && (leaves_ns - now) / NSEC_PER_MSEC + 1 < ms)
		ms = (leaves_ns - now) / NSEC_PER_MSEC + 1;
	return (int)ms;
}

int agent_metrics_run(const struct agent_state *st, int listen_fd, int lifeline)
{
	struct metrics_server m = { .state = st };
	struct pollfd fds[2] = { { .events = POLLIN }, { .fd = lifeline, .events = POLLIN } };
	int err = start(&m, listen_fd);

	fds[0].fd = m.epoll_fd;
	while (!err && !fds[1].revents) {
		poll(fds, 2, wait_ms(&m));
		m.http.run(m.daemon);
	}
	return err != 0;
}
