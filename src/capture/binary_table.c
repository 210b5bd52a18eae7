#include "src/capture/binary_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#define MAX_EH_FRAME (256u << 20)
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

/* Without section headers PT_GNU_EH_FRAME leads there. */
static int find_by_header(struct elf_image *img, struct eh_frame *out)
{
	uint64_t offset, left;
	uint8_t hdr[HEADER_BYTES];
	long n;

	if (!img->eh_frame_hdr_size || elf_image_offset_of(img, img->eh_frame_hdr_vaddr, &offset, &left))
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

/* The section comes first: with its size known a terminator in the middle does no harm. */
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

int cfi_rows_from_image(struct elf_image *img, struct cfi_rows *rows)
{
	struct cfi_input in = { 0 };
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

int unwind_table_from_image(struct elf_image *img, struct unwind_table **tp)
{
	struct cfi_rows rows = { 0 };
	int err = cfi_rows_from_image(img, &rows);

	if (!err)
		err = unwind_table_build(&rows, img->vaddr_lo, img->vaddr_hi, tp);
	cfi_rows_release(&rows);
	return err;
}
