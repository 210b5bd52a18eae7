/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/text_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

int text_cache_open(struct text_cache *c)
{
	memset(c, 0, sizeof(*c));
	c->out = open_memstream(&c->scratch, &c->scratch_size);
	return c->out ? 0 : -ENOMEM;
}

void text_cache_clear(struct text_cache *c)
{
	for (size_t i = 0; i < c->cap; i++)
		free(c->v[i].s);
	free(c->v);
	c->v = NULL;
	c->cap = 0;
	c->bytes = 0;
}

void text_cache_close(struct text_cache *c)
{
	text_cache_clear(c);
	if (c->out)
		fclose(c->out);
	free(c->scratch);
	memset(c, 0, sizeof(*c));
}

const struct cached_text *text_cache_keep(struct text_cache *c, uint32_t id)
{
	off_t len = ftello(c->out);
	char *s;

	if (fflush(c->out) || len < 0 || array_reserve(&c->v, &c->cap, (size_t)id + 1))
		return NULL;
	s = malloc((size_t)len + 1);
	if (!s)
		return NULL;
	memcpy(s, c->scratch, (size_t)len);
	s[len] = 0;
	rewind(c->out);
	c->bytes += (size_t)len + 1;
	c->v[id] = (struct cached_text){ s, (uint32_t)len };
	return &c->v[id];
}
