/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of a file that libelf has open, of which none is compressed (src/elf/plain_elf.h).
 */
#pragma once

#include <libelf.h>

/* The section of this name, if its contents are in the file; else NULL. */
Elf_Scn *debug_section(Elf *elf, const char *name);
