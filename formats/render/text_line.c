/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/text_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/columns.h"
#include "formats/render/escape.h"
#include "formats/render/renderer.h"

#define LEAST_WIDTH 80

size_t text_line_width(const struct render_opts *opts)
{
	if (!opts->columns)
		return TEXT_WIDTH;
	return opts->columns < LEAST_WIDTH ? LEAST_WIDTH : opts->columns;
}

int text_line_open(struct text_line *l, const struct render_opts *opts, FILE *out)
{
	*l = (struct text_line){ .out = out, .is_cut = opts->columns };
	l->text = open_memstream(&l->buf, &l->size);
	return l->text ? 0 : -ENOMEM;
}

void text_line_close(struct text_line *l)
{
	if (l->text)
		fclose(l->text);
	free(l->buf);
}

size_t text_line_put(struct text_line *l, const char *s, size_t len, const char *suffix,
		     size_t room, put_columns_fn put)
{
	size_t bytes;

	rewind(l->text);
	escape_text(l->text, s, len);
	fputs(suffix, l->text);
	bytes = (size_t)ftello(l->text);
	if (fflush(l->text))
		return 0;
	return put(l->out, l->buf, bytes, l->is_cut ? room : COLUMNS_ANY);
}

void text_line_fact(struct text_line *l, const char *name, const char *text, size_t width)
{
	size_t bytes;

	rewind(l->text);
	fprintf(l->text, "%-10s", name);
	escape_text(l->text, text, strlen(text));
	fputc('\n', l->text);
	bytes = (size_t)ftello(l->text);
	if (!fflush(l->text))
		columns_wrap(l->out, l->buf, bytes, l->is_cut ? width : COLUMNS_ANY);
}
