/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/proc/pid_namespace.h"
#include "src/proc/process_tasks.h"
#include "src/proc/procfs.h"
#include "src/report/report_text.h"

static int check_text(const char *status)
{
	char path[] = "/tmp/probee-status.XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, status, strlen(status)), strlen(status));
	close(fd);
	err = pid_namespace_check_proc(path);
	unlink(path);
	return err;
}

static void test_whose_proc(void **state)
{
	(void)state;
	assert_int_equal(check_text("Name:\ta\nNSpid:\t17\nNSpgid:\t17\n"), 0);
	assert_int_equal(check_text("Name:\ta\nNSpid:\t90017\t17\nNSpgid:\t90017\t17\n"), -EXDEV);
	assert_int_equal(check_text("Name:\ta\nNSpid:\t90017\t17\t1\n"), -EXDEV);
	assert_int_equal(check_text("Name:\ta\nPid:\t17\n"), 0);		/* no namespaces in this kernel */
	assert_int_equal(check_text("Name:\ta\nNSpid:\t\nNSpgid:\t17\t17\n"), -EXDEV);
	assert_int_equal(pid_namespace_check_proc("/proc/self/status"), 0);
	assert_int_equal(pid_namespace_check_proc("/proc/none/status"), -ENOENT);
}

static void test_own(void **state)
{
	uint64_t inode = pid_namespace_inode();
	char want[64], link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	(void)state;
	assert_true(n > 0);
	link[n] = 0;
	snprintf(want, sizeof(want), "pid:[%llu]", (unsigned long long)inode);
	assert_string_equal(link, want);
	assert_int_equal(pid_namespace_is_inner(), strcmp(link, "pid:[4026531836]") != 0);
	assert_int_equal(pid_namespace_check(), 0);
}

/* A child that is the first process of a namespace; -1: that is not allowed here. */
static pid_t first_of_another(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		return -1;
	pid = fork();
	if (!pid) {
		alarm(30);
		for (;;)
			pause();
	}
	return pid;
}

/* In a process of its own: its later children would all be in that namespace. */
static void test_numbers_below(void **state)
{
	pid_t middle = fork();
	int status;

	(void)state;
	if (!middle) {
		struct proc_status s;
		pid_t pid = first_of_another();
		int wrong = 0;

		if (pid < 0)
			_exit(77);
		wrong |= procfs_status(pid, &s) || s.tgid != (uint32_t)pid || s.ns_depth != 1 || s.ns_tgid != 1 || s.ns_tid != 1;
		wrong |= procfs_status(getpid(), &s) || s.ns_depth != 0 || s.ns_tgid != (uint32_t)getpid() ? 2 : 0;
		wrong |= process_tasks_child(getpid(), 1, 1) != pid ? 4 : 0;
		wrong |= process_tasks_child(getpid(), (uint32_t)pid, 0) != pid ? 8 : 0;
		wrong |= process_tasks_child(getpid(), 2, 1) || process_tasks_child(getpid(), 1, 2) ? 16 : 0;
		wrong |= pid_namespace_check() != -ENOTSUP ? 32 : 0;	/* our next child would be in there, too */
		kill(pid, SIGKILL);
		_exit(wrong);
	}
	assert_int_equal(waitpid(middle, &status, 0), middle);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static const char *outside(const char *words)
{
	static char text[256];

	report_outside_text(words, text, sizeof(text));
	return text;
}

static void test_outside(void **state)
{
	(void)state;
	assert_string_equal(outside(NULL), "");
	assert_string_equal(outside(""), "");
	assert_string_equal(outside("samples=3"), "");
	assert_string_equal(outside("threads=x"), "");
	assert_string_equal(outside("threads=1234"),
			    "from inside a PID namespace: 1,234 threads of the machine are outside of it and left out");
	assert_string_equal(outside("threads=5 samples=60000"),
			    "from inside a PID namespace: 5 threads of the machine are outside of it and left out, with 60,000 samples");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose_proc),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_numbers_below),
		cmocka_unit_test(test_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
