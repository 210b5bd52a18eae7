/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_builder.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/hash_index.h"
#include "src/debug_info/split_unit.h"
#include "src/debug_info/unit_lines.h"
#include "src/debug_info/unit_table.h"
#include "src/debug_info/unit_writer.h"
#include "src/model/record.h"

#define MAX_DEPTH 128			/* of blocks in each other */
#define MAX_NODES (4u << 20)
#define MAX_RANGES 65536		/* of one function */
#define MAX_SPLIT_RANGES 1024		/* of one function of a split unit */
#define LOOK_EVERY 4096			/* entries and ranges between two looks at the clock */

/* A part of the code of a node. */
struct span {
	uint64_t lo, hi;
	uint32_t node;
};


struct builder {
	const struct unit_source *src;
	struct unit_text text;
	struct unit_rows rows;
	struct unit_node *nodes;
	size_t nr_nodes, cap_nodes;
	uint64_t *entries;		/* of the nodes */
	size_t nr_entries, cap_entries;
	struct unit_func *funcs;
	size_t nr_funcs, cap_funcs;
	const void **func_keys;		/* of the functions: where their entry is in memory */
	size_t nr_keys, cap_keys;
	struct hash_index func_index;
	struct span *spans;
	size_t nr_spans, cap_spans;
	uint64_t nr_looked_at;
	int err;
};

/* https://dwarfstd.org/languages.html; dwarf.h of older systems has no names for the later ones. */
uint8_t unit_lang(int dwarf_lang)
{
	static const uint8_t langs[] = {
		[0x01] = LANG_C, [0x02] = LANG_C, [0x0c] = LANG_C, [0x1d] = LANG_C, [0x2c] = LANG_C,
		[0x04] = LANG_CXX, [0x19] = LANG_CXX, [0x1a] = LANG_CXX, [0x21] = LANG_CXX,
		[0x2a] = LANG_CXX, [0x2b] = LANG_CXX,
		[0x1c] = LANG_RUST, [0x16] = LANG_GO, [0x13] = LANG_D, [0x1e] = LANG_SWIFT,
		[0x03] = LANG_ADA, [0x0d] = LANG_ADA, [0x2e] = LANG_ADA, [0x2f] = LANG_ADA,
	};

	return dwarf_lang >= 0 && dwarf_lang < (int)sizeof(langs) ? langs[dwarf_lang]
								  : LANG_UNKNOWN;
}

/* ---- functions ---- */

bool unit_time_is_up(uint64_t until_ns)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) >= until_ns;
}

bool unit_says_ranges(Dwarf_Die *unit)
{
	Dwarf_Half version;

	return !dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) &&
	       version > 2;
}

bool unit_is_code(const struct addr_range *v, size_t nr, uint64_t addr)
{
	for (size_t i = 0; i < nr; i++)
		if (addr >= v[i].lo && addr < v[i].hi)
			return true;
	return false;
}

/* Counts an entry or a range; false: no more of them. */
static bool go_on(struct builder *b)
{
	if (++b->nr_looked_at % LOOK_EVERY == 0 && unit_time_is_up(b->src->until_ns))
		b->err = -ETIMEDOUT;
	if (b->text.bad || b->nr_nodes > MAX_NODES)
		b->err = b->text.bad ? -ENOMEM : -E2BIG;
	return !b->err;
}

static const char *string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, name, &a) ? dwarf_formstring(&a) : NULL;
}

/* The name by which the linker knows the function tells overloads apart, so it comes first. */
static const char *name_of(Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_linkage_name);

	if (!name)
		name = string_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : string_of(die, DW_AT_name);
}

/*
 * The entry that names the function: of a copy that is the one it was made of, unless it has a name
 * for the linker itself. All copies share one struct unit_func.
 */
static Dwarf_Die origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die origin;

	if (!dwarf_attr(die, DW_AT_linkage_name, &a) &&
	    dwarf_attr(die, DW_AT_abstract_origin, &a) && dwarf_formref_die(&a, &origin))
		return origin;
	return *die;
}

static bool same_entry(const void *ctx, uint32_t id)
{
	const struct builder *b = ((const void *const *)ctx)[0];

	return b->func_keys[id] == ((const void *const *)ctx)[1];
}

static uint32_t call_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	return dwarf_attr(die, name, &a) && !dwarf_formudata(&a, &v) && v <= UINT32_MAX
		       ? (uint32_t)v
		       : 0;
}

/* libdw would look for the files of a split unit in its skeleton, which it does not know. */
static uint32_t declared_file(struct builder *b, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	if (!b->src->split)
		return unit_text_path(&b->text, dwarf_decl_file(die));
	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &a) || dwarf_formudata(&a, &v) ||
	    v > UINT32_MAX)
		return UNIT_NONE;
	return unit_rows_file(&b->rows, &b->text, (uint32_t)v);
}

static uint32_t declared_line(Dwarf_Die *die)
{
	int line = 0;

	return dwarf_decl_line(die, &line) || line < 0 ? 0 : (uint32_t)line;
}

static uint32_t func_of(struct builder *b, Dwarf_Die *die)
{
	Dwarf_Die origin = origin_of(die);
	const void *key[2] = { b, origin.addr };
	uint64_t hash = hash_u64(0, (uintptr_t)origin.addr);
	uint32_t id = ix_find(&b->func_index, hash, same_entry, key);
	struct unit_func *f;
	const void **k;

	if (id != IX_NONE)
		return id;
	f = array_push(&b->funcs, &b->nr_funcs, &b->cap_funcs);
	k = f ? array_push(&b->func_keys, &b->nr_keys, &b->cap_keys) : NULL;
	if (!k || ix_add(&b->func_index, hash, (uint32_t)b->nr_funcs - 1)) {
		b->err = -ENOMEM;
		return UNIT_NONE;
	}
	*k = origin.addr;
	f->name = unit_text_add(&b->text, name_of(&origin));
	f->file = declared_file(b, &origin);
	f->line = declared_line(&origin);
	return (uint32_t)b->nr_funcs - 1;
}

/* ---- the tree ---- */

static bool is_code(const struct unit_source *src, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < src->nr_code; i++)
		if (lo >= src->code[i].lo && lo < src->code[i].hi && hi > lo &&
		    hi <= src->code[i].hi)
			return true;
	return false;
}

static void add_span(struct builder *b, uint64_t lo, uint64_t hi, uint32_t node)
{
	struct span *s = is_code(b->src, lo, hi)
				 ? array_push(&b->spans, &b->nr_spans, &b->cap_spans)
				 : NULL;

	if (s)
		*s = (struct span){ lo, hi, node };
	else if (is_code(b->src, lo, hi))
		b->err = -ENOMEM;
}

static void add_split_spans(struct builder *b, Dwarf_Die *die)
{
	struct addr_range v[MAX_SPLIT_RANGES];
	size_t nr = split_unit_ranges(b->src->split, die, v, MAX_SPLIT_RANGES);

	for (size_t i = 0; i < nr; i++)
		add_span(b, v[i].lo, v[i].hi, (uint32_t)b->nr_nodes);
}

/* Adds the code of an entry as that of the next node; whether there is any. */
static bool add_spans(struct builder *b, Dwarf_Die *die)
{
	size_t before = b->nr_spans;
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	if (b->src->split) {
		add_split_spans(b, die);
		return b->nr_spans > before;
	}
	for (unsigned i = 0; i < MAX_RANGES && go_on(b); i++) {
		at = dwarf_ranges(die, at, &base, &lo, &hi);
		if (at <= 0)
			break;
		add_span(b, lo, hi, (uint32_t)b->nr_nodes);
	}
	return b->nr_spans > before;
}

static uint32_t add_node(struct builder *b, Dwarf_Die *die, uint32_t parent)
{
	uint64_t lo = b->spans[b->nr_spans - 1].lo;
	struct unit_node *n = array_push(&b->nodes, &b->nr_nodes, &b->cap_nodes);
	uint64_t *entry = n ? array_push(&b->entries, &b->nr_entries, &b->cap_entries) : NULL;
	Dwarf_Addr pc;

	if (!entry) {
		b->err = -ENOMEM;
		return UNIT_NONE;
	}
	n->parent = parent;
	n->func = func_of(b, die);
	n->call_file = UNIT_NONE;
	if (parent != UNIT_NONE) {
		n->call_line = unit_line(call_number(die, DW_AT_call_line),
					 call_number(die, DW_AT_call_column));
		n->call_file = unit_rows_file(&b->rows, &b->text,
					      call_number(die, DW_AT_call_file));
	}
	*entry = b->src->split || dwarf_entrypc(die, &pc) ? lo : pc;
	return (uint32_t)b->nr_nodes - 1;
}

static void walk(struct builder *b, Dwarf_Die *parent, uint32_t node, unsigned depth);

static void visit(struct builder *b, Dwarf_Die *die, uint32_t node, unsigned depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		/* One without code may have a class in it that has a function with code. */
		node = add_spans(b, die) ? add_node(b, die, UNIT_NONE) : UNIT_NONE;
		walk(b, die, node, depth);
		break;
	case DW_TAG_inlined_subroutine:
		if (node != UNIT_NONE && add_spans(b, die))
			node = add_node(b, die, node);
		walk(b, die, node, depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type: walk(b, die, node, depth); break;
	default: break;
	}
}

static void walk(struct builder *b, Dwarf_Die *parent, uint32_t node, unsigned depth)
{
	Dwarf_Die die;

	if (b->err || depth >= MAX_DEPTH || dwarf_child(parent, &die))
		return;
	do
		visit(b, &die, node, depth + 1);
	while (go_on(b) && !dwarf_siblingof(&die, &die));
}

/* ---- segments ---- */

/* A node is after those that it is inlined in, and these begin no later. */
static int by_addr(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Where the innermost node changes. */
struct change {
	uint64_t addr;
	uint32_t node;
};

struct changes {
	struct change *v;
	size_t nr, cap;
};

static int put_change(struct changes *c, uint64_t addr, uint32_t node)
{
	struct change *x;

	if (c->nr && c->v[c->nr - 1].addr == addr) {
		c->v[c->nr - 1].node = node;
		return 0;
	}
	x = array_push(&c->v, &c->nr, &c->cap);
	if (!x)
		return -ENOMEM;
	*x = (struct change){ addr, node };
	return 0;
}

/* Leaves the spans that end at or before addr. */
static int leave(struct changes *c, const struct span *open, size_t *nr_open, uint64_t addr)
{
	int err = 0;

	while (*nr_open && open[*nr_open - 1].hi <= addr && !err) {
		--*nr_open;
		err = put_change(c, open[*nr_open].hi,
				 *nr_open ? open[*nr_open - 1].node : UNIT_NONE);
	}
	return err;
}

/* A span that is open ends no later than the one around it, whatever the file says. */
static int find_changes(struct builder *b, struct changes *c)
{
	struct span *open = NULL, *top;
	size_t nr_open = 0, cap = 0;
	int err = 0;

	if (b->nr_spans)
		qsort(b->spans, b->nr_spans, sizeof(*b->spans), by_addr);
	for (size_t i = 0; i < b->nr_spans && !err; i++) {
		err = leave(c, open, &nr_open, b->spans[i].lo);
		top = err ? NULL : array_push(&open, &nr_open, &cap);
		if (!top)
			err = err ? err : -ENOMEM;
		if (err)
			break;
		*top = b->spans[i];
		if (nr_open > 1 && top->hi > top[-1].hi)
			top->hi = top[-1].hi;
		err = put_change(c, top->lo, top->node);
	}
	if (!err)
		err = leave(c, open, &nr_open, UINT64_MAX);
	free(open);
	return err;
}

/* Joins the lines and the changes of nodes, both of which are sorted. */
static int join(const struct builder *b, const struct changes *c, struct unit_segments *s)
{
	const struct unit_rows *r = &b->rows;
	struct unit_segment seg = { .file = UNIT_NONE, .node = UNIT_NONE };
	size_t i = 0, k = 0;
	int err = 0;

	s->base = r->nr ? r->v[0].addr : c->v[0].addr;
	if (c->nr && c->v[0].addr < s->base)
		s->base = c->v[0].addr;
	while ((i < r->nr || k < c->nr) && !err) {
		uint64_t addr = i < r->nr && (k == c->nr || r->v[i].addr <= c->v[k].addr)
					? r->v[i].addr
					: c->v[k].addr;

		for (; i < r->nr && r->v[i].addr == addr; i++) {
			seg.line = r->v[i].is_end ? 0 : r->v[i].line;
			seg.file = r->v[i].is_end ? UNIT_NONE : r->v[i].file;
		}
		for (; k < c->nr && c->v[k].addr == addr; k++)
			seg.node = c->v[k].node;
		err = unit_segments_add(s, addr, &seg);
	}
	return err;
}

/* ---- the whole ---- */

static void put_entries(struct builder *b, uint64_t base)
{
	for (size_t i = 0; i < b->nr_nodes; i++) {
		uint64_t rel = b->entries[i] - base;

		b->nodes[i].entry = b->entries[i] < base || rel >= UNIT_NONE ? UNIT_NONE
									    : (uint32_t)rel;
	}
}

static int put_table(struct builder *b, const struct unit_segments *s, struct byte_buf *out)
{
	Dwarf_Die die = b->src->die;
	const struct unit_parts parts = {
		.unit = b->src->number, .lang = unit_lang(dwarf_srclang(&die)), .segments = s,
		.nodes = b->nodes, .nr_nodes = b->nr_nodes,
		.funcs = b->funcs, .nr_funcs = b->nr_funcs,
		.text = &b->text.buf,
	};

	put_entries(b, s->base);
	return unit_write(&parts, out);
}

static int build(struct builder *b, struct byte_buf *out)
{
	struct changes changes = { 0 };
	struct unit_segments segments = { 0 };
	Dwarf_Die die = b->src->die;
	int err = unit_rows_read(&b->rows, &b->text, b->src);

	if (!err) {
		walk(b, &die, UNIT_NONE, 0);
		err = b->err;
	}
	if (!err)
		err = find_changes(b, &changes);
	if (!err && !changes.nr && !b->rows.nr)
		err = -ENODATA;
	if (!err)
		err = join(b, &changes, &segments);
	if (!err)
		err = b->text.bad ? -ENOMEM : put_table(b, &segments, out);
	free(changes.v);
	free(segments.v);
	return err;
}

int unit_build(const struct unit_source *src, struct byte_buf *out)
{
	struct builder b = { .src = src };
	int err = build(&b, out);

	unit_text_release(&b.text);
	unit_rows_release(&b.rows);
	free(b.nodes);
	free(b.entries);
	free(b.funcs);
	free(b.func_keys);
	ix_release(&b.func_index);
	free(b.spans);
	return err;
}
