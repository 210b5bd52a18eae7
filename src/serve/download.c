/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/download.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/render/renderer.h"
#include "src/base/fail.h"
#include "src/base/io.h"

enum { BLOCK = 64 << 10, WORDS_MAX = 64, SAID_MAX = 1000 };

struct download {
	struct download *next;
	struct serve *s;
	struct MHD_Connection *connection;
	const struct renderer *renderer;
	pid_t pid;			/* 0: it was waited for */
	int status;
	int fd;				/* the pipe's end */
	int said_fd;			/* what the child prints */
	bool is_suspended;
};

/* ---- the child ---- */

struct words {
	const char *const *allowed;
	char *v[WORDS_MAX];
	int nr;
	bool is_bad;
};

static bool is_allowed(const struct words *w, const char *key)
{
	for (const char *const *a = w->allowed; a && *a; a++)
		if (!strcmp(*a, key))
			return true;
	return false;
}

static enum MHD_Result add_word(void *words, enum MHD_ValueKind kind, const char *key,
				const char *value)
{
	struct words *w = words;
	char *word;

	(void)kind;
	if (!is_allowed(w, key) || w->nr == WORDS_MAX - 1 ||
	    asprintf(&word, value && *value ? "--%s=%s" : "--%s", key, value) < 0) {
		w->is_bad = true;
		return MHD_NO;
	}
	w->v[w->nr++] = word;
	return MHD_YES;
}

static void release(struct words *w)
{
	while (w->nr)
		free(w->v[--w->nr]);
}

/* Without the connections of clients, which would stay open with it. */
static void close_others(const int *kept, size_t nr)
{
	struct rlimit l = { .rlim_cur = 1024 };

	getrlimit(RLIMIT_NOFILE, &l);
	for (int fd = 3; fd < (int)(l.rlim_cur < 65536 ? l.rlim_cur : 65536); fd++) {
		bool is_kept = false;

		for (size_t i = 0; i < nr; i++)
			is_kept |= fd == kept[i];
		if (!is_kept)
			close(fd);
	}
}

static void make_report(struct download *d, const struct http_request *r, struct words *w,
			int trace_fd, int out_fd)
{
	struct serve_report report = {
		.renderer = d->renderer, .trace_fd = trace_fd, .name = r->v->source.name,
		.words = w->v, .nr_words = w->nr, .may_come = !r->v->is_over,
	};
	const int kept[] = { trace_fd, out_fd, d->said_fd };

	close_others(kept, 3);
	dup2(out_fd, STDOUT_FILENO);
	dup2(d->said_fd, STDERR_FILENO);
	close(out_fd);
	stop_signals_default();
	alarm(SERVE_REPORT_S);
	_exit(r->s->opts.report(&report));
}

static int start_child(struct download *d, const struct http_request *r, struct words *w)
{
	uint64_t begin, end;
	int trace_fd = served_snapshot(r->v, &begin, &end), ends[2];

	if (trace_fd < 0)
		return trace_fd;
	if (pipe2(ends, O_CLOEXEC)) {
		close(trace_fd);
		return -errno;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fflush(NULL);
	d->pid = fork();
	if (!d->pid)
		make_report(d, r, w, trace_fd, ends[1]);
	close(trace_fd);
	close(ends[1]);
	d->fd = ends[0];
	return d->pid < 0 ? -errno : 0;
}

/* ---- waiting for it ---- */

static size_t count(const struct serve *s)
{
	size_t nr = 0;

	for (const struct download *d = s->downloads; d; d = d->next)
		nr++;
	return nr;
}

/* false: it still runs. */
static bool reap(struct download *d, int how)
{
	if (d->pid > 0 && waitpid(d->pid, &d->status, how) != 0)
		d->pid = 0;
	return d->pid <= 0;
}

static void forget(struct download *d)
{
	struct download **at = &d->s->downloads;

	while (*at && *at != d)
		at = &(*at)->next;
	if (*at)
		*at = d->next;
	if (d->fd >= 0)
		close(d->fd);
	if (d->said_fd >= 0)
		close(d->said_fd);
	free(d);
}

/*
 * The child ends by SIGPIPE when it writes next. Until then it takes its share of the machine, and
 * so it counts: a client that asks and leaves, again and again, gets no more children that way.
 */
static void leave(struct download *d)
{
	d->connection = NULL;
	d->is_suspended = false;
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	if (reap(d, WNOHANG))
		forget(d);
}

void download_completed(struct serve *s, const void *state)
{
	struct download *d = s->downloads;

	while (d && d != state)
		d = d->next;
	if (d)
		leave(d);
}

struct download *download_open(const struct http_request *r, enum MHD_Result *result)
{
	struct words words = { .allowed = r->s->opts.words };
	struct download *d = NULL;
	int err = 0;

	r->s->http.get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, add_word, &words);
	*result = MHD_NO;
	if (words.is_bad) {
		*result = server_say(r->s, r->connection, MHD_HTTP_BAD_REQUEST,
				     "There is no such choice in an address. Those that there are "
				     "have the names of options of probee report.\n");
	} else if (count(r->s) >= SERVE_CHILDREN) {
		*result = server_say(r->s, r->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				     "Other reports are being made. Try again in a moment.\n");
	} else if ((d = calloc(1, sizeof(*d)))) {
		*d = (struct download){ .next = r->s->downloads, .s = r->s, .fd = -1,
					.connection = r->connection,
					.renderer = renderer_find(r->rest),
					.said_fd = memfd_create("probee-said", MFD_CLOEXEC) };
		r->s->downloads = d;
		r->s->counts.reports++;
		err = start_child(d, r, &words);
	}
	release(&words);
	if (d && err) {
		forget(d);
		*result = server_say(r->s, r->connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				     "The report could not be begun.\n");
		return NULL;
	}
	if (d) {
		d->is_suspended = true;
		r->s->http.suspend_connection(r->connection);
		*result = MHD_YES;
	}
	return d;
}

size_t downloads_fds(const struct serve *s, struct pollfd *fds)
{
	size_t nr = 0;

	for (const struct download *d = s->downloads; d && nr < SERVE_CHILDREN; d = d->next)
		if (d->is_suspended)
			fds[nr++] = (struct pollfd){ .fd = d->fd, .events = POLLIN };
	return nr;
}

void downloads_wake(struct serve *s)
{
	struct download *next;

	for (struct download *d = s->downloads; d; d = next) {
		struct pollfd p = { .fd = d->fd, .events = POLLIN };

		next = d->next;
		if (!d->connection && reap(d, WNOHANG))
			forget(d);
		else if (d->is_suspended && (s->is_stopping || poll(&p, 1, 0) > 0)) {
			d->is_suspended = false;
			s->http.resume_connection(d->connection);
		}
	}
}

/* ---- the answer ---- */

static ssize_t read_report(void *download, uint64_t pos, char *buf, size_t max)
{
	struct download *d = download;
	ssize_t n = d->s->is_stopping ? 0 : read(d->fd, buf, max);

	(void)pos;
	if (n > 0)
		return n;
	if (d->s->is_stopping)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (n < 0 && errno == EAGAIN) {
		d->is_suspended = true;
		d->s->http.suspend_connection(d->connection);
		return 0;
	}
	reap(d, 0);
	/* A client can tell a report that is cut: the last chunk is missing. */
	d->s->counts.failed_reports += d->status != 0;
	return n || d->status ? MHD_CONTENT_READER_END_WITH_ERROR
			      : MHD_CONTENT_READER_END_OF_STREAM;
}

static enum MHD_Result say_failure(struct MHD_Connection *c, struct download *d)
{
	char text[SAID_MAX + 64];
	ssize_t n;

	d->s->counts.failed_reports++;
	if (WIFSIGNALED(d->status) && WTERMSIG(d->status) == SIGALRM)
		return server_say(d->s, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				  "The report took too long. Try a part of the time: "
				  "?from=-60s\n");
	n = io_pread(d->said_fd, text, SAID_MAX, 0);
	snprintf(text + (n > 0 ? n : 0), 64, "%s", n > 0 ? "" : "The report is empty.\n");
	return server_say(d->s, c, MHD_HTTP_UNPROCESSABLE_CONTENT, text);
}

/* "Content-Disposition" with the name that the report has as a file. */
static void name_file(const struct download *d, struct MHD_Response *response)
{
	const struct renderer *r = d->renderer;
	char text[128];

	snprintf(text, sizeof(text), "%s; filename=\"%s%.*s\"",
		 !strcmp(r->name, "html") || !strcmp(r->name, "svg") ? "inline" : "attachment",
		 r->prefix ? r->prefix : "trace", (int)strcspn(r->suffixes, " "), r->suffixes);
	d->s->http.add_response_header(response, "Content-Disposition", text);
	/* A report is a document of its own: its scripts reach nothing of this server. */
	d->s->http.add_response_header(response, "Content-Security-Policy",
				"sandbox allow-scripts allow-popups; frame-ancestors 'none'");
}

static const char *media_type(const struct renderer *r)
{
	if (r->media_type)
		return r->media_type;
	return r->is_packed ? "application/octet-stream" : "text/plain; charset=utf-8";
}

enum MHD_Result download_answer(struct MHD_Connection *c, struct download *d)
{
	struct pollfd p = { .fd = d->fd, .events = POLLIN };
	struct MHD_Response *response;

	if (d->s->is_stopping)
		return MHD_NO;
	/* The pipe has only its end: the child has written nothing. */
	if (poll(&p, 1, 0) > 0 && !(p.revents & POLLIN)) {
		reap(d, 0);
		return say_failure(c, d);
	}
	response = d->s->http.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_report, d,
						     NULL);
	if (!response)
		return MHD_NO;
	name_file(d, response);
	return server_send(d->s, c, MHD_HTTP_OK, media_type(d->renderer), response);
}
