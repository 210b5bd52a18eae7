/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of a file that libelf has open, of which none is compressed (src/elf/plain_elf.h).
 */
#pragma once

#include <libelf.h>
#include <stdint.h>

struct plain_elf;

#define DEBUG_LACKS_MEMORY UINT32_MAX	/* it is too large when it is unpacked */

/* plain_elf_open(); *lack: as of debug_file_open(), where it fails for such a reason. */
int debug_section_open(int fd, struct plain_elf **pp, uint32_t *lack);

/* The section of this name, if its contents are in the file; else NULL. */
Elf_Scn *debug_section(Elf *elf, const char *name);

/* The next one of this name behind scn; NULL: from the first one on. */
Elf_Scn *debug_section_next(Elf *elf, Elf_Scn *scn, const char *name);
