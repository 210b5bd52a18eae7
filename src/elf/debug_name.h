/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a binary names its separate debug file, and whether a file is the one that it names. Finding
 * and opening candidates is src/foreign/foreign_file.h's work.
 *
 *	debug_name_read(img, &name)		0, or -ENOENT: the binary names none
 *	debug_name_fits(&name, fd)		whether fd is that debug file
 *	debug_name_choose(img, fds, nr)		which of these it is
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/elf/elf_image.h"

struct debug_name {
	uint8_t build_id[64];
	uint32_t build_id_len;		/* 0: none */
	uint32_t crc;			/* of the whole debug file; counts if one has no build-id */
	char link[256];			/* .gnu_debuglink: a name without "/"; "": none */
};

/* Whether a link is "" or the name of a file in a directory, so that it leads to no other one. */
bool debug_name_is_plain(const char *link);

int debug_name_read(struct elf_image *img, struct debug_name *name);
bool debug_name_fits(const struct debug_name *name, int fd);

/*
 * The first of fds that is the debug file of img and has symbols, because a stripped copy of the
 * binary fits as well; else the first that fits; else -1.
 */
int debug_name_choose(struct elf_image *img, const int *fds, size_t nr);
