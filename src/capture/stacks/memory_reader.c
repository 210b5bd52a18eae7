/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/memory_reader.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/helper_process.h"
#include "src/rights/recording_rights.h"

#define ANSWER_MS 200
#define MAX_LEFT_BEHIND 8
#define HUNG_KEPT 64
#define HANGS_MAX 2			/* in one process */

struct request {
	uint64_t addr;
	uint32_t bytes;
	pid_t pid;
};

struct answer {
	uint32_t bytes;			/* 0: they cannot be read */
	uint8_t v[MEMORY_READER_BYTES];
};

struct memory_reader {
	struct answer answer;		/* the last one */
	pid_t child;			/* 0: none runs */
	int sock;
	struct left {
		pid_t child;		/* 0: none */
		pid_t pid;		/* the process whose memory it reads */
	} left[MAX_LEFT_BEHIND];
	pid_t hung[HUNG_KEPT];		/* processes in which children hung, last ones */
	unsigned nr_hung;
};

static void child_main(void)
{
	enum { SOCK = 3 };
	static struct answer a;
	struct request q;

	prctl(PR_SET_NAME, "probee-memory");
	recording_rights_keep(ROLE_MEMORY);
	helper_forget_memory();
	while (recv(SOCK, &q, sizeof(q), 0) == sizeof(q) && q.bytes <= sizeof(a.v)) {
		struct iovec to = { a.v, q.bytes }, from = { (void *)(uintptr_t)q.addr, q.bytes };
		ssize_t n = process_vm_readv(q.pid, &to, 1, &from, 1, 0);

		a.bytes = n == (ssize_t)q.bytes ? q.bytes : 0;
		if (send(SOCK, &a, offsetof(struct answer, v) + a.bytes, 0) < 0)
			break;
	}
	_exit(0);
}

struct memory_reader *memory_reader_new(void)
{
	struct memory_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->sock = -1;
	return r;
}

static void end_child(struct memory_reader *r, bool hangs)
{
	if (r->sock >= 0)
		close(r->sock);
	r->sock = -1;
	helper_end(r->child, hangs);
	r->child = 0;
}

void memory_reader_free(struct memory_reader *r)
{
	if (r)
		end_child(r, false);
	free(r);
}

static struct left *free_place(struct memory_reader *r)
{
	for (unsigned i = 0; i < MAX_LEFT_BEHIND; i++)
		if (!r->left[i].child)
			return &r->left[i];
	return NULL;
}

static bool start_child(struct memory_reader *r)
{
	int sv[2];

	if (r->child > 0)
		return true;
	if (!free_place(r) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return false;
	r->child = helper_fork(&sv[1], 1);
	if (!r->child)
		child_main();
	close(sv[1]);
	r->sock = sv[0];
	if (r->child < 0)
		end_child(r, false);
	return r->child > 0;
}

/* A child that was left behind was killed as well, so it ends when what it waits for has come. */
static void take_back(struct memory_reader *r)
{
	for (unsigned i = 0; i < MAX_LEFT_BEHIND; i++)
		if (r->left[i].child && waitpid(r->left[i].child, NULL, WNOHANG))
			r->left[i].child = 0;
}

static bool is_left_alone(const struct memory_reader *r, pid_t pid)
{
	unsigned times = 0;

	for (unsigned i = 0; i < MAX_LEFT_BEHIND; i++)
		if (r->left[i].child && r->left[i].pid == pid)
			return true;
	for (unsigned i = 0; i < r->nr_hung && i < HUNG_KEPT; i++)
		times += r->hung[i] == pid;
	return times >= HANGS_MAX;
}

static void leave_behind(struct memory_reader *r, pid_t pid)
{
	*free_place(r) = (struct left){ r->child, pid };
	r->hung[r->nr_hung++ % HUNG_KEPT] = pid;
}

/* 0; -ETIMEDOUT; -EPIPE: the child has died. */
static int ask(struct memory_reader *r, const struct request *q, struct answer *a)
{
	struct pollfd pfd = { .fd = r->sock, .events = POLLIN };
	ssize_t got;
	int ready;

	a->bytes = 0;
	if (send(r->sock, q, sizeof(*q), MSG_NOSIGNAL) < 0)
		return -EPIPE;
	do {
		ready = poll(&pfd, 1, ANSWER_MS);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return -ETIMEDOUT;
	got = recv(r->sock, a, sizeof(*a), MSG_DONTWAIT);
	return got == (ssize_t)(offsetof(struct answer, v) + a->bytes) ? 0 : -EPIPE;
}

bool memory_reader_get(struct memory_reader *r, pid_t pid, uint64_t addr, void *buf, size_t bytes)
{
	struct request q = { addr, (uint32_t)bytes, pid };
	struct answer *a = &r->answer;
	int err = -EPIPE;

	assert(bytes <= MEMORY_READER_BYTES);
	take_back(r);
	if (is_left_alone(r, pid))
		return false;
	for (int try = 0; err == -EPIPE && try < 2 && start_child(r); try++) {
		err = ask(r, &q, a);
		if (err == -ETIMEDOUT)
			leave_behind(r, pid);
		if (err)
			end_child(r, err == -ETIMEDOUT);
	}
	if (err || a->bytes != bytes)
		return false;
	memcpy(buf, a->v, bytes);
	return true;
}

unsigned memory_reader_hung(const struct memory_reader *r)
{
	return r->nr_hung;
}
