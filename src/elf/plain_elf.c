/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf/plain_elf.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "src/elf/packed_section.h"

#define PAGE 4096ull
#define MAX_UNPACKED (1ull << 30)	/* bytes of all sections */
#define MAX_SECTIONS (1u << 18)
#define MAX_NAMES (64u << 20)
#define NAME_BYTES 64			/* of a section that was called .zdebug_* */
#define ALIGN 16ull

struct plain_elf {
	Elf *elf;
	uint8_t *image;			/* NULL: libelf has mapped the file */
	size_t file_len, own, len;	/* of the image: from own on it is memory of this process */
	uint32_t unknown_packing;
};

/* A section of the image. */
struct part {
	GElf_Shdr sh;			/* as it will be in the image */
	uint64_t from, size;		/* where it is in the file, if it is unpacked */
	struct packed_section packed;	/* type 0: it is not compressed */
	char name[NAME_BYTES];		/* another one than it had; "": the same */
};

struct plan {
	struct part *v;
	size_t nr, nr_packed, names;	/* names: number of the section that they are in */
	uint64_t names_from, names_len;
	bool is64;
	enum plain_what what;
};

/* ---- what the file has ---- */

/*
 * What no reader of debug information asks for here (libdw does not know of it), though it may be a
 * third of all.
 */
static bool is_wanted(const char *name, enum plain_what what)
{
	static const char *const unread[] = {
		"loc", "loclists", "macro", "macinfo", "aranges", "names", "pubnames", "pubtypes",
		"gnu_pubnames", "gnu_pubtypes",
	};
	size_t len = strlen(name);

	if (strncmp(name, ".debug_", 7))
		return true;
	if (what == PLAIN_NAMES)
		return false;
	name += 7;
	len -= 7;
	if (len > 4 && !strcmp(name + len - 4, ".dwo"))
		len -= 4;
	for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++)
		if (strlen(unread[i]) == len && !strncmp(name, unread[i], len))
			return false;
	return true;
}

static void leave_out(struct part *t)
{
	t->packed.type = 0;
	t->sh.sh_type = SHT_NOBITS;
	t->sh.sh_size = 0;
}

/* bytes, len: the file. */
static void plan_section(struct plain_elf *p, struct plan *plan, struct part *t, const char *name,
			 const uint8_t *bytes, size_t len)
{
	char buf[NAME_BYTES];
	const char *plain = name ? packed_section_plain_name(name, buf, sizeof(buf)) : "";
	enum packed_form form;
	int err = -EBADMSG;

	t->from = t->sh.sh_offset;
	t->size = t->sh.sh_size;
	if (t->sh.sh_type == SHT_NOBITS ||
	    !packed_section_form(t->sh.sh_flags, name, plan->is64, &form))
		return;
	plan->nr_packed++;
	t->sh.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	if (plain != name)
		snprintf(t->name, sizeof(t->name), "%s", plain);
	if (t->from <= len && t->size <= len - t->from)
		err = packed_section_read(bytes + t->from, t->size, form, &t->packed);
	if (err == -ENOTSUP)
		p->unknown_packing = t->packed.type;
	if (err || !is_wanted(plain, plan->what))
		leave_out(t);
}

static int plan_sections(struct plain_elf *p, struct plan *plan)
{
	size_t len = 0, names = 0, nr = 0;
	const char *bytes = elf_rawfile(p->elf, &len), *ident = elf_getident(p->elf, NULL);

	if (!bytes || !ident || elf_getshdrnum(p->elf, &nr) || nr > MAX_SECTIONS)
		return nr > MAX_SECTIONS ? -EFBIG : -EBADMSG;
	plan->is64 = ident[EI_CLASS] == ELFCLASS64;
	if (ident[EI_DATA] != ELFDATA2LSB || (nr && elf_getshdrstrndx(p->elf, &names)))
		nr = 0;			/* libelf reads it as it can */
	plan->v = calloc(nr + 1, sizeof(*plan->v));
	if (!plan->v)
		return -ENOMEM;
	plan->nr = nr;
	plan->names = names;
	for (size_t i = 0; i < nr; i++) {
		Elf_Scn *scn = elf_getscn(p->elf, i);
		struct part *t = &plan->v[i];

		if (!scn || !gelf_getshdr(scn, &t->sh))
			return -EBADMSG;
		plan_section(p, plan, t, elf_strptr(p->elf, names, t->sh.sh_name),
			     (const uint8_t *)bytes, len);
	}
	return 0;
}

/* ---- where it will be ---- */

static uint64_t take(uint64_t *at, uint64_t size, uint64_t align)
{
	uint64_t begin = (*at + align - 1) & ~(align - 1);

	*at = begin + size;
	return begin;
}

/* Names that have changed stand behind those that were there. */
static int place_names(const struct plain_elf *p, struct plan *plan, uint64_t *at)
{
	struct part *names = &plan->v[plan->names];
	uint64_t size;

	if (plan->names >= plan->nr || names->packed.type || names->size > MAX_NAMES ||
	    names->from > p->file_len || names->size > p->file_len - names->from)
		return -EBADMSG;
	plan->names_from = names->from;
	plan->names_len = size = names->size;
	for (size_t i = 0; i < plan->nr; i++) {
		struct part *t = &plan->v[i];

		if (!t->name[0])
			continue;
		t->sh.sh_name = (GElf_Word)(size + 1);
		size += strlen(t->name) + 2;	/* what is before it may lack its end */
	}
	names->sh.sh_offset = take(at, size, ALIGN);
	names->sh.sh_size = size;
	return 0;
}

/* *table: where the section headers will be. */
static int place(struct plain_elf *p, struct plan *plan, uint64_t *table)
{
	uint64_t at = p->own, total = 0, align;
	int err = plan->nr_packed ? place_names(p, plan, &at) : 0;

	if (err)
		return err;
	*table = take(&at, plan->nr * (plan->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)),
		      ALIGN);
	for (size_t i = 0; i < plan->nr; i++) {
		struct part *t = &plan->v[i];

		if (!t->packed.type)
			continue;
		if (t->packed.size > MAX_UNPACKED - total)
			return -EFBIG;
		total += t->packed.size;
		align = t->packed.align > ALIGN ? t->packed.align : ALIGN;
		t->sh.sh_offset = take(&at, t->packed.size, align);
		t->sh.sh_size = t->packed.size;
		t->sh.sh_addralign = t->packed.align;
	}
	p->len = take(&at, 0, PAGE);
	return 0;
}

/* ---- the image ---- */

static int map_over(uint8_t *to, size_t len, int prot, int flags, int fd)
{
	return mmap(to, len, prot, MAP_PRIVATE | MAP_FIXED | flags, fd, 0) == MAP_FAILED ? -errno
											 : 0;
}

/* The first page is a copy, because its header will be another one. */
static int map(struct plain_elf *p, int fd)
{
	uint8_t first[PAGE];
	int err;

	p->image = mmap(NULL, p->len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->image == MAP_FAILED) {
		p->image = NULL;
		return -ENOMEM;
	}
	err = map_over(p->image, p->file_len, PROT_READ, 0, fd);
	if (!err)
		err = map_over(p->image + p->own, p->len - p->own, PROT_READ | PROT_WRITE,
			       MAP_ANONYMOUS, -1);
	if (err)
		return err;
	memcpy(first, p->image, p->file_len < PAGE ? p->file_len : PAGE);
	err = map_over(p->image, PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
	if (!err)
		memcpy(p->image, first, p->file_len < PAGE ? p->file_len : PAGE);
	return err;
}

static void write_names(struct plain_elf *p, const struct plan *plan)
{
	char *names = (char *)p->image + plan->v[plan->names].sh.sh_offset;

	memcpy(names, p->image + plan->names_from, plan->names_len);
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->v[i].name[0])
			strcpy(names + plan->v[i].sh.sh_name, plan->v[i].name);
}

static void put_header(uint8_t *to, size_t i, bool is64, const GElf_Shdr *sh)
{
	if (is64) {
		((Elf64_Shdr *)(void *)to)[i] = *sh;
		return;
	}
	((Elf32_Shdr *)(void *)to)[i] = (Elf32_Shdr){
		.sh_name = sh->sh_name,
		.sh_type = sh->sh_type,
		.sh_flags = (Elf32_Word)sh->sh_flags,
		.sh_addr = (Elf32_Addr)sh->sh_addr,
		.sh_offset = (Elf32_Off)sh->sh_offset,
		.sh_size = (Elf32_Word)sh->sh_size,
		.sh_link = sh->sh_link,
		.sh_info = sh->sh_info,
		.sh_addralign = (Elf32_Word)sh->sh_addralign,
		.sh_entsize = (Elf32_Word)sh->sh_entsize,
	};
}

static void unpack(struct plain_elf *p, struct part *t)
{
	if (!t->packed.type)
		return;
	if (packed_section_unpack(&t->packed, p->image + t->from, t->size,
				  p->image + t->sh.sh_offset))
		leave_out(t);
}

static void fill(struct plain_elf *p, struct plan *plan, uint64_t table)
{
	Elf64_Ehdr *e64 = (Elf64_Ehdr *)(void *)p->image;
	Elf32_Ehdr *e32 = (Elf32_Ehdr *)(void *)p->image;

	if (!plan->nr_packed)
		return;
	write_names(p, plan);
	for (size_t i = 0; i < plan->nr; i++) {
		unpack(p, &plan->v[i]);
		put_header(p->image + table, i, plan->is64, &plan->v[i].sh);
	}
	if (plan->is64)
		e64->e_shoff = table;
	else
		e32->e_shoff = (Elf32_Off)table;
}

static int make_image(struct plain_elf *p, int fd, struct plan *plan)
{
	uint64_t table;
	int err = place(p, plan, &table);

	if (!err)
		err = map(p, fd);
	if (err)
		return err;
	fill(p, plan, table);
	elf_end(p->elf);
	p->elf = elf_memory((char *)p->image, p->len);
	return p->elf ? 0 : -EBADMSG;
}

static int open_file(struct plain_elf *p, int fd)
{
	struct stat st;

	elf_version(EV_CURRENT);
	p->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!p->elf || elf_kind(p->elf) != ELF_K_ELF || fstat(fd, &st) || st.st_size <= 0)
		return -ENOEXEC;
	p->file_len = (size_t)st.st_size;
	p->own = (p->file_len + PAGE - 1) & ~(PAGE - 1);
	return 0;
}

int plain_elf_open(int fd, enum plain_what what, struct plain_elf **pp)
{
	struct plain_elf *p = calloc(1, sizeof(*p));
	struct plan plan = { .what = what };
	int err = p ? open_file(p, fd) : -ENOMEM;

	if (!err)
		err = plan_sections(p, &plan);
	if (!err && plan.nr_packed)
		err = make_image(p, fd, &plan);
	free(plan.v);
	if (err)
		plain_elf_close(p);
	else
		*pp = p;
	return err;
}

Elf *plain_elf_get(const struct plain_elf *p)
{
	return p->elf;
}

uint32_t plain_elf_unknown_packing(const struct plain_elf *p)
{
	return p->unknown_packing;
}

void plain_elf_rest(const struct plain_elf *p)
{
	size_t len = 0;
	char *file = p->image ? (char *)p->image + PAGE : elf_rawfile(p->elf, &len);

	if (p->image)
		len = p->file_len > PAGE ? p->file_len - PAGE : 0;
	if (len && file && !((uintptr_t)file & (PAGE - 1)))
		madvise(file, len, MADV_DONTNEED);
}

size_t plain_elf_bytes(const struct plain_elf *p)
{
	return p->image ? p->len - p->own : 0;
}

void plain_elf_close(struct plain_elf *p)
{
	if (!p)
		return;
	elf_end(p->elf);
	if (p->image)
		munmap(p->image, p->len);
	free(p);
}
