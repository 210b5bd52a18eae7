/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/output/output_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fd_message.h"
#include "src/base/helper_deaths.h"
#include "src/base/helper_process.h"
#include "src/base/patience.h"
#include "src/base/task_state.h"
#include "src/rights/capabilities.h"
#include "src/rights/message_user.h"
#include "src/rights/recording_rights.h"

#define NAME "probee-outputs"
#define GUARD_FD 3		/* helper_fork() */
/* A rename on a busy disk takes seconds; a file that is given up for that is lost. */
#define ANSWER_NS (30 * NSEC_PER_SEC)
#define END_NS (2 * NSEC_PER_SEC)
#define LOOK_MS 50
#define MOST_STOPPED 20		/* looks: 1 s */

struct request {
	uint32_t order, i;
};

struct answer {
	int32_t err;
	uint32_t why, uid;
};

/* ---- Orders ---- */

static bool is_taken(const struct output_file *v, size_t nr, size_t i)
{
	for (size_t k = 0; k < nr; k++)
		if (k != i && output_file_same(&v[k], &v[i]))
			return true;
	return false;
}

static void order_open(struct output_file *v, size_t nr, const struct output_user *user, size_t i,
		       struct output_reply *reply)
{
	reply->err = output_file_open(&v[i], user, &reply->no);
	if (!reply->err && is_taken(v, nr, i)) {
		output_file_drop(&v[i]);
		reply->no.why = OUTPUT_TWICE;
		reply->err = -EINVAL;
	}
	if (reply->err)
		return;
	reply->fd = v[i].fd;
	v[i].fd = -1;
}

void output_order(struct output_file *v, size_t nr, const struct output_user *user,
		  enum output_order order, size_t i, struct output_reply *reply)
{
	*reply = (struct output_reply){ .fd = -1 };
	switch (order) {
	case OUTPUT_OPEN:
		order_open(v, nr, user, i, reply);
		break;
	case OUTPUT_PUBLISH:
		reply->err = output_file_publish(&v[i], user, &reply->no);
		break;
	case OUTPUT_DROP:
		output_file_drop(&v[i]);
		break;
	}
}

/* ---- Messages, with a descriptor or without ---- */

/* 0 or -errno. */
static int send_answer(int socket, const struct answer *a, int fd)
{
	struct fd_message m;
	ssize_t n;

	fd_message_init(&m, (void *)a, sizeof(*a));
	fd_message_attach(&m, &fd, fd >= 0);
	n = fd_message_send(socket, &m, 0);
	return n < 0 ? (int)n : 0;
}

static bool receive_answer(int socket, struct answer *a, int *fd)
{
	struct fd_message m;
	ssize_t n;

	fd_message_init(&m, a, sizeof(*a));
	n = fd_message_receive(socket, &m, 0);
	*fd = n > 0 ? fd_message_take_one(&m) : -1;
	return n == sizeof(*a);
}

/* ---- The guard ---- */

void output_guard_shed_rights(void)
{
	if (getauxval(AT_SECURE) && getuid())
		rights_drop_all();
	else
		recording_rights_keep(ROLE_OUTPUTS);
}

/* helper_fork() asks for SIGKILL with the parent's end; this process has something to do then. */
static void prepare_guard(void)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, 0);
	prctl(PR_SET_NAME, NAME);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setpgid(0, 0);
	message_user_ensure();
	output_guard_shed_rights();
}

/*
 * Answers with the descriptor. The kernel refuses to send it (ETOOMANYREFS) where all processes of
 * this user have more descriptors under way in messages than this one may have open. Then the
 * answer says so, because the recorder waits for one.
 */
static void answer(struct output_file *f, const struct output_reply *reply)
{
	struct answer a = { reply->err, reply->no.why, reply->no.uid };
	int err = send_answer(GUARD_FD, &a, reply->fd);

	if (!err || reply->fd < 0)
		return;
	output_file_drop(f);
	a.err = err;
	send_answer(GUARD_FD, &a, -1);
}

static void guard_main(struct output_file *v, size_t nr, const struct output_user *user)
{
	struct output_reply reply;
	struct request req;

	prepare_guard();
	while (recv(GUARD_FD, &req, sizeof(req), 0) == sizeof(req) && req.i < nr &&
	       req.order <= OUTPUT_DROP) {
		output_order(v, nr, user, (enum output_order)req.order, req.i, &reply);
		answer(&v[req.i], &reply);
		if (reply.fd >= 0)
			close(reply.fd);
	}
	for (size_t i = 0; i < nr; i++)
		output_file_drop(&v[i]);
	_exit(0);
}

int output_guard_start(struct output_guard *g, struct output_file *v, size_t nr,
		       const struct output_user *user)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	g->pid = helper_fork(&ends[1], 1);
	if (!g->pid)
		guard_main(v, nr, user);
	close(ends[1]);
	g->socket = ends[0];
	g->answer_ns = ANSWER_NS;
	g->end_ns = END_NS;
	if (g->pid > 0)
		return 0;
	err = g->pid;
	close(ends[0]);
	*g = (struct output_guard){ .socket = -1 };
	return err;
}

/*
 * Only the guard can put the files in their places, so one that somebody has stopped (SIGSTOP) is
 * told to go on. false: it was stopped again and again, or by a debugger.
 */
static bool goes_on(const struct output_guard *g, int *stopped)
{
	char state = g->may_signal ? task_state(g->pid, g->pid) : '?';

	*stopped += state == 'T' || state == 't';
	if (state == 'T')
		kill(g->pid, SIGCONT);
	return *stopped < MOST_STOPPED;
}

/* false: nothing has come in time. */
static bool has_answered(const struct output_guard *g)
{
	struct patience wait = { .until_ns = now_ns() + g->answer_ns };
	struct pollfd p = { .fd = g->socket, .events = POLLIN };
	int stopped = 0;

	while (patience_lasts(&wait)) {
		if (poll(&p, 1, LOOK_MS) > 0)
			return true;
		if (!goes_on(g, &stopped))
			break;
	}
	return false;
}

void output_guard_ask(struct output_guard *g, enum output_order order, size_t i,
		      struct output_reply *reply)
{
	struct request req = { order, (uint32_t)i };
	struct answer a = { 0 };
	int fd = -1;

	*reply = (struct output_reply){ .err = g->socket < 0 ? -ETIMEDOUT : -EPIPE, .fd = -1 };
	if (send(g->socket, &req, sizeof(req), MSG_NOSIGNAL) != sizeof(req))
		return;
	if (!has_answered(g)) {
		/* A late answer would be taken for the next one. */
		close(g->socket);
		g->socket = -1;
		reply->err = -ETIMEDOUT;
		return;
	}
	if (receive_answer(g->socket, &a, &fd))
		*reply = (struct output_reply){ a.err, { a.why, a.uid }, fd };
}

int output_guard_end(struct output_guard *g)
{
	struct patience wait = { .until_ns = now_ns() + g->end_ns };
	pid_t ended = 0;
	int status = 0;

	if (g->pid <= 0)
		return 0;
	if (g->socket >= 0)
		close(g->socket);
	while (!(ended = waitpid(g->pid, &status, WNOHANG)) && patience_lasts(&wait)) {
		goes_on(g, &(int){ 0 });
		poll(NULL, 0, 1);
	}
	if (ended > 0 && WIFSIGNALED(status))
		helper_deaths_add(NULL, NAME, status);
	*g = (struct output_guard){ .socket = -1 };
	return ended ? 0 : -ETIMEDOUT;
}
