/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Needs perf_event_open() for all processes, as root has it; skipped without. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/capture/processes/task_events.h"

#define LATE_LIBRARY "libBrokenLocale.so.1"	/* part of glibc that nothing is linked with */

/* ---- the child ---- */

static int run_child(void)
{
	prctl(PR_SET_NAME, "renamed");
	return dlopen(LATE_LIBRARY, RTLD_NOW) ? 7 : 1;
}

/* Forks and runs this program as the child, and waits for its end. */
static pid_t run_program(void)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		execl("/proc/self/exe", "test_task_events", "child", (char *)NULL);
		_exit(3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	return pid;
}

/* ---- what was seen ---- */

struct seen {
	struct task_event ev;
	char text[128];
};

struct log {
	struct seen *v;
	size_t nr, cap;
	int stop_after, err;
	int (*want)(const struct log *log, const struct task_event *ev);	/* NULL: all */
	uint64_t addr;			/* for want */
};

static int keep(void *ctx, const struct task_event *ev)
{
	struct log *log = ctx;
	struct seen *s;

	if (log->want && !log->want(log, ev))
		return 0;
	s = array_push(&log->v, &log->nr, &log->cap);
	assert_non_null(s);
	s->ev = *ev;
	snprintf(s->text, sizeof(s->text), "%s", ev->text);
	s->ev.text = NULL;	/* borrowed */
	return log->stop_after && (int)log->nr >= log->stop_after ? log->err : 0;
}

static struct task_events *open_or_skip(void)
{
	struct task_events *te;
	int err = task_events_open(false, &te);

	/* Without rights, or in a sandbox. Any other failure is our own. */
	if (err == -EPERM || err == -EACCES || err == -ENOSYS) {
		print_message("perf_event_open: %s\n", strerror(-err));
		skip();
	}
	assert_int_equal(err, 0);
	return te;
}

/* Events of the kind of the process from place i on; nr: none. */
static size_t find(const struct log *log, size_t i, uint32_t tgid, enum task_event_kind kind,
		   const char *text)
{
	for (; i < log->nr; i++) {
		const struct seen *s = &log->v[i];

		if (s->ev.kind == kind && s->ev.tgid == tgid && (!text || strstr(s->text, text)))
			break;
	}
	return i;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void unpin(void)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* ---- tests ---- */

static void expect_exe(const struct seen *s)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_true(s->ev.prot & PROT_EXEC);
	assert_int_equal(s->ev.ino, st.st_ino);
	assert_int_equal(s->ev.dev, (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev));
	assert_int_equal(s->ev.start % 4096, 0);
	assert_true(s->ev.len > 0);
}

static void test_life_of_a_program(void **state)
{
	struct task_events *te = open_or_skip();
	uint64_t before = now_ns();
	struct log log = { 0 };
	size_t i, last = 0;
	uint32_t pid;

	(void)state;
	pid = (uint32_t)run_program();
	assert_int_equal(task_events_drain(te, keep, &log), 0);

	i = find(&log, 0, pid, TASK_EVENT_FORK, NULL);
	assert_true(i < log.nr);
	assert_int_equal(log.v[i].ev.parent_tgid, getpid());
	assert_int_equal(log.v[i].ev.tid, pid);
	i = find(&log, i, pid, TASK_EVENT_EXEC, NULL);
	assert_true(i < log.nr);
	assert_string_equal(log.v[i].text, "exe");	/* of /proc/self/exe */
	i = find(&log, i, pid, TASK_EVENT_MAP, "test_task_events");
	assert_true(i < log.nr);
	expect_exe(&log.v[i]);
	i = find(&log, i, pid, TASK_EVENT_COMM, "renamed");
	assert_true(i < log.nr);
	i = find(&log, i, pid, TASK_EVENT_MAP, LATE_LIBRARY);
	assert_true(i < log.nr);
	i = find(&log, i, pid, TASK_EVENT_EXIT, NULL);
	assert_true(i < log.nr);
	assert_int_equal(log.v[i].ev.tid, pid);

	for (i = 0; i < log.nr; i++) {
		if (log.v[i].ev.tgid != pid)
			continue;
		assert_in_range(log.v[i].ev.time_ns, before, now_ns());
		assert_true(log.v[last].ev.time_ns <= log.v[i].ev.time_ns || !last);
		last = i;
	}
	free(log.v);
	task_events_close(te);
}

static int no_loss(const struct log *log, const struct task_event *ev)
{
	(void)log;
	return ev->kind != TASK_EVENT_LOST;
}

/* A child on another CPU must not be heard of before its fork: its mappings are inherited there. */
static void test_fork_comes_first(void **state)
{
	struct task_events *te = open_or_skip();
	struct log log = { .want = no_loss };
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t pids[20];

	(void)state;
	for (int i = 0; i < 20; i++) {
		pin(i % nr_cpus);
		pids[i] = (uint32_t)fork();
		if (!pids[i]) {
			pin((i + 1) % nr_cpus);
			prctl(PR_SET_NAME, "renamed");
			_exit(0);
		}
		if (i % 5 == 0)
			assert_int_equal(task_events_drain(te, keep, &log), 0);
	}
	unpin();
	while (wait(NULL) > 0)
		;
	assert_int_equal(task_events_drain(te, keep, &log), 0);
	for (int i = 0; i < 20; i++) {
		size_t f = find(&log, 0, pids[i], TASK_EVENT_FORK, NULL);
		size_t c = find(&log, 0, pids[i], TASK_EVENT_COMM, "renamed");
		size_t x = find(&log, 0, pids[i], TASK_EVENT_EXIT, NULL);

		assert_true(f < c && c < x && x < log.nr);
	}
	free(log.v);
	task_events_close(te);
}

static void test_readable_when_something_happens(void **state)
{
	struct task_events *te = open_or_skip();
	struct pollfd p = { .fd = task_events_fd(te), .events = POLLIN };
	struct log log = { 0 };

	(void)state;
	assert_int_equal(task_events_drain(te, keep, &log), 0);
	run_program();
	assert_int_equal(poll(&p, 1, 2000), 1);
	free(log.v);
	task_events_close(te);
}

static int own_map(const struct log *log, const struct task_event *ev)
{
	(void)log;
	return ev->kind == TASK_EVENT_LOST ||
	       (ev->kind == TASK_EVENT_MAP && ev->tid == (uint32_t)getpid());
}

/* Maps a page of this very program and lets it go again. */
static void map_page(int fd, uint64_t page)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)(page * 4096));

	assert_ptr_not_equal(p, MAP_FAILED);
	munmap(p, 4096);
}

#define ROUND_PAGES 301

static bool has_lost(const struct log *log, size_t from)
{
	for (size_t i = from; i < log->nr; i++)
		if (log->v[i].ev.kind == TASK_EVENT_LOST)
			return true;
	return false;
}

/*
 * Maps pages from first on. false: the kernel has lost some, and they do not count. It says so with
 * the next event for which there is room, and other programs may fill the buffer at once again.
 */
static bool map_round(struct task_events *te, struct log *log, int fd, uint64_t first)
{
	size_t begin = log->nr, first_nr;

	for (uint64_t i = 0; i < ROUND_PAGES; i++)
		map_page(fd, first + i);
	assert_int_equal(task_events_drain(te, keep, log), 0);
	first_nr = log->nr - begin;
	if (first_nr == ROUND_PAGES && !has_lost(log, begin))
		return true;
	for (int tries = 0; tries < 1000 && !has_lost(log, begin); tries++) {
		map_page(fd, first);
		assert_int_equal(task_events_drain(te, keep, log), 0);
	}
	if (!has_lost(log, begin))
		fail_msg("%zu records of %d, then %zu of %d, and none is said to be lost", first_nr, ROUND_PAGES,
			 log->nr - begin, ROUND_PAGES + 1000);
	log->nr = begin;
	return false;
}

/* On one CPU, and so with one buffer. */
static void stay_on(int cpu, cpu_set_t *before)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(*before), before), 0);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/*
 * Several times round the buffer: what wraps around its end must be put together rightly. Few at a
 * time, because other programs of the machine fill the same buffers, and if these leave no room the
 * round is made again.
 */
static void test_every_record_comes_once(void **state)
{
	struct task_events *te = open_or_skip();
	struct log log = { .want = own_map };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), tries = 1000;
	uint64_t page = 0;
	cpu_set_t before;

	(void)state;
	stay_on(sched_getcpu(), &before);
	for (int round = 0; round < 160; round++) {
		while (!map_round(te, &log, fd, page))
			assert_true(--tries > 0);
		page += ROUND_PAGES;
	}
	close(fd);
	sched_setaffinity(0, sizeof(before), &before);
	assert_int_equal(log.nr, page);
	for (size_t i = 0; i < log.nr; i++) {
		assert_int_equal(log.v[i].ev.pgoff_bytes, i * 4096);
		assert_int_equal(log.v[i].ev.len, 4096);
		assert_non_null(strstr(log.v[i].text, "test_task_events"));
	}
	free(log.v);
	task_events_close(te);
}

#define NR_TOO_MANY 40000	/* mappings: several times what the buffers hold */

/* The kernel counts what found no room; nothing goes missing in silence. */
static void test_losses_are_told(void **state)
{
	struct task_events *te = open_or_skip();
	struct log log = { .want = own_map };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t seen = 0, lost = 0;

	(void)state;
	pin(0);
	for (uint64_t i = 0; i < NR_TOO_MANY; i++)
		map_page(fd, i);
	assert_int_equal(task_events_drain(te, keep, &log), 0);
	map_page(fd, 0);	/* the count comes with the next record that fits */
	assert_int_equal(task_events_drain(te, keep, &log), 0);
	unpin();
	close(fd);
	for (size_t i = 0; i < log.nr; i++) {
		seen += log.v[i].ev.kind == TASK_EVENT_MAP;
		lost += log.v[i].ev.kind == TASK_EVENT_LOST ? log.v[i].ev.lost : 0;
	}
	assert_in_range(seen, 100, NR_TOO_MANY);
	assert_true(seen + lost >= NR_TOO_MANY + 1);
	free(log.v);
	task_events_close(te);
}

static int own_program(const struct log *log, const struct task_event *ev)
{
	(void)log;
	return ev->kind == TASK_EVENT_CODE && strstr(ev->text, "_probee_events");
}

/* A BPF program that does nothing. -1: it may not be loaded here. */
static int load_program(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t)"GPL";
	memcpy(attr.prog_name, "probee_events", 14);
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static void test_code_of_the_kernel(void **state)
{
	struct task_events *te = open_or_skip();
	struct log log = { .want = own_program };
	int fd = load_program();

	(void)state;
	if (fd < 0) {
		task_events_close(te);
		skip();
	}
	close(fd);
	/* A program is given up by a worker of the kernel. */
	for (unsigned i = 0; i < 500 && log.nr < 2; i++) {
		usleep(10000);
		assert_int_equal(task_events_drain(te, keep, &log), 0);
	}
	assert_int_equal(log.nr, 2);
	assert_false(log.v[0].ev.is_end);
	assert_true(log.v[1].ev.is_end);
	assert_true(log.v[0].ev.is_bpf && log.v[1].ev.is_bpf);
	assert_int_equal(log.v[0].ev.start, log.v[1].ev.start);
	assert_in_range(log.v[0].ev.len, 1, 4096);
	assert_true(log.v[0].ev.time_ns <= log.v[1].ev.time_ns);
	free(log.v);
	task_events_close(te);
}

/*
 * The kernel writes KSYMBOL wrongly for all but one of several listeners. Each of them has every
 * program at its time, and what follows, too.
 */
static void test_code_beside_other_listeners(void **state)
{
	struct task_events *te[3];
	uint64_t begin = now_ns();
	int fd;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		te[i] = open_or_skip();
	fd = load_program();
	if (fd < 0)
		skip();
	close(fd);
	for (size_t i = 0; i < 3; i++) {
		struct log log = { .want = own_program }, life = { .want = own_map };

		for (unsigned tries = 0; tries < 1000 && log.nr < 2; tries++) {
			usleep(10000);		/* a worker of the kernel gives it up */
			assert_int_equal(task_events_drain(te[i], keep, &log), 0);
		}
		assert_int_equal(log.nr, 2);
		for (size_t k = 0; k < log.nr; k++)
			assert_in_range(log.v[k].ev.time_ns, begin, now_ns());
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		map_page(fd, 0);
		close(fd);
		assert_int_equal(task_events_drain(te[i], keep, &life), 0);
		assert_in_range(life.nr, 1, 1 + i);	/* those of the turns before, too */
		free(log.v);
		free(life.v);
		task_events_close(te[i]);
	}
}

static void test_error_of_the_callback(void **state)
{
	struct task_events *te = open_or_skip();
	struct log log = { .want = own_map, .stop_after = 3, .err = -ECANCELED };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		map_page(fd, i);
	close(fd);
	assert_int_equal(task_events_drain(te, keep, &log), -ECANCELED);
	assert_int_equal(log.nr, 3);
	/* The rest is still there. */
	log.stop_after = 0;
	assert_int_equal(task_events_drain(te, keep, &log), 0);
	assert_int_equal(log.nr, 10);
	assert_int_equal(log.v[3].ev.pgoff_bytes, 3 * 4096);
	free(log.v);
	task_events_close(te);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_of_a_program),
		cmocka_unit_test(test_fork_comes_first),
		cmocka_unit_test(test_readable_when_something_happens),
		cmocka_unit_test(test_every_record_comes_once),
		cmocka_unit_test(test_losses_are_told),
		cmocka_unit_test(test_code_of_the_kernel),
		cmocka_unit_test(test_code_beside_other_listeners),
		cmocka_unit_test(test_error_of_the_callback),
	};

	if (argc == 2 && !strcmp(argv[1], "child"))
		return run_child();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
