/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What systemd is told, by a socket of the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/agent/sd_notify.h"
#include "tests/unit/stderr_text.h"

static char path[64];

static int listen_at(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	memcpy(a.sun_path, name, len);
	if (name[0] == '@')
		a.sun_path[0] = 0;
	assert_int_equal(bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un,
								    sun_path) + len)), 0);
	return fd;
}

static const char *heard(int fd)
{
	static char text[512];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static void talk(const char *name)
{
	struct sd_notify n;
	int fd = listen_at(name);
	unsigned long long usec;

	setenv("NOTIFY_SOCKET", name, 1);
	sd_notify_open(&n);
	assert_true(n.fd >= 0);
	sd_notify_send(&n, "READY=1\nSTATUS=recording");
	assert_string_equal(heard(fd), "READY=1\nSTATUS=recording");
	sd_notify_reloading(&n);
	assert_int_equal(sscanf(heard(fd), "RELOADING=1\nMONOTONIC_USEC=%llu", &usec), 1);
	assert_true(usec > 0);
	sd_notify_close(&n);
	close(fd);
}

static void test_a_path(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/probee-notify.%d", (int)getpid());
	talk(path);
	unlink(path);
}

static void test_a_name_without_a_file(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "@probee-notify.%d", (int)getpid());
	talk(path);
}

static void test_nobody_is_told(void **state)
{
	struct sd_notify n;

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	sd_notify_open(&n);
	assert_int_equal(n.fd, -1);
	sd_notify_send(&n, "READY=1");
	setenv("NOTIFY_SOCKET", "nonsense", 1);
	stderr_begin();
	sd_notify_open(&n);
	assert_non_null(strstr(stderr_end(), "cannot be reached"));
	assert_int_equal(n.fd, -1);
}

static void test_the_watchdog(void **state)
{
	char pid[16];
	struct sd_notify n;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "@probee-watchdog.%d", (int)getpid());
	fd = listen_at(path);
	setenv("NOTIFY_SOCKET", path, 1);
	setenv("WATCHDOG_USEC", "60000000", 1);
	sd_notify_open(&n);
	assert_true(n.watchdog_ns == 60000000000ull);
	sd_notify_close(&n);
	snprintf(pid, sizeof(pid), "%d", (int)getpid() + 1);
	setenv("WATCHDOG_PID", pid, 1);
	sd_notify_open(&n);
	assert_int_equal(n.watchdog_ns, 0);
	sd_notify_close(&n);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_path),
		cmocka_unit_test(test_a_name_without_a_file),
		cmocka_unit_test(test_nobody_is_told),
		cmocka_unit_test(test_the_watchdog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
