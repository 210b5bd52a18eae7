/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/inspect/code_gaps.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/elf/elf_image.h"
#include "src/inspect/unwind_rows.h"

#define CHUNK 4096
#define MAX_PAD 16		/* length of the longest encoding below */

struct pad {
	uint8_t len, bytes[MAX_PAD];
};

/*
 * The padding that assemblers and linkers write into x86-64 code; the operands of long forms are
 * always these.
 */
static const struct pad x86_64_pads[] = {
	{ 1, { 0x90 } },
	{ 1, { 0xcc } },
	{ 1, { 0x00 } },
	{ 2, { 0x66, 0x90 } },
	{ 3, { 0x0f, 0x1f, 0x00 } },
	{ 4, { 0x0f, 0x1f, 0x40, 0x00 } },
	{ 5, { 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 7, { 0x0f, 0x1f, 0x80, 0, 0, 0, 0 } },
	{ 8, { 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 } },
};

static const struct pad aarch64_pads[] = {
	{ 4, { 0x1f, 0x20, 0x03, 0xd5 } },	/* nop */
	{ 4, { 0x00, 0x00, 0x00, 0x00 } },	/* udf #0 */
	{ 4, { 0x00, 0x00, 0x20, 0xd4 } },	/* brk #0 */
};

/* Length of the padding instruction at p; 0: there is none, or p has only a part of it. */
static size_t pad_len(uint16_t machine, const uint8_t *p, size_t len)
{
	const struct pad *pads = machine == EM_AARCH64 ? aarch64_pads : x86_64_pads;
	size_t nr = machine == EM_AARCH64 ? sizeof(aarch64_pads) / sizeof(*pads)
					  : sizeof(x86_64_pads) / sizeof(*pads);
	size_t prefixes = 0;

	/* Longer no-operations begin with operand size and segment prefixes. */
	while (machine == EM_X86_64 && prefixes + 1 < len &&
	       (p[prefixes] == 0x66 || p[prefixes] == 0x2e) && p[prefixes + 1] != 0x90)
		prefixes++;
	for (size_t i = 0; i < nr; i++) {
		if (pads[i].len <= len - prefixes &&
		    !memcmp(p + prefixes, pads[i].bytes, pads[i].len) &&
		    (!prefixes || pads[i].len > 1))
			return prefixes + pads[i].len;
	}
	return 0;
}

/* End of the padding that begins at vaddr; at most end. */
static uint64_t skip_padding(struct elf_image *img, uint64_t vaddr, uint64_t end)
{
	uint8_t buf[CHUNK];

	while (vaddr < end) {
		uint64_t offset, left, want = end - vaddr < CHUNK ? end - vaddr : CHUNK;
		size_t at = 0, pad = 0;
		long n;

		if (elf_image_offset_of(img, vaddr, &offset, &left))
			break;
		n = elf_image_pread(img, buf, want < left ? want : left, offset);
		while (n > 0 && at < (size_t)n &&
		       (pad = pad_len(img->machine, buf + at, (size_t)n - at)))
			at += pad;
		vaddr += at;
		if (!at || (!pad && (size_t)n - at >= 2 * MAX_PAD))
			break;
	}
	return vaddr;
}

static int add_gap(struct code_gaps *g, struct elf_image *img, uint64_t begin, uint64_t end)
{
	uint64_t code = skip_padding(img, begin, end);
	struct code_gap *gap;

	g->padding_bytes += code - begin;
	if (code >= end)
		return 0;
	gap = array_push(&g->v, &g->nr, &g->cap);
	if (!gap)
		return -ENOMEM;
	*gap = (struct code_gap){ code, end };
	g->gap_bytes += end - code;
	return 0;
}

/* Adds the gaps among begin .. end - 1, which is all code. */
static int search(struct code_gaps *g, struct elf_image *img, const struct unwind_rows *rows,
		  uint64_t begin, uint64_t end)
{
	int err = 0;

	g->code_bytes += end - begin;
	while (!err && begin < end) {
		uint64_t next;
		const struct source_row *row = unwind_rows_find(rows, begin, &next);

		if (next > end)
			next = end;
		if (!row || row->rule.cfa == CFA_NONE)
			err = add_gap(g, img, begin, next);
		if (next <= begin)
			break;
		begin = next;
	}
	return err;
}

static int by_size(const void *x, const void *y)
{
	const struct code_gap *a = x, *b = y;
	uint64_t size_a = a->end - a->begin, size_b = b->end - b->begin;

	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/*
 * A section header may state any address and size, so a section counts only within segments, and
 * once.
 */
static bool is_code(const struct elf_image *img, const struct elf_section *s)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
	uint64_t offset, left;

	if (elf_image_offset_of(img, s->addr, &offset, &left) || s->size > left)
		return false;
	for (size_t i = 0; i < img->nr_segments && (s->flags & flags) == flags; i++) {
		const struct elf_segment *seg = &img->segments[i];

		if (seg->exec && s->addr >= seg->vaddr && s->addr - seg->vaddr < seg->filesz &&
		    s->size <= seg->filesz - (s->addr - seg->vaddr))
			return true;
	}
	return false;
}

static int search_sections(struct code_gaps *g, struct elf_image *img,
			   const struct unwind_rows *rows)
{
	struct elf_section s;
	uint64_t end = 0;		/* each section begins after the one before it */
	int err = 0;

	for (uint32_t i = 1; !err && !elf_image_section_at(img, i, &s); i++) {
		if (!is_code(img, &s) || s.addr < end)
			continue;
		end = s.addr + s.size;
		err = search(g, img, rows, s.addr, end);
	}
	return err;
}

static int search_segments(struct code_gaps *g, struct elf_image *img,
			   const struct unwind_rows *rows)
{
	uint64_t end = 0;
	int err = 0;

	for (size_t i = 0; !err && i < img->nr_segments; i++) {
		const struct elf_segment *seg = &img->segments[i];

		if (!seg->exec || seg->vaddr < end || seg->filesz > UINT64_MAX - seg->vaddr)
			continue;
		end = seg->vaddr + seg->filesz;
		err = search(g, img, rows, seg->vaddr, end);
	}
	return err;
}

int code_gaps_find(struct code_gaps *g, struct elf_image *img, const struct unwind_rows *rows)
{
	int err = search_sections(g, img, rows);

	if (!err && !g->code_bytes)
		err = search_segments(g, img, rows);
	if (g->nr)
		qsort(g->v, g->nr, sizeof(*g->v), by_size);
	return err;
}

void code_gaps_release(struct code_gaps *g)
{
	free(g->v);
	memset(g, 0, sizeof(*g));
}
