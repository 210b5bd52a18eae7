/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the table of one compilation unit (unit_table.h) from what libdw reads of it.
 *
 *	unit_build(cu, &limits, out)		appends the table to out, which begins aligned
 *
 * Sequences of lines and functions that the linker has thrown away stay in debug information, with
 * addresses that are 0 or beyond all code. So only what begins in code counts.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

struct split_unit;

struct addr_range {
	uint64_t lo, hi;
};

struct unit_source {
	Dwarf_Die die;			/* the compilation unit */
	Dwarf_Die skeleton;		/* has its lines; the same, if the unit is not split */
	const struct split_unit *split;	/* NULL: it is not */
	uint64_t number;		/* for struct unit_head */
	const struct addr_range *code;	/* the executable segments of the file */
	size_t nr_code;
	uint64_t until_ns;		/* CPU time of this thread when to give up */
};

/*
 * 0; -ENODATA: the unit has no code; -ETIMEDOUT; -EBADMSG: it is damaged; -E2BIG; -ENOMEM. After an
 * error nothing is appended.
 */
int unit_build(const struct unit_source *src, struct byte_buf *out);

/* Whether an address is in one of these. */
bool unit_is_code(const struct addr_range *v, size_t nr, uint64_t addr);

/*
 * Whether a unit says truly where its code is. DWARF 2 has no word for code in several places, and
 * gcc gives one of them.
 */
bool unit_says_ranges(Dwarf_Die *unit);

/* Whether this thread has had until_ns of CPU time. */
bool unit_time_is_up(uint64_t until_ns);

/* enum func_lang of a DW_LANG_... number. */
uint8_t unit_lang(int dwarf_lang);
