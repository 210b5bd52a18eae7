/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message between two processes that carries open files (SCM_RIGHTS, unix(7)).
 *
 *	fd_message_init()	the bytes to send, or room for those to receive
 *	fd_message_attach()	the files that go with them, or none
 *	fd_message_send()
 *
 *	fd_message_init()
 *	fd_message_receive()
 *	fd_message_take()	the files that came
 *
 * The receiver has descriptors of its own; they are closed on exec. Files that came and are not
 * taken stay open, so take is called after each message that was received.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#define FD_MESSAGE_MAX 253		/* files in one message: the kernel's SCM_MAX_FD */

struct fd_message {
	struct msghdr head;
	struct iovec io;
	union {				/* aligned as cmsg(3) asks for */
		struct cmsghdr align;
		char buf[CMSG_SPACE(FD_MESSAGE_MAX * sizeof(int))];
	} room;
};

/* v[0..len-1] must live as long as the message. There is room for files. */
void fd_message_init(struct fd_message *m, void *v, size_t len);

/* The files to send. nr may be 0, and is FD_MESSAGE_MAX at most. */
void fd_message_attach(struct fd_message *m, const int *fds, size_t nr);

/* Nothing but bytes may come: the kernel closes files that come with them. */
void fd_message_refuse(struct fd_message *m);

/*
 * Once, with flags of sendmsg(2), recvmsg(2): bytes, or -errno. A signal does not end them.
 * -ETOOMANYREFS: the processes of this user have too many files in messages (message_user.h).
 */
ssize_t fd_message_send(int sock, struct fd_message *m, int flags);
ssize_t fd_message_receive(int sock, struct fd_message *m, int flags);

/*
 * Puts the files that came into fds[0..max-1] and returns how many there are. Those for which there
 * is no room are closed, and *lost is set then; it is set, too, if the kernel had no descriptor for
 * a file. lost may be NULL.
 */
size_t fd_message_take(struct fd_message *m, int *fds, size_t max, bool *lost);

/*
 * Puts a file into a message that stays where it is: the end that it can be received from, or
 * -errno. When that end is closed, the kernel drops the file.
 */
int fd_message_park(int fd);

/* The one file that came, or -1. */
int fd_message_take_one(struct fd_message *m);
