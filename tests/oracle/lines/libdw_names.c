/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/oracle/lines/libdw_names.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SCOPES 32			/* around a function */

static const char *string_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, attribute, &a) ? dwarf_formstring(&a) : NULL;
}

/* The entry that an entry is a copy of, at last. */
static Dwarf_Die declaration_of(Dwarf_Die die)
{
	Dwarf_Attribute a;
	Dwarf_Die next;

	for (int i = 0; i < 16 && (dwarf_attr(&die, DW_AT_abstract_origin, &a) || dwarf_attr(&die, DW_AT_specification, &a)); i++) {
		if (!dwarf_formref_die(&a, &next))
			break;
		die = next;
	}
	return die;
}

static bool is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram: return true;
	default: return false;
	}
}

/* The entry that a declaration is in. */
static bool around(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Die *scopes = NULL;
	int nr = dwarf_getscopes_die(die, &scopes);
	bool found = false;

	for (int i = 1; i < nr && !found; i++) {
		found = is_scope(&scopes[i]);
		*out = scopes[i];
	}
	free(scopes);
	return found;
}

static bool begins(const char *s, const char *with)
{
	return s && !strncmp(s, with, strlen(with));
}

struct naming {
	libdw_path_fn path_of;
	void *ctx;
	struct libdw_name *name;
};

/* What is too long is no name any more: the reader gives none, either. */
static void put_front(struct naming *x, const char *scope)
{
	char *text = x->name->text;
	size_t len = strlen(scope), has = strlen(text), between = has ? 2 : 0;

	if (len + between + has + 1 > LIBDW_NAME_BYTES)
		return;
	memmove(text + len + between, text, has + 1);
	memcpy(text, scope, len);
	memcpy(text + len, "::", between);
}

static void put_lambda(struct naming *x, Dwarf_Die *die, const char *rest)
{
	const char *path = x->path_of(x->ctx, die), *slash = path ? strrchr(path, '/') : NULL;
	char text[2 * LIBDW_NAME_BYTES];
	Dwarf_Attribute a;
	Dwarf_Word line = 0;

	if (dwarf_attr_integrate(die, DW_AT_decl_line, &a))
		dwarf_formudata(&a, &line);
	if (path)
		snprintf(text, sizeof(text), "{lambda %s:%u}%s", slash ? slash + 1 : path, (unsigned)line, rest);
	else
		snprintf(text, sizeof(text), "{lambda}%s", rest);
	put_front(x, text);
}

static void put_plain(struct naming *x, Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_name);

	if (begins(name, "<lambda"))
		put_lambda(x, die, "");
	else if (name)
		put_front(x, name);
	else
		put_front(x, dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : "{unnamed type}");
}

/* Whether a function is that of a lambda, whose class is scope. */
static bool is_lambda(Dwarf_Die *function, Dwarf_Die *scope)
{
	const char *name = string_of(scope, DW_AT_name);

	return dwarf_tag(function) == DW_TAG_subprogram && begins(string_of(function, DW_AT_name), "operator()") &&
	       dwarf_tag(scope) != DW_TAG_namespace && dwarf_tag(scope) != DW_TAG_subprogram && (!name || begins(name, "<lambda"));
}

static void put_all(struct naming *x, Dwarf_Die die)
{
	for (int i = 0; i < MAX_SCOPES; i++) {
		Dwarf_Die declared = declaration_of(die), scope, outer;
		Dwarf_Attribute a;
		bool more;

		if (dwarf_tag(&declared) == DW_TAG_subprogram && !string_of(&die, DW_AT_name))
			return;
		more = around(&declared, &scope);
		if (more && is_lambda(&die, &scope)) {
			put_lambda(x, dwarf_attr_integrate(&scope, DW_AT_decl_file, &a) ? &scope : &die,
				   string_of(&die, DW_AT_name) + strlen("operator()"));
			x->name->is_lambda |= !i;
			outer = declaration_of(scope);
			more = around(&outer, &scope);
		} else {
			put_plain(x, &die);
		}
		if (!more)
			return;
		die = scope;
	}
}

bool libdw_name_function(Dwarf_Die *die, libdw_path_fn path_of, void *ctx, struct libdw_name *name)
{
	const char *linkage = string_of(die, DW_AT_linkage_name), *plain = string_of(die, DW_AT_name);

	name->text[0] = 0;
	name->is_lambda = false;
	if (!linkage)
		linkage = string_of(die, DW_AT_MIPS_linkage_name);
	if (!plain || (linkage && !(begins(plain, "operator()") && (strstr(linkage, "Ul") || strstr(linkage, "$_") ||
								     strstr(linkage, "Ut")))))
		return false;
	put_all(&(struct naming){ path_of, ctx, name }, *die);
	return !linkage || name->is_lambda;
}
