/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of debug information written byte by byte, for tests of their reading. dw_program() is one unit:
 *
 *	outer(), 0x1000 to 0x1040		/d/a.c:10
 *	  inner(), linkage name _Z5innerv,	0x1010 to 0x1018 and 0x1020 to 0x1024, called at a.c:12:3
 *	cold part of nothing that is known, 0x1040 to 0x1050
 *
 *	0x1000 /d/a.c:10	0x1010 /d/inc/b.h:5	0x1018 /d/a.c:13	0x1020 /d/inc/b.h:6	0x1024 /d/a.c:14
 *	0x1040 /d/a.c:20 (a sequence of its own that comes first in the program)
 */
#pragma once

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/debug_info/debug_sections.h"

struct dwarf_parts {
	struct byte_buf part[NR_DEBUG_PARTS];
	struct debug_sections s;		/* copies of exactly these bytes */
	size_t len_at;				/* of the length that was begun last */
	uint32_t inner;				/* offset of the entry of inner() */
	size_t size_at;				/* in .debug_info: the unit's bytes of code */
};

enum { DW_LO = 0x1000, DW_HI = 0x1050, DW_NOT_READ = 0xee };

static inline void dw_text(struct byte_buf *b, const char *s)
{
	bb_bytes(b, s, strlen(s) + 1);
}

/* Numbers up to -1 as LEB128. */
static inline void dw_numbers(struct byte_buf *b, const int *v)
{
	for (; *v >= 0; v++)
		bb_uv(b, (uint64_t)*v);
}
#define DW_NUMBERS(b, ...) dw_numbers(b, (const int[]){ __VA_ARGS__, -1 })

static inline void dw_begin(struct dwarf_parts *d, enum debug_part part)
{
	d->len_at = d->part[part].nr;
	bb_u32(&d->part[part], 0);
}

static inline void dw_set32(struct byte_buf *b, size_t at, uint32_t v)
{
	memcpy(b->v + at, &v, sizeof(v));
}

static inline void dw_end(struct dwarf_parts *d, enum debug_part part)
{
	dw_set32(&d->part[part], d->len_at, (uint32_t)(d->part[part].nr - d->len_at - 4));
}

static inline void dw_drop_sections(struct dwarf_parts *d)
{
	for (unsigned i = 0; i < NR_DEBUG_PARTS; i++)
		free((void *)(uintptr_t)d->s.part[i].v);
	memset(&d->s, 0, sizeof(d->s));
}

/* Sections of the bytes so far, of which one is cut; part NR_DEBUG_PARTS: none. */
static inline void dw_sections(struct dwarf_parts *d, enum debug_part part, size_t len)
{
	dw_drop_sections(d);
	for (unsigned i = 0; i < NR_DEBUG_PARTS; i++) {
		size_t n = i == part ? len : d->part[i].nr;
		uint8_t *v = malloc(n + !n);

		if (n)
			memcpy(v, d->part[i].v, n);
		d->s.part[i] = (struct debug_bytes){ v, n };
	}
	debug_sections_end_strings(&d->s);
}

static inline void dw_release(struct dwarf_parts *d)
{
	dw_drop_sections(d);
	for (unsigned i = 0; i < NR_DEBUG_PARTS; i++)
		bb_release(&d->part[i]);
}

/* ---- the unit ---- */

static inline void dw_abbrevs(struct byte_buf *b)
{
	DW_NUMBERS(b, 1, DW_TAG_compile_unit, 1, DW_AT_stmt_list, DW_FORM_data4, DW_AT_low_pc, DW_FORM_addr,
		   DW_AT_high_pc, DW_FORM_data4, DW_AT_comp_dir, DW_FORM_string, DW_AT_language, DW_FORM_data1, 0, 0);
	DW_NUMBERS(b, 2, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
		   DW_FORM_data4, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line, DW_FORM_udata, 0, 0);
	DW_NUMBERS(b, 3, DW_TAG_inlined_subroutine, 0, DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_ranges, DW_FORM_data4,
		   DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data2, DW_AT_call_column, DW_FORM_udata, 0, 0);
	DW_NUMBERS(b, 4, DW_TAG_subprogram, 0, DW_AT_specification, DW_FORM_ref4, DW_AT_linkage_name, DW_FORM_strp, 0, 0);
	DW_NUMBERS(b, 5, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_strp, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line,
		   DW_FORM_data1, 0, 0);
	/* Of no interest: with values of all sizes, and children. */
	DW_NUMBERS(b, 6, DW_TAG_variable, 0, DW_AT_location, DW_FORM_exprloc, DW_AT_const_value, DW_FORM_sdata, DW_AT_byte_size,
		   DW_FORM_block1, 0, 0);
	DW_NUMBERS(b, 7, DW_TAG_enumeration_type, 1, DW_AT_byte_size, DW_FORM_data1, 0, 0);
	DW_NUMBERS(b, 8, DW_TAG_lexical_block, 1, DW_AT_sibling, DW_FORM_ref4, 0, 0);
	DW_NUMBERS(b, 9, DW_TAG_enumeration_type, 1, DW_AT_sibling, DW_FORM_ref4, DW_AT_byte_size, DW_FORM_data2, 0, 0, 0);
}

static inline void dw_header(struct dwarf_parts *d, unsigned version)
{
	struct byte_buf *b = &d->part[DEBUG_INFO];

	dw_begin(d, DEBUG_INFO);
	bb_u16(b, (uint16_t)version);
	if (version == 5) {
		bb_u8(b, DW_UT_compile);
		bb_u8(b, 8);
	}
	bb_u32(b, 0);
	if (version < 5)
		bb_u8(b, 8);
	bb_u8(b, 1);
	bb_u32(b, 0);
	bb_u64(b, DW_LO);
	d->size_at = b->nr;
	bb_u32(b, DW_HI - DW_LO);
	dw_text(b, "/d");
	bb_u8(b, DW_LANG_C_plus_plus);
}

static inline void dw_variable(struct byte_buf *b)
{
	bb_u8(b, 6);
	bb_bytes(b, "\3\x91\x60\x06", 4);
	bb_bytes(b, "\xff\x7f", 2);
	bb_bytes(b, "\4abcd", 5);
}

/* Two functions that are only declared; the one that is inlined has its name in the other. */
static inline void dw_inner(struct dwarf_parts *d)
{
	struct byte_buf *b = &d->part[DEBUG_INFO], *strings = &d->part[DEBUG_STR];
	uint32_t declared = (uint32_t)b->nr;

	dw_text(strings, "");
	bb_u8(b, 5);
	bb_u32(b, (uint32_t)strings->nr);
	dw_text(strings, "inner");
	bb_u8(b, 2);
	bb_u8(b, 4);
	d->inner = (uint32_t)b->nr;
	bb_u8(b, 4);
	bb_u32(b, declared);
	bb_u32(b, (uint32_t)strings->nr);
	dw_text(strings, "_Z5innerv");
}

static inline void dw_outer(struct dwarf_parts *d)
{
	struct byte_buf *b = &d->part[DEBUG_INFO];
	size_t sibling;

	bb_u8(b, 2);
	dw_text(b, "outer");
	bb_u64(b, DW_LO);
	bb_u32(b, 0x40);
	bb_u8(b, 1);
	bb_uv(b, 9);
	dw_variable(b);
	bb_u8(b, 8);			/* a block, whose sibling counts only if it is skipped */
	bb_u32(b, 0);
	bb_u8(b, 9);
	sibling = b->nr;
	bb_u32(b, 0);
	bb_u16(b, 0);
	bb_u8(b, DW_NOT_READ);		/* what a sibling leads past is not read */
	dw_set32(b, sibling, (uint32_t)b->nr);
	bb_u8(b, 3);
	bb_u32(b, d->inner);
	bb_u32(b, 0);
	bb_u8(b, 1);
	bb_u16(b, 12);
	bb_uv(b, 3);
	bb_u8(b, 0);			/* of the block */
	bb_u8(b, 0);			/* of outer() */
}

static inline void dw_info(struct dwarf_parts *d, unsigned version)
{
	struct byte_buf *b = &d->part[DEBUG_INFO];

	dw_header(d, version);
	dw_inner(d);
	bb_u8(b, 7);
	bb_u8(b, 4);
	dw_variable(b);
	bb_u8(b, 7);
	bb_u8(b, 4);
	bb_u8(b, 0);
	bb_u8(b, 0);
	dw_outer(d);
	bb_u8(b, 0);
	dw_end(d, DEBUG_INFO);
}

static inline void dw_ranges(struct dwarf_parts *d)
{
	static const uint64_t pairs[] = { UINT64_MAX, 0x1008, 0x8, 0x10, 0x18, 0x1c, 0, 0 };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		bb_u64(&d->part[DEBUG_RANGES], pairs[i]);
	bb_bytes(&d->part[DEBUG_RNGLISTS], "\4\x10\x18\4\x20\x24\0", 7);
}

/* ---- lines ---- */

static inline void dw_files(struct byte_buf *b, unsigned version)
{
	if (version < 5) {
		dw_text(b, "inc");
		bb_u8(b, 0);
		dw_text(b, "a.c");
		DW_NUMBERS(b, 0, 0, 0);
		dw_text(b, "b.h");
		DW_NUMBERS(b, 1, 0, 0, 0);
		return;
	}
	DW_NUMBERS(b, 1, DW_LNCT_path, DW_FORM_string, 2);
	dw_text(b, "/d");
	dw_text(b, "inc");
	DW_NUMBERS(b, 3, DW_LNCT_path, DW_FORM_string, DW_LNCT_directory_index, DW_FORM_udata, DW_LNCT_MD5, DW_FORM_data16, 3);
	for (unsigned i = 0; i < 3; i++) {
		dw_text(b, i < 2 ? "a.c" : "b.h");
		bb_uv(b, i == 2);
		bb_bytes(b, "0123456789abcdef", 16);
	}
}

enum { DW_LINE_BASE = -3, DW_LINE_RANGE = 12, DW_OPCODE_BASE = 13 };

/* Returns where the length of the header is. */
static inline void dw_line_header(struct dwarf_parts *d, unsigned version)
{
	static const uint8_t lengths[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct byte_buf *b = &d->part[DEBUG_LINE];
	size_t at;

	dw_begin(d, DEBUG_LINE);
	bb_u16(b, (uint16_t)version);
	if (version == 5)
		bb_bytes(b, "\x08\0", 2);
	at = b->nr;
	bb_u32(b, 0);
	bb_u8(b, 1);
	if (version >= 4)
		bb_u8(b, 1);
	bb_u8(b, 1);
	bb_u8(b, (uint8_t)DW_LINE_BASE);
	bb_u8(b, DW_LINE_RANGE);
	bb_u8(b, DW_OPCODE_BASE);
	bb_bytes(b, lengths, sizeof(lengths));
	dw_files(b, version);
	dw_set32(b, at, (uint32_t)(b->nr - at - 4));
}

static inline void dw_set_address(struct byte_buf *b, uint64_t addr)
{
	bb_bytes(b, "\0\x09\x02", 3);
	bb_u64(b, addr);
}

static inline void dw_end_sequence(struct byte_buf *b, uint64_t bytes)
{
	bb_u8(b, DW_LNS_advance_pc);
	bb_uv(b, bytes);
	bb_bytes(b, "\0\x01\x01", 3);
}

static inline void dw_special(struct byte_buf *b, unsigned bytes, int lines)
{
	bb_u8(b, (uint8_t)(DW_OPCODE_BASE + bytes * DW_LINE_RANGE + (unsigned)(lines - DW_LINE_BASE)));
}

/* From file and line to another file and line; numbers up to 63 are one byte. */
static inline void dw_go_to(struct byte_buf *b, uint8_t file, int lines, uint8_t bytes)
{
	bb_u8(b, DW_LNS_set_file);
	bb_u8(b, file);
	bb_u8(b, DW_LNS_advance_line);
	bb_u8(b, (uint8_t)(lines & 0x7f));
	bb_u8(b, DW_LNS_fixed_advance_pc);
	bb_u16(b, bytes);
	bb_u8(b, DW_LNS_copy);
}

static inline void dw_lines(struct dwarf_parts *d, unsigned version)
{
	struct byte_buf *b = &d->part[DEBUG_LINE];

	dw_line_header(d, version);
	dw_set_address(b, 0x1040);
	bb_u8(b, DW_LNS_advance_line);
	bb_u8(b, 19);
	bb_u8(b, DW_LNS_copy);
	dw_end_sequence(b, 0x10);
	dw_set_address(b, DW_LO);
	bb_u8(b, DW_LNS_advance_line);
	bb_u8(b, 1);
	dw_special(b, 0, 8);
	bb_u8(b, DW_LNS_negate_stmt);
	bb_u8(b, DW_LNS_set_isa);
	bb_u8(b, 7);
	dw_go_to(b, 2, -5, 0x10);
	dw_go_to(b, 1, 8, 8);
	dw_go_to(b, 2, -7, 8);
	dw_go_to(b, 1, 8, 4);
	bb_u8(b, DW_LNS_const_add_pc);		/* 20 bytes */
	dw_end_sequence(b, 8);
	dw_end(d, DEBUG_LINE);
}

static inline void dw_program(struct dwarf_parts *d, unsigned version)
{
	memset(d, 0, sizeof(*d));
	dw_abbrevs(&d->part[DEBUG_ABBREV]);
	bb_u8(&d->part[DEBUG_ABBREV], 0);
	dw_info(d, version);
	dw_ranges(d);
	dw_lines(d, version);
	dw_sections(d, NR_DEBUG_PARTS, 0);
}
