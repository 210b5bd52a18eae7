/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples themselves, each as an object of JSON on a line of its own, in the order of the file.
 * Every object has the same columns (csv_columns.h), by default those of docs/SQL.md; each stands
 * there once. Numbers are numbers, what is not known is null, all else is a string. Times are ISO
 * 8601 in UTC. Bytes that are no UTF-8 are U+FFFD; a stack is one string, as in CSV.
 */
#include <errno.h>
#include <string.h>

#include "formats/render/csv/csv_parts.h"
#include "formats/render/renderer.h"
#include "src/report/report.h"

extern const struct renderer renderer_ndjson;

static bool is_number(enum column_type type)
{
	return type == COLUMN_INTEGER || type == COLUMN_DECIMAL;
}

/* The value of a column, whose text is put behind a quote that it may turn out not to need. */
static int put_value(struct csv *c, const struct csv_column *column, const struct report_sample *s)
{
	size_t begin = c->row.nr;
	bool is_text = !is_number(column->type);
	int err;

	if (is_text)
		bb_u8(&c->row, '"');
	err = column->put(c, s);
	if (err)
		return err;
	if (c->row.nr == begin + is_text) {
		c->row.nr = begin;
		csv_put_text(c, "null");
	} else if (is_text) {
		bb_u8(&c->row, '"');
	}
	return 0;
}

static int put_object(void *ctx, const struct report_sample *s)
{
	struct csv *c = ctx;
	int err = 0;

	csv_enter(c, s);
	c->row.nr = 0;
	for (unsigned i = 0; i < c->columns.nr && !err; i++) {
		const struct csv_column *column = &csv_columns[c->columns.v[i]];

		csv_put_text(c, i ? ",\"" : "{\"");
		csv_put_text(c, column->name);
		csv_put_text(c, "\":");
		err = put_value(c, column, s);
	}
	csv_put_text(c, "}\n");
	if (err || c->row.bad)
		return -ENOMEM;
	fwrite_unlocked(c->row.v, 1, c->row.nr, c->out);
	return ferror_unlocked(c->out) ? -errno : 0;
}

static int ndjson_begin(const struct render_opts *opts, const char *arch, FILE *out, void **state)
{
	struct csv *c;
	int err = csv_open(opts, arch, out, CSV_JSON, &c);

	if (err)
		return err;
	c->columns = opts->columns_shown;
	if (!c->columns.nr)
		csv_columns_add_sql(&c->columns);
	csv_columns_once(&c->columns);
	*state = c;
	return 0;
}

static int ndjson_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	const char *arch = report_meta(rep, "arch", NULL);
	void *state;
	int err = ndjson_begin(opts, arch ? arch : "", out, &state);

	if (err)
		return err;
	err = opts->all_events ? report_all_samples(rep, put_object, state)
			       : report_samples(rep, put_object, state);
	csv_close(state);
	return err;
}

static const struct row_renderer ndjson_rows = { .begin = ndjson_begin,
						 .row = put_object,
						 .end = csv_close };

/* The first line is an object whose first name is that of a column. */
static bool made(const char *head)
{
	size_t len = strcspn(head, "\n");

	if (strncmp(head, "{\"", 2) || (head[len] && head[len - 1] != '}'))
		return false;
	for (const struct csv_column *c = csv_columns; c->name; c++) {
		size_t n = strlen(c->name);

		if (!strncmp(head + 2, c->name, n) && !strncmp(head + 2 + n, "\":", 2))
			return true;
	}
	return false;
}

const struct renderer renderer_ndjson = {
	.media_type = "application/x-ndjson",
	.name = "ndjson", .suffixes = ".ndjson .ndjson.zst .jsonl .jsonl.zst",
	.stream = ndjson_stream, .rows = &ndjson_rows, .made = made,
	.help = "an object of JSON for each sample, on a line of its own, for databases",
};
