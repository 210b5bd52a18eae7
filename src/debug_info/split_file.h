/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that has split units (split_unit.h): a .dwo file; an object file that has them beside
 * their skeletons (-gsplit-dwarf=single); or a package of many .dwo files (dwp_index.h).
 *
 *	split_file_open(fd, &f, &lack)
 *	split_file_parts(f)
 *	split_file_close(f)
 *
 * gcc makes a section .debug_info.dwo of its own for each type (-fdebug-types-section, DWARF 5), so
 * a .dwo file may have many of them, one of which has the functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/debug_info/debug_sections.h"

struct split_file;

struct split_parts {
	struct debug_sections s;	/* of several sections .debug_info.dwo the first one */
	const struct debug_bytes *infos;	/* all of them */
	size_t nr_infos;
	struct debug_bytes index;	/* length 0: it is no package */
};

/*
 * fd is borrowed. 0; -ENOENT: it has no split units; or -errno. *lack: as of debug_file_open(),
 * where something cannot be read.
 */
int split_file_open(int fd, struct split_file **fp, uint32_t *lack);
const struct split_parts *split_file_parts(const struct split_file *f);
size_t split_file_bytes(const struct split_file *f);	/* memory of what was unpacked */
void split_file_close(struct split_file *f);		/* NULL is fine */
