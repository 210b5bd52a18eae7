/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "src/model/record.h"
#include "src/runtimes/runtime_kind.h"

int runtime_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line)
{
	struct runtime_line lines[RUNTIME_MAX_LINES];
	int nr;

	if (c->kind->code_line)
		return c->kind->code_line(c, instruction, line);
	nr = c->kind->code_lines(c, instruction, lines, RUNTIME_MAX_LINES);
	if (nr < 0)
		return nr;
	*line = lines[0].line;
	return *line ? 0 : -ENODATA;
}

int runtime_code_lines(const struct runtime_code *c, uint32_t instruction,
		       struct runtime_line *lines, size_t max)
{
	int err;

	if (c->kind->code_lines)
		return c->kind->code_lines(c, instruction, lines, max);
	*lines = (struct runtime_line){ .name = c->name, .file = c->file,
					.first_line = c->first_line, .tier = TIER_NONE };
	err = runtime_code_line(c, instruction, &lines->line);
	if (err)
		lines->line = 0;
	return err == -ESTALE ? err : 1;
}

void runtime_code_free(struct runtime_code *c)
{
	if (!c)
		return;
	free(c->name);
	free(c->file);
	free(c->lines);
	if (c->kind && c->kind->code_free)
		c->kind->code_free(c);
	free(c);
}
