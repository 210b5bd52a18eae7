/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the table of one compilation unit (unit_table.h) from what libdw reads of it, for comparison with the reader of bytes
 * (src/debug_info/unit_reader.h), which shares only the code that puts a table together.
 */
#pragma once

#include <elfutils/libdw.h>

#include "src/base/bytes.h"
#include "src/debug_info/unit_source.h"

struct libdw_split;

struct libdw_source {
	struct unit_source src;
	Dwarf_Die die;			/* the compilation unit */
	Dwarf_Die skeleton;		/* has its lines; the same, if the unit is not split */
	const struct libdw_split *split;	/* NULL: it is not */
};

/* As unit_read(). */
int libdw_table(const struct libdw_source *src, struct byte_buf *out);
