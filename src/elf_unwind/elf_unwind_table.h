/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of an ELF file: finds its .eh_frame and, of a Go program, its .gopclntab, reads
 * the code that neither covers (elf_code_rows.h), and builds. Pure work, safe in a worker thread.
 */
#pragma once

#include "src/elf/elf_image.h"
#include "unwind/unwind_table.h"

/*
 * 0; -ENOENT: no unwind information, and no code that could be read; -ENOTSUP: of a machine that is
 * not supported; -ECANCELED: img->unwanted; -errno.
 */
int unwind_table_from_image(struct elf_image *img, struct unwind_table **tp);

/*
 * The rows before they become a table, by source, for tests and for `unwind-info`. Those of
 * .eh_frame are without what is known by code only.
 */
int cfi_rows_from_image(struct elf_image *img, struct cfi_rows *rows);
/* of .eh_frame, with that */
int cfi_rows_with_code_from_image(struct elf_image *img, struct cfi_rows *rows);
int go_rows_from_image(struct elf_image *img, struct cfi_rows *rows);
