/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units whose entries are in a file of their own (.dwo): DWARF 5, 3.1.3 and 7.3.5, and gcc's and
 * clang's extension of DWARF 4 that it came from (https://gcc.gnu.org/wiki/DebugFission).
 *
 * The program itself keeps a skeleton: the name of the .dwo file, the lines, and .debug_addr, which
 * has all addresses, because only these are changed by the linker. In the .dwo file an address is a
 * number of an entry there. libdw joins the two only if it opens the .dwo file by its name, and who
 * parses here opens no names. So the addresses are looked up here.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addr_range;
struct split_unit;

/* Whether a unit is a skeleton; its .dwo file, relative to dir. The names are borrowed. */
bool split_unit_name(Dwarf_Die *skeleton, const char **name, const char **dir);

/*
 * The other half of a skeleton. elf is the file that has the skeleton, dwo that with the rest;
 * both are borrowed until split_unit_close(). 0; -ENOENT: it is not the other half, or another
 * -errno.
 */
int split_unit_open(Dwarf_Die *skeleton, Elf *elf, Elf *dwo, struct split_unit **up);
uint64_t split_unit_id(Dwarf_Die *unit);	/* that both halves have */
void split_unit_close(struct split_unit *u);		/* NULL is fine */

Dwarf_Die split_unit_die(const struct split_unit *u);

/* The code of an entry. Returns how many ranges, at most max. */
size_t split_unit_ranges(const struct split_unit *u, Dwarf_Die *die, struct addr_range *v,
			 size_t max);
