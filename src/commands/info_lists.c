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

static uint32_t path_of(struct info_list *l, const struct definition_store *t, uint32_t binary,
			const char *none)
{
	const struct rec_binary *b = definition_store_find_binary(t, binary);
	const char *s = none;
	size_t len = strlen(none);

	if (b && b->path)
		s = definition_store_string(t, b->path, &len);
	else if (b)
		len = strlen(s = binary_kind_name(b->kind));
	return intern_bytes(l->paths, s, len);
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
	for (uint32_t id = 1; id < definition_store_id_end(t, REC_FRAME); id++) {
		const struct rec_frame *f = definition_store_find_frame(t, id);
		const struct table_symbol *s = definition_store_find_symbol(t, id);
		struct info_row *row;

		if (!f)
			continue;
		row = row_of(l, index,
			     f->kind == FRAME_JIT ? intern_str(l->paths, "(generated code)")
						  : path_of(l, t, f->binary, "(no binary)"));
		if (!row)
			return -ENOMEM;
		row->all++;
		row->count += !s || !s->nr_lines;
	}
	return 0;
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
