/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which compilation unit has the code at an address.
 *
 * The index is an array of ranges, sorted by address, in one piece of bytes without pointers. The
 * number of a unit is the offset of its entry in .debug_info.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

struct index_range {
	uint64_t lo, hi;
	uint64_t unit;
};

struct debug_index {
	const struct index_range *v;
	size_t nr;
};

/* Sorts ranges, and appends them as an index to out. 0 or -ENOMEM. */
int debug_index_make(struct index_range *v, size_t nr, struct byte_buf *out);

/* data must be aligned to 8 bytes, and is borrowed. 0 or -EBADMSG. */
int debug_index_open(const void *data, size_t len, struct debug_index *ix);

/* 0 and the number of the unit, or -ENOENT. Where units overlap, it is that which begins last. */
int debug_index_find(const struct debug_index *ix, uint64_t addr, uint64_t *unit);
