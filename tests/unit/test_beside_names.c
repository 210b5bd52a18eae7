/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that debug information names: where they are looked for, and what is not opened. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/elf/beside_names.h"
#include "src/foreign/kept_file.h"
#include "tests/unit/foreign_world.h"
#include "tests/unit/helper_processes.h"

struct beside_world {
	struct rooted r;
	struct helper_processes helpers;
	struct beside_names names;
	int from;			/* sealed */
};

static int begin(void **state)
{
	struct beside_world *b = test_calloc(1, sizeof(*b));

	*state = b;
	b->from = -1;
	helper_processes_start(&b->helpers);
	rooted_begin(&b->r);
	return 0;
}

static int end(void **state)
{
	struct beside_world *b = *state;

	if (b->from >= 0)
		close(b->from);
	rooted_end(&b->r);
	helper_processes_end(&b->helpers);
	test_free(b);
	return 0;
}

/* The names count from this file from now on. */
static void name_from(struct beside_world *b, const char *file)
{
	int fd = open(in(b->r.w, file), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	if (b->from >= 0)
		close(b->from);
	b->from = kept_file_new(fd);
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
	int fd = kept_file_open(file->fd);

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
		.pid = b->r.pid, .path = "/app/prog", .st = &b->r.binary, .from = b->from,
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

	if (b->r.pid < 0)
		skip();
	make_file(b->r.w, "build/main.dwo", "main");
	make_file(b->r.w, "build/sub/other.dwo", "other");
	make_file(b->r.w, "app/moved.dwo", "moved");
	make_file(b->r.w, "usr/lib/debug/kept.dwo", "kept");
	unit(b, "main.dwo", "/build");
	unit(b, "/build/main.dwo", "/nowhere");
	unit(b, "sub/../sub/other.dwo", "/build");
	unit(b, "out/moved.dwo", "/gone");
	unit(b, "kept.dwo", "/gone");
	unit(b, "missing.dwo", "/build");
	unit(b, "", "");
	expect(b, "0:main 1:main 2:other 3:moved 4:kept ");
	/* The directory of compilation comes first. */
	make_file(b->r.w, "app/main.dwo", "copy");
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
	if (b->r.pid < 0)
		skip();
	assert_int_equal(symlink(outside, in(b->r.w, "build/link.dwo")), 0);
	unit(b, outside, "/build");
	unit(b, outside + 1, "/../../../..");
	snprintf(up, sizeof(up), "../../../..%s", outside);
	unit(b, up, "/usr/lib");
	unit(b, up, "/usr/lib/debug");
	unit(b, "link.dwo", "/build");
	unit(b, "passwd", "/proc/self/root/etc");
	expect(b, "");
	assert_int_equal(mkdir(in(b->r.w, "tmp"), 0755), 0);
	make_file(b->r.w, outside + 1, "inside");
	unit(b, "link.dwo", "/build");
	expect(b, "0:inside ");
	assert_int_equal(unlink(outside), 0);
}

/* What is not a plain file of root's or of the owner's is not opened. */
static void test_units_of_others(void **state)
{
	struct beside_world *b = *state;
	int events = watch(make_device(b->r.w, "build/device.dwo"));

	if (b->r.pid < 0 || geteuid())
		skip();
	b->r.binary.st_uid = 12345;
	assert_int_equal(mkfifo(in(b->r.w, "build/fifo.dwo"), 0666), 0);
	make_file(b->r.w, "build/other.dwo", "other");
	make_file(b->r.w, "build/own.dwo", "own");
	make_file(b->r.w, "build/secret.dwo", "secret");
	assert_int_equal(chown(in(b->r.w, "build/other.dwo"), 12346, 12346), 0);
	assert_int_equal(chown(in(b->r.w, "build/own.dwo"), 12345, 12345), 0);
	assert_int_equal(chmod(in(b->r.w, "build/own.dwo"), 0600), 0);
	assert_int_equal(chmod(in(b->r.w, "build/secret.dwo"), 0600), 0);
	unit(b, "device.dwo", "/build");
	unit(b, "fifo.dwo", "/build");
	unit(b, "other.dwo", "/build");
	unit(b, "own.dwo", "/build");
	unit(b, "secret.dwo", "/build");
	unit(b, ".", "/build");
	expect(b, "3:own ");
	assert_false(was_opened(events));
	/* One on another file system, which may say of any file that it is root's. */
	b->r.binary.st_dev++;
	unit(b, "own.dwo", "/build");
	expect(b, "");
}

/* The value of the first attribute of this name in what readelf shows of the debug information. */
static void attribute(const char *file, const char *name, char out[256])
{
	char command[256];
	FILE *f;

	snprintf(command, sizeof(command),
		 "readelf -wi %s | awk '/%s/ && !n++ { print $NF }'", file, name);
	f = popen(command, "r");
	assert_non_null(f);
	out[0] = 0;
	if (fgets(out, 256, f))
		out[strcspn(out, "\n")] = 0;
	pclose(f);
}

/* What gcc writes leads to the file that gcc has made. Both are in our own root directory. */
static void test_unit_of_a_compiler(void **state)
{
	struct beside_world *b = *state;
	struct beside_file files[BESIDE_MAX];
	char command[512], program[128], name[256], dir[256];
	struct stat made, st;
	size_t nr;

	snprintf(command, sizeof(command),
		 "cd %s/build && echo 'int main(void) { return 0; }' >main.c && "
		 "cc -g -gsplit-dwarf -c main.c -o sub/main.o && cc -o ../app/split sub/main.o",
		 b->r.w->dir);
	assert_int_equal(system(command), 0);
	strcpy(program, in(b->r.w, "app/split"));
	attribute(program, "DW_AT_.*dwo_name", name);
	attribute(program, "DW_AT_comp_dir", dir);
	assert_true(name[0] && dir[0] == '/');
	assert_int_equal(stat(program, &b->r.binary), 0);
	assert_int_equal(stat(in(b->r.w, "build/sub/main.dwo"), &made), 0);
	unit(b, name, dir);
	nr = foreign_open_beside(0, program, &b->r.binary, -1, &b->names, files);
	assert_int_equal(nr, 1);
	assert_int_equal(fstat(files[0].fd, &st), 0);
	assert_int_equal(st.st_ino, made.st_ino);
	close(files[0].fd);
	/* The same path where the binary is not in this root directory. */
	b->r.binary.st_ino++;
	assert_int_equal(foreign_open_beside(0, program, &b->r.binary, -1, &b->names, files), 0);
}

static void test_packages(void **state)
{
	struct beside_world *b = *state;

	if (b->r.pid < 0)
		skip();
	make_file(b->r.w, "usr/lib/debug/app/prog.debug", "debug");
	make_file(b->r.w, "usr/lib/debug/app/prog.debug.dwp", "third");
	name_from(b, "usr/lib/debug/app/prog.debug");
	beside_names_add(&b->names, BESIDE_DWP, NULL, NULL, NULL, 0);
	expect(b, "0:third ");
	make_file(b->r.w, "usr/lib/debug/app/prog.dwp", "second");
	beside_names_add(&b->names, BESIDE_DWP, NULL, NULL, NULL, 0);
	expect(b, "0:second ");
	make_file(b->r.w, "app/prog.dwp", "first");
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

	if (b->r.pid < 0)
		skip();
	make_file(b->r.w, "usr/lib/debug/app/prog.debug", "debug");
	make_file(b->r.w, "usr/lib/debug/.dwz/common", "common");
	make_file(b->r.w, "usr/lib/debug/.build-id/ab/cd.debug", "by id");
	assert_int_equal(symlink("../../app/prog.debug",
				 in(b->r.w, "usr/lib/debug/.build-id/ab/01.debug")), 0);
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

	if (b->r.pid < 0)
		skip();
	memset(large, 'x', sizeof(large));
	large[sizeof(large) - 1] = 0;
	assert_int_equal(beside_names_add(&b->names, BESIDE_DWO, large, NULL, NULL, 0), -ENOSPC);
	for (int i = 0; i < BESIDE_MAX; i++) {
		snprintf(name, sizeof(name), "build/%d.dwo", i);
		make_file(b->r.w, name, "unit");
		unit(b, name, "/");
		snprintf(want + strlen(want), sizeof(want) - strlen(want), "%d:unit ", i);
	}
	expect(b, want);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(test_units),
		T(test_units_stay_in_the_root),
		T(test_units_of_others),
		T(test_unit_of_a_compiler),
		T(test_packages),
		T(test_alternatives),
		T(test_names_that_are_not_sound),
		T(test_many_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
