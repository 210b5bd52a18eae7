/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a unit, from its entries to its tree (unit_tree.h). Internal to src/debug_info:
 * a part of unit_reader.c.
 *
 *	unit_functions_find(rd)		if only some are wanted: which are to be read
 *	unit_functions_read(rd)		these, or all
 */
#pragma once

#include "src/debug_info/die_cursor.h"
#include "src/debug_info/line_program.h"
#include "src/debug_info/split_unit.h"
#include "src/debug_info/unit_names.h"
#include "src/debug_info/unit_regions.h"
#include "src/debug_info/unit_tree.h"

struct die_units;
struct unit_source;

struct unit_reading {
	struct unit_tree t;
	const struct unit_source *src;
	struct die_units *us;		/* of the entries */
	const struct die_unit *u;
	struct die_units *line_us;	/* of the lines; the same, if the unit is not split */
	const struct die_unit *line_u;
	struct split_unit split;	/* of zeros, if it is not */
	struct line_program *lines;	/* NULL: it has none */
	struct unit_regions regions;	/* of t.regions */
	struct unit_names names;
	uint64_t function;		/* whose entries are read */
	char path[LINE_PATH_BYTES];
};

/* 0 or -errno. */
int unit_functions_find(struct unit_reading *rd);
/* Errors are in rd->t. */
void unit_functions_read(struct unit_reading *rd);
