/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/serve.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/serve/download.h"
#include "src/serve/event_stream.h"
#include "src/serve/routes.h"
#include "src/serve/server.h"

enum {
	CONNECTION_BYTES = 16 << 10,	/* headers of a request */
	IDLE_S = 30,			/* a connection that neither asks nor reads ends after */
	REFRESH_MS = 1000,
	BUDGET_MS = 50,			/* reading before clients are looked at again */
	FIRST_MS = 20,			/* how often a trace is looked at that has nothing yet */
};

int serve_open(const struct serve_options *opts, struct serve **sp)
{
	struct serve *s = calloc(1, sizeof(*s));
	int err;

	*sp = NULL;
	if (!s)
		return fail(-ENOMEM, "serve");
	s->opts = *opts;
	s->access.hosts = opts->hosts;
	s->listen_fd = s->epoll_fd = -1;
	err = http_library_open(&s->http);
	if (!err)
		err = listen_address_parse(opts->listen ? opts->listen : "127.0.0.1:8000",
					   &s->address);
	if (!err && !listen_address_is_loopback(&s->address) && !opts->token_file)
		err = fail_why(-EINVAL,
			       "%s is reached from other machines: --token-file FILE must say who "
			       "may look, and a proxy with TLS in front keep it from being read on "
			       "the way. Try: ssh -L 8000:127.0.0.1:8000 and the usual address",
			       opts->listen);
	if (!err && opts->token_file)
		err = access_read_token(&s->access, opts->token_file);
	else if (!err && !opts->no_token)
		err = access_make_token(&s->access);
	if (!err)
		s->listen_fd = listen_address_open(&s->address);
	if (err || s->listen_fd < 0) {
		err = err ? err : s->listen_fd;
		serve_close(s);
		return err;
	}
	*sp = s;
	return 0;
}

int serve_add(struct serve *s, const struct serve_source *source)
{
	struct served *v = array_push(&s->v, &s->nr, &s->cap);
	int err;

	if (!v) {
		close(source->fd);
		return fail(-ENOMEM, "serve %s", source->name);
	}
	err = served_open(source, v);
	v->shows_idle = s->opts.shows_idle;
	return err;
}

const char *serve_url(const struct serve *s)
{
	char at[LISTEN_TEXT_MAX];

	listen_address_text(&s->address, at);
	snprintf((char *)s->url, sizeof(s->url), "http://%s/%s%s", at, s->access.token,
		 *s->access.token ? "/" : "");
	return s->url;
}

/* What clients do wrong is no message for the user, and they choose the text. */
static void log_nothing(void *ctx, const char *format, va_list args)
{
	(void)ctx;
	(void)format;
	(void)args;
}

static int start_daemon(struct serve *s)
{
	const union MHD_DaemonInfo *info;

	http_places_init(&s->places, &s->http, SERVE_STRANGERS, SERVE_CLIENTS);
	s->daemon = s->http.start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		routes_answer, s, MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL,
		MHD_OPTION_LISTEN_SOCKET, s->listen_fd, MHD_OPTION_CONNECTION_LIMIT,
		http_places_limit(&s->places), MHD_OPTION_NOTIFY_CONNECTION, http_places_notify,
		&s->places, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_COMPLETED, routes_completed, s, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_END);
	info = s->daemon ? s->http.get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info)
		return fail_why(-EIO, "the web server could not be started");
	s->listen_fd = -1;		/* the daemon's now */
	s->epoll_fd = info->epoll_fd;
	return 0;
}

/* ---- the loop ---- */

static uint64_t refresh_ns(const struct serve *s)
{
	bool has_all = true;

	for (size_t i = 0; i < s->nr; i++)
		has_all &= s->v[i].page != NULL;
	return (has_all ? s->opts.refresh_ms ? s->opts.refresh_ms : REFRESH_MS : FIRST_MS) *
	       NSEC_PER_MSEC;
}

/* *is_behind: more is there to be read now. */
static int update(struct serve *s, bool *is_behind)
{
	*is_behind = false;
	for (size_t i = 0; i < s->nr; i++) {
		int rc = served_update(&s->v[i], BUDGET_MS * NSEC_PER_MSEC);

		if (rc < 0)
			return rc;
		*is_behind |= served_is_behind(&s->v[i]);
	}
	event_streams_wake(s);
	return 0;
}

static bool all_are_over(const struct serve *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!s->v[i].is_over)
			return false;
	return true;
}

static int timeout_of(struct serve *s, uint64_t next_ns)
{
	uint64_t now = now_ns(), leaves_ns = http_places_expire(&s->places, now), ms;
	MHD_UNSIGNED_LONG_LONG mhd_ms;

	if (leaves_ns < next_ns)
		next_ns = leaves_ns;
	ms = next_ns > now ? (next_ns - now) / NSEC_PER_MSEC + 1 : 0;
	if (s->http.get_timeout(s->daemon, &mhd_ms) == MHD_YES && mhd_ms < ms)
		ms = mhd_ms;
	return (int)ms;
}

/* Waits for clients, children, signals, or the time of the next look at the traces. */
static void wait_for_any(struct serve *s, uint64_t next_ns)
{
	struct pollfd fds[3 + SERVE_CHILDREN] = {
		{ .fd = s->epoll_fd, .events = POLLIN },
		{ .fd = s->stop.fd, .events = POLLIN },
		{ .fd = s->opts.lifeline, .events = POLLIN },
	};
	size_t nr = 3 + downloads_fds(s, fds + 3);

	poll(fds, (nfds_t)nr, timeout_of(s, next_ns));
	stop_signals_read(&s->stop);
	s->is_stopping = s->stop.stopped || fds[2].revents;
	downloads_wake(s);
}

static int run(struct serve *s)
{
	uint64_t next_ns = 0;
	bool is_behind = false;
	int err = 0;

	while (!s->is_stopping && !err) {
		if (is_behind || now_ns() >= next_ns) {
			err = update(s, &is_behind);
			next_ns = now_ns() + (is_behind ? 0 : refresh_ns(s));
		}
		if (s->opts.until_end && !is_behind && all_are_over(s))
			break;
		wait_for_any(s, next_ns);
		s->http.run(s->daemon);
	}
	/* All that are suspended must go on once more to end. */
	s->is_stopping = true;
	event_streams_wake(s);
	downloads_wake(s);
	s->http.run(s->daemon);
	return err;
}

int serve_run(struct serve *s)
{
	int err = start_daemon(s);

	if (!err && s->opts.shut_in)
		err = s->opts.shut_in();
	if (!err)
		err = stop_signals_open(&s->stop, NULL);
	if (!err && s->opts.ready)
		s->opts.ready(serve_url(s));
	return err ? err : run(s);
}

void serve_close(struct serve *s)
{
	if (!s)
		return;
	s->is_stopping = true;
	if (s->daemon)
		s->http.stop_daemon(s->daemon);
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	stop_signals_close(&s->stop);
	for (size_t i = 0; i < s->nr; i++)
		served_close(&s->v[i]);
	free(s->v);
	http_library_close(&s->http);
	free(s);
}
