/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the part of an ELF file's unwind table that is asked for: some of its pages of 64 KiB. It
 * has the rows that unwind_table_from_image() has there, from call frame information and from
 * reading code, but costs what these pages cost. Pure work, safe in a worker thread.
 *
 * Example: a stack goes through pages 12 and 700 of librustc_driver.so, which has 1,850. These two
 * take 1 ms. All of them take 300 ms, and 4 MiB that no stack may ever need.
 *
 * Limits. Files without the search table of .eh_frame_hdr and programs in Go are read as a whole
 * (-ENOTSUP). Code that call frame information leaves out is read in a window around the page, so a
 * function whose start only a call from far away tells may have rows in the whole table and none in
 * the part.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/elf/elf_image.h"
#include "unwind/unwind_table.h"

/*
 * fd: that of img. pages: nr numbers, ascending and distinct. The other pages of *tp are absent. 0;
 * -ENOTSUP: this file has to be read as a whole; -ECANCELED: *img->unwanted became true; or another
 * -errno.
 */
int unwind_part_from_image(struct elf_image *img, int fd, const uint32_t *pages, size_t nr,
			   struct unwind_table **tp);
