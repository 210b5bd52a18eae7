/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/foreign/sealed_file.h"

#include <errno.h>
#include <sys/socket.h>

#include "src/base/fd_message.h"

int sealed_file_new(int fd)
{
	return fd_message_park(fd);
}

int sealed_file_open(int seal)
{
	struct fd_message m;
	char byte;
	bool lost;
	ssize_t n;
	int fd;

	fd_message_init(&m, &byte, 1);
	n = fd_message_receive(seal, &m, MSG_PEEK | MSG_DONTWAIT);
	if (n < 0)
		return (int)n;
	if (fd_message_take(&m, &fd, 1, &lost))
		return fd;
	return lost ? -EMFILE : -EPROTO;
}
