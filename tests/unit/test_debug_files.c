/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where debug files and the files that they name are looked for, and what another user may plant
 * there.
 */
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
#include "src/foreign/sealed_file.h"
#include "tests/unit/foreign_world.h"
#include "tests/unit/helper_processes.h"

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

/* ---- files that are named in debug information ---- */

/* A process with the root directory w->dir; a binary of this owner in /app. */
struct beside_world {
	struct world *w;
	pid_t pid;
	struct stat binary;
	struct helper_processes helpers;
	struct beside_names names;
	int from;			/* sealed */
};

static int make_tree(void **state)
{
	struct beside_world *b = test_calloc(1, sizeof(*b));
	char command[256];
	void *w;

	if (setup(&w))
		return -1;
	*state = b;
	b->w = w;
	b->from = -1;
	snprintf(command, sizeof(command),
		 "cd %s && chmod 755 . && mkdir -p app build/sub usr/lib/debug/.dwz "
		 "usr/lib/debug/.build-id/ab usr/lib/debug/app",
		 b->w->dir);
	assert_int_equal(system(command), 0);
	make_file(b->w, "app/prog", "binary");
	assert_int_equal(stat(in(b->w, "app/prog"), &b->binary), 0);
	helper_processes_start(&b->helpers);
	b->pid = live_in(b->w->dir);
	return 0;
}

static int end_tree(void **state)
{
	struct beside_world *b = *state;
	void *w = b->w;

	if (b->pid > 0) {
		kill(b->pid, SIGKILL);
		waitpid(b->pid, NULL, 0);
	}
	if (b->from >= 0)
		close(b->from);
	helper_processes_end(&b->helpers);
	test_free(b);
	return teardown(&w);
}

/* The names count from this file from now on. */
static void name_from(struct beside_world *b, const char *file)
{
	int fd = open(in(b->w, file), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	if (b->from >= 0)
		close(b->from);
	b->from = sealed_file_new(fd);
	assert_true(b->from >= 0);
	close(fd);
}

static void unit(struct beside_world *b, const char *name, const char *dir)
{
	assert_int_equal(beside_names_add(&b->names, BESIDE_DWO, name, dir, NULL, 0), 0);
}

/* Appends "number:contents " of a file that was found. */
static void describe(char *out, size_t size, const struct beside_file *file)
{
	char text[32] = "";
	int fd = sealed_file_open(file->fd);

	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	close(file->fd);
	snprintf(out + strlen(out), size - strlen(out), "%u:%s ", file->name, text);
}

/* Asks for all names, and forgets them. */
static void expect(struct beside_world *b, const char *want)
{
	const struct beside_query q = {
		.pid = b->pid, .path = "/app/prog", .st = &b->binary, .from = b->from,
		.names = &b->names,
	};
	struct beside_file files[BESIDE_MAX];
	size_t nr = file_opener_beside(b->helpers.opener, &q, files);
	char found[1024] = "";

	for (size_t i = 0; i < nr; i++)
		describe(found, sizeof(found), &files[i]);
	assert_string_equal(found, want);
	memset(&b->names, 0, sizeof(b->names));
}

static void test_units(void **state)
{
	struct beside_world *b = *state;

	if (b->pid < 0)
		skip();
	make_file(b->w, "build/main.dwo", "main");
	make_file(b->w, "build/sub/other.dwo", "other");
	make_file(b->w, "app/moved.dwo", "moved");
	make_file(b->w, "usr/lib/debug/kept.dwo", "kept");
	unit(b, "main.dwo", "/build");
	unit(b, "/build/main.dwo", "/nowhere");
	unit(b, "sub/../sub/other.dwo", "/build");
	unit(b, "out/moved.dwo", "/gone");
	unit(b, "kept.dwo", "/gone");
	unit(b, "missing.dwo", "/build");
	unit(b, "", "");
	expect(b, "0:main 1:main 2:other 3:moved 4:kept ");
	/* The directory of compilation comes first. */
	make_file(b->w, "app/main.dwo", "copy");
	unit(b, "main.dwo", "/build");
	unit(b, "main.dwo", ".");
	expect(b, "0:main 1:copy ");
}

/* A name means the root directory of the process, whatever links and dots it goes through. */
static void test_units_stay_in_the_root(void **state)
{
	struct beside_world *b = *state;
	char outside[64] = "/tmp/probee-outside.XXXXXX", up[128];
	int fd = mkstemp(outside);

	assert_true(fd >= 0 && !fchmod(fd, 0644));
	close(fd);
	if (b->pid < 0)
		skip();
	assert_int_equal(symlink(outside, in(b->w, "build/link.dwo")), 0);
	unit(b, outside, "/build");
	unit(b, outside + 1, "/../../../..");
	snprintf(up, sizeof(up), "../../../..%s", outside);
	unit(b, up, "/usr/lib");
	unit(b, up, "/usr/lib/debug");
	unit(b, "link.dwo", "/build");
	unit(b, "passwd", "/proc/self/root/etc");
	expect(b, "");
	assert_int_equal(mkdir(in(b->w, "tmp"), 0755), 0);
	make_file(b->w, outside + 1, "inside");
	unit(b, "link.dwo", "/build");
	expect(b, "0:inside ");
	assert_int_equal(unlink(outside), 0);
}

/* What is not a plain file of root's or of the owner's is not opened. */
static void test_units_of_others(void **state)
{
	struct beside_world *b = *state;
	int events = watch(make_device(b->w, "build/device.dwo"));

	if (b->pid < 0 || geteuid())
		skip();
	b->binary.st_uid = 12345;
	assert_int_equal(mkfifo(in(b->w, "build/fifo.dwo"), 0666), 0);
	make_file(b->w, "build/other.dwo", "other");
	make_file(b->w, "build/own.dwo", "own");
	make_file(b->w, "build/secret.dwo", "secret");
	assert_int_equal(chown(in(b->w, "build/other.dwo"), 12346, 12346), 0);
	assert_int_equal(chown(in(b->w, "build/own.dwo"), 12345, 12345), 0);
	assert_int_equal(chmod(in(b->w, "build/own.dwo"), 0600), 0);
	assert_int_equal(chmod(in(b->w, "build/secret.dwo"), 0600), 0);
	unit(b, "device.dwo", "/build");
	unit(b, "fifo.dwo", "/build");
	unit(b, "other.dwo", "/build");
	unit(b, "own.dwo", "/build");
	unit(b, "secret.dwo", "/build");
	unit(b, ".", "/build");
	expect(b, "3:own ");
	assert_false(was_opened(events));
	/* One on another file system, which may say of any file that it is root's. */
	b->binary.st_dev++;
	unit(b, "own.dwo", "/build");
	expect(b, "");
}

static void test_packages(void **state)
{
	struct beside_world *b = *state;

	if (b->pid < 0)
		skip();
	make_file(b->w, "usr/lib/debug/app/prog.debug", "debug");
	make_file(b->w, "usr/lib/debug/app/prog.debug.dwp", "third");
	name_from(b, "usr/lib/debug/app/prog.debug");
	beside_names_add(&b->names, BESIDE_DWP, NULL, NULL, NULL, 0);
	expect(b, "0:third ");
	make_file(b->w, "usr/lib/debug/app/prog.dwp", "second");
	beside_names_add(&b->names, BESIDE_DWP, NULL, NULL, NULL, 0);
	expect(b, "0:second ");
	make_file(b->w, "app/prog.dwp", "first");
	beside_names_add(&b->names, BESIDE_DWP, NULL, NULL, NULL, 0);
	expect(b, "0:first ");
}

static void alternative(struct beside_world *b, const char *name)
{
	assert_int_equal(beside_names_add(&b->names, BESIDE_ALT, name, NULL, "\xab\xcd", 2), 0);
}

/* Every file that may be the one with the build-id, once. */
static void test_alternatives(void **state)
{
	struct beside_world *b = *state;

	if (b->pid < 0)
		skip();
	make_file(b->w, "usr/lib/debug/app/prog.debug", "debug");
	make_file(b->w, "usr/lib/debug/.dwz/common", "common");
	make_file(b->w, "usr/lib/debug/.build-id/ab/cd.debug", "by id");
	assert_int_equal(symlink("../../app/prog.debug",
				 in(b->w, "usr/lib/debug/.build-id/ab/01.debug")), 0);
	/* A relative name counts from where the debug file is, not from a link to it. */
	name_from(b, "usr/lib/debug/.build-id/ab/01.debug");
	alternative(b, "../.dwz/common");
	expect(b, "0:common 0:by id ");
	alternative(b, "/usr/lib/debug/.dwz/common");
	alternative(b, "/build/old/.dwz/common");
	alternative(b, "/nowhere");
	expect(b, "0:common 0:by id 1:by id 1:common 2:by id ");
	/* Without the debug file its directory is unknown. */
	close(b->from);
	b->from = -1;
	alternative(b, "../.dwz/other");
	expect(b, "0:by id ");
}

/* ---- places of debug files ---- */

static void expect_debug(struct beside_world *b, const char *path, const char *want)
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
	struct beside_world *b = *state;
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
	struct beside_world *b = *state;
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
	struct beside_world *b = *state;
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

/* What a parser may have been made to say. */
static void test_names_that_are_not_sound(void **state)
{
	static const struct beside_names none;
	struct beside_world *b = *state;
	struct beside_names *n = &b->names;

	assert_true(beside_names_are_sound(&none));
	assert_int_equal(beside_names_add(n, BESIDE_ALT, "x", NULL, "y", 1), -EINVAL);
	assert_int_equal(beside_names_add(n, BESIDE_DWO, "x", NULL, "yz", 2), -EINVAL);
	for (int i = 0; i < BESIDE_MAX; i++)
		unit(b, "app/prog", "/");
	assert_int_equal(beside_names_add(n, BESIDE_DWO, "x", NULL, NULL, 0), -ENOSPC);
	assert_true(beside_names_are_sound(n));
	n->v[3].kind = BESIDE_KINDS;
	assert_false(beside_names_are_sound(n));
	n->v[3].kind = BESIDE_DWO;
	n->v[3].name = n->text_len;
	assert_false(beside_names_are_sound(n));
	n->v[3].name = 0;
	n->text[n->text_len - 1] = 'x';
	assert_false(beside_names_are_sound(n));
	n->text[n->text_len - 1] = 0;
	n->text_len = BESIDE_TEXT_BYTES + 1;
	assert_false(beside_names_are_sound(n));
	expect(b, "");
}

/* As many as there can be, in one answer. */
static void test_many_names(void **state)
{
	struct beside_world *b = *state;
	char large[BESIDE_TEXT_BYTES], name[64], want[512] = "";

	if (b->pid < 0)
		skip();
	memset(large, 'x', sizeof(large));
	large[sizeof(large) - 1] = 0;
	assert_int_equal(beside_names_add(&b->names, BESIDE_DWO, large, NULL, NULL, 0), -ENOSPC);
	for (int i = 0; i < BESIDE_MAX; i++) {
		snprintf(name, sizeof(name), "build/%d.dwo", i);
		make_file(b->w, name, "unit");
		unit(b, name, "/");
		snprintf(want + strlen(want), sizeof(want) - strlen(want), "%d:unit ", i);
	}
	expect(b, want);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define B(f) cmocka_unit_test_setup_teardown(f, make_tree, end_tree)
	const struct CMUnitTest tests[] = {
		T(test_debug_link_to_a_device),
		T(test_debug_link),
		T(test_debug_link_to_what_only_root_may_read),
		T(test_debug_link_beside_another_file),
		T(test_debug_file_in_a_container),
		T(test_debug_file_that_is_mounted),
		B(test_units),
		B(test_units_stay_in_the_root),
		B(test_units_of_others),
		B(test_packages),
		B(test_alternatives),
		B(test_names_that_are_not_sound),
		B(test_order_of_debug_files),
		B(test_merged_directories),
		B(test_debug_files_once),
		B(test_many_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
