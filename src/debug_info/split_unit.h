/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units whose entries are in a file of their own (.dwo): DWARF 5, 3.1.3 and 7.3.5, and gcc's and
 * clang's extension of DWARF 4 that it came from (https://gcc.gnu.org/wiki/DebugFission).
 *
 * The program itself keeps a skeleton: the name of the .dwo file, the lines, and .debug_addr, which
 * has all addresses, because only these are changed by the linker. In the .dwo file an address is a
 * number of an entry there. Both halves have the same id.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/debug_info/debug_sections.h"

struct die_unit;
struct die_units;
struct split_parts;
struct work_limit;

/* Whether a unit is a skeleton; its .dwo file, relative to dir. The names are borrowed. */
bool split_unit_name(const struct die_unit *u, const char **name, const char **dir);

/* The other half of a skeleton. */
struct split_unit {
	struct debug_sections s;
	struct die_units *units;	/* of the .dwo file */
	const struct die_unit *u;	/* which is kept there */
};

/*
 * Finds it in a file, which is borrowed until split_unit_release(). *out stays where it is. 0;
 * -ENOENT: it is not there; -ETIMEDOUT; or another -errno.
 */
int split_unit_find(const struct die_unit *skeleton, const struct split_parts *parts,
		    struct work_limit *w, struct split_unit *out);
void split_unit_release(struct split_unit *x);		/* of zeros, too */
