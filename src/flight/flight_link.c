/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/flight/flight_link.h"

#include <errno.h>
#include <sys/socket.h>

int flight_link_open(int ends[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends)
		       ? -errno
		       : 0;
}

int flight_link_send(int fd, const struct flight_message *m)
{
	return send(fd, m, sizeof(*m), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int flight_link_receive(int fd, struct flight_message *m)
{
	ssize_t n = recv(fd, m, sizeof(*m), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	if (n != sizeof(*m))
		return -EPIPE;		/* 0: it has closed its end */
	m->text[sizeof(m->text) - 1] = 0;
	m->counts[sizeof(m->counts) - 1] = 0;
	return 1;
}
