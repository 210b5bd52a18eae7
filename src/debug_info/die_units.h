/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The units of one .debug_info (DWARF 5, 7.5.1), and references from one to another.
 *
 *	die_units_new(s, &us)			reads the headers of all units
 *	die_units_set_alternate(us, alt)	of the file that dwz has made
 *	die_units_set_skeleton(us, &skeleton)	of a file of split units
 *	u = die_units_open(us, offset, &w, &err)	the unit around an offset
 *	die_units_refer(us, u, d, slot, &ref)	the entry that an attribute refers to
 *	die_units_free(us)
 *
 * A few units are kept open, with their abbreviations and their lists of files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/debug_info/die_cursor.h"

struct die_units;
struct line_program;
struct work_limit;

/* s is borrowed. 0, -ENOENT: there are none, or -ENOMEM. */
int die_units_new(const struct debug_sections *s, struct die_units **usp);
void die_units_free(struct die_units *us);		/* NULL is fine; not its alternate */

/* Borrowed. */
void die_units_set_alternate(struct die_units *us, struct die_units *alt);

/* The addresses of split units, before one of them is opened. */
void die_units_set_skeleton(struct die_units *us, const struct die_skeleton *skeleton);

/* How many, and the entry of one: the offset of its header's end. */
size_t die_units_nr(const struct die_units *us);
uint64_t die_units_entry(const struct die_units *us, size_t i);
/* The size of the unit around an offset; 0: there is none. */
uint64_t die_units_bytes(const struct die_units *us, uint64_t offset);

/*
 * The unit holds until another one is opened. NULL: no such unit, or it is damaged; *err says why:
 * -EBADMSG, -ENOMEM, or -ENOTSUP.
 */
const struct die_unit *die_units_open(struct die_units *us, uint64_t offset, struct work_limit *w,
				      int *err);

/* The split unit of this id, as above. *err: -ENOENT, too: there is none. */
const struct die_unit *die_units_find_split(struct die_units *us, uint64_t id,
					    struct work_limit *w, int *err);

/* Has u hold until another one is kept. */
void die_units_keep(struct die_units *us, const struct die_unit *u);

/* Likewise its line program; NULL: it has none, or its header is damaged. */
struct line_program *die_units_lines(struct die_units *us, const struct die_unit *u,
				     struct work_limit *w);

/* An entry of a unit of this file or of the alternate one. */
struct die_ref {
	struct die_units *units;
	uint64_t offset;
};

/*
 * false: no such attribute, or it leads nowhere. A signature leads nowhere, too: it names a type in
 * a unit of types (DWARF 5, 3.1.4), and no function is made of one.
 */
bool die_units_refer(struct die_units *us, const struct die_unit *u, const struct die *d,
		    enum die_slot slot, struct die_ref *ref);

/* Reads the entry that is referred to; the unit that it is in holds as above. NULL: damaged. */
const struct die_unit *die_units_read(const struct die_ref *ref, struct work_limit *w,
				      struct die *d);
