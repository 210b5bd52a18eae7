/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of times each distinct stack was seen. Samples of equal {segment, root, stacks, end}
 * become one row, so that names have to be looked up once per row. A row has the number of its
 * samples and the sum of their weights, at most UINT64_MAX. Embedded; all zero is empty.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

struct sample_count {
	uint32_t root;			/* the node of the tree below which they go */
	uint32_t kstack, ustack;
	uint16_t segment;		/* a report has no more than 65536 */
	uint16_t end;			/* enum stack_end */
	uint64_t count, weight;
};

struct sample_counts {
	struct sample_count *v;		/* in the order of their first sample */
	size_t nr, cap;
	struct hash_index index;
};

void sample_counts_release(struct sample_counts *c);
/*
 * Adds key->count samples that weigh key->weight together. *at (if not NULL): the index of their
 * row. 0 or -ENOMEM.
 */
int sample_counts_add(struct sample_counts *c, const struct sample_count *key, size_t *at);
