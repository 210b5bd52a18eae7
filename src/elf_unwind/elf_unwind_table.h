/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the unwind table of an ELF file from three sources: its .eh_frame; in a Go program, its
 * .gopclntab; and the code that neither covers (elf_code_rows.h). Pure work, safe in a worker
 * thread.
 */
#pragma once

#include "src/elf/elf_image.h"
#include "unwind/unwind_table.h"

/*
 * 0; -ENOENT: no unwind information, and no code that could be read; -ENOTSUP: the machine is not
 * supported; -ECANCELED: *img->unwanted became true; or another -errno.
 */
int unwind_table_from_image(struct elf_image *img, struct unwind_table **tp);

/* The rows of .gopclntab alone, before they become a table, for tests and for `unwind-info`. */
int go_rows_from_image(struct elf_image *img, struct cfi_rows *rows);
