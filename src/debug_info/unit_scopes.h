/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which namespaces, classes and functions the entries of a unit are in. Internal to src/debug_info.
 *
 * An entry does not say what it is in: only who reads all entries before it knows. So while a unit
 * is read it is noted where each scope begins and ends:
 *
 *	at = unit_scopes_enter(&s, offset, around)	an entry with others beneath it, in order
 *	unit_scopes_leave(&s, at, end)
 *	unit_scopes_around(&s, offset)			the innermost one that an entry is in
 *	unit_scopes_release(&s)
 */
#pragma once

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/debug_info/die_cursor.h"

struct die_units;

#define NO_SCOPE UINT32_MAX

struct unit_scope {
	uint32_t offset;		/* of its entry in the unit */
	uint32_t end;			/* of what is beneath it */
	uint32_t around;		/* the scope that it is in, or NO_SCOPE */
	uint32_t name;			/* its whole name, in names; 0: not asked for yet */
};

struct unit_scopes {
	struct unit_scope *v;		/* by offset */
	size_t nr, cap;
	const struct die_units *units;	/* that they are of, */
	uint64_t unit;			/* and where that unit begins */
	struct byte_buf names;		/* NUL-terminated; the first byte is none of them */
	bool failed;			/* out of memory: some are missing */
};

/*
 * Whether functions that are beneath an entry have its name in front of theirs. Those of functions
 * that are only declared are parameters.
 */
static inline bool unit_scopes_has(const struct die_abbrev *a)
{
	unsigned tag = a->tag;

	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       (tag == DW_TAG_subprogram && !(a->slots & die_bit(DIE_DECLARATION)));
}

/* The index of the new scope; around, if there is no memory for it. */
uint32_t unit_scopes_enter(struct unit_scopes *s, uint64_t offset, uint32_t around);
void unit_scopes_leave(struct unit_scopes *s, uint32_t at, uint64_t end);

/* Notes all scopes of a unit. */
void unit_scopes_read(struct unit_scopes *s, const struct die_units *us, const struct die_unit *u,
		      struct work_limit *w);

/* The scope that the entry at offset is in; an entry is not in itself. NULL: in none. */
struct unit_scope *unit_scopes_around(const struct unit_scopes *s, uint64_t offset);
void unit_scopes_release(struct unit_scopes *s);
