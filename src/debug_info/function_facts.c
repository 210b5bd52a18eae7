/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/function_facts.h"

#include <string.h>

#include "src/debug_info/work_limit.h"

#define MAX_CHAIN 17			/* entries that say what one is a copy of */

static const enum die_slot name_slots[] = { DIE_LINKAGE_NAME, DIE_MIPS_LINKAGE_NAME, DIE_NAME };

/* Notes that a slot counts here; false: an entry before has it. */
static bool is_first(struct function_facts *f, const struct die *d, enum die_slot slot)
{
	if (!die_has(d, slot) || f->have & die_bit(slot))
		return false;
	f->have |= die_bit(slot);
	return true;
}

static void take_facts(struct function_facts *f, struct die_units *us, const struct die_unit *u,
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

void function_facts_gather(const struct die_ref *first, struct work_limit *w,
			   struct function_facts *f)
{
	struct die_ref at = *first;
	struct die d;

	memset(f, 0, sizeof(*f));
	for (unsigned i = 0; i < MAX_CHAIN && work_go_on(w, 1); i++) {
		const struct die_unit *u = die_units_read(&at, w, &d);
		enum die_slot next;

		if (!u)
			return;
		take_facts(f, at.units, u, &d);
		f->last = at;
		f->tag = d.abbrev->tag;
		next = die_has(&d, DIE_ABSTRACT_ORIGIN) ? DIE_ABSTRACT_ORIGIN : DIE_SPECIFICATION;
		if (!die_units_refer(at.units, u, &d, next, &at))
			return;
	}
}

const char *function_facts_linkage(const struct function_facts *f)
{
	const char *name = f->names[DIE_LINKAGE_NAME];

	return name ? name : f->names[DIE_MIPS_LINKAGE_NAME];
}
