/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/event_stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "src/base/clock.h"
#include "src/serve/shared_text.h"

enum {
	BLOCK = 32 << 10,
	/* What the kernel holds for a client that does not read is old when it does. */
	HELD = 64 << 10,
};

/* A line without meaning, by which both ends learn that the other one has gone. */
#define ALIVE_NS (15 * NSEC_PER_SEC)

struct event_stream {
	struct event_stream *next;
	struct serve *s;
	struct served *v;
	struct MHD_Connection *connection;
	enum stream_kind kind;
	struct served_at at;		/* where the client is when it has read all */
	struct shared_text *text;	/* that is being sent; NULL: nothing is */
	size_t sent;			/* bytes of it */
	uint64_t wrote_ns;
	bool is_suspended;
	bool knows_end;			/* it was told that nothing will come any more */
};

/* A recorder that was killed has written no END, which the page would know it by. */
static bool has_end_news(const struct event_stream *e)
{
	return e->kind == STREAM_PAGE && e->v->is_over && !e->knows_end;
}

static bool has_state(const struct event_stream *e)
{
	return e->at.epoch != e->v->now.epoch || e->at.version != e->v->now.version;
}

static bool has_news(const struct event_stream *e)
{
	return has_state(e) || has_end_news(e);
}

static struct shared_text *copy_text(const char *words)
{
	char *text = strdup(words);

	return text ? shared_text_take(text, strlen(text)) : NULL;
}

static struct shared_text *next_text(struct event_stream *e)
{
	if (!has_state(e) && has_end_news(e)) {
		e->knows_end = true;
		return copy_text("event: over\ndata: over\n\n");
	}
	if (!has_state(e))
		return now_ns() - e->wrote_ns >= ALIVE_NS ? copy_text(": alive\n\n") : NULL;
	if (e->kind == STREAM_PAGE)
		return served_events(e->v, &e->at);
	e->at = e->v->now;
	return served_tree_event(e->v);
}

static ssize_t read_stream(void *stream, uint64_t pos, char *buf, size_t max)
{
	struct event_stream *e = stream;
	size_t n;

	(void)pos;
	if (e->s->is_stopping)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!e->text) {
		e->text = next_text(e);
		e->sent = 0;
	}
	if (!e->text) {
		e->is_suspended = true;
		e->s->http.suspend_connection(e->connection);
		return 0;
	}
	assert(e->sent <= e->text->len);
	n = e->text->len - e->sent < max ? e->text->len - e->sent : max;
	memcpy(buf, e->text->bytes + e->sent, n);
	e->sent += n;
	e->wrote_ns = now_ns();
	if (e->sent == e->text->len) {
		shared_text_drop(e->text);
		e->text = NULL;
	}
	return (ssize_t)n;
}

static void free_stream(void *stream)
{
	struct event_stream *e = stream, **at = &e->s->streams;

	while (*at && *at != e)
		at = &(*at)->next;
	if (*at)
		*at = e->next;
	shared_text_drop(e->text);
	free(e);
}

static void hold_little(const struct event_stream *e)
{
	const union MHD_ConnectionInfo *info = e->s->http.get_connection_info(
		e->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	int held = HELD;

	if (info)
		setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &held, sizeof(held));
}

enum MHD_Result event_stream_open(const struct http_request *r, enum stream_kind kind)
{
	const char *seen = server_header(r->s, r->connection, "Last-Event-ID");
	struct event_stream *e = calloc(1, sizeof(*e));
	struct MHD_Response *response;

	if (!e)
		return MHD_NO;
	*e = (struct event_stream){ .s = r->s, .v = r->v, .connection = r->connection,
				    .kind = kind, .wrote_ns = now_ns() };
	if (kind == STREAM_PAGE)
		e->at = served_at_parse(seen);
	response = r->s->http.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, e,
						     free_stream);
	if (!response) {
		free(e);
		return MHD_NO;
	}
	hold_little(e);
	e->next = r->s->streams;
	r->s->streams = e;
	r->s->counts.streams++;
	/* A proxy that gathers what it passes on would keep the messages for itself. */
	r->s->http.add_response_header(response, "X-Accel-Buffering", "no");
	return server_send(r->s, r->connection, MHD_HTTP_OK, "text/event-stream", response);
}

void event_streams_wake(struct serve *s)
{
	uint64_t now = now_ns();

	for (struct event_stream *e = s->streams; e; e = e->next) {
		if (!e->is_suspended)
			continue;
		if (!s->is_stopping && !has_news(e) && now - e->wrote_ns < ALIVE_NS)
			continue;
		e->is_suspended = false;
		s->http.resume_connection(e->connection);
	}
}

size_t event_streams_count(const struct serve *s)
{
	size_t nr = 0;

	for (const struct event_stream *e = s->streams; e; e = e->next)
		nr++;
	return nr;
}
