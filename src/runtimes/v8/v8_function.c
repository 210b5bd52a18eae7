/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function that was compiled has a ScopeInfo, whose slots are: flags, number of parameters,
 * number of variables; names and properties of the variables; and then, as the flags say, something
 * about a class, the function's name, a name that was inferred, and its position. In 13.6 the
 * position is before the variables.
 */
#include "src/runtimes/v8/v8_function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/runtime.h"
#include "src/runtimes/v8/v8_program.h"
#include "src/runtimes/v8/v8_strings.h"

#define SHARED_BYTES 64
#define WORD_BYTES 8
#define MAX_VARIABLES (1u << 16)
#define MAX_INLINED_NAMES 75		/* with more of them one slot has a table of all names */
#define NO_TOKEN 0xffff

/* Bits of a ScopeInfo's flags, the same in all known versions. */
enum {
	SCOPE_SAVED_CLASS = 1 << 10,
	SCOPE_NAME = 3 << 12,
	SCOPE_INFERRED_NAME = 1 << 14,
};

struct scope {
	const struct target_memory *m;
	uint64_t addr;
	uint32_t at;			/* of the next slot */
	int err;
};

static uint64_t next_slot(struct scope *s)
{
	uint64_t v = 0;

	if (!s->err)
		s->err = target_read_u64(s->m, s->addr + s->at, &v);
	s->at += WORD_BYTES;
	return v;
}

static uint32_t next_number(struct scope *s)
{
	return (uint32_t)(next_slot(s) >> 32);
}

/* Skips the variables, if their number may be one. */
static void skip_variables(struct scope *s, uint32_t nr)
{
	uint32_t names = nr < MAX_INLINED_NAMES ? nr : 1;

	if (nr > MAX_VARIABLES)
		s->err = -ESTALE;
	s->at += (names + nr) * WORD_BYTES;
}

static bool has_text(const char *name)
{
	return name && *name;
}

/* A string of a slot, if there is none yet. */
static void take_name(const struct target_memory *m, uint64_t string, char **name)
{
	char *text = NULL;

	if (has_text(*name) || v8_string_read(m, string, RUNTIME_NAME_BYTES, &text))
		return;
	free(*name);
	*name = text;
}

static int read_scope(const struct target_memory *m, const struct v8_layout *l, uint64_t scope,
		      struct v8_function *f)
{
	struct scope s = { .m = m, .addr = scope - V8_TAG, .at = WORD_BYTES };
	uint64_t word = next_slot(&s);
	uint32_t flags = l->is_scope_raw ? (uint32_t)word : (uint32_t)(word >> 32), nr;

	next_slot(&s);
	nr = next_number(&s);
	if (l->scope_position) {
		f->start = next_number(&s);
		f->end = next_number(&s);
	}
	s.at = l->scope_variables;
	skip_variables(&s, nr);
	if (flags & SCOPE_SAVED_CLASS)
		next_slot(&s);
	if (flags & SCOPE_NAME) {
		take_name(m, next_slot(&s), &f->name);
		next_slot(&s);
	}
	if (flags & SCOPE_INFERRED_NAME)
		take_name(m, next_slot(&s), &f->name);
	if (!l->scope_position) {
		f->start = next_number(&s);
		f->end = next_number(&s);
	}
	return s.err;
}

static int read_name(const struct target_memory *m, const struct v8_layout *l, uint64_t name,
		     struct v8_function *f)
{
	uint32_t type;
	int err = 0;

	if ((name & 3) == V8_TAG)
		err = v8_type_of(m, name, &type);
	if (!err && (name & 3) == V8_TAG) {
		if (type == l->type_scope)
			err = read_scope(m, l, name, f);
		else
			take_name(m, name, &f->name);
	}
	if (err || has_text(f->name))
		return err;
	free(f->name);
	f->name = strdup("(anonymous)");
	return f->name ? 0 : -ENOMEM;
}

static int read_script(const struct target_memory *m, const struct v8_layout *l, uint64_t script,
		       struct v8_function *f)
{
	uint64_t name;
	uint32_t type;
	int err = v8_type_of(m, script, &type);

	if (err || type != l->type_script)
		return err;
	f->script = script;
	err = target_read_u64(m, script - V8_TAG + V8_SCRIPT_NAME, &name);
	if (!err && v8_string_read(m, name, RUNTIME_FILE_BYTES, &f->file) == -ENOMEM)
		err = -ENOMEM;
	return err;
}

int v8_function_read(const struct target_memory *m, const struct v8_layout *l, uint64_t shared,
		     struct v8_function *out)
{
	struct v8_function f = { 0 };
	uint8_t bytes[SHARED_BYTES];
	const struct target_bytes v = { bytes, l->shared_literal + sizeof(uint32_t) };
	uint64_t script, id, token;
	uint32_t type, literal;
	int err = v8_type_of(m, shared, &type);

	if (!err && (type != l->type_shared || v.len > sizeof(bytes)))
		err = -ESTALE;
	if (!err)
		err = target_read(m, shared - V8_TAG, bytes, v.len);
	if (err)
		return err;
	f.data = target_bytes_u64(v, l->shared_data);
	script = target_bytes_u64(v, l->shared_script);
	literal = target_bytes_u32(v, l->shared_literal);
	token = target_bytes_number(v, l->shared_token, 2);
	err = target_read_u64(m, script - V8_TAG + V8_SCRIPT_ID, &id);
	f.cookie = v8_cookie((uint32_t)(id >> 32), literal);
	if (!err)
		err = read_script(m, l, script, &f);
	if (!err)
		err = read_name(m, l, target_bytes_u64(v, l->shared_name), &f);
	if (token != NO_TOKEN && token <= f.start)
		f.start -= (uint32_t)token;
	if (err)
		v8_function_release(&f);
	*out = f;
	return err;
}

void v8_function_release(struct v8_function *f)
{
	free(f->name);
	free(f->file);
	*f = (struct v8_function){ 0 };
}
