/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/cached_memory.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define PAGES 64u

struct cached_memory {
	const struct target_memory *below;
	struct target_memory view;
	/* Apart, so that an object does not cost a fault for each page that it might keep. */
	uint64_t addr[PAGES];		/* 1: none */
	uint8_t bytes[PAGES][PAGE];
};

static int read_page(struct cached_memory *c, uint64_t addr, const uint8_t **bytes)
{
	size_t i = (addr / PAGE ^ addr / PAGE / PAGES) % PAGES;
	int err;

	*bytes = c->bytes[i];
	if (c->addr[i] == addr)
		return 0;
	c->addr[i] = 1;
	err = target_read(c->below, addr, c->bytes[i], PAGE);
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
		size_t in_page = addr % PAGE, n = len < PAGE - in_page ? len : PAGE - in_page;
		const uint8_t *bytes;
		int err = read_page(c, addr - in_page, &bytes);

		if (err)
			return err;
		memcpy(to, bytes + in_page, n);
		to += n;
		addr += n;
		len -= n;
	}
	return 0;
}

struct cached_memory *cached_memory_new(const struct target_memory *m)
{
	struct cached_memory *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	c->below = m;
	c->view = (struct target_memory){ read_cached, c };
	for (size_t i = 0; i < PAGES; i++)
		c->addr[i] = 1;
	return c;
}

void cached_memory_free(struct cached_memory *c)
{
	free(c);
}

const struct target_memory *cached_memory_view(const struct cached_memory *c)
{
	return &c->view;
}
