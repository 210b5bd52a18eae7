/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/rights/message_user.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/fd_message.h"

/*
 * No account has such a number: systemd's table of users (UIDS-GIDS) gives out none from 2^31 on.
 * Two recordings have different pids.
 */
#define FIRST_UNUSED 0xf0000000u

int capget(cap_user_header_t head, cap_user_data_t data);	/* of the C library, in no header */
int capset(cap_user_header_t head, const cap_user_data_t data);

/* Who has one of these is not counted. */
#define FREE (1u << CAP_SYS_ADMIN | 1u << CAP_SYS_RESOURCE)

_Static_assert(CAP_SYS_ADMIN < 32 && CAP_SYS_RESOURCE < 32, "in the first word of a set");

/* Sends a file that is never received: 0, or the kernel's answer. */
static int try_to_send(void)
{
	int fd = eventfd(0, EFD_CLOEXEC), end;

	if (fd < 0)
		return -errno;
	end = fd_message_park(fd);
	close(fd);
	if (end < 0)
		return end;
	close(end);
	return 0;
}

/* The answer that the kernel will give when these capabilities are given up. */
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
