/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table begins with a magic number of its version. The start of the text is in the table's
 * header up to Go 1.24, in programs that need no relocation. Otherwise it is in the runtime's
 * struct moduledata (runtime/symtab.go), whose first words are the same since Go 1.16:
 *
 *	word 0		the table's address
 *	word 1 on	five slices (address, length, capacity)
 *	word 16		the slice of functions
 *	word 19 on	three other words
 *	word 22		the start of the text
 *	word 38, 40	the start of what belongs to functions, in Go 1.18 and since Go 1.20
 *
 * In a position-independent program the linker may leave these words 0 and write relocations
 * instead.
 */
#include "src/elf/go_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"

#define MAX_TABLE (256ull << 20)
#define MAX_DATA (256ull << 20)
#define MAX_SECTIONS 4096
#define MAX_RELOCATIONS (64ull << 20)
#define MAGIC_1_2 0xfffffffbu
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

#define HEADER_BYTES 72
#define MODULE_FUNCTIONS 17	/* words of moduledata */
#define MODULE_TEXT 22
#define MODULE_GOFUNC_1_18 38
#define MODULE_GOFUNC_1_20 40
#define MODULE_WORDS 41

struct header {
	uint32_t magic;
	uint64_t nr, text;
};

static bool has_offsets(uint32_t magic)
{
	return magic == MAGIC_1_18 || magic == MAGIC_1_20;
}

/* Reads a header of HEADER_BYTES; false: it is none. left: bytes up to the end of the segment. */
static bool read_header(const uint8_t *bytes, uint64_t left, struct header *out)
{
	struct byte_reader r = br_make(bytes, HEADER_BYTES);
	uint64_t names, functions;

	out->magic = br_u32(&r);
	if (br_u16(&r) ||
	    (out->magic != MAGIC_1_2 && out->magic != MAGIC_1_16 && !has_offsets(out->magic)))
		return false;
	br_u8(&r);
	if (br_u8(&r) != 8)
		return false;
	out->nr = br_u64(&r);
	if (!out->nr || out->nr > left / 8)
		return false;
	if (out->magic == MAGIC_1_2)
		return true;
	br_u64(&r);
	out->text = has_offsets(out->magic) ? br_u64(&r) : 0;
	names = br_u64(&r);
	br_bytes(&r, 24);
	functions = br_u64(&r);
	return names < functions && functions < left;
}

/* Finds the first table in these bytes. */
static bool scan(const uint8_t *bytes, uint64_t size, uint64_t *at)
{
	struct header h;

	for (*at = 0; size >= HEADER_BYTES && *at <= size - HEADER_BYTES; *at += 8) {
		if (read_header(bytes + *at, size - *at, &h))
			return true;
	}
	return false;
}

static bool is_go(struct elf_image *img)
{
	struct elf_section s;

	return elf_image_section_at(img, 1, &s) || !elf_image_section(img, ".go.buildinfo", &s) ||
	       !elf_image_section(img, ".note.go.buildid", &s);
}

/*
 * Searches all segments that are not code: a table without its own section may lie among the data
 * that relocations change, or among any other.
 */
static int search(struct elf_image *img, struct go_image *out)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *seg = &img->segments[i];
		uint64_t at;
		void *bytes;
		bool found;

		if (seg->exec || elf_image_read(img, seg->offset, seg->filesz, MAX_DATA, &bytes))
			continue;
		found = scan(bytes, seg->filesz, &at);
		free(bytes);
		if (found) {
			*out = (struct go_image){ .vaddr = seg->vaddr + at,
						  .offset = seg->offset + at,
						  .size = seg->filesz - at };
			return 0;
		}
	}
	return -ENOENT;
}

static int find_table(struct elf_image *img, struct go_image *out)
{
	struct elf_section s;

	if (elf_image_section(img, ".gopclntab", &s) &&
	    elf_image_section(img, ".data.rel.ro.gopclntab", &s))
		return is_go(img) ? search(img, out) : -ENOENT;
	*out = (struct go_image){ .vaddr = s.addr, .offset = s.offset, .size = s.size };
	return 0;
}

static bool read_words(struct elf_image *img, uint64_t vaddr, uint64_t *words, size_t nr)
{
	uint64_t offset, left;

	return !elf_image_offset_of(img, vaddr, &offset, &left) && left >= nr * 8 &&
	       elf_image_pread(img, words, nr * 8, offset) == (long)(nr * 8);
}

/* A section of relocations. */
struct relocations {
	Elf64_Rela *v;
	size_t nr;
};

static bool is_relative(const struct elf_image *img, const Elf64_Rela *r)
{
	return ELF64_R_TYPE(r->r_info) ==
	       (img->machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE);
}

/* Calls fn for each section of relocations until it returns something other than -ENOENT. */
static int each_relocations(struct elf_image *img,
			    int (*fn)(struct elf_image *, const struct relocations *, void *),
			    void *ctx)
{
	struct elf_section s;
	int err = -ENOENT;

	for (uint32_t i = 1;
	     err == -ENOENT && i < MAX_SECTIONS && !elf_image_section_at(img, i, &s); i++) {
		struct relocations rel = { .nr = s.size / sizeof(*rel.v) };
		void *bytes;

		if (s.type != SHT_RELA || !(s.flags & SHF_ALLOC) ||
		    elf_image_read(img, s.offset, s.size, MAX_RELOCATIONS, &bytes))
			continue;
		rel.v = bytes;
		err = fn(img, &rel, ctx);
		free(bytes);
	}
	return err;
}

/* A word of moduledata that is searched for. */
struct module {
	const struct go_image *go;
	uint64_t nr;			/* functions */
	size_t word;
	uint64_t value;			/* found */
};

static bool counts_match(const struct module *m, const uint64_t *words)
{
	return words[MODULE_FUNCTIONS] - m->nr <= 1;	/* newer versions count the end too */
}

static int word_by_relocation(struct elf_image *img, const struct relocations *rel, void *ctx)
{
	struct module *m = ctx;
	uint64_t words[MODULE_WORDS], at = 0;

	for (size_t i = 0; i < rel->nr && !at; i++) {
		if (is_relative(img, &rel->v[i]) && (uint64_t)rel->v[i].r_addend == m->go->vaddr &&
		    read_words(img, rel->v[i].r_offset, words, MODULE_WORDS) &&
		    counts_match(m, words))
			at = rel->v[i].r_offset;
	}
	for (size_t i = 0; i < rel->nr && at; i++) {
		if (is_relative(img, &rel->v[i]) && rel->v[i].r_offset == at + 8 * m->word) {
			m->value = (uint64_t)rel->v[i].r_addend;
			return 0;
		}
	}
	return -ENOENT;
}

/* Finds moduledata by its contents, in a program whose linker filled it in. */
static int word_in_data(struct elf_image *img, struct module *m)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *seg = &img->segments[i];
		const uint64_t *words;
		uint64_t nr = seg->filesz / 8;
		void *bytes;

		if (seg->exec || elf_image_read(img, seg->offset, seg->filesz, MAX_DATA, &bytes))
			continue;
		words = bytes;
		for (uint64_t k = 0; nr >= MODULE_WORDS && k <= nr - MODULE_WORDS && !m->value;
		     k++) {
			if (words[k] == m->go->vaddr && counts_match(m, words + k))
				m->value = words[k + m->word];
		}
		free(bytes);
		if (m->value)
			return 0;
	}
	return -ENOENT;
}

static int module_word(struct elf_image *img, struct module *m)
{
	int err = word_in_data(img, m);

	return err ? each_relocations(img, word_by_relocation, m) : 0;
}

static int header_at(struct elf_image *img, const struct go_image *go, struct header *h)
{
	uint8_t bytes[HEADER_BYTES];

	if (elf_image_pread(img, bytes, sizeof(bytes), go->offset) != (long)sizeof(bytes) ||
	    !read_header(bytes, go->size, h))
		return -ENOENT;
	return 0;
}

int go_image_find(struct elf_image *img, struct go_image *out)
{
	struct module m = { .go = out, .word = MODULE_TEXT };
	struct header h;
	int err;

	if (!img->is64)
		return -ENOENT;
	err = find_table(img, out);
	if (!err)
		err = header_at(img, out, &h);
	if (err)
		return err;
	out->size = out->size > MAX_TABLE ? MAX_TABLE : out->size;
	out->text_vaddr = h.text;
	if (!has_offsets(h.magic) || h.text)
		return 0;
	m.nr = h.nr;
	err = module_word(img, &m);
	out->text_vaddr = m.value;
	return err;
}

int go_image_gofunc(struct elf_image *img, const struct go_image *go, uint64_t *vaddr)
{
	struct module m = { .go = go };
	struct header h;
	int err = header_at(img, go, &h);

	if (err || !has_offsets(h.magic))
		return -ENOENT;
	m.nr = h.nr;
	m.word = h.magic == MAGIC_1_18 ? MODULE_GOFUNC_1_18 : MODULE_GOFUNC_1_20;
	err = module_word(img, &m);
	*vaddr = m.value;
	return err;
}
