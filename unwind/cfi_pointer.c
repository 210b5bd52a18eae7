/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_pointer.h"

/* DW_EH_PE: the low four bits say how the number is stored, the next three what it counts from. */
enum {
	PE_ABSPTR = 0x00, PE_ULEB128 = 0x01, PE_UDATA2 = 0x02, PE_UDATA4 = 0x03, PE_UDATA8 = 0x04,
	PE_SIGNED = 0x08, PE_SLEB128 = 0x09, PE_SDATA2 = 0x0a, PE_SDATA4 = 0x0b, PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,

	PE_ABSOLUTE = 0x00, PE_PCREL = 0x10, PE_TEXTREL = 0x20, PE_DATAREL = 0x30, PE_ALIGNED =
	0x50,
	PE_BASE = 0x70,

	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

#define POINTER_SIZE 8

uint64_t cfi_pointer_bare(struct byte_reader *r, uint8_t encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SIGNED:
	case PE_SDATA8:
		return br_u64(r);
	case PE_ULEB128:
		return br_uv(r);
	case PE_SLEB128:
		return (uint64_t)br_sleb(r);
	case PE_UDATA2:
		return br_u16(r);
	case PE_SDATA2:
		return (uint64_t)(int16_t)br_u16(r);
	case PE_UDATA4:
		return br_u32(r);
	case PE_SDATA4:
		return (uint64_t)(int32_t)br_u32(r);
	}
	r->bad = true;
	return 0;
}

static uint64_t position(const struct byte_reader *r, const struct cfi_input *in)
{
	return in->vaddr + (uint64_t)(r->p - in->eh_frame);
}

/* Skips the padding before a pointer that is stored at a multiple of its size. */
static void skip_padding(struct byte_reader *r, uint8_t encoding, const struct cfi_input *in)
{
	if ((encoding & PE_BASE) == PE_ALIGNED)
		br_bytes(r, -position(r, in) % POINTER_SIZE);
}

uint64_t cfi_pointer(struct byte_reader *r, uint8_t encoding, const struct cfi_input *in)
{
	uint64_t at, v;

	skip_padding(r, encoding, in);
	at = position(r, in);
	v = cfi_pointer_bare(r, encoding);
	r->bad |= encoding & PE_INDIRECT;	/* PE_OMIT has this bit too */
	switch (encoding & PE_BASE) {
	case PE_ABSOLUTE:
	case PE_ALIGNED:
		return v;
	case PE_PCREL:
		return v + at;
	case PE_TEXTREL:
		return v + in->text_vaddr;
	case PE_DATAREL:
		return v + in->got_vaddr;
	}
	r->bad = true;
	return 0;
}

void cfi_pointer_skip(struct byte_reader *r, uint8_t encoding, const struct cfi_input *in)
{
	if (encoding == PE_OMIT)
		return;
	skip_padding(r, encoding, in);
	cfi_pointer_bare(r, encoding);
}
