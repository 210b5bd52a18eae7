/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that no unwind rule covers. Padding between functions (no-operations, traps, zeros) is not
 * code: gaps that hold nothing else are counted apart, and gaps begin behind it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct unwind_rows;

struct code_gap {
	uint64_t begin, end;		/* virtual addresses */
};

struct code_gaps {
	struct code_gap *v;		/* the longest first */
	size_t nr, cap;
	uint64_t code_bytes;		/* all executable sections, or segments where there are no
					   sections */
	uint64_t gap_bytes;		/* sum of v */
	uint64_t padding_bytes;		/* without a rule as well, but nothing runs there */
};

/* 0 or -ENOMEM; release either way. *g is all zero before. */
int code_gaps_find(struct code_gaps *g, struct elf_image *img, const struct unwind_rows *rows);
void code_gaps_release(struct code_gaps *g);
