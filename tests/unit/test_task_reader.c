/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that reads the iterator, with a file in place of the iterator: the functions of
 * libbpf that open it are defined here, and run in that process. The program's descriptor is the
 * file.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/knobs.h"
#include "src/capture/collectors/task_reader.h"
#include "tests/unit/stderr_text.h"

/* What both processes see. */
struct shared {
	struct scan_place place;
	pid_t reader;
	uint32_t only_pid, only_tid;	/* of the last link */
	unsigned links;
	int refuse_scopes;		/* errno of a link to less than all tasks */
	int refuse_all;
};

static struct shared *shared;

int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type type,
		    const struct bpf_link_create_opts *opts)
{
	int refused = opts ? shared->refuse_scopes : shared->refuse_all;

	(void)target_fd;
	shared->reader = getpid();
	shared->links++;
	shared->only_pid = opts ? opts->iter_info->task.pid : 0;
	shared->only_tid = opts ? opts->iter_info->task.tid : 0;
	if (type != BPF_TRACE_ITER || refused) {
		errno = refused;
		return -1;
	}
	lseek(prog_fd, 0, SEEK_SET);
	return dup(prog_fd);
}

int bpf_iter_create(int link_fd)
{
	return dup(link_fd);
}

struct world {
	struct task_reader *r;
	int file, pipe;			/* where its rows come from; the other end of a pipe */
	bool is_urgent;
	uint8_t buf[TASK_READER_BYTES];
};

static bool is_urgent(void *ctx)
{
	return ((const struct world *)ctx)->is_urgent;
}

static void open_reader(struct world *w, int file)
{
	w->file = file;
	assert_true(file >= 0);
	assert_int_equal(task_reader_open(&(struct task_reader_deps){
						.prog_fd = file, .place = &shared->place,
						.is_urgent = is_urgent, .ctx = w },
					  &w->r),
			 0);
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	w->file = w->pipe = -1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	return shared == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	task_reader_close(w->r);
	close(w->file);
	close(w->pipe);
	munmap(shared, sizeof(*shared));
	test_free(w);
	return 0;
}

static int file_of(size_t bytes)
{
	int fd = memfd_create("rows", MFD_CLOEXEC);

	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(write(fd, &(uint8_t){ (uint8_t)(i * 7 + i / 251) }, 1), 1);
	return fd;
}

static int begin(struct world *w, struct reader_scope scope)
{
	return task_reader_begin(w->r, &scope);
}

static long next(struct world *w)
{
	return task_reader_next(w->r, w->buf, sizeof(w->buf));
}

/* All rows as they are in the file, in pieces. */
static void assert_walk(struct world *w, size_t bytes)
{
	size_t at = 0;
	long n;

	assert_int_equal(begin(w, (struct reader_scope){ 0 }), 0);
	while ((n = next(w)) > 0)
		for (long i = 0; i < n; i++, at++)
			assert_int_equal(w->buf[i], (uint8_t)(at * 7 + at / 251));
	assert_int_equal(n, 0);
	assert_int_equal(at, bytes);
}

static void test_walks(void **state)
{
	struct world *w = *state;
	char where[64];

	open_reader(w, file_of(100000));
	assert_walk(w, 100000);
	assert_walk(w, 100000);
	assert_int_equal(shared->links, 2);
	assert_int_equal(shared->only_pid, 0);
	assert_int_not_equal(shared->reader, getpid());
	task_reader_waits_in(w->r, where, sizeof(where));
	assert_true(strlen(where) < sizeof(where));
	task_reader_cpu_ns(w->r);
}

static void test_no_rows(void **state)
{
	struct world *w = *state;

	open_reader(w, file_of(0));
	assert_walk(w, 0);
	task_reader_close(NULL);
}

static void test_scopes(void **state)
{
	struct world *w = *state;

	open_reader(w, file_of(10));
	assert_int_equal(begin(w, (struct reader_scope){ .only_pid = 5 }), 0);
	assert_int_equal(next(w), 10);
	assert_int_equal(next(w), 0);
	assert_int_equal(shared->only_pid, 5);
	assert_int_equal(begin(w, (struct reader_scope){ .only_pid = 5, .only_tid = 6 }), 0);
	assert_int_equal(next(w), 10);
	assert_int_equal(next(w), 0);
	assert_int_equal(shared->only_tid, 6);
	assert_int_equal(shared->links, 2);
}

/* A kernel that cannot visit less than all does so unless it is not to, and says nothing. */
static void test_scopes_on_an_old_kernel(void **state)
{
	struct world *w = *state;

	shared->refuse_scopes = EINVAL;
	open_reader(w, file_of(10));
	assert_int_equal(begin(w, (struct reader_scope){ .only_pid = 5 }), 0);
	assert_int_equal(next(w), 10);
	assert_int_equal(next(w), 0);
	assert_int_equal(shared->links, 2);
	stderr_begin();
	begin(w, (struct reader_scope){ .only_pid = 5, .strictly = 1 });
	assert_int_equal(next(w), -ENOTSUP);
	assert_string_equal(stderr_end(), "");
	/* Nobody of that number. */
	shared->refuse_scopes = ESRCH;
	assert_int_equal(begin(w, (struct reader_scope){ .only_tid = 5, .strictly = 1 }), 0);
	assert_int_equal(next(w), 0);
	assert_int_equal(begin(w, (struct reader_scope){ 0 }), 0);
	assert_int_equal(next(w), 10);
}

static void test_no_iterator(void **state)
{
	struct world *w = *state;
	long err;

	shared->refuse_all = EPERM;
	open_reader(w, file_of(10));
	assert_int_equal(begin(w, (struct reader_scope){ 0 }), 0);
	stderr_begin();
	err = next(w);
	assert_non_null(strstr(stderr_end(), "walk the tasks: Operation not permitted"));
	assert_int_equal(err, -EPERM);
}

static void test_iterator_fails(void **state)
{
	struct world *w = *state;
	long err;

	open_reader(w, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	assert_int_equal(begin(w, (struct reader_scope){ 0 }), 0);
	stderr_begin();
	err = next(w);
	assert_non_null(strstr(stderr_end(), "walk the tasks: Is a directory"));
	assert_int_equal(err, -EISDIR);
}

/* A pipe that nothing comes out of; until the other end is written to or closed. */
static void open_blocking(struct world *w)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	w->pipe = fds[1];
	open_reader(w, fds[0]);
	assert_int_equal(begin(w, (struct reader_scope){ 0 }), 0);
}

static pid_t wait_for_reader(void)
{
	while (!*(volatile pid_t *)&shared->reader)
		usleep(1000);
	return shared->reader;
}

/* That is for the caller to say: it is no error. */
static void test_reader_is_killed(void **state)
{
	struct world *w = *state;
	long err;

	open_blocking(w);
	kill(wait_for_reader(), SIGKILL);
	stderr_begin();
	err = next(w);
	assert_string_equal(stderr_end(), "");
	assert_int_equal(err, -ECHILD);
	assert_int_equal(begin(w, (struct reader_scope){ 0 }), -ECHILD);
}

static void test_killed_between_walks(void **state)
{
	struct world *w = *state;
	int err = 0;

	open_reader(w, file_of(10));
	assert_walk(w, 10);
	kill(shared->reader, SIGKILL);
	/* Either call may be the first to see it. */
	for (int i = 0; i < 1000 && !err; i++) {
		err = begin(w, (struct reader_scope){ 0 });
		usleep(1000);
	}
	assert_int_equal(err, -ECHILD);
}

/* A stopped reader does not hang, but who waits for the end leaves it behind. */
static void test_urgent(void **state)
{
	struct world *w = *state;

	open_blocking(w);
	kill(wait_for_reader(), SIGSTOP);
	w->is_urgent = true;
	assert_int_equal(next(w), -EINTR);
}

static void test_reader_hangs(void **state)
{
	struct world *w = *state;

	open_blocking(w);
	assert_int_equal(next(w), -ETIMEDOUT);
	/* It is left behind: closing does not wait for it. */
	task_reader_close(w->r);
	w->r = NULL;
}

/* It can be killed at any moment, so it counts as dead: nobody waits for it. */
static void test_reader_is_stopped(void **state)
{
	struct world *w = *state;

	open_blocking(w);
	kill(wait_for_reader(), SIGSTOP);
	assert_int_equal(next(w), -ECHILD);
	assert_true(task_reader_was_stopped(w->r));
	stderr_begin();
	task_reader_bury(w->r);
	w->r = NULL;
	assert_non_null(strstr(stderr_end(), "probee-reader, was stopped by somebody"));
	assert_int_equal(kill(shared->reader, 0), -1);
}

static void *visit_tasks(void *arg)
{
	struct world *w = arg;

	for (int i = 0; i < 26; i++) {
		usleep(100000);
		__atomic_fetch_add(&shared->place.visits, 1, __ATOMIC_RELAXED);
	}
	assert_int_equal(write(w->pipe, "rows", 4), 4);
	close(w->pipe);
	w->pipe = -1;
	return NULL;
}

/* It gives no rows for longer than that, but comes from task to task. */
static void test_slow_is_not_hanging(void **state)
{
	struct world *w = *state;
	pthread_t visitor;

	open_blocking(w);
	assert_int_equal(pthread_create(&visitor, NULL, visit_tasks, w), 0);
	assert_int_equal(next(w), 4);
	assert_memory_equal(w->buf, "rows", 4);
	pthread_join(visitor, NULL);
	assert_int_equal(next(w), 0);
}

static void *stop_and_go(void *arg)
{
	struct world *w = arg;

	while (!*(volatile pid_t *)&shared->reader)
		usleep(1000);
	kill(shared->reader, SIGSTOP);
	usleep(2600000);
	assert_int_equal(write(w->pipe, "rows", 4), 4);
	kill(shared->reader, SIGCONT);
	return NULL;
}

static void test_stopped_is_not_hanging(void **state)
{
	struct world *w = *state;
	pthread_t stopper;

	open_blocking(w);
	assert_int_equal(pthread_create(&stopper, NULL, stop_and_go, w), 0);
	assert_int_equal(next(w), 4);
	pthread_join(stopper, NULL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_walks),
		T(test_no_rows),
		T(test_scopes),
		T(test_scopes_on_an_old_kernel),
		T(test_no_iterator),
		T(test_iterator_fails),
		T(test_reader_is_killed),
		T(test_killed_between_walks),
		T(test_urgent),
		T(test_reader_is_stopped),
		T(test_reader_hangs),
		T(test_slow_is_not_hanging),
		T(test_stopped_is_not_hanging),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
