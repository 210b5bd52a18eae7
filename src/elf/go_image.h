/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a Go program keeps its table of functions (.gopclntab), and what its offsets count from.
 * With or without section headers, position independent or not, linked by Go's linker or by the
 * system's.
 */
#pragma once

#include "src/elf/elf_image.h"

struct go_image {
	uint64_t vaddr, offset, size;	/* of the table; without a section of its own up to the end
					   of its segment */
	uint64_t text_vaddr;		/* runtime.text: since Go 1.18 the functions' addresses are
					   offsets from here */
};

/* 0; -ENOENT: no Go program, or one of a version that is not known; -errno. */
int go_image_find(struct elf_image *img, struct go_image *out);
