/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/foreign/foreign_file.h"
#include "src/base/clock.h"
#include "src/base/timed_reader.h"
#include "src/proc/process_tasks.h"
#include "src/proc/procfs.h"

#define NO_PID 0x3ffffff	/* above the kernel's limit of 4,194,304 */

/* ---- children ---- */

/* Runs fn in a child; returns when the child has said that it is ready. End it with reap(). */
static pid_t child(void (*fn)(int ready, const char *arg), const char *arg)
{
	int fds[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn(fds[1], arg);
		_exit(1);
	}
	close(fds[1]);
	/* A letter, or the end of file of an exec. */
	assert_true(read(fds[0], &c, 1) >= 0);
	close(fds[0]);
	return pid;
}

static void say_ready(int ready)
{
	if (write(ready, "", 1) != 1)
		_exit(2);
}

static void reap(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void run_with_name(int ready, const char *name)
{
	prctl(PR_SET_NAME, name);
	say_ready(ready);
	pause();
}

static void run_program(int ready, const char *path)
{
	(void)ready;
	execl(path, path, "1000", (char *)NULL);
}

static void *wait_forever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void run_without_leader(int ready, const char *arg)
{
	pthread_t thread;

	(void)arg;
	if (pthread_create(&thread, NULL, wait_forever, NULL))
		return;
	say_ready(ready);
	pthread_exit(NULL);
}

/* ---- status ---- */

static void test_own_status(void **state)
{
	struct proc_status s;
	struct proc_stat stat;
	char comm[16];

	(void)state;
	prctl(PR_GET_NAME, comm);
	assert_int_equal(procfs_status(getpid(), &s), 0);
	assert_int_equal(s.tgid, getpid());
	assert_int_equal(s.uid, geteuid());
	assert_int_equal(s.ns_tgid, getpid());
	assert_int_equal(procfs_stat(getpid(), &stat), 0);
	assert_int_equal(stat.ppid, getppid());
	assert_string_equal(stat.comm, comm);
	assert_false(stat.kthread);
	assert_false(stat.is_dead);
}

static ssize_t never(const char *path, char **out, size_t max)
{
	(void)path;
	(void)out;
	(void)max;
	while (pause())
		;
	return 0;
}

static void test_with_a_time_limit(void **state)
{
	struct timed_reader *r = procfs_reader_new(10000, NULL);
	struct proc_stat timed, stat;
	struct process_tmp tmp;
	char comm[16];

	(void)state;
	assert_int_equal(procfs_stat(getpid(), &stat), 0);
	assert_int_equal(procfs_stat_timed(r, getpid(), &timed), 0);
	assert_memory_equal(&timed, &stat, sizeof(stat));
	procfs_comm(getpid(), comm, sizeof(comm));
	assert_string_equal(comm, stat.comm);
	assert_int_equal(procfs_tmp_timed(r, getpid(), &tmp), 0);
	assert_true(tmp.dir >= 0);
	assert_int_equal(tmp.uid, geteuid());
	close(tmp.dir);
	timed_reader_free(r);
	r = timed_reader_new(never, 1);
	assert_int_equal(procfs_stat_timed(r, getpid(), &timed), -ETIMEDOUT);
	assert_int_equal(procfs_tmp_timed(r, getpid(), &tmp), -ETIMEDOUT);
	assert_int_equal(tmp.dir, -1);
	timed_reader_free(r);
}

/* The words that this program was started with, joined by blanks; a kernel thread has none. */
static void test_command_line(void **state)
{
	struct timed_reader *r = procfs_reader_new(10000, NULL);
	size_t len = strlen(program_invocation_name);
	char *text = NULL;

	(void)state;
	assert_int_equal(procfs_cmdline_timed(r, getpid(), &text), 0);
	assert_memory_equal(text, program_invocation_name, len);
	assert_true(!text[len] || text[len] == ' ');
	free(text);
	assert_int_equal(procfs_cmdline_timed(r, 2, &text), -ENODATA);
	assert_int_equal(procfs_cmdline_timed(r, 0x3fffffff, &text), -ENOENT);
	timed_reader_free(r);
	r = timed_reader_new(never, 1);
	assert_int_equal(procfs_cmdline_timed(r, getpid(), &text), -ETIMEDOUT);
	timed_reader_free(r);
}

static void run_as_other_user(int ready, const char *arg)
{
	(void)arg;
	if (setresuid(1234, 4321, 0))
		return;
	say_ready(ready);
	pause();
}

static void test_effective_user(void **state)
{
	struct proc_status s;
	pid_t pid;

	(void)state;
	if (getuid())
		skip();
	pid = child(run_as_other_user, "");
	assert_int_equal(procfs_status(pid, &s), 0);
	assert_int_equal(s.uid, 4321);
	reap(pid);
}

static void test_odd_names(void **state)
{
	static const char *const names[] = {
		") S 1 2 3",  "a) b\n(c",	 "((((",     "",
		"\nTgid:\t1", "fifteen letters", "\xff\xfe", " ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		pid_t pid = child(run_with_name, names[i]);
		struct proc_status s;
		struct proc_stat stat;

		assert_int_equal(procfs_stat(pid, &stat), 0);
		assert_string_equal(stat.comm, names[i]);
		assert_int_equal(stat.ppid, getpid());
		assert_int_equal(procfs_status(pid, &s), 0);
		assert_int_equal(s.tgid, pid);
		assert_int_equal(s.uid, getuid());
		reap(pid);
	}
}

static void test_start_time(void **state)
{
	uint64_t before = clock_ns(CLOCK_BOOTTIME);
	pid_t pid = child(run_with_name, "timed");
	struct proc_stat s;

	(void)state;
	assert_int_equal(procfs_stat(pid, &s), 0);
	assert_in_range(s.start_boottime_ns, before - 20 * NSEC_PER_MSEC, clock_ns(CLOCK_BOOTTIME));
	reap(pid);
}

static void test_kernel_thread(void **state)
{
	struct proc_stat s;

	(void)state;
	if (system("grep -qx kthreadd /proc/2/comm 2>/dev/null")) {
		print_message("no kernel threads in sight (a pid namespace)\n");
		skip();
	}
	assert_int_equal(procfs_stat(2, &s), 0);
	assert_string_equal(s.comm, "kthreadd");
	assert_true(s.kthread);
	assert_int_equal(s.ppid, 0);
}

static int count_map(void *ctx, const struct proc_map *map)
{
	(void)map;
	++*(int *)ctx;
	return 0;
}

static void test_who_is_not_there(void **state)
{
	struct proc_status s;
	char cgroup[16] = "x";
	int n = 0;

	(void)state;
	assert_int_equal(procfs_status(NO_PID, &s), -ENOENT);
	assert_int_equal(procfs_maps(NO_PID, count_map, &n), -ENOENT);
	assert_int_equal(n, 0);
	assert_int_equal(process_tasks_living(NO_PID), 0);
	assert_false(procfs_exists(NO_PID));
	assert_true(procfs_exists(getpid()));
	procfs_cgroup(NO_PID, cgroup, sizeof(cgroup));
	assert_string_equal(cgroup, "");
}

/* ---- maps ---- */

struct naive {
	FILE *f;
	int nr, nr_files;
};

/* The next executable line of /proc/self/maps, by other means than the code under test. */
static int next_naive(FILE *f, struct proc_map *m, char path[4096])
{
	unsigned long start, end, pgoff, ino;
	unsigned major, minor;
	char perms[8], line[8192];

	while (fgets(line, sizeof(line), f)) {
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		assert_int_equal(sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %n", &start, &end, perms,
					&pgoff, &major, &minor, &ino, &at),
				 7);
		if (!strchr(perms, 'x'))
			continue;
		snprintf(path, 4096, "%s", line + at);
		*m = (struct proc_map){
			.start = start,
			.end = end,
			.pgoff_bytes = pgoff,
			.ino = ino,
			.dev = (uint64_t)major << 20 | minor,
			.prot = (perms[0] == 'r' ? PROT_READ : 0) |
				(perms[1] == 'w' ? PROT_WRITE : 0) | PROT_EXEC,
		};
		return 1;
	}
	return 0;
}

static int compare_map(void *ctx, const struct proc_map *map)
{
	struct naive *n = ctx;
	struct proc_map want;
	char path[4096];

	assert_true(next_naive(n->f, &want, path));
	assert_int_equal(map->start, want.start);
	assert_int_equal(map->end, want.end);
	assert_int_equal(map->pgoff_bytes, want.pgoff_bytes);
	assert_int_equal(map->ino, want.ino);
	assert_int_equal(map->dev, want.dev);
	assert_int_equal(map->prot, want.prot);
	assert_string_equal(map->path, path);
	assert_false(map->deleted);
	n->nr++;
	n->nr_files += map->ino != 0;
	return 0;
}

static void test_own_maps(void **state)
{
	void *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct naive n = { fopen("/proc/self/maps", "r"), 0, 0 };
	struct proc_map more;
	char path[4096];

	(void)state;
	assert_non_null(n.f);
	assert_int_equal(procfs_maps(getpid(), compare_map, &n), 0);
	assert_false(next_naive(n.f, &more, path));
	assert_true(n.nr > n.nr_files);		/* the anonymous one */
	assert_true(n.nr_files >= 3);		/* program, libc, loader */
	fclose(n.f);
	munmap(code, 8192);
}

static int stop_at_second(void *ctx, const struct proc_map *map)
{
	(void)map;
	return ++*(int *)ctx == 2 ? -ECANCELED : 0;
}

static void test_maps_stop(void **state)
{
	int n = 0;

	(void)state;
	assert_int_equal(procfs_maps(getpid(), stop_at_second, &n), -ECANCELED);
	assert_int_equal(n, 2);
}

/* ---- files ---- */

struct program {
	char dir[64], path[128];
	struct stat st;
	pid_t pid;
};

/* A copy of a program of its own, running. */
static void start_copy(struct program *p, const char *name)
{
	char command[256];

	strcpy(p->dir, "/tmp/probee-test.XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/%s", p->dir, name);
	snprintf(command, sizeof(command), "cp /bin/sleep '%s'", p->path);
	assert_int_equal(system(command), 0);
	assert_int_equal(stat(p->path, &p->st), 0);
	p->pid = child(run_program, p->path);
}

static void end_copy(struct program *p)
{
	reap(p->pid);
	unlink(p->path);
	assert_int_equal(rmdir(p->dir), 0);
}

struct found {
	uint64_t ino;
	struct proc_map map;
	char path[256];
	int nr;
};

static int find_inode(void *ctx, const struct proc_map *map)
{
	struct found *f = ctx;

	if (map->ino != f->ino)
		return 0;
	f->map = *map;
	snprintf(f->path, sizeof(f->path), "%s", map->path);
	f->map.path = f->path;
	f->nr++;
	return 0;
}

/* The copy's mapping. It appears a little after the exec has closed the pipe. */
static void find_copy(const struct program *p, struct found *f)
{
	*f = (struct found){ .ino = p->st.st_ino };
	for (int i = 0; i < 500 && !f->nr; i++) {
		assert_int_equal(procfs_maps(p->pid, find_inode, f), 0);
		if (!f->nr)
			usleep(5000);
	}
	assert_int_equal(f->nr, 1);
}

static void expect_opens(const struct program *p, const struct proc_map *m)
{
	struct stat st;
	int fd = foreign_open_mapped(p->pid, m, &st);
	char magic[4];

	assert_true(fd >= 0);
	assert_int_equal(st.st_ino, p->st.st_ino);
	assert_int_equal(pread(fd, magic, 4, 0), 4);
	assert_memory_equal(magic, "\177ELF", 4);
	close(fd);
}

static void test_deleted_file(void **state)
{
	struct program p;
	struct found f;

	(void)state;
	start_copy(&p, "copy");
	find_copy(&p, &f);
	assert_false(f.map.deleted);
	assert_string_equal(f.path, p.path);
	expect_opens(&p, &f.map);

	assert_int_equal(unlink(p.path), 0);
	find_copy(&p, &f);
	assert_true(f.map.deleted);
	assert_string_equal(f.path, p.path);
	/* Through map_files, which is root's, or as the program of the process. */
	if (geteuid() == 0)
		expect_opens(&p, &f.map);
	end_copy(&p);
}

static void test_names_of_files(void **state)
{
	static const struct { const char *name, *shown; } names[] = {
		{ "with  two spaces", "with  two spaces" }, { "with\nnewline", "with\\012newline" },
		{ "trailing ", "trailing " }, { "[vdso]", "[vdso]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct program p;
		struct found f;

		start_copy(&p, names[i].name);
		find_copy(&p, &f);
		assert_string_equal(f.path + strlen(p.dir) + 1, names[i].shown);
		if (geteuid() == 0 || !strchr(names[i].name, '\n'))
			expect_opens(&p, &f.map);
		end_copy(&p);
	}
}

/* ---- threads and processes ---- */

static void test_leader_is_dead(void **state)
{
	pid_t pid = child(run_without_leader, NULL), tid;
	int n = 0;

	(void)state;
	for (int i = 0; i < 500 && process_tasks_living(pid) == pid; i++)
		usleep(10000);
	tid = process_tasks_living(pid);
	assert_true(tid > 0 && tid != pid);
	assert_int_equal(procfs_maps(pid, count_map, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(procfs_maps(tid, count_map, &n), 0);
	assert_true(n >= 3);
	kill(pid, SIGKILL);
	for (int i = 0; i < 500 && process_tasks_living(pid); i++)
		usleep(10000);
	assert_int_equal(process_tasks_living(pid), 0);
	reap(pid);
}

static void test_living_thread_of_a_living_process(void **state)
{
	(void)state;
	assert_int_equal(process_tasks_living(getpid()), getpid());
}

struct seen {
	pid_t want[2];
	int nr, hits;
};

static int see(void *ctx, pid_t pid)
{
	struct seen *s = ctx;

	s->nr++;
	s->hits += pid == s->want[0] || pid == s->want[1];
	return s->hits == 3 ? 77 : 0;
}

static int stop_at_once(void *ctx, pid_t pid)
{
	(void)pid;
	++*(int *)ctx;
	return 77;
}

static void test_each_process(void **state)
{
	struct seen s = { { getpid(), child(run_with_name, "seen") }, 0, 0 };
	int n = 0;

	(void)state;
	assert_int_equal(procfs_each_process(see, &s), 0);
	assert_int_equal(s.hits, 2);
	assert_true(s.nr >= 2);
	assert_int_equal(procfs_each_process(stop_at_once, &n), 77);
	assert_int_equal(n, 1);
	reap(s.want[1]);
}

static void test_cgroup(void **state)
{
	char all[512], some[5];
	size_t len;

	(void)state;
	procfs_cgroup(getpid(), all, sizeof(all));
	assert_true(!all[0] || all[0] == '/');
	procfs_cgroup(getpid(), some, sizeof(some));
	len = strlen(some);
	assert_true(len < sizeof(some));
	assert_memory_equal(some, all, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_status),
		cmocka_unit_test(test_effective_user),
		cmocka_unit_test(test_with_a_time_limit),
		cmocka_unit_test(test_command_line),
		cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_start_time),
		cmocka_unit_test(test_kernel_thread),
		cmocka_unit_test(test_who_is_not_there),
		cmocka_unit_test(test_own_maps),
		cmocka_unit_test(test_maps_stop),
		cmocka_unit_test(test_deleted_file),
		cmocka_unit_test(test_names_of_files),
		cmocka_unit_test(test_leader_is_dead),
		cmocka_unit_test(test_living_thread_of_a_living_process),
		cmocka_unit_test(test_each_process),
		cmocka_unit_test(test_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
