/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a Go program keeps its table of functions (.gopclntab), and the address that its offsets
 * count from. The program may have section headers or not, be position-independent or not, and be
 * linked by Go's linker or by the system's.
 */
#pragma once

#include "src/elf/elf_image.h"

struct go_image {
	/* The table's place. Without a section of its own it ends with its segment. */
	uint64_t vaddr, offset, size;
	/* runtime.text: since Go 1.18 the addresses of functions are offsets from here. */
	uint64_t text_vaddr;
};

/* 0; -ENOENT: not a Go program, or one of an unknown version; or another -errno. */
int go_image_find(struct elf_image *img, struct go_image *out);

/*
 * The address that the offsets of what belongs to functions count from (go:func.*), in programs of
 * Go 1.18 or later. It is as the program says: not checked. 0; -ENOENT; or another -errno.
 */
int go_image_gofunc(struct elf_image *img, const struct go_image *go, uint64_t *vaddr);
