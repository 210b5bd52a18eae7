/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/late_names/late_copy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/record_fields.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/late_names/late_names.h"
#include "src/model/definition_store.h"
#include "src/model/same_definition.h"

#define MAX_LINES 256			/* of a SYMBOL: TRACE.md 7 */

/* Numbers of one recording that stand for things of struct late_names; by index there, 0: none. */
struct ids {
	uint32_t *v;
	size_t cap;
	uint32_t last;			/* the highest id so far in the copy */
	struct hash_index known;	/* those of the original, by contents */
};

struct copy {
	const struct late_names *n;
	struct trace_reader *reader;
	struct trace_writer *writer;
	uint32_t segment;
	uint64_t chunks, bad_chunks;	/* of the original, up to the last record */
	bool has_begun;			/* the first record has come */
	bool is_named;			/* the names of this segment are written */
	struct ids strings, funcs;
	uint32_t last_frame;		/* the highest id so far in the copy */
	uint64_t time_ns;		/* of the latest record that has one */
};

static void release_ids(struct ids *ids)
{
	free(ids->v);
	ix_release(&ids->known);
	memset(ids, 0, sizeof(*ids));
}

static const struct definition_store *tables_of(const struct copy *c)
{
	return c->n->segments[c->segment].tables;
}

/* ---- names ---- */

struct string_key {
	const struct definition_store *tables;
	const char *text;
	size_t len;
};

static bool same_string(const void *ctx, uint32_t id)
{
	const struct string_key *k = ctx;
	size_t len;
	const char *text = definition_store_string(k->tables, id, &len);

	return len == k->len && !memcmp(text, k->text, len);
}

struct func_key {
	const struct definition_store *tables;
	const struct rec_func *f;
};

static bool same_func(const void *ctx, uint32_t id)
{
	const struct func_key *k = ctx;

	return func_is_equal(definition_store_find_func(k->tables, id), k->f);
}

static int index_string(struct copy *c, uint32_t id, const char *missing)
{
	struct string_key k = { .tables = tables_of(c) };
	uint64_t hash;

	k.text = definition_store_string(k.tables, id, &k.len);
	hash = hash_bytes(0, k.text, k.len);
	if (k.text == missing || ix_find(&c->strings.known, hash, same_string, &k) != IX_NONE)
		return 0;
	return ix_add(&c->strings.known, hash, id);
}

static int index_func(struct copy *c, uint32_t id)
{
	struct func_key k = { tables_of(c), definition_store_find_func(tables_of(c), id) };

	if (!k.f || ix_find(&c->funcs.known, func_hash(k.f), same_func, &k) != IX_NONE)
		return 0;
	return ix_add(&c->funcs.known, func_hash(k.f), id);
}

/*
 * Makes the original's strings and functions findable, so that none is written twice. Equal ones
 * count once: a hostile trace has millions of them.
 */
static int index_known(struct copy *c)
{
	const struct definition_store *t = tables_of(c);
	const char *missing = definition_store_string(t, UINT32_MAX, NULL);
	uint32_t strings = definition_store_id_end(t, REC_STRING);
	uint32_t funcs = definition_store_id_end(t, REC_FUNC);
	int err = 0;

	for (uint32_t id = 1; id < strings && !err; id++)
		err = index_string(c, id, missing);
	for (uint32_t id = 1; id < funcs && !err; id++)
		err = index_func(c, id);
	return err;
}

/* The id of a text in this recording; it is defined if it is new. */
static int put_string(struct copy *c, uint32_t text, uint32_t *id)
{
	struct record rec = { .tag = REC_STRING };
	struct string_key k = { .tables = tables_of(c) };

	*id = 0;
	if (!text)
		return 0;		/* "" */
	if (array_reserve(&c->strings.v, &c->strings.cap, (size_t)text + 1))
		return -ENOMEM;
	*id = c->strings.v[text];
	if (*id)
		return 0;
	k.text = intern_get(c->n->texts, text, &k.len);
	*id = ix_find(&c->strings.known, hash_bytes(0, k.text, k.len), same_string, &k);
	if (*id == IX_NONE) {
		*id = rec.string.id = ++c->strings.last;
		rec.string.bytes = k.text;
		rec.string.len = k.len;
	}
	c->strings.v[text] = *id;
	return rec.string.id ? trace_writer_record(c->writer, &rec) : 0;
}

static int put_func(struct copy *c, uint32_t func, uint32_t *id)
{
	const struct rec_func *f = &c->n->funcs[func];
	struct record rec = { .tag = REC_FUNC };
	struct func_key k = { tables_of(c), &rec.func };
	int err;

	if (array_reserve(&c->funcs.v, &c->funcs.cap, (size_t)func + 1))
		return -ENOMEM;
	*id = c->funcs.v[func];
	if (*id)
		return 0;
	rec.func.lang = f->lang;
	rec.func.flags = f->flags;
	rec.func.start_line = f->start_line;
	err = put_string(c, f->name, &rec.func.name);
	if (!err)
		err = put_string(c, f->sysname, &rec.func.sysname);
	if (!err)
		err = put_string(c, f->file, &rec.func.file);
	if (err)
		return err;
	*id = ix_find(&c->funcs.known, func_hash(&rec.func), same_func, &k);
	if (*id == IX_NONE)
		*id = rec.func.id = ++c->funcs.last;
	c->funcs.v[func] = *id;
	return rec.func.id ? trace_writer_record(c->writer, &rec) : 0;
}

/* true: the answer stands in the place of what the original says of the frame. */
static bool replaces(const struct late_question *q, const struct table_symbol *old)
{
	if (!q->is_answered || q->nr_lines || !old)
		return q->is_answered;
	return !old->nr_lines && !old->offset && q->has_offset;
}

static int put_symbol(struct copy *c, const struct late_question *q)
{
	struct rec_line lines[MAX_LINES];
	struct record rec = { .tag = REC_SYMBOL, .symbol = { q->frame, q->status, 0, lines, 0 } };
	struct record place = { .tag = REC_PLACE };
	uint32_t nr = q->nr_lines < MAX_LINES ? q->nr_lines : MAX_LINES;
	int err = 0;

	if (q->has_offset)
		rec.symbol.offset = q->offset;
	for (uint32_t i = 0; i < nr && !err; i++) {
		lines[i] = c->n->lines[q->first_line + i];
		err = put_func(c, lines[i].func, &lines[i].func);
		if (!err)
			err = put_string(c, lines[i].file, &lines[i].file);
	}
	rec.symbol.nr_lines = nr;
	if (!err)
		err = trace_writer_record(c->writer, &rec);
	for (uint32_t i = 0; i < nr && !err; i++)
		if (record_place(&rec.symbol, i, &place.place))
			err = trace_writer_record(c->writer, &place);
	return err;
}

static int put_lines_lost(struct copy *c, const struct late_segment *s)
{
	struct record rec = { .tag = REC_LOST, .lost = { c->time_ns, 0, LOSS_LINE_BUDGET,
							 UINT32_MAX, s->nr_lines_lost } };

	return s->nr_lines_lost ? trace_writer_record(c->writer, &rec) : 0;
}

static int put_names(struct copy *c)
{
	const struct late_segment *s = &c->n->segments[c->segment];
	int err = index_known(c);

	c->is_named = true;
	for (size_t frame = 0; frame < s->cap_questions && !err; frame++) {
		uint32_t at = s->questions[frame];
		const struct late_question *q = at ? &c->n->questions[at - 1] : NULL;

		if (q && replaces(q, definition_store_find_symbol(s->tables, q->frame)))
			err = put_symbol(c, q);
	}
	release_ids(&c->strings);
	release_ids(&c->funcs);
	return err ? err : put_lines_lost(c, s);
}

/* ---- records ---- */

/* A recording that has no END has its names at its end. */
static int end_segment(struct copy *c)
{
	return c->is_named || !c->has_begun ? 0 : put_names(c);
}

/* Follows the reader into another chunk, or another recording. */
static int begin_chunk(struct copy *c, const struct trace_status *st)
{
	bool is_other = c->has_begun && st->segment != c->segment;
	int err = is_other ? end_segment(c) : 0;

	if (st->segment >= c->n->nr_segments)
		return fail_why(-ESTALE, "the trace has changed while it was read");
	if (!err)
		err = is_other ? trace_writer_begin_segment(c->writer)
			       : trace_writer_flush(c->writer);
	if (!err && st->bad_chunks != c->bad_chunks)
		err = trace_writer_lose(c->writer);
	if (is_other || !c->has_begun) {
		c->is_named = false;
		c->last_frame = 0;
	}
	c->has_begun = true;
	c->segment = st->segment;
	c->chunks = st->chunks;
	c->bad_chunks = st->bad_chunks;
	return err;
}

/* A trace is valid where definitions follow END, and their ids must come before those of names. */
static bool has_all_definitions(const struct copy *c)
{
	const struct definition_store *t = tables_of(c);

	return c->strings.last + 1 >= definition_store_id_end(t, REC_STRING) &&
	       c->funcs.last + 1 >= definition_store_id_end(t, REC_FUNC) &&
	       c->last_frame + 1 >= definition_store_id_end(t, REC_FRAME);
}

/* A SYMBOL or PLACE of a frame. */
static int copy_symbol(struct copy *c, const struct record *rec, uint32_t frame)
{
	const struct late_question *q = late_names_find(c->n, c->segment, frame);

	if (q && replaces(q, definition_store_find_symbol(tables_of(c), frame)))
		return 0;
	return trace_writer_record(c->writer, rec);
}

static int copy_end(struct copy *c, struct record *rec)
{
	uint64_t named = c->n->segments[c->segment].nr_named;
	int err = has_all_definitions(c) ? end_segment(c) : 0;

	rec->end.unresolved -= named < rec->end.unresolved ? named : rec->end.unresolved;
	rec->end.lost += c->n->segments[c->segment].nr_lines_lost;
	rec->end.raw_bytes = 0;		/* not known */
	return err ? err : trace_writer_record(c->writer, rec);
}

static int copy_meta(struct copy *c, struct record *rec)
{
	const struct rec_meta *m = &rec->meta;

	if (c->n->segments[c->segment].nr_named && !strcmp(m->key, "symbolize") && m->len == 4 &&
	    !memcmp(m->value, "none", 4))
		rec->meta = (struct rec_meta){ m->key, "late", 4 };
	return trace_writer_record(c->writer, rec);
}

static int copy_record(struct copy *c, struct record *rec)
{
	const struct trace_status *st = trace_reader_status(c->reader);
	int err = 0;

	record_time(rec, &c->time_ns);
	if (!c->has_begun || st->chunks != c->chunks || st->segment != c->segment)
		err = begin_chunk(c, st);
	if (err)
		return err;
	if (rec->tag == REC_STRING && rec->string.id > c->strings.last)
		c->strings.last = rec->string.id;
	if (rec->tag == REC_FUNC && rec->func.id > c->funcs.last)
		c->funcs.last = rec->func.id;
	if (rec->tag == REC_FRAME)
		c->last_frame = rec->frame.id;
	if (rec->tag == REC_META)
		return copy_meta(c, rec);
	if (rec->tag == REC_SYMBOL)
		return copy_symbol(c, rec, rec->symbol.frame);
	if (rec->tag == REC_PLACE)
		return copy_symbol(c, rec, rec->place.frame);
	if (rec->tag == REC_END)
		return copy_end(c, rec);
	return trace_writer_record(c->writer, rec);
}

int late_copy(const struct late_names *n, struct trace_reader *reader, struct trace_writer *writer)
{
	struct copy c = { .n = n, .reader = reader, .writer = writer };
	struct record rec;
	int err, more = 0;

	trace_reader_give_repeats(reader, true);
	err = trace_reader_rewind(reader);
	while (!err && (more = trace_reader_next(reader, &rec)) > 0)
		err = copy_record(&c, &rec);
	err = err ? err : more;
	if (!err && trace_reader_status(reader)->bad_chunks != c.bad_chunks)
		err = trace_writer_lose(writer);
	if (!err)
		err = end_segment(&c);
	release_ids(&c.strings);
	release_ids(&c.funcs);
	return err;
}
