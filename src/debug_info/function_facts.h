/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the entries of a function say of it. Internal to src/debug_info.
 *
 * A function may have several entries: of its code at one place, of what that was made of, and of
 * its declaration in a class. Each refers to the next one, and the first one that says a thing
 * counts. Strings are borrowed from the sections.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/debug_info/die_units.h"

struct function_facts {
	uint32_t have;			/* bits of slots */
	const char *names[NR_DIE_SLOTS];
	uint64_t file, line;
	struct die_units *file_units;	/* NULL: no file is known */
	uint64_t file_unit;		/* whose list of files has it */
	struct die_ref last;		/* where it is declared: the last of the entries */
	unsigned tag;			/* of the last one; 0: there is none, or damage */
};

/* Gathers what an entry, and those that it is made of, say of a function, or of a class. */
void function_facts_gather(const struct die_ref *first, struct work_limit *w,
			   struct function_facts *f);

/* The name that the linker knows, or NULL. */
const char *function_facts_linkage(const struct function_facts *f);
