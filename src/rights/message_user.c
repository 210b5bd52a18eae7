/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/rights/message_user.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/fd_message.h"

/*
 * No account has such a number: systemd's table of users (UIDS-GIDS) leaves 2^31 and above to
 * nobody. Two recordings have different pids.
 */
#define FIRST_UNUSED 0xf0000000u

int capget(cap_user_header_t head, cap_user_data_t data);	/* of the C library, in no header */
int capset(cap_user_header_t head, const cap_user_data_t data);

/* Who has one of these is not counted. */
#define FREE (1u << CAP_SYS_ADMIN | 1u << CAP_SYS_RESOURCE)

_Static_assert(CAP_SYS_ADMIN < 32 && CAP_SYS_RESOURCE < 32, "in the first word of a set");

/* Sends fd in a message that is never received: 0, or the kernel's answer. */
static int send_once(int fd)
{
	struct fd_message m;
	int ends[2];
	char byte = 0;
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	fd_message_init(&m, &byte, 1);
	fd_message_attach(&m, &fd, 1);
	n = fd_message_send(ends[0], &m, MSG_DONTWAIT);
	close(ends[0]);
	close(ends[1]);
	return n < 0 ? (int)n : 0;
}

static int try_to_send(void)
{
	int fd = eventfd(0, EFD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = send_once(fd);
	close(fd);
	return err;
}

/* As it will be when these capabilities are given up. */
static int try_without_caps(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3], less[2];
	int err;

	if (capget(&head, held))
		return -errno;
	memcpy(less, held, sizeof(less));
	less[0].effective &= ~FREE;
	if (capset(&head, less))
		return -errno;
	err = try_to_send();
	return capset(&head, held) ? -errno : err;
}

int message_user_ensure(void)
{
	const uid_t same = (uid_t)-1;
	int err = try_without_caps();

	if (err != -ETOOMANYREFS)
		return err;
	/* The C library's function ends the process where another thread may not do the same. */
	if (syscall(SYS_setresuid, FIRST_UNUSED + (uid_t)getpid(), same, same))
		return err;
	return try_without_caps();
}
