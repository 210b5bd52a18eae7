/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bisect.h"
#include "src/base/hash_index.h"
#include "src/base/io.h"
#include "src/symbolize/jit_label.h"

#define BLOCK (64u << 10)
#define MARK_BYTES 256u
#define LABEL_EXTRA 64			/* bytes that are not in the line */

struct search {
	struct perf_map_query *v;	/* by addr */
	size_t nr, left;		/* left: without an answer */
	struct byte_buf *names;
	int err;
};

/* A stretch of the file. */
struct part {
	uint64_t from, end;
	bool is_line;			/* a line begins at from */
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

static uint32_t put_text(struct byte_buf *names, const char *s, size_t len)
{
	uint32_t at = (uint32_t)names->nr;

	bb_bytes(names, s, len);
	bb_u8(names, 0);
	return at;
}

void perf_map_put_label(struct byte_buf *names, const char *text, size_t len,
			struct perf_map_query *to)
{
	struct jit_label l;

	len = strnlen(text, len < PERF_MAP_NAME_MAX ? len : PERF_MAP_NAME_MAX);
	jit_label_parse(text, len, &l);
	to->sysname = to->name = put_text(names, text, len);
	if (l.name.s != text || l.name.len != len) {
		to->name = (uint32_t)names->nr;
		jit_label_put_name(&l, names);
	}
	to->file = l.file.len ? put_text(names, l.file.s, l.file.len) : PERF_MAP_NO_NAME;
	to->line = l.line;
	to->at_file = PERF_MAP_NO_NAME;
	to->at_line = to->at_column = 0;
	to->lang = l.lang;
	to->tier = l.tier;
}

static void put_label(struct search *s, const char *text, size_t len, struct perf_map_query *to)
{
	if (s->names->nr + 3 * (len < PERF_MAP_NAME_MAX ? len : PERF_MAP_NAME_MAX) + LABEL_EXTRA >
	    PERF_MAP_MAX_NAMES)
		s->err = -E2BIG;
	else
		perf_map_put_label(s->names, text, len, to);
	if (s->names->bad)
		s->err = -ENOMEM;
}

static void copy_label(const struct perf_map_query *from, struct perf_map_query *to)
{
	struct perf_map_query all = *from;

	all.addr = to->addr;
	all.time_ns = to->time_ns;
	all.cookie = to->cookie;
	all.next = to->next;
	all.is_old = to->is_old;
	*to = all;
}

/* Answers the queries in this piece of code that have no answer from a later piece. */
static void answer(struct search *s, uint64_t start, uint64_t size, const char *name, size_t len)
{
	const struct perf_map_query *first = NULL;

	for (size_t i = unanswered(s, first_at(s, start)); i < s->nr && s->v[i].addr - start < size;
	     i = unanswered(s, i)) {
		struct perf_map_query *q = &s->v[i];

		if (!first) {
			put_label(s, name, len, q);
			first = q;
		}
		if (s->err) {
			q->name = PERF_MAP_NO_NAME;
			return;
		}
		copy_label(first, q);
		q->start = start;
		q->next = (uint32_t)i + 1;
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
 * part ends. A line that begins before the block is left to the rest, except one as long as the
 * block, of which this much is enough.
 */
static uint64_t take_block(struct search *s, const struct part *part, const char *block, size_t len,
			   uint64_t at)
{
	const char *end = block + len, *newline;

	if (end[-1] == '\n')
		end--;
	while (s->left && !s->err && (newline = memrchr(block, '\n', (size_t)(end - block)))) {
		take_line(s, newline + 1, end);
		end = newline;
	}
	if (at == part->from && part->is_line)
		take_line(s, block, end);
	if (at == part->from || !s->left || s->err)
		return part->from;
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

static int search_part(const struct perf_map_source *src, struct search *s, const struct part *part,
		       char *block)
{
	uint64_t end = part->end;

	while (end > part->from && s->left && !s->err) {
		uint64_t at = end - part->from > BLOCK ? end - BLOCK : part->from;
		int err = read_block(src, block, (size_t)(end - at), at);

		if (err)
			return err;
		end = take_block(s, part, block, (size_t)(end - at), at);
	}
	return s->err;
}

/* From here on only those are looked for that were not asked for before. */
static void leave_old(struct search *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].is_old && s->v[i].next == i) {
			s->v[i].next = (uint32_t)i + 1;
			s->left--;
		}
}

static int search(const struct perf_map_source *src, struct search *s, uint64_t known,
		  uint64_t end, char *block)
{
	uint64_t stop = end > PERF_MAP_MAX_BYTES ? end - PERF_MAP_MAX_BYTES : 0;
	const struct part fresh = { known > stop ? known : stop, end, known >= stop },
			  rest = { stop, known > stop ? known : stop, !stop };
	int err = search_part(src, s, &fresh, block);

	if (known)
		leave_old(s);
	if (!err)
		err = search_part(src, s, &rest, block);
	return err ? err : s->left && stop ? -E2BIG : 0;
}

/* The hash of the last bytes of the first end ones; 0: they cannot be read. */
static uint64_t hash_before(const struct perf_map_source *src, uint64_t end, char *block)
{
	size_t len = end < MARK_BYTES ? (size_t)end : MARK_BYTES;

	if (end > src->size || read_block(src, block, len, end - len))
		return 0;
	return hash_bytes(end, block, len);
}

/* Where the last whole line of the file ends; known: there is none behind that. */
static uint64_t whole_lines(const struct perf_map_source *src, uint64_t known, char *block)
{
	uint64_t len = src->size - known < BLOCK ? src->size - known : BLOCK;
	const char *newline;

	if (!len || read_block(src, block, (size_t)len, src->size - len))
		return known;
	newline = memrchr(block, '\n', (size_t)len);
	return newline ? src->size - len + (uint64_t)(newline + 1 - block) : known;
}

/* Finds out what to read, and reads it. */
static int search_file(const struct perf_map_source *src, struct search *s,
		       struct perf_map_mark *mark, char *block)
{
	uint64_t known = 0, whole;
	int err;

	if (mark->bytes && hash_before(src, mark->bytes, block) == mark->hash)
		known = mark->bytes;
	whole = whole_lines(src, known, block);
	err = search(src, s, known, src->is_growing ? whole : src->size, block);
	*mark = (struct perf_map_mark){ whole, hash_before(src, whole, block) };
	return err;
}

void perf_map_sort(struct perf_map_query *v, size_t nr)
{
	if (nr)
		qsort(v, nr, sizeof(*v), by_addr);
}

/* Links each query that has an answer to the next one (unanswered()). */
static void begin_search(struct search *s)
{
	perf_map_sort(s->v, s->nr);
	for (size_t i = 0; i < s->nr; i++) {
		bool open = s->v[i].name == PERF_MAP_NO_NAME;

		s->v[i].next = (uint32_t)(open ? i : i + 1);
		s->left += open;
	}
}

int perf_map_find(const struct perf_map_source *src, struct perf_map_query *v, size_t nr,
		  struct perf_map_mark *mark, struct byte_buf *names)
{
	struct search s = { .v = v, .nr = nr, .names = names };
	char *block = malloc(BLOCK);
	int err;

	if (!block || nr >= UINT32_MAX) {
		free(block);
		return -ENOMEM;
	}
	begin_search(&s);
	err = search_file(src, &s, mark, block);
	free(block);
	return err;
}
