/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples themselves, one per row, in the order of the file. Which columns a row has is said by
 * csv_columns.h. There are two dialects, and ndjson.c has a third:
 *
 *	xstack		as the tool of that name: timestamp|tid|tgid|...; no quotes, so
 *			'|' in a name is '!'. Times are local
 *	RFC 4180	the same with commas, and quotes where they are needed. Times are UTC
 *
 * In both no cell begins like a formula of a spreadsheet.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/column_list.h"
#include "formats/render/csv/csv_parts.h"
#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/report/report.h"

#define MAX_TEXT_BYTES (32u << 20)	/* limit of each cache */
#define DATE_COLUMNS 27		/* "2026-09-21 14:13:20.010000|" */

extern const struct renderer renderer_csv;

/* Puts the cell that began at begin into quotes, if it needs them (RFC 4180, 2.6 and 2.7). */
static void quote(struct csv *c, size_t begin)
{
	const char *s = (const char *)c->row.v + begin;
	size_t len = c->row.nr - begin;

	if (!memchr(s, ',', len) && !memchr(s, '"', len))
		return;
	c->quoted.nr = 0;
	bb_u8(&c->quoted, '"');
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"')
			bb_u8(&c->quoted, '"');
		bb_u8(&c->quoted, (uint8_t)s[i]);
	}
	bb_u8(&c->quoted, '"');
	c->row.nr = begin;
	bb_bytes(&c->row, c->quoted.v, c->quoted.nr);
	c->row.bad |= c->quoted.bad;
}

/*
 * Texts whose ids have another meaning in the next segment go, and those that took too much memory:
 * a recording that does not end meets ever more threads.
 */
void csv_enter(struct csv *c, const struct report_sample *s)
{
	struct text_cache *const by_id[] = { &c->frames, &c->folded, &c->leaves, &c->strings,
					     &c->containers };

	for (size_t i = 0; i < sizeof(by_id) / sizeof(by_id[0]); i++)
		if (c->tables != s->tables || by_id[i]->bytes > MAX_TEXT_BYTES)
			text_cache_clear(by_id[i]);
	if (c->facts != s->facts)
		text_cache_clear(&c->origins);
	c->tables = s->tables;
	c->facts = s->facts;
}

static int put_row(void *ctx, const struct report_sample *s)
{
	struct csv *c = ctx;
	bool is_xstack = c->dialect == CSV_XSTACK;
	int err = 0;

	csv_enter(c, s);
	c->row.nr = 0;
	for (unsigned i = 0; i < c->columns.nr && !err; i++) {
		size_t begin = c->row.nr;

		err = csv_columns[c->columns.v[i]].put(c, s);
		if (!is_xstack && c->row.nr > begin)
			quote(c, begin);
		if (i + 1u < c->columns.nr)
			bb_u8(&c->row, is_xstack ? '|' : ',');
	}
	if (!is_xstack)
		bb_u8(&c->row, '\r');
	bb_u8(&c->row, '\n');
	if (err || c->row.bad)
		return -ENOMEM;
	fwrite_unlocked(c->row.v, 1, c->row.nr, c->out);
	return ferror_unlocked(c->out) ? -errno : 0;
}

static void put_header(const struct csv *c)
{
	bool is_xstack = c->dialect == CSV_XSTACK;

	for (unsigned i = 0; i < c->columns.nr; i++)
		fprintf(c->out, "%s%s", i ? is_xstack ? "|" : "," : "",
			csv_columns[c->columns.v[i]].name);
	fputs(is_xstack ? "\n" : "\r\n", c->out);
}

void csv_close(void *csv)
{
	struct csv *c = csv;

	if (!c)
		return;
	text_cache_close(&c->frames);
	text_cache_close(&c->folded);
	text_cache_close(&c->leaves);
	text_cache_close(&c->strings);
	text_cache_close(&c->containers);
	text_cache_close(&c->origins);
	syscall_names_free(c->calls);
	free(c->path);
	bb_release(&c->row);
	bb_release(&c->quoted);
	free(c);
}

static void choose_columns(struct csv *c, const struct render_opts *opts)
{
	static const char *const xstack[] = { "timestamp", "tid", "tgid", "comm", "state", "ustack",
					      "kstack" };
	static const char *const waits[] = { "waited_s", "syscall", "waits_on", "owner" };

	c->columns = opts->columns_shown;
	for (size_t i = 0; !opts->columns_shown.nr && i < sizeof(xstack) / sizeof(xstack[0]); i++)
		csv_columns_add(&c->columns, xstack[i]);
	for (size_t i = 0; opts->wait_columns && i < sizeof(waits) / sizeof(waits[0]); i++)
		csv_columns_add(&c->columns, waits[i]);
}

int csv_open(const struct render_opts *opts, const char *arch, FILE *out, enum csv_dialect dialect,
	     struct csv **cp)
{
	struct csv *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	if (!err)
		*c = (struct csv){ .out = out,
				   .dialect = dialect,
				   .xstack_states = opts->xstack_states,
				   .reverse = opts->reverse_stack,
				   .style = opts->style,
				   .marks = opts->marks,
				   .kernel_suffix = opts->kernel_suffix,
				   .calls = syscall_names_new(arch) };
	if (!err && (!c->calls || text_cache_open(&c->frames) || text_cache_open(&c->folded) ||
		     text_cache_open(&c->leaves) || text_cache_open(&c->strings) ||
		     text_cache_open(&c->containers) || text_cache_open(&c->origins)))
		err = -ENOMEM;
	if (err)
		csv_close(c);
	else
		*cp = c;
	return err;
}

static int csv_begin(const struct render_opts *opts, const char *arch, FILE *out, void **state)
{
	struct csv *c;
	int err = csv_open(opts, arch, out, opts->is_rfc4180 ? CSV_RFC4180 : CSV_XSTACK, &c);

	if (err)
		return err;
	choose_columns(c, opts);
	if (!opts->quiet)
		put_header(c);
	*state = c;
	return 0;
}

static int csv_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	const char *arch = report_meta(rep, "arch", NULL);
	void *state;
	int err = csv_begin(opts, arch ? arch : "", out, &state);

	if (err)
		return err;
	err = opts->all_events ? report_all_samples(rep, put_row, state)
			       : report_samples(rep, put_row, state);
	csv_close(state);
	return err;
}

static const struct row_renderer csv_rows = { .begin = csv_begin,
					      .row = put_row,
					      .end = csv_close };

/* Whether the first line is a header: names of columns alone, at least two. */
static bool is_header(const char *head)
{
	size_t len = strcspn(head, "\r\n"), nr = 0;

	for (size_t i = 0; i < len; nr++) {
		size_t n = strcspn(head + i, ",|\r\n");
		struct csv_column_list l = { .nr = 0 };
		char name[32];

		if (n >= sizeof(name))
			return false;
		snprintf(name, sizeof(name), "%.*s", (int)n, head + i);
		csv_columns_add(&l, name);
		if (!l.nr)
			return false;
		i += n + 1;
	}
	return nr > 1;
}

/* With a header or, after -q, without. */
static bool made(const char *head)
{
	unsigned n[6];
	int end = 0;

	if (is_header(head))
		return true;
	return sscanf(head, "%4u-%2u-%2u %2u:%2u:%2u.%*6u|%n", &n[0], &n[1], &n[2], &n[3], &n[4],
		      &n[5], &end) == 6 && end == DATE_COLUMNS;
}

const struct renderer renderer_csv = {
	.media_type = "text/csv; charset=utf-8",
	.name = "csv", .suffixes = ".csv .csv.zst", .stream = csv_stream, .rows = &csv_rows,
	.made = made,
	.help = "a row for each sample: timestamp|tid|tgid|comm|state|ustack|kstack",
};
