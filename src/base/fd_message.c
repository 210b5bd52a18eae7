/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/fd_message.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

void fd_message_init(struct fd_message *m, void *v, size_t len)
{
	m->head = (struct msghdr){ .msg_flags = 0 };
	m->io = (struct iovec){ v, len };
	m->head.msg_iov = &m->io;
	m->head.msg_iovlen = 1;
	m->head.msg_control = m->room.buf;
	m->head.msg_controllen = sizeof(m->room.buf);
}

void fd_message_refuse(struct fd_message *m)
{
	m->head.msg_control = NULL;
	m->head.msg_controllen = 0;
}

void fd_message_attach(struct fd_message *m, const int *fds, size_t nr)
{
	struct cmsghdr *c;

	assert(nr <= FD_MESSAGE_MAX);
	if (!nr) {
		fd_message_refuse(m);
		return;
	}
	m->head.msg_controllen = CMSG_SPACE(nr * sizeof(int));
	memset(&m->room, 0, CMSG_SPACE(nr * sizeof(int)));
	c = CMSG_FIRSTHDR(&m->head);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(nr * sizeof(int));
	memcpy(CMSG_DATA(c), fds, nr * sizeof(int));
}

ssize_t fd_message_send(int sock, struct fd_message *m, int flags)
{
	ssize_t n;

	do
		n = sendmsg(sock, &m->head, flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t fd_message_receive(int sock, struct fd_message *m, int flags)
{
	ssize_t n;

	do
		n = recvmsg(sock, &m->head, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Adds the files of one part of the message; false: some found no room. */
static bool take_part(struct cmsghdr *c, int *fds, size_t max, size_t *nr)
{
	size_t came = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	bool all = true;
	int fd;

	for (size_t i = 0; i < came; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		if (*nr < max) {
			fds[(*nr)++] = fd;
		} else {
			close(fd);
			all = false;
		}
	}
	return all;
}

size_t fd_message_take(struct fd_message *m, int *fds, size_t max, bool *lost)
{
	bool all = !(m->head.msg_flags & MSG_CTRUNC);
	size_t nr = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m->head); c; c = CMSG_NXTHDR(&m->head, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			all &= take_part(c, fds, max, &nr);
	if (lost)
		*lost = !all;
	return nr;
}

int fd_message_take_one(struct fd_message *m)
{
	int fd;

	return fd_message_take(m, &fd, 1, NULL) ? fd : -1;
}

int fd_message_park(int fd)
{
	struct fd_message m;
	char byte = 0;
	int ends[2];
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	fd_message_init(&m, &byte, 1);
	fd_message_attach(&m, &fd, 1);
	n = fd_message_send(ends[0], &m, MSG_DONTWAIT);
	close(ends[0]);
	if (n == 1)
		return ends[1];
	close(ends[1]);
	return (int)n;
}
