/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/server.h"

#include <string.h>

/*
 * No other page may show, embed or read an answer, and no cache may keep it. The address holds the
 * token, so browsers do not pass it on as a Referer. Each page has its own policy for scripts.
 */
static const char *const headers[][2] = {
	{ "Cache-Control", "no-store" },
	{ "Referrer-Policy", "no-referrer" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
};

enum MHD_Result server_send(const struct serve *s, struct MHD_Connection *c, unsigned status,
			    const char *type, struct MHD_Response *response)
{
	enum MHD_Result sent;

	if (!response)
		return MHD_NO;
	s->http.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		s->http.add_response_header(response, headers[i][0], headers[i][1]);
	if (!s->http.get_response_header(response, "Content-Security-Policy"))
		s->http.add_response_header(response, "Content-Security-Policy",
					"default-src 'none'; frame-ancestors 'none'");
	sent = s->http.queue_response(c, status, response);
	s->http.destroy_response(response);
	return sent;
}

enum MHD_Result server_say(const struct serve *s, struct MHD_Connection *c, unsigned status,
			   const char *text)
{
	struct MHD_Response *r = s->http.create_response_from_buffer(strlen(text), (void *)text,
								 MHD_RESPMEM_MUST_COPY);

	return server_send(s, c, status, "text/plain; charset=utf-8", r);
}

const char *server_header(const struct serve *s, struct MHD_Connection *c, const char *name)
{
	return s->http.lookup_connection_value(c, MHD_HEADER_KIND, name);
}

const char *server_query(const struct serve *s, struct MHD_Connection *c, const char *name)
{
	return s->http.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
}
