/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a parser makes the unwind table of an ELF file, and finds the runtime that it may be. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct runtime_image;
struct unwind_table;

/*
 * The table of the pages that are wanted (ascending; nr 0: all), or of all where the file cannot be
 * read in parts. 0 or -errno, as of unwind_table_from_image().
 */
int table_maker_make(struct elf_image *img, int fd, const uint32_t *pages, size_t nr,
		     struct unwind_table **tp);

/*
 * Looks for a runtime, and marks the code of its loop in the table. false: there is none, or it is
 * damaged.
 */
bool table_maker_mark(struct elf_image *img, int fd, struct unwind_table *t,
		      struct runtime_image *out);
