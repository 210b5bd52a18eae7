/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_url.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/fail.h"

static const struct {
	const char *name, *layout;
} protocols[] = {
	[PUSH_OTLP] = { "otlp", "OTLP profiles v1.10" },
	[PUSH_PYROSCOPE] = { "pyroscope", "Pyroscope push.v1" },
	[PUSH_INGEST] = { "ingest", "Pyroscope /ingest, pprof" },
};

const char *push_protocol_layout(enum push_protocol protocol)
{
	return protocols[protocol].layout;
}

static int find_protocol(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (strlen(protocols[i].name) == len && !strncmp(protocols[i].name, name, len))
			return (int)i;
	return -1;
}

static bool is_url_text(const char *s)
{
	static const char unsafe[] = "\"<>\\^`{|}";

	for (; *s; s++)
		if (*s <= ' ' || *s > '~' || strchr(unsafe, *s))
			return false;
	return true;
}

/* "127.0.0.1:8000", "[::1]", "host": letters, digits, dots, and a port from 1 to 65535. */
static bool is_authority(const char *s, size_t len)
{
	const char *end = s + len, *host_end;
	char *stop;
	long port;

	if (len && *s == '[') {
		host_end = memchr(s, ']', len);
		if (!host_end || strspn(s + 1, "0123456789abcdefABCDEF:.%") + 1 <
					 (size_t)(host_end - s))
			return false;
		host_end++;
	} else {
		host_end = s + strcspn(s, ":/?#");
		for (const char *c = s; c < host_end && c < end; c++)
			if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.-_", *c))
				return false;
	}
	if (host_end == s || host_end > end)
		return false;
	if (host_end == end)
		return true;
	if (*host_end != ':' || host_end[1] < '0' || host_end[1] > '9')
		return false;
	port = strtol(host_end + 1, &stop, 10);
	return stop == end && port >= 1 && port <= 65535;
}

/* "127.0.0.1", as the resolver reads it, and not the name "127.example.org". */
static bool is_loopback(const char *authority, size_t len)
{
	const char *colon = *authority == '[' ? NULL : memchr(authority, ':', len);
	char host[64];
	struct in_addr v4;
	int n = snprintf(host, sizeof(host), "%.*s",
			 (int)(colon ? colon - authority : (ptrdiff_t)len), authority);

	if (n < 0 || (size_t)n >= sizeof(host))
		return false;
	if (inet_aton(host, &v4))
		return ntohl(v4.s_addr) >> 24 == 127;
	return !strcasecmp(host, "localhost") ||
	       (!strncmp(host, "[::1]", 5) && (!host[5] || host[5] == ':'));
}

/* Splits "otlp+https" at the plus; false: it is no scheme of ours. */
static bool read_scheme(const char *scheme, size_t len, int *of_url, bool *is_tls)
{
	const char *plus = memchr(scheme, '+', len);
	const char *rest = plus ? plus + 1 : scheme;
	size_t left = len - (size_t)(rest - scheme);

	*of_url = plus ? find_protocol(scheme, (size_t)(plus - scheme)) : -1;
	*is_tls = left == 5 && !strncasecmp(rest, "https", 5);
	return (*is_tls || (left == 4 && !strncasecmp(rest, "http", 4))) &&
	       (!plus || *of_url >= 0);
}

/* Pyroscope's two ways have one kind of URL, so --protocol ingest goes with pyroscope+http. */
static int choose_protocol(const char *what, int of_url, const char *protocol, struct push_url *u)
{
	int asked = protocol ? find_protocol(protocol, strlen(protocol)) : -1;

	if (protocol && asked < 0)
		return fail_why(-EINVAL, "--protocol %s: probee speaks otlp, pyroscope and ingest",
				protocol);
	if (asked >= 0 && of_url >= 0 && asked != of_url &&
	    (asked == PUSH_OTLP || of_url == PUSH_OTLP))
		return fail_why(-EINVAL, "%s says %s, and --protocol says %s", what,
				protocols[of_url].name, protocol);
	u->protocol = asked >= 0 ? (enum push_protocol)asked
			       : of_url >= 0 ? (enum push_protocol)of_url : PUSH_OTLP;
	return 0;
}

static bool ends_in(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !strncmp(s + len - n, end, n);
}

static int bad_url(const char *what, const char *text)
{
	return fail_why(-EINVAL, "%s: '%.200s' is no address of a receiver. Try: "
			"http://127.0.0.1:4318, or otlp+https://..., pyroscope+https://...", what,
			text);
}

int push_url_parse(const char *what, const char *text, const char *protocol, struct push_url *u)
{
	const char *colon = strstr(text, "://"), *host = colon ? colon + 3 : NULL;
	size_t host_len = host ? strcspn(host, "/?#") : 0, path_len;
	const char *path = host ? host + host_len : NULL;
	int of_url, n;

	*u = (struct push_url){ .protocol = PUSH_OTLP };
	if (!host || strlen(text) >= PUSH_URL_MAX - 16 ||
	    !read_scheme(text, (size_t)(colon - text), &of_url, &u->is_tls))
		return bad_url(what, text);
	/* The message does not show it. */
	if (memchr(host, '@', host_len))
		return fail_why(-EINVAL, "%s: a user and a password do not belong there, where "
				"others can read them. Try: --basic-file FILE", what);
	if (!is_url_text(text) || strchr(text, '#') || !is_authority(host, host_len))
		return bad_url(what, text);
	path_len = strcspn(path, "?");
	snprintf(u->query, sizeof(u->query), "%s", path + path_len);
	while (path_len && path[path_len - 1] == '/')
		path_len--;
	n = snprintf(u->base, sizeof(u->base), "%s://%.*s%.*s", u->is_tls ? "https" : "http",
		     (int)host_len, host, (int)path_len, path);
	if (n < 0 || (size_t)n >= sizeof(u->base))
		return bad_url(what, text);
	u->is_loopback = is_loopback(host, host_len);
	if (choose_protocol(what, of_url, protocol, u))
		return -EINVAL;
	u->is_exact = u->protocol == PUSH_OTLP && ends_in(path, path_len, "/profiles");
	return 0;
}

int push_url_with_path(const struct push_url *u, const char *path, char *buf, size_t size)
{
	const char *query = u->query;
	bool joins;
	int n;

	if (*path != '/' || path[1] == '/' || !is_url_text(path) || strchr(path, '#'))
		return -EINVAL;
	if (u->is_exact)
		path = "";
	joins = *query && strchr(path, '?');
	n = snprintf(buf, size, "%s%s%s%s", u->base, path, joins ? "&" : "", query + joins);
	return n >= 0 && (size_t)n < size ? 0 : -ENOSPC;
}
