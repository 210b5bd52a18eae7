/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf_unwind/elf_cfi.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bisect.h"
#include "src/elf/fde_ranges.h"
#include "unwind/entered.h"

#define MAX_EH_FRAME (256u << 20)
#define HEADER_BYTES 32		/* more than the pointer in .eh_frame_hdr needs */

struct eh_frame {
	uint64_t vaddr, offset, size;
	bool is_open_ended;	/* size is up to the end of the segment */
};

int cfi_machine_of(const struct elf_image *img, enum cfi_machine *out)
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
	int err = cfi_machine_of(img, &in.machine);

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

int cfi_add_entered(struct elf_image *img, struct cfi_rows *rows)
{
	struct cfi_input in = { .read_code = read_code, .ctx = img };
	int err = cfi_machine_of(img, &in.machine);

	return err ? err : entered_rows_add(&in, rows);
}

/* ---- a part of the file ---- */

#define BLOCK (16u << 10)	/* bytes that are loaded at once: most functions' neighbours */
#define MAX_FDES (64u << 10)	/* in one part; a page of 64 KiB has some 100 */

/* .eh_frame in a buffer that is filled where it is needed. */
struct cfi_section {
	struct elf_image *img;
	struct eh_frame eh;
	struct fde_ranges fdes;
	struct cfi_input in;
	uint8_t *bytes;			/* of untouched memory the kernel keeps no page */
	uint8_t *loaded;		/* a bit for each block */
};

static int load_block(struct cfi_section *s, uint64_t block)
{
	uint64_t at = block * BLOCK, left = s->eh.size - at;
	size_t len = left < BLOCK ? left : BLOCK;

	if (s->loaded[block / 8] & 1u << block % 8)
		return 0;
	if (elf_image_pread(s->img, s->bytes + at, len, s->eh.offset + at) != (long)len)
		return -EIO;
	s->loaded[block / 8] |= (uint8_t)(1u << block % 8);
	return 0;
}

/* cfi_input.load() */
static int load(void *ctx, uint64_t offset, uint64_t len)
{
	struct cfi_section *s = ctx;
	int err = 0;

	if (!len)
		return 0;
	if (offset >= s->eh.size || len > s->eh.size - offset)
		return -EBADMSG;
	for (uint64_t b = offset / BLOCK; b <= (offset + len - 1) / BLOCK && !err; b++)
		err = load_block(s, b);
	return err;
}

static int read_section_code(void *ctx, uint64_t vaddr, uint8_t *buf, size_t len)
{
	return read_code(((struct cfi_section *)ctx)->img, vaddr, buf, len);
}

/* Without section headers the length is not known, and the terminator would have to be found. */
static int open_section(struct cfi_section *s, int fd)
{
	struct elf_image *img = s->img;
	int err = cfi_machine_of(img, &s->in.machine);

	if (!err)
		err = find_eh_frame(img, &s->eh);
	if (err)
		return err;
	fde_ranges_init(&s->fdes, img, fd, NULL);
	if (s->eh.is_open_ended || !s->fdes.nr || s->eh.size > MAX_EH_FRAME ||
	    s->eh.offset > img->file_size || s->eh.size > img->file_size - s->eh.offset)
		return -ENOTSUP;
	s->bytes = calloc(1, s->eh.size + 1);
	s->loaded = calloc(1, s->eh.size / BLOCK / 8 + 1);
	s->in.eh_frame = s->bytes;
	s->in.len = s->eh.size;
	s->in.vaddr = s->eh.vaddr;
	s->in.text_vaddr = section_vaddr(img, ".text");
	s->in.got_vaddr = section_vaddr(img, ".got");
	s->in.read_code = read_section_code;
	s->in.load = load;
	s->in.ctx = s;
	return s->bytes && s->loaded ? 0 : -ENOMEM;
}

int cfi_section_open(struct elf_image *img, int fd, struct cfi_section **sp)
{
	struct cfi_section *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->img = img;
	err = open_section(s, fd);
	if (err)
		cfi_section_close(s);
	else
		*sp = s;
	return err;
}

void cfi_section_close(struct cfi_section *s)
{
	if (!s)
		return;
	free(s->bytes);
	free(s->loaded);
	free(s);
}

/*
 * The offsets of the FDEs of functions that begin below hi, from the last one that begins at or
 * before lo; and of the one after them, because padding belongs to the function behind it.
 */
static int list_fdes(const struct cfi_section *s, uint64_t lo, uint64_t hi, uint64_t **list,
		     size_t *nr)
{
	uint64_t first = fde_ranges_until(&s->fdes, lo), last = fde_ranges_until(&s->fdes, hi - 1);
	uint64_t start, before, fde, *v;

	/* The first of several FDEs with one start counts, so all are listed. */
	if (first && fde_ranges_entry(&s->fdes, --first, &start, &fde))
		while (first && fde_ranges_entry(&s->fdes, first - 1, &before, &fde) &&
		       before == start)
			first--;
	last += last < s->fdes.nr;
	if (last < first || last - first > MAX_FDES)
		return -ENOTSUP;
	v = malloc((last - first + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (*nr = 0; first < last; first++, ++*nr) {
		if (!fde_ranges_entry(&s->fdes, first, &start, &fde) || fde < s->eh.vaddr ||
		    fde - s->eh.vaddr >= s->eh.size) {
			free(v);
			return -ENOTSUP;
		}
		v[*nr] = fde - s->eh.vaddr;
	}
	if (*nr)
		qsort(v, *nr, sizeof(*v), compare_u64);
	*list = v;
	return 0;
}

int cfi_section_rows(struct cfi_section *s, uint64_t lo, uint64_t hi, struct cfi_rows *rows)
{
	struct cfi_input in = s->in;
	uint64_t *list = NULL;
	int err = list_fdes(s, lo, hi, &list, &in.nr_fdes);

	if (err)
		return err;
	in.fdes = list;
	err = cfi_parse(&in, rows);
	free(list);
	return err;
}

bool cfi_section_covers(const struct cfi_section *s, uint64_t vaddr)
{
	uint64_t lo, hi;

	return fde_ranges_find(&s->fdes, vaddr, &lo, &hi);
}
