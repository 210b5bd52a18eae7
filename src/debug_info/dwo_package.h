/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of many split units (.dwp): DWARF 5, 7.3.5, and version 2, which came before it
 * (https://gcc.gnu.org/wiki/DebugFissionDWP).
 *
 *	dwo_package_open(fd, &p)
 *	elf = dwo_package_elf(p, id)		the .dwo file of one unit, as it was
 *	dwo_package_open_object(fd, &p)		or of an object file that has its own in it
 *	dwo_package_close(p)
 *
 * Each section of a package is made of those of the units, one behind the other, and an index says
 * which part is whose. libdw of before 0.191 does not know the index. So each unit is shown to
 * it as a file of its own: the image is the package, mapped for reading (src/elf/plain_elf.h), with
 * another table of sections behind it, whose sections are the parts of this unit. Nothing is
 * copied.
 *
 * An object file that has its split unit beside the skeleton of it (-gsplit-dwarf=single) is shown
 * in the same way, because libdw would see the skeleton alone.
 */
#pragma once

#include <libelf.h>
#include <stdint.h>

struct dwo_package;

/* fd is borrowed. 0 or -errno. *lack: as of debug_file_open(), where a compression is not known. */
int dwo_package_open(int fd, struct dwo_package **pp, uint32_t *lack);
/* Opens an object file that holds split units; -ENOENT, too: it has none, or nothing else. */
int dwo_package_open_object(int fd, struct dwo_package **pp, uint32_t *lack);
void dwo_package_close(struct dwo_package *p);		/* NULL is fine */

/*
 * The caller ends the Elf before the next call. NULL: it has no such unit, or is damaged. An object
 * file is one unit, whatever id is.
 */
Elf *dwo_package_elf(struct dwo_package *p, uint64_t id);
