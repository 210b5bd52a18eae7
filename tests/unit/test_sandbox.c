/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process in the sandbox can still do, and what kills it. Each attempt is made twice in a
 * child of its own: outside it must work as it does for anybody, so that a failure inside says
 * something.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <setjmp.h>
#include <stdbool.h>
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/rights/call_filter.h"
#include "src/rights/landlock.h"
#include "src/rights/sandbox.h"

#define KILLED 1000			/* plus the number of the signal */
#define MEMORY (64u << 20)
#define PAGE 4096
#define CPU_SECONDS 1

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/* What the attempts use, opened before. */
struct held {
	int file, memory, pipes[2], sockets[2];
	pid_t parent;
};

typedef int (*attempt_fn)(const struct held *h);	/* 0 or errno */

static int answer(long rc)
{
	return rc < 0 ? errno : 0;
}

static int try_socket(const struct held *h)
{
	(void)h;
	return answer(socket(AF_INET, SOCK_STREAM, 0));
}

static int try_connect(const struct held *h)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "/nowhere" };

	return answer(connect(h->sockets[0], (struct sockaddr *)&a, sizeof(a)));
}

static int try_exec(const struct held *h)
{
	(void)h;
	return answer(execl("/bin/true", "true", (char *)NULL));
}

static int try_ptrace(const struct held *h)
{
	(void)h;
	return answer(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int try_bpf(const struct held *h)
{
	(void)h;
	return answer(syscall(SYS_bpf, 0, NULL, 0));
}

static int try_perf(const struct held *h)
{
	(void)h;
	return answer(syscall(SYS_perf_event_open, NULL, -1, 0, -1, 0));
}

static int try_read_other(const struct held *h)
{
	char to[8];
	struct iovec local = { to, sizeof(to) }, remote = { to, sizeof(to) };

	return answer(process_vm_readv(h->parent, &local, 1, &remote, 1, 0));
}

static int try_kill(const struct held *h)
{
	return answer(kill(h->parent, 0));
}

static int try_mount(const struct held *h)
{
	(void)h;
	return answer(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL));
}

static int try_open(const struct held *h)
{
	(void)h;
	return answer(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int try_make(const struct held *h)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/tmp/probee-sandbox-%d", getpid());
	(void)h;
	err = answer(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	unlink(path);
	return err;
}

static int try_open_to_write(const struct held *h)
{
	(void)h;
	return answer(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

static int try_fork(const struct held *h)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	(void)h;
	if (!pid)
		_exit(0);
	return answer(pid);
}

static void *do_nothing(void *arg)
{
	return arg;
}

static int try_thread(const struct held *h)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, do_nothing, NULL);

	(void)h;
	return err ? err : pthread_join(thread, NULL);
}

static int try_code(const struct held *h)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)h;
	return p == MAP_FAILED ? errno : 0;
}

static int try_make_code(const struct held *h)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)h;
	return p == MAP_FAILED ? errno : answer(mprotect(p, PAGE, PROT_READ | PROT_EXEC));
}

static int try_signal_on_input(const struct held *h)
{
	return answer(fcntl(h->pipes[0], F_SETOWN, h->parent));
}

static int try_terminal(const struct held *h)
{
	char c = 0;

	return answer(syscall(SYS_ioctl, h->pipes[0], 0x5412 /* TIOCSTI */, &c)) == ENOTTY ? 0
											  : errno;
}

static int try_send_to(const struct held *h)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "/nowhere" };

	return answer(sendto(h->sockets[0], "x", 1, MSG_NOSIGNAL, (void *)&a, sizeof(a)));
}

static int try_much_memory(const struct held *h)
{
	void *p = mmap(NULL, 2 * MEMORY, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)h;
	return p == MAP_FAILED ? errno : 0;
}

static int try_big_file(const struct held *h)
{
	signal(SIGXFSZ, SIG_IGN);
	return answer(ftruncate(h->memory, 2 * MEMORY));
}

/* Memory in a file counts neither as address space nor ends with the mapping. */
static int try_memory_file(const struct held *h)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	(void)h;
	return fd < 0 ? errno : answer(fallocate(fd, 0, 0, PAGE));
}

static int try_fallocate(const struct held *h)
{
	return answer(fallocate(h->memory, 0, 0, PAGE));
}

static int try_write_file(const struct held *h)
{
	signal(SIGXFSZ, SIG_IGN);
	return answer(pwrite(h->memory, "x", 1, 0));
}

/* Who gets a file of a server that does not answer hangs when he closes it. */
static int try_send_file(const struct held *h)
{
	union { char buf[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control = { 0 };
	struct iovec io = { "x", 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.buf,
			    .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &h->file, sizeof(int));
	return answer(sendmsg(h->sockets[0], &m, MSG_NOSIGNAL));
}

/* More than CPU_SECONDS; nothing that the process can do makes it longer. */
static int try_compute(const struct held *h)
{
	struct rlimit more = { 100, 100 };
	struct timespec t;

	(void)h;
	signal(SIGXCPU, SIG_IGN);
	setrlimit(RLIMIT_CPU, &more);
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec < CPU_SECONDS + 1);
	return 0;
}

static int try_socketpair(const struct held *h)
{
	int ends[2];

	(void)h;
	return answer(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}

static int try_pipe(const struct held *h)
{
	int ends[2];

	(void)h;
	return answer(pipe2(ends, O_CLOEXEC));
}

static int try_nice(const struct held *h)
{
	(void)h;
	return answer(setpriority(PRIO_PROCESS, 0, 5));
}

static int try_lock_memory(const struct held *h)
{
	static char page[PAGE];

	(void)h;
	return answer(syscall(SYS_mlock, page, PAGE));
}

static int try_timer(const struct held *h)
{
	timer_t timer;

	(void)h;
	return answer(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &timer));
}

static int try_survive_parent(const struct held *h)
{
	(void)h;
	return answer(syscall(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0));
}

static int try_other_rlimit(const struct held *h)
{
	struct rlimit l;

	if (syscall(SYS_prlimit64, h->parent, RLIMIT_CORE, NULL, &l))
		return errno;
	return answer(syscall(SYS_prlimit64, h->parent, RLIMIT_CORE, &l, NULL));
}

static int try_userfaultfd(const struct held *h)
{
	(void)h;
	return answer(syscall(SYS_userfaultfd, ~0));
}

static int try_io_uring(const struct held *h)
{
	(void)h;
	return answer(syscall(SYS_io_uring_setup, 0, NULL));
}

static int try_unknown(const struct held *h)
{
	(void)h;
	return answer(syscall(SYS_sethostname + 100000)) == ENOSYS ? 0 : 1;
}

/* All that a worker does: none of this may fail inside. */
static int try_work(const struct held *h)
{
	struct pollfd p = { .fd = h->pipes[0], .events = POLLIN };
	struct timespec ts;
	struct stat st;
	char buf[64];
	void *mapped;

	if (write(h->pipes[1], "ab", 2) != 2 || poll(&p, 1, 1000) != 1 ||
	    read(h->pipes[0], buf, 2) != 2)
		return 201;
	if (send(h->sockets[0], "x", 1, MSG_NOSIGNAL) != 1 || recv(h->sockets[1], buf, 1, 0) != 1)
		return 202;
	if (pread(h->file, buf, 4, 0) != 4 || fstat(h->file, &st) || lseek(h->file, 0, SEEK_SET))
		return 203;
	mapped = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, h->file, 0);
	if (mapped == MAP_FAILED || munmap(mapped, PAGE))
		return 205;
	mapped = malloc(MEMORY / 4);
	if (!mapped || !realloc(memset(mapped, 1, MEMORY / 4), MEMORY / 2))
		return 206;
	if (clock_gettime(CLOCK_MONOTONIC, &ts) || nanosleep(&(struct timespec){ 0, 1000 }, NULL))
		return 207;
	return fcntl(h->file, F_GETFD) < 0 || fcntl(h->file, F_DUPFD_CLOEXEC, 3) < 0 ? 208 : 0;
}

static int try_abort(const struct held *h)
{
	(void)h;
	signal(SIGABRT, SIG_DFL);
	abort();
}

static int try_descriptor(const struct held *h)
{
	struct stat st;

	(void)h;
	return answer(stat("/etc/passwd", &st));
}

#define SYS KILLED + SIGSYS

/* -1: not looked at. A kernel that lacks a part leaves it to the others, so each row names one. */
static const struct attempt {
	const char *what;
	attempt_fn fn;
	int outside, in_worker, in_report, in_closed_report;
} attempts[] = {
	{ "socket", try_socket, 0, SYS, SYS, SYS },
	{ "connect", try_connect, ENOENT, SYS, SYS, SYS },
	{ "exec", try_exec, 0, SYS, SYS, SYS },
	{ "ptrace", try_ptrace, 0, SYS, SYS, SYS },
	{ "bpf", try_bpf, -1, SYS, SYS, SYS },
	{ "perf_event_open", try_perf, EFAULT, SYS, SYS, SYS },
	{ "process_vm_readv", try_read_other, -1, SYS, SYS, SYS },
	{ "kill", try_kill, 0, SYS, SYS, SYS },
	{ "mount", try_mount, -1, SYS, SYS, SYS },
	{ "open", try_open, 0, EACCES, 0, EACCES },
	{ "make a file", try_make, 0, EACCES, EACCES, EACCES },
	{ "open to write", try_open_to_write, 0, EACCES, EACCES, EACCES },
	{ "look at a path", try_descriptor, 0, -1, 0, 0 },
	{ "fork", try_fork, 0, ENOSYS, ENOSYS, ENOSYS },
	{ "thread", try_thread, 0, ENOSYS, 0, 0 },
	{ "map code", try_code, 0, ENOSYS, ENOSYS, ENOSYS },
	{ "make code", try_make_code, 0, ENOSYS, ENOSYS, ENOSYS },
	{ "signals to others", try_signal_on_input, 0, ENOSYS, -1, -1 },
	{ "type for the user", try_terminal, 0, ENOSYS, ENOSYS, ENOSYS },
	{ "send to an address", try_send_to, -1, ENOSYS, ENOSYS, ENOSYS },
	{ "much memory", try_much_memory, 0, IS_SANITIZED ? 0 : ENOMEM, 0, 0 },
	{ "a big file in memory", try_big_file, 0, ENOSYS, 0, 0 },
	{ "a new file in memory", try_memory_file, 0, ENOSYS, 0, 0 },
	{ "room in a file", try_fallocate, 0, ENOSYS, 0, 0 },
	{ "write to a file", try_write_file, 0, EFBIG, 0, 0 },
	{ "send a file", try_send_file, 0, ENOSYS, 0, 0 },
	{ "compute for long", try_compute, -1, KILLED + SIGKILL, -1, -1 },
	{ "a pair of sockets", try_socketpair, 0, ENOSYS, ENOSYS, ENOSYS },
	{ "a pipe", try_pipe, 0, ENOSYS, 0, 0 },
	{ "another priority", try_nice, 0, ENOSYS, ENOSYS, ENOSYS },
	{ "memory that stays", try_lock_memory, 0, ENOSYS, ENOSYS, ENOSYS },
	{ "a timer", try_timer, 0, ENOSYS, ENOSYS, ENOSYS },
	{ "live on without a parent", try_survive_parent, 0, ENOSYS, ENOSYS, ENOSYS },
	{ "limits of others", try_other_rlimit, 0, -1, ENOSYS, ENOSYS },
	{ "userfaultfd", try_userfaultfd, -1, SYS, SYS, SYS },
	{ "io_uring", try_io_uring, -1, SYS, SYS, SYS },
	{ "a call that does not exist", try_unknown, 0, 0, 0, 0 },
	{ "abort", try_abort, KILLED + SIGABRT, KILLED + SIGABRT, KILLED + SIGABRT, KILLED + SIGABRT },
	{ "work", try_work, 0, 0, 0, 0 },
};

static void hold(struct held *h)
{
	h->file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	h->memory = memfd_create("test", MFD_CLOEXEC);
	h->parent = getpid();
	assert_true(h->file >= 0 && h->memory >= 0);
	assert_int_equal(pipe2(h->pipes, O_CLOEXEC), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, h->sockets), 0);
}

static void let_go(struct held *h)
{
	close(h->file), close(h->memory);
	close(h->pipes[0]), close(h->pipes[1]);
	close(h->sockets[0]), close(h->sockets[1]);
}

/* Outside: rules is NULL. Parts that are missing make the child answer 250. */
static int run(attempt_fn fn, const struct held *h, const struct sandbox_rules *rules)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		prctl(PR_SET_DUMPABLE, 0);	/* a kill leaves no core file */
		if (rules && sandbox_enter(rules) != (int)sandbox_parts_of(rules))
			_exit(250);
		_exit(fn(h));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status);
}

static void judge(const struct attempt *a, const char *where, int want,
		  const struct sandbox_rules *rules)
{
	struct held h;
	int got;

	if (want < 0)
		return;
	hold(&h);
	got = run(a->fn, &h, rules);
	let_go(&h);
	if (got != want)
		fail_msg("%s %s: %d, not %d", a->what, where, got, want);
}

static bool kernel_has_all(void)
{
	return prctl(PR_GET_SECCOMP) >= 0 &&
	       syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 6;
}

static void test_attempts(void **state)
{
	const struct sandbox_rules worker = { .kind = SANDBOX_WORKER, .memory_bytes = MEMORY,
						.cpu_seconds = CPU_SECONDS },
				   report = { .kind = SANDBOX_REPORT },
				   closed = { .kind = SANDBOX_REPORT, .opens_nothing = true };

	(void)state;
	if (!kernel_has_all())
		skip();
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		judge(&attempts[i], "outside", attempts[i].outside, NULL);
		judge(&attempts[i], "in a worker", attempts[i].in_worker, &worker);
		if (!IS_SANITIZED)
			judge(&attempts[i], "in a report", attempts[i].in_report, &report);
		if (!IS_SANITIZED)
			judge(&attempts[i], "in a report that opens nothing",
			      attempts[i].in_closed_report, &closed);
	}
}

static int try_map_library(const struct held *h)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, h->file, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int try_map_code_to_write(const struct held *h)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, h->file, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int try_listen(const struct held *h)
{
	(void)h;
	return answer(listen(socket(AF_INET, SOCK_STREAM, 0), 1));
}

/* One that sends connects and reads files; it neither listens, nor writes, nor starts anything. */
static void test_sender(void **state)
{
	const struct sandbox_rules connects = { .kind = SANDBOX_REPORT, .connects = true };
	static const struct attempt of_a_sender[] = {
		{ "socket", try_socket, 0, SYS, SYS, SYS },
		{ "connect", try_connect, ENOENT, SYS, SYS, SYS },
		{ "map a library", try_map_library, 0, ENOSYS, ENOSYS, ENOSYS },
		{ "open", try_open, 0, EACCES, 0, EACCES },
		{ "thread", try_thread, 0, ENOSYS, 0, 0 },
		{ "work", try_work, 0, 0, 0, 0 },
	}, of_nobody[] = {
		{ "listen", try_listen, SYS, 0, 0, 0 },
		{ "exec", try_exec, SYS, 0, 0, 0 },
		{ "fork", try_fork, ENOSYS, 0, 0, 0 },
		{ "kill", try_kill, SYS, 0, 0, 0 },
		{ "make a file", try_make, EACCES, 0, 0, 0 },
		{ "open to write", try_open_to_write, EACCES, 0, 0, 0 },
		{ "a new file in memory", try_memory_file, ENOSYS, 0, 0, 0 },
		{ "map code", try_code, ENOSYS, 0, 0, 0 },
		{ "make code", try_make_code, ENOSYS, 0, 0, 0 },
		{ "map code to write", try_map_code_to_write, ENOSYS, 0, 0, 0 },
	};

	(void)state;
	if (!kernel_has_all() || IS_SANITIZED)
		skip();
	for (size_t i = 0; i < sizeof(of_a_sender) / sizeof(of_a_sender[0]); i++)
		judge(&of_a_sender[i], "in a sender", of_a_sender[i].outside, &connects);
	for (size_t i = 0; i < sizeof(of_nobody) / sizeof(of_nobody[0]); i++)
		judge(&of_nobody[i], "in a sender", of_nobody[i].outside, &connects);
}

/* One that asks helpers has pairs of sockets, and no other sockets. */
static void test_asking_report(void **state)
{
	const struct sandbox_rules asks = { .kind = SANDBOX_REPORT, .asks_helpers = true };
	const struct attempt pair = { "a pair of sockets", try_socketpair, 0, 0, 0, 0 };
	const struct attempt other = { "socket", try_socket, 0, SYS, SYS, SYS };

	(void)state;
	if (!kernel_has_all() || IS_SANITIZED)
		skip();
	judge(&pair, "in a report that asks", 0, &asks);
	judge(&other, "in a report that asks", SYS, &asks);
}

static int try_new_namespace(const struct held *h)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);

	(void)h;
	if (!pid)
		_exit(0);
	return answer((int)pid);
}

/* The socket has no client: the test asks only whether the call is allowed. */
static int try_accept(const struct held *h)
{
	int rc = accept4(h->sockets[0], NULL, NULL, SOCK_CLOEXEC);

	return rc < 0 && (errno == EINVAL || errno == EOPNOTSUPP) ? 0 : answer(rc);
}

/* A server takes connections and starts children like itself, and makes neither connections nor namespaces. */
static void test_server(void **state)
{
	const struct sandbox_rules serves = { .kind = SANDBOX_REPORT, .opens_nothing = true,
					      .serves = true, .forks = true };
	const struct sandbox_rules plain = { .kind = SANDBOX_REPORT, .opens_nothing = true };
	static const struct attempt allowed[] = {
		{ "fork", try_fork, 0, 0, 0, 0 },
		{ "accept", try_accept, 0, 0, 0, 0 },
	};
	static const struct attempt refused[] = {
		{ "a socket", try_socket, 0, SYS, SYS, SYS },
		{ "a user namespace", try_new_namespace, 0, ENOSYS, ENOSYS, ENOSYS },
	};

	(void)state;
	if (!kernel_has_all() || IS_SANITIZED)
		skip();
	for (size_t i = 0; i < 2; i++) {
		judge(&allowed[i], "in a server", 0, &serves);
		judge(&refused[i], "in a server", refused[i].in_report, &serves);
	}
	judge(&allowed[0], "in a report", ENOSYS, &plain);
	judge(&allowed[1], "in a report", SYS, &plain);
}

/* ---- each layer alone ---- */

static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		prctl(PR_SET_DUMPABLE, 0);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status);
}

/* Landlock without a filter of calls: what it forbids fails, and nothing else does. */
static int landlock_alone(void)
{
	const unsigned all = LANDLOCK_FILES | LANDLOCK_NETWORK | LANDLOCK_SCOPE;
	struct held none = { .parent = getppid() };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock_enter(all) != all)
		return 1;
	if (try_open(&none) != EACCES || try_make(&none) != EACCES || try_kill(&none) != EPERM)
		return 2;
	return try_exec(&none) != EACCES ? 3 : try_descriptor(&none) ? 4 : 0;
}

static int landlock_of_nothing(void)
{
	struct held none = { 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock_enter(0))
		return 1;
	return try_open(&none);
}

/* The filter alone: a worker opens nothing although its user may. */
static int filter_alone(void)
{
	struct held none = { 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || call_filter_load(&(struct sandbox_rules){ SANDBOX_WORKER }))
		return 1;
	return try_open(&none) == EACCES ? 0 : 2;
}

/* The filter of a container that forbids to set up another one, and Landlock. */
static int enter_container(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	const uint32_t no = SCMP_ACT_ERRNO(EPERM);
	int err = ctx ? 0 : -ENOMEM;

	if (!err)
		err = seccomp_rule_add(ctx, no, SCMP_SYS(seccomp), 0);
	if (!err)
		err = seccomp_rule_add(ctx, no, SYS_landlock_create_ruleset, 0);
	if (!err)
		err = seccomp_rule_add(ctx, no, SCMP_SYS(prctl), 1,
				       SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
	if (!err)
		err = seccomp_load(ctx);
	seccomp_release(ctx);
	return err;
}

/* What is not in force is not claimed, and the rest is. */
static int inside_container(void)
{
	const struct sandbox_rules worker = { .kind = SANDBOX_WORKER };
	struct held none = { 0 };

	if (enter_container())
		return 1;
	if (sandbox_enter(&worker) != (SANDBOX_RIGHTS | SANDBOX_LIMITS))
		return 2;
	return try_open(&none);
}

static void test_layers_alone(void **state)
{
	(void)state;
	if (!kernel_has_all())
		skip();
	assert_int_equal(in_child(landlock_alone), 0);
	assert_int_equal(in_child(landlock_of_nothing), 0);
	assert_int_equal(in_child(filter_alone), 0);
	assert_int_equal(in_child(inside_container), 0);
}

static void test_words(void **state)
{
	char buf[128];

	(void)state;
	sandbox_text(0, buf, sizeof(buf));
	assert_string_equal(buf, "");
	sandbox_text(SANDBOX_FILES | SANDBOX_CALLS, buf, sizeof(buf));
	assert_string_equal(buf, "files, system calls");
	sandbox_text(~0u, buf, 8);
	assert_string_equal(buf, "capabil");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attempts),
		cmocka_unit_test(test_asking_report),
		cmocka_unit_test(test_sender),
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_layers_alone),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
