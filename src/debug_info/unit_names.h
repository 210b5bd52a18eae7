/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of C++ functions that have none for the linker, or one that says little. Internal to
 * src/debug_info: a part of unit_functions.c.
 *
 * A function that no other unit can call, such as one of an anonymous namespace or a template made
 * for a lambda, has a plain name in the debug information: "sort<...>". So the names of what its
 * declaration is in are put in front, as the demangler does: "std::sort<...>". If it has code of
 * its own somewhere, the symbol there has a better one: unit_func.entry says where.
 *
 * A lambda is called operator() of a class that is called "<lambda(int)>" or nothing, so all of a
 * program look the same. It gets the name of what it is in and the place where it stands:
 * "main::{lambda hog.cc:66}".
 *
 *	unit_names_begin(&names, us, u)
 *	unit_names_add(&names, func, &facts)		a function of the tree, any number
 *	unit_names_outlined(&names, key, entry)		code of its own, in the order of the entries
 *	unit_names_settle(&names, &tree, lines)		once the scopes of the unit are noted
 *	unit_names_release(&names)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/debug_info/die_units.h"
#include "src/debug_info/unit_scopes.h"

/*
 * What link-time optimisation makes refers to functions of many other units. So many are looked at
 * for the scopes in them; a function of another one has its plain name.
 */
#define NAMES_OTHER_UNITS 64
#define NAMES_OTHER_BYTES (16u << 20)

struct function_facts;
struct line_program;
struct unit_tree;

struct nameless {
	uint32_t func;			/* its number in the tree */
	bool lacks_linkage;
	const char *name;		/* as in the source; borrowed */
	struct die_ref declared;
};

struct outlined {
	uint64_t key, entry;		/* of the function in the tree; an address */
};

struct unit_names {
	bool is_on;			/* the unit is of C++ */
	struct nameless *v;
	size_t nr, cap;
	struct outlined *outlined;
	size_t nr_outlined, cap_outlined;
	struct unit_scopes own, others[NAMES_OTHER_UNITS];
	unsigned nr_others;
	uint64_t other_bytes;		/* of the units that were read so far */
};

void unit_names_begin(struct unit_names *n, const struct die_units *us, const struct die_unit *u);
/* 0 or -ENOMEM, as the next two. */
int unit_names_add(struct unit_names *n, uint32_t func, const struct function_facts *f);
int unit_names_outlined(struct unit_names *n, uint64_t key, uint64_t entry);
/* lines: those of the unit itself, or NULL. */
int unit_names_settle(struct unit_names *n, struct unit_tree *t, struct line_program *lines);
void unit_names_release(struct unit_names *n);
