/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/ruby/ruby_loop.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/elf/fde_ranges.h"

#define PIECE 256			/* relocations that are read at a time */
#define MAX_RELOCATIONS (1u << 20)
#define MIN_INSTRUCTIONS 150
#define MAX_POINTERS 1024		/* of a run */
#define FIRST_CODE 48			/* of rb_thread_current() */
#define MAX_OFFSET (1 << 20)

/* Pointers that follow each other and lead into code. */
struct run {
	uint64_t end;			/* address of the pointer that would be next */
	uint64_t to[MAX_POINTERS];
	uint32_t nr;
};

static bool is_code(const struct elf_image *img, uint64_t vaddr)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (s->exec && vaddr - s->vaddr < s->filesz)
			return true;
	}
	return false;
}

static void add(const struct elf_image *img, struct run *r, uint64_t at, uint64_t to)
{
	if (at != r->end || !is_code(img, to))
		r->nr = 0;
	if (!is_code(img, to) || r->nr >= MAX_POINTERS)
		return;
	r->to[r->nr++] = to;
	r->end = at + 8;
}

static int longest_run(struct elf_image *img, struct run *longest)
{
	struct elf_section table;
	struct run now = { .nr = 0 };
	Elf64_Rela piece[PIECE];
	uint64_t nr, done = 0;
	int err = elf_image_section(img, ".rela.dyn", &table);

	nr = err ? 0 : table.size / sizeof(piece[0]);
	while (done < nr && done < MAX_RELOCATIONS) {
		uint64_t n = nr - done < PIECE ? nr - done : PIECE;
		long bytes = (long)(n * sizeof(piece[0]));

		if (elf_image_pread(img, piece, (size_t)bytes,
				    table.offset + done * sizeof(piece[0])) != bytes)
			return -EBADMSG;
		for (uint64_t i = 0; i < n; i++) {
			if (ELF64_R_TYPE(piece[i].r_info) != R_X86_64_RELATIVE)
				continue;
			add(img, &now, piece[i].r_offset, (uint64_t)piece[i].r_addend);
			if (now.nr > longest->nr)
				*longest = now;
		}
		done += n;
	}
	return err == -ENOENT ? 0 : err;
}

/* The function into which most of the pointers lead; how many do. */
static uint32_t most_of(const struct fde_ranges *fdes, const struct run *r, uint64_t *vaddr)
{
	uint32_t best = 0;

	/* Other tables may be next to it, so the function need not be that of the first pointer. */
	for (uint32_t i = 0; i < r->nr && best < r->nr / 2; i += r->nr / 8 + 1) {
		uint64_t lo, hi;
		uint32_t nr = 0;

		if (!fde_ranges_find(fdes, r->to[i], &lo, &hi))
			continue;
		for (uint32_t k = 0; k < r->nr; k++)
			nr += r->to[k] >= lo && r->to[k] < hi;
		if (nr <= best)
			continue;
		best = nr;
		*vaddr = lo;
	}
	return best;
}

int ruby_loop_find(struct elf_image *img, int fd, const void *data, uint64_t *vaddr)
{
	struct run longest = { .nr = 0 };
	struct fde_ranges fdes;
	int err = longest_run(img, &longest);

	if (err)
		return err;
	fde_ranges_init(&fdes, img, fd, data);
	return most_of(&fdes, &longest, vaddr) >= MIN_INSTRUCTIONS ? 0 : -ENOTSUP;
}

int ruby_context_find(struct elf_image *img, uint64_t thread_current, uint64_t *words,
		      int64_t *offset)
{
	static const uint8_t lea[] = { 0x66, 0x48, 0x8d, 0x3d };
	uint64_t at, left, value;
	uint8_t code[FIRST_CODE];
	int32_t distance;
	size_t i = 0;

	if (elf_image_offset_of(img, thread_current, &at, &left) || left < sizeof(code) ||
	    elf_image_pread(img, code, sizeof(code), at) != sizeof(code))
		return -ENOTSUP;
	while (i + sizeof(lea) + 4 <= sizeof(code) && memcmp(code + i, lea, sizeof(lea)))
		i++;
	if (i + sizeof(lea) + 4 > sizeof(code))
		return -ENOTSUP;
	i += sizeof(lea);
	memcpy(&distance, code + i, sizeof(distance));
	*words = thread_current + i + 4 + (uint64_t)(int64_t)distance;
	if (elf_image_offset_of(img, *words + 8, &at, &left) || left < sizeof(value) ||
	    elf_image_pread(img, &value, sizeof(value), at) != sizeof(value) ||
	    value > MAX_OFFSET)
		return -ENOTSUP;
	*offset = (int64_t)value;
	return 0;
}
