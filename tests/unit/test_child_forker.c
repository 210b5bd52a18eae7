/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children that another process forks: whose they are, what they hold, and a forker that is gone. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/child_forker.h"
#include "src/base/helper_deaths.h"
#include "tests/unit/stderr_text.h"

#define BIG (64u << 20)

struct about {
	pid_t pid, parent;
	uint64_t open_fds;
	uint8_t of_big;			/* what the child sees of the parent's memory */
};

static volatile uint8_t *big;

/* The child says who it is, on its only descriptor. */
static void child_main(void)
{
	struct about a = { .pid = getpid(), .parent = getppid(), .of_big = big ? big[BIG - 1] : 0 };

	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			a.open_fds |= 1ull << fd;
	_exit(write(3, &a, sizeof(a)) != sizeof(a));
}

/* Not of a signal that cmocka handles. */
static void dying_main(void)
{
	kill(getpid(), SIGUSR1);
}

struct world {
	struct child_forker *f;
	struct helper_deaths *deaths;
};

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	w->deaths = helper_deaths_new();
	assert_non_null(w->deaths);
	assert_int_equal(child_forker_new(NULL, w->deaths, &w->f), 0);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	child_forker_free(w->f);
	helper_deaths_free(w->deaths);
	free((void *)big);
	big = NULL;
	test_free(w);
	return 0;
}

/* What a child says that ends well. */
static struct about ask(struct child_forker *f)
{
	struct about a = { 0 };
	int ends[2], status;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = child_forker_fork(f, child_main, &ends[1], 1);
	assert_true(pid > 0);
	close(ends[1]);
	assert_int_equal(read(ends[0], &a, sizeof(a)), sizeof(a));
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(a.pid, pid);
	assert_int_equal(a.parent, getpid());
	assert_int_equal(a.open_fds, 0xf);
	return a;
}

/* The only child that this process has; 0: the kernel does not tell. */
static pid_t forker_of(void)
{
	char path[64], line[256] = "";
	pid_t pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f))
		pid = (pid_t)strtol(line, NULL, 10);
	if (f)
		fclose(f);
	return pid;
}

static void test_children_are_ours(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 100; i++)
		ask(w->f);
	ask(NULL);
	assert_int_equal(helper_deaths_count(w->deaths), 0);
}

/* What this process allocates later, by whatever allocator, is no memory of the child. */
static void test_children_are_small(void **state)
{
	struct world *w = *state;

	big = malloc(BIG);
	assert_non_null((void *)big);
	memset((void *)big, 7, BIG);
	assert_int_equal(ask(w->f).of_big, 0);
	assert_int_equal(ask(NULL).of_big, 7);
}

static void test_forker_is_killed(void **state)
{
	struct world *w = *state;
	pid_t forker = forker_of();

	if (!forker)
		skip();
	kill(forker, SIGKILL);
	stderr_begin();
	ask(w->f);
	assert_non_null(strstr(stderr_end(), "probee-forker, was ended by signal 9 (Killed)"));
	assert_int_equal(helper_deaths_count(w->deaths), 1);
	ask(w->f);
	assert_int_equal(helper_deaths_count(w->deaths), 1);
}

static void test_forker_is_stopped(void **state)
{
	struct world *w = *state;
	pid_t forker = forker_of();

	if (!forker)
		skip();
	kill(forker, SIGSTOP);
	stderr_begin();
	ask(w->f);
	assert_non_null(strstr(stderr_end(), "probee-forker, did not answer"));
	assert_int_equal(waitpid(forker, NULL, WNOHANG), -1);
}

static void test_a_forker_that_ended_is_seen(void **state)
{
	struct world *w = *state;
	pid_t forker = forker_of();

	if (!forker)
		skip();
	child_forker_look(w->f);
	assert_int_equal(helper_deaths_count(w->deaths), 0);
	kill(forker, SIGKILL);
	stderr_begin();
	while (!helper_deaths_count(w->deaths)) {
		child_forker_look(w->f);
		usleep(1000);
	}
	stderr_end();
	assert_int_equal(helper_deaths_count(w->deaths), 1);
}

/* Each death counts; each cause is said once. */
static void test_deaths(void **state)
{
	struct world *w = *state;
	const char *said;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	stderr_begin();
	for (int i = 0; i < 3; i++) {
		pid_t pid = child_forker_fork(w->f, dying_main, &fd, 1);

		assert_true(pid > 0);
		child_forker_bury(w->f, "probee-test", &pid, 0);
		assert_int_equal(pid, 0);
	}
	child_forker_bury(w->f, "probee-test", &(pid_t){ 0 }, HELPER_END_STOPPED);
	said = strstr(stderr_end(), "probee-test, was ended by signal 10 (User defined signal 1)");
	assert_non_null(said);
	assert_null(strstr(strchr(said, '\n'), "signal 10"));
	assert_non_null(strstr(said, "probee-test, was stopped by somebody"));
	assert_int_equal(helper_deaths_count(w->deaths), 4);
	close(fd);
}

static void test_words(void **state)
{
	char text[96];

	(void)state;
	helper_end_text(3 << 8, text, sizeof(text));
	assert_string_equal(text, "ended with status 3");
	helper_end_text(SIGXCPU, text, sizeof(text));
	assert_string_equal(text, "was killed for the CPU time that it took");
	helper_end_text(HELPER_END_UNKNOWN, text, sizeof(text));
	assert_string_equal(text, "ended");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_children_are_ours),
		T(test_children_are_small),
		T(test_forker_is_killed),
		T(test_forker_is_stopped),
		T(test_a_forker_that_ended_is_seen),
		T(test_deaths),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
