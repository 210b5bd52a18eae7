/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Escaped texts by dense id, each made once, so that writing a million rows only copies bytes.
 *
 *	text_cache_open(&c)
 *	if (!(t = text_cache_find(&c, id)))		borrowed until the next call
 *		write to c.out; t = text_cache_keep(&c, id)
 *	text_cache_clear(&c)				when ids get another meaning
 *	text_cache_close(&c)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cached_text {
	char *s;			/* NULL: not made yet */
	uint32_t len;
};

struct text_cache {
	FILE *out;			/* the text written to it becomes the next kept text */
	struct cached_text *v;
	size_t cap;
	size_t bytes;			/* size of all texts */
	char *scratch;
	size_t scratch_size;
};

int text_cache_open(struct text_cache *c);		/* 0 or -ENOMEM */
void text_cache_close(struct text_cache *c);
void text_cache_clear(struct text_cache *c);

static inline const struct cached_text *text_cache_find(const struct text_cache *c, uint32_t id)
{
	return id < c->cap && c->v[id].s ? &c->v[id] : NULL;
}

/* Keeps the text that was written to out. NULL: out of memory. */
const struct cached_text *text_cache_keep(struct text_cache *c, uint32_t id);
