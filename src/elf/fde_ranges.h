/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions begin and end, and where their entries (FDEs) are: by the sorted table in
 * .eh_frame_hdr (LSB 5, 10.6.2) and the entries it leads to. Nothing is kept in memory; one look-up
 * takes some 20 small reads of the file.
 *
 * The bytes are foreign: each read is bounded, and a damaged table gives wrong ranges but no error.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/elf/elf_image.h"

struct fde_ranges {
	int fd;				/* borrowed; -1: data */
	const uint8_t *data;
	uint64_t file_size;
	uint64_t hdr_vaddr;		/* addresses in the table count from here */
	uint64_t table_offset, nr;	/* in the file; nr 0: no such table */
	struct elf_segment segment;	/* the one with the table and the entries */
	unsigned word;			/* bytes of an address */
};

/*
 * fd or data must be those that img was opened with, and stay open. Without a table, or with an
 * unusual one, every address is in a gap.
 */
void fde_ranges_init(struct fde_ranges *r, struct elf_image *img, int fd, const void *data);

/*
 * True: an entry covers addr, from *lo to *hi - 1. False: no entry covers any address from *lo (0:
 * from the beginning) to *hi - 1.
 */
bool fde_ranges_find(const struct fde_ranges *r, uint64_t addr, uint64_t *lo, uint64_t *hi);

/* The number of entries of the table whose functions start at or before addr: 0 .. nr. */
uint64_t fde_ranges_until(const struct fde_ranges *r, uint64_t addr);

/* Entry i of the table: where its function starts, and the address of its FDE. */
bool fde_ranges_entry(const struct fde_ranges *r, uint64_t i, uint64_t *start, uint64_t *fde);
