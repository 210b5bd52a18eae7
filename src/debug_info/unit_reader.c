/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_reader.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "src/debug_info/die_ranges.h"
#include "src/debug_info/die_units.h"
#include "src/debug_info/line_program.h"
#include "src/debug_info/split_unit.h"
#include "src/debug_info/unit_source.h"
#include "src/debug_info/unit_spans.h"
#include "src/debug_info/unit_tree.h"

#define MAX_CHAIN 17			/* entries that say what one is a copy of */
#define ALTERNATE (1ull << 63)		/* in keys of functions: of the alternate file */

struct reader {
	struct unit_tree t;
	const struct unit_source *src;
	struct die_units *us;		/* of the entries */
	const struct die_unit *u;
	struct die_units *line_us;	/* of the lines; the same, if the unit is not split */
	const struct die_unit *line_u;
	struct split_unit split;	/* of zeros, if it is not */
	struct line_program *lines;	/* NULL: it has none */
	char path[LINE_PATH_BYTES];
};

/* ---- functions ---- */

/* What the entries of a function say, the first one that does so. */
struct func_facts {
	uint32_t have;			/* bits of slots */
	const char *names[NR_DIE_SLOTS];
	uint64_t file, line;
	struct die_units *file_units;	/* NULL: no file is known */
	uint64_t file_unit;		/* whose list of files has it */
};

static const enum die_slot name_slots[] = { DIE_LINKAGE_NAME, DIE_MIPS_LINKAGE_NAME, DIE_NAME };

/* Notes that a slot counts here; false: an entry before has it. */
static bool is_first(struct func_facts *f, const struct die *d, enum die_slot slot)
{
	if (!die_has(d, slot) || f->have & die_bit(slot))
		return false;
	f->have |= die_bit(slot);
	return true;
}

static void take_facts(struct func_facts *f, struct die_units *us, const struct die_unit *u,
		       const struct die *d)
{
	for (size_t i = 0; i < sizeof(name_slots) / sizeof(name_slots[0]); i++) {
		enum die_slot slot = name_slots[i];

		if (is_first(f, d, slot))
			f->names[slot] = die_string(u, &d->value[slot]);
	}
	if (is_first(f, d, DIE_DECL_LINE) && !die_number(d, DIE_DECL_LINE, &f->line))
		f->line = 0;
	if (is_first(f, d, DIE_DECL_FILE) && die_number(d, DIE_DECL_FILE, &f->file)) {
		f->file_units = us;
		f->file_unit = u->offset;
	}
}

/* Gathers what an entry, and those that it is made of, say about a function. */
static void gather(struct reader *rd, const struct die_ref *first, struct func_facts *f)
{
	struct die_ref at = *first;
	struct die d;

	*f = (struct func_facts){ 0 };
	for (unsigned i = 0; i < MAX_CHAIN && unit_tree_go_on(&rd->t); i++) {
		const struct die_unit *u = die_units_read(&at, &rd->t.limit, &d);
		enum die_slot next;

		if (!u)
			return;
		take_facts(f, at.units, u, &d);
		next = die_has(&d, DIE_ABSTRACT_ORIGIN) ? DIE_ABSTRACT_ORIGIN : DIE_SPECIFICATION;
		if (!die_units_refer(at.units, u, &d, next, &at))
			return;
	}
}

static uint32_t declared_file(struct reader *rd, const struct func_facts *f)
{
	const struct die_unit *u;
	struct line_program *p;
	int err;

	if (!f->file_units)
		return UNIT_NONE;
	if (f->file_units == rd->us && f->file_unit == rd->u->offset)
		return unit_rows_file(&rd->t.rows, f->file);
	u = die_units_open(f->file_units, f->file_unit, &rd->t.limit, &err);
	p = u ? die_units_lines(f->file_units, u, &rd->t.limit) : NULL;
	return p ? unit_text_path(&rd->t.text, line_program_path(p, f->file, rd->path)) : UNIT_NONE;
}

/*
 * The entry that names the function: of a copy that is the one it was made of, unless it has a name
 * for the linker itself. All copies share one struct unit_func.
 */
static struct die_ref origin_of(struct reader *rd, const struct die *d)
{
	struct die_ref origin;

	if (!die_has(d, DIE_LINKAGE_NAME) &&
	    die_units_refer(rd->us, rd->u, d, DIE_ABSTRACT_ORIGIN, &origin))
		return origin;
	return (struct die_ref){ rd->us, d->offset };
}

static uint32_t func_of(struct reader *rd, const struct die *d)
{
	struct die_ref origin = origin_of(rd, d);
	uint64_t key = origin.offset | (origin.units == rd->us ? 0 : ALTERNATE);
	uint32_t id = unit_tree_find_func(&rd->t, key);
	const char *name = NULL;
	struct func_facts facts;
	struct unit_func f;

	if (id != UNIT_NONE)
		return id;
	gather(rd, &origin, &facts);
	for (size_t i = 0; i < sizeof(name_slots) / sizeof(name_slots[0]) && !name; i++)
		name = facts.names[name_slots[i]];
	f.name = unit_text_add(&rd->t.text, name);
	f.file = declared_file(rd, &facts);
	f.line = facts.line > INT32_MAX ? 0 : (uint32_t)facts.line;
	return unit_tree_add_func(&rd->t, key, &f);
}

/* ---- the tree ---- */

/* Adds the code of an entry as that of the next node; whether there is any. */
static bool add_spans(struct reader *rd, const struct die *d)
{
	struct die_ranges it = die_ranges_begin(rd->u, d);
	size_t before = rd->t.nr_spans;
	uint64_t lo, hi;

	for (unsigned i = 0; i < UNIT_MAX_RANGES && unit_tree_go_on(&rd->t); i++) {
		if (!die_ranges_next(&it, &lo, &hi))
			break;
		unit_tree_span(&rd->t, lo, hi);
	}
	return rd->t.nr_spans > before;
}

static uint32_t call_number(const struct die *d, enum die_slot slot)
{
	uint64_t v;

	return die_number(d, slot, &v) && v <= UINT32_MAX ? (uint32_t)v : 0;
}

static uint64_t entry_of(const struct reader *rd, const struct die *d, uint64_t lo)
{
	uint64_t pc;

	return die_address(rd->u, d, die_has(d, DIE_ENTRY_PC) ? DIE_ENTRY_PC : DIE_LOW_PC, &pc)
		       ? pc
		       : lo;
}

static uint32_t add_node(struct reader *rd, const struct die *d, uint32_t parent)
{
	uint64_t lo = rd->t.spans[rd->t.nr_spans - 1].lo;
	struct unit_node n = { .parent = parent, .call_file = UNIT_NONE };

	n.func = func_of(rd, d);
	if (parent != UNIT_NONE) {
		n.call_line = unit_line(call_number(d, DIE_CALL_LINE),
					call_number(d, DIE_CALL_COLUMN));
		n.call_file = unit_rows_file(&rd->t.rows, call_number(d, DIE_CALL_FILE));
	}
	return unit_tree_node(&rd->t, &n, entry_of(rd, d, lo));
}

/* What an entry means: whether there may be functions with code beneath it. */
enum role { ROLE_NONE, ROLE_BLOCK, ROLE_FUNCTION, ROLE_INLINED };

static const uint8_t roles[] = {
	[DW_TAG_subprogram] = ROLE_FUNCTION,
	[DW_TAG_inlined_subroutine] = ROLE_INLINED,
	[DW_TAG_lexical_block] = ROLE_BLOCK,
	[DW_TAG_try_block] = ROLE_BLOCK,
	[DW_TAG_catch_block] = ROLE_BLOCK,
	[DW_TAG_with_stmt] = ROLE_BLOCK,
	[DW_TAG_namespace] = ROLE_BLOCK,
	[DW_TAG_module] = ROLE_BLOCK,
	[DW_TAG_class_type] = ROLE_BLOCK,
	[DW_TAG_structure_type] = ROLE_BLOCK,
	[DW_TAG_union_type] = ROLE_BLOCK,
};

#define HAS_CODE (1u << DIE_LOW_PC | 1u << DIE_RANGES)

/* Reads an entry in node; returns the node of what is beneath it. */
static uint32_t visit(struct reader *rd, struct byte_reader *r, struct die *d, enum role role,
		      uint32_t node)
{
	bool is_function = role == ROLE_FUNCTION;

	/* A function without code may have a class in it that has a function with code. */
	if (!(d->abbrev->slots & HAS_CODE) || role == ROLE_BLOCK ||
	    (!is_function && node == UNIT_NONE)) {
		die_skip(rd->u, r, d->abbrev, &rd->t.limit);
		return is_function ? UNIT_NONE : node;
	}
	die_read(rd->u, r, d, &rd->t.limit);
	if (r->bad)
		return UNIT_NONE;
	if (add_spans(rd, d))
		return add_node(rd, d, is_function ? UNIT_NONE : node);
	return is_function ? UNIT_NONE : node;
}

/* Goes through the entries of the unit, with the nodes that they are in. */
static void walk(struct reader *rd)
{
	struct byte_reader r = die_reader(rd->u, rd->u->first);
	uint32_t nodes[UNIT_MAX_DEPTH];
	unsigned depth = 0;
	struct die d;

	if (die_next(rd->u, &r, &d) != DIE_ENTRY || !d.abbrev->has_children)
		return;
	die_skip(rd->u, &r, d.abbrev, &rd->t.limit);
	nodes[0] = UNIT_NONE;
	while (!r.bad && !rd->t.err && !rd->t.limit.is_up) {
		enum die_found found = die_next(rd->u, &r, &d);
		enum role role;

		if (found == DIE_DAMAGED || (found == DIE_END && !depth--))
			return;
		if (found == DIE_END)
			continue;
		role = d.abbrev->tag < sizeof(roles) ? roles[d.abbrev->tag] : ROLE_NONE;
		if (role == ROLE_NONE || depth + 1 == UNIT_MAX_DEPTH) {
			die_skip_tree(rd->u, &r, d.abbrev, &rd->t.limit);
			continue;
		}
		nodes[depth + 1] = visit(rd, &r, &d, role, nodes[depth]);
		depth += d.abbrev->has_children;
	}
	unit_tree_go_on(&rd->t);	/* notes that the time is up */
}

/* ---- lines ---- */

static const char *path_of(void *ctx, size_t file)
{
	struct reader *rd = ctx;

	return line_program_path(rd->lines, file, rd->path);
}

/* No code of the file is before it. */
static uint64_t first_code(const struct unit_source *src)
{
	uint64_t lo = UINT64_MAX;

	for (size_t i = 0; i < src->nr_code; i++)
		lo = src->code[i].lo < lo ? src->code[i].lo : lo;
	return lo;
}

static int put_code(struct reader *rd)
{
	struct die_ranges it = die_ranges_begin(rd->line_u, &rd->line_u->entry);
	uint64_t lo, hi;
	int err = 0;

	if (rd->line_u->sizes.version <= 2)
		return 0;
	for (unsigned i = 0; i < UNIT_MAX_RANGES && !err && die_ranges_next(&it, &lo, &hi); i++)
		err = unit_rows_code(&rd->t.rows, rd->src, lo, hi);
	return err;
}

/* A damaged program has no rows. */
static int put_rows(struct reader *rd)
{
	struct line_rows rows = { 0 };
	int err = line_program_run(rd->lines, first_code(rd->src), &rows, &rd->t.limit);

	if (!err)
		err = unit_rows_reserve(&rd->t.rows, rows.nr);
	for (size_t i = 0; i < rows.nr && !err; i++)
		err = unit_rows_put(&rd->t.rows, rd->src,
				    &(struct unit_row){ rows.v[i].addr, rows.v[i].line,
							rows.v[i].file, rows.v[i].is_end });
	free(rows.v);
	return err == -EBADMSG ? 0 : err;
}

static int read_lines(struct reader *rd)
{
	const struct die *entry = &rd->line_u->entry;
	int err = put_code(rd);

	if (die_has(entry, DIE_COMP_DIR))
		rd->t.text.directory = die_string(rd->line_u, &entry->value[DIE_COMP_DIR]);
	rd->lines = die_units_lines(rd->line_us, rd->line_u, &rd->t.limit);
	if (err || !rd->lines)
		return err;
	err = unit_rows_files(&rd->t.rows, line_program_nr_files(rd->lines), path_of, rd);
	return err ? err : put_rows(rd);
}

/* ---- the whole ---- */

static int open_unit(struct reader *rd)
{
	unsigned tag;
	int err;

	rd->u = die_units_open(rd->us, rd->src->number, &rd->t.limit, &err);
	if (!rd->u)
		return err;
	die_units_keep(rd->us, rd->u);
	rd->line_us = rd->us;
	rd->line_u = rd->u;
	tag = rd->u->entry.abbrev->tag;
	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit ? 0 : -EBADMSG;
}

/* Without the other half the unit is what its skeleton has. */
static int open_split(struct reader *rd, const struct split_parts *parts)
{
	int err = split_unit_find(rd->u, parts, &rd->t.limit, &rd->split);

	if (!err) {
		rd->us = rd->split.units;
		rd->u = rd->split.u;
	}
	return err == -ENOMEM || err == -ETIMEDOUT ? err : 0;
}

static int read_unit(struct reader *rd, const struct split_parts *split, struct byte_buf *out)
{
	uint64_t lang = 0;
	int err = open_unit(rd);

	if (!err && split)
		err = open_split(rd, split);
	if (!err)
		err = read_lines(rd);
	if (err)
		return err;
	walk(rd);
	die_number(&rd->u->entry, DIE_LANGUAGE, &lang);
	return unit_tree_write(&rd->t, unit_lang(lang), out);
}

int unit_read(const struct unit_source *src, struct die_units *us, const struct split_parts *split,
	      struct byte_buf *out)
{
	struct reader *rd = calloc(1, sizeof(*rd));
	int err;

	if (!rd)
		return -ENOMEM;
	rd->src = src;
	rd->us = us;
	unit_tree_init(&rd->t, src);
	err = read_unit(rd, split, out);
	unit_tree_release(&rd->t);
	split_unit_release(&rd->split);
	free(rd);
	return err;
}

/* ---- the code of a unit ---- */

static int put_sequences(struct reader *rd, int (*put)(void *ctx, uint64_t lo, uint64_t hi),
			 void *ctx)
{
	struct line_rows rows = { 0 };
	bool is_open = false;
	uint64_t lo = 0;
	int err = 0;

	rd->lines = die_units_lines(rd->us, rd->u, &rd->t.limit);
	if (rd->lines && !line_program_run(rd->lines, first_code(rd->src), &rows, &rd->t.limit))
		for (size_t i = 0; i < rows.nr && !err; i++) {
			const struct line_row *row = &rows.v[i];

			if (row->is_end && is_open)
				err = put(ctx, lo, row->addr);
			if (!row->is_end && !is_open)
				lo = row->addr;
			is_open = !row->is_end;
		}
	free(rows.v);
	return err;
}

int unit_read_code(const struct unit_source *src, struct die_units *us,
		   int (*put)(void *ctx, uint64_t lo, uint64_t hi), void *ctx)
{
	struct reader rd = { .src = src, .us = us, .t.limit.until_ns = src->until_ns };
	struct die_ranges it;
	uint64_t lo, hi;
	int err = open_unit(&rd);

	if (err)
		return err == -EBADMSG ? 0 : err;
	it = die_ranges_begin(rd.u, &rd.u->entry);
	for (unsigned n = 0; n < UNIT_MAX_RANGES && !err; n++) {
		if (!die_ranges_next(&it, &lo, &hi))
			return n && rd.u->sizes.version > 2 ? 0 : put_sequences(&rd, put, ctx);
		err = put(ctx, lo, hi);
	}
	return err;
}
