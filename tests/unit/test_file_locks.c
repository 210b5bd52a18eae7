/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/proc/file_locks.h"

static struct file_locks read_text(const char *text)
{
	char path[] = "/tmp/probee-locks-XXXXXX";
	struct file_locks l = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(file_locks_read(&l, path), 0);
	unlink(path);
	return l;
}

static void finds_the_lock_in_the_way(void **state)
{
	struct file_locks l = read_text("1: POSIX  ADVISORY  WRITE 100 fd:00:2531452 0 EOF\n"
					"1: -> POSIX  ADVISORY  WRITE 101 fd:00:2531452 0 EOF\n"
					"1:  -> POSIX  ADVISORY  READ  102 fd:00:2531452 0 EOF\n"
					"2: FLOCK  ADVISORY  WRITE 200 00:1b:77 0 EOF\n"
					"2: -> FLOCK  ADVISORY  WRITE 101 00:1b:77 0 EOF\n"
					"3: OFDLCK ADVISORY  READ  -1 fd:00:9 0 EOF\n"
					"3: -> POSIX  ADVISORY  WRITE 300 fd:00:9 0 EOF\n");

	(void)state;
	assert_int_equal(l.nr, 3);
	assert_int_equal(file_locks_holder(&l, 101, 2531452), 100);
	assert_int_equal(file_locks_holder(&l, 102, 2531452), 100);
	assert_int_equal(file_locks_holder(&l, 101, 77), 200);
	assert_int_equal(file_locks_holder(&l, 102, 77), 0);
	assert_int_equal(file_locks_holder(&l, 300, 9), 0);
	file_locks_release(&l);
}

static void survives_nonsense(void **state)
{
	struct file_locks l = read_text("\n1:\n: -> \n2: -> POSIX ADVISORY WRITE 7 fd:00:1 0 EOF\nx\n3: POSIX\n"
					"4: A B C 99999999999999999999 1:2:3\n4: -> A B C -5 1:2:3");

	(void)state;
	assert_int_equal(l.nr, 0);
	assert_int_equal(file_locks_read(&l, "/does/not/exist") < 0, 1);
	assert_int_equal(file_locks_holder(&l, 0, 0), 0);
	file_locks_release(&l);
}

/* As the kernel writes it. */
static void reads_the_kernels_own(void **state)
{
	char path[] = "/tmp/probee-locks-XXXXXX";
	int fd = mkstemp(path);
	struct file_locks l = { 0 };
	struct stat st;
	uint32_t holder = 0;
	pid_t child;

	(void)state;
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(fstat(fd, &st), 0);
	child = fork();
	if (!child)
		_exit(flock(open(path, O_RDWR), LOCK_EX));
	for (int i = 0; i < 200 && !holder; i++) {
		usleep(10000);
		assert_int_equal(file_locks_read(&l, NULL), 0);
		holder = file_locks_holder(&l, (uint32_t)child, st.st_ino);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(path);
	close(fd);
	file_locks_release(&l);
	assert_int_equal(holder, getpid());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_lock_in_the_way), cmocka_unit_test(survives_nonsense),
		cmocka_unit_test(reads_the_kernels_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
