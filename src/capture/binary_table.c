#include "src/capture/binary_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "src/base/bytes.h"
#include "unwind/cfi_program.h"

#define MAX_EH_FRAME (256u << 20)

struct eh_frame {
	uint64_t vaddr, offset, size;
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

/* Stripped of section headers: PT_GNU_EH_FRAME points to .eh_frame; how long that is, nobody says. */
static int by_header(struct elf_image *img, struct eh_frame *out)
{
	struct cfi_input in = { .vaddr = img->eh_frame_hdr_vaddr };
	uint64_t offset, left;
	struct byte_reader r;
	uint8_t head[32], encoding;

	if (!img->eh_frame_hdr_size || elf_image_offset_of(img, img->eh_frame_hdr_vaddr, &offset, &left) ||
	    elf_image_pread(img, head, sizeof(head), offset) != sizeof(head))
		return -ENOENT;
	in.eh_frame = head;
	in.len = sizeof(head);
	in.got_vaddr = img->eh_frame_hdr_vaddr;	/* datarel in here counts from the header itself */
	r = br_make(head, sizeof(head));
	br_u8(&r);	/* version */
	encoding = br_u8(&r);
	br_u16(&r);
	out->vaddr = cfi_pointer(&r, encoding, &in, 0);
	if (r.bad || elf_image_offset_of(img, out->vaddr, &out->offset, &left))
		return -ENOENT;
	out->size = left;
	return 0;
}

static int find_eh_frame(struct elf_image *img, struct eh_frame *out)
{
	struct elf_section s;

	if (elf_image_section(img, ".eh_frame", &s) || !s.size)
		return by_header(img, out);
	*out = (struct eh_frame){ s.addr, s.offset, s.size };
	return 0;
}

int cfi_rows_from_image(struct elf_image *img, struct cfi_rows *rows)
{
	struct cfi_input in = { 0 };
	struct elf_section s;
	struct eh_frame eh;
	void *bytes;
	int err = machine_of(img, &in.machine);

	if (!err)
		err = find_eh_frame(img, &eh);
	if (!err)
		err = elf_image_read(img, eh.offset, eh.size, MAX_EH_FRAME, &bytes);
	if (err)
		return err;
	in.eh_frame = bytes;
	in.len = eh.size;
	in.vaddr = eh.vaddr;
	if (!elf_image_section(img, ".text", &s))
		in.text_vaddr = s.addr;
	if (!elf_image_section(img, ".got", &s))
		in.got_vaddr = s.addr;
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
