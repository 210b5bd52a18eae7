/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of a file that libelf has open. src/elf reads files by itself; here libdw has opened
 * them, and has unpacked what was compressed.
 */
#pragma once

#include <libelf.h>

/* The section of this name, if its contents are in the file; else NULL. */
Elf_Scn *debug_section(Elf *elf, const char *name);
