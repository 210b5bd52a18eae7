/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows for the code of an x86-64 ELF file that its call frame information leaves out, by reading
 * that code (unwind/code_rows.h). Pure work, safe in a worker thread.
 *
 * A file that its call frame information covers costs a look at its rows. A large file without it
 * that keeps frame pointers (browsers) costs a sample of its functions and gets no rows: where
 * there are none the unwinder steps by the frame pointer.
 */
#pragma once

#include "src/elf/elf_image.h"
#include "unwind/code_rows.h"

struct elf_code_rows_stats {
	struct code_stats code;
	uint64_t gap_bytes;		/* without CFI, padding included */
	uint64_t left_out;		/* bytes of gaps that were not read: over the budget */
	uint64_t frame_pointer_bytes;	/* not read: most functions there keep the frame pointer */
};

/*
 * known: rows of call frame information. *out (init it with zeroes): rows for what lies between.
 * more_starts: functions that symbols do not name, ascending. 0, also for other machines; -ENOMEM,
 * -ECANCELED.
 */
int code_rows_from_image(struct elf_image *img, const struct cfi_rows *known,
			 const uint64_t *more_starts, size_t nr_more_starts, struct cfi_rows *out,
			 struct elf_code_rows_stats *stats);
