/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/definition_store.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_parts.h"
#include "src/model/same_definition.h"

/*
 * A real trace has gaps between ids only where chunks were damaged, and a chunk holds some 100,000
 * definitions at most. Without a limit one record with a huge id would cost gigabytes.
 */
#define MAX_GAPS (4u << 20)
#define MAX_BYTES ((size_t)512 << 20)
#define BLOCK_BYTES (64 * 1024)

struct definition_store *definition_store_new(void)
{
	return calloc(1, sizeof(struct definition_store));
}

void definition_store_free(struct definition_store *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < RECORD_TAGS; i++)
		free(t->columns[i].v);
	free(t->lines);
	for (size_t i = 0; i < t->nr_blocks; i++)
		free(t->blocks[i]);
	free(t->blocks);
	free(t);
}

/* Finds or makes the row of id. 0, 1: refused and counted, -ENOMEM. */
static int column_row(struct definition_store *t, struct column *c, size_t size, uint32_t id,
		      void **row)
{
	uint64_t gap = id >= c->end ? id - c->end : 0;
	size_t before = c->cap;

	if (!id || id == UINT32_MAX || t->gaps + gap > MAX_GAPS ||
	    (id >= c->cap && t->bytes + (id + 1 - c->cap) * size > MAX_BYTES)) {
		t->refused++;
		return 1;
	}
	if (array_reserve_raw(&c->v, &c->cap, (size_t)id + 1, size))
		return -ENOMEM;
	t->bytes += (c->cap - before) * size;
	t->gaps += gap;
	if (id >= c->end)
		c->end = id + 1;
	assert(c->end <= c->cap);
	*row = (char *)c->v + (size_t)id * size;
	return 0;
}

/* The first blocks are small: a file may hold thousands of recordings with a few strings each. */
static size_t block_size(size_t nr_blocks, size_t need)
{
	size_t size = nr_blocks < 6 ? (BLOCK_BYTES / 64) << nr_blocks : BLOCK_BYTES;

	return need > size ? need : size;
}

/* A copy of the bytes, with a NUL at its end, that lives as long as the store. */
static char *store(struct definition_store *t, const char *bytes, size_t len)
{
	char **last, *p;

	if (len + 1 > t->room) {
		size_t size = block_size(t->nr_blocks, len + 1);

		p = malloc(size);
		last = p ? array_push(&t->blocks, &t->nr_blocks, &t->cap_blocks) : NULL;
		if (!last) {
			free(p);
			return NULL;
		}
		*last = p;		/* a block is filled from its end */
		t->room = size;
		t->bytes += size;
	}
	assert(t->room >= len + 1);
	t->room -= len + 1;
	p = t->blocks[t->nr_blocks - 1] + t->room;
	memcpy(p, bytes, len);
	p[len] = 0;
	return p;
}

static int add_string(struct definition_store *t, const struct rec_string *r)
{
	struct text *x;
	void *row;
	int err;

	if (r->len >= UINT32_MAX || t->bytes + r->len > MAX_BYTES) {
		t->refused++;
		return 0;
	}
	err = column_row(t, &t->columns[REC_STRING], sizeof(*x), r->id, &row);
	x = row;
	if (err || x->s)
		return err;
	x->s = store(t, r->bytes, r->len);
	x->len = (uint32_t)r->len;
	t->columns[REC_STRING].count++;
	return x->s ? 0 : -ENOMEM;
}

/*
 * Adds a row that is a copy of the record. The first member of the record is its id, so a row that
 * begins with 0 is not defined yet.
 */
static int add_row(struct definition_store *t, struct column *c, size_t size, uint32_t id,
		   const void *rec)
{
	void *row;
	int err = column_row(t, c, size, id, &row);

	if (err)
		return err;
	if (*(const uint32_t *)row)
		return 0;		/* defined twice: the first counts, as it did so far */
	memcpy(row, rec, size);
	c->count++;
	return 0;
}

/* Defined twice, it learns what the first definition lacked: same_definition.h. */
static int add_process(struct definition_store *t, const struct rec_process *r)
{
	struct column *c = &t->columns[REC_PROCESS];
	struct rec_process *rows = c->v;

	if (r->id >= c->end || !rows[r->id].id)
		return add_row(t, c, sizeof(*r), r->id, r);
	process_learn(&rows[r->id], r);
	return 0;
}

static int add_binary(struct definition_store *t, const struct rec_binary *r)
{
	struct rec_binary copy = *r;

	copy.segments = NULL;
	copy.nr_segments = 0;
	if (copy.build_id_len > sizeof(copy.build_id))
		copy.build_id_len = sizeof(copy.build_id);
	return add_row(t, &t->columns[REC_BINARY], sizeof(copy), r->id, &copy);
}

void definition_store_fold(struct definition_store *t, enum frame_folding folding)
{
	t->folding = folding;
}

static int add_node(struct definition_store *t, const struct rec_node *r)
{
	const struct table_node *parent;
	uint32_t depth, outermost;
	struct table_node *n;
	void *row;
	int err;

	parent = definition_store_whole_node(t, r->parent);
	depth = parent ? parent->depth + 1 : 1;
	outermost = parent ? parent->outermost : r->frame;
	/* A parent must be defined before its child, so that there are no cycles. */
	if (r->parent >= r->id || depth > TABLES_MAX_DEPTH) {
		t->refused++;
		return 0;
	}
	err = column_row(t, &t->columns[REC_NODE], sizeof(*n), r->id, &row);
	n = row;
	if (err || n->depth)
		return err;
	*n = (struct table_node){ .parent = r->parent, .frame = r->frame, .outermost = outermost,
				  .depth = depth, .is_folded = definition_store_folds(t, r) };
	n->is_blank = n->is_folded && definition_store_is_blank(t, n->parent);
	t->columns[REC_NODE].count++;
	return 0;
}

/* Whether a SYMBOL says more than the one that came first. */
static bool is_better(const struct definition_store *t, const struct table_symbol *s,
		      const struct rec_symbol *r)
{
	if (!s->nr_lines || !r->nr_lines)
		return r->nr_lines;
	return t->is_joined && s->status == SYMBOL_OK_SYMTAB && r->status == SYMBOL_OK;
}

static int add_symbol(struct definition_store *t, const struct rec_symbol *r)
{
	struct table_symbol *s;
	void *row;
	int err = column_row(t, &t->columns[REC_SYMBOL], sizeof(*s), r->frame, &row);
	size_t need = t->nr_lines + r->nr_lines, before = t->cap_lines;

	s = row;
	if (err || (s->known && !is_better(t, s, r)))
		return err;
	if (need > UINT32_MAX || t->bytes + r->nr_lines * sizeof(*r->lines) > MAX_BYTES) {
		t->refused++;
		return 0;
	}
	if (array_reserve(&t->lines, &t->cap_lines, need))
		return -ENOMEM;
	t->bytes += (t->cap_lines - before) * sizeof(*t->lines);
	t->columns[REC_SYMBOL].count += !s->known;
	*s = (struct table_symbol){ true, r->status, false, (uint32_t)t->nr_lines, r->nr_lines,
				    r->offset };
	if (r->nr_lines)
		memcpy(t->lines + t->nr_lines, r->lines, r->nr_lines * sizeof(*r->lines));
	t->nr_lines = need;
	return 0;
}

/* Keeps the first PLACE of a function, as with SYMBOLs. */
static void set_place(struct definition_store *t, const struct rec_place *r)
{
	const struct table_symbol *s = definition_store_find_symbol(t, r->frame);
	struct rec_line *l = s && r->nth < s->nr_lines ? &t->lines[s->first_line + r->nth] : NULL;

	if (!l || l->line)
		return;
	l->line = r->line;
	l->column = r->column;
	l->file = r->file;
}

static int add_thread(struct definition_store *t, const struct rec_thread *r)
{
	struct rec_thread copy = *r;

	copy.kernel_comm = 0;
	return add_row(t, &t->columns[REC_THREAD], sizeof(copy), r->id, &copy);
}

/* The last name counts: it is the newest. */
static void name_thread(struct definition_store *t, const struct rec_threadname *r)
{
	const struct column *c = &t->columns[REC_THREAD];
	struct rec_thread *rows = c->v;

	if (r->thread >= c->end || !rows[r->thread].id || !r->name)
		return;
	if (!rows[r->thread].kernel_comm)
		rows[r->thread].kernel_comm = rows[r->thread].comm;
	rows[r->thread].comm = r->name;
	t->columns[REC_THREADNAME].count++;
}

#define ADD(NAME, field) \
	add_row(t, &t->columns[REC_##NAME], sizeof(rec->field), rec->field.id, &rec->field)

static int add(struct definition_store *t, const struct record *rec)
{
	switch (rec->tag) {
	case REC_STRING: return add_string(t, &rec->string);
	case REC_BINARY: return add_binary(t, &rec->binary);
	case REC_PROCESS: return add_process(t, &rec->process);
	case REC_THREAD: return add_thread(t, &rec->thread);
	case REC_FRAME: return ADD(FRAME, frame);
	case REC_NODE: return add_node(t, &rec->node);
	case REC_FUNC: return ADD(FUNC, func);
	case REC_SYMBOL: return add_symbol(t, &rec->symbol);
	case REC_PLACE: set_place(t, &rec->place); break;
	case REC_THREADNAME: name_thread(t, &rec->threadname); break;
	case REC_EVENT: return ADD(EVENT, event);
	case REC_META:
	case REC_CLOCK:
	case REC_TASKEV:
	case REC_MAPPING:
	case REC_SCAN:
	case REC_SAMPLE:
	case REC_LOST: case REC_NOTE: case REC_END: case REC_RAWSTACK: case REC_REPEAT:
		break;
	}
	return 0;
}

int definition_store_record(void *tables, const struct record *rec)
{
	int err = add(tables, rec);

	return err < 0 ? err : 0;
}

void definition_store_join(struct definition_store *t)
{
	t->is_joined = true;
}

size_t definition_store_memory(const struct definition_store *t)
{
	return t->bytes;
}

uint64_t definition_store_refused(const struct definition_store *t)
{
	return t->refused;
}

size_t definition_store_bytes(const struct definition_store *t)
{
	return t->bytes;
}
