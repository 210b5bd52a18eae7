/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JVMs of our own making: a child that catches SIGQUIT, or does not, and answers this or that. Real ones: tests/live. */
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/foreign/jvm_attach.h"
#include "src/proc/procfs.h"

#define SILENT ((const char *)-1)	/* accepts, and never answers */
#define USER 65534

struct world {
	struct jvm_attach *attach;
	pid_t pid;
	int ready[2];
};

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	*state = w;
	assert_int_equal(pipe2(w->ready, O_CLOEXEC), 0);
	return jvm_attach_new(NULL, &w->attach);
}

static void remove_names(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/.java_pid%d", pid);
	unlink(path);
	snprintf(path, sizeof(path), "/tmp/.attach_pid%d", pid);
	unlink(path);
}

static int teardown(void **state)
{
	struct world *w = *state;

	if (w->pid) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
		remove_names(w->pid);
	}
	close(w->ready[0]);
	close(w->ready[1]);
	jvm_attach_free(w->attach);
	test_free(w);
	return 0;
}

/* ---- in the child ---- */

static volatile sig_atomic_t was_asked;

static void on_quit(int sig)
{
	(void)sig;
	was_asked = 1;
}

static int listen_at(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/.java_pid%d", getpid());
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1))
		_exit(1);
	return fd;
}

/* Answers only its own user, and only the right question, as HotSpot does. */
static void serve(const char *answer)
{
	static const char want[] = "1\0jcmd\0Compiler.perfmap\0\0";
	int fd = accept(listen_at(), NULL, NULL);
	struct ucred who;
	socklen_t len = sizeof(who);
	char got[sizeof(want)];

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) || who.uid != geteuid() || who.gid != getegid())
		answer = "100\nwrong user";
	if (recv(fd, got, sizeof(got), MSG_WAITALL) != sizeof(got) || memcmp(got, want, sizeof(want)))
		answer = "101\nwrong question";
	if (answer == SILENT)
		pause();
	send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	close(fd);
}

static void be_jvm(const struct world *w, const char *answer, uid_t uid)
{
	char path[64];
	struct stat st;

	remove_names(getpid());		/* a JVM that had its number and was killed has left them */
	if (uid && (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGQUIT, answer ? on_quit : SIG_DFL);
	if (write(w->ready[1], "", 1) != 1)
		_exit(1);
	while (!was_asked)
		usleep(1000);
	/* A signal without the file asks for something else. */
	snprintf(path, sizeof(path), "/tmp/.attach_pid%d", getpid());
	if (!stat(path, &st) && st.st_uid == geteuid())
		serve(answer);
	pause();
}

/* ---- the tests ---- */

static void start_as(struct world *w, const char *answer, uid_t uid)
{
	char c;

	w->pid = fork();
	assert_true(w->pid >= 0);
	if (!w->pid) {
		be_jvm(w, answer, uid);
		_exit(0);
	}
	assert_int_equal(read(w->ready[0], &c, 1), 1);
}

static int ask(const struct world *w, uint64_t start_ns, uint64_t limit_ns)
{
	const struct helper_wait wait = { .until_ns = now_ns() + limit_ns };

	return jvm_attach_ask(w->attach, w->pid, start_ns, &wait);
}

static void expect(struct world *w, const char *answer, int err)
{
	struct proc_stat st;

	start_as(w, answer, 0);
	assert_int_equal(procfs_stat(w->pid, &st), 0);
	assert_int_equal(ask(w, st.start_boottime_ns, 5 * NSEC_PER_SEC), err);
}

static void test_asked(void **state)
{
	expect(*state, "0\n", 0);
}

static void test_older(void **state)
{
	expect(*state, "1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n", -ENOSYS);
}

static void test_refused(void **state)
{
	expect(*state, "1\nno", -EREMOTEIO);
}

static void test_no_answer_at_all(void **state)
{
	expect(*state, "", -EREMOTEIO);
}

/* It would be ended by the signal. */
static void test_does_not_catch_the_signal(void **state)
{
	struct world *w = *state;

	expect(w, NULL, -ENOTSUP);
	assert_int_equal(waitpid(w->pid, NULL, WNOHANG), 0);
}

static void test_silent(void **state)
{
	struct world *w = *state;

	start_as(w, SILENT, 0);
	assert_int_equal(ask(w, 0, NSEC_PER_SEC), -ETIMEDOUT);
}

static void test_another_process(void **state)
{
	struct world *w = *state;
	struct proc_stat st;

	start_as(w, "0\n", 0);
	assert_int_equal(procfs_stat(w->pid, &st), 0);
	assert_int_equal(ask(w, st.start_boottime_ns + NSEC_PER_SEC, 5 * NSEC_PER_SEC), -ESRCH);
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
	assert_int_equal(ask(w, 0, 5 * NSEC_PER_SEC), -ESRCH);
	w->pid = 0;
}

static bool all_may_write(void)
{
	struct stat st;

	return !stat("/tmp", &st) && st.st_mode & S_IWOTH;
}

/* It sees its own user, and no other groups. */
static void test_of_another_user(void **state)
{
	struct world *w = *state;

	if (geteuid() || !all_may_write())
		skip();
	start_as(w, "0\n", USER);
	assert_int_equal(ask(w, 0, 5 * NSEC_PER_SEC), 0);
}

/* A socket that another user has put there is not asked. */
static void test_planted(void **state)
{
	struct world *w = *state;
	char path[64];

	if (geteuid())
		skip();
	start_as(w, "0\n", USER);
	snprintf(path, sizeof(path), "/tmp/.java_pid%d", w->pid);
	unlink(path);			/* of a JVM of this number that was killed */
	assert_int_equal(mknod(path, S_IFSOCK | 0666, 0), 0);
	assert_int_equal(ask(w, 0, 5 * NSEC_PER_SEC), -EACCES);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_asked), T(test_older), T(test_refused), T(test_no_answer_at_all), T(test_does_not_catch_the_signal),
		T(test_silent), T(test_another_process), T(test_of_another_user), T(test_planted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
