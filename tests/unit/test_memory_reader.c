/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a child of this test, read through the helper. A page that nobody delivers is one of
 * userfaultfd without a server.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/capture/stacks/memory_reader.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
#define HUNG_PAGES 8			/* as many as children may be left behind */

struct world {
	struct memory_reader *r;
	pid_t target;
	char *good, *hung;		/* mapped in the target at the same addresses */
	char buf[256];
};

/* Pages that never come; NULL: not allowed here. The descriptor is inherited by the target. */
static char *hanging_pages(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	char *p = mmap(NULL, HUNG_PAGES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register reg = { .range = { (uintptr_t)p, HUNG_PAGES * PAGE },
				       .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		return NULL;
	return p;
}

static pid_t start_target(struct world *w, bool hangs)
{
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		w->hung = hangs ? hanging_pages() : NULL;
		if (write(ready[1], &w->hung, sizeof(w->hung)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &w->hung, sizeof(w->hung)), sizeof(w->hung));
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_target(struct world *w)
{
	kill(w->target, SIGKILL);
	waitpid(w->target, NULL, 0);
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	w->good = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(w->good + 100, "what stands there");
	w->r = memory_reader_new(NULL, NULL);
	w->target = start_target(w, true);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	end_target(w);
	memory_reader_free(w->r);
	munmap(w->good, PAGE);
	test_free(w);
	return 0;
}

static bool get(struct world *w, const char *addr, size_t bytes)
{
	memset(w->buf, '?', sizeof(w->buf));
	return !memory_reader_get(w->r, w->target, (uintptr_t)addr, w->buf, bytes, NULL);
}

static void test_reads(void **state)
{
	struct world *w = *state;

	assert_true(get(w, w->good + 100, 18));
	assert_string_equal(w->buf, "what stands there");
	assert_true(get(w, w->good, sizeof(w->buf)));
	assert_string_equal(w->buf + 100, "what stands there");
	assert_int_equal(memory_reader_hung(w->r), 0);
	memory_reader_free(NULL);
}

static void test_not_there(void **state)
{
	struct world *w = *state;

	assert_false(get(w, NULL, 16));
	assert_true(get(w, w->good, 16));
	end_target(w);
	assert_false(get(w, w->good, 16));
	assert_int_equal(memory_reader_hung(w->r), 0);
}

/* The reader's pid: the other child of this test. */
static pid_t reader_of(const struct world *w)
{
	char path[64];
	int pid, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid != w->target)
			found = pid;
	if (f)
		fclose(f);
	return found;
}

static void test_reader_is_killed(void **state)
{
	struct world *w = *state;
	pid_t reader;

	assert_true(get(w, w->good, 16));
	reader = reader_of(w);
	assert_true(reader > 0);
	kill(reader, SIGKILL);
	assert_true(get(w, w->good + 100, 18));
	assert_string_equal(w->buf, "what stands there");
	assert_int_equal(memory_reader_hung(w->r), 0);
	waitpid(reader, NULL, 0);
}

/*
 * Waits for the end of a reader that was left behind. Unlike a file server, userfaultfd(2) lets go
 * of a thread that is killed.
 */
static void await_end(pid_t reader)
{
	siginfo_t ended;

	assert_int_equal(waitid(P_PID, (id_t)reader, &ended, WEXITED | WNOWAIT), 0);
}

static void test_page_that_never_comes(void **state)
{
	struct world *w = *state;
	pid_t reader;
	uint64_t begin = now_ns();

	if (!w->hung) {
		print_message("needs the right to use userfaultfd\n");
		skip();
	}
	assert_true(get(w, w->good, 16));
	for (unsigned i = 0; i < 2; i++) {
		assert_true(get(w, w->good, 16));	/* once more, as the reader has ended */
		reader = reader_of(w);
		assert_false(get(w, w->hung, 16));
		assert_int_equal(memory_reader_hung(w->r), i + 1);
		await_end(reader);
	}
	/* That process is not asked again, not even for what it has. */
	assert_false(get(w, w->good, 16));
	assert_int_equal(memory_reader_hung(w->r), 2);
	/* Others are. */
	end_target(w);
	w->target = start_target(w, false);
	assert_true(get(w, w->good, 16));
	assert_true(now_ns() - begin < 10 * NSEC_PER_SEC);
}

/* As many as may be left behind at a time; then they have ended, and reading goes on. */
static void test_many_hang(void **state)
{
	struct world *w = *state;
	pid_t reader = 0;

	if (!w->hung)
		skip();
	for (unsigned i = 0; i < HUNG_PAGES; i++) {
		assert_true(get(w, w->good, 16));
		reader = reader_of(w);
		assert_false(get(w, w->hung, 16));
		assert_int_equal(memory_reader_hung(w->r), i + 1);
		end_target(w);
		w->target = start_target(w, i < HUNG_PAGES - 1);
	}
	await_end(reader);
	assert_true(get(w, w->good, 16));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_reads),
		T(test_not_there),
		T(test_reader_is_killed),
		T(test_page_that_never_comes),
		T(test_many_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
