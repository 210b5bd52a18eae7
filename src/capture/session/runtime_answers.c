/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of frames of runtimes, from the code objects that runtime_names.c has read. */
#include <errno.h>
#include <stdlib.h>

#include "src/capture/session/runtime_names_parts.h"
#include "src/model/record.h"

/* What a frame's kind tells of how its function is run, for runtimes that do not say it. */
static uint8_t tier_of(uint8_t kind)
{
	return kind == RUNTIME_FRAME_INTERPRETED ? TIER_INTERPRETED : TIER_COMPILED;
}

/* The functions at an instruction, for the trace. Their number, or -ESTALE. */
static int lines_of(const struct code *c, const struct waiting *w, struct symbol_line *to)
{
	struct runtime_line lines[RUNTIME_MAX_LINES];
	int nr = runtime_code_lines(c->code, w->instruction, lines, RUNTIME_MAX_LINES);

	for (int i = 0; i < nr; i++) {
		const struct runtime_line *l = &lines[i];
		uint8_t tier = l->tier ? l->tier : tier_of(w->kind);

		to[i] = (struct symbol_line){
			.name = l->name, .sysname = l->name, .file = l->file, .line = l->line,
			.decl_file = l->file, .decl_line = l->first_line,
			.lang = runtime_lang(c->image),
			.func_flags = (uint8_t)(tier << FUNC_TIER_SHIFT),
		};
	}
	return nr;
}

static int answer(const struct code *c, const struct waiting *w, int err, symbol_fn fn, void *ctx)
{
	struct symbol_line lines[RUNTIME_MAX_LINES];
	struct symbol sym = { .status = err ? SYMBOL_GONE : SYMBOL_OK,
			      .lang = runtime_lang(c->image),
			      .func_flags = (uint8_t)(tier_of(w->kind) << FUNC_TIER_SHIFT) };
	int nr = err ? 0 : lines_of(c, w, lines);

	if (err == -ECANCELED || err == -ETIMEDOUT) {
		c->names->stats.late++;
		sym.status = SYMBOL_LIMITED;
	}
	if (nr < 0) {
		c->names->stats.gone++;
		sym.status = SYMBOL_GONE;
	}
	if (nr > 0) {
		const struct symbol_line *outermost = &lines[nr - 1];

		sym.name = sym.sysname = outermost->name;
		sym.func_flags = outermost->func_flags;
		sym.has_func_addr = runtime_has_offsets(c->image);
		sym.func_addr = runtime_names_place(c);
		sym.lines = lines;
		sym.nr_lines = (size_t)nr;
	}
	return fn(ctx, w->frame, runtime_names_place(c) | w->instruction, &sym);
}

int runtime_names_answer(struct code *c, int why, symbol_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < c->nr_waiting && !err; i++)
		err = answer(c, &c->waiting[i], why, fn, ctx);
	free(c->waiting);		/* there are many objects, and few have frames later */
	c->waiting = NULL;
	c->nr_waiting = c->cap_waiting = 0;
	return err;
}
