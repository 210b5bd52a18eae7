/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf/fde_ranges.h"

#include <string.h>

#include "src/base/bisect.h"
#include "src/base/bytes.h"
#include "src/base/io.h"

#define ENTRY 8				/* bytes of an entry of the table: two offsets */
#define CIE_BYTES 64			/* enough for all fields before the instructions */
#define FDE_BYTES 24

/* Encodings of pointers: the format in the lower half. */
#define ENC_FORMAT 0x0f
#define ENC_ALIGNED 0x50
#define ENC_OMIT 0xff
#define TABLE_ENCODING 0x3b		/* signed 32 bits from the header, as all linkers write */
#define COUNT_ENCODING 0x03

static bool read_at(const struct fde_ranges *r, uint64_t offset, void *buf, size_t len)
{
	if (offset > r->file_size || len > r->file_size - offset)
		return false;
	if (!r->data)
		return io_pread(r->fd, buf, len, offset) == (ssize_t)len;
	memcpy(buf, r->data + offset, len);
	return true;
}

/* The size of an encoded pointer in bytes; 0: not fixed. */
static unsigned encoded_size(const struct fde_ranges *r, uint8_t encoding)
{
	static const uint8_t sizes[16] = {
		[2] = 2, [3] = 4, [4] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8
	};

	if (encoding == ENC_OMIT || (encoding & 0x70) == ENC_ALIGNED)
		return 0;
	return encoding & ENC_FORMAT ? sizes[encoding & ENC_FORMAT] : r->word;
}

static const struct elf_segment *segment_at(const struct elf_image *img, uint64_t vaddr)
{
	for (size_t i = 0; i < img->nr_segments; i++)
		if (vaddr >= img->segments[i].vaddr &&
		    vaddr - img->segments[i].vaddr < img->segments[i].filesz)
			return &img->segments[i];
	return NULL;
}

/* The header: u8 version, encodings of the pointer to .eh_frame, count and table; these three. */
void fde_ranges_init(struct fde_ranges *r, struct elf_image *img, int fd, const void *data)
{
	const struct elf_segment *seg =
		img->eh_frame_hdr_size ? segment_at(img, img->eh_frame_hdr_vaddr) : NULL;
	uint64_t offset, room;
	uint8_t head[16];
	unsigned pointer;
	uint32_t nr;

	*r = (struct fde_ranges){ .fd = fd,
				  .data = fd < 0 ? data : NULL,
				  .file_size = img->file_size,
				  .hdr_vaddr = img->eh_frame_hdr_vaddr,
				  .word = img->is64 ? 8 : 4 };
	if (!seg)
		return;
	r->segment = *seg;
	offset = seg->offset + (r->hdr_vaddr - seg->vaddr);
	if (!read_at(r, offset, head, sizeof(head)) || head[0] != 1 || head[2] != COUNT_ENCODING ||
	    head[3] != TABLE_ENCODING)
		return;
	pointer = encoded_size(r, head[1]);
	if (!pointer)
		return;
	memcpy(&nr, head + 4 + pointer, sizeof(nr));
	r->table_offset = offset + 4 + pointer + sizeof(nr);
	room = r->table_offset < r->file_size ? r->file_size - r->table_offset : 0;
	r->nr = nr < room / ENTRY ? nr : room / ENTRY;
}

bool fde_ranges_entry(const struct fde_ranges *r, uint64_t i, uint64_t *start, uint64_t *fde)
{
	int32_t v[2];

	if (!read_at(r, r->table_offset + i * ENTRY, v, sizeof(v)))
		return false;
	*start = r->hdr_vaddr + (uint64_t)(int64_t)v[0];
	*fde = r->hdr_vaddr + (uint64_t)(int64_t)v[1];
	return true;
}

uint64_t fde_ranges_until(const struct fde_ranges *r, uint64_t addr)
{
	uint64_t start, fde;

	return bisect(r->nr, i, fde_ranges_entry(r, i, &start, &fde) && start <= addr);
}

static void skip_leb(struct byte_reader *r)
{
	while (br_u8(r) & 0x80)
		;
}

/* The encoding of addresses in the FDEs of the CIE at offset. */
static uint8_t cie_encoding(const struct fde_ranges *r, uint64_t offset)
{
	uint8_t bytes[CIE_BYTES] = { 0 }, version, encoding;
	uint64_t left = offset < r->file_size ? r->file_size - offset : 0;
	struct byte_reader b = br_make(bytes, sizeof(bytes));
	const char *augmentation;

	if (!read_at(r, offset, bytes, left < sizeof(bytes) ? left : sizeof(bytes)))
		return ENC_OMIT;
	br_bytes(&b, 8);
	version = br_u8(&b);
	augmentation = (const char *)b.p;
	while (br_u8(&b))
		;
	if (b.bad || augmentation[0] != 'z')
		return b.bad || augmentation[0] ? ENC_OMIT : 0;
	skip_leb(&b);
	skip_leb(&b);
	if (version == 1)
		br_u8(&b);
	else
		skip_leb(&b);
	skip_leb(&b);
	for (const char *p = augmentation + 1; *p && !b.bad; p++) {
		if (*p == 'R') {
			encoding = br_u8(&b);
			return b.bad ? ENC_OMIT : encoding;
		}
		if (*p == 'P')
			br_bytes(&b, encoded_size(r, br_u8(&b)));
		else if (*p == 'L')
			br_u8(&b);
	}
	return b.bad ? ENC_OMIT : 0;
}

/* The number of bytes that the FDE at vaddr covers; 0: unknown. */
static uint64_t fde_size(const struct fde_ranges *r, uint64_t vaddr)
{
	uint64_t offset = r->segment.offset + (vaddr - r->segment.vaddr);
	uint8_t bytes[FDE_BYTES];
	struct byte_reader b = br_make(bytes, sizeof(bytes));
	uint32_t length, to_cie;
	unsigned size;

	if (vaddr < r->segment.vaddr || vaddr - r->segment.vaddr >= r->segment.filesz ||
	    !read_at(r, offset, bytes, sizeof(bytes)))
		return 0;
	length = br_u32(&b);
	to_cie = br_u32(&b);
	if (!length || length == UINT32_MAX || !to_cie || to_cie > offset + 4)
		return 0;
	size = encoded_size(r, cie_encoding(r, offset + 4 - to_cie));
	br_bytes(&b, size);
	return size && !b.bad ? br_fixed(&b, size) : 0;
}

bool fde_ranges_find(const struct fde_ranges *r, uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	uint64_t i = fde_ranges_until(r, addr), start, fde, size;

	*lo = 0;
	if (i == r->nr || !fde_ranges_entry(r, i, hi, &fde))
		*hi = UINT64_MAX;
	if (!i || !fde_ranges_entry(r, i - 1, &start, &fde) || start > addr)
		return false;
	size = fde_size(r, fde);
	/* An entry whose length is not known reaches to the next one. */
	if (size && addr - start >= size) {
		*lo = start + size;
		return false;
	}
	*lo = start;
	if (size && size < *hi - start)
		*hi = start + size;
	return true;
}
