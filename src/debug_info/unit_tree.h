/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a compilation unit while they are read, and the table that becomes of them.
 * Internal to src/debug_info.
 *
 *	struct unit_tree t = { .src = src };	then t.rows (unit_lines.h)
 *	unit_tree_span(&t, lo, hi)		the code of the next node, then that node
 *	unit_tree_node(&t, &node, entry)
 *	unit_tree_write(&t, lang, out)
 *	unit_tree_release(&t)
 *
 * t.err is 0, or why the table cannot be made; then nothing more is added.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "src/debug_info/unit_lines.h"
#include "src/debug_info/unit_table.h"
#include "src/debug_info/work_limit.h"

#define UNIT_MAX_DEPTH 128		/* of blocks in each other */
#define UNIT_MAX_RANGES 65536		/* of one function */

struct unit_regions;
struct unit_source;
struct unit_span;

/* Where the innermost node changes. */
struct unit_change {
	uint64_t addr;
	uint32_t node;
};

struct unit_changes {
	struct unit_change *v;
	size_t nr, cap;
};

struct unit_tree {
	const struct unit_source *src;
	struct work_limit limit;
	struct unit_text text;
	struct unit_rows rows;
	struct unit_node *nodes;
	size_t nr_nodes, cap_nodes;
	uint64_t *entries;		/* of the nodes */
	size_t nr_entries, cap_entries;
	struct unit_func *funcs;
	size_t nr_funcs, cap_funcs;
	uint64_t *func_keys;		/* of the functions: what tells their entries apart */
	size_t nr_keys, cap_keys;
	struct hash_index func_index;
	uint64_t *outlined;		/* by function: where it has code of its own; 0: unknown */
	size_t cap_outlined;
	struct unit_regions *regions;	/* that are read; NULL: all */
	bool says_ranges;		/* entries say truly where their code is */
	struct unit_changes changes;
	bool is_settled;
	struct unit_span *spans;
	size_t nr_spans, cap_spans;
	int err;
};

void unit_tree_init(struct unit_tree *t, const struct unit_source *src);
void unit_tree_release(struct unit_tree *t);

/* Counts an entry or a range; false: no more of them. */
bool unit_tree_go_on(struct unit_tree *t);

/* Whether a range is in the code of the file. */
bool unit_tree_is_code(const struct unit_source *src, uint64_t lo, uint64_t hi);

/* Adds a range as code of the next node, if it is code. */
void unit_tree_span(struct unit_tree *t, uint64_t lo, uint64_t hi);

/* Says that entries in node with the spans from number first on are not read. */
void unit_tree_unread(struct unit_tree *t, size_t first, uint32_t node);

/* Adds the node whose spans were added last. Its index, or UNIT_NONE. */
uint32_t unit_tree_node(struct unit_tree *t, const struct unit_node *node, uint64_t entry);

/* The function of a key, or UNIT_NONE. */
uint32_t unit_tree_find_func(const struct unit_tree *t, uint64_t key);
uint32_t unit_tree_add_func(struct unit_tree *t, uint64_t key, const struct unit_func *func);

/*
 * Says that all nodes are there. t.regions are what was read from then on, so rows of other code
 * are not needed. Without it unit_tree_write() does it. 0 or -errno.
 */
int unit_tree_settle(struct unit_tree *t);

/* Appends the table. 0, or -errno as of unit_read(). */
int unit_tree_write(struct unit_tree *t, uint32_t lang, struct byte_buf *out);
