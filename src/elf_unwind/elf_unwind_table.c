/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf_unwind/elf_unwind_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "src/elf_unwind/elf_code_rows.h"
#include "src/elf/go_image.h"
#include "unwind/cfi_merge.h"
#include "unwind/go_table.h"

#define MAX_EH_FRAME (256u << 20)
#define MAX_GO_TABLE (256ull << 20)
#define MAX_GO_CODE (512ull << 20)
#define HEADER_BYTES 32		/* more than the pointer in .eh_frame_hdr needs */

struct eh_frame {
	uint64_t vaddr, offset, size;
	bool is_open_ended;	/* size is up to the end of the segment */
};

static int machine_of(const struct elf_image *img, enum cfi_machine *out)
{
	if (!img->is64)
		return -ENOTSUP;
	if (img->machine == EM_X86_64)
		*out = CFI_X86_64;
	else if (img->machine == EM_AARCH64)
		*out = CFI_AARCH64;
	else
		return -ENOTSUP;
	return 0;
}

/* Finds .eh_frame by PT_GNU_EH_FRAME, in a file without section headers. */
static int find_by_header(struct elf_image *img, struct eh_frame *out)
{
	uint64_t offset, left;
	uint8_t hdr[HEADER_BYTES];
	long n;

	if (!img->eh_frame_hdr_size ||
	    elf_image_offset_of(img, img->eh_frame_hdr_vaddr, &offset, &left))
		return -ENOENT;
	n = elf_image_pread(img, hdr, left < sizeof(hdr) ? left : sizeof(hdr), offset);
	if (n < 0)
		return (int)n;
	if (cfi_find_by_header(hdr, (size_t)n, img->eh_frame_hdr_vaddr, &out->vaddr) ||
	    elf_image_offset_of(img, out->vaddr, &out->offset, &out->size))
		return -ENOENT;
	if (out->size > MAX_EH_FRAME)
		out->size = MAX_EH_FRAME;
	out->is_open_ended = true;
	return 0;
}

/* Tries the section first: its size is known, so a terminator in the middle does no harm. */
static int find_eh_frame(struct elf_image *img, struct eh_frame *out)
{
	struct elf_section s;

	if (elf_image_section(img, ".eh_frame", &s) || !s.size)
		return find_by_header(img, out);
	*out = (struct eh_frame){ .vaddr = s.addr, .offset = s.offset, .size = s.size };
	return 0;
}

static uint64_t section_vaddr(struct elf_image *img, const char *name)
{
	struct elf_section s;

	return elf_image_section(img, name, &s) ? 0 : s.addr;
}

static int read_code(void *ctx, uint64_t vaddr, uint8_t *buf, size_t len)
{
	uint64_t offset, left;

	if (elf_image_offset_of(ctx, vaddr, &offset, &left) || left < len)
		return -ENOENT;
	return elf_image_pread(ctx, buf, len, offset) == (long)len ? 0 : -EIO;
}

static int parse(struct elf_image *img, bool by_code, struct cfi_rows *rows)
{
	struct cfi_input in = { .read_code = by_code ? read_code : NULL, .ctx = img };
	struct eh_frame eh = { 0 };
	void *bytes;
	int err = machine_of(img, &in.machine);

	if (!err)
		err = find_eh_frame(img, &eh);
	if (!err)
		err = elf_image_read(img, eh.offset, eh.size, MAX_EH_FRAME, &bytes);
	if (err)
		return err;
	in.eh_frame = bytes;
	in.len = eh.is_open_ended ? cfi_terminated_len(bytes, eh.size) : eh.size;
	in.vaddr = eh.vaddr;
	in.text_vaddr = section_vaddr(img, ".text");
	in.got_vaddr = section_vaddr(img, ".got");
	err = cfi_parse(&in, rows);
	free(bytes);
	return err;
}

int cfi_rows_from_image(struct elf_image *img, struct cfi_rows *rows)
{
	return parse(img, false, rows);
}

int cfi_rows_with_code_from_image(struct elf_image *img, struct cfi_rows *rows)
{
	return parse(img, true, rows);
}

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
	int err = machine_of(img, &in.machine);

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
	struct elf_code_rows_stats stats;
	struct cfi_rows extra = { 0 };
	int more_err = code_rows_from_image(img, rows, NULL, 0, &extra, &stats);

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
	int err = parse(img, true, &rows);

	if (err != -ENOMEM)
		err = fill(&rows, err, img, go_rows_from_image);
	if (!err || err == -ENOENT)
		err = fill_from_code(&rows, err, img);
	if (!err)
		err = unwind_table_build(&rows, img->vaddr_lo, img->vaddr_hi, tp);
	cfi_rows_release(&rows);
	return err;
}
