/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of a file of many split units (.dwp), .debug_cu_index: DWARF 5, 7.3.5.3, and version 2,
 * which came before it (https://gcc.gnu.org/wiki/DebugFissionDWP).
 *
 * Each section of a package is made of those of the .dwo files, one behind the other. The index is
 * a hash table of the ids of units; the row of a unit says which part of each section is its own.
 * Only strings are of all units. The index of types, .debug_tu_index, is not asked: no function
 * refers to a unit of types (die_units_refer()).
 */
#pragma once

#include <stdint.h>

#include "src/debug_info/debug_sections.h"

/* 0; -ENOENT: no such unit; or -EBADMSG. of: the sections of one unit, as in its .dwo file. */
int dwp_index_find(const struct debug_bytes *index, const struct debug_sections *package,
		   uint64_t id, struct debug_sections *of);
