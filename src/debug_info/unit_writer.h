/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts the table of a unit together (unit_table.h), whatever its lines were read from. Internal to
 * src/debug_info.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/debug_info/unit_table.h"

struct unit_segments {
	struct unit_segment *v;
	size_t nr, cap;
	uint64_t base;			/* addresses are relative to it: set before the first one */
};

/*
 * Adds a segment that begins at addr; seg->addr is ignored. Addresses must not descend. The last
 * call for an address counts. 0 or -ENOMEM.
 */
int unit_segments_add(struct unit_segments *s, uint64_t addr, const struct unit_segment *seg);

/* Makes room for as many, before the first one. 0 or -ENOMEM. */
int unit_segments_reserve(struct unit_segments *s, size_t nr);

struct unit_parts {
	uint64_t unit;
	uint32_t lang, nr_partial;
	const struct unit_segments *segments;
	const struct unit_node *nodes;
	size_t nr_nodes;
	const struct unit_func *funcs;
	size_t nr_funcs;
	const struct byte_buf *text;	/* at least one byte; ends with a NUL */
};

/* Appends the table to out. 0; or -ENOMEM, and nothing is appended. */
int unit_write(const struct unit_parts *p, struct byte_buf *out);
