/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stop signals, as a child of this test gets them that hangs, computes, or ends as it should. What
 * it says stands in the pipe that is its stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/base/stop_signals.h"

#define AFTER_NS (300 * NSEC_PER_MSEC)	/* the limit of these tests */

struct shared {
	atomic_bool is_open;		/* the child has come so far */
	atomic_bool has_seen;		/* it knows of a stop signal */
	atomic_int last;		/* times that last() was called */
	atomic_uint wakes;		/* times that the descriptor was readable */
	bool last_hangs;
};

struct world {
	struct shared *shared;
	pid_t child;
	int says;
	char said[512];
};

static struct shared *shared;

static void sleep_ms(unsigned ms)
{
	poll(NULL, 0, (int)ms);
}

static const char *last(void *ctx)
{
	assert_ptr_equal(ctx, shared);
	shared->last++;
	while (shared->last_hangs)
		pause();
	return "the last words";
}

/* ---- what the child does once the signals are open ---- */

static void hang(struct stop_signals *s)
{
	(void)s;
	for (;;)
		sleep_ms(1000000);
}

static void compute(struct stop_signals *s)
{
	uint64_t until = now_ns() + 4 * AFTER_NS;

	while (now_ns() < until)
		;
	stop_signals_close(s);
	_exit(7);
}

static void end_well(struct stop_signals *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	while (!s->stopped) {
		poll(&p, 1, -1);
		stop_signals_read(s);
	}
	shared->has_seen = true;
	stop_signals_close(s);
	_exit(5);
}

static void end_slowly(struct stop_signals *s)
{
	while (!s->stopped) {
		sleep_ms(1);
		stop_signals_read(s);
	}
	shared->has_seen = true;
	stop_signals_close(s);
	sleep_ms(300);
	_exit(5);
}

static void count_wakes(struct stop_signals *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	while (!s->stopped) {
		poll(&p, 1, -1);
		atomic_fetch_add(&shared->wakes, 1);
		stop_signals_read(s);
	}
	stop_signals_close(s);
	_exit(5);
}

/* The end takes as long as it is not urgent. */
static void end_when_urgent(struct stop_signals *s)
{
	while (!stop_signals_urgent(s))
		sleep_ms(10);
	_exit(stop_signals_left_ns(s) <= NSEC_PER_SEC ? 6 : 1);
}

/* Signals after the close have their usual effect. */
static void close_and_wait(struct stop_signals *s)
{
	stop_signals_close(s);
	stop_signals_close(s);
	atomic_store(&shared->is_open, true);
	for (;;)
		pause();
}

static pid_t start(struct world *w, void (*fn)(struct stop_signals *s), uint64_t after_ns)
{
	struct stop_limit limit = { after_ns, last, shared, NULL };
	struct stop_signals s;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	w->says = fds[0];
	w->child = fork();
	if (!w->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], STDERR_FILENO);
		if (stop_signals_open(&s, &limit))
			_exit(1);
		atomic_store(&shared->is_open, fn != close_and_wait);
		fn(&s);
		_exit(0);
	}
	close(fds[1]);
	while (!atomic_load(&shared->is_open))
		sleep_ms(1);
	return w->child;
}

/* Its wait status; w->said has what it said. */
static int end_of(struct world *w)
{
	int status;
	ssize_t n;

	assert_int_equal(waitpid(w->child, &status, 0), w->child);
	w->child = 0;
	n = read(w->says, w->said, sizeof(w->said) - 1);
	w->said[n > 0 ? n : 0] = 0;
	return status;
}

static void assert_exits(struct world *w, int code)
{
	int status = end_of(w);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	shared = w->shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	w->says = -1;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	if (w->child > 0) {
		kill(w->child, SIGKILL);
		waitpid(w->child, NULL, 0);
	}
	close(w->says);
	munmap(w->shared, sizeof(*w->shared));
	test_free(w);
	return 0;
}

/* ---- */

/*
 * The second half of a signal, as timeout(1) sends it, comes when the first one is handled. On a
 * busy machine it may come too late, so one of some tries counts.
 */
static void test_same_signal_late(void **state)
{
	struct world *w = *state;
	int status = -1;

	for (int i = 0; i < 5 && status; i++) {
		pid_t child;

		shared->is_open = shared->has_seen = false;
		child = start(w, end_slowly, AFTER_NS);
		kill(child, SIGINT);
		while (!atomic_load(&shared->has_seen))
			sleep_ms(1);
		kill(child, SIGINT);
		status = end_of(w);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 5)
			status = 0;
		close(w->says);
		w->says = -1;
	}
	assert_int_equal(status, 0);
}

static void test_ends_well(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct world *w = *state;

	for (int i = 0; i < 3; i++) {
		shared->is_open = shared->has_seen = false;
		kill(start(w, end_well, AFTER_NS), signals[i]);
		assert_exits(w, 5);
		assert_true(shared->has_seen);
		assert_string_equal(w->said, "");
		close(w->says);
	}
	w->says = -1;
	assert_int_equal(shared->last, 0);
}

static void test_hangs(void **state)
{
	struct world *w = *state;
	uint64_t begin = now_ns();

	kill(start(w, hang, AFTER_NS), SIGTERM);
	assert_exits(w, 128 + SIGTERM);
	assert_true(now_ns() - begin >= AFTER_NS);
	assert_int_equal(shared->last, 1);
	assert_non_null(strstr(w->said, "SIGTERM: something did not end in time"));
	assert_non_null(strstr(w->said, ": the last words\n"));
}

/* A command that is recorded may send what it likes to a recorder of the same user. */
static void test_hangs_under_a_flood(void **state)
{
	struct world *w = *state;
	pid_t child = start(w, hang, AFTER_NS);
	uint64_t until = now_ns() + 10 * NSEC_PER_SEC;
	siginfo_t end = { 0 };

	kill(child, SIGTERM);
	while (!end.si_pid && now_ns() < until) {
		kill(child, SIGCHLD);
		sleep_ms(1);
		waitid(P_PID, (id_t)child, &end, WEXITED | WNOHANG | WNOWAIT);
	}
	assert_int_equal(end.si_pid, child);
	assert_exits(w, 128 + SIGTERM);
	assert_non_null(strstr(w->said, "SIGTERM: something did not end in time"));
}

static void test_flood_wakes_seldom(void **state)
{
	struct world *w = *state;
	uint64_t begin = now_ns(), ms;
	pid_t child = start(w, count_wakes, 0);

	while (now_ns() - begin < 300 * NSEC_PER_MSEC)
		kill(child, SIGCHLD);
	ms = (now_ns() - begin) / NSEC_PER_MSEC;
	if (atomic_load(&shared->wakes) > ms / 2)
		fail_msg("woken %u times in %u ms", atomic_load(&shared->wakes), (unsigned)ms);
	kill(child, SIGINT);
	assert_exits(w, 5);
}

/* Two signals at once are one; a later one ends it at once, with any limit. */
static void test_second_signal(void **state)
{
	struct world *w = *state;
	pid_t child = start(w, hang, 0);

	kill(child, SIGINT);
	kill(child, SIGTERM);
	sleep_ms(500);
	assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
	kill(child, SIGINT);
	assert_exits(w, 128 + SIGINT);
	assert_int_equal(shared->last, 1);
	assert_non_null(strstr(w->said, "SIGINT: the second signal"));
}

/* What is done last may hang, too, and nobody may read what is said. */
static void test_all_hangs(void **state)
{
	struct world *w = *state;
	char fill[4096] = { 0 };
	pid_t child;

	shared->last_hangs = true;
	child = start(w, hang, AFTER_NS);
	kill(child, SIGINT);
	assert_exits(w, 128 + SIGINT);
	assert_non_null(strstr(w->said, "what was to be written last is missing"));
	close(w->says);
	shared->is_open = false;
	child = start(w, hang, AFTER_NS);
	/* Its stderr is a full pipe. */
	snprintf(fill, sizeof(fill), "/proc/%d/fd/2", child);
	{
		int fd = open(fill, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

		assert_true(fd >= 0);
		while (write(fd, fill, sizeof(fill)) > 0)
			;
		close(fd);
	}
	kill(child, SIGINT);
	assert_exits(w, 128 + SIGINT);
}

static void test_computing_is_not_hanging(void **state)
{
	struct world *w = *state;

	kill(start(w, compute, AFTER_NS), SIGINT);
	assert_exits(w, 7);
	assert_int_equal(shared->last, 0);
}

static void test_urgent(void **state)
{
	struct world *w = *state;

	kill(start(w, end_when_urgent, 10 * NSEC_PER_SEC), SIGINT);
	assert_exits(w, 6);
}

static void test_none_came(void **state)
{
	struct stop_signals s;

	(void)state;
	assert_int_equal(stop_signals_open(&s, NULL), 0);
	stop_signals_read(&s);
	assert_false(s.stopped);
	assert_false(stop_signals_urgent(&s));
	assert_int_equal(stop_signals_left_ns(&s), UINT64_MAX);
	/* A child that ends wakes who polls, and is no stop signal. */
	if (!fork())
		_exit(0);
	assert_int_equal(poll(&(struct pollfd){ .fd = s.fd, .events = POLLIN }, 1, 10000), 1);
	stop_signals_read(&s);
	assert_false(s.stopped);
	wait(NULL);
	stop_signals_close(&s);
}

static void test_after_the_close(void **state)
{
	struct world *w = *state;
	int status;

	kill(start(w, close_and_wait, AFTER_NS), SIGTERM);
	status = end_of(w);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

/* The smallest of many counts: a busy machine may delay any of them. */
static void test_closes_at_once(void **state)
{
	uint64_t least = UINT64_MAX;

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct stop_signals s;
		struct pollfd p;
		uint64_t begin;

		assert_int_equal(stop_signals_open(&s, NULL), 0);
		p = (struct pollfd){ .fd = s.fd, .events = POLLIN };
		kill(getpid(), SIGCHLD);
		assert_int_equal(poll(&p, 1, 10000), 1);
		begin = now_ns();
		stop_signals_close(&s);
		least = now_ns() - begin < least ? now_ns() - begin : least;
	}
	assert_true(least < 3 * NSEC_PER_MSEC);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_ends_well),
		T(test_same_signal_late),
		T(test_hangs),
		T(test_hangs_under_a_flood),
		T(test_flood_wakes_seldom),
		T(test_second_signal),
		T(test_all_hangs),
		T(test_computing_is_not_hanging),
		T(test_urgent),
		T(test_none_came),
		T(test_after_the_close),
		cmocka_unit_test(test_closes_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
