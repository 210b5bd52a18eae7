/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All of a function's code. Compilers move code that rarely runs out of a function, to a place of
 * its own that has no symbol in a stripped file (.cold of GCC and Clang, fragments of BOLT). It is
 * found by the jumps that lead there: a part is what an FDE covers that one jumps into, and that
 * jumps back.
 *
 *	Example: Debian's python3.11 has _PyEval_EvalFrameDefault from 52b0f0 to 538a4b. A jump in
 *	it leads to 4281c6; the FDE there covers 428168 - 4295d4, which jumps to 52b1a0.
 *
 * The bytes are foreign: what is read and the number of parts are limited, and wrong bytes give
 * wrong parts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct elf_image;

struct function_range {
	uint64_t lo, hi;		/* virtual addresses, from lo to hi - 1 */
};

/*
 * The parts of the function at vaddr, itself first. size 0: as its FDE says. fd and data as in
 * fde_ranges_init(). The number of parts, at most max and at least 1; or -errno.
 */
int function_parts_find(struct elf_image *img, int fd, const void *data, uint64_t vaddr,
			uint64_t size, struct function_range *parts, size_t max);
