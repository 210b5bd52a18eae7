/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where debug files are looked for, and what another user may plant there. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/elf/debug_name.h"
#include "src/foreign/debug_files.h"
#include "tests/unit/foreign_world.h"

/* ---- debug files ---- */

static size_t debug_files_of(struct world *w, const char *link, int fds[DEBUG_FILES_MAX])
{
	struct debug_name name = { .crc = 1 };
	char binary[128];
	struct stat st;
	size_t nr;

	snprintf(binary, sizeof(binary), "%s/binary", w->dir);
	assert_int_equal(stat(binary, &st), 0);
	snprintf(name.link, sizeof(name.link), "%s", link);
	nr = foreign_open_debug(0, binary, &st, &name, fds);
	for (size_t i = 0; i < nr; i++)
		close(fds[i]);
	return nr;
}

static void test_debug_link_to_a_device(void **state)
{
	struct world *w = *state;
	int fds[DEBUG_FILES_MAX], events;

	assert_int_equal(mkdir(in(w, "dev"), 0700), 0);
	events = watch(make_device(w, "dev/null"));
	make_file(w, "binary", "x");
	assert_int_equal(symlink("dev", in(w, ".debug")), 0);
	assert_int_equal(debug_files_of(w, "null", fds), 0);
	assert_int_equal(symlink("dev/null", in(w, "null")), 0);
	assert_int_equal(debug_files_of(w, "null", fds), 0);
	assert_int_equal(unlink(in(w, "null")), 0);
	assert_int_equal(link(in(w, "dev/null"), strcat(strcpy((char[128]){ 0 }, w->dir), "/null")),
			 0);
	assert_int_equal(debug_files_of(w, "null", fds), 0);
	assert_false(was_opened(events));
}

static void test_debug_link(void **state)
{
	struct world *w = *state;
	int fds[DEBUG_FILES_MAX];

	make_file(w, "binary", "x");
	make_file(w, "beside", "x");
	assert_int_equal(mkdir(in(w, ".debug"), 0700), 0);
	make_file(w, ".debug/beside", "y");
	assert_int_equal(debug_files_of(w, "beside", fds), 2);
	assert_int_equal(debug_files_of(w, "../binary", fds), 0);
	assert_int_equal(debug_files_of(w, "", fds), 0);
	if (geteuid() == 0) {		/* of neither root nor the owner of the binary */
		assert_int_equal(chown(in(w, "beside"), 12345, 12345), 0);
		assert_int_equal(debug_files_of(w, "beside", fds), 1);
	}
}

/* A user may mount /etc/shadow beside his binary, in a namespace of his own. */
static void test_debug_link_to_what_only_root_may_read(void **state)
{
	struct world *w = *state;
	int fds[DEBUG_FILES_MAX];

	if (geteuid() != 0)
		skip();
	make_file(w, "binary", "x");
	make_file(w, "beside", "x");
	assert_int_equal(chown(in(w, "binary"), 12345, 12345), 0);
	assert_int_equal(debug_files_of(w, "beside", fds), 1);
	assert_int_equal(chmod(in(w, "beside"), 0640), 0);
	assert_int_equal(debug_files_of(w, "beside", fds), 0);
	assert_int_equal(chown(in(w, "beside"), 12345, 12345), 0);
	assert_int_equal(debug_files_of(w, "beside", fds), 1);
}

/* Another file at the path of the binary: what lies beside it is not for the binary. */
static void test_debug_link_beside_another_file(void **state)
{
	struct debug_name name = { .link = "beside", .crc = 1 };
	struct world *w = *state;
	int fds[DEBUG_FILES_MAX];
	struct stat st;

	make_file(w, "binary", "x");
	make_file(w, "beside", "x");
	assert_int_equal(stat("/bin/sh", &st), 0);
	assert_int_equal(foreign_open_debug(0, in(w, "binary"), &st, &name, fds), 0);
}

/* ---- debug files of processes with another root directory ---- */

#define DEBUG_DIR "usr/lib/debug/.build-id/ab"

/* Makes a binary and a debug file of these owners, for a root directory that is w->dir. */
static int make_debug_file(struct world *w, uid_t owner, uid_t debug_owner)
{
	char command[256];

	make_file(w, "binary", "x");
	snprintf(command, sizeof(command), "mkdir -p %s/" DEBUG_DIR, w->dir);
	if (system(command))
		return -1;
	make_file(w, DEBUG_DIR "/cd.debug", "x");
	return chown(in(w, "binary"), owner, owner) ||
			       chown(in(w, DEBUG_DIR "/cd.debug"), debug_owner, debug_owner)
		       ? -1
		       : 0;
}

/* The number of files that are found by build-id; 100: there can be no such process here. */
static int search_in_root(struct world *w)
{
	const struct debug_name name = { .build_id = { 0xab, 0xcd }, .build_id_len = 2 };
	pid_t pid = live_in(w->dir);
	int fds[DEBUG_FILES_MAX];
	struct stat st;
	size_t nr;

	if (pid < 0 || stat(in(w, "binary"), &st))
		return 100;
	nr = foreign_open_debug(pid, "/binary", &st, &name, fds);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (size_t i = 0; i < nr; i++)
		close(fds[i]);
	return (int)nr;
}

/* Root in a container without rights is another user here, and owns what is installed there. */
static void test_debug_file_in_a_container(void **state)
{
	struct world *w = *state;

	if (geteuid() || make_debug_file(w, 100000, 100000) || search_in_root(w) == 100)
		skip();
	assert_int_equal(search_in_root(w), 1);
	assert_int_equal(make_debug_file(w, 100000, 0), 0);
	assert_int_equal(search_in_root(w), 1);
	assert_int_equal(make_debug_file(w, 100000, 100001), 0);
	assert_int_equal(search_in_root(w), 0);
	assert_int_equal(make_debug_file(w, 0, 100000), 0);
	assert_int_equal(search_in_root(w), 0);
}

static int search_mounted(struct world *w)
{
	if (make_debug_file(w, 0, 0) || mount("none", in(w, "usr"), "tmpfs", 0, NULL) ||
	    make_debug_file(w, 0, 0))
		return 255;
	return search_in_root(w);
}

/* For root's binary, a process has mounted a file that says that it is root's. */
static void test_debug_file_that_is_mounted(void **state)
{
	int nr = with_mounts(search_mounted, *state);

	if (geteuid() || nr < 0 || nr == 100)
		skip();
	assert_int_equal(nr, 0);
}

/* ---- places of debug files ---- */

static int begin(void **state)
{
	*state = test_calloc(1, sizeof(struct rooted));
	rooted_begin(*state);
	return 0;
}

static int end(void **state)
{
	rooted_end(*state);
	test_free(*state);
	return 0;
}

static void expect_debug(struct rooted *b, const char *path, const char *want)
{
	const struct debug_name name = { .build_id = { 0xab, 0xcd }, .build_id_len = 2,
					 .link = "x.debug" };
	char found[256] = "", text[32];
	int fds[DEBUG_FILES_MAX];
	size_t nr = foreign_open_debug(b->pid, path, &b->binary, &name, fds);

	for (size_t i = 0; i < nr; i++) {
		memset(text, 0, sizeof(text));
		assert_true(read(fds[i], text, sizeof(text) - 1) > 0);
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s ", text);
		close(fds[i]);
	}
	assert_string_equal(found, want);
}

/* gdb's order. Without the file by build-id the last of them has room as well. */
static void test_order_of_debug_files(void **state)
{
	struct rooted *b = *state;
	char new[128];

	if (b->pid < 0)
		skip();
	assert_int_equal(mkdir(in(b->w, "app/.debug"), 0755), 0);
	make_file(b->w, "usr/lib/debug/app/x.debug", "global");
	make_file(b->w, "app/.debug/x.debug", "below");
	make_file(b->w, "app/x.debug", "beside");
	make_file(b->w, "usr/lib/debug/.build-id/ab/cd.debug", "by-id");
	expect_debug(b, "/app/prog", "by-id beside below global ");
	/* As we see it, who are not in that root directory; ours is searched first. */
	expect_debug(b, in(b->w, "app/prog"), "beside below by-id global ");
	/* The binary was deleted or replaced: its path is still that of its debug file. */
	make_file(b->w, "app/new", "new");
	strcpy(new, in(b->w, "app/new"));
	assert_int_equal(rename(new, in(b->w, "app/prog")), 0);
	expect_debug(b, "/app/prog", "by-id beside below global ");
	expect_debug(b, "prog", "by-id ");
	expect_debug(b, NULL, "by-id ");
}

/* Debug files of packages that were built before /lib became a link to /usr/lib. */
static void test_merged_directories(void **state)
{
	struct rooted *b = *state;
	char command[256];

	if (b->pid < 0)
		skip();
	snprintf(command, sizeof(command),
		 "cd %s/usr/lib/debug && mkdir -p lib/multi usr/bin usr/lib64 library", b->w->dir);
	assert_int_equal(system(command), 0);
	make_file(b->w, "usr/lib/debug/lib/multi/x.debug", "lib");
	make_file(b->w, "usr/lib/debug/usr/bin/x.debug", "bin");
	make_file(b->w, "usr/lib/debug/library/x.debug", "library");
	expect_debug(b, "/usr/lib/multi/libx.so", "lib ");
	expect_debug(b, "/lib/multi/libx.so", "lib ");
	expect_debug(b, "/bin/x", "bin ");
	expect_debug(b, "/usr/bin/x", "bin ");
	expect_debug(b, "/usr/library/x", "");
}

/* The binary itself and a second name of a file are no candidates. */
static void test_debug_files_once(void **state)
{
	struct rooted *b = *state;
	char other[128];

	if (b->pid < 0)
		skip();
	strcpy(other, in(b->w, "app/prog"));
	assert_int_equal(link(other, in(b->w, "app/x.debug")), 0);
	make_file(b->w, "usr/lib/debug/app/x.debug", "one");
	assert_int_equal(symlink("../../app/x.debug",
				 in(b->w, "usr/lib/debug/.build-id/ab/cd.debug")), 0);
	expect_debug(b, "/app/prog", "one ");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define B(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(test_debug_link_to_a_device),
		T(test_debug_link),
		T(test_debug_link_to_what_only_root_may_read),
		T(test_debug_link_beside_another_file),
		T(test_debug_file_in_a_container),
		T(test_debug_file_that_is_mounted),
		B(test_order_of_debug_files),
		B(test_merged_directories),
		B(test_debug_files_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
