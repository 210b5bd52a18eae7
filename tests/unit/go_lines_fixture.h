/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Go program in memory that is nothing but the runtime's tables, for tests of the reading of its lines; include behind
 * cmocka.h. It has two functions:
 *
 *	main.outer, 64 bytes	+0	a.go:10
 *				+8	b.go:5 of main.inner, called at a.go:20 of main.mid, called at a.go:10
 *				+16	a.go:20 of main.mid, called at a.go:10
 *				+24	a.go:11
 *				+32	nothing, for alignment
 *	main.last, 16 bytes	+0	a.go:30
 */
#pragma once

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"

#define GL_VADDR 0x400000u
#define GL_TEXT 0x401000u
#define GL_TABLE 120u			/* where the table is in the file */
#define GL_NR 2

enum gl_version { GL_1_16, GL_1_18, GL_1_20, GL_VERSIONS };

struct gl_program {
	struct byte_buf file;
	size_t module, tree;		/* where these are in the file */
	size_t entry_len, entry_name, entry_call;
};

static inline void gl_set(struct gl_program *p, size_t at, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		p->file.v[at + i] = (uint8_t)(v >> (8 * i));
}

static inline uint32_t gl_text(struct byte_buf *b, const char *s)
{
	size_t at = b->nr;

	bb_bytes(b, s, strlen(s) + 1);
	return (uint32_t)at;
}

/* values: { value, bytes } up to bytes 0. */
static inline uint32_t gl_list(struct byte_buf *b, const int (*values)[2])
{
	size_t at = b->nr;
	int before = -1;

	for (; (*values)[1]; values++) {
		bb_sv(b, (*values)[0] - before);
		bb_uv(b, (uint64_t)(*values)[1]);
		before = (*values)[0];
	}
	bb_u8(b, 0);
	return (uint32_t)at;
}

static inline void gl_pad(struct byte_buf *b)
{
	while (b->nr % 8)
		bb_u8(b, 0);
}

struct gl_record {
	uint32_t entry, name, files, lines, inlined, start_line;
	uint64_t tree;			/* as in the record */
};

static inline void gl_record(struct byte_buf *b, enum gl_version v, const struct gl_record *r)
{
	unsigned word = v == GL_1_16 ? 8 : 4;

	bb_fixed(b, (v == GL_1_16 ? GL_TEXT : 0) + r->entry, word);
	bb_u32(b, r->name);
	bb_bytes(b, "\0\0\0\0\0\0\0\0\0\0\0", 12);
	bb_u32(b, r->files);
	bb_u32(b, r->lines);
	bb_u32(b, 3);			/* lists of other things */
	bb_u32(b, 0);			/* the unit */
	if (v != GL_1_18)
		bb_u32(b, r->start_line);	/* Go 1.16 has other things there */
	if (v != GL_1_16)
		bb_u32(b, 0);
	gl_set(&(struct gl_program){ .file = *b }, b->nr - 1, 4, 1);
	bb_u32(b, 0);
	bb_u32(b, 0);
	bb_u32(b, r->inlined);
	if (v == GL_1_16)
		gl_pad(b);
	for (int i = 0; i < 3; i++)
		bb_fixed(b, UINT64_MAX, word);
	bb_fixed(b, r->tree, word);
	gl_pad(b);
}

static inline void gl_entry(struct gl_program *p, enum gl_version v, uint32_t name, uint32_t call, uint32_t line)
{
	struct byte_buf *b = &p->file;
	size_t at = b->nr;

	for (size_t i = 0; i < p->entry_len; i++)
		bb_u8(b, 0);
	gl_set(p, at + p->entry_name, name, 4);
	gl_set(p, at + p->entry_call, call, 4);
	if (v == GL_1_20)
		gl_set(p, at + 12, line, 4);
}

static inline void gl_elf_head(struct byte_buf *b)
{
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof(eh),
			  .e_ehsize = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
			  .e_shentsize = sizeof(Elf64_Shdr) };
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = GL_VADDR, .p_align = 4096 };

	bb_bytes(b, &eh, sizeof(eh));
	bb_bytes(b, &ph, sizeof(ph));
	gl_pad(b);
}

/* Five parts behind each other; the header is filled in when it is known where they are. */
static inline void gl_table(struct gl_program *p, enum gl_version v, const struct byte_buf parts[4],
			    const struct gl_record r[GL_NR])
{
	static const uint32_t magic[] = { 0xfffffffa, 0xfffffff0, 0xfffffff1 };
	unsigned word = v == GL_1_16 ? 8 : 4, header = v == GL_1_16 ? 24 : 32;
	struct byte_buf *b = &p->file, records = { 0 };
	size_t list = (2 * GL_NR + 1) * word;

	list += list % 8;
	bb_u32(b, magic[v]);
	bb_u32(b, 0x08010000);
	bb_u64(b, GL_NR);
	for (unsigned i = 16; i < header + 40; i++)
		bb_u8(b, 0);
	for (unsigned i = 0; i < 4; i++) {
		gl_set(p, GL_TABLE + header + 8 * i, b->nr - GL_TABLE, 8);
		bb_bytes(b, parts[i].v, parts[i].nr);
		gl_pad(b);
	}
	gl_set(p, GL_TABLE + header + 32, b->nr - GL_TABLE, 8);
	for (int i = 0; i < GL_NR; i++) {
		bb_fixed(b, (v == GL_1_16 ? GL_TEXT : 0) + r[i].entry, word);
		bb_fixed(b, list + records.nr, word);
		gl_record(&records, v, &r[i]);
	}
	bb_fixed(b, (v == GL_1_16 ? GL_TEXT : 0) + 80, word);
	gl_pad(b);
	bb_bytes(b, records.v, records.nr);
	bb_release(&records);
}

static inline void gl_module(struct gl_program *p, enum gl_version v)
{
	p->module = p->file.nr;
	for (int i = 0; i < 48; i++)
		bb_u64(&p->file, 0);
	gl_set(p, p->module, GL_VADDR + GL_TABLE, 8);
	gl_set(p, p->module + 8 * 17, GL_NR + 1, 8);
	gl_set(p, p->module + 8 * 22, GL_TEXT, 8);
	gl_set(p, p->module + 8 * (v == GL_1_18 ? 38 : 40), GL_VADDR, 8);
}

/* The address of the tree is in the table before it: so it is made twice. */
static inline void gl_make_at(struct gl_program *p, enum gl_version v, size_t tree)
{
	struct byte_buf parts[4] = { 0 };
	uint32_t outer = (gl_text(&parts[0], ""), gl_text(&parts[0], "main.outer")), mid = gl_text(&parts[0], "main.mid"),
		 inner = gl_text(&parts[0], "main.inner"), last = gl_text(&parts[0], "main.last"),
		 files = (bb_u8(&parts[3], 0), gl_list(&parts[3], (int[][2]){ { 0, 8 }, { 1, 8 }, { 0, 16 }, { 0, 0 } })),
		 lines = gl_list(&parts[3], (int[][2]){ { 10, 8 }, { 5, 8 }, { 20, 8 }, { 11, 8 }, { 0, 0 } }),
		 inlined = gl_list(&parts[3], (int[][2]){ { -1, 8 }, { 1, 8 }, { 0, 8 }, { -1, 8 }, { 0, 0 } }),
		 file = gl_list(&parts[3], (int[][2]){ { 0, 16 }, { 0, 0 } }),
		 line = gl_list(&parts[3], (int[][2]){ { 30, 16 }, { 0, 0 } });
	const struct gl_record r[GL_NR] = {
		{ 0, outer, files, lines, inlined, 9, v == GL_1_16 ? GL_VADDR + tree : tree },
		{ 64, last, file, line, 0, 29, v == GL_1_16 ? 0 : UINT32_MAX },
	};

	bb_u32(&parts[1], gl_text(&parts[2], "a.go"));
	bb_u32(&parts[1], gl_text(&parts[2], "b.go"));
	p->entry_len = v == GL_1_20 ? 16 : 20;
	p->entry_name = v == GL_1_20 ? 4 : 12;
	p->entry_call = v == GL_1_20 ? 8 : 16;
	p->file.nr = 0;
	gl_elf_head(&p->file);
	gl_table(p, v, parts, r);
	gl_module(p, v);
	p->tree = p->file.nr;
	gl_entry(p, v, mid, 4, 19);
	gl_entry(p, v, inner, 18, 4);
	gl_set(p, 64 + offsetof(Elf64_Phdr, p_filesz), p->file.nr, 8);
	gl_set(p, 64 + offsetof(Elf64_Phdr, p_memsz), p->file.nr, 8);
	for (int i = 0; i < 4; i++)
		bb_release(&parts[i]);
}

/* Release with bb_release(&p->file). */
static inline void gl_make(struct gl_program *p, enum gl_version v)
{
	*p = (struct gl_program){ 0 };
	gl_make_at(p, v, 0);
	gl_make_at(p, v, p->tree);
	assert_false(p->file.bad);
}
