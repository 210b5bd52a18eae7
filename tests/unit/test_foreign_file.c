/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What another user may plant where probee opens files. Whether a file was opened is asked of the
 * kernel (inotify): a look at it with O_PATH does not count as opening.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/elf/debug_name.h"
#include "src/foreign/foreign_file.h"
#include "src/proc/procfs.h"

#define NO_PID 0x3fffffff

struct world {
	char dir[64], path[128];
	int root;			/* O_PATH of dir */
};

static char *in(struct world *w, const char *name)
{
	snprintf(w->path, sizeof(w->path), "%s/%s", w->dir, name);
	return w->path;
}

static void make_file(struct world *w, const char *name, const char *text)
{
	FILE *f = fopen(in(w, name), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fchmod(fileno(f), 0644), 0);
	fclose(f);
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	strcpy(w->dir, "/tmp/probee-foreign.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->root = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*state = w;
	return w->root >= 0 ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[100];

	close(w->root);
	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	test_free(w);
	return 0;
}

/* ---- was it opened? ---- */

static int watch(const char *path)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	assert_true(fd >= 0);
	assert_true(inotify_add_watch(fd, path, IN_OPEN) >= 0);
	return fd;
}

static bool was_opened(int watch_fd)
{
	char events[4096];
	bool opened = read(watch_fd, events, sizeof(events)) > 0;

	close(watch_fd);
	return opened;
}

/* A device of our own, so that nobody else opens it; a FIFO where making devices is forbidden. */
static char *make_device(struct world *w, const char *name)
{
	if (mknod(in(w, name), S_IFCHR | 0600, makedev(1, 3)))
		assert_int_equal(mkfifo(in(w, name), 0600), 0);
	return in(w, name);
}

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

/* In a child with a mount namespace of its own; what it returns. -1: that cannot be had here. */
static int with_mounts(int (*fn)(struct world *w), struct world *w)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		bool has = !unshare(CLONE_NEWNS) &&
			   !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);

		_exit(has ? fn(w) : 255);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
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

/* A process that waits in a root directory of its own. */
static pid_t live_in(const char *root)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		if (chroot(root) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		pid = -1;		/* it has ended */
	close(ready[0]);
	return pid;
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
		T(test_debug_link_to_a_device),
		T(test_debug_link),
		T(test_debug_link_to_what_only_root_may_read),
		T(test_debug_link_beside_another_file),
		T(test_perf_map),
		T(test_perf_map_of_another_user),
		T(test_perf_map_that_is_mounted),
		T(test_debug_file_in_a_container),
		T(test_debug_file_that_is_mounted),
		T(test_numbers_on_overlay),
		T(test_numbers_on_btrfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
