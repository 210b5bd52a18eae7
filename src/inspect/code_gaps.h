/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds code that no unwind rule covers. Padding between functions (no-operations, traps, zeros) is
 * not code: gaps that consist of padding are counted apart, and other gaps begin after it.
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
	struct code_gap *v;		/* longest first */
	size_t nr, cap;
	uint64_t code_bytes;		/* all executable sections, or segments if there are none */
	uint64_t gap_bytes;		/* sum of v */
	uint64_t padding_bytes;		/* no rule covers it either, but it is never executed */
};

/* 0 or -ENOMEM; release *g either way. *g must be all zero before. */
int code_gaps_find(struct code_gaps *g, struct elf_image *img, const struct unwind_rows *rows);
void code_gaps_release(struct code_gaps *g);
