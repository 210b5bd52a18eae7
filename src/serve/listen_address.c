/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/serve/listen_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"

enum { BACKLOG = 128 };

/* Splits "[::1]:8000", "127.0.0.1:8000" and "8000" into host and port; false: another form. */
static bool split(const char *text, char *host, size_t size, const char **port)
{
	const char *begin = text, *end, *colon = strrchr(text, ':');

	*port = colon ? colon + 1 : text;
	if (!colon) {
		snprintf(host, size, "127.0.0.1");
		return true;
	}
	end = colon;
	if (*begin == '[' && end > begin && end[-1] == ']')
		begin++, end--;
	else if (memchr(begin, ':', (size_t)(end - begin)))
		return false;	/* an IPv6 address without brackets: where does the port begin? */
	if (begin == end || (size_t)(end - begin) >= size)
		return false;
	snprintf(host, size, "%.*s", (int)(end - begin), begin);
	return true;
}

static bool parse_port(const char *text, uint16_t *port)
{
	unsigned long v;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	v = strtoul(text, &end, 10);
	*port = (uint16_t)v;
	return !*end && v <= UINT16_MAX;
}

static bool set_host(struct listen_address *a, const char *host)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&a->addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->addr;

	if (!strcmp(host, "localhost"))
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(a->port);
		a->len = sizeof(*in);
		return true;
	}
	if (inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
		return false;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(a->port);
	a->len = sizeof(*in6);
	return true;
}

int listen_address_parse(const char *text, struct listen_address *a)
{
	char host[64];
	const char *port;

	*a = (struct listen_address){ .len = 0 };
	if (split(text, host, sizeof(host), &port) && parse_port(port, &a->port) &&
	    set_host(a, host))
		return 0;
	return fail_why(-EINVAL, "%s is no address to listen at. Try: 127.0.0.1:8000, [::1]:8000, "
			"or a port, 0 for any that is free", text);
}

static uint16_t port_of(const struct listen_address *a)
{
	return ntohs(a->addr.ss_family == AF_INET6
			     ? ((const struct sockaddr_in6 *)&a->addr)->sin6_port
			     : ((const struct sockaddr_in *)&a->addr)->sin_port);
}

int listen_address_open(struct listen_address *a)
{
	int fd = socket(a->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	char text[LISTEN_TEXT_MAX];
	int err;

	listen_address_text(a, text);
	if (fd < 0)
		return fail(-errno, "listen at %s", text);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(fd, (struct sockaddr *)&a->addr, a->len) && !listen(fd, BACKLOG) &&
	    !getsockname(fd, (struct sockaddr *)&a->addr, &a->len)) {
		a->port = port_of(a);
		return fd;
	}
	err = -errno;
	close(fd);
	if (err == -EADDRINUSE)
		return fail_try(err, "--listen 127.0.0.1:0, which takes any free port",
				"listen at %s", text);
	return fail(err, "listen at %s", text);
}

void listen_address_text(const struct listen_address *a, char buf[LISTEN_TEXT_MAX])
{
	bool is_v6 = a->addr.ss_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "";
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&a->addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&a->addr;
	const void *bytes = is_v6 ? (const void *)&in6->sin6_addr : &in->sin_addr;

	inet_ntop(a->addr.ss_family, bytes, host, sizeof(host));
	snprintf(buf, LISTEN_TEXT_MAX, is_v6 ? "[%s]:%u" : "%s:%u", host, a->port);
}

bool listen_address_is_loopback(const struct listen_address *a)
{
	if (a->addr.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&a->addr)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)&a->addr)->sin_addr.s_addr) >> 24 == 127;
}
