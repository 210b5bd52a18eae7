/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors are sent where other processes of the user have too many in messages. The kernel is
 * the judge: it refuses to send (ETOOMANYREFS), and /proc names the users.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/capability.h>

#include "src/rights/capabilities.h"
#include "src/rights/message_user.h"

#define MAY_OPEN 32
#define SENT 200

static int null_fd, crowd[2];

/* Sends nr descriptors, and none of them is received: 0 or -errno. */
static int send_many(int sock, size_t nr)
{
	union {
		char buf[CMSG_SPACE(SENT * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	char byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.buf,
			    .msg_controllen = CMSG_SPACE(nr * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(nr * sizeof(int));
	for (size_t i = 0; i < nr; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), &null_fd, sizeof(int));
	return sendmsg(sock, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

/* A recording, too, may have few files open. */
static int few_files(void)
{
	return setrlimit(RLIMIT_NOFILE, &(struct rlimit){ MAY_OPEN, MAY_OPEN });
}

static bool can_send(void)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends))
		return false;
	err = send_many(ends[0], 1);
	close(ends[0]);
	close(ends[1]);
	return !err;
}

static int shed(const int *caps, size_t nr)
{
	return few_files() ? -errno : rights_keep(caps, nr);
}

/* Runs fn in a child: it gives up rights. 0: all was as it should be. */
static int in_child(int (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int without_it(void)
{
	if (shed(NULL, 0))
		return 1;
	if (can_send())
		return 2;
	return message_user_ensure() == -ETOOMANYREFS && !getuid() ? 0 : 3;
}

static int with_it(void)
{
	uid_t real, effective, saved;
	int setuid_alone[] = { CAP_SETUID };

	if (shed(setuid_alone, 1) || can_send())
		return 1;
	if (message_user_ensure() || !can_send())
		return 2;
	if (getresuid(&real, &effective, &saved) || !real || effective || saved)
		return 3;
	return capabilities_effective() == CAP_BIT(CAP_SETUID) ? 0 : 4;
}

/* The capabilities that are free of the limit are not given up yet, but will be. */
static int before_it_sheds(void)
{
	if (few_files() || message_user_ensure())
		return 1;
	if (shed(NULL, 0))
		return 2;
	return can_send() && getuid() ? 0 : 3;
}

static int where_there_is_room(void)
{
	if (message_user_ensure())
		return 1;
	return getuid() ? 2 : 0;
}

static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(in_child(without_it), 0);
}

static void test_another_user(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_it), 0);
	assert_int_equal(in_child(before_it_sheds), 0);
}

static void test_same_user(void **state)
{
	(void)state;
	assert_int_equal(in_child(where_there_is_room), 0);
}

static int fill(void **state)
{
	(void)state;
	null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return null_fd < 0 || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, crowd) ||
	       send_many(crowd[0], SENT);
}

static int drop(void **state)
{
	(void)state;
	close(crowd[0]);
	close(crowd[1]);
	close(null_fd);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_refused, fill, drop),
		cmocka_unit_test_setup_teardown(test_another_user, fill, drop),
		cmocka_unit_test(test_same_user),
	};

	if (geteuid()) {
		print_message("SKIP: needs root: only root may take another user\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
