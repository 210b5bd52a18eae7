/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the server listens: "127.0.0.1:8000", "[::1]:8000", "localhost:0", "8080".
 *
 *	listen_address_parse(text, &a)
 *	fd = listen_address_open(&a)		binds and listens; a.port is the real one then
 *	listen_address_text(&a, buf)		"127.0.0.1:8000", as it stands in a link
 *
 * A name other than localhost is not looked up: a server is to listen where its user says, and not
 * where a name server does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct listen_address {
	struct sockaddr_storage addr;
	socklen_t len;
	uint16_t port;
};

#define LISTEN_TEXT_MAX 80

/* 0, or -EINVAL, which was explained. */
int listen_address_parse(const char *text, struct listen_address *a);
/* A descriptor that does not block, or -errno, which was reported. */
int listen_address_open(struct listen_address *a);
void listen_address_text(const struct listen_address *a, char buf[LISTEN_TEXT_MAX]);
/* Only programs of this machine reach it. */
bool listen_address_is_loopback(const struct listen_address *a);
