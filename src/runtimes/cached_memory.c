/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/cached_memory.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define PAGES 64u

struct kept_page {
	uint64_t addr;			/* 1: none */
	uint8_t bytes[PAGE];
};

struct cached_memory {
	const struct target_memory *below;
	struct target_memory view;
	struct kept_page pages[PAGES];
};

static int read_page(struct cached_memory *c, uint64_t addr, const uint8_t **bytes)
{
	struct kept_page *p = &c->pages[(addr / PAGE ^ addr / PAGE / PAGES) % PAGES];
	int err;

	*bytes = p->bytes;
	if (p->addr == addr)
		return 0;
	p->addr = 1;
	err = target_read(c->below, addr, p->bytes, PAGE);
	if (!err)
		p->addr = addr;
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
		c->pages[i].addr = 1;
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
