/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of numbers below nr: pages of an unwind table. All zero is the set of no pages.
 */
#pragma once

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct page_set {
	uint64_t *words;
	uint32_t nr;			/* numbers are below this */
	uint32_t count;			/* in the set */
};

static inline size_t page_set_bytes(const struct page_set *s)
{
	return ((size_t)s->nr + 63) / 64 * sizeof(*s->words);
}

/* 0 or -ENOMEM. */
static inline int page_set_init(struct page_set *s, uint32_t nr)
{
	*s = (struct page_set){ .nr = nr };
	s->words = calloc(1, page_set_bytes(s) + 1);
	if (!s->words)
		s->nr = 0;
	return s->words ? 0 : -ENOMEM;
}

static inline void page_set_release(struct page_set *s)
{
	free(s->words);
	*s = (struct page_set){ 0 };
}

static inline void page_set_clear(struct page_set *s)
{
	if (s->nr)
		memset(s->words, 0, page_set_bytes(s));
	s->count = 0;
}

static inline bool page_set_has(const struct page_set *s, uint32_t i)
{
	assert(i < s->nr);
	return s->words[i / 64] >> i % 64 & 1;
}

static inline void page_set_add(struct page_set *s, uint32_t i)
{
	s->count += !page_set_has(s, i);
	s->words[i / 64] |= 1ull << i % 64;
}

/* Adds all numbers. */
static inline void page_set_fill(struct page_set *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		page_set_add(s, i);
}

/* Whether a has a number that b does not have. Both have the same nr. */
static inline bool page_set_has_more(const struct page_set *a, const struct page_set *b)
{
	assert(a->nr == b->nr);
	for (size_t i = 0; i < ((size_t)a->nr + 63) / 64; i++)
		if (a->words[i] & ~b->words[i])
			return true;
	return false;
}

/* The numbers of a that b does not have, ascending; the caller frees *list. 0 or -ENOMEM. */
static inline int page_set_list(const struct page_set *a, const struct page_set *b,
				uint32_t **list, size_t *nr)
{
	*nr = 0;
	*list = malloc(((size_t)a->count + 1) * sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->nr; i++)
		if (page_set_has(a, i) && !page_set_has(b, i))
			(*list)[(*nr)++] = i;
	return 0;
}
