/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What another user may plant where probee opens files. Whether a file was opened is asked of the
 * kernel (inotify): a look at it with O_PATH does not count as opening.
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
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/foreign/foreign_file.h"
#include "src/proc/procfs.h"
#include "tests/unit/foreign_world.h"

#define NO_PID 0x3fffffff

static void test_the_watch_sees_an_open(void **state)
{
	struct world *w = *state;
	char *device = make_device(w, "device");
	int events = watch(device);

	close(open(device, O_PATH | O_CLOEXEC));
	assert_false(was_opened(events));
	events = watch(device);
	close(open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	assert_true(was_opened(events));
}

/* ---- mappings ---- */

static struct proc_map map_of(const char *path)
{
	struct proc_map map = { .start = 1, .end = 2, .path = path };
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	map.ino = st.st_ino;
	map.dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	return map;
}

/* Without map_files (no process has such a mapping) the path is tried, and what is there checked. */
static void test_mapped_by_path(void **state)
{
	struct world *w = *state;
	struct proc_map map;
	struct stat st;
	int fd;

	make_file(w, "file", "x");
	map = map_of(in(w, "file"));
	fd = foreign_open_mapped(getpid(), &map, &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_ino, map.ino);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	/* A process that is gone: by the path, as it means to us. */
	fd = foreign_open_mapped(NO_PID, &map, &st);
	assert_true(fd >= 0);
	close(fd);
	map.ino++;
	assert_int_equal(foreign_open_mapped(getpid(), &map, &st), -ESTALE);
	map.ino--;
	map.dev++;
	assert_int_equal(foreign_open_mapped(getpid(), &map, &st), -ESTALE);
	map.path = "/nowhere/at/all";
	assert_int_equal(foreign_open_mapped(getpid(), &map, &st), -ENOENT);
	map.path = "";
	assert_true(foreign_open_mapped(getpid(), &map, &st) < 0);
}

/* A path that leads to a device or a FIFO by now, even with the inode that the mapping has. */
static void test_mapped_is_no_device(void **state)
{
	struct world *w = *state;
	int events = watch(make_device(w, "device"));
	struct proc_map map = map_of(in(w, "device"));
	struct stat st;

	assert_int_equal(foreign_open_mapped(NO_PID, &map, &st), -EACCES);
	assert_int_equal(symlink("device", in(w, "link")), 0);
	map.path = in(w, "link");
	assert_int_equal(foreign_open_mapped(NO_PID, &map, &st), -EACCES);
	assert_false(was_opened(events));
	assert_int_equal(mkfifo(in(w, "fifo"), 0600), 0);
	map = map_of(in(w, "fifo"));
	assert_int_equal(foreign_open_mapped(NO_PID, &map, &st), -EACCES);
}

/* ---- roots ---- */

/* A link with an absolute path means the root of the process, not ours. */
static void test_links_stay_in_the_root(void **state)
{
	static const struct foreign_want any, no_link = { .links = FOREIGN_NO_LINK },
					      none = { .links = FOREIGN_NO_LINKS };
	struct world *w = *state;
	struct stat st;
	int fd;

	assert_int_equal(symlink("/etc/passwd", in(w, "out")), 0);
	assert_int_equal(symlink("../../../../etc/passwd", in(w, "up")), 0);
	assert_int_equal(symlink("/proc/self/root/etc/passwd", in(w, "magic")), 0);
	assert_int_equal(foreign_open(w->root, "out", &any, &st), -ENOENT);
	assert_int_equal(foreign_open(w->root, "/up", &any, &st), -ENOENT);
	assert_int_equal(foreign_open(w->root, "magic", &any, &st), -ENOENT);
	assert_int_equal(mkdir(in(w, "etc"), 0700), 0);
	make_file(w, "etc/passwd", "inside");
	fd = foreign_open(w->root, "up", &any, &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_size, 6);
	close(fd);
	assert_int_equal(foreign_open(w->root, "up", &no_link, &st), -EACCES);
	assert_int_equal(symlink("etc", in(w, "dir")), 0);
	fd = foreign_open(w->root, "dir/passwd", &no_link, &st);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(foreign_open(w->root, "dir/passwd", &none, &st), -ELOOP);
}

/* Reading trace_pipe takes it away from whoever waits for it; a link may lead there. */
static void test_files_of_the_kernel(void **state)
{
	static const char *const paths[] = { "/proc/version", "/sys/kernel/notes" };
	static const struct foreign_want any;
	int root = foreign_root(0);
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (stat(paths[i], &st))
			continue;
		assert_true(S_ISREG(st.st_mode));
		assert_int_equal(foreign_open(root, paths[i], &any, &st), -EACCES);
	}
	close(root);
}

/* ---- maps of generated code ---- */

static void test_perf_map(void **state)
{
	struct world *w = *state;
	struct process_tmp tmp = { .dir = w->root, .ns_tgid = 7, .uid = getuid() };
	struct stat st;
	char other[128];
	int fd;

	assert_int_equal(foreign_open_perf_map(&tmp, &st), -ENOENT);
	make_file(w, "perf-7.map", "1 2 f\n");
	fd = foreign_open_perf_map(&tmp, &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_size, 6);
	close(fd);
	snprintf(other, sizeof(other), "%s/other", w->dir);
	assert_int_equal(link(in(w, "perf-7.map"), other), 0);
	assert_int_equal(foreign_open_perf_map(&tmp, &st), -EACCES);
	assert_int_equal(unlink(in(w, "perf-7.map")), 0);
	assert_int_equal(symlink("other", in(w, "perf-7.map")), 0);
	assert_int_equal(foreign_open_perf_map(&tmp, &st), -EACCES);
	assert_int_equal(unlink(in(w, "perf-7.map")), 0);
	assert_int_equal(mkfifo(in(w, "perf-7.map"), 0600), 0);
	assert_int_equal(foreign_open_perf_map(&tmp, &st), -EACCES);
}

static void test_perf_map_of_another_user(void **state)
{
	struct world *w = *state;
	struct process_tmp tmp = { .dir = w->root, .ns_tgid = 7, .uid = 4711 };
	struct stat st;
	int fd;

	if (geteuid())
		skip();
	make_file(w, "perf-7.map", "1 2 f\n");
	assert_int_equal(chown(in(w, "perf-7.map"), 4712, 4712), 0);
	assert_int_equal(foreign_open_perf_map(&tmp, &st), -EACCES);
	assert_int_equal(chown(in(w, "perf-7.map"), 4711, 4711), 0);
	fd = foreign_open_perf_map(&tmp, &st);
	assert_true(fd >= 0);
	close(fd);
}

/* ---- file systems whose files have other numbers than their mappings ---- */

/* What another user can make: an overlayfs whose file has any inode number that he likes. */
static bool mount_overlay(struct world *w)
{
	char options[256];

	if (mount("none", w->dir, "tmpfs", 0, NULL) || mkdir(in(w, "lower"), 0755) ||
	    mkdir(in(w, "upper"), 0755) || mkdir(in(w, "work"), 0755) || mkdir(in(w, "dir"), 0755))
		return false;
	make_file(w, "lower/file", "x");
	snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
		 w->dir, w->dir, w->dir);
	return !mount("none", in(w, "dir"), "overlay", 0, options);
}

/* mkfs.btrfs may be missing, or the module, or devices. */
static bool mount_btrfs(struct world *w)
{
	static const char script[] =
		"{ mount -t tmpfs none %s && cd %s && truncate -s 120M disk && mkdir dir && "
		"mkfs.btrfs disk && mount -o loop disk dir && echo x >dir/file; } >/dev/null 2>&1";
	char command[512];

	snprintf(command, sizeof(command), script, w->dir, w->dir);
	return !system(command);
}

struct find {
	const void *addr;
	struct proc_map map;
};

static int find_map(void *ctx, const struct proc_map *map)
{
	struct find *f = ctx;

	if (map->start == (uintptr_t)f->addr)
		f->map = *map;
	return 0;
}

/* The mapping of a file of ours, as /proc/PID/maps has it. */
static struct proc_map own_mapping(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct find f = { .addr = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) };

	close(fd);
	procfs_maps(getpid(), find_map, &f);
	f.map.path = path;
	return f.map;
}

static int opened(int fd)
{
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

/* 0, or the number of what went wrong. */
static int judge_numbers(struct world *w, bool now_is_allowed)
{
	struct proc_map map = own_mapping(in(w, "dir/file")), other;
	struct stat st;

	if (!map.ino || stat(map.path, &st))
		return 1;
	if (opened(foreign_open_mapped(getpid(), &map, &st)))
		return 2;
	if (opened(foreign_open_mapped(NO_PID, &map, &st)))
		return 3;		/* by its path */
	/* A file of another file system, which happens to have the same inode number. */
	other = map;
	other.dev += 1000;
	if (opened(foreign_open_mapped(NO_PID, &other, &st)) != ESTALE)
		return 4;
	if (opened(foreign_open_mapped(getpid(), &other, &st)) != ESTALE)
		return 5;
	other.ino += 1000;
	if (opened(foreign_open_mapped(getpid(), &other, &st)) != ESTALE)
		return 6;
	if (opened(foreign_open_mapped_now(getpid(), &other, &st)) != (now_is_allowed ? 0 : ESTALE))
		return 7;
	return opened(foreign_open_mapped_now(NO_PID, &other, &st)) ? 0 : 8;
}

static int open_on_overlay(struct world *w)
{
	return mount_overlay(w) ? judge_numbers(w, true) : 255;
}

static int open_on_btrfs(struct world *w)
{
	return mount_btrfs(w) ? judge_numbers(w, false) : 255;
}

static void test_numbers_on_overlay(void **state)
{
	int err = with_mounts(open_on_overlay, *state);

	if (err < 0)
		skip();
	assert_int_equal(err, 0);
}

static void test_numbers_on_btrfs(void **state)
{
	int err = with_mounts(open_on_btrfs, *state);

	if (err < 0)
		skip();
	assert_int_equal(err, 0);
}

/* ---- maps that are mounted ---- */

static int perf_map_in(const char *dir, bool is_root)
{
	struct process_tmp tmp = { .ns_tgid = 7, .uid = getuid(), .is_root = is_root };
	struct stat st;
	int fd;

	tmp.dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = foreign_open_perf_map(&tmp, &st);
	close(tmp.dir);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : -fd;
}

static int open_mounted_map(struct world *w)
{
	char map[128];

	snprintf(map, sizeof(map), "%s/tmp/perf-7.map", w->dir);
	return mount(in(w, "secret"), map, NULL, MS_BIND, NULL) ? 255 : perf_map_in(in(w, "tmp"), false);
}

static int open_mounted_map_from_root(struct world *w)
{
	return open_mounted_map(w) == 255 ? 255 : perf_map_in(w->dir, true);
}

static int open_map_in_mounted_tmp(struct world *w)
{
	if (mount("none", in(w, "tmp"), "tmpfs", 0, NULL))
		return 255;
	make_file(w, "tmp/perf-7.map", "1 2 f\n");
	return perf_map_in(w->dir, true) ? 1 : perf_map_in(in(w, "tmp"), false);
}

/* Mounting lends a name to a file that its user could neither link nor read. */
static void test_perf_map_that_is_mounted(void **state)
{
	struct world *w = *state;
	int err;

	make_file(w, "secret", "1 2 f\n");
	assert_int_equal(mkdir(in(w, "tmp"), 0700), 0);
	make_file(w, "tmp/perf-7.map", "");
	err = with_mounts(open_mounted_map, w);
	if (err < 0)
		skip();
	assert_int_equal(err, EACCES);
	assert_int_equal(with_mounts(open_mounted_map_from_root, w), EACCES);
	assert_int_equal(with_mounts(open_map_in_mounted_tmp, w), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_the_watch_sees_an_open),
		T(test_mapped_by_path),
		T(test_mapped_is_no_device),
		T(test_links_stay_in_the_root),
		T(test_files_of_the_kernel),
		T(test_perf_map),
		T(test_perf_map_of_another_user),
		T(test_perf_map_that_is_mounted),
		T(test_numbers_on_overlay),
		T(test_numbers_on_btrfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
