/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8/v8_layout.h"
#include "src/runtimes/v8/v8_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/model/record.h"
#include "src/runtimes/runtime_kind.h"
#include "src/runtimes/v8/v8_baseline.h"
#include "src/runtimes/v8/v8_bytecodes.h"
#include "src/runtimes/v8/v8_code.h"
#include "src/runtimes/v8/v8_function.h"
#include "src/runtimes/v8/v8_inlining.h"
#include "src/runtimes/v8/v8_lines.h"
#include "src/runtimes/v8/v8_positions.h"
#include "src/runtimes/v8/v8_program.h"

/* What is kept in runtime_code.lines: this, and nr of one of the two below. */
struct told {
	uint32_t nr;
	uint8_t tier;			/* enum func_tier */
	uint8_t is_functions;
	uint16_t pad;
};

/* Lines of one function: from that offset on. */
struct told_line {
	uint32_t offset, line;
};

/* Functions of one instruction, innermost first. Names are offsets in .lines; file 0: none. */
struct told_function {
	uint32_t name, file, line, first_line;
	uint32_t tier;
};

struct naming {
	const struct target_memory *m;
	const struct v8_layout *l;
	const struct kept_memory *kept;
	struct byte_buf told;
};

static int finish(struct naming *n, struct runtime_code *c)
{
	if (n->told.bad)
		return -ENOMEM;
	c->lines = n->told.v;
	c->lines_bytes = (uint32_t)n->told.nr;
	n->told = (struct byte_buf){ 0 };
	return 0;
}

/* Lines up to the end of the function; NULL: only the name is known. Borrowed. */
static int lines_of(const struct naming *n, const struct v8_function *f,
		    const struct v8_lines **out)
{
	int err = f->script ? v8_lines_find(n->kept, f->script, f->end, out) : -ENOTSUP;

	if (err)
		*out = NULL;
	return err == -ENOMEM || err == -ETIMEDOUT || err == -ECANCELED ? err : 0;
}

/* ---- functions that are interpreted, or that baseline code is of ---- */

static void put_lines(struct naming *n, struct told *told, const struct v8_position *v, size_t nr,
		      const struct v8_lines *lines)
{
	told->nr = (uint32_t)nr;
	bb_bytes(&n->told, told, sizeof(*told));
	for (size_t i = 0; i < nr; i++) {
		const struct told_line line = { v[i].offset, v8_line_of(lines, v[i].character) };

		bb_bytes(&n->told, &line, sizeof(line));
	}
}

/* The offsets of bytecodes become those of machine code, or are counted from the object on. */
static int place_positions(const struct naming *n, uint64_t bytecodes, const struct v8_code *code,
			   struct v8_position *v, int nr)
{
	if (code)
		return v8_baseline_place(n->m, n->l, bytecodes, code, v, (size_t)nr);
	for (int i = 0; i < nr; i++)
		v[i].offset += n->l->bytecode_data - V8_TAG;
	return nr;
}

static int tell_lines(struct naming *n, const struct v8_function *f, bool is_baseline,
		      struct told *told)
{
	struct v8_code code = { 0 };
	struct v8_position *v = NULL;
	const struct v8_lines *lines;
	uint64_t bytecodes;
	int has_code = !v8_bytecodes_find(n->m, n->l, f->data, &bytecodes, &code), nr;
	int err = lines_of(n, f, &lines);

	if (err)
		return err;
	nr = is_baseline && !has_code ? -ENOENT : v8_bytecodes_positions(n->m, n->l, bytecodes, &v);
	if (nr > 0)
		nr = place_positions(n, bytecodes, is_baseline ? &code : NULL, v, nr);
	put_lines(n, told, v, nr < 0 ? 0 : (size_t)nr, lines);
	free(v);
	return nr == -ENOMEM ? nr : 0;
}

static int tell_first_line(struct naming *n, const struct v8_function *f, uint32_t *line)
{
	const struct v8_lines *lines;
	int err = lines_of(n, f, &lines);

	*line = v8_line_of(lines, f->start);
	return err;
}

static int tell_function(struct naming *n, uint64_t shared, bool is_baseline, uint32_t cookie,
			 struct runtime_code *c)
{
	struct told told = { .tier = is_baseline ? TIER_BASELINE : TIER_INTERPRETED };
	struct v8_function f;
	int err = v8_function_read(n->m, n->l, shared, &f);

	if (err)
		return err;
	if (f.cookie != cookie) {
		v8_function_release(&f);
		return -ESTALE;
	}
	if (!(f.data & V8_TAG))
		told.tier = TIER_BUILTIN;
	err = tell_first_line(n, &f, &c->first_line);
	if (!err)
		err = tell_lines(n, &f, is_baseline, &told);
	c->name = f.name;
	c->file = f.file;
	f.name = f.file = NULL;
	v8_function_release(&f);
	return err ? err : finish(n, c);
}

/* ---- optimized code ---- */

#define NOT_KNOWN "[inlined functions, if any]"

struct answer {
	struct told_function functions[V8_MAX_INLINED];
	struct byte_buf texts;
	uint32_t texts_at;		/* where they will be */
};

static uint32_t put_text(struct answer *a, const char *text)
{
	uint32_t at = a->texts_at + (uint32_t)a->texts.nr;

	if (!text)
		return 0;
	bb_bytes(&a->texts, text, strlen(text) + 1);
	return at;
}

static int tell_inlined(struct naming *n, const struct v8_inlined *in, struct answer *a,
			struct told_function *out, uint32_t *cookie)
{
	struct v8_function f;
	const struct v8_lines *lines;
	int err;

	if (!in->shared) {
		*out = (struct told_function){ .name = put_text(a, NOT_KNOWN),
					       .tier = TIER_OPTIMIZED };
		return 0;
	}
	err = v8_function_read(n->m, n->l, in->shared, &f);
	if (err)
		return err;
	err = lines_of(n, &f, &lines);
	*out = (struct told_function){ .name = put_text(a, f.name), .file = put_text(a, f.file),
				       .line = v8_line_of(lines, in->character),
				       .first_line = v8_line_of(lines, f.start),
				       .tier = TIER_OPTIMIZED };
	*cookie = f.cookie;
	v8_function_release(&f);
	return err;
}

static int put_functions(struct naming *n, struct answer *a, uint32_t nr, struct runtime_code *c)
{
	const struct told told = { .nr = nr, .tier = TIER_OPTIMIZED, .is_functions = 1 };

	bb_bytes(&n->told, &told, sizeof(told));
	bb_bytes(&n->told, a->functions, nr * sizeof(a->functions[0]));
	if (a->texts.nr)
		bb_bytes(&n->told, a->texts.v, a->texts.nr);
	n->told.bad |= a->texts.bad;
	return finish(n, c);
}

static int tell_chain(struct naming *n, const struct v8_inlined *in, int nr, uint32_t cookie,
		      struct runtime_code *c)
{
	struct answer a = { .texts_at = (uint32_t)(sizeof(struct told) +
						   (size_t)nr * sizeof(a.functions[0])) };
	uint32_t of_code = 0;
	int err = 0;

	for (int i = 0; !err && i < nr; i++)
		err = tell_inlined(n, &in[i], &a, &a.functions[i], &of_code);
	if (!err && of_code != cookie)
		err = -ESTALE;
	if (!err)
		err = put_functions(n, &a, (uint32_t)nr, c);
	bb_release(&a.texts);
	return err;
}

/* Code that is known by its kind alone. */
static int tell_kind(struct naming *n, const char *name, uint8_t tier, struct runtime_code *c)
{
	const struct told told = { .tier = tier };

	c->name = strdup(name);
	if (!c->name)
		return -ENOMEM;
	bb_bytes(&n->told, &told, sizeof(told));
	return finish(n, c);
}

/* pc: the interrupted instruction, or a return address. */
static int tell_code(struct naming *n, uint64_t pc, bool is_interrupted, uint32_t cookie,
		     struct runtime_code *c)
{
	struct v8_inlined in[V8_MAX_INLINED];
	struct v8_code code;
	int err, nr;

	if (!is_interrupted)
		pc--;
	err = v8_code_find(n->m, n->l, pc, &code);
	if (err)
		return err;
	/* This is the only builtin that is copied (v8_program.c). */
	if (code.kind == V8_KIND_BUILTIN)
		return tell_kind(n, "InterpreterEntryTrampoline", TIER_BUILTIN, c);
	/* Baseline code does not tell its function. */
	if (code.kind <= n->l->kind_baseline || code.kind > n->l->kind_baseline + 2)
		return -ESTALE;
	nr = v8_inlined_at(n->m, n->l, &code, pc, is_interrupted, in);
	return nr < 0 ? nr : tell_chain(n, in, nr, cookie, c);
}

/* Names of WebAssembly are in its module, which is not looked for. */
static int tell_marked(struct naming *n, uint32_t marker, struct runtime_code *c)
{
	const bool is_regexp = n->l->regexp_marker && marker == n->l->regexp_marker;

	if (!is_regexp && marker != V8_WASM_MARKER)
		return -ESTALE;
	return tell_kind(n, is_regexp ? "[regular expression]" : "[wasm function]", TIER_OPTIMIZED,
			 c);
}

/* ---- the functions of runtime.h ---- */

/* The code itself tells its kind. */
int v8_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		 enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		 struct runtime_code **out)
{
	struct v8_layout l;
	struct naming n = { .m = &k->memory, .l = &l, .kept = k };
	struct runtime_code *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	(void)bias;
	(void)kind;
	RUNTIME_GET_OWN(image, &l);
	if (c && code == V8_IS_CODE)
		err = tell_marked(&n, cookie, c);
	else if (c && code & V8_IS_CODE)
		err = tell_code(&n, code & ~(V8_IS_CODE | V8_IS_INTERRUPTED),
				code & V8_IS_INTERRUPTED, cookie, c);
	else if (c)
		err = tell_function(&n, code & ~(uint64_t)V8_IS_BASELINE, code & V8_IS_BASELINE,
				    cookie, c);
	bb_release(&n.told);
	if (err) {
		runtime_code_free(c);
		return err;
	}
	*out = c;
	return 0;
}

static const struct told *told_of(const struct runtime_code *c)
{
	return (const struct told *)c->lines;
}

int v8_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line)
{
	const struct told *told = told_of(c);
	const struct told_line *v = (const struct told_line *)(told + 1);
	uint32_t low = 0, nr = told->nr;

	*line = 0;
	if (told->is_functions || told->tier == TIER_BUILTIN || instruction == V8_NO_OFFSET)
		return -ENODATA;
	while (nr) {
		uint32_t half = nr / 2;

		if (v[low + half].offset <= instruction) {
			low += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	*line = low ? v[low - 1].line : 0;
	return *line ? 0 : -ENODATA;
}

int v8_code_lines(const struct runtime_code *c, uint32_t instruction, struct runtime_line *lines,
		  size_t max)
{
	const struct told *told = told_of(c);
	const struct told_function *f = (const struct told_function *)(told + 1);
	const char *texts = (const char *)c->lines;
	size_t nr = told->nr < max ? told->nr : max;

	if (!told->is_functions) {
		*lines = (struct runtime_line){ .name = c->name, .file = c->file,
						.first_line = c->first_line, .tier = told->tier };
		v8_code_line(c, instruction, &lines->line);
		return 1;
	}
	for (size_t i = 0; i < nr; i++)
		lines[i] = (struct runtime_line){
			.name = texts + f[i].name, .file = f[i].file ? texts + f[i].file : NULL,
			.line = f[i].line, .first_line = f[i].first_line,
			.tier = (uint8_t)f[i].tier };
	return (int)nr;
}
