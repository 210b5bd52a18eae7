/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the definition_*.c of a store share: the store itself. */
#pragma once

#include "src/model/definition_store.h"

/* Rows by id. The row of an id that is not defined is all zero. */
struct column {
	void *v;
	size_t cap;
	uint32_t end;			/* highest id + 1 */
	uint32_t count;
};

struct text {
	const char *s;			/* NULL: not defined */
	uint32_t len;
};

struct definition_store {
	struct column columns[RECORD_TAGS];	/* by enum record_tag; empty unless a definition */
	struct rec_line *lines;
	size_t nr_lines, cap_lines;
	char **blocks;			/* string bytes, which never move */
	size_t nr_blocks, cap_blocks, room;
	size_t bytes;
	uint64_t gaps, refused;
	bool is_joined;			/* definition_store_join() */
	enum frame_folding folding;
	const char *hidden_text;	/* definition_store_hide(); NULL: nothing is hidden */
};

/* The row of an id; NULL: it is behind the last one. */
static inline const void *column_find(const struct column *c, size_t size, uint32_t id)
{
	return id < c->end ? (const char *)c->v + (size_t)id * size : NULL;
}

/* Whether there is no frame to show from a stack on outwards, and none is lost there. */
static inline bool definition_store_is_blank(const struct definition_store *t, uint32_t stack)
{
	const struct table_node *n = definition_store_node_row(t, stack);

	return !stack || (n && n->is_blank);
}

/* Whether a node is left out: definition_store_fold(). */
bool definition_store_folds(const struct definition_store *t, const struct rec_node *r);
