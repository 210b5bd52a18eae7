/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_functions.h"

#include <assert.h>
#include <dwarf.h>
#include <errno.h>

#include "src/base/bisect.h"
#include "src/debug_info/die_ranges.h"
#include "src/debug_info/die_units.h"
#include "src/debug_info/function_facts.h"
#include "src/debug_info/unit_source.h"
#include "src/debug_info/unit_spans.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))	/* so that callbacks are inlined */
#define ALTERNATE (1ull << 63)		/* in keys of functions: of the alternate file */

/* ---- functions ---- */

static uint32_t declared_file(struct unit_reading *rd, const struct function_facts *f)
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
static struct die_ref origin_of(struct unit_reading *rd, const struct die *d)
{
	struct die_ref origin;

	if (!die_has(d, DIE_LINKAGE_NAME) &&
	    die_units_refer(rd->us, rd->u, d, DIE_ABSTRACT_ORIGIN, &origin))
		return origin;
	return (struct die_ref){ rd->us, d->offset };
}

static uint64_t key_of(const struct unit_reading *rd, const struct die_ref *origin)
{
	return origin->offset | (origin->units == rd->us ? 0 : ALTERNATE);
}

static uint32_t func_of(struct unit_reading *rd, const struct die *d)
{
	struct die_ref origin = origin_of(rd, d);
	uint64_t key = key_of(rd, &origin);
	uint32_t id = unit_tree_find_func(&rd->t, key);
	struct function_facts facts;
	struct unit_func f = { .scoped = UNIT_NONE };
	const char *linkage;

	if (id != UNIT_NONE)
		return id;
	function_facts_gather(&origin, &rd->t.limit, &facts);
	linkage = function_facts_linkage(&facts);
	f.name = unit_text_add(&rd->t.text, linkage ? linkage : facts.names[DIE_NAME]);
	f.file = declared_file(rd, &facts);
	f.line = facts.line > INT32_MAX ? 0 : (uint32_t)facts.line;
	id = unit_tree_add_func(&rd->t, key, &f);
	if (id != UNIT_NONE && unit_names_add(&rd->names, id, &facts))
		rd->t.err = -ENOMEM;
	return id;
}

/* ---- the tree ---- */

/* Adds the code of an entry as that of the next node; whether there is any. */
static bool add_spans(struct unit_reading *rd, const struct die *d)
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

static uint64_t entry_of(const struct unit_reading *rd, const struct die *d, uint64_t lo)
{
	uint64_t pc;

	return die_address(rd->u, d, die_has(d, DIE_ENTRY_PC) ? DIE_ENTRY_PC : DIE_LOW_PC, &pc)
		       ? pc
		       : lo;
}

/* Notes where a function that is inlined elsewhere has code of its own. */
static void note_outlined(struct unit_reading *rd, const struct die *d, uint64_t lo)
{
	struct die_ref origin;

	if (!rd->names.is_on || die_has(d, DIE_LINKAGE_NAME) ||
	    !die_units_refer(rd->us, rd->u, d, DIE_ABSTRACT_ORIGIN, &origin))
		return;
	if (unit_names_outlined(&rd->names, key_of(rd, &origin), entry_of(rd, d, lo)))
		rd->t.err = -ENOMEM;
}

static uint32_t add_node(struct unit_reading *rd, const struct die *d, uint32_t parent)
{
	uint64_t lo = rd->t.spans[rd->t.nr_spans - 1].lo;
	struct unit_node n = { .parent = parent, .call_file = UNIT_NONE };

	assert(parent == UNIT_NONE || parent < rd->t.nr_nodes);
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

static enum role role_of(const struct die_abbrev *a)
{
	return a->tag < sizeof(roles) ? roles[a->tag] : ROLE_NONE;
}

/* Reads an entry in node; returns the node of what is beneath it. */
static uint32_t visit(struct unit_reading *rd, struct byte_reader *r, struct die *d, enum role role,
		      uint32_t node)
{
	bool is_function = role == ROLE_FUNCTION;
	size_t first = rd->t.nr_spans;

	/* A function without code may have a class in it that has a function with code. */
	if (!(d->abbrev->slots & HAS_CODE) || role == ROLE_BLOCK ||
	    (!is_function && node == UNIT_NONE)) {
		die_skip(rd->u, r, d->abbrev, &rd->t.limit);
		return is_function ? UNIT_NONE : node;
	}
	die_read(rd->u, r, d, &rd->t.limit);
	if (r->bad)
		return UNIT_NONE;
	if (!add_spans(rd, d))
		return is_function ? UNIT_NONE : node;
	if (is_function && !rd->t.regions)
		note_outlined(rd, d, rd->t.spans[first].lo);
	return add_node(rd, d, is_function ? UNIT_NONE : node);
}

/* How entries are walked through. */
struct walk {
	/* Which are left out, with all that is beneath them. */
	bool (*leaves)(struct unit_reading *rd, const struct die *d, enum role role);
	/* What is done with the others; the node of what is beneath them, or UNIT_UNREAD. */
	uint32_t (*visit)(struct unit_reading *rd, struct byte_reader *r, struct die *d,
			  enum role role, uint32_t node);
	bool is_one;			/* up to the end of the first one */
	bool notes_scopes;		/* for unit_names_settle() */
};

struct level {				/* of entries in each other */
	uint32_t node;			/* that they are in */
	uint32_t scope;			/* likewise, of rd->names.own */
	uint64_t function;		/* an entry in that, which is no scope yet; 0: none */
};

/* Makes the function around a class a scope, as few functions are. */
static void enter_function(struct unit_reading *rd, struct level *at, unsigned depth)
{
	uint64_t function = at[depth].function;
	uint32_t id = unit_scopes_enter(&rd->names.own, function, at[depth].scope);

	for (unsigned i = depth; at[i].function == function; i--) {
		at[i].scope = id;
		at[i].function = 0;
	}
}

/* Notes what the scope of the entries beneath an entry is, which are at the next depth. */
static ALWAYS_INLINE void note_scope(struct unit_reading *rd, const struct die *d,
				     const struct walk *w, struct level *at, unsigned depth)
{
	at[depth + 1].scope = at[depth].scope;
	at[depth + 1].function = at[depth].function;
	if (!w->notes_scopes || !rd->names.is_on || !d->abbrev->has_children ||
	    !unit_scopes_has(d->abbrev))
		return;
	if (d->abbrev->tag == DW_TAG_subprogram) {
		at[depth + 1].function = d->offset;
		return;
	}
	if (at[depth].function)
		enter_function(rd, at, depth);
	at[depth + 1].function = 0;
	at[depth + 1].scope = unit_scopes_enter(&rd->names.own, d->offset, at[depth].scope);
}

/* Takes an entry at a depth, and returns that of the next one. */
static ALWAYS_INLINE unsigned take_entry(struct unit_reading *rd, struct byte_reader *r,
					 struct die *d, const struct walk *w, struct level *at,
					 unsigned depth)
{
	enum role role = role_of(d->abbrev);
	uint32_t node;

	if (role == ROLE_NONE || depth + 1 == UNIT_MAX_DEPTH || w->leaves(rd, d, role)) {
		die_skip_tree(rd->u, r, d->abbrev, &rd->t.limit);
		return depth;
	}
	node = w->visit(rd, r, d, role, at[depth].node);
	if (node == UNIT_UNREAD) {
		die_skip_children(rd->u, r, d, &rd->t.limit);
		return depth;
	}
	assert(depth + 1 < UNIT_MAX_DEPTH);
	at[depth + 1].node = node;
	note_scope(rd, d, w, at, depth);
	return depth + d->abbrev->has_children;
}

/* Goes through the entries at r, and those beneath them, up to the last one. */
static ALWAYS_INLINE void walk(struct unit_reading *rd, struct byte_reader *r,
			       const struct walk *w)
{
	struct level at[UNIT_MAX_DEPTH];
	unsigned depth = 0;
	struct die d;

	at[depth] = (struct level){ UNIT_NONE, NO_SCOPE, 0 };
	while (!r->bad && !rd->t.err && !rd->t.limit.is_up) {
		enum die_found found = die_next(rd->u, r, &d);

		if (found == DIE_DAMAGED || (found == DIE_END && !depth))
			break;
		if (found == DIE_ENTRY) {
			depth = take_entry(rd, r, &d, w, at, depth);
		} else {
			depth--;
			if (w->notes_scopes && at[depth + 1].scope != at[depth].scope)
				unit_scopes_leave(&rd->names.own, at[depth + 1].scope, d.offset);
		}
		if (w->is_one && !depth)
			break;
	}
	unit_tree_go_on(&rd->t);	/* notes that the time is up */
}

/* A reader of what is beneath the unit's entry; false: nothing is. */
static bool enter_unit(struct unit_reading *rd, struct byte_reader *r)
{
	struct die d;

	*r = die_reader(rd->u, rd->u->first);
	if (die_next(rd->u, r, &d) != DIE_ENTRY || !d.abbrev->has_children)
		return false;
	die_skip(rd->u, r, d.abbrev, &rd->t.limit);
	return true;
}

/* ---- all functions ---- */

static bool leaves_nothing(struct unit_reading *rd, const struct die *d, enum role role)
{
	(void)rd;
	(void)d;
	(void)role;
	return false;
}

static void read_all(struct unit_reading *rd)
{
	struct byte_reader r;

	if (enter_unit(rd, &r))
		walk(rd, &r, &(struct walk){ leaves_nothing, visit, false, true });
}

/* ---- some functions ---- */

/*
 * No compiler puts a function into a declaration, nor into one that was inlined. gcc puts functions
 * of a function, and of classes in it, beneath it, with or without blocks around. Classes whose
 * types are in units of their own are declarations here, and scopes.
 */
static bool leaves_inlined(struct unit_reading *rd, const struct die *d, enum role role)
{
	return role == ROLE_INLINED || (d->abbrev->slots & die_bit(DIE_DECLARATION) &&
					!(rd->names.is_on && role == ROLE_BLOCK));
}

static int note_function(struct unit_reading *rd, const struct die *d)
{
	struct die_ranges it = die_ranges_begin(rd->u, d);
	bool is_new = true;
	uint64_t lo, hi;
	int err = 0;

	for (unsigned i = 0; i < UNIT_MAX_RANGES && !err && unit_tree_go_on(&rd->t); i++) {
		if (!die_ranges_next(&it, &lo, &hi))
			break;
		if (!unit_tree_is_code(rd->src, lo, hi))
			continue;
		if (is_new)
			note_outlined(rd, d, lo);
		if (is_new)
			err = unit_regions_add(&rd->regions, d->offset);
		if (!err)
			err = unit_regions_range(&rd->regions, lo, hi);
		is_new = false;
	}
	return err;
}

static uint32_t note(struct unit_reading *rd, struct byte_reader *r, struct die *d, enum role role,
		     uint32_t node)
{
	(void)node;
	if (role != ROLE_FUNCTION || !(d->abbrev->slots & HAS_CODE)) {
		die_skip(rd->u, r, d->abbrev, &rd->t.limit);
		return UNIT_NONE;
	}
	die_read(rd->u, r, d, &rd->t.limit);
	if (!r->bad && !rd->t.err)
		rd->t.err = note_function(rd, d);
	return UNIT_NONE;
}

int unit_functions_find(struct unit_reading *rd)
{
	const struct unit_wanted *wanted = &rd->src->wanted;
	struct byte_reader r;

	if (enter_unit(rd, &r))
		walk(rd, &r, &(struct walk){ leaves_inlined, note, false, true });
	if (!rd->t.err)
		rd->t.err = unit_regions_choose(&rd->regions, wanted->v, wanted->nr);
	rd->t.regions = &rd->regions;
	return rd->t.err;
}

/* Whether an address that is wanted is in any span from number first on. */
static bool is_wanted(const struct unit_reading *rd, size_t first)
{
	const struct unit_wanted *w = &rd->src->wanted;

	for (size_t i = first; i < rd->t.nr_spans; i++) {
		size_t at = bisect(w->nr, k, w->v[k] < rd->t.spans[i].lo);

		if (at < w->nr && w->v[at] < rd->t.spans[i].hi)
			return true;
	}
	return false;
}

/* Does as visit(), but passes blocks and inlined functions in which nothing is wanted. */
static uint32_t visit_wanted(struct unit_reading *rd, struct byte_reader *r, struct die *d,
			     enum role role, uint32_t node)
{
	size_t first = rd->t.nr_spans;

	if (role == ROLE_FUNCTION || node == UNIT_NONE || !(d->abbrev->slots & HAS_CODE))
		return visit(rd, r, d, role, node);
	die_read(rd->u, r, d, &rd->t.limit);
	if (r->bad || !add_spans(rd, d))
		return node;
	if (!is_wanted(rd, first)) {
		unit_tree_unread(&rd->t, first, node);
		return UNIT_UNREAD;
	}
	if (role == ROLE_INLINED)
		return add_node(rd, d, node);
	rd->t.nr_spans = first;
	return node;
}

/* Leaves out the functions beneath the one that is read: they are read for themselves. */
static bool leaves_functions(struct unit_reading *rd, const struct die *d, enum role role)
{
	return role == ROLE_FUNCTION && d->abbrev->slots & HAS_CODE && d->offset != rd->function;
}

static void read_chosen(struct unit_reading *rd)
{
	for (size_t i = 0; i < rd->regions.nr_funcs && !rd->t.err; i++) {
		struct byte_reader r = die_reader(rd->u, rd->regions.funcs[i].offset);

		rd->function = rd->regions.funcs[i].offset;
		if (rd->regions.funcs[i].is_chosen)
			walk(rd, &r, &(struct walk){ leaves_functions, visit_wanted, true, false });
	}
}

void unit_functions_read(struct unit_reading *rd)
{
	int err;

	if (rd->t.regions)
		read_chosen(rd);
	else
		read_all(rd);
	err = unit_names_settle(&rd->names, &rd->t, rd->lines);
	if (err)
		rd->t.err = err;
}
