/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/debug_info/unit_builder.h"
#include "src/debug_info/unit_table.h"

#define MAX_TEXT (64u << 20)
#define MAX_STRING 4096			/* longer names are cut */
#define MAX_ROWS (16u << 20)
#define MAX_UNIT_RANGES 65536
#define NO_FILE "???"			/* libdw's name of file 0, before DWARF 5 */

struct text_ref {
	uint32_t at, len;
};

/* ---- strings ---- */

struct text_key {
	const struct unit_text *t;
	const char *s;
	size_t len;
};

static bool same_text(const void *ctx, uint32_t id)
{
	const struct text_key *k = ctx;
	const struct text_ref *r = &k->t->refs[id];

	return r->len == k->len && !memcmp(k->t->buf.v + r->at, k->s, k->len);
}

uint32_t unit_text_add(struct unit_text *t, const char *s)
{
	struct text_key k = { t, s, s ? strnlen(s, MAX_STRING) : 0 };
	uint64_t hash = hash_bytes(0, s ? s : "", k.len);
	struct text_ref *r;
	uint32_t id;

	if (!t->buf.nr)
		bb_u8(&t->buf, 0);
	if (!k.len || t->bad)
		return UNIT_NONE;
	id = ix_find(&t->index, hash, same_text, &k);
	if (id != IX_NONE)
		return t->refs[id].at;
	r = t->buf.nr > MAX_TEXT ? NULL : array_push(&t->refs, &t->nr_refs, &t->cap_refs);
	if (!r || ix_add(&t->index, hash, (uint32_t)t->nr_refs - 1)) {
		t->bad = true;
		return UNIT_NONE;
	}
	*r = (struct text_ref){ (uint32_t)t->buf.nr, (uint32_t)k.len };
	bb_bytes(&t->buf, s, k.len);
	bb_u8(&t->buf, 0);
	t->bad |= t->buf.bad;
	return r->at;
}

uint32_t unit_text_path(struct unit_text *t, const char *path)
{
	char whole[MAX_STRING];
	int len;

	if (!path || !strcmp(path, NO_FILE))
		return UNIT_NONE;
	if (path[0] == '/' || !t->directory)
		return unit_text_add(t, path);
	len = snprintf(whole, sizeof(whole), "%s/%s", t->directory, path);
	return unit_text_add(t, len > 0 && len < MAX_STRING ? whole : path);
}

void unit_text_release(struct unit_text *t)
{
	bb_release(&t->buf);
	free(t->refs);
	ix_release(&t->index);
}

/* ---- lines ---- */

/* The code of the unit that is not thrown away, sorted. nr 0: the unit does not say. */
struct unit_code {
	struct addr_range *v;
	size_t nr, cap;
	bool is_known;
};

static int by_lo(const void *a, const void *b)
{
	const struct addr_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static int read_unit_code(const struct unit_source *src, struct unit_code *c)
{
	Dwarf_Die die = src->skeleton;
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	for (unsigned i = 0; unit_says_ranges(&die) && i < MAX_UNIT_RANGES; i++) {
		struct addr_range *r;

		at = dwarf_ranges(&die, at, &base, &lo, &hi);
		if (at <= 0)
			break;
		c->is_known = true;
		if (hi <= lo || !unit_is_code(src->code, src->nr_code, lo))
			continue;
		r = array_push(&c->v, &c->nr, &c->cap);
		if (!r)
			return -ENOMEM;
		*r = (struct addr_range){ lo, hi };
	}
	if (c->nr)
		qsort(c->v, c->nr, sizeof(*c->v), by_lo);
	return 0;
}

/* Rows come sorted, so the range of the row before is the first to try. */
static bool is_of_unit(const struct unit_code *c, size_t *at, uint64_t addr)
{
	if (!c->is_known)
		return true;
	if (*at && c->v[*at - 1].hi > addr)
		*at = 0;		/* a row that goes back, or ranges that overlap */
	while (*at < c->nr && c->v[*at].hi <= addr)
		++*at;
	return *at < c->nr && c->v[*at].lo <= addr;
}

struct file_cache {
	const char *path;
	uint32_t text;
};

static uint32_t path_of(struct unit_text *text, struct file_cache *last, const char *path)
{
	if (!path || path != last->path)
		*last = (struct file_cache){ path, unit_text_path(text, path) };
	return last->text;
}

static int push_row(struct unit_rows *r, const struct unit_row *row)
{
	struct unit_row *last = r->nr ? &r->v[r->nr - 1] : NULL;

	if (last && last->addr == row->addr && row->is_end)
		return 0;		/* another sequence begins where one ends */
	if (last && last->addr == row->addr && !row->is_end) {
		*last = *row;
		return 0;
	}
	if (r->nr >= MAX_ROWS)
		return -E2BIG;
	last = array_push(&r->v, &r->nr, &r->cap);
	if (!last)
		return -ENOMEM;
	*last = *row;
	return 0;
}

static int add_row(struct unit_rows *r, struct unit_text *text, struct file_cache *last,
		   Dwarf_Line *line, uint64_t addr)
{
	int nr = 0, column = 0;
	struct unit_row row = { .addr = addr };

	dwarf_lineendsequence(line, &row.is_end);
	dwarf_lineno(line, &nr);
	dwarf_linecol(line, &column);
	row.line = unit_line((unsigned)nr, (unsigned)column);
	row.file = row.is_end ? UNIT_NONE : path_of(text, last, dwarf_linesrc(line, NULL, NULL));
	return push_row(r, &row);
}

/* The end of a sequence is the first address behind the code, so it counts with the code before. */
static int add_rows(struct unit_rows *r, struct unit_text *text, const struct unit_source *src,
		    const struct unit_code *code, Dwarf_Lines *lines, size_t nr)
{
	struct file_cache last = { 0 };
	bool was_in = false;
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr addr;
		bool in;

		if (!line || dwarf_lineaddr(line, &addr))
			continue;
		in = unit_is_code(src->code, src->nr_code, addr) && is_of_unit(code, &at, addr);
		if (in)
			err = add_row(r, text, &last, line, addr);
		else if (was_in)
			err = push_row(r, &(struct unit_row){ .addr = addr, .file = UNIT_NONE,
							      .is_end = true });
		was_in = in;
	}
	return err;
}

int unit_rows_read(struct unit_rows *r, struct unit_text *text, const struct unit_source *src)
{
	Dwarf_Die die = src->skeleton;
	struct unit_code code = { 0 };
	Dwarf_Lines *lines;
	size_t nr;
	Dwarf_Attribute a;
	int err = read_unit_code(src, &code);

	if (dwarf_attr(&die, DW_AT_comp_dir, &a))
		text->directory = dwarf_formstring(&a);
	if (!dwarf_getsrcfiles(&die, &r->files, &r->nr_files))
		r->file_text = calloc(r->nr_files + 1, sizeof(*r->file_text));
	if (!err && !dwarf_getsrclines(&die, &lines, &nr))
		err = add_rows(r, text, src, &code, lines, nr);
	free(code.v);
	return err;
}

void unit_rows_release(struct unit_rows *r)
{
	free(r->v);
	free(r->file_text);
}

uint32_t unit_rows_file(struct unit_rows *r, struct unit_text *text, uint32_t index)
{
	const char *path;

	if (!r->file_text || index >= r->nr_files)
		return UNIT_NONE;
	if (!r->file_text[index]) {
		path = dwarf_filesrc(r->files, index, NULL, NULL);
		r->file_text[index] = unit_text_path(text, path) + 1;
	}
	return r->file_text[index] - 1;
}
