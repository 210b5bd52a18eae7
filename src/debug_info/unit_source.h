/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input of a reader that makes the table of a unit (unit_table.h).
 *
 * Sequences of lines and functions that the linker has thrown away stay in debug information, with
 * addresses that are 0 or beyond all code. So only what begins in code counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addr_range {
	uint64_t lo, hi;
};

/* Addresses, sorted, whose functions are read alone; none: all are, and always in DWARF 2. */
struct unit_wanted {
	const uint64_t *v;
	size_t nr;
	uint32_t nr_partial;		/* as in struct unit_head, if only some are read */
};

struct unit_source {
	uint64_t number;		/* of the unit: the offset of its entry in .debug_info */
	const struct addr_range *code;	/* the executable segments of the file */
	size_t nr_code;
	uint64_t until_ns;		/* CPU time of this thread when to give up */
	struct unit_wanted wanted;
};

/* Whether an address is in one of these. */
bool unit_is_code(const struct addr_range *v, size_t nr, uint64_t addr);

/* Whether this thread has had until_ns of CPU time. */
bool unit_time_is_up(uint64_t until_ns);

/* enum func_lang of a DW_LANG_... number. */
uint8_t unit_lang(uint64_t dwarf_lang);
