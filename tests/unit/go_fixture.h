/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A .gopclntab and the code it is about, for tests of the reading of Go programs; include behind cmocka.h.
 *
 *	go_add(g, "main.f", flags, CODE(...), DEPTHS(...))	any number; each is padded to 32 bytes with int3
 *	go_parse(g, magic)
 *	go_at(g, nr, offset)	the rule in force there in function nr
 */
#pragma once

#include "src/base/bytes.h"
#include "unwind/go_table.h"

#define GO_1_2 0xfffffffbu
#define GO_1_16 0xfffffffau
#define GO_1_18 0xfffffff0u
#define GO_1_20 0xfffffff1u

#define GO_TEXT 0x401000u
#define GO_MAX 16
#define GO_RECORD 48	/* more than any version's */

struct go_bytes {
	const void *v;
	size_t len;
};

#define CODE(...) ((struct go_bytes){ (uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }) })

struct go_depth {
	int depth;
	unsigned bytes;
};

#define DEPTHS(...) ((struct go_depth[]){ __VA_ARGS__, { 0, 0 } })

struct go_fixture {
	struct {
		uint32_t name, pcs, code;
		uint8_t flags;
	} functions[GO_MAX];
	size_t nr;
	struct byte_buf names, pcs, code, table;
	struct cfi_rows rows;
};

static inline int go_setup(void **state)
{
	struct go_fixture *g = calloc(1, sizeof(*g));

	if (!g)
		return -1;
	bb_u8(&g->pcs, 0);	/* 0 means "none" */
	*state = g;
	return 0;
}

static inline int go_teardown(void **state)
{
	struct go_fixture *g = *state;

	cfi_rows_release(&g->rows);
	bb_release(&g->names);
	bb_release(&g->pcs);
	bb_release(&g->code);
	bb_release(&g->table);
	free(g);
	return 0;
}

static inline void go_add(struct go_fixture *g, const char *name, uint8_t flags, struct go_bytes code,
			  const struct go_depth *depths)
{
	int before = -1;

	assert_true(g->nr < GO_MAX);
	g->functions[g->nr].name = (uint32_t)g->names.nr;
	g->functions[g->nr].pcs = depths ? (uint32_t)g->pcs.nr : 0;
	g->functions[g->nr].code = (uint32_t)g->code.nr;
	g->functions[g->nr++].flags = flags;
	bb_bytes(&g->names, name, strlen(name) + 1);
	bb_bytes(&g->code, code.v, code.len);
	while (g->code.nr & 31)
		bb_u8(&g->code, 0xcc);
	for (; depths && depths->bytes; depths++) {
		bb_sv(&g->pcs, depths->depth - before);
		bb_uv(&g->pcs, depths->bytes);
		before = depths->depth;
	}
	bb_u8(&g->pcs, 0);
}

/* The header up to the list of functions. Returns the offset that the records count from. */
static inline uint64_t go_header(struct go_fixture *g, uint32_t magic, uint64_t names_at)
{
	struct byte_buf *t = &g->table;
	size_t header = magic == GO_1_2 ? 16 : magic == GO_1_16 ? 64 : 72;

	bb_u32(t, magic);
	bb_u16(t, 0);
	bb_u8(t, 1);
	bb_u8(t, 8);
	bb_u64(t, g->nr);
	if (magic == GO_1_2)
		return 0;
	bb_u64(t, 0);
	if (magic != GO_1_16)
		bb_u64(t, 0);
	bb_u64(t, names_at);
	bb_u64(t, names_at);
	bb_u64(t, names_at);
	bb_u64(t, names_at + g->names.nr);
	bb_u64(t, header);
	assert_int_equal(t->nr, header);
	return header;
}

static inline void go_record(struct go_fixture *g, uint32_t magic, size_t i, uint64_t names_at)
{
	size_t entry = magic == GO_1_2 || magic == GO_1_16 ? 8 : 4, start = g->table.nr;
	uint64_t base = magic == GO_1_2 ? names_at : 0, pcs_base = base ? base + g->names.nr : 0;
	size_t flags = magic == GO_1_18 ? 37 : 41;

	bb_fixed(&g->table, (entry == 8 ? GO_TEXT : 0) + g->functions[i].code, (unsigned)entry);
	bb_u32(&g->table, (uint32_t)base + g->functions[i].name);
	bb_u32(&g->table, 0);
	bb_u32(&g->table, 0);
	bb_u32(&g->table, g->functions[i].pcs ? (uint32_t)pcs_base + g->functions[i].pcs : 0);
	while (g->table.nr < start + GO_RECORD)
		bb_u8(&g->table, magic != GO_1_2 && g->table.nr == start + flags ? g->functions[i].flags : 0);
}

static inline void go_write(struct go_fixture *g, uint32_t magic)
{
	unsigned entry = magic == GO_1_2 || magic == GO_1_16 ? 8 : 4;
	size_t header = magic == GO_1_2 ? 16 : magic == GO_1_16 ? 64 : 72, list = (2 * g->nr + 1) * entry;
	uint64_t names_at = header + list + g->nr * GO_RECORD, base;

	g->table.nr = 0;
	base = go_header(g, magic, names_at);
	for (size_t i = 0; i <= g->nr; i++) {
		uint64_t at = i < g->nr ? g->functions[i].code : g->code.nr;

		bb_fixed(&g->table, (entry == 8 ? GO_TEXT : 0) + at, entry);
		if (i < g->nr)
			bb_fixed(&g->table, header + list + i * GO_RECORD - base, entry);
	}
	for (size_t i = 0; i < g->nr; i++)
		go_record(g, magic, i, names_at);
	bb_bytes(&g->table, g->names.v, g->names.nr);
	bb_bytes(&g->table, g->pcs.v, g->pcs.nr);
	assert_false(g->table.bad || g->code.bad || g->names.bad || g->pcs.bad);
}

/* Reads exactly these bytes: copies, so that reading behind them is an error of memory. */
static inline int go_rows(struct go_fixture *g)
{
	uint8_t *table = malloc(g->table.nr + 1), *code = malloc(g->code.nr + 1);
	struct go_table_input in = { .pclntab = table + 1, .len = g->table.nr, .text_vaddr = GO_TEXT, .code = code + 1,
				     .code_len = g->code.nr, .code_vaddr = GO_TEXT, .machine = CFI_X86_64 };
	int err;

	assert_non_null(table);
	assert_non_null(code);
	memcpy(table + 1, g->table.v, g->table.nr);
	if (g->code.nr)
		memcpy(code + 1, g->code.v, g->code.nr);
	err = go_table_rows(&in, &g->rows);
	free(table);
	free(code);
	for (size_t i = 1; i < g->rows.nr; i++) {
		assert_true(g->rows.v[i].vaddr > g->rows.v[i - 1].vaddr);
		assert_memory_not_equal(&g->rows.v[i].rule, &g->rows.v[i - 1].rule, sizeof(struct unwind_rule));
	}
	return err;
}

static inline void go_parse(struct go_fixture *g, uint32_t magic)
{
	go_write(g, magic);
	assert_int_equal(go_rows(g), 0);
}

static inline struct unwind_rule go_at(const struct go_fixture *g, size_t nr, uint64_t offset)
{
	return cfi_rows_find(&g->rows, GO_TEXT + g->functions[nr].code + offset);
}
