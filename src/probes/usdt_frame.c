/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/usdt_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/elf/fde_ranges.h"
#include "src/elf_unwind/elf_cfi.h"

struct usdt_frames {
	struct fde_ranges ranges;
	struct cfi_section *section;	/* NULL: rows has all of the file */
	struct cfi_rows rows;
};

int usdt_frames_open(struct elf_image *img, int fd, struct usdt_frames **fp)
{
	struct usdt_frames *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	fde_ranges_init(&f->ranges, img, fd, NULL);
	err = cfi_section_open(img, fd, &f->section);
	if (err == -ENOTSUP)
		err = cfi_rows_from_image(img, &f->rows);
	/* A file without unwind information has no frames that are known. */
	if (err == -ENOMEM) {
		usdt_frames_close(f);
		return err;
	}
	*fp = f;
	return 0;
}

int usdt_frames_find(struct usdt_frames *f, uint64_t address, struct usdt_frame *out)
{
	struct cfi_rows rows = { 0 };
	uint64_t begin, end;
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (!fde_ranges_find(&f->ranges, address, &begin, &end))
		return 0;
	if (f->section)
		err = cfi_section_rows(f->section, address, address + 1, &rows);
	if (!err)
		out->rule = cfi_rows_find(f->section ? &rows : &f->rows, address);
	out->begin = begin;
	out->size = end - begin;
	cfi_rows_release(&rows);
	return err == -ENOMEM ? err : 0;
}

void usdt_frames_close(struct usdt_frames *f)
{
	if (!f)
		return;
	cfi_section_close(f->section);
	cfi_rows_release(&f->rows);
	free(f);
}
