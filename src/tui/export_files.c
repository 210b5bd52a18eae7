/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/export_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/helper_process.h"
#include "src/base/sudo_user.h"

enum { NAME_SIZE = 200, SOCKET = 3 };	/* helper_fork() */

/* ---- the process that opens ---- */

static bool is_plain_name(const char *name)
{
	return name[0] && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

/* A file of the user behind sudo is his. */
static int make_file(const char *name)
{
	uid_t uid;
	gid_t gid;
	int fd;

	if (!is_plain_name(name))
		return -EINVAL;
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (sudo_user(&uid, &gid) && fchown(fd, uid, gid))
		return fd;		/* it stays root's, which is no reason to do without it */
	return fd;
}

/* The answer is 0 with the descriptor, or -errno. */
static bool answer(int result)
{
	int err = result < 0 ? result : 0;
	struct iovec iov = { &err, sizeof(err) };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .space = { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (result >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control.space);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &result, sizeof(int));
	}
	return sendmsg(SOCKET, &msg, MSG_NOSIGNAL) == sizeof(err);
}

static void serve(void)
{
	char name[NAME_SIZE];
	ssize_t n;
	int fd;

	for (int i = 0; (n = recv(SOCKET, name, sizeof(name) - 1, 0)) > 0; i++) {
		name[n] = 0;
		fd = i < EXPORTS_MAX ? make_file(name) : -EDQUOT;
		if (!answer(fd))
			break;
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/* ---- the one that asks ---- */

int export_files_open(struct export_files *e)
{
	int fds[2];

	*e = (struct export_files){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return fail(-errno, "start a process that opens files");
	e->pid = helper_fork(&fds[1], 1);
	if (!e->pid)
		serve();
	close(fds[1]);
	if (e->pid < 0) {
		close(fds[0]);
		return fail((int)e->pid, "start a process that opens files");
	}
	e->fd = fds[0];
	return 0;
}

int export_files_make(struct export_files *e, const char *name)
{
	int err = -EPIPE, fd = -1;
	struct iovec iov = { &err, sizeof(err) };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control.space) };
	size_t len = strlen(name);

	if (e->fd < 0 || !len || len >= NAME_SIZE)
		return -EINVAL;
	if (send(e->fd, name, len, MSG_NOSIGNAL) != (ssize_t)len ||
	    recvmsg(e->fd, &msg, MSG_CMSG_CLOEXEC) != sizeof(err))
		return -EPIPE;
	if (err)
		return err;
	if (msg.msg_controllen >= CMSG_LEN(sizeof(int)) && control.head.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd < 0 ? -EPIPE : fd;
}

void export_files_close(struct export_files *e)
{
	if (e->fd >= 0) {
		close(e->fd);
		helper_await(e->pid);
	}
	e->fd = -1;
}
