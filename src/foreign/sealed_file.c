/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/foreign/sealed_file.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One byte with one descriptor; the room is aligned as cmsg(3) asks for. */
struct message {
	char byte;
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec io;
	struct msghdr head;
};

static void prepare(struct message *m)
{
	memset(m, 0, sizeof(*m));
	m->io = (struct iovec){ &m->byte, 1 };
	m->head.msg_iov = &m->io;
	m->head.msg_iovlen = 1;
	m->head.msg_control = m->control.buf;
	m->head.msg_controllen = sizeof(m->control.buf);
}

int sealed_file_new(int fd)
{
	struct message m;
	struct cmsghdr *c;
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	prepare(&m);
	c = CMSG_FIRSTHDR(&m.head);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	err = sendmsg(ends[0], &m.head, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -errno;
	close(ends[0]);
	if (!err)
		return ends[1];
	close(ends[1]);
	return err;
}

int sealed_file_open(int seal)
{
	struct message m;
	struct cmsghdr *c;
	int fd;

	prepare(&m);
	if (recvmsg(seal, &m.head, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m.head);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return m.head.msg_flags & MSG_CTRUNC ? -EMFILE : -EPROTO;
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}
