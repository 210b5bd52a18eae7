/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file of sections that are compressed in any way, for tests of who reads them. Its code is at 0x1000.
 *
 *	packed_begin(&f, is64)
 *	packed_add(&f, ".debug_info", HOW_ZSTD, bytes, len)	sections from 1 on
 *	packed_end(&f)						f.b is the file
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "src/base/bytes.h"

enum packed_how { HOW_PLAIN, HOW_ZLIB, HOW_ZSTD, HOW_GNU, HOW_TWO_STREAMS, HOW_UNKNOWN, HOWS };

#define PACKED_UNKNOWN_TYPE 77
#define PACKED_MAX_SECTIONS 16

struct packed_file {
	bool is64;
	struct byte_buf b, names;
	Elf64_Shdr sh[PACKED_MAX_SECTIONS];
	unsigned nr;
};

static inline void packed_begin(struct packed_file *f, bool is64)
{
	static const char heads[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)];

	memset(f, 0, sizeof(*f));
	f->is64 = is64;
	f->nr = 1;
	bb_bytes(&f->b, heads, sizeof(heads));
	bb_bytes(&f->names, "", 1);
}

static inline void packed_stream(struct byte_buf *to, enum packed_how how, const void *bytes, size_t len)
{
	size_t cap = compressBound(len) + ZSTD_compressBound(len);
	Bytef *out = malloc(cap);
	uLongf n = cap;

	if (how == HOW_ZSTD)
		n = ZSTD_compress(out, cap, bytes, len, 3);
	else if (how == HOW_UNKNOWN)
		memset(out, 0x5a, n = 8);
	else
		compress2(out, &n, bytes, len, 6);
	bb_bytes(to, out, n);
	free(out);
}

static inline void packed_head(struct packed_file *f, enum packed_how how, size_t len)
{
	uint32_t type = how == HOW_ZSTD ? 2 : how == HOW_UNKNOWN ? PACKED_UNKNOWN_TYPE : ELFCOMPRESS_ZLIB;
	Elf64_Chdr c64 = { .ch_type = type, .ch_size = len, .ch_addralign = 8 };
	Elf32_Chdr c32 = { type, (Elf32_Word)len, 8 };
	uint64_t size = __builtin_bswap64(len);

	if (how == HOW_GNU) {
		bb_bytes(&f->b, "ZLIB", 4);
		bb_bytes(&f->b, &size, sizeof(size));
	} else if (f->is64) {
		bb_bytes(&f->b, &c64, sizeof(c64));
	} else {
		bb_bytes(&f->b, &c32, sizeof(c32));
	}
}

static inline Elf64_Shdr *packed_add(struct packed_file *f, const char *name, enum packed_how how,
				     const void *bytes, size_t len)
{
	Elf64_Shdr *sh = &f->sh[f->nr++];
	size_t half = how == HOW_TWO_STREAMS ? len / 2 : 0;

	*sh = (Elf64_Shdr){ .sh_name = (Elf64_Word)f->names.nr, .sh_type = SHT_PROGBITS,
			    .sh_offset = f->b.nr, .sh_addralign = 1 };
	if (how != HOW_PLAIN && how != HOW_GNU)
		sh->sh_flags = SHF_COMPRESSED;
	bb_bytes(&f->names, name, strlen(name) + 1);
	if (how != HOW_PLAIN)
		packed_head(f, how, len);
	if (half)
		packed_stream(&f->b, how, bytes, half);
	if (how != HOW_PLAIN)
		packed_stream(&f->b, how, (const char *)bytes + half, len - half);
	else
		bb_bytes(&f->b, bytes, len);
	sh->sh_size = f->b.nr - sh->sh_offset;
	return sh;
}

static inline void packed_put_sections(struct packed_file *f)
{
	for (unsigned i = 0; i < f->nr; i++) {
		const Elf64_Shdr *s = &f->sh[i];
		const Elf32_Shdr narrow = {
			s->sh_name, s->sh_type, (Elf32_Word)s->sh_flags, (Elf32_Addr)s->sh_addr,
			(Elf32_Off)s->sh_offset, (Elf32_Word)s->sh_size, s->sh_link, s->sh_info,
			(Elf32_Word)s->sh_addralign, (Elf32_Word)s->sh_entsize,
		};

		if (f->is64)
			bb_bytes(&f->b, s, sizeof(*s));
		else
			bb_bytes(&f->b, &narrow, sizeof(narrow));
	}
}

static inline void packed_end(struct packed_file *f)
{
	Elf64_Ehdr e64 = { .e_ident = ELFMAG, .e_type = ET_DYN, .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT, .e_ehsize = sizeof(e64),
			   .e_shentsize = sizeof(Elf64_Shdr) };
	Elf32_Ehdr e32 = { .e_ident = ELFMAG, .e_type = ET_DYN, .e_machine = EM_386,
			   .e_version = EV_CURRENT, .e_ehsize = sizeof(e32),
			   .e_shentsize = sizeof(Elf32_Shdr) };

	const Elf64_Phdr ph64 = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000,
				  .p_memsz = 0x1000 };
	const Elf32_Phdr ph32 = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000,
				  .p_memsz = 0x1000 };

	f->sh[f->nr].sh_name = (Elf64_Word)f->names.nr;
	bb_bytes(&f->names, ".shstrtab", 10);
	f->sh[f->nr].sh_type = SHT_STRTAB;
	f->sh[f->nr].sh_offset = f->b.nr;
	f->sh[f->nr++].sh_size = f->names.nr;
	bb_bytes(&f->b, f->names.v, f->names.nr);
	while (f->b.nr % 8)
		bb_bytes(&f->b, "", 1);
	e64.e_ident[EI_CLASS] = ELFCLASS64;
	e32.e_ident[EI_CLASS] = ELFCLASS32;
	e64.e_ident[EI_DATA] = e32.e_ident[EI_DATA] = ELFDATA2LSB;
	e64.e_ident[EI_VERSION] = e32.e_ident[EI_VERSION] = EV_CURRENT;
	e32.e_shoff = (Elf32_Off)(e64.e_shoff = f->b.nr);
	e32.e_shnum = e64.e_shnum = (Elf64_Half)f->nr;
	e32.e_shstrndx = e64.e_shstrndx = (Elf64_Half)(f->nr - 1);
	packed_put_sections(f);
	e64.e_phnum = e32.e_phnum = 1;
	e64.e_phentsize = sizeof(ph64);
	e32.e_phentsize = sizeof(ph32);
	e64.e_phoff = sizeof(e64);
	e32.e_phoff = sizeof(e32);
	memcpy(f->b.v, f->is64 ? (const void *)&e64 : &e32, f->is64 ? sizeof(e64) : sizeof(e32));
	memcpy(f->b.v + (f->is64 ? sizeof(e64) : sizeof(e32)), f->is64 ? (const void *)&ph64 : &ph32,
	       f->is64 ? sizeof(ph64) : sizeof(ph32));
}

static inline void packed_release(struct packed_file *f)
{
	bb_release(&f->b);
	bb_release(&f->names);
}
