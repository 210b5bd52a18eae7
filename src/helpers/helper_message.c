/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/helpers/helper_message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fd_message.h"

#define LOOK_MS 50			/* how often unwanted is asked */

struct head {
	uint32_t op;
	int32_t status;
	uint64_t nr_fds;
	uint64_t len[MESSAGE_PARTS];
};

_Static_assert(sizeof(struct head) == 64, "as in helper_message.h");

/* The file that is to grow, as it was when it last grew. */
struct growth {
	off_t size;
	uint64_t since_ns;
};

static bool has_stalled(const struct helper_wait *w, struct growth *g, uint64_t now)
{
	struct stat st;

	if (!w->stall_ns || fstat(w->grows, &st))
		return false;
	if (!g->since_ns || st.st_size != g->size)
		*g = (struct growth){ st.st_size, now };
	return now - g->since_ns >= w->stall_ns;
}

/* An idle helper has nothing to look at: ten of them would wake up 200 times a second. */
static int look_ms(const struct helper_wait *w)
{
	return w->until_ns || w->unwanted || w->stall_ns || w->is_stuck ? LOOK_MS : -1;
}

static int wait_for(int sock, short events, const struct helper_wait *w)
{
	struct pollfd pfd = { .fd = sock, .events = events };
	struct growth growth = { 0 };

	for (;;) {
		uint64_t now = now_ns();
		int ms = look_ms(w), n;

		if (w->unwanted && atomic_load(w->unwanted))
			return -ECANCELED;
		if ((w->until_ns && now >= w->until_ns) || has_stalled(w, &growth, now) ||
		    (w->is_stuck && w->is_stuck(w->ctx)))
			return -ETIMEDOUT;
		if (w->until_ns && w->until_ns - now < LOOK_MS * NSEC_PER_MSEC)
			ms = (int)((w->until_ns - now) / NSEC_PER_MSEC) + 1;
		n = poll(&pfd, 1, ms);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

/* A parser may make send() alone (call_filter.c). */
static ssize_t try_once(int sock, struct fd_message *m, bool sending)
{
	ssize_t n;

	if (!sending)
		return fd_message_receive(sock, m, MSG_DONTWAIT);
	if (m->head.msg_controllen)
		return fd_message_send(sock, m, MSG_DONTWAIT);
	n = send(sock, m->io.iov_base, m->io.iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? -errno : n;
}

/* Sends or receives once, after waiting for it. */
static ssize_t step(int sock, struct fd_message *m, bool sending, const struct helper_wait *w)
{
	ssize_t n;
	int err;

	for (;;) {
		n = try_once(sock, m, sending);
		if (n > 0)
			return n;
		if (!n || n == -ECONNRESET)
			return -EPIPE;
		if (n != -EAGAIN && n != -EINTR)
			return n;
		err = wait_for(sock, sending ? POLLOUT : POLLIN, w);
		if (err)
			return err;
	}
}

/* Also of an end that always has one more byte to give, so that nobody ever waits for it. */
static bool is_late(const struct helper_wait *w)
{
	return w->until_ns && now_ns() >= w->until_ns;
}

static int move_bytes(int sock, void *v, size_t len, bool sending, const struct helper_wait *w)
{
	size_t done = 0;

	while (done < len) {
		struct fd_message m;
		ssize_t n;

		fd_message_init(&m, (char *)v + done, len - done);
		fd_message_refuse(&m);
		n = is_late(w) ? -ETIMEDOUT : step(sock, &m, sending, w);
		if (n < 0)
			return (int)n;
		done += (size_t)n;
	}
	return 0;
}

static int send_head(int sock, const struct helper_message *m, const struct helper_wait *w)
{
	struct head head = { .op = m->op, .status = m->status, .nr_fds = m->nr_fds };
	struct fd_message f;
	ssize_t n;

	for (size_t i = 0; i < MESSAGE_PARTS; i++)
		head.len[i] = m->part[i].len;
	fd_message_init(&f, &head, sizeof(head));
	fd_message_attach(&f, m->fds, m->nr_fds);
	n = step(sock, &f, true, w);
	if (n < 0)
		return (int)n;
	/* The descriptors went with the first byte, and the rest is sent without them. */
	return move_bytes(sock, (char *)&head + n, sizeof(head) - (size_t)n, true, w);
}

int helper_send(int sock, const struct helper_message *m, const struct helper_wait *w)
{
	int err = m->nr_fds <= MESSAGE_FDS ? send_head(sock, m, w) : -EINVAL;

	for (size_t i = 0; i < MESSAGE_PARTS && !err; i++)
		err = move_bytes(sock, m->part[i].v, m->part[i].len, true, w);
	return err;
}

static int receive_head(int sock, struct head *head, struct helper_message *m, bool with_fds,
			const struct helper_wait *w)
{
	struct fd_message f;
	bool lost;
	ssize_t n;
	int err;

	fd_message_init(&f, head, sizeof(*head));
	if (!with_fds)
		fd_message_refuse(&f);
	n = step(sock, &f, false, w);
	if (n < 0)
		return (int)n;
	m->nr_fds = fd_message_take(&f, m->fds, MESSAGE_FDS, &lost);
	if (lost)
		return -EPROTO;
	err = move_bytes(sock, (char *)head + n, sizeof(*head) - (size_t)n, false, w);
	return err ? err : head->nr_fds == m->nr_fds ? 0 : -EPROTO;
}

static int receive_part(int sock, struct message_part *part, size_t len,
			const struct helper_wait *w)
{
	part->v = malloc(len + 1);
	if (!part->v)
		return -ENOMEM;
	part->len = len;
	((char *)part->v)[len] = 0;
	return move_bytes(sock, part->v, len, false, w);
}

static int receive(int sock, struct helper_message *m, size_t max, bool with_fds,
		   const struct helper_wait *w)
{
	struct head head;
	int err;

	memset(m, 0, sizeof(*m));
	err = receive_head(sock, &head, m, with_fds, w);
	for (size_t i = 0; i < MESSAGE_PARTS && !err; i++) {
		if (head.len[i] > max)
			err = -EMSGSIZE;
		else
			err = receive_part(sock, &m->part[i], head.len[i], w);
		max -= err ? 0 : head.len[i];
	}
	if (err) {
		helper_message_release(m);
		return err;
	}
	m->op = head.op;
	m->status = head.status;
	return 0;
}

int helper_receive(int sock, struct helper_message *m, size_t max, const struct helper_wait *w)
{
	return receive(sock, m, max, true, w);
}

int helper_receive_bytes(int sock, struct helper_message *m, size_t max,
			 const struct helper_wait *w)
{
	return receive(sock, m, max, false, w);
}

void helper_message_close(struct helper_message *m)
{
	for (size_t i = 0; i < m->nr_fds; i++)
		if (m->fds[i] >= 0)
			close(m->fds[i]);
	m->nr_fds = 0;
}

void helper_message_release(struct helper_message *m)
{
	helper_message_close(m);
	for (size_t i = 0; i < MESSAGE_PARTS; i++)
		free(m->part[i].v);
	memset(m, 0, sizeof(*m));
}

void *helper_take_part(struct helper_message *m, size_t i, size_t *len)
{
	void *v = m->part[i].v;

	*len = m->part[i].len;
	m->part[i] = (struct message_part){ 0 };
	return v;
}

int helper_take_fd(struct helper_message *m, size_t i)
{
	int fd = i < m->nr_fds ? m->fds[i] : -1;

	if (fd >= 0)
		m->fds[i] = -1;
	return fd;
}
