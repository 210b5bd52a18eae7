/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a file names the one that has what several debug files have in common (dwz(1)): in
 * .gnu_debugaltlink, by its build-id; or in .debug_sup (DWARF 5, 7.3.6), by a checksum that is in
 * the .debug_sup of that file as well.
 *
 *	len = alternate_name_read(elf, &name, &id)	of a file that uses another one
 *	len = alternate_name_own(elf, &id)		of the other one
 *
 * Both return the length of the id; 0: there is none. What they give belongs to elf, of which no
 * section is compressed (src/elf/plain_elf.h).
 */
#pragma once

#include <libelf.h>
#include <stddef.h>

size_t alternate_name_read(Elf *elf, const char **name, const void **id);

/* The checksum of its .debug_sup, or else its build-id. */
size_t alternate_name_own(Elf *elf, const void **id);
