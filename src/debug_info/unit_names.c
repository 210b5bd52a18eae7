/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_names.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/debug_info/function_facts.h"
#include "src/debug_info/line_program.h"
#include "src/debug_info/unit_source.h"
#include "src/debug_info/unit_tree.h"
#include "src/model/record.h"

#define MAX_SCOPES 32			/* around a function */
#define MAX_NAME 4096			/* bytes; without a name for longer ones */

static const char call_operator[] = "operator()";

static bool begins(const char *s, const char *with)
{
	return s && !strncmp(s, with, strlen(with));
}

/* ---- what is to be named ---- */

void unit_names_begin(struct unit_names *n, const struct die_units *us, const struct die_unit *u)
{
	uint64_t lang = 0;

	die_number(&u->entry, DIE_LANGUAGE, &lang);
	n->is_on = unit_lang(lang) == LANG_CXX;
	n->own.units = us;
	n->own.unit = u->offset;
}

/* Names of lambdas, and of what is in them, have "Ul" in them, or clang's own "$_". */
static bool may_be_lambda(const struct function_facts *f, const char *linkage)
{
	return begins(f->names[DIE_NAME], call_operator) &&
	       (!linkage || strstr(linkage, "Ul") || strstr(linkage, "$_") ||
		strstr(linkage, "Ut"));
}

int unit_names_add(struct unit_names *n, uint32_t func, const struct function_facts *f)
{
	const char *linkage = function_facts_linkage(f);
	struct nameless *x;

	if (!n->is_on || !f->tag || !f->names[DIE_NAME] || (linkage && !may_be_lambda(f, linkage)))
		return 0;
	x = array_push(&n->v, &n->nr, &n->cap);
	if (!x)
		return -ENOMEM;
	*x = (struct nameless){ func, !linkage, f->names[DIE_NAME], f->last };
	return 0;
}

int unit_names_outlined(struct unit_names *n, uint64_t key, uint64_t entry)
{
	struct outlined *x = array_push(&n->outlined, &n->nr_outlined, &n->cap_outlined);

	if (!x)
		return -ENOMEM;
	*x = (struct outlined){ key, entry };
	return 0;
}

/* ---- names ---- */

struct naming {
	struct unit_names *n;
	struct unit_tree *t;
	struct line_program *lines;	/* of the unit itself */
	struct function_facts f;	/* of the function that is named */
	struct byte_buf name;
	bool is_lambda;			/* the function itself */
};

/* A scope and where its entry is. */
struct found_scope {
	struct unit_scopes *of;
	struct unit_scope *scope;	/* NULL: there is none */
	struct die_ref ref;
};

/* The scopes of the unit that an entry is in; NULL: it is damaged, or is one too many. */
static struct unit_scopes *scopes_of(struct naming *x, const struct die_ref *ref)
{
	struct unit_names *n = x->n;
	int err;
	const struct die_unit *u =
		die_units_open(ref->units, ref->offset, &x->t->limit, &err);
	struct unit_scopes *s;

	if (!u)
		return NULL;
	if (n->own.units == ref->units && n->own.unit == u->offset)
		return &n->own;
	for (unsigned i = n->nr_others; i-- > 0;)
		if (n->others[i].units == ref->units && n->others[i].unit == u->offset)
			return &n->others[i];
	n->other_bytes += u->end - u->offset;
	if (n->nr_others == NAMES_OTHER_UNITS || n->other_bytes > NAMES_OTHER_BYTES)
		return NULL;
	s = &n->others[n->nr_others++];
	unit_scopes_read(s, ref->units, u, &x->t->limit);
	return s;
}

/* The scope that an entry is in. */
static struct found_scope find_around(struct naming *x, const struct die_ref *ref)
{
	struct found_scope found = { .of = scopes_of(x, ref), .ref = *ref };

	if (found.of)
		found.scope = unit_scopes_around(found.of, ref->offset);
	if (found.scope)
		found.ref.offset = found.of->unit + found.scope->offset;
	return found;
}

static void put_part(struct naming *x, const char *s)
{
	if (x->name.nr && x->name.nr < MAX_NAME)
		bb_bytes(&x->name, "::", 2);
	if (x->name.nr < MAX_NAME)
		bb_bytes(&x->name, s, strlen(s));
}

static struct line_program *lines_of(struct naming *x, const struct function_facts *f)
{
	const struct die_unit *u;
	int err;

	if (f->file_units == x->n->own.units && f->file_unit == x->n->own.unit)
		return x->lines;
	u = die_units_open(f->file_units, f->file_unit, &x->t->limit, &err);
	return u ? die_units_lines(f->file_units, u, &x->t->limit) : NULL;
}

/* rest: what is behind "operator()" in the name of one that is a template. */
static void put_lambda(struct naming *x, const struct function_facts *f, const char *rest)
{
	struct line_program *p = f->file_units ? lines_of(x, f) : NULL;
	char path[LINE_PATH_BYTES], place[320] = "";
	const char *file = p ? line_program_path(p, f->file, path) : NULL;
	const char *slash = file ? strrchr(file, '/') : NULL;

	if (file)
		snprintf(place, sizeof(place), " %.255s:%u", slash ? slash + 1 : file,
			 (unsigned)f->line);
	put_part(x, "{lambda");
	bb_bytes(&x->name, place, strlen(place));
	bb_u8(&x->name, '}');
	bb_bytes(&x->name, rest, strlen(rest));
}

/* Classes that compilers make for lambdas: gcc calls them so, clang not at all. */
static bool is_lambda_class(const struct function_facts *f)
{
	return f->tag && f->tag != DW_TAG_namespace && f->tag != DW_TAG_subprogram &&
	       (!f->names[DIE_NAME] || begins(f->names[DIE_NAME], "<lambda"));
}

static void put_plain(struct naming *x, const struct function_facts *f)
{
	const char *name = f->names[DIE_NAME];

	if (begins(name, "<lambda"))
		put_lambda(x, f, "");
	else if (name)
		put_part(x, name);
	else
		put_part(x, f->tag == DW_TAG_namespace ? "(anonymous namespace)"
						       : "{unnamed type}");
}

static void put_scope(struct naming *x, const struct found_scope *around, unsigned depth);

/*
 * Puts the name of an entry behind those of what it is in. clang's functions around classes may
 * have no name, and nothing around them.
 */
static void put_whole(struct naming *x, const struct function_facts *f, unsigned depth)
{
	const char *name = f->names[DIE_NAME];
	bool is_call = f->tag == DW_TAG_subprogram && begins(name, call_operator);
	struct found_scope around;
	struct function_facts class;

	if (!f->tag || (f->tag == DW_TAG_subprogram && !name))
		return;
	around = find_around(x, &f->last);
	if (is_call && around.scope) {
		function_facts_gather(&around.ref, &x->t->limit, &class);
		is_call = is_lambda_class(&class);
	}
	is_call &= around.scope != NULL;
	if (is_call)			/* the class has no name of its own */
		around = find_around(x, &class.last);
	if (around.scope && depth < MAX_SCOPES)
		put_scope(x, &around, depth + 1);
	if (is_call)
		put_lambda(x, class.file_units ? &class : f, name + strlen(call_operator));
	else
		put_plain(x, f);
	x->is_lambda |= is_call && !depth;
}

/* Most functions are in a few scopes, of which those of the unit itself are remembered. */
static void put_scope(struct naming *x, const struct found_scope *around, unsigned depth)
{
	struct unit_scopes *own = around->of == &x->n->own ? around->of : NULL;
	struct function_facts f;
	uint32_t name = around->scope->name;

	if (own && name) {
		bb_bytes(&x->name, own->names.v + name, strlen((char *)own->names.v + name));
		return;
	}
	function_facts_gather(&around->ref, &x->t->limit, &f);
	put_whole(x, &f, depth);
	if (!own || x->name.bad)
		return;
	around->scope->name = (uint32_t)own->names.nr;
	bb_bytes(&own->names, x->name.v, x->name.nr);
	bb_u8(&own->names, 0);
	if (own->names.bad)
		around->scope->name = 0;
}

static void name_function(struct naming *x, const struct nameless *v)
{
	struct unit_func *f = &x->t->funcs[v->func];

	x->f.tag = DW_TAG_subprogram;
	x->f.names[DIE_NAME] = v->name;
	x->f.last = v->declared;
	if (begins(v->name, call_operator))
		function_facts_gather(&v->declared, &x->t->limit, &x->f);
	x->name.nr = 0;
	x->is_lambda = false;
	put_whole(x, &x->f, 0);
	bb_u8(&x->name, 0);
	if (x->name.bad || x->name.nr > MAX_NAME || !(v->lacks_linkage || x->is_lambda))
		return;
	f->scoped = unit_text_add(&x->t->text, (const char *)x->name.v);
	f->is_lambda = x->is_lambda;
}

/* Puts down where functions have code of their own: the first piece of several. */
static void put_entries(struct unit_names *n, struct unit_tree *t)
{
	for (size_t i = 0; i < n->nr_outlined; i++) {
		uint32_t id = unit_tree_find_func(t, n->outlined[i].key);

		if (id < t->nr_funcs && t->funcs[id].scoped != UNIT_NONE && !t->outlined[id])
			t->outlined[id] = n->outlined[i].entry;
	}
}

int unit_names_settle(struct unit_names *n, struct unit_tree *t, struct line_program *lines)
{
	struct naming *x = n->nr ? malloc(sizeof(*x)) : NULL;

	if (!n->nr)
		return 0;
	if (!x || n->own.failed || array_reserve(&t->outlined, &t->cap_outlined, t->nr_funcs)) {
		free(x);
		return -ENOMEM;
	}
	*x = (struct naming){ .n = n, .t = t, .lines = lines };
	bb_u8(&n->own.names, 0);
	for (size_t i = 0; i < n->nr && unit_tree_go_on(t); i++)
		name_function(x, &n->v[i]);
	bb_release(&x->name);
	free(x);
	put_entries(n, t);
	return 0;
}

void unit_names_release(struct unit_names *n)
{
	free(n->v);
	free(n->outlined);
	unit_scopes_release(&n->own);
	for (unsigned i = 0; i < n->nr_others; i++)
		unit_scopes_release(&n->others[i]);
	memset(n, 0, sizeof(*n));
}
