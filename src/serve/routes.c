/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/render/escape.h"
#include "formats/render/json_writer.h"
#include "formats/render/renderer.h"
#include "src/live/live_page.h"
#include "src/serve/download.h"
#include "src/serve/event_stream.h"
#include "src/serve/metrics.h"
#include "src/serve/server.h"
#include "src/serve/shared_text.h"

static const char html[] = "text/html; charset=utf-8", json[] = "application/json";

/* ---- responses ---- */

static void drop_text(void *text)
{
	shared_text_drop(text);
}

/* Takes the reference. */
static struct MHD_Response *response_of(const struct serve *s, struct shared_text *t)
{
	struct MHD_Response *r =
		t ? s->http.create_response_from_buffer_with_free_callback_cls(t->len, t->bytes,
									   drop_text, t)
		  : NULL;

	if (!r)
		shared_text_drop(t);
	return r;
}

static enum MHD_Result send_text(const struct http_request *r, const char *type,
				 struct shared_text *t)
{
	return server_send(r->s, r->connection, MHD_HTTP_OK, type, response_of(r->s, t));
}

/* ---- the routes ---- */

/* A page and its policy, which were written to memory. */
static enum MHD_Result send_page(const struct serve *s, struct MHD_Connection *c, char *page,
				 size_t len, const char *policy)
{
	struct MHD_Response *response = response_of(s, shared_text_take(page, len));

	if (response)
		s->http.add_response_header(response, "Content-Security-Policy", policy);
	return server_send(s, c, MHD_HTTP_OK, html, response);
}

static char *page_policy(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (out && !live_page_policy(out))
		fputs("; frame-ancestors 'none'", out);
	if (!out || fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static enum MHD_Result answer_page(const struct http_request *r)
{
	const char *title = r->s->opts.title ? r->s->opts.title : r->v->source.name;
	char *page = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&page, &len);
	int err = out ? live_page_html(title, out) : -ENOMEM;

	char *policy = page_policy();
	enum MHD_Result sent = MHD_NO;

	if (out && !fclose(out) && !err && policy)
		sent = send_page(r->s, r->connection, page, len, policy);
	else
		free(page);
	free(policy);
	return sent;
}

static enum MHD_Result answer_events(const struct http_request *r)
{
	return event_stream_open(r, STREAM_PAGE);
}

static enum MHD_Result answer_stream(const struct http_request *r)
{
	return event_stream_open(r, STREAM_TREE);
}

static enum MHD_Result answer_json(const struct http_request *r)
{
	return send_text(r, json,
			 served_tree(r->v, server_query(r->s, r->connection, "event")));
}

static enum MHD_Result answer_metrics(const struct http_request *r)
{
	return send_text(r, "text/plain; version=0.0.4; charset=utf-8",
			 metrics_text(r->s));
}

static enum MHD_Result answer_trace(const struct http_request *r)
{
	uint64_t begin, end;
	int fd = served_snapshot(r->v, &begin, &end);
	struct MHD_Response *response;

	if (fd < 0)
		return server_say(r->s, r->connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				  "The trace could not be read.\n");
	response = r->s->http.create_response_from_fd_at_offset64(end - begin, fd, begin);
	if (!response)
		close(fd);
	else
		r->s->http.add_response_header(response, "Content-Disposition",
					"attachment; filename=\"trace.pbz\"");
	return server_send(r->s, r->connection, MHD_HTTP_OK, "application/zstd", response);
}

static enum MHD_Result answer_reports(const struct http_request *r)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct json_writer w = { .out = out };

	if (!out)
		return MHD_NO;
	json_begin(&w, '[');
	for (size_t i = 0; renderers[i]; i++) {
		json_begin(&w, '{');
		json_put_text(&w, "name", renderers[i]->name);
		json_put_text(&w, "help", renderers[i]->help);
		json_end(&w, '}');
	}
	json_end(&w, ']');
	if (fclose(out)) {
		free(text);
		return MHD_NO;
	}
	return send_text(r, json, shared_text_take(text, len));
}

static const struct route {
	const char *name;
	enum MHD_Result (*answer)(const struct http_request *r);
} routes[] = {
	{ "", answer_page },		 { "events", answer_events },
	{ "json", answer_json },	 { "stream", answer_stream },
	{ "metrics", answer_metrics },	 { "trace.pbz", answer_trace },
	{ "reports", answer_reports },
};

/* ---- which one ---- */

/* Where there are several traces, the page of all of them. */
static enum MHD_Result answer_index(struct serve *s, struct MHD_Connection *c)
{
	char *page = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&page, &len);

	if (!out)
		return MHD_NO;
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<title>probee</title></head><body><h1>Recordings</h1><ul>\n", out);
	for (size_t i = 0; i < s->nr; i++) {
		fprintf(out, "<li><a href=\"%zu/\">", i + 1);
		escape_xml(out, s->v[i].source.name, strlen(s->v[i].source.name));
		fprintf(out, "</a>%s</li>\n", s->v[i].is_over ? "" : ", under way");
	}
	fputs("</ul></body></html>\n", out);
	if (fclose(out)) {
		free(page);
		return MHD_NO;
	}
	return send_page(s, c, page, len, "default-src 'none'; frame-ancestors 'none'");
}

/* "3/json" is a path of the third trace; *rest is "json" then. NULL: there is no such trace. */
static struct served *find_trace(struct serve *s, const char **rest)
{
	unsigned long nr;
	char *end;

	if (s->nr == 1)
		return &s->v[0];
	nr = **rest >= '1' && **rest <= '9' ? strtoul(*rest, &end, 10) : 0;
	if (!nr || nr > s->nr || *end != '/')
		return NULL;
	*rest = end + 1;
	return &s->v[nr - 1];
}

static enum MHD_Result answer_route(struct http_request *r, void **state)
{
	enum MHD_Result result;

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (!strcmp(r->rest, routes[i].name))
			return routes[i].answer(r);
	if (!strncmp(r->rest, "report/", 7) && renderer_find(r->rest + 7)) {
		r->rest += 7;
		*state = download_open(r, &result);
		return result;
	}
	return server_say(r->s, r->connection, MHD_HTTP_NOT_FOUND,
			  "There is nothing here. Try: json, stream, metrics, trace.pbz, reports, "
			  "report/svg\n");
}

/* Addresses of a page end with "/", because all that the page asks for is relative to it. */
static enum MHD_Result redirect(const struct serve *s, struct MHD_Connection *c, const char *path)
{
	const char *name = strrchr(path, '/');
	char to[TOKEN_MAX + 8];
	struct MHD_Response *response = s->http.create_response_from_buffer(
		0, (void *)"", MHD_RESPMEM_PERSISTENT);

	snprintf(to, sizeof(to), "%.*s/", TOKEN_MAX, name ? name + 1 : path);
	if (response)
		s->http.add_response_header(response, MHD_HTTP_HEADER_LOCATION, to);
	return server_send(s, c, MHD_HTTP_FOUND, "text/plain", response);
}

static enum MHD_Result answer_path(struct serve *s, struct MHD_Connection *c, const char *path,
				   const char *rest, void **state)
{
	struct http_request r = { .s = s, .connection = c };

	if (!*rest)
		return redirect(s, c, path);
	r.rest = rest + 1;
	if (s->nr > 1 && !*r.rest)
		return answer_index(s, c);
	if (!strcmp(r.rest, "metrics"))	/* of all traces */
		return answer_metrics(&r);
	r.v = find_trace(s, &r.rest);
	if (r.v)
		return answer_route(&r, state);
	return server_say(s, c, MHD_HTTP_NOT_FOUND, "There is no such trace here.\n");
}

static const struct {
	unsigned status;
	const char *text;
} refusals[ACCESS_VERDICTS] = {
	[ACCESS_NO_TOKEN] = { MHD_HTTP_FORBIDDEN,
			      "The address lacks the token that probee serve has printed.\n" },
	[ACCESS_WRONG_HOST] = { MHD_HTTP_MISDIRECTED_REQUEST,
				"This server is not known by that name. Try: its IP address, or "
				"probee serve --host NAME\n" },
	[ACCESS_OTHER_PAGE] = { MHD_HTTP_FORBIDDEN,
				"Pages of other servers get nothing from here.\n" },
};

static enum access_verdict verdict_on(const struct serve *s, struct MHD_Connection *c,
				      const char *path, const char **rest)
{
	struct access_request request = {
		.path = path,
		.host = server_header(s, c, "Host"),
		.origin = server_header(s, c, "Origin"),
		.fetch_site = server_header(s, c, "Sec-Fetch-Site"),
		.fetch_mode = server_header(s, c, "Sec-Fetch-Mode"),
		.authorization = server_header(s, c, "Authorization"),
	};

	return access_check(&s->access, &request, rest);
}

/* What a request may have is known before its body comes, which may take its time. */
static enum MHD_Result look_at_head(struct serve *s, struct MHD_Connection *c, const char *path)
{
	const char *rest;
	enum access_verdict verdict = verdict_on(s, c, path, &rest);

	s->counts.requests++;
	if (verdict != ACCESS_OK) {
		s->counts.refused++;
		return server_say(s, c, refusals[verdict].status, refusals[verdict].text);
	}
	if (http_places_admit(&s->places, c))
		return MHD_YES;
	return server_say(s, c, MHD_HTTP_SERVICE_UNAVAILABLE,
			  "There are too many clients already.\n");
}

static enum MHD_Result answer_new(struct serve *s, struct MHD_Connection *c, const char *path,
				  void **state)
{
	const char *rest;

	return verdict_on(s, c, path, &rest) == ACCESS_OK ? answer_path(s, c, path, rest, state)
							  : MHD_NO;
}

static enum MHD_Result refuse_method(const struct serve *s, struct MHD_Connection *c)
{
	static const char text[] = "Only GET and HEAD are answered here.\n";
	struct MHD_Response *response = s->http.create_response_from_buffer(
		sizeof(text) - 1, (void *)text, MHD_RESPMEM_PERSISTENT);

	if (response)
		s->http.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return server_send(s, c, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", response);
}

/*
 * libmicrohttpd calls this when the headers are there (*state NULL), then for the body, if there is
 * one, and when a connection is resumed that has no answer yet.
 */
enum MHD_Result routes_answer(void *serve, struct MHD_Connection *c, const char *path,
			      const char *method, const char *version, const char *body,
			      size_t *body_len, void **state)
{
	static char seen;
	struct serve *s = serve;

	(void)version;
	(void)body;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse_method(s, c);
	if (!*state) {
		*state = &seen;
		return look_at_head(s, c, path);
	}
	if (*body_len) {
		*body_len = 0;		/* a GET has none; if it has, it is not looked at */
		return MHD_YES;
	}
	if (*state != &seen)
		return download_answer(c, *state);
	return answer_new(s, c, path, state);
}

void routes_completed(void *serve, struct MHD_Connection *c, void **state,
		      enum MHD_RequestTerminationCode code)
{
	struct serve *s = serve;

	(void)code;
	http_places_done(&s->places, c);
	download_completed(serve, *state);
	*state = NULL;
}
