/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose links are followed on the way to an output, and where they lead. */
#include "src/output/output_place.h"

#include <errno.h>
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

enum { OTHER = 54321, USER = 12345 };

static const struct output_user root, user = { .euid = USER, .uid = USER },
			 sudo = { .has_sudo = true, .uid = OTHER };
static char dir[64];

static const char *in_dir(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned at;
	char *path = paths[at++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

/* dir/real is a directory. */
static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/probee-place-XXXXXX");
	return mkdtemp(dir) && !mkdir(in_dir("real"), 0755) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

/* 0 if the place is NAME in dir/real. */
static int opened(const char *path, const struct output_user *u, const char *name)
{
	struct output_refusal no;
	struct output_place p;
	struct stat want, is;
	int err = output_place_open(path, u, &p, &no);

	if (err)
		return no.why == OUTPUT_LINK_ABOVE ? -EPERM : err;
	assert_int_equal(stat(in_dir("real"), &want), 0);
	assert_int_equal(fstat(p.dir, &is), 0);
	assert_int_equal(is.st_ino, want.st_ino);
	assert_string_equal(p.name, name);
	output_place_close(&p);
	return 0;
}

static void paths_lead_where_the_kernel_would_go(void **state)
{
	const struct output_user me = { .euid = geteuid(), .uid = geteuid() };

	(void)state;
	assert_int_equal(symlink("real", in_dir("relative")), 0);
	assert_int_equal(symlink(in_dir("real/."), in_dir("absolute")), 0);
	assert_int_equal(symlink("absolute/../relative", in_dir("twice")), 0);
	assert_int_equal(symlink("round", in_dir("round")), 0);
	assert_int_equal(opened(in_dir("real/a"), &me, "a"), 0);
	assert_int_equal(opened(in_dir("real//.//../real/a.b"), &me, "a.b"), 0);
	assert_int_equal(opened(in_dir("relative/a"), &me, "a"), 0);
	assert_int_equal(opened(in_dir("absolute/a"), &me, "a"), 0);
	assert_int_equal(opened(in_dir("twice/a"), &me, "a"), 0);
	assert_int_equal(opened(in_dir("round/a"), &me, "a"), -ELOOP);
	assert_int_equal(opened(in_dir("none/a"), &me, "a"), -ENOENT);
	assert_int_equal(opened("/dev/null/a", &me, "a"), -ENOTDIR);
	assert_int_equal(opened("", &me, ""), -ENOENT);
	for (const char *const *p = (const char *const[]){ "/", ".", "..", "a/", "a/.", NULL }; *p; p++)
		assert_int_equal(opened(*p, &me, ""), -EISDIR);
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(opened("real/a", &me, "a"), 0);
	assert_int_equal(chdir("real"), 0);
	assert_int_equal(opened("a", &me, "a"), 0);
	assert_int_equal(chdir("/"), 0);
}

static void long_paths_fail(void **state)
{
	char path[2 * PATH_MAX], *long_path = path;

	(void)state;
	memset(path, 'a', sizeof(path));
	path[NAME_MAX + 1] = 0;
	assert_int_equal(opened(path, &user, ""), -ENAMETOOLONG);
	path[NAME_MAX + 1] = '/';
	path[NAME_MAX + 3] = 0;
	assert_int_equal(opened(path, &user, ""), -ENAMETOOLONG);
	for (size_t i = 1; i < sizeof(path); i += 2) {
		path[i - 1] = '.';
		path[i] = '/';
	}
	strcpy(path + sizeof(path) - 3, "/a");
	assert_int_equal(opened(long_path, &user, ""), -ENAMETOOLONG);
}

/* The directory of a link and its owner decide. */
static void links_of_others_are_traps(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s", in_dir("link/a"));
	if (geteuid()) {
		print_message("needs root\n");
		skip();
	}
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(symlink("real", in_dir("link")), 0);
	assert_int_equal(opened(path, &user, "a"), 0);
	assert_int_equal(lchown(in_dir("link"), OTHER, OTHER), 0);
	assert_int_equal(opened(path, &user, "a"), -EPERM);
	assert_int_equal(opened(path, &root, "a"), -EPERM);
	assert_int_equal(opened(path, &sudo, "a"), 0);
	assert_int_equal(chmod(dir, 0775), 0);
	assert_int_equal(opened(path, &user, "a"), 0);
	assert_int_equal(opened(path, &root, "a"), -EPERM);
	assert_int_equal(lchown(in_dir("link"), USER, USER), 0);
	assert_int_equal(opened(path, &sudo, "a"), -EPERM);
	assert_int_equal(opened(path, &user, "a"), 0);
}

static void descriptors_have_names(void **state)
{
	static const struct {
		const char *path;
		int number;
	} cases[] = {
		{ "/dev/stdout", 1 }, { "/dev/stderr", 2 }, { "/dev/fd/0", 0 }, { "/dev/fd/63", 63 },
		{ "/proc/self/fd/7", 7 }, { "/dev/fd/", -1 }, { "/dev/fd/1a", -1 }, { "/dev/fd/-1", -1 },
		{ "/dev/fd/99999999999", -1 }, { "/dev/null", -1 }, { "dev/fd/1", -1 }, { "/dev/fd/ 1", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(output_descriptor(cases[i].path), cases[i].number);
}

static void only_root_acts_for_another_user(void **state)
{
	struct output_user u;

	(void)state;
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "100", 1);
	output_user_now(&u);
	assert_int_equal(u.has_sudo, !geteuid());
	assert_true(output_user_owns(&u, geteuid()));
	assert_int_equal(output_user_owns(&u, 12345), !geteuid());
	for (const char *const *p = (const char *const[]){ "", "-1", "1x", "4294967295", " 5", NULL }; *p; p++) {
		setenv("SUDO_UID", *p, 1);
		output_user_now(&u);
		assert_false(u.has_sudo);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(paths_lead_where_the_kernel_would_go),
		TEST(long_paths_fail),
		TEST(links_of_others_are_traps),
		TEST(descriptors_have_names),
		TEST(only_root_acts_for_another_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
