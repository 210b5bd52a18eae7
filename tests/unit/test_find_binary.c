/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up root directory in the manner of Debian, of musl and of neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cmocka.h>

#include "src/inspect/find_binary.h"

static char root[] = "/tmp/probee-find.XXXXXX";

static void make_file(const char *path, const char *text)
{
	char full[PATH_MAX], command[PATH_MAX + 32];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s)\"", full);
	assert_int_equal(system(command), 0);
	f = fopen(full, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	(void)state;
	return !mkdtemp(root);
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

/* Files here are "good" or anything else. */
static bool is_good(const char *path)
{
	char text[8] = "";
	FILE *f = fopen(path, "re");

	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return !strcmp(text, "good");
}

/* What is found, without the root. */
static const char *find(const char *name, const char *path, const char *library_path)
{
	static char found[PATH_MAX];
	struct binary_search s = { root, path, library_path, is_good };
	bool is_found = find_binary(&s, name, found);

	assert_int_equal(is_found, found[0] != 0);
	if (strncmp(found, root, strlen(root)))
		return found;
	return found + strlen(root);
}

static void test_glibc(void **state)
{
	(void)state;
	make_file("/etc/ld.so.conf", "# comment\n\n  include /etc/ld.so.conf.d/*.conf  # more\n"
				     "hwcap 1 nosegneg\n/opt/last=libc6\n");
	make_file("/etc/ld.so.conf.d/a32.conf", "/lib32\n");
	make_file("/etc/ld.so.conf.d/b64.conf", "/lib/x86_64-linux-gnu\r\ninclude sub/*.conf\n");
	make_file("/etc/ld.so.conf.d/sub/c.conf", "/opt/sub\ninclude c.conf\n");
	make_file("/lib32/libc.so.6", "of another class");
	make_file("/lib/x86_64-linux-gnu/libc.so.6", "good");
	make_file("/opt/sub/libsub.so", "good");
	make_file("/opt/last/liblast.so", "good");
	make_file("/usr/lib64/libfedora.so.1", "good");
	make_file("/lib32/libbad.so", "bad");
	assert_string_equal(find("libc.so.6", NULL, NULL), "/lib/x86_64-linux-gnu/libc.so.6");
	assert_string_equal(find("libsub.so", NULL, NULL), "/opt/sub/libsub.so");
	assert_string_equal(find("liblast.so", NULL, NULL), "/opt/last/liblast.so");
	assert_string_equal(find("libfedora.so.1", NULL, NULL), "/usr/lib64/libfedora.so.1");
	assert_string_equal(find("libnone.so", NULL, NULL), "");
	/* Better than to say that there is none. */
	assert_string_equal(find("libbad.so", NULL, NULL), "/lib32/libbad.so");
}

static void test_musl(void **state)
{
	char path[128];
	struct utsname u;

	(void)state;
	uname(&u);
	snprintf(path, sizeof(path), "/etc/ld-musl-%s.path", u.machine);
	make_file(path, "/musl/one:/musl/two\n/musl/three\n");
	make_file("/musl/two/libtwo.so", "good");
	make_file("/musl/three/libthree.so", "good");
	assert_string_equal(find("libtwo.so", NULL, NULL), "/musl/two/libtwo.so");
	assert_string_equal(find("libthree.so", NULL, NULL), "/musl/three/libthree.so");
}

static void test_programs(void **state)
{
	char path[PATH_MAX];

	(void)state;
	make_file("/bin1/tool", "#!/bin/sh");
	make_file("/bin2/tool", "good");
	make_file("/bin2/libc.so.6", "good");
	make_file("/usr/lib/tool", "good");
	make_file("/usr/lib/plugin", "good");
	make_file("/bin1/dir/x", "");
	snprintf(path, sizeof(path), "%s/bin1::%s/bin2", root, root);
	assert_string_equal(find("tool", path, NULL), "/bin2/tool");
	assert_string_equal(find("dir", path, NULL), "");
	assert_string_equal(find("plugin", path, NULL), "/usr/lib/plugin");
	assert_string_equal(find("libc.so.6", path, NULL), "/lib/x86_64-linux-gnu/libc.so.6");
	assert_string_equal(find("libc.so.6", NULL, path), "/bin2/libc.so.6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glibc),
		cmocka_unit_test(test_musl),
		cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
