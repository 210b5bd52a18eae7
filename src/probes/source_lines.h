/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the code of a source line is, by the line tables of an ELF file (DWARF 6.2).
 * The bytes are foreign, and libdw reads them; the caller is a process without rights. Silent.
 */
#pragma once

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct source_lines {
	uint64_t *v;			/* addresses, ascending, each once */
	size_t nr, cap;
	uint32_t next;			/* the next line that has code; 0: there is none */
};

/*
 * The addresses at which statements of the line begin. source: the file's name, or the end of its
 * path: "main.c", "src/main.c". 0, also if there is none; or -ENOMEM.
 */
int source_lines_find(Elf *elf, const char *source, uint32_t line, struct source_lines *out);
void source_lines_free(struct source_lines *l);
