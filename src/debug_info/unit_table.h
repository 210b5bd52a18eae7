/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions and source lines of one compilation unit, sorted by address.
 *
 * Debug information is a tree of functions, with the functions that were inlined into them, and a
 * program that makes a list of lines (DWARF 5, chapters 3.3 and 6.2). Both are turned into one
 * array: a segment begins where the line or the innermost function changes, and holds up to the
 * next one. A node is a function at one place: the one that was inlined there, and in which node.
 *
 *	segment 0x120: util.h:7, node 2		node 2: max(), inlined in node 1 at a.c:31
 *						node 1: main()
 *
 * A table is one piece of bytes without pointers, so that it can be sent and kept in a file:
 *
 *	struct unit_head, struct unit_segment[], struct unit_node[], struct unit_func[], text
 *
 * A large unit has thousands of functions, and a profile meets few of them. So a table may be
 * partial: it has some functions, and segments that say that nothing was read from there on.
 *
 * The bytes are foreign. unit_table_open() checks the sizes, and each index is checked when it is
 * followed. The parent of a node comes before it, so a chain always ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNIT_NONE UINT32_MAX
#define UNIT_UNREAD (UINT32_MAX - 1)	/* the node of a segment of which nothing was read */

/* A line up to 4,194,303 and a column up to 1,023 in 32 bits; what does not fit is 0, unknown. */
#define UNIT_COLUMN_BITS 10

struct unit_head {
	uint64_t unit;			/* its number in the index (debug_index.h) */
	uint64_t base;			/* addresses are relative to it */
	uint32_t nr_segments, nr_nodes, nr_funcs, text_len;
	uint32_t lang;			/* enum func_lang */
	uint32_t nr_partial;		/* 0: it is whole; else how many partial ones there were */
};

struct unit_segment {
	uint32_t addr;
	uint32_t line;			/* line << UNIT_COLUMN_BITS | column */
	uint32_t file;			/* offset in text, or UNIT_NONE */
	uint32_t node;			/* or UNIT_NONE: in no function; or UNIT_UNREAD */
};

struct unit_node {
	uint32_t parent;		/* the node that it was inlined in, or UNIT_NONE */
	uint32_t func;
	uint32_t call_line, call_file;	/* where it was called, as in a segment */
	uint32_t entry;			/* without a parent: where the function begins */
};

struct unit_func {
	uint32_t name;			/* offset in text: linkage name, or as in the source */
	uint32_t file;			/* where it is declared, or UNIT_NONE */
	uint32_t line : 31;
	uint32_t is_lambda : 1;		/* scoped says more than name */
	/* Offset in text, or UNIT_NONE: the name with all that it is in. */
	uint32_t scoped;
	uint32_t entry;			/* of its own code that has a symbol; UNIT_NONE: unknown */
};

struct unit_table {
	const struct unit_head *head;
	const struct unit_segment *segments;
	const struct unit_node *nodes;
	const struct unit_func *funcs;
	const char *text;
	size_t len;			/* of the whole piece */
};

/* One function of a chain; strings are borrowed from the table. */
struct unit_place {
	const char *name;		/* NULL: unknown */
	const char *scoped;		/* as in struct unit_func, or NULL */
	bool is_lambda;
	uint64_t func_entry;		/* of unit_func.entry; 0: unknown */
	const char *file;		/* of the line; NULL: unknown */
	uint32_t line, column;		/* 0: unknown */
	const char *decl_file;		/* of the function */
	uint32_t decl_line;
	uint64_t entry;			/* of the outermost function; 0: unknown */
};

/* data must be aligned to 8 bytes, and is borrowed. 0 or -EBADMSG. */
int unit_table_open(const void *data, size_t len, struct unit_table *t);

/* Whether what there is to know of addr was read. */
bool unit_table_covers(const struct unit_table *t, uint64_t addr);

/*
 * The functions at addr, innermost first, and in each the line that is executed or that calls the
 * one before. Returns how many: 0, the table knows nothing of addr, up to max. Functions between
 * the innermost max - 1 and the outermost one are left out.
 */
size_t unit_table_find(const struct unit_table *t, uint64_t addr, struct unit_place *v, size_t max);

static inline uint32_t unit_line(uint64_t line, uint64_t column)
{
	if (line >> (32 - UNIT_COLUMN_BITS))
		return 0;
	return (uint32_t)(line << UNIT_COLUMN_BITS |
			  (column >> UNIT_COLUMN_BITS ? 0 : column));
}
