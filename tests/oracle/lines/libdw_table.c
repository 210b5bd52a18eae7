/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/oracle/lines/libdw_table.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/record.h"
#include "tests/oracle/lines/libdw_names.h"
#include "tests/oracle/lines/libdw_split.h"
#include "src/debug_info/unit_spans.h"
#include "src/debug_info/unit_tree.h"

#define MAX_SPLIT_RANGES 1024		/* of one function of a split unit */

struct own_code {			/* of a function that is inlined, too */
	uint64_t key, entry;
};

struct builder {
	struct unit_tree t;
	const struct libdw_source *src;
	Dwarf_Files *files;
	bool is_cxx;
	struct own_code *own;
	size_t nr_own, cap_own;
	Dwarf_Die *nameless;		/* by function: to be named at the end; addr NULL: it is not */
	size_t cap_nameless;
};

/* DWARF 2 has no word for code in several places, and gcc gives one of them. */
static bool unit_says_ranges(Dwarf_Die *unit)
{
	Dwarf_Half version;

	return !dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) &&
	       version > 2;
}

/* ---- functions ---- */

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

static uint32_t call_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	return dwarf_attr(die, name, &a) && !dwarf_formudata(&a, &v) && v <= UINT32_MAX
		       ? (uint32_t)v
		       : 0;
}

/* libdw's name of file 0, before DWARF 5. */
static const char *path_or_null(const char *path)
{
	return path && strcmp(path, "???") ? path : NULL;
}

/*
 * libdw would look for the files of a split unit in its skeleton, which it does not know. It knows no file 0 of declarations,
 * which is that of the unit from DWARF 5 on.
 */
static uint32_t declared_file(struct builder *b, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &a) || dwarf_formudata(&a, &v))
		return UNIT_NONE;
	if (b->src->split || (!v && a.cu == die->cu))
		return unit_rows_file(&b->t.rows, v);
	return unit_text_path(&b->t.text, path_or_null(dwarf_decl_file(die)));
}

static uint32_t declared_line(Dwarf_Die *die)
{
	int line = 0;

	return dwarf_decl_line(die, &line) || line < 0 ? 0 : (uint32_t)line;
}

static const char *declared_path(void *ctx, Dwarf_Die *die)
{
	struct builder *b = ctx;
	Dwarf_Attribute a;
	Dwarf_Word v;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &a) || dwarf_formudata(&a, &v))
		return NULL;
	if (b->src->split || (!v && a.cu == b->src->die.cu))
		return v < b->t.rows.nr_files ? b->t.rows.path(b->t.rows.ctx, v) : NULL;
	return path_or_null(dwarf_decl_file(die));
}

static void name_functions(struct builder *b)
{
	struct libdw_name name;

	for (size_t i = 0; i < b->t.nr_funcs && i < b->cap_nameless; i++) {
		if (!b->nameless[i].addr || !libdw_name_function(&b->nameless[i], declared_path, b, &name))
			continue;
		b->t.funcs[i].scoped = unit_text_add(&b->t.text, name.text);
		b->t.funcs[i].is_lambda = name.is_lambda;
	}
	for (size_t i = 0; i < b->t.nr_funcs && i < b->t.cap_outlined; i++)
		if (b->t.funcs[i].scoped == UNIT_NONE)
			b->t.outlined[i] = 0;
}

static uint32_t func_of(struct builder *b, Dwarf_Die *die)
{
	Dwarf_Die origin = origin_of(die);
	uint64_t key = (uintptr_t)origin.addr;
	uint32_t id = unit_tree_find_func(&b->t, key);
	struct unit_func f = { .scoped = UNIT_NONE };

	if (id != UNIT_NONE)
		return id;
	f.name = unit_text_add(&b->t.text, name_of(&origin));
	f.file = declared_file(b, &origin);
	f.line = declared_line(&origin);
	id = unit_tree_add_func(&b->t, key, &f);
	if (b->is_cxx && !array_reserve(&b->nameless, &b->cap_nameless, (size_t)id + 1))
		b->nameless[id] = origin;
	return id;
}

/* ---- the tree ---- */

static void add_split_spans(struct builder *b, Dwarf_Die *die)
{
	struct addr_range v[MAX_SPLIT_RANGES];
	size_t nr = libdw_split_ranges(b->src->split, die, v, MAX_SPLIT_RANGES);

	for (size_t i = 0; i < nr; i++)
		unit_tree_span(&b->t, v[i].lo, v[i].hi);
}

/* Adds the code of an entry as that of the next node; whether there is any. */
static bool add_spans(struct builder *b, Dwarf_Die *die)
{
	size_t before = b->t.nr_spans;
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	if (b->src->split) {
		add_split_spans(b, die);
		return b->t.nr_spans > before;
	}
	for (unsigned i = 0; i < UNIT_MAX_RANGES && unit_tree_go_on(&b->t); i++) {
		at = dwarf_ranges(die, at, &base, &lo, &hi);
		if (at <= 0)
			break;
		unit_tree_span(&b->t, lo, hi);
	}
	return b->t.nr_spans > before;
}

static uint32_t add_node(struct builder *b, Dwarf_Die *die, uint32_t parent)
{
	uint64_t lo = b->t.spans[b->t.nr_spans - 1].lo;
	struct unit_node n = { .parent = parent, .call_file = UNIT_NONE };
	Dwarf_Addr pc;

	n.func = func_of(b, die);
	if (parent != UNIT_NONE) {
		n.call_line = unit_line(call_number(die, DW_AT_call_line),
					call_number(die, DW_AT_call_column));
		n.call_file = unit_rows_file(&b->t.rows, call_number(die, DW_AT_call_file));
	}
	if (b->src->split ? !libdw_split_entry(b->src->split, die, &pc) : dwarf_entrypc(die, &pc))
		pc = lo;
	return unit_tree_node(&b->t, &n, pc);
}

/* Where a function that is inlined elsewhere has code of its own. */
static void note_outlined(struct builder *b, Dwarf_Die *die, size_t first)
{
	struct own_code *x;
	Dwarf_Attribute a;
	Dwarf_Die origin;
	Dwarf_Addr pc;

	if (!b->is_cxx || dwarf_attr(die, DW_AT_linkage_name, &a) || !dwarf_attr(die, DW_AT_abstract_origin, &a) ||
	    !dwarf_formref_die(&a, &origin))
		return;
	if (b->src->split ? !libdw_split_entry(b->src->split, die, &pc) : dwarf_entrypc(die, &pc))
		pc = b->t.spans[first].lo;
	x = array_push(&b->own, &b->nr_own, &b->cap_own);
	if (x)
		*x = (struct own_code){ (uintptr_t)origin.addr, pc };
}

static void put_outlined(struct builder *b)
{
	if (!b->nr_own || array_reserve(&b->t.outlined, &b->t.cap_outlined, b->t.nr_funcs))
		return;
	for (size_t i = 0; i < b->nr_own; i++) {
		uint32_t id = unit_tree_find_func(&b->t, b->own[i].key);

		if (id != UNIT_NONE && !b->t.outlined[id])
			b->t.outlined[id] = b->own[i].entry;
	}
}

static void walk(struct builder *b, Dwarf_Die *parent, uint32_t node, unsigned depth);

/* Adds a function with code; its node. */
static uint32_t add_function(struct builder *b, Dwarf_Die *die)
{
	size_t first = b->t.nr_spans;

	if (!add_spans(b, die))
		return UNIT_NONE;
	note_outlined(b, die, first);
	return add_node(b, die, UNIT_NONE);
}

static void visit(struct builder *b, Dwarf_Die *die, uint32_t node, unsigned depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		/* One without code may have a class in it that has a function with code. */
		node = add_function(b, die);
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

	if (b->t.err || depth >= UNIT_MAX_DEPTH || dwarf_child(parent, &die))
		return;
	do
		visit(b, &die, node, depth + 1);
	while (unit_tree_go_on(&b->t) && !dwarf_siblingof(&die, &die));
}

/* ---- lines ---- */

static const char *path_of(void *ctx, size_t file)
{
	const struct builder *b = ctx;

	return path_or_null(dwarf_filesrc(b->files, file, NULL, NULL));
}

static int read_code(struct builder *b)
{
	Dwarf_Die die = b->src->skeleton;
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	int err = 0;

	for (unsigned i = 0; unit_says_ranges(&die) && i < UNIT_MAX_RANGES && !err; i++) {
		at = dwarf_ranges(&die, at, &base, &lo, &hi);
		if (at <= 0)
			break;
		err = unit_rows_code(&b->t.rows, &b->src->src, lo, hi);
	}
	return err;
}

static int put_row(struct builder *b, Dwarf_Line *line)
{
	struct unit_row row = { .file = UNIT_NONE };
	int nr = 0, column = 0;
	Dwarf_Files *files;
	Dwarf_Addr addr;
	size_t file;

	if (!line || dwarf_lineaddr(line, &addr))
		return 0;
	row.addr = addr;
	dwarf_lineendsequence(line, &row.is_end);
	dwarf_lineno(line, &nr);
	dwarf_linecol(line, &column);
	row.line = unit_line((unsigned)nr, (unsigned)column);
	if (!dwarf_line_file(line, &files, &file))
		row.file = (uint32_t)file;
	return unit_rows_put(&b->t.rows, &b->src->src, &row);
}

static int read_files(struct builder *b)
{
	Dwarf_Die die = b->src->skeleton;
	Dwarf_Attribute a;
	size_t nr_files;

	if (dwarf_attr(&die, DW_AT_comp_dir, &a))
		b->t.text.directory = dwarf_formstring(&a);
	if (dwarf_getsrcfiles(&die, &b->files, &nr_files))
		return 0;
	return unit_rows_files(&b->t.rows, nr_files, path_of, b);
}

static int read_lines(struct builder *b)
{
	Dwarf_Die die = b->src->skeleton;
	Dwarf_Lines *lines;
	size_t nr;
	int err = read_code(b);

	if (err || dwarf_getsrclines(&die, &lines, &nr))
		return err;
	for (size_t i = 0; i < nr && !err; i++)
		err = put_row(b, dwarf_onesrcline(lines, i));
	return err;
}

/* ---- the whole ---- */

int libdw_table(const struct libdw_source *src, struct byte_buf *out)
{
	struct builder b = { .src = src };
	Dwarf_Die die = src->die;
	int err;

	unit_tree_init(&b.t, &src->src);
	b.is_cxx = unit_lang((unsigned)dwarf_srclang(&die)) == LANG_CXX;
	b.t.says_ranges = unit_says_ranges(&die);
	err = read_files(&b);
	if (!err) {
		walk(&b, &die, UNIT_NONE, 0);
		put_outlined(&b);
		name_functions(&b);
		err = read_lines(&b);
	}
	if (!err)
		err = unit_tree_write(&b.t, unit_lang((unsigned)dwarf_srclang(&die)), out);
	unit_tree_release(&b.t);
	free(b.own);
	free(b.nameless);
	return err;
}
