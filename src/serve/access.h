/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may see what the server shows.
 *
 * The problem. What a machine does is a secret of its users. A server on 127.0.0.1 is reached by
 * every program and every user of the machine, and by every page that a browser of this machine
 * shows: such a page can send requests to any address, and after DNS rebinding (its own name then
 * leads to 127.0.0.1) it can read the answers, too.
 *
 * The idea. Three conditions, which must all hold:
 *
 *	token	A random word stands in the path (/TOKEN/...) or in "Authorization: Bearer
 *		TOKEN". It is compared in constant time.
 *	host	The Host header is an IP address, localhost, or a name that was allowed with
 *		--host. A page that has come by DNS rebinding has a name of its own there.
 *	origin	If the browser says which page sends the request (Origin, Sec-Fetch-Site), it is
 *		a page of this server, or the user has followed a link.
 *
 *	access_make_token(a)			or
 *	access_read_token(a, path)		0 or -errno, which was reported
 *	access_check(a, &request, &rest)	what the request may have
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_MAX 128
#define TOKEN_MIN 16

struct access {
	char token[TOKEN_MAX + 1];	/* "": none is asked for */
	const char *const *hosts;	/* names that are allowed besides; NULL ends them */
};

/* Headers that the client did not send are NULL. */
struct access_request {
	const char *path;		/* without the query */
	const char *host, *origin, *fetch_site, *fetch_mode, *authorization;
};

enum access_verdict {
	ACCESS_OK,
	ACCESS_NO_TOKEN,		/* 403 */
	ACCESS_WRONG_HOST,		/* 421 */
	ACCESS_OTHER_PAGE,		/* 403 */
	ACCESS_VERDICTS
};

/* 24 random bytes as 32 characters that need no quoting in an address. 0 or -errno, reported. */
int access_make_token(struct access *a);
/*
 * The only line of a file that only its owner can read: TOKEN_MIN to TOKEN_MAX letters,
 * digits, - and _. 0 or -errno, reported.
 */
int access_read_token(struct access *a, const char *path);

/* ACCESS_OK: *rest is the path behind the token, "" or beginning with "/". */
enum access_verdict access_check(const struct access *a, const struct access_request *r,
				 const char **rest);
