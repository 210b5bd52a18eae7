/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of times each distinct stack was seen. Samples of equal {segment, root, stacks, end}
 * become one row, so that names have to be looked up once per row. A row has the number of its
 * samples and the sum of their weights, at most UINT64_MAX. Embedded; all zero is empty.
 *
 * There may be more rows than fit into the cache, and each sample is of another one. So a sample
 * can be left to wait for others, and then their rows are fetched together:
 *
 *	sample_counts_put(&c, &key)		for each sample
 *	sample_counts_reaches(&c, limit)	after each, if rows are limited
 *	sample_counts_settle(&c)		before c.v and c.nr are looked at
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

struct sample_count {
	uint32_t root;			/* the node of the tree below which they go */
	uint32_t kstack, ustack;
	uint16_t segment;		/* a report has no more than 65536 */
	uint8_t end;			/* enum stack_end */
	uint8_t kind;			/* what else tells rows apart, the caller's */
	uint64_t count, weight;
};

enum { COUNTS_WAITING = 64, COUNTS_EXPECTED = 8 };

struct sample_counts {
	struct sample_count *v;		/* in the order of their first sample */
	size_t nr, cap;
	struct hash_index index;
	struct sample_count waiting[COUNTS_WAITING];
	uint64_t hashes[COUNTS_WAITING];	/* of those that wait */
	size_t nr_waiting;
	uint64_t expected[COUNTS_EXPECTED];	/* hashes, of which the slots are fetched */
	size_t nr_expected;
};

void sample_counts_release(struct sample_counts *c);
/*
 * Adds key->count samples that weigh key->weight together. *at (if not NULL): the index of their
 * row. 0 or -ENOMEM.
 */
int sample_counts_add(struct sample_counts *c, const struct sample_count *key, size_t *at);

/*
 * A sample of this row will be added soon, in about 16 calls: fetches it. *at: the row of one that
 * was expected eight calls before; SIZE_MAX: it is not known.
 */
void sample_counts_expect(struct sample_counts *c, const struct sample_count *key, size_t *at);

int sample_counts_put(struct sample_counts *c, const struct sample_count *key);	/* 0 or -ENOMEM */
int sample_counts_settle(struct sample_counts *c);				/* 0 or -ENOMEM */
/* 1: there are at least so many rows, and none waits; 0: there are fewer; -ENOMEM. */
int sample_counts_reaches(struct sample_counts *c, size_t limit);
