/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/access.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/base/own_file.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int access_make_token(struct access *a)
{
	uint8_t bytes[32];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return fail(-EIO, "make a token");
	/* 6 of the 8 random bits of each byte choose a character: 192 bits in all. */
	for (size_t i = 0; i < sizeof(bytes); i++)
		a->token[i] = alphabet[bytes[i] & 63];
	a->token[sizeof(bytes)] = 0;
	return 0;
}

static int check_file(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail(-errno, "read %s", path);
	if (!S_ISREG(st.st_mode))
		return fail_why(-EINVAL, "%s is no regular file", path);
	if (st.st_uid && !own_file_is_ours(&st))
		return fail_why(-EACCES, "%s belongs to another user, who would know the token. "
				"Try: a file of your own", path);
	if (st.st_mode & 077)
		return fail_why(-EACCES, "%s: others can read this token. Try: chmod 600 %s", path,
				path);
	return 0;
}

static int take_token(struct access *a, char *text, const char *path)
{
	size_t len = strcspn(text, "\r\n"), end = len + strspn(text + len, "\r\n");
	bool is_one_line = !text[end];

	text[len] = 0;
	if (!is_one_line || len < TOKEN_MIN || len > TOKEN_MAX || strspn(text, alphabet) != len)
		return fail_why(-EINVAL,
				"%s holds no token: one line of %d to %d letters, digits, - and _. "
				"Try: head -c 24 /dev/urandom | base64 | tr +/ -_ > %s", path,
				TOKEN_MIN, TOKEN_MAX, path);
	memcpy(a->token, text, len + 1);
	return 0;
}

int access_read_token(struct access *a, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err;
	char text[TOKEN_MAX + 8];
	ssize_t n;

	if (fd < 0)
		return fail(-errno, "open %s", path);
	err = check_file(fd, path);
	n = err ? 0 : io_pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	if (err)
		return err;
	if (n < 0)
		return fail((int)n, "read %s", path);
	text[n] = 0;
	return take_token(a, text, path);
}

/* Takes as long for a wrong word as for the right one. */
static bool is_token(const struct access *a, const char *word, size_t len)
{
	size_t own = strlen(a->token);
	uint8_t differs = len != own;

	for (size_t i = 0; i < own; i++)
		differs |= (uint8_t)(a->token[i] ^ (len ? word[i % len] : 0));
	return !differs;
}

static bool has_bearer(const struct access *a, const char *authorization)
{
	const char *word = authorization;

	if (!word || strncasecmp(word, "Bearer ", 7))
		return false;
	word += 7 + strspn(word + 7, " ");
	return is_token(a, word, strcspn(word, " "));
}

/* The host of "127.0.0.1:8000", "[::1]:8000", "localhost" without its port; false: it is none. */
static bool host_of(const char *text, char *host, size_t size)
{
	size_t len = *text == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":");
	const char *rest;

	if (len >= size || len > strlen(text))
		return false;
	snprintf(host, size, "%.*s", (int)len, text);
	rest = text + len;
	return len && (!*rest || (*rest == ':' && strspn(rest + 1, "0123456789") ==
							  strlen(rest + 1)));
}

/* Names that lead to an address by themselves, which no name server can bend, are always right. */
static bool is_host(const struct access *a, const char *text)
{
	char host[256], v6[64];
	uint8_t addr[16];

	if (!text || !host_of(text, host, sizeof(host)))
		return false;
	if (inet_pton(AF_INET, host, addr) == 1 || !strcasecmp(host, "localhost"))
		return true;
	if (host[0] == '[' && strlen(host) - 2 < sizeof(v6)) {
		snprintf(v6, sizeof(v6), "%.*s", (int)strlen(host) - 2, host + 1);
		return inet_pton(AF_INET6, v6, addr) == 1;
	}
	for (const char *const *h = a->hosts; h && *h; h++)
		if (!strcasecmp(host, *h))
			return true;
	return false;
}

/* "http://127.0.0.1:8000" is this server if the browser sent the request to that host and port. */
static bool is_own_origin(const char *origin, const char *host)
{
	const char *at = strstr(origin, "://");

	return at && !strcasecmp(at + 3, host);
}

/* A link that the user has followed from elsewhere is welcome; what another page does is not. */
static bool is_other_page(const struct access_request *r)
{
	if (r->origin && !is_own_origin(r->origin, r->host))
		return true;
	if (!r->fetch_site || !strcmp(r->fetch_site, "same-origin") ||
	    !strcmp(r->fetch_site, "none"))
		return false;
	return !r->fetch_mode || strcmp(r->fetch_mode, "navigate") != 0;
}

enum access_verdict access_check(const struct access *a, const struct access_request *r,
				 const char **rest)
{
	size_t len;

	*rest = r->path;
	if (!is_host(a, r->host))
		return ACCESS_WRONG_HOST;
	if (is_other_page(r))
		return ACCESS_OTHER_PAGE;
	if (r->path[0] != '/')
		return ACCESS_NO_TOKEN;
	if (!*a->token)
		return ACCESS_OK;
	len = strcspn(r->path + 1, "/");
	if (is_token(a, r->path + 1, len))
		*rest = r->path + 1 + len;
	else if (!has_bearer(a, r->authorization))
		return ACCESS_NO_TOKEN;
	return ACCESS_OK;
}
