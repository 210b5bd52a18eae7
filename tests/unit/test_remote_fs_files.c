/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of mapped files that a helper process makes. Servers that do not answer: tests/live/hostile.sh. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "src/base/clock.h"
#include "src/proc/procfs.h"
#include "src/capture/processes/remote_fs_files.h"
#include "tests/unit/helper_processes.h"

static struct remote_fs_files *served;
static struct helper_processes helpers;

static int setup(void **state)
{
	(void)state;
	helper_processes_start(&helpers);
	served = remote_fs_files_new(helpers.opener);
	return served ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	remote_fs_files_free(served);
	helper_processes_end(&helpers);
	return 0;
}

static int first_file(void *ctx, const struct proc_map *map)
{
	struct proc_map *out = ctx;

	if (!map->ino || out->path)
		return 0;
	*out = *map;
	out->path = strdup(map->path);
	return 0;
}

static void test_local_files_are_not_served(void **state)
{
	struct proc_map map = { 0 };

	(void)state;
	procfs_maps(getpid(), first_file, &map);
	assert_non_null(map.path);
	assert_false(remote_fs_files_has(served, getpid(), map.dev));
	free((char *)map.path);
}

static void test_unknown_device_counts_as_served(void **state)
{
	(void)state;
	assert_true(remote_fs_files_has(served, getpid(), 0xfffull << 20 | 0xfffff));
}

/* There is no list of all that may be served: what is not known to be local may be. */
static void test_types(void **state)
{
	static const char *const other[] = { "fuse", "fuse.sshfs", "fuseblk", "virtiofs", "9p",
					      "nfs4", "vboxsf", "ecryptfs", "ext4x", "ext", "" };
	static const char *const local[] = { "ext4", "xfs", "btrfs", "tmpfs", "overlay" };

	(void)state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_false(remote_fs_files_type_is_local(other[i]));
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		assert_true(remote_fs_files_type_is_local(local[i]));
}

/* A device that this machine's list calls local is not copied. */
static void test_devices(void **state)
{
	unsigned maj, min, nr = 0;
	char line[4096], type[64];
	FILE *f = fopen("/proc/self/mountinfo", "r");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		uint64_t dev;

		assert_int_equal(sscanf(line, "%*u %*u %u:%u ", &maj, &min), 2);
		assert_int_equal(sscanf(strstr(line, " - "), " - %63s", type), 1);
		dev = (uint64_t)maj << 20 | min;
		if (remote_fs_files_type_is_local(type))
			assert_false(remote_fs_files_has(served, getpid(), dev));
		nr++;
	}
	fclose(f);
	assert_true(nr > 0);
}

/* Byte for byte, as our own executable. */
static void test_copy(void **state)
{
	struct proc_map map = { 0 };
	struct stat st, self;
	char a[4096], b[4096];
	int fd, exe = open("/proc/self/exe", O_RDONLY);
	ssize_t n;

	(void)state;
	procfs_maps(getpid(), first_file, &map);
	assert_int_equal(fstat(exe, &self), 0);
	fd = remote_fs_files_open(served, getpid(), &map, &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_ino, self.st_ino);
	assert_int_equal(st.st_size, self.st_size);
	assert_int_equal(lseek(fd, 0, SEEK_END), self.st_size);
	/* A parser that was taken over has this descriptor, and so has the next one. */
	assert_int_equal(pwrite(fd, "lie", 3, 0), -1);
	assert_int_equal(ftruncate(fd, self.st_size + 1), -1);
	lseek(fd, 0, SEEK_SET);
	do {
		n = read(exe, a, sizeof(a));
		assert_int_equal(read(fd, b, sizeof(b)), n);
		assert_memory_equal(a, b, (size_t)n);
	} while (n > 0);
	close(fd);
	close(exe);
	free((char *)map.path);
}

static void test_not_for_copying(void **state)
{
	char text[] = "/tmp/served-XXXXXX";
	struct proc_map map = { .start = 1, .end = 2, .path = text };
	struct stat st;
	int fd = mkstemp(text);

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	map.ino = st.st_ino;
	map.dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	assert_int_equal(remote_fs_files_open(served, getpid(), &map, &st), -ENOEXEC);
	assert_int_equal(ftruncate(fd, 129l << 20), 0);
	assert_int_equal(remote_fs_files_open(served, getpid(), &map, &st), -EFBIG);
	unlink(text);
	close(fd);
	assert_int_equal(remote_fs_files_open(served, getpid(), &map, &st), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_local_files_are_not_served, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_device_counts_as_served, setup, teardown),
		cmocka_unit_test_setup_teardown(test_types, setup, teardown),
		cmocka_unit_test_setup_teardown(test_devices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_for_copying, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
