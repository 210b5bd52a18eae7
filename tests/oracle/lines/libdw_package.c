/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/oracle/lines/libdw_package.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/bytes.h"

#define PAGE 4096ull
#define MAX_COLUMNS 16
#define MAX_INFOS 4096
#define TABLE_BYTES (4 * PAGE)		/* room for section headers and their names */

/* Kinds of sections in an index, by their number there, which is another one in version 2. */
struct part_kind {
	const char *name;
	uint8_t v2, v5;
};

static const struct part_kind kinds[] = {
	{ ".debug_info.dwo", 1, 1 },	    { ".debug_abbrev.dwo", 3, 3 },
	{ ".debug_line.dwo", 4, 4 },	    { ".debug_str_offsets.dwo", 6, 6 },
	{ ".debug_rnglists.dwo", 0, 8 },    { ".debug_str.dwo", 0, 0 },	/* of all units */
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct part {
	uint64_t offset, size;
};

struct libdw_package {
	char *image;			/* a copy of the file, with room at its end */
	size_t len;
	struct part whole[KINDS];	/* the sections of the package */
	struct byte_reader index;	/* .debug_cu_index; nothing: a .dwo file or an object file */
	struct part infos[MAX_INFOS];
	unsigned nr_infos;
};

/* ---- opening ---- */

static int kind_of(const char *name)
{
	for (size_t i = 0; name && i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return (int)i;
	return -1;
}

static void read_section(struct libdw_package *p, const GElf_Shdr *sh, const char *name)
{
	int kind = kind_of(name);

	if (sh->sh_type == SHT_NOBITS || sh->sh_offset > p->len ||
	    sh->sh_size > p->len - sh->sh_offset)
		return;
	if (!kind && p->nr_infos < MAX_INFOS)
		p->infos[p->nr_infos++] = (struct part){ sh->sh_offset, sh->sh_size };
	if (kind >= 0)
		p->whole[kind] = (struct part){ sh->sh_offset, sh->sh_size };
	else if (name && !strcmp(name, ".debug_cu_index"))
		p->index = br_make(p->image + sh->sh_offset, sh->sh_size);
}

/* Its sections must not be compressed. */
static int read_image(struct libdw_package *p, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || (size_t)st.st_size < sizeof(Elf64_Ehdr))
		return -EBADMSG;
	p->len = ((size_t)st.st_size + PAGE - 1) / PAGE * PAGE + TABLE_BYTES;
	p->image = calloc(1, p->len);
	return p->image && pread(fd, p->image, (size_t)st.st_size, 0) == st.st_size ? 0 : -EIO;
}

static int read_sections(struct libdw_package *p)
{
	Elf *elf = elf_memory(p->image, p->len - TABLE_BYTES);
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return -EBADMSG;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh))
			read_section(p, &sh, elf_strptr(elf, names, sh.sh_name));
	}
	elf_end(elf);
	return 0;
}

int libdw_package_open(int fd, struct libdw_package **pp)
{
	struct libdw_package *p = calloc(1, sizeof(*p));
	int err = p ? read_image(p, fd) : -ENOMEM;

	if (!err)
		err = read_sections(p);
	if (err)
		libdw_package_close(p);
	else
		*pp = p;
	return err;
}

void libdw_package_close(struct libdw_package *p)
{
	if (!p)
		return;
	free(p->image);
	free(p);
}

/* ---- the index ---- */

struct header {
	uint32_t version, columns, units, slots;
};

static bool read_header(struct byte_reader *r, struct header *h)
{
	h->version = br_u32(r) & 0xffff;	/* of version 5 it is half as long */
	h->columns = br_u32(r);
	h->units = br_u32(r);
	h->slots = br_u32(r);
	return !r->bad && (h->version == 2 || h->version == 5) && h->columns &&
	       h->columns <= MAX_COLUMNS && h->slots && !(h->slots & (h->slots - 1)) &&
	       h->slots <= br_left(r) / 12;
}

static uint32_t u32_at(struct byte_reader r, uint64_t at)
{
	br_bytes(&r, at * 4);
	return br_u32(&r);
}

static uint64_t u64_at(struct byte_reader r, uint64_t at)
{
	br_bytes(&r, at * 8);
	return br_u64(&r);
}

/* The row of a unit, from 1 on, by the hash table of ids; 0: there is none. */
static uint32_t find_row(const struct header *h, struct byte_reader ids, struct byte_reader rows,
			 uint64_t id)
{
	uint32_t mask = h->slots - 1, at = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t i = 0; i < h->slots; i++, at = (at + step) & mask) {
		uint32_t row = u32_at(rows, at);

		if (!row)
			return 0;
		if (u64_at(ids, at) == id)
			return row <= h->units ? row : 0;
	}
	return 0;
}

static void put_part(const struct libdw_package *p, const struct header *h, uint32_t section,
		     const struct part *in, struct part v[KINDS])
{
	for (size_t i = 0; i < KINDS; i++) {
		const struct part *w = &p->whole[i];

		if (!section || section != (h->version == 5 ? kinds[i].v5 : kinds[i].v2) ||
		    in->offset > w->size || in->size > w->size - in->offset)
			continue;
		v[i] = (struct part){ w->offset + in->offset, in->size };
	}
}

static bool find_parts(const struct libdw_package *p, uint64_t id, unsigned nth, struct part v[KINDS])
{
	struct byte_reader r = p->index, ids, rows;
	struct header h;
	uint32_t row;

	if (!p->index.p) {
		memcpy(v, p->whole, sizeof(p->whole));
		if (nth < p->nr_infos)
			v[0] = p->infos[nth];
		return nth < p->nr_infos;
	}
	if (!read_header(&r, &h))
		return false;
	ids = br_sub(&r, (uint64_t)h.slots * 8);
	rows = br_sub(&r, (uint64_t)h.slots * 4);
	row = find_row(&h, ids, rows, id);
	if (!row)
		return false;
	for (uint32_t i = 0; i < h.columns; i++) {
		uint64_t size_at = (uint64_t)h.columns * (h.units + row) + i;
		const struct part in = { u32_at(r, (uint64_t)h.columns * row + i),
					 u32_at(r, size_at) };

		put_part(p, &h, u32_at(r, i), &in, v);
	}
	v[KINDS - 1] = p->whole[KINDS - 1];
	return v[0].size != 0;
}

/* ---- the image ---- */

static uint32_t put_name(char *names, uint32_t *at, const char *name)
{
	uint32_t begin = *at;

	memcpy(names + begin, name, strlen(name) + 1);
	*at += (uint32_t)strlen(name) + 1;
	return begin;
}

Elf *libdw_package_elf(struct libdw_package *p, uint64_t id, unsigned nth)
{
	size_t tail = p->len - TABLE_BYTES;
	Elf64_Shdr *sh = (Elf64_Shdr *)(void *)(p->image + tail);
	char *names = p->image + tail + PAGE;
	Elf64_Ehdr *eh = (Elf64_Ehdr *)(void *)p->image;
	struct part v[KINDS] = { 0 };
	uint32_t at = 1;

	if (!find_parts(p, id, nth, v))
		return NULL;
	memset(sh, 0, TABLE_BYTES);
	for (size_t i = 0; i < KINDS; i++)
		sh[i + 1] = (Elf64_Shdr){ .sh_name = put_name(names, &at, kinds[i].name),
					  .sh_type = SHT_PROGBITS, .sh_offset = v[i].offset,
					  .sh_size = v[i].size, .sh_addralign = 1 };
	sh[KINDS + 1] = (Elf64_Shdr){ .sh_name = put_name(names, &at, ".shstrtab"),
				      .sh_type = SHT_STRTAB, .sh_offset = tail + PAGE,
				      .sh_addralign = 1 };
	sh[KINDS + 1].sh_size = at;
	eh->e_shoff = tail;
	eh->e_shnum = KINDS + 2;
	eh->e_shstrndx = KINDS + 1;
	eh->e_shentsize = sizeof(*sh);
	return elf_memory(p->image, p->len);
}
