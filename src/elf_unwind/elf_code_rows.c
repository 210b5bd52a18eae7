/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf_unwind/elf_code_rows.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/elf_unwind/code_symbols.h"
#include "unwind/code_starts.h"

#define MAX_BYTES (64ull << 20)		/* of gaps that are read */
#define DATA_WINDOW 4096		/* bytes of .rodata that are kept */
#define NEAR (64u << 10)		/* bytes; gaps that are nearer are read together */
#define MIN_GAP 64			/* bytes; a smaller one without a symbol is padding */
#define FEW_GAPS 64			/* are read whatever their sizes */
#define LARGE (4ull << 20)		/* bytes of gaps from which frame pointers are looked for */
#define SMALL 4096			/* bytes; smaller gaps are read even then */
#define FEW 256				/* bytes of gaps for which no symbols are read: crt code */
#define WINDOWS 64			/* places where frame pointers are looked for */
#define WINDOW_BYTES 4096
#define MIN_FUNCTIONS 32		/* a smaller sample says nothing */

struct ranges {
	struct code_range *v;
	size_t nr, cap;
};

/* A file, and what all its parts have in common, each read when it is first needed. */
struct elf_code {
	struct elf_image *img;
	struct code_symbols symbols;
	struct ranges code, stubs;
	struct elf_section data;	/* .rodata; size 0: none */
	uint64_t window_vaddr;		/* the part of it that was read last */
	size_t window_len;
	uint8_t window[DATA_WINDOW];
	uint64_t entry;
	bool has_symbols, has_starts, has_stubs;
	bool has_decided, keeps_frame_pointers;
};

/* A part of it that is being read. */
struct image {
	struct elf_code *file;
	struct elf_image *img;
	const struct code_rows_scope *scope;
	struct ranges gaps;
	struct elf_code_rows_stats *stats;
};

static int add_range(struct ranges *r, uint64_t begin, uint64_t end)
{
	struct code_range *p = array_push(&r->v, &r->nr, &r->cap);

	if (!p)
		return -ENOMEM;
	*p = (struct code_range){ begin, end };
	return 0;
}

/* The gaps of the rows between lo and hi - 1. */
static int add_gaps(struct ranges *gaps, const struct cfi_rows *rows, uint64_t lo, uint64_t hi)
{
	uint64_t begin = lo;
	bool is_gap = cfi_rows_find(rows, lo).cfa == CFA_NONE;
	size_t i;
	int err = 0;

	i = bisect(rows->nr, k, rows->v[k].vaddr <= lo);	/* the first row above lo */
	for (; i < rows->nr && rows->v[i].vaddr < hi && !err; i++) {
		bool now = rows->v[i].rule.cfa == CFA_NONE;

		if (is_gap && !now)
			err = add_range(gaps, begin, rows->v[i].vaddr);
		begin = now ? rows->v[i].vaddr : begin;
		is_gap = now;
	}
	return !err && is_gap ? add_range(gaps, begin, hi) : err;
}

static int by_begin(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

static uint64_t bytes_of(const struct ranges *r)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < r->nr; i++)
		bytes += r->v[i].end - r->v[i].begin;
	return bytes;
}

/* Sorts and makes disjoint: sections may overlap in damaged files. */
static void sort_ranges(struct ranges *r)
{
	bool is_sorted = true;
	uint64_t end = 0;
	size_t nr = 0;

	for (size_t i = 1; i < r->nr && is_sorted; i++)
		is_sorted = r->v[i].begin >= r->v[i - 1].begin;
	if (!is_sorted)
		qsort(r->v, r->nr, sizeof(*r->v), by_begin);
	for (size_t i = 0; i < r->nr; i++) {
		struct code_range g = r->v[i];

		if (g.begin < end)
			g.begin = end;
		if (g.begin >= g.end)
			continue;
		assert(!nr || r->v[nr - 1].end <= g.begin);
		r->v[nr++] = g;
		end = g.end;
	}
	r->nr = nr;
}

/* Adds the part of a range that the file really holds: foreign headers may claim any size. */
static int add_held(struct elf_code *file, uint64_t vaddr, uint64_t size)
{
	uint64_t offset, left;

	if (!size || elf_image_offset_of(file->img, vaddr, &offset, &left))
		return 0;
	return add_range(&file->code, vaddr, vaddr + (size < left ? size : left));
}

static int find_code(struct elf_code *file)
{
	struct elf_image *img = file->img;
	uint32_t nr = elf_image_nr_sections(img);
	struct elf_section s;
	int err = 0;

	for (uint32_t i = 1; i < nr && !err; i++)
		if (!elf_image_section_at(img, i, &s) && s.flags & SHF_EXECINSTR &&
		    s.flags & SHF_ALLOC)
			err = add_held(file, s.addr, s.size);
	for (size_t i = 0; nr < 2 && i < img->nr_segments && !err; i++)
		if (img->segments[i].exec)
			err = add_held(file, img->segments[i].vaddr, img->segments[i].filesz);
	sort_ranges(&file->code);	/* disjoint, so that each row is looked at once */
	return err;
}

static int find_gaps(struct image *im, const struct cfi_rows *known)
{
	const struct ranges *code = &im->file->code;
	int err = 0;

	for (size_t i = 0; i < code->nr && !err; i++) {
		struct code_range c = code->v[i];

		if (im->scope->hi && c.begin < im->scope->lo)
			c.begin = im->scope->lo;
		if (im->scope->hi && c.end > im->scope->hi)
			c.end = im->scope->hi;
		if (c.begin < c.end)
			err = add_gaps(&im->gaps, known, c.begin, c.end);
	}
	return err;
}

static int find_stubs(struct elf_code *file)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	struct elf_section s;
	int err = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !err; i++)
		if (!elf_image_section(file->img, names[i], &s) && s.size &&
		    s.addr + s.size > s.addr)
			err = add_range(&file->stubs, s.addr, s.addr + s.size);
	sort_ranges(&file->stubs);
	file->has_stubs = true;
	return err;
}

static int add_known_starts(struct elf_code *file, const struct code_rows_scope *scope)
{
	static const char *const names[] = { ".init", ".fini" };
	struct address_list *starts = &file->symbols.starts;
	struct elf_section s;
	int err = 0;

	if (elf_image_pread(file->img, &file->entry, sizeof(file->entry),
			    offsetof(Elf64_Ehdr, e_entry)) != sizeof(file->entry))
		file->entry = 0;
	if (file->entry)
		err = address_list_add(starts, file->entry);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !err; i++)
		if (!elf_image_section(file->img, names[i], &s))
			err = address_list_add(starts, s.addr);
	for (size_t i = 0; i < scope->nr_starts && !err; i++)
		err = address_list_add(starts, scope->starts[i]);
	address_list_sort(starts);
	file->has_starts = true;
	return err;
}

/* Index of the first known start at or above an address. */
static size_t first_start(const struct address_list *starts, uint64_t vaddr)
{
	return bisect(starts->nr, i, starts->v[i] < vaddr);
}

/* Drops gaps that are only padding between functions, and those beyond MAX_BYTES. */
static void choose_gaps(struct image *im)
{
	const struct address_list *starts = &im->file->symbols.starts;
	struct ranges *gaps = &im->gaps;
	bool is_few = gaps->nr <= FEW_GAPS;
	uint64_t bytes = 0;
	size_t nr = 0;

	for (size_t i = 0; i < gaps->nr; i++) {
		struct code_range g = gaps->v[i];
		size_t start = first_start(starts, g.begin);

		if (g.end - g.begin < MIN_GAP && !is_few &&
		    (start == starts->nr || starts->v[start] >= g.end))
			continue;
		im->stats->gap_bytes += g.end - g.begin;
		if (bytes + (g.end - g.begin) > MAX_BYTES) {
			im->stats->left_out += g.end - g.begin;
			continue;
		}
		bytes += g.end - g.begin;
		gaps->v[nr++] = g;
	}
	gaps->nr = nr;
}

/* ---- frame pointers ---- */

/* push %rbp; mov %rsp,%rbp */
static bool keeps_frame_pointer(const uint8_t *p)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa },
			     gas[] = { 0x55, 0x48, 0x89, 0xe5 },
			     intel[] = { 0x55, 0x48, 0x8b, 0xec };

	p += memcmp(p, endbr, sizeof(endbr)) ? 0 : sizeof(endbr);
	return !memcmp(p, gas, sizeof(gas)) || !memcmp(p, intel, sizeof(intel));
}

/*
 * Counts aligned places that begin like functions with a frame, and how many of these keep the
 * frame pointer.
 */
static void count_prologues(const struct image *im, const uint8_t *p, size_t len, uint64_t vaddr,
			    unsigned *functions, unsigned *keeping)
{
	const struct code_rows_scope *scope = im->scope;
	struct code_input in = { .code = p, .len = len, .vaddr = vaddr };

	for (size_t i = 16 - vaddr % 16; i + 16 <= len; i += 16) {
		if (!code_is_prologue(&in, i, len) ||
		    (scope->is_covered && scope->is_covered(scope->ctx, vaddr + i)))
			continue;
		(*functions)++;
		*keeping += keeps_frame_pointer(p + i);
	}
}

/* Counts prologues in WINDOWS places, spread evenly over all ranges as if these were one. */
static void sample_ranges(const struct image *im, const struct ranges *r, uint64_t bytes,
			  unsigned *functions, unsigned *keeping)
{
	uint64_t step = bytes / WINDOWS, wanted = 0, passed = 0, offset, left;
	uint8_t buf[WINDOW_BYTES];

	for (size_t i = 0; i < r->nr; i++) {
		const struct code_range *g = &r->v[i];

		for (; wanted < passed + (g->end - g->begin); wanted += step) {
			uint64_t at = g->begin + (wanted - passed);
			size_t len = g->end - at < sizeof(buf) ? g->end - at : sizeof(buf);
			long n = -1;

			if (!elf_image_offset_of(im->img, at, &offset, &left))
				n = elf_image_pread(im->img, buf, len < left ? len : left, offset);
			if (n > 0)
				count_prologues(im, buf, (size_t)n, at, functions, keeping);
		}
		passed += g->end - g->begin;
	}
}

/*
 * Whether four of five functions of a sample keep the frame pointer. In code that does not keep it,
 * one function of twenty looks as if it did. This holds for the whole file, so its parts ask once.
 */
static bool keeps_frame_pointers(const struct image *im)
{
	struct elf_code *file = im->file;
	const struct ranges *r = im->scope->is_covered ? &file->code : &im->gaps;
	uint64_t bytes = bytes_of(r);
	unsigned functions = 0, keeping = 0;

	if (!file->has_decided && bytes >= LARGE) {
		sample_ranges(im, r, bytes, &functions, &keeping);
		file->keeps_frame_pointers = functions >= MIN_FUNCTIONS &&
					     keeping >= functions / 5 * 4;
	}
	file->has_decided = true;
	return file->keeps_frame_pointers;
}

/* Drops all but small gaps (stubs) of a file that keeps frame pointers. */
static void drop_frame_pointer_code(struct image *im)
{
	size_t nr = 0;

	if (bytes_of(&im->gaps) <= SMALL || !keeps_frame_pointers(im))
		return;
	for (size_t i = 0; i < im->gaps.nr; i++) {
		struct code_range g = im->gaps.v[i];

		if (g.end - g.begin > SMALL)
			im->stats->frame_pointer_bytes += g.end - g.begin;
		else
			im->gaps.v[nr++] = g;
	}
	im->gaps.nr = nr;
}

/* ---- reading ---- */

static bool is_in_window(const struct elf_code *file, uint64_t vaddr, size_t size)
{
	uint64_t at = vaddr - file->window_vaddr;

	return vaddr >= file->window_vaddr && at <= file->window_len &&
	       file->window_len - at >= size;
}

/* Tables of switches are a few bytes each, and .rodata may be larger than the code. */
static bool read_data(void *ctx, uint64_t vaddr, void *out, size_t size)
{
	struct elf_code *file = ctx;
	uint64_t at = vaddr - file->data.addr, left = file->data.size - at;
	long n;

	if (vaddr < file->data.addr || at > file->data.size || left < size)
		return false;
	if (!is_in_window(file, vaddr, size)) {
		n = elf_image_pread(file->img, file->window,
				    left < DATA_WINDOW ? left : DATA_WINDOW,
				    file->data.offset + at);
		file->window_vaddr = vaddr;
		file->window_len = n > 0 ? (size_t)n : 0;
	}
	if (!is_in_window(file, vaddr, size))
		return false;
	memcpy(out, file->window + (vaddr - file->window_vaddr), size);
	return true;
}

/* Gives in the stubs that lie within begin .. end - 1. */
static void choose_stubs(const struct image *im, uint64_t begin, uint64_t end,
			 struct code_input *in)
{
	const struct ranges *stubs = &im->file->stubs;

	in->stubs = stubs->v;
	for (size_t i = 0; i < stubs->nr; i++) {
		if (stubs->v[i].end <= begin)
			in->stubs = &stubs->v[i + 1];
		else if (stubs->v[i].begin >= begin && stubs->v[i].end <= end)
			in->nr_stubs++;
	}
}

/* Makes rows for gaps first .. last, which lie near each other. Unreadable gaps get no rows. */
static int read_gaps(struct image *im, size_t first, size_t last, struct cfi_rows *out)
{
	uint64_t begin = im->gaps.v[first].begin, end = im->gaps.v[last].end, offset, left;
	struct elf_code *file = im->file;
	struct code_input in = {
		.len = end - begin,
		.vaddr = begin,
		.read_data = read_data,
		.data_ctx = file,
		.gaps = &im->gaps.v[first],
		.nr_gaps = last - first + 1,
		.starts = file->symbols.starts.v,
		.nr_starts = file->symbols.starts.nr,
		.noreturn = file->symbols.noreturn.v,
		.nr_noreturn = file->symbols.noreturn.nr,
		.entry = file->entry,
		.tried = im->scope->tried,
		.unwanted = im->img->unwanted,
	};
	void *code;
	int err;

	assert(first <= last && last < im->gaps.nr);
	if (elf_image_offset_of(im->img, begin, &offset, &left) || left < end - begin)
		return 0;
	err = elf_image_read(im->img, offset, end - begin, MAX_BYTES, &code);
	if (err)
		return err == -ENOMEM ? err : 0;
	in.code = code;
	choose_stubs(im, begin, end, &in);
	err = code_rows_build(&in, out, &im->stats->code);
	free(code);
	return err == -ENOMEM || err == -ECANCELED ? err : 0;
}

static int read_all(struct image *im, struct cfi_rows *out)
{
	const struct code_range *v = im->gaps.v;
	size_t first = 0;
	int err = 0;

	for (size_t i = 0; i < im->gaps.nr && !err; i++) {
		bool ends = i + 1 == im->gaps.nr || v[i + 1].begin - v[i].end > NEAR ||
			    v[i + 1].end - v[first].begin > MAX_BYTES;

		if (!ends)
			continue;
		err = read_gaps(im, first, i, out);
		first = i + 1;
	}
	return err;
}

static bool deserves_symbols(const struct image *im)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < im->gaps.nr && bytes < FEW; i++)
		if (im->gaps.v[i].end - im->gaps.v[i].begin >= MIN_GAP)
			bytes += im->gaps.v[i].end - im->gaps.v[i].begin;
	return bytes >= FEW;
}

int elf_code_open(struct elf_image *img, struct elf_code **fp)
{
	struct elf_code *file = calloc(1, sizeof(*file));
	int err = file ? 0 : -ENOMEM;

	if (file)
		file->img = img;
	if (file && img->is64 && img->machine == EM_X86_64)
		err = find_code(file);
	if (file && !err && elf_image_section(img, ".rodata", &file->data))
		file->data.size = 0;
	if (err)
		elf_code_close(file);
	else
		*fp = file;
	return err;
}

void elf_code_close(struct elf_code *file)
{
	if (!file)
		return;
	code_symbols_release(&file->symbols);
	free(file->code.v);
	free(file->stubs.v);
	free(file);
}

/* Reads what all parts have in common, if this one has gaps. */
static int read_common(const struct image *im)
{
	struct elf_code *file = im->file;
	int err = 0;

	if (!file->has_symbols && deserves_symbols(im)) {
		err = code_symbols_read(im->img, &file->symbols);
		file->has_symbols = true;
		file->has_starts = false;
	}
	if (!err && !file->has_starts && im->gaps.nr)
		err = add_known_starts(file, im->scope);
	if (!err && !file->has_stubs && im->gaps.nr)
		err = find_stubs(file);
	return err;
}

int code_rows_add(struct elf_code *file, const struct cfi_rows *known,
		  const struct code_rows_scope *scope, struct cfi_rows *out,
		  struct elf_code_rows_stats *stats)
{
	struct image im = { .file = file, .img = file->img, .scope = scope, .stats = stats };
	int err;

	memset(stats, 0, sizeof(*stats));
	err = find_gaps(&im, known);
	if (!err && im.gaps.nr)
		drop_frame_pointer_code(&im);
	if (!err)
		err = read_common(&im);
	if (!err)
		choose_gaps(&im);
	if (!err && im.gaps.nr)
		err = read_all(&im, out);
	if (err)
		cfi_rows_release(out);
	free(im.gaps.v);
	return err;
}

int code_rows_from_image(struct elf_image *img, const struct cfi_rows *known,
			 const struct code_rows_scope *scope, struct cfi_rows *out,
			 struct elf_code_rows_stats *stats)
{
	struct elf_code *file;
	int err = elf_code_open(img, &file);

	memset(stats, 0, sizeof(*stats));
	if (err)
		return err;
	err = code_rows_add(file, known, scope, out, stats);
	elf_code_close(file);
	return err;
}
