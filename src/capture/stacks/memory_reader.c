/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/memory_reader.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/helper_process.h"
#include "src/rights/recording_rights.h"

#define ANSWER_MS 200
#define MAX_LEFT_BEHIND 8

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
	pid_t child;			/* 0: none runs */
	int sock;
	pid_t hung[MAX_LEFT_BEHIND];	/* processes whose memory is not read again */
	unsigned nr_hung;
};

static void child_main(void)
{
	enum { SOCK = 3 };
	struct request q;
	struct answer a = { 0 };

	prctl(PR_SET_NAME, "probee-memory");
	recording_rights_keep(ROLE_MEMORY);
	while (recv(SOCK, &q, sizeof(q), 0) == sizeof(q) && q.bytes <= sizeof(a.v)) {
		struct iovec to = { a.v, q.bytes }, from = { (void *)(uintptr_t)q.addr, q.bytes };
		ssize_t n = process_vm_readv(q.pid, &to, 1, &from, 1, 0);

		a.bytes = n == (ssize_t)q.bytes ? q.bytes : 0;
		if (send(SOCK, &a, sizeof(a), 0) < 0)
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

static bool start_child(struct memory_reader *r)
{
	int sv[2];

	if (r->child > 0)
		return true;
	if (r->nr_hung == MAX_LEFT_BEHIND ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
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

static bool has_hung(const struct memory_reader *r, pid_t pid)
{
	for (unsigned i = 0; i < r->nr_hung; i++)
		if (r->hung[i] == pid)
			return true;
	return false;
}

/* 0; -ETIMEDOUT; -EPIPE: the child has died. */
static int ask(struct memory_reader *r, const struct request *q, struct answer *a)
{
	struct pollfd pfd = { .fd = r->sock, .events = POLLIN };
	int ready;

	if (send(r->sock, q, sizeof(*q), MSG_NOSIGNAL) < 0)
		return -EPIPE;
	do {
		ready = poll(&pfd, 1, ANSWER_MS);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return -ETIMEDOUT;
	return recv(r->sock, a, sizeof(*a), MSG_DONTWAIT) == sizeof(*a) ? 0 : -EPIPE;
}

bool memory_reader_get(struct memory_reader *r, pid_t pid, uint64_t addr, void *buf, size_t bytes)
{
	struct request q = { addr, (uint32_t)bytes, pid };
	struct answer a;
	int err = -EPIPE;

	assert(bytes <= MEMORY_READER_BYTES);
	if (has_hung(r, pid))
		return false;
	for (int try = 0; err == -EPIPE && try < 2 && start_child(r); try++) {
		err = ask(r, &q, &a);
		if (err == -ETIMEDOUT)
			r->hung[r->nr_hung++] = pid;
		if (err)
			end_child(r, err == -ETIMEDOUT);
	}
	if (err || a.bytes != bytes)
		return false;
	memcpy(buf, a.v, bytes);
	return true;
}

unsigned memory_reader_hung(const struct memory_reader *r)
{
	return r->nr_hung;
}
