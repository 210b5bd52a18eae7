/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/jit_answers.h"

#include <errno.h>

#include "src/capture/processes/jit_process.h"
#include "src/capture/processes/jit_reading.h"
#include "src/model/record.h"
#include "src/symbolize/perf_map.h"

static uint8_t status_of(int err)
{
	return err == -ENOENT					    ? SYMBOL_GONE
	       : err == -EACCES || err == -EIO || err == -ETIMEDOUT ? SYMBOL_UNREADABLE
	       : err						    ? SYMBOL_LIMITED
								    : SYMBOL_NONE;
}

int jit_answer_name(const struct jit_reading *r, const struct perf_map_query *q, symbol_fn fn,
		     void *ctx)
{
	const char *text = (const char *)r->names.v;
	const struct symbol_line line = {
		.name = text + q->name,
		.sysname = text + q->sysname,
		.decl_file = q->file == PERF_MAP_NO_NAME ? NULL : text + q->file,
		.decl_line = q->line,
		.file = q->at_file == PERF_MAP_NO_NAME ? NULL : text + q->at_file,
		.line = q->at_line,
		.column = q->at_column,
		.lang = q->lang,
		.func_flags = (uint8_t)(FUNC_JIT | q->tier << FUNC_TIER_SHIFT),
	};
	const struct symbol sym = {
		.status = SYMBOL_OK_SYMTAB,
		.lang = line.lang,
		.func_flags = line.func_flags,
		.name = line.name,
		.sysname = line.sysname,
		.has_func_addr = true,
		.func_addr = q->start,
		.lines = &line,
		.nr_lines = 1,
	};

	return fn(ctx, q->cookie, q->addr, &sym);
}

int jit_answer_rest(const struct jit_reading *r, symbol_fn fn, void *ctx)
{
	struct symbol sym = { .status = status_of(r->err) };
	int err = 0;

	for (size_t i = 0; i < r->nr && !err; i++)
		if (r->v[i].name == PERF_MAP_NO_NAME && r->v[i].cookie != WATCHED)
			err = fn(ctx, r->v[i].cookie, r->v[i].addr, &sym);
	return err;
}

int jit_answer_none(const struct jit_process *e, size_t nr, uint8_t status, symbol_fn fn,
		     void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = fn(ctx, e->v[i].cookie, e->v[i].addr, &(struct symbol){ .status = status });
	return err;
}
