/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the entries of a compilation unit (DWARF 2 to 5, chapter 7.5), one behind the other.
 *
 *	r = die_reader(u, offset)
 *	die_next(u, &r, &d)		the code of the next entry
 *	die_read(u, &r, &d)		its wanted attributes, or
 *	die_skip(u, &r, &d)		comes past it
 *	die_skip_children(u, &r, &d, w)	comes past the entries beneath one that was read
 *	die_skip_tree(u, &r, a, w)	comes past an entry and those beneath
 *
 * Values are as they are in the section, until someone asks what they stand for: die_number() and
 * the like. An entry is read once, with all that is wanted of it.
 *
 * The bytes are foreign. Each read is within the unit, and a sibling is followed forward only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/debug_info/debug_sections.h"
#include "src/debug_info/die_abbrevs.h"

struct work_limit;

struct die_value {
	uint64_t v;			/* of FORM_STRING: where it is in .debug_info */
	uint16_t form;
	uint8_t class;			/* enum form_class */
};

struct die {
	uint64_t offset;		/* in .debug_info */
	const struct die_abbrev *abbrev;
	uint32_t have;			/* bits of the slots that were read */
	struct die_value value[NR_DIE_SLOTS];
};

/*
 * What a split unit has of its skeleton, which is in another file (DWARF 5, 3.1.2): where its
 * addresses begin in .debug_addr; in gcc's extension of DWARF 4 also where its lists begin in
 * .debug_ranges; and the address that range lists begin with.
 */
struct die_skeleton {
	uint64_t addr_base, ranges_base, base;
};

struct die_unit {
	const struct debug_sections *s;
	const struct debug_sections *alt;	/* that of dwz, or NULL */
	const struct die_skeleton *skeleton;	/* NULL: the unit is not split */
	uint64_t offset, end;		/* of the unit in .debug_info, with its header */
	uint64_t first;			/* of its entry */
	uint64_t id;			/* that both halves of a split unit have; 0: none */
	struct die_sizes sizes;
	const struct die_abbrevs *abbrevs;
	struct die entry;
	/* By the entry; bases are offsets in their sections. */
	uint64_t str_offsets_base, addr_base, rnglists_base;
	uint64_t ranges_base;		/* of lists in .debug_ranges */
	uint64_t base;			/* address that range lists begin with */
};

/* Reads the entry of u, of which all up to abbrevs is set. 0 or -EBADMSG. */
int die_unit_begin(struct die_unit *u, struct work_limit *w);

/* A reader of what is in the unit from offset on. */
struct byte_reader die_reader(const struct die_unit *u, uint64_t offset);

enum die_found { DIE_DAMAGED, DIE_END, DIE_ENTRY };

/* The abbreviation of the next entry. */
static inline enum die_found die_next_abbrev(const struct die_unit *u, struct byte_reader *r,
					     const struct die_abbrev **a)
{
	uint64_t code = die_unsigned(r);

	if (!code)
		return r->bad ? DIE_DAMAGED : DIE_END;
	*a = die_abbrevs_find(u->abbrevs, code);
	return *a ? DIE_ENTRY : DIE_DAMAGED;
}

/* DIE_END: no more entries at this depth. Sets offset and abbrev. */
static inline enum die_found die_next(const struct die_unit *u, struct byte_reader *r,
				      struct die *d)
{
	d->offset = (uint64_t)(r->p - u->s->part[DEBUG_INFO].v);
	return die_next_abbrev(u, r, &d->abbrev);
}

/* These sets r->bad if the entry is damaged. */
void die_read(const struct die_unit *u, struct byte_reader *r, struct die *d, struct work_limit *w);
void die_skip(const struct die_unit *u, struct byte_reader *r, const struct die_abbrev *a,
	      struct work_limit *w);

/* Comes past an entry and all that is beneath it. */
void die_skip_tree(const struct die_unit *u, struct byte_reader *r, const struct die_abbrev *a,
		   struct work_limit *w);

/* Comes past what is beneath an entry that was read. */
void die_skip_children(const struct die_unit *u, struct byte_reader *r, const struct die *d,
		       struct work_limit *w);

static inline bool die_has(const struct die *d, enum die_slot slot)
{
	return d->have & die_bit(slot);
}

/* ---- what a value stands for; false or NULL: nothing, or the value is of another kind ---- */

static inline bool die_number(const struct die *d, enum die_slot slot, uint64_t *v)
{
	if (!die_has(d, slot) || d->value[slot].class != CLASS_NUMBER)
		return false;
	*v = d->value[slot].v;
	return true;
}

bool die_address(const struct die_unit *u, const struct die *d, enum die_slot slot, uint64_t *v);
/* A number of an entry of .debug_addr. */
bool die_address_at(const struct die_unit *u, uint64_t index, uint64_t *v);
const char *die_string(const struct die_unit *u, const struct die_value *v);

/*
 * Reads a value of a form, as other tables have them, too. false: it is damaged, or the form is
 * unknown. v->v of FORM_STRING: where it is behind begin.
 */
bool die_read_value(struct byte_reader *r, const struct die_sizes *sizes, unsigned form,
		    const uint8_t *begin, struct die_value *v);
