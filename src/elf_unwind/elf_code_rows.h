/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rows for the code of an x86-64 ELF file that its call frame information leaves out. They
 * come from reading that code (unwind/code_rows.h). Pure work, safe in a worker thread.
 *
 * The problem. Hand-written assembler, linker stubs and the code of some compilers have no entries
 * in .eh_frame, and a stack that passes through such code would end there.
 *
 * The idea. The gaps between the known rows are found, those that are only padding are dropped, and
 * the rest is read instruction by instruction, beginning at the functions that symbols name.
 *
 * What it costs is bounded. A file that is covered by its call frame information costs one pass
 * over its rows. At most 64 MiB of gaps are read. A large file without call frame information that
 * keeps frame pointers (browsers) costs a sample of its functions and gets no rows: without a row
 * the unwinder goes by the frame pointer. A part of a file costs what its own gaps cost, its
 * symbols, and that sample.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/elf/elf_image.h"
#include "unwind/code_rows.h"

struct elf_code_rows_stats {
	struct code_stats code;
	uint64_t gap_bytes;		/* bytes without CFI, padding included */
	uint64_t left_out;		/* bytes of gaps not read, because they were too many */
	uint64_t frame_pointer_bytes;	/* bytes not read, because functions keep %rbp */
};

/* What is read. All zero: all code, of which only symbols tell where functions begin. */
struct code_rows_scope {
	const uint64_t *starts;		/* more functions, ascending */
	size_t nr_starts;
	uint64_t lo, hi;		/* only the code from lo to hi - 1; hi 0: all */
	struct code_range tried;	/* as in struct code_input */
	/*
	 * For a part of a file: whether call frame information covers an address anywhere in the
	 * file. This decides whether the file keeps frame pointers. NULL: known says so.
	 */
	bool (*is_covered)(void *ctx, uint64_t vaddr);
	void *ctx;
};

struct elf_code;

/*
 * A file whose parts are read one after the other: its symbols and that decision are read once,
 * when the first part needs them. Those of node take 4 ms, those of deno 25. img stays
 * the caller's. Other machines have no code here. 0 or -ENOMEM.
 */
int elf_code_open(struct elf_image *img, struct elf_code **fp);
void elf_code_close(struct elf_code *file);		/* NULL is fine */

/*
 * known: rows of call frame information. *out, all zero before, gets rows for the gaps between
 * them. The starts of scope are those of the first call. 0, also for other machines, where no row
 * is made; -ENOMEM or -ECANCELED.
 */
int code_rows_add(struct elf_code *file, const struct cfi_rows *known,
		  const struct code_rows_scope *scope, struct cfi_rows *out,
		  struct elf_code_rows_stats *stats);

/* Does what code_rows_add() does, for a file that is read at once. */
int code_rows_from_image(struct elf_image *img, const struct cfi_rows *known,
			 const struct code_rows_scope *scope, struct cfi_rows *out,
			 struct elf_code_rows_stats *stats);
