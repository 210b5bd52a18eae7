/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/cached_memory.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define WIDE 65536u
#define PAGES 64u

struct cached_memory {
	const struct target_memory *below;
	struct cached_memory *narrow;	/* where a piece cannot be read as a whole; or NULL */
	struct target_memory view;
	uint32_t piece;			/* bytes that are read at once */
	/* Apart, so that an object does not cost a fault for each page that it might keep. */
	uint64_t addr[PAGES];		/* 1: none */
	uint8_t bytes[];		/* PAGES pieces */
};

static int read_piece(struct cached_memory *c, uint64_t addr, const uint8_t **bytes)
{
	size_t i = (addr / c->piece ^ addr / c->piece / PAGES) % PAGES;
	uint8_t *to = c->bytes + i * c->piece;
	int err;

	*bytes = to;
	if (c->addr[i] == addr)
		return 0;
	c->addr[i] = 1;
	err = target_read(c->below, addr, to, c->piece);
	if (!err)
		c->addr[i] = addr;
	return err;
}

static int read_cached(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct cached_memory *c = ctx;
	uint8_t *to = buf;

	if (len > PAGE)
		return target_read(c->below, addr, buf, len);
	while (len) {
		size_t in = addr % c->piece, n = len < c->piece - in ? len : c->piece - in;
		const uint8_t *bytes;
		int err = read_piece(c, addr - in, &bytes);

		if (!err)
			memcpy(to, bytes + in, n);
		else if (c->narrow)
			err = read_cached(c->narrow, addr, to, n);
		if (err)
			return err;
		to += n;
		addr += n;
		len -= n;
	}
	return 0;
}

static struct cached_memory *new_with(const struct target_memory *m, uint32_t piece)
{
	struct cached_memory *c = malloc(sizeof(*c) + (size_t)PAGES * piece);

	if (!c)
		return NULL;
	c->below = m;
	c->narrow = NULL;
	c->piece = piece;
	c->view = (struct target_memory){ read_cached, c };
	for (size_t i = 0; i < PAGES; i++)
		c->addr[i] = 1;
	return c;
}

struct cached_memory *cached_memory_new(const struct target_memory *m)
{
	return new_with(m, PAGE);
}

struct cached_memory *cached_memory_new_wide(const struct target_memory *m)
{
	struct cached_memory *c = new_with(m, WIDE);

	if (!c)
		return NULL;
	c->narrow = new_with(m, PAGE);
	if (c->narrow)
		return c;
	free(c);
	return NULL;
}

void cached_memory_free(struct cached_memory *c)
{
	if (!c)
		return;
	free(c->narrow);
	free(c);
}

const struct target_memory *cached_memory_view(const struct cached_memory *c)
{
	return &c->view;
}
