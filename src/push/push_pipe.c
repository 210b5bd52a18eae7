/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_pipe.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/push/push_url.h"

enum { MAGIC = 0x70755368, LOOK_MS = 200, TYPE_MAX = 127, WHAT_MAX = 1023 };

/* ---- writing ---- */

int push_pipe_put(int fd, const struct push_body *b)
{
	const struct push_pipe_head h = {
		.magic = MAGIC, .is_gzip = b->is_gzip, .profiles = b->profiles,
		.path_len = (uint32_t)strlen(b->path),
		.type_len = (uint32_t)strlen(b->content_type),
		.what_len = (uint32_t)strnlen(b->what, WHAT_MAX), .len = b->len,
		.raw_len = b->raw_len, .cost = b->cost, .samples = b->samples, .lost = b->lost,
		.from_ns = b->from_ns, .to_ns = b->to_ns,
	};
	int err = io_write(fd, &h, sizeof(h), NULL);

	if (!err)
		err = io_write(fd, b->path, h.path_len, NULL);
	if (!err)
		err = io_write(fd, b->content_type, h.type_len, NULL);
	if (!err)
		err = io_write(fd, b->what, h.what_len, NULL);
	return err ? err : io_write(fd, b->bytes, b->len, NULL);
}

int push_pipe_end(int fd, int result, const struct push_counts *counts)
{
	const struct push_pipe_head h = { .magic = MAGIC, .is_end = 1, .result = result };
	int err = io_write(fd, &h, sizeof(h), NULL);

	return err ? err : io_write(fd, counts, sizeof(*counts), NULL);
}

/* ---- reading ---- */

static int read_all(struct push_pipe *p, void *to, size_t len)
{
	uint8_t *at = to;

	while (len) {
		struct pollfd f = { .fd = p->fd, .events = POLLIN };
		ssize_t n;

		if (p->stop && p->stop(p->ctx))
			return -ECANCELED;
		n = poll(&f, 1, p->stop ? LOOK_MS : -1);
		if (n > 0)
			n = read(p->fd, at, len);
		else if (!n)
			continue;
		if (!n)
			return -EPIPE;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static bool is_sane(const struct push_pipe_head *h)
{
	return h->magic == MAGIC && h->path_len < PUSH_PATH_MAX && h->type_len <= TYPE_MAX &&
	       h->what_len <= WHAT_MAX && h->len <= PUSH_PIPE_BODY_MAX;
}

/* Texts go into an HTTP request or to a terminal. */
static bool is_printable(const char *s, size_t len, bool is_ascii)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f || (is_ascii && s[i] & 0x80))
			return false;
	return true;
}

/* The bytes, then the three texts, each with a NUL. */
static int take_body(struct push_pipe *p, const struct push_pipe_head *h)
{
	size_t texts = (size_t)h->path_len + h->type_len + h->what_len;
	size_t need = h->len + texts + 3;
	char *path, *type, *what;
	int err;

	if (need > p->cap) {
		uint8_t *v = realloc(p->buf, need);

		if (!v)
			return -ENOMEM;
		p->buf = v;
		p->cap = need;
	}
	assert(need <= p->cap);
	path = (char *)p->buf + h->len;
	type = path + h->path_len + 1;
	what = type + h->type_len + 1;
	path[h->path_len] = type[h->type_len] = what[h->what_len] = 0;
	err = read_all(p, path, h->path_len);
	if (!err)
		err = read_all(p, type, h->type_len);
	if (!err)
		err = read_all(p, what, h->what_len);
	if (!err)
		err = read_all(p, p->buf, h->len);
	if (err)
		return err;
	if (!is_printable(path, h->path_len, true) || !is_printable(type, h->type_len, true) ||
	    !is_printable(what, h->what_len, false))
		return -EPROTO;
	p->body = (struct push_body){
		.path = path, .content_type = type, .what = what, .is_gzip = h->is_gzip,
		.bytes = p->buf, .len = h->len, .raw_len = h->raw_len, .cost = h->cost,
		.profiles = h->profiles,
		.samples = h->samples, .lost = h->lost, .from_ns = h->from_ns, .to_ns = h->to_ns,
	};
	return 1;
}

int push_pipe_next(struct push_pipe *p)
{
	struct push_pipe_head h;
	int err = read_all(p, &h, sizeof(h));

	if (err)
		return err;
	if (!is_sane(&h))
		return -EPROTO;
	if (!h.is_end)
		return take_body(p, &h);
	p->result = h.result;
	return read_all(p, &p->counts, sizeof(p->counts));
}

void push_pipe_release(struct push_pipe *p)
{
	free(p->buf);
	p->buf = NULL;
	p->cap = 0;
}
