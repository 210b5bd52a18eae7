/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds of the table of a unit, whatever it was made of. Tables that were kept may break it (unit_table.h). */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "src/base/bytes.h"
#include "src/debug_info/unit_table.h"

#define MAX_PLACES 300

static inline void require(int ok)
{
	if (!ok)
		abort();
}

/* It can be opened, its segments are sorted, and its chains end. */
static inline void check_table(const struct byte_buf *table)
{
	static struct unit_place v[MAX_PLACES];
	struct unit_table t;

	require(!unit_table_open(table->v, table->nr, &t));
	for (uint32_t i = 0; i < t.head->nr_segments; i++) {
		require(!i || t.segments[i].addr > t.segments[i - 1].addr);
		require(unit_table_find(&t, t.head->base + t.segments[i].addr, v, MAX_PLACES) < MAX_PLACES);
	}
	for (uint32_t i = 0; i < t.head->nr_nodes; i++)
		require(t.nodes[i].func < t.head->nr_funcs && (t.nodes[i].parent == UNIT_NONE || t.nodes[i].parent < i));
}
