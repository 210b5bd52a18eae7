/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units whose entries are in a file of their own (.dwo): DWARF 5, 3.1.3 and 7.3.5, and gcc's and
 * clang's extension of DWARF 4 that it came from (https://gcc.gnu.org/wiki/DebugFission).
 *
 * The program itself keeps a skeleton: the name of the .dwo file, the lines, and .debug_addr, which
 * has all addresses, because only these are changed by the linker. In the .dwo file an address is a
 * number of an entry there. libdw joins the two only if it opens the .dwo file by its name, and that
 * also hides what is compared here. So the addresses are looked up.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addr_range;
struct libdw_split;

/* The .dwo file that a skeleton names, or NULL: it is none. Borrowed. */
const char *libdw_split_name(Dwarf_Die *skeleton);

/*
 * The other half of a skeleton. elf is the file that has the skeleton, dwo that with the rest;
 * both are borrowed until libdw_split_close(). 0; -ENOENT: it is not the other half, or another
 * -errno.
 */
int libdw_split_open(Dwarf_Die *skeleton, Elf *elf, Elf *dwo, struct libdw_split **up);
uint64_t libdw_split_id(Dwarf_Die *unit);	/* that both halves have */
void libdw_split_close(struct libdw_split *u);		/* NULL is fine */

Dwarf_Die libdw_split_die(const struct libdw_split *u);

/* Where a function begins; false: its entry does not say. */
bool libdw_split_entry(const struct libdw_split *u, Dwarf_Die *die, uint64_t *addr);

/* The code of an entry. Returns how many ranges, at most max. */
size_t libdw_split_ranges(const struct libdw_split *u, Dwarf_Die *die, struct addr_range *v,
			 size_t max);
