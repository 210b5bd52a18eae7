/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows libdw one split unit of a file as a .dwo file of its own. libdw of before 0.191 does not know the index of a package
 * (.dwp), sees of an object file the skeleton alone, and of several sections .debug_info.dwo the first one. So the image is the
 * file in memory, with another table of sections behind it, whose sections are the parts of this unit.
 *
 *	libdw_package_open(fd, &p)
 *	elf = libdw_package_elf(p, id, nth)
 *	libdw_package_close(p)
 */
#pragma once

#include <libelf.h>
#include <stdint.h>

struct libdw_package;

/* fd is borrowed. 0 or -errno. */
int libdw_package_open(int fd, struct libdw_package **pp);
void libdw_package_close(struct libdw_package *p);		/* NULL is fine */

/*
 * The unit of this id in a package; else the units in the nth .debug_info.dwo of the file. The caller ends the Elf before the
 * next call. NULL: it is not there.
 */
Elf *libdw_package_elf(struct libdw_package *p, uint64_t id, unsigned nth);
