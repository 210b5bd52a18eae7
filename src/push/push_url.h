/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The URL of a receiver, and the protocol that is spoken there.
 *
 *	otlp+http://host:4318			OTLP
 *	pyroscope+https://host/prefix		Pyroscope's push.v1
 *	http://host:4318			what --protocol says, or OTLP
 *
 * Requests go to the URL with the path of the protocol behind its own. A URL that is the address of
 * the requests themselves (is_exact) is taken as it stands: that of an environment variable for
 * profiles alone, and one of OTLP whose path ends in /profiles.
 *
 * The URL may have a query ("?key=value"), which stays behind the path. It has no user and no
 * password: other users of the machine can read command lines.
 *
 * Source: RFC 3986; the specification of the OTLP exporter, "Endpoint URLs for OTLP/HTTP".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "src/push/push_encode_opts.h"

#define PUSH_URL_MAX 2048		/* bytes of a URL, with the NUL */
#define PUSH_PATH_MAX 65536		/* of a path behind it: /ingest has labels there */

struct push_url {
	enum push_protocol protocol;
	bool is_tls, is_exact;
	bool is_loopback;		/* nothing is sent through a network */
	char base[PUSH_URL_MAX];	/* "https://host:4318/prefix", without a / at its end */
	char query[PUSH_URL_MAX];	/* "?key=value" or "" */
};

/*
 * protocol: "otlp", "pyroscope", "ingest", or NULL. 0, or -EINVAL after saying what is wrong with
 * what (an option or a variable, for the message).
 */
int push_url_parse(const char *what, const char *text, const char *protocol, struct push_url *u);

/* Its name for people, with its version: "OTLP profiles v1.10". */
const char *push_protocol_layout(enum push_protocol protocol);

/*
 * The address for a request: path begins with / and may have a query. 0; -EINVAL: the path has
 * characters that no path has, because it comes from a process that reads foreign bytes; -ENOSPC.
 */
int push_url_with_path(const struct push_url *u, const char *path, char *buf, size_t size);
