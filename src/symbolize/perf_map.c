/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bisect.h"
#include "src/base/io.h"

#define BLOCK (64u << 10)

struct search {
	struct perf_map_query *v;	/* by addr */
	size_t nr, left;		/* left: without an answer */
	struct byte_buf *names;
	int err;
};

static int by_addr(const void *a, const void *b)
{
	const struct perf_map_query *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->cookie > y->cookie) - (x->cookie < y->cookie);
}

/*
 * The index of the first query from i on that has no answer. Answered ones are skipped by links
 * that get longer with each search.
 */
static size_t unanswered(struct search *s, size_t i)
{
	size_t end = i;

	while (end < s->nr && s->v[end].next != end)
		end = s->v[end].next;
	while (i < end) {
		size_t next = s->v[i].next;

		s->v[i].next = (uint32_t)end;
		i = next;
	}
	return end;
}

static size_t first_at(const struct search *s, uint64_t addr)
{
	return bisect(s->nr, i, s->v[i].addr < addr);
}

static uint32_t put_name(struct search *s, const char *name, size_t len)
{
	uint32_t at = (uint32_t)s->names->nr;

	len = len < PERF_MAP_NAME_MAX ? len : PERF_MAP_NAME_MAX;
	if (at + len > PERF_MAP_MAX_NAMES) {
		s->err = -E2BIG;
		return PERF_MAP_NO_NAME;
	}
	bb_bytes(s->names, name, len);
	bb_u8(s->names, 0);
	if (!s->names->bad)
		return at;
	s->err = -ENOMEM;
	return PERF_MAP_NO_NAME;
}

/* Answers the queries in this piece of code that have no answer from a later piece. */
static void answer(struct search *s, uint64_t start, uint64_t size, const char *name, size_t len)
{
	uint32_t at = PERF_MAP_NO_NAME;

	for (size_t i = unanswered(s, first_at(s, start)); i < s->nr && s->v[i].addr - start < size;
	     i = unanswered(s, i)) {
		if (at == PERF_MAP_NO_NAME)
			at = put_name(s, name, len);
		if (s->err)
			return;
		s->v[i].name = at;
		s->v[i].start = start;
		s->v[i].next = (uint32_t)i + 1;
		s->left--;
	}
}

/* Reads a hexadecimal number, perhaps with 0x, and the spaces after it. */
static bool take_hex(const char **p, const char *end, uint64_t *out)
{
	const char *begin;
	uint64_t v = 0;

	if (end - *p > 2 && (*p)[0] == '0' && ((*p)[1] | 0x20) == 'x')
		*p += 2;
	for (begin = *p; *p < end; ++*p) {
		unsigned char c = (unsigned char)**p, lower = c | 0x20;

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (lower >= 'a' && lower <= 'f')
			v = v << 4 | (lower - 'a' + 10u);
		else
			break;
	}
	*out = v;
	if (*p == begin || *p - begin > 16 || *p == end || **p != ' ')
		return false;
	while (*p < end && **p == ' ')
		++*p;
	return true;
}

static void take_line(struct search *s, const char *p, const char *end)
{
	uint64_t start, size;

	while (end > p && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	if (take_hex(&p, end, &start) && take_hex(&p, end, &size) && p < end && *p)
		answer(s, start, size, p, (size_t)(end - p));
}

/*
 * Takes the lines of a block, from the last one to the first. Returns where the unread rest of the
 * file ends. A line that begins before the block is left to the rest, except one as long as the
 * block, of which this much is enough.
 */
static uint64_t take_block(struct search *s, const char *block, size_t len, uint64_t at)
{
	const char *end = block + len, *newline;

	if (end[-1] == '\n')
		end--;
	while (s->left && !s->err && (newline = memrchr(block, '\n', (size_t)(end - block)))) {
		take_line(s, newline + 1, end);
		end = newline;
	}
	if (!at)
		take_line(s, block, end);
	if (!at || !s->left || s->err)
		return 0;
	return (size_t)(end - block) >= BLOCK - 1 ? at : at + (uint64_t)(end - block);
}

static int read_block(const struct perf_map_source *src, char *block, size_t len, uint64_t at)
{
	if (src->fd < 0) {
		memcpy(block, (const char *)src->data + at, len);
		return 0;
	}
	return io_pread(src->fd, block, len, at) == (ssize_t)len ? 0 : -EIO;
}

static int search(const struct perf_map_source *src, struct search *s, char *block)
{
	uint64_t end = src->size, stop = end > PERF_MAP_MAX_BYTES ? end - PERF_MAP_MAX_BYTES : 0;

	while (end > stop && s->left) {
		uint64_t at = end > BLOCK ? end - BLOCK : 0;
		int err = read_block(src, block, (size_t)(end - at), at);

		if (err)
			return err;
		end = take_block(s, block, (size_t)(end - at), at);
		if (s->err)
			return s->err;
	}
	return s->left && end ? -E2BIG : 0;
}

int perf_map_find(const struct perf_map_source *src, struct perf_map_query *v, size_t nr,
		  struct byte_buf *names)
{
	struct search s = { .v = v, .nr = nr, .names = names };
	char *block = malloc(BLOCK);
	int err;

	if (!block || nr >= UINT32_MAX) {
		free(block);
		return -ENOMEM;
	}
	if (nr)
		qsort(v, nr, sizeof(*v), by_addr);
	for (size_t i = 0; i < nr; i++) {
		bool open = v[i].name == PERF_MAP_NO_NAME;

		v[i].next = (uint32_t)(open ? i : i + 1);
		s.left += open;
	}
	err = search(src, &s, block);
	free(block);
	return err;
}
