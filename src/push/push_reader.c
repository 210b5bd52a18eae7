/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/fd_message.h"
#include "src/base/helper_process.h"
#include "src/base/io.h"
#include "src/push/push_pipe.h"
#include "src/push/push_settings.h"
#include "src/rights/capabilities.h"
#include "src/rights/sandbox.h"

enum {
	SOCKET = 3, SAID,		/* descriptors of the process that forks: helper_fork() */
	TRACE = 3, PIPE, CHILD_SAID,	/* of one that reads */
	PIPE_BYTES = 1 << 20,
};

enum { FDS_MAX = PUSH_TRACES_MAX + 1 };	/* of the traces, and of the pipe behind them */

/* ---- the process that reads one trace ---- */

static int put_body(void *ctx, const struct push_body *b)
{
	(void)ctx;
	return push_pipe_put(PIPE, b);
}

__attribute__((noreturn)) static void read_trace(const struct push_reader_how *how,
						 struct push_request *q)
{
	const struct sandbox_rules rules = { .kind = SANDBOX_REPORT, .opens_nothing = true };
	struct push_counts counts = { .bodies = 0 };
	int err;

	dup2(CHILD_SAID, STDERR_FILENO);
	close(CHILD_SAID);
	tzset();
	if (sandbox_enter(&rules) < 0)
		_exit(1);
	q->fd = TRACE;
	err = how->make(q, &how->opts, put_body, NULL, &counts);
	if (err && err != -EPIPE)
		fail_if_silent(err, "send %s", q->name);
	push_pipe_end(PIPE, err, &counts);
	_exit(0);
}

/* ---- the process that forks ---- */

static void close_fds(const int *fds, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		close(fds[i]);
}

/* Reads with offsets of its own: the sender has the same open files. */
static int copy(int to, int from)
{
	char buf[64 << 10];
	uint64_t at = 0;
	ssize_t n;

	while ((n = io_pread(from, buf, sizeof(buf), at)) > 0) {
		int err = io_write(to, buf, (size_t)n, NULL);

		if (err)
			return err;
		at += (uint64_t)n;
	}
	return (int)n;
}

/* One trace of several. A descriptor, or -errno, explained. */
static int join(const int *fds, unsigned nr, const char *name)
{
	int to = memfd_create("probee-traces", MFD_CLOEXEC), err = to < 0 ? -errno : 0;

	for (unsigned i = 0; i < nr && !err; i++)
		err = copy(to, fds[i]);
	if (!err && lseek(to, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		return to;
	if (to >= 0)
		close(to);
	return fail(err, "read %s", name);
}

static void end_child(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

/* The sender ends this process by closing its socket, and asks for the next trace by a message. */
__attribute__((noreturn)) static void fork_readers(const struct push_reader_how *how)
{
	struct push_request q;
	struct fd_message m;
	pid_t children[PUSH_SLOTS] = { 0 };
	int fds[FDS_MAX], trace;
	unsigned nr;

	for (;;) {
		ssize_t n;

		fd_message_init(&m, &q, sizeof(q));
		n = fd_message_receive(SOCKET, &m, 0);
		nr = n < 0 ? 0 : (unsigned)fd_message_take(&m, fds, FDS_MAX, NULL);
		if (n != sizeof(q) || q.slot >= PUSH_SLOTS || nr < 2 || nr != q.nr_fds + 1)
			break;
		end_child(&children[q.slot]);
		q.name[sizeof(q.name) - 1] = 0;
		trace = nr > 2 ? join(fds, nr - 1, q.name) : fds[0];
		if (trace >= 0)
			children[q.slot] = helper_fork((int[]){ trace, fds[nr - 1], SAID }, 3);
		if (trace >= 0 && !children[q.slot])
			read_trace(how, &q);
		if (nr > 2 && trace >= 0)
			close(trace);
		close_fds(fds, nr);
	}
	for (unsigned i = 0; i < PUSH_SLOTS; i++)
		end_child(&children[i]);
	_exit(0);
}

/*
 * A signal from the terminal reaches all processes of the group; the sender says when it is over.
 * The environment may hold secrets, of which this process and its children need none.
 */
__attribute__((noreturn)) static void begin(const struct push_reader_how *how)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "probee-reader");
	push_settings_hide();
	if (rights_drop_all() < 0)
		_exit(1);
	fork_readers(how);
}

int push_reader_start(struct push_reader *r, const struct push_reader_how *how)
{
	int ends[2], said;

	*r = (struct push_reader){ .sock = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return fail(-errno, "start a process that reads traces");
	said = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	r->pid = helper_fork((int[]){ ends[1], said }, 2);
	if (!r->pid)
		begin(how);
	close(said);
	close(ends[1]);
	r->sock = ends[0];
	if (r->pid > 0)
		return 0;
	close(r->sock);
	return fail((int)r->pid, "start a process that reads traces");
}

/* ---- the sender ---- */

static int ask(struct push_reader *r, const struct push_request *q, int pipe_fd)
{
	struct fd_message m;
	int fds[FDS_MAX];
	ssize_t n;

	memcpy(fds, q->fds, q->nr_fds * sizeof(int));
	fds[q->nr_fds] = pipe_fd;
	fd_message_init(&m, (void *)q, sizeof(*q));
	fd_message_attach(&m, fds, q->nr_fds + 1);
	n = fd_message_send(r->sock, &m, 0);
	return n < 0 ? (int)n : 0;
}

int push_reader_begin(struct push_reader *r, const struct push_request *q)
{
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return fail(-errno, "read %s", q->name);
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);	/* fewer switches; it works without */
	err = ask(r, q, ends[1]);
	close(ends[1]);
	if (!err)
		return ends[0];
	close(ends[0]);
	return fail(err, "read %s: the process that reads traces is gone", q->name);
}

void push_reader_end(struct push_reader *r)
{
	if (r->pid <= 0)
		return;
	close(r->sock);
	helper_await(r->pid);
	r->pid = 0;
}
