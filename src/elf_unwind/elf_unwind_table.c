/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf_unwind/elf_unwind_table.h"

#include <errno.h>
#include <stdlib.h>

#include "src/elf_unwind/coroutine_starts.h"
#include "src/elf_unwind/elf_cfi.h"
#include "src/elf_unwind/elf_code_rows.h"
#include "src/elf/go_image.h"
#include "unwind/cfi_merge.h"
#include "unwind/go_table.h"

#define MAX_GO_TABLE (256ull << 20)
#define MAX_GO_CODE (512ull << 20)

static const struct elf_segment *segment_of(const struct elf_image *img, uint64_t vaddr)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz)
			return s;
	}
	return NULL;
}

static const struct elf_segment *first_code(const struct elf_image *img)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		if (img->segments[i].exec)
			return &img->segments[i];
	}
	return NULL;
}

int go_rows_from_image(struct elf_image *img, struct cfi_rows *rows)
{
	const struct elf_segment *seg;
	struct go_table_input in = { 0 };
	void *table = NULL, *code = NULL;
	struct go_image go;
	int err = cfi_machine_of(img, &in.machine);

	if (!err && in.machine != CFI_X86_64)
		err = -ENOTSUP;
	if (!err)
		err = go_image_find(img, &go);
	if (err)
		return err;
	/* Before Go 1.18 the table has absolute addresses; all functions are in one segment too. */
	seg = go.text_vaddr ? segment_of(img, go.text_vaddr) : first_code(img);
	if (!seg)
		return -ENOENT;
	err = elf_image_read(img, go.offset, go.size, MAX_GO_TABLE, &table);
	if (!err)
		err = elf_image_read(img, seg->offset, seg->filesz, MAX_GO_CODE, &code);
	if (!err) {
		in.pclntab = table;
		in.len = go.size;
		in.text_vaddr = go.text_vaddr;
		in.code = code;
		in.code_len = seg->filesz;
		in.code_vaddr = seg->vaddr;
		err = go_table_rows(&in, rows);
	}
	free(table);
	free(code);
	return err;
}

/* Adds the rows of another source. Its absence is no error if there are rows already. */
static int fill(struct cfi_rows *rows, int err, struct elf_image *img,
		int (*more)(struct elf_image *img, struct cfi_rows *rows))
{
	struct cfi_rows extra = { 0 };
	int more_err = more(img, &extra);

	if (!more_err)
		err = cfi_rows_fill(rows, &extra);
	else if (more_err == -ENOMEM)
		err = more_err;
	cfi_rows_release(&extra);
	return err;
}

/* Adds rows from reading the code that has none so far. */
static int fill_from_code(struct cfi_rows *rows, int err, struct elf_image *img)
{
	const struct code_rows_scope all = { 0 };
	struct elf_code_rows_stats stats;
	struct cfi_rows extra = { 0 };
	int more_err = code_rows_from_image(img, rows, &all, &extra, &stats);

	if (more_err)
		err = more_err;
	else if (extra.nr)
		err = cfi_rows_fill(rows, &extra);
	cfi_rows_release(&extra);
	return err;
}

int unwind_table_from_image(struct elf_image *img, struct unwind_table **tp)
{
	struct cfi_rows rows = { 0 };
	int err = cfi_rows_with_code_from_image(img, &rows);

	if (err != -ENOMEM)
		err = fill(&rows, err, img, go_rows_from_image);
	if (!err || err == -ENOENT)
		err = fill_from_code(&rows, err, img);
	if (!err)
		err = cfi_add_entered(img, &rows);
	if (!err)
		err = coroutine_starts_mark(img, &rows);
	if (!err)
		err = unwind_table_build(&rows, img->vaddr_lo, img->vaddr_hi, tp);
	cfi_rows_release(&rows);
	return err;
}
