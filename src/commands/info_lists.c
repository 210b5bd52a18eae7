/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/info_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/report.h"

struct row_key {
	const struct info_row *v;
	uint32_t path;
};

static bool same_row(const void *ctx, uint32_t id)
{
	const struct row_key *k = ctx;

	return k->v[id].path == k->path;
}

/* The binaries of a segment: a path may be long, so it is looked at only once. */
struct paths {
	uint32_t *v;			/* by binary id: id in .paths of the list, plus 1; 0: new */
	size_t cap;
};

static uint32_t path_of(struct info_list *l, struct paths *known,
			const struct definition_store *t, uint32_t binary, const char *none)
{
	const struct rec_binary *b = definition_store_find_binary(t, binary);
	const char *s;
	size_t len;
	uint32_t path;

	if (!b || !b->path)
		return intern_str(l->paths, b ? binary_kind_name(b->kind) : none);
	if (array_reserve(&known->v, &known->cap, definition_store_id_end(t, REC_BINARY)))
		return IX_NONE;
	if (known->v[binary])
		return known->v[binary] - 1;
	s = definition_store_string(t, b->path, &len);
	path = intern_bytes(l->paths, s, len);
	known->v[binary] = path == IX_NONE ? 0 : path + 1;
	return path;
}

/* The row of a path; a new path gets a new row. NULL: out of memory. */
static struct info_row *row_of(struct info_list *l, struct hash_index *index, uint32_t path)
{
	struct row_key k = { l->v, path };
	uint64_t hash = hash_u64(0, path);
	uint32_t id = ix_find(index, hash, same_row, &k);
	struct info_row *row;

	if (id != IX_NONE)
		return &l->v[id];
	row = path == IX_NONE ? NULL : array_push(&l->v, &l->nr, &l->cap);
	if (!row || ix_add(index, hash, (uint32_t)l->nr - 1))
		return NULL;
	row->path = path;
	return row;
}

static int by_count(const void *x, const void *y, void *list)
{
	const struct info_row *a = x, *b = y;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->all != b->all)
		return a->all > b->all ? -1 : 1;
	return strcmp(info_list_path(list, a, NULL), info_list_path(list, b, NULL));
}

static int list_init(struct info_list *l)
{
	memset(l, 0, sizeof(*l));
	l->paths = intern_new();
	return l->paths ? 0 : -ENOMEM;
}

static void sort(struct info_list *l)
{
	if (l->nr)
		qsort_r(l->v, l->nr, sizeof(*l->v), by_count, l);
}

static int count_names(struct info_list *l, struct hash_index *index,
		       const struct definition_store *t)
{
	struct paths known = { 0 };
	int err = 0;

	for (uint32_t id = 1; !err && id < definition_store_id_end(t, REC_FRAME); id++) {
		const struct rec_frame *f = definition_store_find_frame(t, id);
		const struct table_symbol *s = definition_store_find_symbol(t, id);
		struct info_row *row;
		uint32_t path;

		if (!f)
			continue;
		path = f->kind == FRAME_JIT ? intern_str(l->paths, "(generated code)")
					    : path_of(l, &known, t, f->binary, "(no binary)");
		row = row_of(l, index, path);
		if (row) {
			row->all++;
			row->count += !s || !s->nr_lines;
		} else {
			err = -ENOMEM;
		}
	}
	free(known.v);
	return err;
}

int info_names_init(struct info_list *l, const struct report *rep)
{
	struct hash_index index = { 0 };
	const struct definition_store *t;
	int err = list_init(l);

	for (uint32_t i = 0; !err && (t = report_tables(rep, i)); i++)
		err = count_names(l, &index, t);
	ix_release(&index);
	sort(l);
	return err;
}

void info_list_release(struct info_list *l)
{
	free(l->v);
	intern_free(l->paths);
	memset(l, 0, sizeof(*l));
}

const char *info_list_path(const struct info_list *l, const struct info_row *row, size_t *len)
{
	return intern_get(l->paths, row->path, len);
}
