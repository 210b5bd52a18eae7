/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/stack_room.h"

#define DEEP (1u << 20)

/* Writes to a mebibyte of stack. */
static int use_stack(int argc, char **argv)
{
	volatile char room[DEEP];

	for (size_t i = 0; i < DEEP; i += 1024)
		room[i] = (char)argc;
	return argc + room[DEEP - 1024] + (argv != NULL);
}

static void *use_in_thread(void *arg)
{
	*(int *)arg = use_stack(20, NULL);
	return NULL;
}

static int use_both(int argc, char **argv)
{
	int got = 0;
	pthread_t t;

	if (pthread_create(&t, NULL, use_in_thread, &got) || pthread_join(t, NULL))
		return 99;
	return use_stack(argc, argv) + got;
}

/* A process under such a limit; its exit status, or minus the signal that has ended it. */
static int run_under(rlim_t bytes)
{
	const struct rlimit lim = { bytes, bytes };
	int status;
	pid_t pid = fork();

	if (!pid) {
		char *argv[] = { NULL };

		if (setrlimit(RLIMIT_STACK, &lim))
			_exit(98);
		_exit(stack_room_run(use_both, 1, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_limits(void **state)
{
	static const rlim_t limits[] = { 16 << 10, 48 << 10, 512 << 10, 8 << 20, RLIM_INFINITY };

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		assert_int_equal(run_under(limits[i]), 1 + 1 + 1 + 20 + 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
