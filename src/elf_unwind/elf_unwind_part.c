/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf_unwind/elf_unwind_part.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "src/elf/go_image.h"
#include "src/elf_unwind/elf_cfi.h"
#include "src/elf_unwind/elf_code_rows.h"
#include "unwind/cfi_merge.h"
#include "unwind/unwind_limits.h"

/*
 * Functions that begin before the page, and calls that tell where functions begin, are looked for
 * in so many bytes around it. Only where much code has no call frame information.
 */
#define AROUND (64u << 10)
/* So many of them may hold the start of a function that reaches into the page. */
#define BEFORE (16u << 10)
#define NEIGHBOURS 16			/* pages that are read together, at most */
#define FEW 4096			/* bytes without a rule: stubs and padding */

struct part {
	struct elf_image *img;
	struct cfi_section *section;	/* NULL: there is no call frame information */
	struct elf_code *code;
	struct unwind_part *out;
};

/* The number of pages up to the end of the code. */
static uint64_t count_pages(const struct elf_image *img)
{
	uint64_t end = img->vaddr_lo;

	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (s->exec && s->vaddr + s->filesz > end)
			end = s->vaddr + s->filesz;
	}
	return unwind_nr_pages(img->vaddr_lo, end);
}

/* Bytes from lo to hi - 1 for which there is no rule. */
static uint64_t unknown_bytes(const struct cfi_rows *rows, uint64_t lo, uint64_t hi)
{
	uint64_t bytes = 0, at = lo;
	bool is_unknown = cfi_rows_find(rows, lo).cfa == CFA_NONE;

	for (size_t i = 0; i < rows->nr && rows->v[i].vaddr < hi; i++) {
		if (rows->v[i].vaddr <= lo)
			continue;
		bytes += is_unknown ? rows->v[i].vaddr - at : 0;
		at = rows->v[i].vaddr;
		is_unknown = rows->v[i].rule.cfa == CFA_NONE;
	}
	return bytes + (is_unknown ? hi - at : 0);
}

static bool is_covered(void *section, uint64_t vaddr)
{
	return section && cfi_section_covers(section, vaddr);
}

/* Adds rows for the code from lo to hi - 1 that has none; want: what they are for. */
static int fill_from_code(const struct part *p, uint64_t lo, uint64_t hi, struct code_range want,
			  struct cfi_rows *rows)
{
	const struct code_rows_scope scope = {
		.lo = lo, .hi = hi, .is_covered = is_covered, .ctx = p->section,
		.tried = { want.begin > BEFORE ? want.begin - BEFORE : 0, want.end },
	};
	struct elf_code_rows_stats stats;
	struct cfi_rows extra = { 0 };
	int err = code_rows_add(p->code, rows, &scope, &extra, &stats);

	if (!err && extra.nr)
		err = cfi_rows_fill(rows, &extra);
	cfi_rows_release(&extra);
	return err;
}

static int cfi_rows_of(const struct part *p, uint64_t lo, uint64_t hi, struct cfi_rows *rows)
{
	return p->section ? cfi_section_rows(p->section, lo, hi, rows) : 0;
}

/* All rows from lo to hi - 1, and perhaps more. */
static int rows_of(const struct part *p, uint64_t lo, uint64_t hi, struct cfi_rows *rows)
{
	const struct code_range want = { lo, hi };
	int err = cfi_rows_of(p, lo, hi, rows);

	if (!err && unknown_bytes(rows, lo, hi) > FEW) {
		cfi_rows_release(rows);
		lo = lo - p->img->vaddr_lo > AROUND ? lo - AROUND : p->img->vaddr_lo;
		hi += AROUND;
		err = cfi_rows_of(p, lo, hi, rows);
	}
	if (!err)
		err = fill_from_code(p, lo, hi, want, rows);
	return err ? err : cfi_add_entered(p->img, rows);
}

/* Adds pages first .. first + nr - 1. */
static int add_pages(const struct part *p, uint32_t first, uint32_t nr)
{
	uint64_t lo = p->img->vaddr_lo + ((uint64_t)first << UNWIND_PAGE_SHIFT);
	struct cfi_rows rows = { 0 };
	int err = rows_of(p, lo, lo + ((uint64_t)nr << UNWIND_PAGE_SHIFT), &rows);

	if (!err)
		err = unwind_part_add(p->out, &rows, first, nr);
	cfi_rows_release(&rows);
	return err;
}

/* Neighbours share what is read around them. Pages behind the end of the code do not exist. */
static int add_all(const struct part *p, const uint32_t *pages, size_t nr, uint32_t nr_pages)
{
	size_t first = 0;
	int err = 0;

	for (size_t i = 0; i < nr && pages[i] < nr_pages && !err; i++) {
		bool ends = i + 1 == nr || pages[i + 1] != pages[i] + 1 ||
			    pages[i + 1] >= nr_pages || i + 1 - first == NEIGHBOURS;

		if (!ends)
			continue;
		assert(first <= i && pages[i] - pages[first] == i - first);
		err = add_pages(p, pages[first], (uint32_t)(i - first) + 1);
		first = i + 1;
	}
	return err;
}

static int open_part(struct part *p, int fd, uint64_t *nr_pages)
{
	struct go_image go;
	int err;

	*nr_pages = count_pages(p->img);
	if (!*nr_pages || *nr_pages > UNWIND_MAX_PAGES || !go_image_find(p->img, &go))
		return -ENOTSUP;
	err = cfi_section_open(p->img, fd, &p->section);
	return err && err != -ENOENT ? err : elf_code_open(p->img, &p->code);
}

int unwind_part_from_image(struct elf_image *img, int fd, const uint32_t *pages, size_t nr,
			   struct unwind_table **tp)
{
	struct part p = { .img = img };
	uint64_t nr_pages;
	int err = open_part(&p, fd, &nr_pages);

	if (!err)
		err = unwind_part_begin(img->vaddr_lo, (uint32_t)nr_pages, &p.out);
	if (!err)
		err = add_all(&p, pages, nr, (uint32_t)nr_pages);
	if (p.out) {
		*tp = unwind_part_end(p.out);
		if (!err && !*tp)
			err = -ENOMEM;
		if (err) {
			unwind_table_free(*tp);
			*tp = NULL;
		}
	}
	elf_code_close(p.code);
	cfi_section_close(p.section);
	return err;
}
