/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files of anybody's making that hold the table of a Go program: functions, lines, trees of inlined calls. Checks that a
 * table that is made can be opened, that its segments are sorted, and that its chains end. Seeds: the programs of
 * tests/unit/go_lines_fixture.h in tests/fuzz/corpus/go_lines.
 */
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/debug_info/debug_index.h"
#include "src/debug_info/go_lines.h"
#include "tests/fuzz/unit_table_check.h"

#define LATE (UINT64_MAX / 2)
#define MAX_UNITS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_buf index = { 0 }, table = { 0 };
	struct go_lines *g = NULL;
	struct debug_index ix = { 0 };

	if (!go_lines_open_memory(data, size, &g) && !go_lines_index(g, LATE, &index))
		require(!debug_index_open(index.v, index.nr, &ix));
	for (size_t i = 0; i < ix.nr && i < MAX_UNITS; i++) {
		table.nr = 0;
		if (!go_lines_unit(g, ix.v[i].unit, LATE, &table))
			check_table(&table);
	}
	go_lines_close(g);
	bb_release(&index);
	bb_release(&table);
	return 0;
}
