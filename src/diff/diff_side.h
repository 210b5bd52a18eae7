/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One of two recordings that are compared: its call tree, and how the weight of each node is spread
 * over DIFF_BLOCKS blocks. These are equal parts of the time that was recorded, or equal parts of
 * the weight in the order of time: of a command that always does the same work, these are the same
 * parts of it however long it had to wait for a CPU meanwhile.
 *
 * Recordings of one file count as one that goes on: where they do not touch, no time passes. The
 * memory is in proportion to the samples and to the nodes times the blocks, whichever is less.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fold_options;
struct profile;
struct report;
struct time_window;
struct view;

/* What the samples weigh whose innermost function is one node, in one block. */
struct diff_block {
	uint32_t block, next;		/* next: one more of this node; index plus 1, 0: none */
	uint64_t weight;
};

struct diff_side {
	struct profile *p;
	struct diff_block *blocks;
	size_t nr_blocks, cap_blocks;
	uint32_t *first;		/* by node: index plus 1 in blocks; 0: none */
	size_t cap_first;
	struct time_window *spans;	/* of the recordings; empty if unknown */
	uint64_t *ahead_ns;		/* time in the recordings before each one */
	size_t nr_spans;
	uint64_t time_ns;		/* in all of them, as far as the query lets it pass */
	bool by_weight;
	uint64_t weight, passed;	/* by_weight: of all samples; of those so far */
};

/* by_weight: the blocks are. 0 or -errno, explained. In any case diff_side_release(). */
int diff_side_fold(struct report *rep, const struct fold_options *opts, bool by_weight,
		   struct diff_side *s);
/* Turns the tree. 0 or -errno, explained. */
int diff_side_view(struct diff_side *s, const struct report *rep, const struct view *view);
void diff_side_release(struct diff_side *s);
