/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/sd_notify.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"

/* A path, or @name for a socket without one. False: it is neither. */
static bool make_address(const char *text, struct sockaddr_un *a, socklen_t *len)
{
	size_t n = strlen(text);

	if ((text[0] != '/' && text[0] != '@') || n < 2 || n >= sizeof(a->sun_path))
		return false;
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(a->sun_path, text, n);
	if (text[0] == '@')
		a->sun_path[0] = 0;
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (text[0] == '/'));
	return true;
}

/* 0: no watchdog, or one for another process. */
static uint64_t watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!usec || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	return strtoull(usec, NULL, 10) * 1000;
}

void sd_notify_open(struct sd_notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a;
	socklen_t len;

	*n = (struct sd_notify){ .fd = -1 };
	if (!path)
		return;
	if (make_address(path, &a, &len))
		n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->fd >= 0 && connect(n->fd, (struct sockaddr *)&a, len))
		sd_notify_close(n);
	if (n->fd < 0)
		note("NOTIFY_SOCKET=%s cannot be reached, so systemd is told nothing", path);
	else
		n->watchdog_ns = watchdog_ns();
}

void sd_notify_send(const struct sd_notify *n, const char *lines)
{
	if (n->fd >= 0 && send(n->fd, lines, strlen(lines), MSG_NOSIGNAL) < 0)
		note_verbose("systemd was not told: %s", lines);
}

void sd_notify_reloading(const struct sd_notify *n)
{
	char text[80];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_ns() / 1000);
	sd_notify_send(n, text);
}

void sd_notify_close(struct sd_notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}
