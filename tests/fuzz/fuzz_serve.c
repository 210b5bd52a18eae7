/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile requests: the first bytes are lengths of headers, the rest is cut into path and headers. Without the token nothing but
 * ACCESS_OK's opposite may come out, and what is left of the path is a part of it. Ids of events and addresses are tried, too.
 */
#include <stdlib.h>
#include <string.h>

#include "src/serve/access.h"
#include "src/serve/listen_address.h"
#include "src/serve/served.h"

#define TOKEN "abcdefghijklmnopqrstuvwxyz-_0123"
enum { PARTS = 6 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int ok)
{
	if (!ok)
		abort();
}

/* A string of its own, so that reading behind its end is noticed; NULL: the header is not there. */
static char *take(const uint8_t **data, size_t *len, size_t most)
{
	size_t n = most < *len ? most : *len;
	char *s;

	if (most == 255)
		return NULL;
	s = malloc(n + 1);
	require(s != NULL);
	memcpy(s, *data, n);
	s[n] = 0;
	*data += n;
	*len -= n;
	return s;
}

static void check(const struct access *a, const struct access_request *r)
{
	const char *rest = NULL, *path = r->path;
	enum access_verdict v = access_check(a, r, &rest);

	require(rest >= path && rest <= path + strlen(path));
	require(v < ACCESS_VERDICTS);
	if (v == ACCESS_OK && *a->token)
		require(strstr(path, a->token) || (r->authorization && strstr(r->authorization, a->token)));
	if (v == ACCESS_OK)
		require(r->host && *r->host);
}

/* Every refusal is a message. With this option what libFuzzer and the sanitizers say is still seen. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char **args = calloc((size_t)*argc + 2, sizeof(*args));

	require(args != NULL);
	memcpy(args, *argv, (size_t)*argc * sizeof(*args));
	args[*argc] = strdup("-close_fd_mask=2");
	require(args[(*argc)++] != NULL);
	*argv = args;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const hosts[] = { "example.org", NULL };
	static const struct access guarded = { .token = TOKEN, .hosts = hosts }, unguarded = { .hosts = hosts };
	const uint8_t *sizes = data;
	char *part[PARTS], *path, buf[LISTEN_TEXT_MAX];
	struct listen_address address;
	struct access_request r;

	if (len < PARTS)
		return 0;
	data += PARTS;
	len -= PARTS;
	for (int i = 0; i < PARTS; i++)
		part[i] = take(&data, &len, sizes[i]);
	path = part[5] ? part[5] : strdup("/" TOKEN "/");
	r = (struct access_request){ .path = path, .host = part[0], .origin = part[1], .fetch_site = part[2],
				     .fetch_mode = part[3], .authorization = part[4] };
	check(&guarded, &r);
	check(&unguarded, &r);
	served_at_parse(part[0]);
	if (!listen_address_parse(path, &address)) {
		listen_address_text(&address, buf);
		require(!listen_address_parse(buf, &address));
	}
	free(path);
	for (int i = 0; i < PARTS - 1; i++)
		free(part[i]);
	return 0;
}
