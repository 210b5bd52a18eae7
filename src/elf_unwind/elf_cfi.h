/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of unwind rules that .eh_frame of an ELF file gives, for all of the file or for a part
 * of its addresses. Pure work, safe in a worker thread.
 *
 * A part costs what it has: the search table of .eh_frame_hdr says where the entries of its
 * functions are, and only these are read. So the first rows of a file of 150 MB are there after a
 * millisecond, where all of them take half a second and 6 MB that may have to come from the disk.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/elf/elf_image.h"
#include "unwind/cfi.h"

/* 0 or -ENOTSUP: no rules are known for this machine. */
int cfi_machine_of(const struct elf_image *img, enum cfi_machine *out);

/*
 * All rows. 0; -ENOENT: no unwind information; -ENOTSUP; or another -errno. Those of the first
 * function are from .eh_frame alone, without what the code adds to them.
 */
int cfi_rows_from_image(struct elf_image *img, struct cfi_rows *rows);
int cfi_rows_with_code_from_image(struct elf_image *img, struct cfi_rows *rows);

/* Adds rows for addresses that code returns to without a call (unwind/entered.h) to all others. */
int cfi_add_entered(struct elf_image *img, struct cfi_rows *rows);

struct cfi_section;

/*
 * fd: that of img; both stay open. 0; -ENOENT: no unwind information; -ENOTSUP: there is no search
 * table, or it is unusual, so all rows have to be read at once; or another -errno.
 */
int cfi_section_open(struct elf_image *img, int fd, struct cfi_section **sp);
void cfi_section_close(struct cfi_section *s);		/* NULL is fine */

/*
 * The rows from lo to hi - 1, as cfi_rows_with_code_from_image() has them, and some around them.
 * *rows is replaced; it must be all zero before. 0; -ENOTSUP: the table leads out of the section,
 * or is too dense; or another -errno.
 */
int cfi_section_rows(struct cfi_section *s, uint64_t lo, uint64_t hi, struct cfi_rows *rows);

/* Whether an entry covers an address. */
bool cfi_section_covers(const struct cfi_section *s, uint64_t vaddr);
