/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helper processes that answer, die, hang and lie. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
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
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/base/helper_deaths.h"
#include "src/helpers/helper.h"
#include "tests/unit/stderr_text.h"

#define MAX_ANSWER (1u << 20)
#define LONG_NS (20 * NSEC_PER_SEC)

enum op { ECHO, PID, DIE, KILLED, HANG, HUGE, WRITE_TO_FD, GROW, SPIN, SPIN_LONG, GIVE_FD };

static void echo(struct helper_message *m, struct helper_message *answer)
{
	memcpy(answer->part, m->part, sizeof(answer->part));
	answer->status = -ENOTTY;
}

static void grow(int fd)
{
	for (int i = 0; i < 8; i++) {
		usleep(100000);
		if (write(fd, "x", 1) != 1)
			_exit(1);
	}
}

static void spin(int ms)
{
	uint64_t until = now_ns() + (uint64_t)ms * NSEC_PER_MSEC;

	while (now_ns() < until)
		;
}

/* What is asked for costs as many helpers their lives as the descriptor has bytes. */
static void be_killed(int fd)
{
	char byte;

	if (read(fd, &byte, 1) == 1)
		raise(SIGKILL);
}

static void serve(void *state, struct helper_message *m, struct helper_message *answer)
{
	static char huge[MAX_ANSWER + 1];
	static pid_t pid;

	(void)state;
	switch ((enum op)m->op) {
	case ECHO: echo(m, answer); break;
	case DIE: raise(SIGTRAP); break;
	case KILLED: be_killed(m->fds[0]); break;
	case HANG: pause(); break;
	case HUGE: answer->part[2] = (struct message_part){ huge, sizeof(huge) }; break;
	case WRITE_TO_FD: answer->status = (int)write(m->fds[0], "hello", 5); break;
	case GROW: grow(m->fds[0]); break;
	case GIVE_FD: answer->fds[answer->nr_fds++] = STDIN_FILENO; break;
	case SPIN: spin(300); break;
	case SPIN_LONG: spin(2000); break;
	case PID:
		pid = getpid();
		answer->part[0] = (struct message_part){ &pid, sizeof(pid) };
		break;
	}
}

static int refuse(void **state)
{
	(void)state;
	return -EPERM;
}

static const struct helper_kind good = { .name = "test-good", .serve = serve,
					 .max_request = 1 << 20 };
static const struct helper_kind refusing = { .name = "test-refusing", .serve = serve,
					     .begin = refuse, .max_request = 1 << 20 };
static const struct helper_kind giving = { .name = "test-giving", .serve = serve,
					   .gives_fds = true, .fresh_after_ns = 100 * NSEC_PER_MSEC,
					   .max_request = 1 << 20 };

/* Between the test and its helpers. */
static struct shared {
	unsigned rests;			/* calls of rest() */
	uint64_t asked_ns, called_ns;	/* the time that it wanted to be called again, and when it was */
} *shared;

/* Has something to give up twice after the first answer, and once after others. */
static uint64_t rest(void *state, uint64_t now_ns)
{
	unsigned nr = __atomic_load_n(&shared->rests, __ATOMIC_ACQUIRE) + 1;

	(void)state;
	shared->called_ns = now_ns;
	if (nr != 3)
		shared->asked_ns = now_ns + 20 * NSEC_PER_MSEC;
	__atomic_store_n(&shared->rests, nr, __ATOMIC_RELEASE);
	return nr == 3 ? 0 : shared->asked_ns;
}

static const struct helper_kind resting = { .name = "test-resting", .serve = serve, .rest = rest,
					    .max_request = 1 << 20 };
static const struct helper_kind *const kinds[] = { &good, &refusing, &giving, &resting };

struct world {
	struct helper_keeper *keeper;
	struct helper *h;
};

static int setup(void **state)
{
	struct helper_keeper_options opts = { .kinds = kinds, .nr_kinds = 4 };
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	assert_int_equal(helper_keeper_new(&opts, &w->keeper), 0);
	assert_int_equal(helper_new(w->keeper, &good, &w->h), 0);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	helper_free(w->h);
	helper_keeper_free(w->keeper);
	munmap(shared, sizeof(*shared));
	test_free(w);
	return 0;
}

static int ask(struct helper *h, enum op op, uint64_t ns)
{
	struct helper_message m = { .op = op }, answer;
	struct helper_wait wait = { .until_ns = now_ns() + ns };
	int err = helper_call(h, &m, MAX_ANSWER, &wait, &answer);

	if (!err)
		err = answer.status;
	helper_message_release(&answer);
	return err;
}

static pid_t pid_of(struct helper *h)
{
	struct helper_message m = { .op = PID }, answer;
	struct helper_wait wait = { .until_ns = now_ns() + LONG_NS };
	pid_t pid;

	assert_int_equal(helper_call(h, &m, MAX_ANSWER, &wait, &answer), 0);
	assert_int_equal(answer.part[0].len, sizeof(pid));
	memcpy(&pid, answer.part[0].v, sizeof(pid));
	helper_message_release(&answer);
	return pid;
}

static struct helper_stats stats_of(struct world *w)
{
	struct helper_stats s;

	helper_keeper_stats(w->keeper, &s);
	return s;
}

/* true: the process ends within some seconds. */
static bool ends(pid_t pid)
{
	for (int i = 0; i < 500 && !kill(pid, 0); i++)
		usleep(10000);
	return kill(pid, 0) && errno == ESRCH;
}

static void test_parts_and_status(void **state)
{
	struct world *w = *state;
	char text[] = "four parts", *big = test_malloc(700000);
	struct helper_message m = { .op = ECHO, .part = { { text, 10 }, { 0 }, { big, 700000 },
							  { text, 4 } } };
	struct helper_wait wait = { .until_ns = now_ns() + LONG_NS };
	struct helper_message answer;
	size_t len;
	char *part;

	memset(big, 'b', 700000);
	assert_int_equal(helper_call(w->h, &m, MAX_ANSWER, &wait, &answer), 0);
	assert_int_equal(answer.status, -ENOTTY);
	assert_int_equal(answer.part[0].len, 10);
	assert_string_equal(answer.part[0].v, "four parts");
	assert_int_equal(answer.part[1].len, 0);
	assert_memory_equal(answer.part[2].v, big, 700000);
	part = helper_take_part(&answer, 3, &len);
	assert_int_equal(len, 4);
	assert_string_equal(part, "four");
	helper_message_release(&answer);
	free(part);
	test_free(big);
}

static void await_rests(unsigned nr)
{
	uint64_t until = now_ns() + LONG_NS;

	while (__atomic_load_n(&shared->rests, __ATOMIC_ACQUIRE) < nr && now_ns() < until)
		usleep(1000);
	assert_int_equal(__atomic_load_n(&shared->rests, __ATOMIC_ACQUIRE), nr);
}

/* It is called after an answer, at the times that it asks for, and is no bar to the next request. */
static void test_rest(void **state)
{
	struct world *w = *state;
	struct helper *h;

	assert_int_equal(helper_new(w->keeper, &resting, &h), 0);
	assert_int_equal(ask(h, ECHO, LONG_NS), -ENOTTY);
	await_rests(3);
	assert_true(shared->called_ns >= shared->asked_ns);
	usleep(50000);
	await_rests(3);			/* there is nothing left to give up */
	assert_int_equal(ask(h, ECHO, LONG_NS), -ENOTTY);
	assert_int_equal(ask(h, ECHO, LONG_NS), -ENOTTY);
	assert_true(pid_of(h) > 0);
	helper_free(h);
}

static void test_descriptors(void **state)
{
	struct world *w = *state;
	struct helper_wait wait = { .until_ns = now_ns() + LONG_NS };
	struct helper_message m = { .op = WRITE_TO_FD, .nr_fds = 1 }, answer;
	char text[8] = "";
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	m.fds[0] = pipes[1];
	assert_int_equal(helper_call(w->h, &m, MAX_ANSWER, &wait, &answer), 0);
	assert_int_equal(answer.status, 5);
	helper_message_release(&answer);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], text, sizeof(text)), 5);
	assert_string_equal(text, "hello");
	/* The helper has closed its copy, so this is the end of the pipe. */
	assert_int_equal(read(pipes[0], text, sizeof(text)), 0);
	close(pipes[0]);
}

static void test_death_costs_one_answer(void **state)
{
	struct world *w = *state;
	pid_t first = pid_of(w->h);

	assert_int_equal(ask(w->h, DIE, LONG_NS), -EPIPE);
	assert_int_not_equal(pid_of(w->h), first);
	assert_int_equal(stats_of(w).died, 1);
	assert_int_equal(stats_of(w).stalled, 0);
}

/* Asks for what the first nr helpers are killed over. */
static int ask_killed(struct helper *h, unsigned nr)
{
	struct helper_message m = { .op = KILLED, .nr_fds = 1 }, answer;
	struct helper_wait wait = { .until_ns = now_ns() + LONG_NS };
	int pipes[2], err;

	assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
	for (unsigned i = 0; i < nr; i++)
		assert_int_equal(write(pipes[1], "x", 1), 1);
	m.fds[0] = pipes[0];
	err = helper_call(h, &m, MAX_ANSWER, &wait, &answer);
	helper_message_release(&answer);
	close(pipes[0]);
	close(pipes[1]);
	return err;
}

/* Helpers that somebody kills while they work are started again, but not for ever. */
static void test_killed_is_asked_again(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask_killed(w->h, 1), 0);
	assert_int_equal(stats_of(w).again, 1);
	assert_int_equal(ask_killed(w->h, 3), 0);
	assert_int_equal(stats_of(w).again, 4);
	assert_int_equal(stats_of(w).died, 0);
	assert_int_equal(ask_killed(w->h, 10), -EOWNERDEAD);
	assert_int_equal(stats_of(w).again, 7);
	assert_int_equal(stats_of(w).died, 1);
	assert_int_equal(stats_of(w).calls, 3);
}

/* Ended, and perhaps not reaped yet. */
static bool is_dead(pid_t pid)
{
	char path[40], line[512] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return true;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	return !line[0] || !strncmp(strrchr(line, ')'), ") Z", 3);
}

/* One that was killed between two calls costs none. */
static void test_killed_while_idle(void **state)
{
	struct world *w = *state;
	pid_t first = pid_of(w->h);

	assert_int_equal(kill(first, SIGKILL), 0);
	while (!is_dead(first))
		usleep(1000);
	assert_int_not_equal(pid_of(w->h), first);
	assert_int_equal(stats_of(w).died, 0);
}

static void test_hang_is_left_behind(void **state)
{
	struct world *w = *state;
	pid_t first = pid_of(w->h);

	assert_int_equal(ask(w->h, HANG, 200 * NSEC_PER_MSEC), -ETIMEDOUT);
	assert_int_not_equal(pid_of(w->h), first);
	assert_int_equal(stats_of(w).stalled, 1);
	assert_int_equal(ask(w->h, ECHO, LONG_NS), -ENOTTY);
}

/* It sleeps for nothing that we know, so its 20 s are not waited for; one that computes has them. */
static void test_stuck_before_its_time(void **state)
{
	struct world *w = *state;
	uint64_t begin = now_ns();

	assert_int_equal(ask(w->h, HANG, LONG_NS), -ETIMEDOUT);
	assert_true(now_ns() - begin < LONG_NS / 2);
	assert_int_equal(ask(w->h, SPIN_LONG, LONG_NS), 0);
}

/* A process that only spins, on one CPU and with a nice value of 0. */
static pid_t start_spinner(const cpu_set_t *cpu)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sched_setaffinity(0, sizeof(*cpu), cpu);
	for (;;)
		;
}

/*
 * A helper that hardly gets any CPU for the 2 s of its answer has not used up its time of 1 s. Time
 * that nobody can take for its own is not counted.
 */
static void test_starved_is_not_slow(void **state)
{
	struct world *w = *state;
	struct helper_message m = { .op = SPIN_LONG }, answer;
	uint64_t spent = 0;
	struct helper_wait wait = { .spent_ns = &spent };
	pid_t pid = pid_of(w->h), spinners[2];
	cpu_set_t all, one;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(pid, sizeof(one), &one), 0);
	assert_int_equal(setpriority(PRIO_PROCESS, (id_t)pid, 19), 0);
	for (int i = 0; i < 2; i++)
		spinners[i] = start_spinner(&one);
	wait.until_ns = now_ns() + NSEC_PER_SEC;
	assert_int_equal(helper_call(w->h, &m, MAX_ANSWER, &wait, &answer), 0);
	helper_message_release(&answer);
	assert_true(spent < NSEC_PER_SEC);
	for (int i = 0; i < 2; i++) {
		kill(spinners[i], SIGKILL);
		waitpid(spinners[i], NULL, 0);
	}
}

/* One that computes for longer than it may is given up, and so is one that sleeps. */
static void test_limit_of_what_computes(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w->h, SPIN_LONG, 100 * NSEC_PER_MSEC), -ETIMEDOUT);
	assert_int_equal(stats_of(w).stalled, 1);
}

/* Somebody has stopped it: that is no fault of what it was asked. */
static void test_stopped(void **state)
{
	struct world *w = *state;
	pid_t pid = pid_of(w->h);

	assert_int_equal(kill(pid, SIGSTOP), 0);
	stderr_begin();
	assert_int_equal(ask(w->h, ECHO, LONG_NS), -ENOTTY);
	assert_non_null(strstr(stderr_end(), "test-good, was stopped by somebody"));
	assert_int_equal(stats_of(w).stalled, 0);
	assert_int_equal(stats_of(w).again, 1);
	assert_int_equal(ask(w->h, ECHO, LONG_NS), -ENOTTY);
	while (!is_dead(pid))
		usleep(1000);
}

/* Whichever helper ends, it is said what ended it. */
static void test_death_is_said(void **state)
{
	struct world *w = *state;
	const char *said;
	pid_t pid;

	stderr_begin();
	assert_int_equal(ask(w->h, DIE, LONG_NS), -EPIPE);
	pid = pid_of(w->h);
	assert_int_equal(kill(pid, SIGUSR1), 0);
	while (!is_dead(pid))
		usleep(1000);
	pid_of(w->h);
	said = stderr_end();
	assert_non_null(strstr(said, "test-good, was ended by signal 5 (Trace/breakpoint trap)"));
	assert_non_null(strstr(said, "test-good, was ended by signal 10 (User defined signal 1)"));
}

static void *set_later(void *flag)
{
	usleep(100000);
	atomic_store((atomic_bool *)flag, true);
	return NULL;
}

static void test_unwanted(void **state)
{
	struct world *w = *state;
	atomic_bool unwanted = false;
	struct helper_message m = { .op = HANG }, answer;
	struct helper_wait wait = { .until_ns = now_ns() + LONG_NS, .unwanted = &unwanted };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, set_later, &unwanted), 0);
	assert_int_equal(helper_call(w->h, &m, MAX_ANSWER, &wait, &answer), -ECANCELED);
	pthread_join(thread, NULL);
	assert_int_equal(stats_of(w).stalled + stats_of(w).died, 0);
}

/* As long as the file grows there is time: 0.8 s here, with a stall of 0.5 s. */
static void test_growth_extends_the_wait(void **state)
{
	struct world *w = *state;
	int fd = memfd_create("grows", MFD_CLOEXEC);
	struct helper_message m = { .op = GROW, .fds = { fd }, .nr_fds = 1 }, answer;
	struct helper_wait wait = { .until_ns = now_ns() + LONG_NS, .grows = fd,
				    .stall_ns = 500 * NSEC_PER_MSEC };

	assert_int_equal(helper_call(w->h, &m, MAX_ANSWER, &wait, &answer), 0);
	helper_message_release(&answer);
	m.op = HANG;
	assert_int_equal(helper_call(w->h, &m, MAX_ANSWER, &wait, &answer), -ETIMEDOUT);
	close(fd);
}

static void test_answer_that_is_too_large(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w->h, HUGE, LONG_NS), -EMSGSIZE);
	assert_int_equal(ask(w->h, ECHO, LONG_NS), -ENOTTY);
}

static int lowest_fd(void)
{
	int fd = dup(STDERR_FILENO);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

/*
 * A descriptor may be of a file whose server hangs whoever closes it. So only a helper that is to
 * give some can.
 */
static void test_descriptor_in_an_answer(void **state)
{
	struct world *w = *state;
	struct helper_message m = { .op = GIVE_FD }, answer;
	struct helper_wait wait = { .until_ns = now_ns() + LONG_NS };
	int before;
	struct helper *h;

	assert_int_equal(ask(w->h, ECHO, LONG_NS), -ENOTTY);
	before = lowest_fd();
	assert_int_equal(helper_call(w->h, &m, MAX_ANSWER, &wait, &answer), -EPROTO);
	assert_int_equal(answer.nr_fds, 0);
	assert_true(lowest_fd() <= before);
	assert_int_equal(helper_new(w->keeper, &giving, &h), 0);
	assert_int_equal(helper_call(h, &m, MAX_ANSWER, &wait, &answer), 0);
	assert_int_equal(answer.nr_fds, 1);
	helper_message_release(&answer);
	helper_free(h);
}

/* One that has computed for its time is replaced between two calls. */
static void test_fresh_helper(void **state)
{
	struct world *w = *state;
	struct helper *h;
	pid_t first;

	assert_int_equal(helper_new(w->keeper, &giving, &h), 0);
	first = pid_of(h);
	assert_int_equal(pid_of(h), first);
	while (pid_of(h) == first)
		assert_int_equal(ask(h, SPIN, LONG_NS), 0);
	assert_int_equal(stats_of(w).died, 0);
	helper_free(h);
}

static void test_helper_that_does_not_begin(void **state)
{
	struct world *w = *state;
	struct helper *h;

	char text[96];

	assert_int_equal(helper_new(w->keeper, &refusing, &h), 0);
	assert_int_equal(ask(h, ECHO, LONG_NS), -ENOTRECOVERABLE);
	assert_int_equal(ask(h, ECHO, LONG_NS), -ENOTRECOVERABLE);
	assert_int_equal(stats_of(w).refused, 2);
	helper_free(h);
	helper_end_text(helper_exit_status(-EPERM) << 8, text, sizeof(text));
	assert_string_equal(text, "could not begin: Operation not permitted");
	helper_end_text(1 << 8, text, sizeof(text));
	assert_string_equal(text, "ended with status 1");
}

/* The parent of a helper is the keeper. */
static pid_t parent_of(pid_t pid)
{
	char path[40], line[512];
	int ppid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	assert_int_equal(sscanf(strrchr(line, ')'), ") %*c %d", &ppid), 1);
	return ppid;
}

static void test_keeper_is_killed(void **state)
{
	struct world *w = *state;
	pid_t first = pid_of(w->h), keeper = parent_of(first);
	int err = 0;

	assert_int_not_equal(keeper, getpid());
	assert_int_equal(kill(keeper, SIGKILL), 0);
	usleep(50000);
	for (int i = 0; i < 3 && (err = ask(w->h, ECHO, LONG_NS)) != -ENOTTY; i++)
		;
	assert_int_equal(err, -ENOTTY);
	assert_int_not_equal(parent_of(pid_of(w->h)), keeper);
}

/*
 * A process that is killed and does not end, as one that waits for a file server: who traces it
 * must let it go first.
 */
static void hold(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		skip();
}

static void let_go(pid_t pid)
{
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
}

/* No more than max_left of them at a time, however often something hangs. */
static void test_left_behind(void **state)
{
	struct helper_keeper_options opts = { .kinds = kinds, .nr_kinds = 3, .max_left = 3 };
	struct helper_keeper *keeper;
	struct helper_stats stats;
	struct helper *h;
	pid_t pids[3];

	(void)state;
	assert_int_equal(helper_keeper_new(&opts, &keeper), 0);
	assert_int_equal(helper_new(keeper, &good, &h), 0);
	for (int i = 0; i < 3; i++) {
		pids[i] = pid_of(h);
		hold(pids[i]);
		assert_int_equal(ask(h, HANG, 50 * NSEC_PER_MSEC), -ETIMEDOUT);
	}
	assert_int_equal(ask(h, ECHO, LONG_NS), -EBUSY);
	assert_int_equal(ask(h, ECHO, LONG_NS), -EBUSY);
	helper_keeper_stats(keeper, &stats);
	assert_int_equal(stats.refused, 2);
	assert_int_equal(stats.died, 0);
	let_go(pids[1]);
	assert_int_equal(ask(h, ECHO, LONG_NS), -ENOTTY);
	let_go(pids[0]);
	let_go(pids[2]);
	helper_free(h);
	helper_keeper_free(keeper);
}

static void *start_keeper_again(void *arg)
{
	struct world *w = arg;

	for (int i = 0; i < 3 && ask(w->h, ECHO, LONG_NS) != -ENOTTY; i++)
		;
	return NULL;
}

/* A keeper that a worker thread has started again lives on without that thread. */
static void test_keeper_of_a_thread(void **state)
{
	struct world *w = *state;
	pid_t keeper = parent_of(pid_of(w->h)), pid;
	pthread_t thread;

	assert_int_equal(kill(keeper, SIGKILL), 0);
	while (!is_dead(keeper))
		usleep(1000);
	assert_int_equal(pthread_create(&thread, NULL, start_keeper_again, w), 0);
	pthread_join(thread, NULL);
	pid = pid_of(w->h);
	keeper = parent_of(pid);
	usleep(200000);		/* the join may return before the thread is gone in the kernel */
	assert_false(is_dead(keeper));
	assert_int_equal(pid_of(w->h), pid);
}

/* probee is killed, and with it goes all that it has started. */
static void test_all_end_with_probee(void **state)
{
	struct world *w = *state;
	pid_t probee, pids[2];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	probee = fork();
	if (!probee) {
		struct helper_keeper_options opts = { .kinds = kinds, .nr_kinds = 3 };

		if (helper_keeper_new(&opts, &w->keeper) || helper_new(w->keeper, &good, &w->h))
			_exit(1);
		pids[0] = pid_of(w->h);
		pids[1] = parent_of(pids[0]);
		if (write(fds[1], pids, sizeof(pids)) != sizeof(pids))
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], pids, sizeof(pids)), sizeof(pids));
	close(fds[0]);
	kill(probee, SIGKILL);
	waitpid(probee, NULL, 0);
	for (int i = 0; i < 1000 && !(is_dead(pids[0]) && is_dead(pids[1])); i++)
		usleep(10000);
	assert_true(is_dead(pids[0]) && is_dead(pids[1]));
}

static void test_all_end_with_the_keeper(void **state)
{
	struct helper_keeper_options opts = { .kinds = kinds, .nr_kinds = 3 };
	struct helper_keeper *keeper;
	struct helper *h;
	pid_t pid;

	(void)state;
	assert_int_equal(helper_keeper_new(&opts, &keeper), 0);
	assert_int_equal(helper_new(keeper, &good, &h), 0);
	pid = pid_of(h);
	helper_free(h);
	helper_keeper_free(keeper);
	assert_true(ends(pid));
}

/* A helper inherits neither the descriptors of probee nor those of other helpers. */
static void test_descriptors_of_a_helper(void **state)
{
	struct world *w = *state;
	struct helper *second;
	char path[64];

	assert_int_equal(helper_new(w->keeper, &good, &second), 0);
	pid_of(w->h);
	snprintf(path, sizeof(path), "/proc/%d/fd/4", pid_of(second));
	assert_int_equal(access(path, F_OK), -1);
	path[strlen(path) - 1] = '3';
	if (geteuid() == 0)
		assert_int_equal(faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW), 0);
	helper_free(second);
}

static void test_cpu_time(void **state)
{
	struct world *w = *state;
	uint64_t before = helper_keeper_cpu_ns(w->keeper);

	assert_int_equal(ask(w->h, SPIN, LONG_NS), 0);
	assert_true(helper_keeper_cpu_ns(w->keeper) > before + 10 * NSEC_PER_MSEC);
	before = helper_keeper_cpu_ns(w->keeper);
	assert_int_equal(ask(w->h, DIE, LONG_NS), -EPIPE);	/* the time of the dead counts */
	assert_true(helper_keeper_cpu_ns(w->keeper) >= before);
}

static void *ask_many(void *arg)
{
	struct world *w = arg;

	for (int i = 0; i < 200; i++)
		if (ask(w->h, i % 50 == 7 ? DIE : ECHO, LONG_NS) != (i % 50 == 7 ? -EPIPE : -ENOTTY))
			return "wrong answer";
	return NULL;
}

static void test_threads_take_turns(void **state)
{
	struct world *w = *state;
	pthread_t threads[4];
	void *wrong;

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_many, w), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	assert_int_equal(stats_of(w).died, 16);
	assert_int_equal(stats_of(w).calls, 800);
}

/* How often a process has gone to sleep so far; -1: unknown. */
static long sleeps_of(pid_t pid)
{
	char path[48], line[128];
	long nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "voluntary_ctxt_switches: %ld", &nr) != 1)
		;
	if (f)
		fclose(f);
	return nr;
}

static void test_idle_ones_sleep(void **state)
{
	struct world *w = *state;
	pid_t pids[] = { pid_of(w->h), 0 };
	long before[2];

	pids[1] = parent_of(pids[0]);	/* the keeper */
	usleep(50000);			/* until both wait */
	for (int i = 0; i < 2; i++)
		before[i] = sleeps_of(pids[i]);
	usleep(400000);
	for (int i = 0; i < 2; i++) {
		assert_true(before[i] >= 0);
		assert_true(sleeps_of(pids[i]) - before[i] <= 1);	/* it waited later than that */
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_parts_and_status),
		T(test_rest),
		T(test_descriptors),
		T(test_death_costs_one_answer),
		T(test_killed_while_idle), T(test_killed_is_asked_again),
		T(test_hang_is_left_behind),
		T(test_stuck_before_its_time),
		T(test_starved_is_not_slow),
		T(test_limit_of_what_computes),
		T(test_stopped),
		T(test_death_is_said),
		T(test_unwanted),
		T(test_growth_extends_the_wait),
		T(test_answer_that_is_too_large),
		T(test_descriptor_in_an_answer),
		T(test_fresh_helper),
		T(test_helper_that_does_not_begin),
		T(test_keeper_is_killed),
		T(test_left_behind),
		T(test_keeper_of_a_thread),
		T(test_all_end_with_probee),
		T(test_all_end_with_the_keeper),
		T(test_descriptors_of_a_helper),
		T(test_cpu_time),
		T(test_threads_take_turns),
		T(test_idle_ones_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
