/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples themselves, one per row, in the order of the file. Which columns a row has is said by
 * csv_columns.h. There are two dialects:
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

#include "formats/render/csv_parts.h"
#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/profile/report.h"

#define MAX_TEXT_BYTES (32u << 20)	/* limit of each cache */
#define DATE_COLUMNS 27		/* "2026-09-21 14:13:20.010000|" */

extern const struct renderer renderer_csv;

void csv_put_decimal(struct csv *c, uint64_t v)
{
	char buf[20];
	size_t n = sizeof(buf);

	do {
		buf[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	bb_bytes(&c->row, buf + n, sizeof(buf) - n);
}

void csv_put_text(struct csv *c, const char *s)
{
	bb_bytes(&c->row, s, strlen(s));
}

/* A text that may be foreign: no control characters, and no formula. */
static void escape_cell(struct csv *c, const char *s, size_t len)
{
	FILE *out = c->strings.out;

	if (!c->is_rfc4180) {
		escape_csv_cell(out, s, len);
		return;
	}
	if (len && memchr("=+-@", *s, 4))
		putc('\'', out);
	escape_text(out, s, len);
}

int csv_put_string(struct csv *c, uint32_t string)
{
	const struct cached_text *t = text_cache_find(&c->strings, string);
	size_t len;
	const char *s;

	if (!t) {
		s = definition_store_string(c->tables, string, &len);
		escape_cell(c, s, len);
		t = text_cache_keep(&c->strings, string);
	}
	if (!t)
		return -ENOMEM;
	bb_bytes(&c->row, t->s, t->len);
	return 0;
}

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
 * Drops texts whose ids have another meaning in the next segment, and those that took too much
 * memory: a recording that does not end meets ever more threads.
 */
static void forget_texts(struct csv *c, const struct definition_store *tables)
{
	if (c->tables != tables || c->frames.bytes > MAX_TEXT_BYTES)
		text_cache_clear(&c->frames);
	if (c->tables != tables || c->strings.bytes > MAX_TEXT_BYTES)
		text_cache_clear(&c->strings);
	c->tables = tables;
}

static int put_row(void *ctx, const struct report_sample *s)
{
	struct csv *c = ctx;
	int err = 0;

	forget_texts(c, s->tables);
	c->row.nr = 0;
	for (unsigned i = 0; i < c->columns.nr && !err; i++) {
		size_t begin = c->row.nr;

		err = csv_columns[c->columns.v[i]].put(c, s);
		if (c->is_rfc4180 && c->row.nr > begin)
			quote(c, begin);
		if (i + 1u < c->columns.nr)
			bb_u8(&c->row, c->is_rfc4180 ? ',' : '|');
	}
	if (c->is_rfc4180)
		bb_u8(&c->row, '\r');
	bb_u8(&c->row, '\n');
	if (err || c->row.bad)
		return -ENOMEM;
	fwrite_unlocked(c->row.v, 1, c->row.nr, c->out);
	return ferror_unlocked(c->out) ? -errno : 0;
}

static void put_header(const struct csv *c)
{
	for (unsigned i = 0; i < c->columns.nr; i++)
		fprintf(c->out, "%s%s", i ? c->is_rfc4180 ? "," : "|" : "",
			csv_columns[c->columns.v[i]].name);
	fputs(c->is_rfc4180 ? "\r\n" : "\n", c->out);
}

static void csv_end(void *state)
{
	struct csv *c = state;

	text_cache_close(&c->frames);
	text_cache_close(&c->strings);
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

static int csv_begin(const struct render_opts *opts, const char *arch, FILE *out, void **state)
{
	struct csv *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	*c = (struct csv){ .out = out,
			   .is_rfc4180 = opts->is_rfc4180,
			   .xstack_states = opts->xstack_states,
			   .reverse = opts->reverse_stack,
			   .style = opts->style,
			   .calls = syscall_names_new(arch) };
	choose_columns(c, opts);
	err = c->calls ? text_cache_open(&c->frames) : -ENOMEM;
	if (!err)
		err = text_cache_open(&c->strings);
	if (err) {
		csv_end(c);
		return err;
	}
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
	err = report_samples(rep, put_row, state);
	csv_end(state);
	return err;
}

static const struct row_renderer csv_rows = { .begin = csv_begin, .row = put_row, .end = csv_end };

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
	.name = "csv", .suffixes = ".csv .csv.zst", .stream = csv_stream, .rows = &csv_rows,
	.made = made,
	.help = "a row for each sample: timestamp|tid|tgid|comm|state|ustack|kstack",
};
