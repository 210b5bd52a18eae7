/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/window_cutter.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

void window_cutter_release(struct window_cutter *c)
{
	free(c->held);
	c->held = NULL;
	c->nr = c->cap = 0;
}

bool window_cutter_is_whole(const struct window_cutter *c)
{
	return !c->nr;
}

/* The length of the piece that begins here; 0: too little of it is there; -EBADMSG. */
static ssize_t piece_length(const struct window_cutter *c, const uint8_t *p, size_t len,
			    struct signpost *sp, bool *is_ident)
{
	struct ident id;
	uint32_t magic;

	if (len < sizeof(magic))
		return 0;
	magic = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	*is_ident = magic == IDENT_MAGIC;
	if (*is_ident)
		return len < IDENT_SIZE ? 0 : ident_decode(p, len, &id) ? IDENT_SIZE : -EBADMSG;
	if (magic != SIGNPOST_MAGIC || !c->has_segment)
		return -EBADMSG;
	if (len < SIGNPOST_SIZE)
		return 0;
	if (!signpost_decode(p, len, sp) || sp->data_size > MAX_DATA_SIZE)
		return -EBADMSG;
	return len < SIGNPOST_SIZE + (size_t)sp->data_size ? 0
							   : SIGNPOST_SIZE + (ssize_t)sp->data_size;
}

static int give(struct window_cutter *c, const uint8_t *p, size_t len, const struct signpost *sp)
{
	int err = 0;

	if (!sp) {
		c->has_segment = true;
		err = c->begin ? c->begin(c->ctx) : 0;
	}
	if (!err && c->piece)
		err = c->piece(c->ctx, p, len, sp);
	if (!err)
		c->whole += len;
	return err;
}

static int hold(struct window_cutter *c, const uint8_t *bytes, size_t len)
{
	if (!len)
		return 0;
	if (array_reserve(&c->held, &c->cap, c->nr + len))
		return -ENOMEM;
	memcpy(c->held + c->nr, bytes, len);
	c->nr += len;
	return 0;
}

int window_cutter_feed(struct window_cutter *c, const uint8_t *bytes, size_t len)
{
	size_t at = 0;
	int err = hold(c, bytes, len);

	while (!err) {
		struct signpost sp;
		bool is_ident;
		ssize_t n = piece_length(c, c->held + at, c->nr - at, &sp, &is_ident);

		if (n < 0)
			err = (int)n;
		if (n <= 0)
			break;
		err = give(c, c->held + at, (size_t)n, is_ident ? NULL : &sp);
		if (!err)
			at += (size_t)n;
	}
	assert(at <= c->nr);
	c->nr -= at;
	if (c->nr && at)
		memmove(c->held, c->held + at, c->nr);
	return err;
}
