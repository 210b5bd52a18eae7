/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_lines.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/debug_info/unit_source.h"
#include "src/debug_info/unit_table.h"

#define MAX_TEXT (64u << 20)
#define MAX_STRING 4096			/* longer names are cut */
#define MAX_ROWS (16u << 20)

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

	if (!path)
		return UNIT_NONE;
	if (path[0] == '/' || !t->directory)
		return unit_text_add(t, path);
	len = snprintf(whole, sizeof(whole), "%.*s/%.*s", MAX_STRING, t->directory, MAX_STRING,
		       path);
	return unit_text_add(t, len > 0 && len < MAX_STRING ? whole : path);
}

void unit_text_release(struct unit_text *t)
{
	bb_release(&t->buf);
	free(t->refs);
	ix_release(&t->index);
}

/* ---- lines ---- */

int unit_rows_files(struct unit_rows *r, size_t nr_files, unit_path_fn path, void *ctx)
{
	r->path = path;
	r->ctx = ctx;
	r->file_text = calloc(nr_files + 1, sizeof(*r->file_text));
	r->nr_files = r->file_text ? nr_files : 0;
	return r->file_text ? 0 : -ENOMEM;
}

uint32_t unit_rows_file(struct unit_rows *r, size_t index)
{
	if (index >= r->nr_files)
		return UNIT_NONE;
	if (!r->file_text[index])
		r->file_text[index] = unit_text_path(r->text, r->path(r->ctx, index)) + 1;
	return r->file_text[index] - 1;
}

int unit_rows_reserve(struct unit_rows *r, size_t nr)
{
	r->v = malloc((nr + 1) * sizeof(*r->v));
	r->cap = r->v ? nr + 1 : 0;
	return r->v ? 0 : -ENOMEM;
}

int unit_rows_code(struct unit_rows *r, const struct unit_source *src, uint64_t lo, uint64_t hi)
{
	struct unit_code *c = &r->code;
	struct addr_range *x;

	c->is_known = true;
	if (hi <= lo || !unit_is_code(src->code, src->nr_code, lo))
		return 0;
	x = array_push(&c->v, &c->nr, &c->cap);
	if (!x)
		return -ENOMEM;
	*x = (struct addr_range){ lo, hi };
	return 0;
}

static int by_lo(const void *a, const void *b)
{
	const struct addr_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Rows come sorted, so the range of the row before is the first to try. */
static bool is_of_unit(struct unit_rows *r, uint64_t addr)
{
	const struct unit_code *c = &r->code;

	if (!c->is_known)
		return true;
	if (r->at && c->v[r->at - 1].hi > addr)
		r->at = 0;		/* a row that goes back, or ranges that overlap */
	while (r->at < c->nr && c->v[r->at].hi <= addr)
		r->at++;
	return r->at < c->nr && c->v[r->at].lo <= addr;
}

static int push_row(struct unit_rows *r, const struct unit_row *row)
{
	struct unit_row *last = r->nr ? &r->v[r->nr - 1] : NULL;

	if (last && last->addr == row->addr && row->is_end)
		return 0;		/* another sequence begins where one ends */
	if (last && last->addr == row->addr) {
		*last = *row;
		return 0;
	}
	if (r->nr >= MAX_ROWS)
		return -E2BIG;
	if (r->nr == r->cap && array_reserve(&r->v, &r->cap, r->nr + 1))
		return -ENOMEM;
	assert(r->nr < r->cap);
	r->v[r->nr++] = *row;
	return 0;
}

/* The end of a sequence is the first address behind the code, so it counts with the code before. */
int unit_rows_put(struct unit_rows *r, const struct unit_source *src, const struct unit_row *row)
{
	struct unit_row x = *row;
	bool was_in = r->was_in;

	if (!r->is_begun && r->code.nr)
		qsort(r->code.v, r->code.nr, sizeof(*r->code.v), by_lo);
	r->is_begun = true;
	r->was_in = unit_is_code(src->code, src->nr_code, x.addr) && is_of_unit(r, x.addr);
	if (!r->was_in && !was_in)
		return 0;
	x.is_end |= !r->was_in;
	x.file = x.is_end ? UNIT_NONE : unit_rows_file(r, x.file);
	return push_row(r, &x);
}

void unit_rows_go_to(struct unit_rows *r)
{
	r->was_in = false;
}

int unit_rows_arrive(struct unit_rows *r, uint64_t addr)
{
	const struct unit_row end = { .addr = addr, .file = UNIT_NONE, .is_end = true };

	return r->was_in || !r->nr ? 0 : push_row(r, &end);
}

void unit_rows_release(struct unit_rows *r)
{
	free(r->v);
	free(r->file_text);
	free(r->code.v);
}
