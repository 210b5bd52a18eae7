/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/task_reader.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "bpf/knobs.h"
#include "src/base/child_forker.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/helper_deaths.h"
#include "src/base/helper_process.h"
#include "src/base/io.h"
#include "src/base/task_state.h"
#include "src/capture/low_latency.h"
#include "src/rights/recording_rights.h"

#define LOOK_EVERY_MS 100
#define HANGS_AFTER 6			/* looks: 0.6 s */
#define STOPPED_AFTER 40		/* looks: 4 s */
#define NAME "probee-reader"
#define CHANNEL_BYTES (16 << 20)	/* more than 30,000 rows */

struct task_reader {
	pid_t pid;
	int sock;
	struct task_reader_deps deps;
	bool hangs;			/* or is left behind for another reason */
	bool is_stopped;		/* for so long that it is ended */
};

/*
 * ---- in the child: system calls only, because the parent has threads; giving up rights allocates
 * memory, which the C library's fork() leaves usable ----
 */

static int begin_scan(int prog, const struct reader_scope *scope)
{
	union bpf_iter_link_info info = { 0 };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	int link = -1, fd;

	if (scope->only_tid)
		info.task.tid = scope->only_tid;
	else
		info.task.pid = scope->only_pid;
	if (scope->only_tid || scope->only_pid)
		link = bpf_link_create(prog, 0, BPF_TRACE_ITER, &opts);
	if (link < 0 && scope->strictly)
		return errno == ESRCH ? -ESRCH : -ENOTSUP;
	/*
	 * Before 6.1 the kernel cannot restrict the scan; the program's own filter does it anyway.
	 */
	if (link < 0)
		link = bpf_link_create(prog, 0, BPF_TRACE_ITER, NULL);
	if (link < 0)
		return -errno;
	fd = bpf_iter_create(link);
	fd = fd < 0 ? -errno : fd;
	close(link);
	return fd;
}

static bool tell(int sock, int32_t status, void *rows, size_t len)
{
	struct iovec v[2] = { { &status, sizeof(status) }, { rows, len } };
	ssize_t n;

	do {
		n = writev(sock, v, 2);
	} while (n < 0 && errno == EINTR);
	return n >= 0;
}

/* false: the parent does not listen any more. */
static bool serve(int prog, int sock, const struct reader_scope *scope)
{
	char rows[TASK_READER_BYTES];
	int fd = begin_scan(prog, scope);
	bool heard = true;
	ssize_t n = fd < 0 ? fd : 1;

	while (fd >= 0 && n && heard) {
		n = read(fd, rows, sizeof(rows));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0) {
			n = -errno;
			break;
		}
		if (n)
			heard = tell(sock, (int32_t)n, rows, (size_t)n);
	}
	if (fd >= 0)
		close(fd);
	return heard && tell(sock, n == -ESRCH ? 0 : (int32_t)n, NULL, 0);
}

static void reader_main(void)
{
	enum { PROG = 3, SOCK = 4 };
	struct reader_scope scope;

	prctl(PR_SET_NAME, NAME);
	/* Who forks it is urgent, because those are that read a few bytes of memory. */
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, (id_t)getppid()));
	recording_rights_keep(ROLE_READER);
	while (recv(SOCK, &scope, sizeof(scope), 0) == sizeof(scope) && serve(PROG, SOCK, &scope))
		;
	_exit(0);
}

/* ---- in the parent ---- */

/*
 * Makes the channel so large that the reader need not wait while the parent makes records of the
 * rows: the rows of a scan are to be of one moment.
 */
static void widen(int sock)
{
	int bytes = CHANNEL_BYTES;

	if (setsockopt(sock, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

int task_reader_open(const struct task_reader_deps *deps, struct task_reader **rp)
{
	struct task_reader *r = calloc(1, sizeof(*r));
	int sv[2], fds[2];

	if (!r)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv)) {
		free(r);
		return fail(-errno, "open a channel to the reader of the tasks");
	}
	widen(sv[1]);
	r->deps = *deps;
	fds[0] = deps->prog_fd;
	fds[1] = sv[1];
	r->pid = child_forker_fork(deps->forker, reader_main, fds, 2);
	close(sv[1]);
	r->sock = sv[0];
	if (r->pid < 0) {
		int err = fail(r->pid, "start the reader of the tasks");

		task_reader_close(r);
		return err;
	}
	low_latency_begin(r->pid);
	*rp = r;
	return 0;
}

void task_reader_close(struct task_reader *r)
{
	if (!r)
		return;
	close(r->sock);
	helper_end(r->pid, r->hangs);
	free(r);
}

void task_reader_bury(struct task_reader *r)
{
	child_forker_bury(r->deps.forker, NAME, &r->pid, r->is_stopped ? HELPER_END_STOPPED : 0);
	task_reader_close(r);
}

bool task_reader_was_stopped(const struct task_reader *r)
{
	return r->is_stopped;
}

/* What the socket says when the other end was closed. */
static bool has_died(int err)
{
	return err == EPIPE || err == ECONNRESET;
}

int task_reader_begin(struct task_reader *r, const struct reader_scope *scope)
{
	if (send(r->sock, scope, sizeof(*scope), MSG_NOSIGNAL) >= 0)
		return 0;
	return has_died(errno) ? -ECHILD : fail(-errno, "start a walk over the tasks");
}

/*
 * How often in a row a reader that gives no rows was seen asleep, or stopped. S counts as sleep,
 * too: FUSE waits interruptibly until a signal comes.
 */
struct idleness {
	int asleep, stopped;
	uint64_t visits;		/* by the last look */
};

static void look_at(const struct task_reader *r, struct idleness *i)
{
	const volatile uint64_t *visits = &r->deps.place->visits;
	char state = *visits == i->visits ? task_state(r->pid, r->pid) : '?';

	i->asleep = state == 'D' || state == 'S' ? i->asleep + 1 : 0;
	i->stopped = state == 'T' || state == 't' ? i->stopped + 1 : 0;
	i->visits = *visits;
}

/*
 * Waits for a message. Looks are counted and not time, because this process may have been stopped
 * itself. A reader that waits for a processor does not hang. One that is stopped will not go on by
 * itself, but it can be killed at any moment, so it counts as dead.
 */
static int wait_for_message(struct task_reader *r)
{
	struct pollfd pfd = { .fd = r->sock, .events = POLLIN };
	struct idleness i = { .visits = r->deps.place->visits };

	while (poll(&pfd, 1, LOOK_EVERY_MS) <= 0) {
		bool is_urgent = r->deps.is_urgent && r->deps.is_urgent(r->deps.ctx);

		look_at(r, &i);
		r->hangs = is_urgent || i.asleep > HANGS_AFTER;
		if (r->hangs)
			return is_urgent ? -EINTR : -ETIMEDOUT;
		r->is_stopped = i.stopped >= STOPPED_AFTER;
		if (r->is_stopped)
			return -ECHILD;
	}
	return 0;
}

long task_reader_next(struct task_reader *r, void *buf, size_t size)
{
	int32_t status = 0;
	struct iovec v[2] = { { &status, sizeof(status) }, { buf, size } };
	ssize_t n;
	int err;

	assert(size >= TASK_READER_BYTES);
	err = wait_for_message(r);
	if (err)
		return err;
	do {
		n = readv(r->sock, v, 2);
	} while (n < 0 && errno == EINTR);
	if (!n || (n < 0 && has_died(errno)))
		return -ECHILD;
	if (n < (ssize_t)sizeof(status))
		return fail(n < 0 ? -errno : -EIO, "walk the tasks");
	if (status < 0 && status != -ENOTSUP)
		return fail(status, "walk the tasks");
	return status;
}

void task_reader_waits_in(const struct task_reader *r, char *buf, size_t size)
{
	char path[64], *text;

	buf[0] = 0;
	snprintf(path, sizeof(path), "/proc/%d/wchan", r->pid);
	if (io_read_file(path, &text, 4096) < 0)
		return;
	if (strcmp(text, "0"))
		snprintf(buf, size, "%s", text);
	free(text);
}

pid_t task_reader_pid(const struct task_reader *r)
{
	return r->pid;
}

uint64_t task_reader_cpu_ns(const struct task_reader *r)
{
	return process_cpu_ns(r->pid);
}
