/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/live_ids.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/record_fields.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"

enum {
	MAX_GAPS = 4 << 20,		/* ids that a segment may leave out, as in a store */
	MAX_LOST_THREADS = 1 << 16,	/* further ones share an id */
};

int live_ids_init(struct live_ids *ids)
{
	*ids = (struct live_ids){ .store = definition_store_new() };
	if (ids->store)
		definition_store_fold(ids->store, FOLD_LOOPS);
	return ids->store ? 0 : -ENOMEM;
}

static void forget_segment(struct live_id_kind *k)
{
	free(k->own);
	k->own = NULL;
	k->nr_own = k->cap_own = 0;
}

void live_ids_begin_segment(struct live_ids *ids)
{
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++)
		forget_segment(&ids->kinds[tag]);
	definition_joiner_begin(&ids->known);
	ids->gaps = 0;
}

void live_ids_release(struct live_ids *ids)
{
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++)
		forget_segment(&ids->kinds[tag]);
	definition_joiner_release(&ids->known);
	definition_store_free(ids->store);
	free(ids->lines);
	memset(ids, 0, sizeof(*ids));
}

size_t live_ids_bytes(const struct live_ids *ids)
{
	size_t bytes = definition_store_bytes(ids->store) + definition_joiner_memory(&ids->known);

	for (unsigned tag = 0; tag < RECORD_TAGS; tag++)
		bytes += ids->kinds[tag].cap_own * sizeof(*ids->kinds[tag].own);
	return bytes;
}

/* ---- own ids ---- */

uint32_t live_ids_undefined(struct live_ids *ids, enum record_tag tag)
{
	return ++ids->kinds[tag].last;
}

uint32_t live_ids_missing(struct live_ids *ids, enum record_tag tag)
{
	struct live_id_kind *k = &ids->kinds[tag];

	if (!k->missing)
		k->missing = live_ids_undefined(ids, tag);
	return k->missing;
}

int live_ids_define(struct live_ids *ids, const struct record *rec, uint32_t *id, bool *is_new)
{
	struct record own = *rec;
	uint32_t found = definition_joiner_find(&ids->known, ids->store, rec);
	int err;

	if (is_new)
		*is_new = found == IX_NONE;
	if (found != IX_NONE) {
		*id = *record_id(&own) = found;
		return definition_joiner_meet(&ids->known, ids->store, &own);
	}
	*id = *record_id(&own) = ++ids->kinds[rec->tag].last;
	err = definition_store_record(ids->store, &own);
	if (!err)
		err = definition_joiner_add(&ids->known, &own, *id);
	if (err)
		*id = 0;
	return err;
}

/* After a copy: of the processes, the segment has those that it has defined. */
int live_ids_reclaim(struct live_ids *ids)
{
	const struct live_id_kind *k = &ids->kinds[REC_PROCESS];
	int err = 0;

	definition_joiner_begin(&ids->known);
	for (size_t i = 0; i < k->nr_own && !err; i++)
		if (k->own[i])
			err = definition_joiner_claim(&ids->known, REC_PROCESS, k->own[i]);
	return err;
}

/* ---- the ids of the segment ---- */

uint32_t live_ids_own(const struct live_ids *ids, enum record_tag tag, uint32_t id)
{
	const struct live_id_kind *k = &ids->kinds[tag];

	return id < k->nr_own ? k->own[id] : 0;
}

/* The place for the own id of an id of the segment. 1: refused and counted; 0 or -ENOMEM. */
static int place_of(struct live_ids *ids, enum record_tag tag, uint32_t id, uint32_t **place)
{
	struct live_id_kind *k = &ids->kinds[tag];
	uint64_t gap = id > k->nr_own ? id - k->nr_own : 0;

	if (!id || id >= IX_NONE - 1 || ids->gaps + gap > MAX_GAPS) {
		ids->refused++;
		return 1;
	}
	if (array_reserve(&k->own, &k->cap_own, (size_t)id + 1))
		return -ENOMEM;
	ids->gaps += gap;
	if (id >= k->nr_own)
		k->nr_own = (size_t)id + 1;
	assert(id < k->nr_own && k->nr_own <= k->cap_own);
	*place = &k->own[id];
	return 0;
}

/* The own id of what is referred to. */
static uint32_t refer(struct live_ids *ids, enum record_tag tag, uint32_t id)
{
	uint32_t own = live_ids_own(ids, tag, id);

	return own || !id ? own : live_ids_missing(ids, tag);
}

static void refer_all(struct live_ids *ids, struct record *rec)
{
	for (const struct field *f = record_layout(rec->tag)->fields; f->at; f++) {
		uint32_t *id = f->to ? (uint32_t *)((char *)rec + f->at) : NULL;

		if (id)
			*id = refer(ids, f->to, *id);
	}
}

static int take_definition(struct live_ids *ids, const struct record *rec)
{
	struct record own = *rec;
	uint32_t *place, id = record_defines(rec);
	int err = place_of(ids, rec->tag, id, &place);

	if (err || *place)		/* defined twice: the first counts */
		return err < 0 ? err : 0;
	refer_all(ids, &own);
	return live_ids_define(ids, &own, place, NULL);
}

static int take_symbol(struct live_ids *ids, const struct rec_symbol *s)
{
	struct record own = { .tag = REC_SYMBOL, .symbol = *s };

	own.symbol.frame = live_ids_own(ids, REC_FRAME, s->frame);
	if (!own.symbol.frame)
		return 0;
	if (array_reserve(&ids->lines, &ids->cap_lines, s->nr_lines))
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr_lines; i++) {
		ids->lines[i] = s->lines[i];
		ids->lines[i].func = refer(ids, REC_FUNC, s->lines[i].func);
		ids->lines[i].file = refer(ids, REC_STRING, s->lines[i].file);
	}
	own.symbol.lines = ids->lines;
	return definition_store_record(ids->store, &own);
}

static int take_place(struct live_ids *ids, const struct rec_place *p)
{
	struct record own = { .tag = REC_PLACE, .place = *p };

	own.place.frame = live_ids_own(ids, REC_FRAME, p->frame);
	own.place.file = refer(ids, REC_STRING, p->file);
	return own.place.frame ? definition_store_record(ids->store, &own) : 0;
}

static int take_thread_name(struct live_ids *ids, const struct rec_threadname *n)
{
	struct record own = { .tag = REC_THREADNAME };

	own.threadname.thread = live_ids_own(ids, REC_THREAD, n->thread);
	own.threadname.name = live_ids_own(ids, REC_STRING, n->name);
	return own.threadname.thread && own.threadname.name
		       ? definition_store_record(ids->store, &own)
		       : 0;
}

int live_ids_take(struct live_ids *ids, const struct record *rec)
{
	if (rec->tag == REC_SYMBOL)
		return take_symbol(ids, &rec->symbol);
	if (rec->tag == REC_PLACE)
		return take_place(ids, &rec->place);
	if (rec->tag == REC_THREADNAME)
		return take_thread_name(ids, &rec->threadname);
	return record_id((struct record *)rec) ? take_definition(ids, rec) : 0;
}

/* Undefined threads stay apart, as long as there are few. */
static int refer_thread(struct live_ids *ids, uint32_t id, uint32_t *own)
{
	uint32_t *place;
	int err;

	*own = live_ids_own(ids, REC_THREAD, id);
	if (*own || !id)
		return 0;
	*own = live_ids_missing(ids, REC_THREAD);
	err = ids->lost_threads < MAX_LOST_THREADS ? place_of(ids, REC_THREAD, id, &place) : 1;
	if (err)
		return err < 0 ? err : 0;
	ids->lost_threads++;
	*own = *place = live_ids_undefined(ids, REC_THREAD);
	return 0;
}

int live_ids_sample(struct live_ids *ids, const struct rec_sample *in, struct rec_sample *out)
{
	uint32_t own_thread = 0;
	int err = refer_thread(ids, in->thread, &own_thread);

	*out = *in;
#define REFER(member, NAME) \
	out->member = REC_##NAME == REC_THREAD ? own_thread : refer(ids, REC_##NAME, in->member);
	SAMPLE_REFERENCES(REFER)
#undef REFER
	return err;
}
