/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files beside their names, the process that puts them there, and what it may not replace. */
#include "src/output/output_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/io.h"
#include "src/output/output_file.h"
#include "src/output/output_guard.h"
#include "tests/unit/stderr_text.h"

static char dir[64];

/* An earlier output begins with "own". */
static enum output_seen look(int fd)
{
	char head[3] = "";

	return io_pread(fd, head, 3, 0) == 3 && !memcmp(head, "own", 3) ? OUTPUT_SEEN_OWN
									: OUTPUT_SEEN_OTHER;
}

static const struct output_kind kind = { .noun = "thing", .look = look, .keeps_old = true };
static const struct output_kind secret = { .noun = "thing", .look = look, .is_private = true };

static const char *in_dir(const char *name)
{
	static char paths[4][128];
	static unsigned at;
	char *path = paths[at++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static bool has(const char *name, const char *text)
{
	char *got = NULL;
	bool same = io_read_file(in_dir(name), &got, 4096) >= 0 && !strcmp(got, text);

	free(got);
	return same;
}

static int nr_files(void)
{
	DIR *d = opendir(dir);
	int n = -2;		/* . and .. */

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/probee-files-XXXXXX");
	umask(022);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static struct output_files *one(const char *name, const struct output_kind *k, bool force,
				bool guarded)
{
	struct output_files *fs = output_files_new(force);

	assert_non_null(fs);
	assert_int_equal(output_files_add(fs, in_dir(name), k, NULL), 0);
	if (guarded)
		output_files_guard(fs);
	return fs;
}

static void write_text(struct output_files *fs, size_t i, const char *text)
{
	int fd = output_files_open(fs, i);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* ---- In place only when it is complete, with a guard and without ---- */

static void check_life(bool guarded)
{
	struct output_files *fs;
	struct stat st;

	put("a", "own 1");
	fs = one("a", &kind, false, guarded);
	assert_int_equal(nr_files(), 1);
	write_text(fs, 0, "own 2");
	assert_int_equal(nr_files(), 2);
	assert_true(has("a", "own 1"));
	assert_int_equal(output_files_publish(fs, 0), 0);
	write_text(fs, 0, " and more");
	assert_true(has("a", "own 2 and more"));
	assert_true(has("a.old", "own 1"));
	assert_int_equal(stat(in_dir("a"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(output_files_close(fs, 0), 0);

	write_text(fs, 0, "own, never published");	/* once more, as --follow does */
	output_files_free(fs);
	assert_true(has("a", "own 2 and more"));
	assert_int_equal(nr_files(), 2);
}

static void takes_its_place_when_it_is_complete(void **state)
{
	(void)state;
	check_life(false);
}

static void the_guard_does_the_same(void **state)
{
	(void)state;
	check_life(true);
}

static void a_private_one_is_for_nobody_else(void **state)
{
	struct output_files *fs = one("a", &secret, false, true);
	struct stat st;

	(void)state;
	umask(0);
	write_text(fs, 0, "own");
	assert_int_equal(output_files_publish(fs, 0), 0);
	assert_int_equal(stat(in_dir("a"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	output_files_free(fs);
}

/* ---- What is refused ---- */

static void refused(const char *name, bool force, int want, const char *why)
{
	for (int guarded = 0; guarded < 2; guarded++) {
		struct output_files *fs = one(name, &kind, force, guarded);
		const char *said;
		int fd;

		stderr_begin();
		fd = output_files_open(fs, 0);
		said = stderr_end();
		assert_int_equal(fd, want);
		assert_non_null(strstr(said, why));
		assert_non_null(strstr(said, "Try: "));
		output_files_free(fs);
	}
}

static void what_stands_there_is_looked_at(void **state)
{
	struct output_files *fs;

	(void)state;
	put("text", "something");
	put("twin", "own");
	assert_int_equal(link(in_dir("twin"), in_dir("twin2")), 0);
	assert_int_equal(symlink("text", in_dir("link")), 0);
	assert_int_equal(symlink("nowhere", in_dir("dangling")), 0);
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	assert_int_equal(mkdir(in_dir("dir"), 0700), 0);
	refused("text", false, -EEXIST, "has other contents and is no thing");
	refused("twin", true, -EEXIST, "hard links");
	refused("link", true, -ELOOP, "symbolic link");
	refused("dangling", true, -ELOOP, "symbolic link");
	refused("fifo", true, -ENXIO, "nobody reads");
	refused("dir", true, -EISDIR, "directory");
	refused("dir/", true, -EISDIR, "directory");
	refused("dir/..", true, -EISDIR, "directory");
	put("a", "own");
	put("a.old", "something");
	refused("a", false, -EEXIST, "stands there already");

	fs = one("text", &kind, true, true);
	write_text(fs, 0, "own");
	assert_int_equal(output_files_publish(fs, 0), 0);
	assert_true(has("text", "own"));
	output_files_free(fs);
	assert_int_not_equal(access(in_dir("text.old"), F_OK), 0);
}

/* What comes into the way after the file was opened is as safe as what stood there before. */
static void what_comes_later_is_looked_at_too(void **state)
{
	struct output_files *fs = one("a", &kind, false, true);
	int err;

	(void)state;
	write_text(fs, 0, "own");
	put("a", "something");
	stderr_begin();
	err = output_files_publish(fs, 0);
	stderr_end();
	assert_int_equal(err, -EEXIST);
	assert_int_equal(unlink(in_dir("a")), 0);
	assert_int_equal(symlink("elsewhere", in_dir("a")), 0);
	stderr_begin();
	err = output_files_publish(fs, 0);
	stderr_end();
	assert_int_equal(err, -EEXIST);
	assert_int_not_equal(access(in_dir("elsewhere"), F_OK), 0);
	assert_int_equal(unlink(in_dir("a")), 0);
	assert_int_equal(output_files_publish(fs, 0), 0);
	assert_true(has("a", "own"));
	output_files_free(fs);
}

static void one_name_is_for_one_output(void **state)
{
	struct output_files *fs = one("a", &kind, false, true);
	char same[160];
	int fd;

	(void)state;
	output_files_free(fs);
	fs = output_files_new(false);
	snprintf(same, sizeof(same), "%s/./a", dir);
	assert_int_equal(output_files_add(fs, in_dir("a"), &kind, NULL), 0);
	assert_int_equal(output_files_add(fs, same, &kind, NULL), 1);
	output_files_guard(fs);
	assert_true(output_files_open(fs, 0) >= 0);
	stderr_begin();
	fd = output_files_open(fs, 1);
	assert_non_null(strstr(stderr_end(), "two outputs"));
	assert_int_equal(fd, -EINVAL);
	output_files_free(fs);
	assert_int_equal(nr_files(), 0);
}

/* ---- Without rights, and killed ---- */

static void drop_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	syscall(SYS_capset, &head, none);
}

/* In a child, so that this process keeps its rights. Returns its exit status. */
static int without_rights(const char *name, bool guarded)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		struct output_files *fs = one(name, &kind, false, guarded);
		bool ok;

		drop_rights();
		ok = output_files_open(fs, 0) >= 0 && !output_files_publish(fs, 0);
		ok = ok && !output_files_close(fs, 0) && output_files_open(fs, 0) >= 0;
		output_files_free(fs);
		_exit(!ok);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static void the_guard_keeps_the_rights(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("needs root\n");
		skip();
	}
	assert_int_equal(chown(dir, 54321, 54321), 0);
	stderr_begin();
	assert_int_equal(without_rights("a", false), 1);
	stderr_end();
	assert_int_equal(without_rights("b", true), 0);
	assert_int_equal(nr_files(), 1);
}

static void kill_leaves_nothing(void **state)
{
	int fds[2], n = -1;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		struct output_files *fs = one("a", &kind, false, true);

		setpgid(0, 0);
		if (output_files_open(fs, 0) < 0 || write(fds[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(nr_files(), 1);
	kill(-pid, SIGINT);
	kill(-pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 500 && (n = nr_files()); i++)
		usleep(10000);
	assert_int_equal(n, 0);
	close(fds[0]);
	close(fds[1]);
}

/* ---- A guard that is stopped, as by SIGSTOP or by its file system ---- */

static int with_a_stopped_guard(void)
{
	struct output_file f = { .path = in_dir("a"), .kind = &kind, .fd = -1, .place.dir = -1 };
	struct output_guard g = { .socket = -1 };
	struct output_user user;
	struct output_reply reply;
	pid_t pid;
	int err;

	output_user_now(&user);
	if (output_guard_start(&g, &f, 1, &user))
		return 1;
	pid = g.pid;
	kill(pid, SIGSTOP);
	g.answer_ns = 200 * 1000 * 1000;
	g.end_ns = 200 * 1000 * 1000;
	output_guard_ask(&g, OUTPUT_OPEN, 0, &reply);
	err = reply.err != -ETIMEDOUT ? 2 : 0;
	output_guard_ask(&g, OUTPUT_OPEN, 0, &reply);
	err = reply.err != -ETIMEDOUT ? 3 : err;
	err = output_guard_end(&g) != -ETIMEDOUT ? 4 : err;
	kill(pid, SIGCONT);	/* now it sees the end, and cleans up */
	return waitpid(pid, NULL, 0) == pid ? err : 5;
}

static void a_stopped_guard_is_left_behind(void **state)
{
	pid_t pid = fork(), ended = 0;
	int status = -1;

	(void)state;
	if (!pid)
		_exit(with_a_stopped_guard());
	for (int i = 0; i < 2000 && !ended; i++) {
		usleep(10000);
		ended = waitpid(pid, &status, WNOHANG);
	}
	if (!ended)
		kill(pid, SIGKILL);
	assert_int_equal(ended, pid);
	assert_int_equal(status, 0);
	assert_int_equal(nr_files(), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_its_place_when_it_is_complete),
		TEST(the_guard_does_the_same),
		TEST(a_private_one_is_for_nobody_else),
		TEST(what_stands_there_is_looked_at),
		TEST(what_comes_later_is_looked_at_too),
		TEST(one_name_is_for_one_output),
		TEST(the_guard_keeps_the_rights),
		TEST(a_stopped_guard_is_left_behind),
		TEST(kill_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
