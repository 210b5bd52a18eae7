/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program of tests/unit/dwarf_fixture.h with its entries in a .dwo file, written byte by byte: DWARF 5, or gcc's extension of
 * version 4. outer() and inner() are the same; the lines, the addresses and, in version 4, the ranges are in the program.
 */
#pragma once

#include "src/debug_info/split_file.h"
#include "tests/unit/dwarf_fixture.h"

#define SPLIT_ID 0x1122334455667788ull

struct split_program {
	struct dwarf_parts main, dwo;
	struct byte_buf index;			/* of a package */
	struct split_parts parts;		/* of dwo, as it is in its sections */
};

static inline void sp_skeleton(struct dwarf_parts *d, unsigned version)
{
	struct byte_buf *a = &d->part[DEBUG_ABBREV], *b = &d->part[DEBUG_INFO];

	DW_NUMBERS(a, 1, version < 5 ? DW_TAG_compile_unit : DW_TAG_skeleton_unit, 0, DW_AT_stmt_list, DW_FORM_sec_offset,
		   DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, DW_AT_comp_dir, DW_FORM_string);
	if (version < 5)
		DW_NUMBERS(a, DW_AT_GNU_dwo_name, DW_FORM_string, DW_AT_GNU_addr_base, DW_FORM_sec_offset, DW_AT_GNU_dwo_id,
			   DW_FORM_data8, DW_AT_GNU_ranges_base, DW_FORM_sec_offset, 0, 0, 0);
	else
		DW_NUMBERS(a, DW_AT_dwo_name, DW_FORM_string, DW_AT_addr_base, DW_FORM_sec_offset, 0, 0, 0);
	dw_begin(d, DEBUG_INFO);
	bb_u16(b, (uint16_t)version);
	if (version == 5)
		bb_bytes(b, (uint8_t[]){ DW_UT_skeleton, 8 }, 2);
	bb_u32(b, 0);
	if (version < 5)
		bb_u8(b, 8);
	else
		bb_u64(b, SPLIT_ID);
	bb_u8(b, 1);
	bb_u32(b, 0);
	bb_u64(b, DW_LO);
	bb_u32(b, DW_HI - DW_LO);
	dw_text(b, "/d");
	dw_text(b, "a.dwo");
	bb_u32(b, 8);			/* of the addresses */
	if (version < 5) {
		bb_u64(b, SPLIT_ID);
		bb_u32(b, 16);
	}
	dw_end(d, DEBUG_INFO);
}

/* What only the linker knows. */
static inline void sp_addresses(struct dwarf_parts *d)
{
	static const uint64_t v[] = { 0, 0x1000, 0x1010 }, pairs[] = { 0, 0, 0x10, 0x18, 0x20, 0x24, 0, 0 };

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		bb_u64(&d->part[DEBUG_ADDR], v[i]);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		bb_u64(&d->part[DEBUG_RANGES], pairs[i]);
}

static inline void sp_abbrevs(struct byte_buf *b, unsigned version)
{
	int str = version < 5 ? DW_FORM_GNU_str_index : DW_FORM_strx1, addr = version < 5 ? DW_FORM_GNU_addr_index : DW_FORM_addrx;

	DW_NUMBERS(b, 1, DW_TAG_compile_unit, 1, DW_AT_language, DW_FORM_data1, version < 5 ? DW_AT_GNU_dwo_id : DW_AT_name,
		   version < 5 ? DW_FORM_data8 : DW_FORM_strx1, 0, 0);
	DW_NUMBERS(b, 2, DW_TAG_subprogram, 1, DW_AT_name, str, DW_AT_low_pc, addr, DW_AT_high_pc, DW_FORM_data4, DW_AT_decl_file,
		   DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, 0, 0);
	DW_NUMBERS(b, 3, DW_TAG_inlined_subroutine, 0, DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_ranges,
		   version < 5 ? DW_FORM_sec_offset : DW_FORM_rnglistx, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line,
		   DW_FORM_data1, DW_AT_call_column, DW_FORM_data1, 0, 0);
	DW_NUMBERS(b, 4, DW_TAG_subprogram, 0, DW_AT_linkage_name, str, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line,
		   DW_FORM_data1, 0, 0, 0);
}

/* A unit of a type, which stands before the other one in the same section, or in one of its own. */
static inline void sp_type(struct dwarf_parts *d, unsigned version)
{
	struct byte_buf *b = &d->part[DEBUG_INFO];

	if (version < 5)
		return;
	dw_begin(d, DEBUG_INFO);
	bb_u16(b, 5);
	bb_bytes(b, (uint8_t[]){ DW_UT_split_type, 8 }, 2);
	bb_u32(b, 0);
	bb_u64(b, SPLIT_ID);			/* its signature, which is no id of a unit */
	bb_u32(b, 24);
	bb_u8(b, 0);
	dw_end(d, DEBUG_INFO);
}

static inline void sp_entries(struct dwarf_parts *d, unsigned version)
{
	struct byte_buf *b = &d->part[DEBUG_INFO];
	size_t begin = b->nr;
	uint32_t inner;

	dw_begin(d, DEBUG_INFO);
	bb_u16(b, (uint16_t)version);
	if (version == 5)
		bb_bytes(b, (uint8_t[]){ DW_UT_split_compile, 8 }, 2);
	bb_u32(b, 0);
	if (version < 5)
		bb_u8(b, 8);
	else
		bb_u64(b, SPLIT_ID);
	bb_bytes(b, (uint8_t[]){ 1, DW_LANG_C_plus_plus }, 2);
	if (version < 5)
		bb_u64(b, SPLIT_ID);
	else
		bb_u8(b, 2);
	inner = (uint32_t)(b->nr - begin);
	bb_bytes(b, (uint8_t[]){ 4, 0, 2, 4 }, 4);
	bb_bytes(b, (uint8_t[]){ 2, 1, 0 }, 3);		/* outer, at address 0 of its part */
	bb_u32(b, 0x40);
	bb_bytes(b, (uint8_t[]){ 1, 9, 3 }, 3);
	bb_u32(b, inner);
	if (version < 5)
		bb_u32(b, 0);
	else
		bb_u8(b, 0);
	bb_bytes(b, (uint8_t[]){ 1, 12, 3, 0, 0 }, 5);
	dw_end(d, DEBUG_INFO);
}

static inline void sp_tables(struct dwarf_parts *d, unsigned version)
{
	static const char *const names[] = { "_Z5innerv", "outer", "a.c" };
	struct byte_buf *offsets = &d->part[DEBUG_STR_OFFSETS], *lists = &d->part[DEBUG_RNGLISTS];

	if (version == 5) {
		bb_u32(offsets, 16);
		bb_u32(offsets, 5);
		bb_u32(lists, 8 + 4 + 9);
		bb_bytes(lists, (uint8_t[]){ 5, 0, 8, 0, 1, 0, 0, 0 }, 8);
		bb_u32(lists, 4);		/* the first list begins behind the table */
		bb_bytes(lists, (uint8_t[]){ DW_RLE_startx_length, 1, 8, DW_RLE_offset_pair, 0x20, 0x24, 0 }, 7);
	}
	for (size_t i = 0; i < 3; i++) {
		bb_u32(offsets, (uint32_t)d->part[DEBUG_STR].nr);
		dw_text(&d->part[DEBUG_STR], names[i]);
	}
}

static inline void sp_parts(struct split_program *p)
{
	dw_sections(&p->main, NR_DEBUG_PARTS, 0);
	dw_sections(&p->dwo, NR_DEBUG_PARTS, 0);
	p->parts = (struct split_parts){ .s = p->dwo.s, .infos = &p->dwo.s.part[DEBUG_INFO], .nr_infos = 1 };
}

static inline void sp_program(struct split_program *p, unsigned version)
{
	memset(p, 0, sizeof(*p));
	sp_skeleton(&p->main, version);
	sp_addresses(&p->main);
	dw_lines(&p->main, version);
	sp_abbrevs(&p->dwo.part[DEBUG_ABBREV], version);
	sp_type(&p->dwo, version);
	sp_entries(&p->dwo, version);
	sp_tables(&p->dwo, version);
	sp_parts(p);
}

/* Makes a package of the .dwo file: each section begins with bytes of another unit. */
static inline void sp_package(struct split_program *p, unsigned version)
{
	static const enum debug_part parts[] = { DEBUG_INFO, DEBUG_ABBREV, DEBUG_STR_OFFSETS, DEBUG_RNGLISTS };
	static const uint32_t numbers[] = { 1, 3, 6, 8 };
	unsigned nr = version < 5 ? 3 : 4;
	struct byte_buf *x = &p->index;

	bb_u32(x, version < 5 ? 2 : 5);
	bb_u32(x, nr);
	bb_u32(x, 1);
	bb_u32(x, 2);
	bb_u64(x, SPLIT_ID);		/* its slot is the first one of two */
	bb_u64(x, 0);
	bb_u32(x, 1);
	bb_u32(x, 0);
	for (unsigned i = 0; i < nr; i++)
		bb_u32(x, numbers[i]);
	for (unsigned i = 0; i < nr; i++)
		bb_u32(x, 3 + i);
	for (unsigned i = 0; i < nr; i++) {
		struct byte_buf *b = &p->dwo.part[parts[i]], moved = { 0 };

		bb_u32(x, (uint32_t)b->nr);
		bb_bytes(&moved, "\xee\xee\xee\xee\xee\xee", 3 + i);
		bb_bytes(&moved, b->v, b->nr);
		bb_release(b);
		*b = moved;
	}
	sp_parts(p);
	p->parts.index = (struct debug_bytes){ x->v, x->nr };
}

static inline void sp_release(struct split_program *p)
{
	dw_release(&p->main);
	dw_release(&p->dwo);
	bb_release(&p->index);
}
