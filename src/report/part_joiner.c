/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/part_joiner.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/record_fields.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"

/* What the ids of a part are in its recording, by type and id; 0: not defined. */
struct part_ids {
	uint32_t *v[RECORD_TAGS];
	size_t cap[RECORD_TAGS];
};

static void forget_recording(struct part_joiner *j)
{
	definition_joiner_release(&j->known);
	j->is_indexed = false;
}

static void free_ids(struct part_ids *ids)
{
	for (unsigned tag = 0; ids && tag < RECORD_TAGS; tag++)
		free(ids->v[tag]);
	free(ids);
}

void part_joiner_release(struct part_joiner *j)
{
	forget_recording(j);
	for (size_t i = 0; i < j->nr; i++)
		free_ids(j->v[i].ids);
	free(j->v);
	free(j->lines);
	memset(j, 0, sizeof(*j));
}

/* ---- segments ---- */

static uint32_t part_number(const struct record *rec)
{
	char text[12];

	if (rec->tag != REC_META || strcmp(rec->meta.key, "recording.part") ||
	    rec->meta.len >= sizeof(text))
		return 1;
	memcpy(text, rec->meta.value, rec->meta.len);
	text[rec->meta.len] = 0;
	return (uint32_t)strtoul(text, NULL, 10) ?: 1;
}

static int add_part(struct part_joiner *j, uint32_t number)
{
	struct part *p = array_push(&j->v, &j->nr, &j->cap), *before;

	if (!p)
		return -ENOMEM;
	before = j->nr > 1 ? p - 1 : NULL;
	p->number = number;
	if (before && number > before->number) {
		p->recording = before->recording;
		definition_joiner_begin(&j->known);
		p->ids = calloc(1, sizeof(*p->ids));
		if (p->ids)
			return 0;
		j->nr--;
		return -ENOMEM;
	}
	forget_recording(j);
	p->recording = j->nr_recordings++;
	return 0;
}

int part_joiner_enter(struct part_joiner *j, uint32_t segment, const struct record *rec)
{
	int err = 0;

	while (j->nr <= segment && !err)
		err = add_part(j, j->nr == segment ? part_number(rec) : 1);
	return err;
}

uint32_t part_joiner_recording(const struct part_joiner *j, uint32_t segment)
{
	return segment < j->nr ? j->v[segment].recording : UINT32_MAX;
}

bool part_joiner_is_joined(const struct part_joiner *j, uint32_t segment)
{
	return segment < j->nr && j->v[segment].ids;
}

size_t part_joiner_memory(const struct part_joiner *j, uint32_t segment)
{
	const struct part_ids *ids = j->v[segment].ids;
	size_t bytes = 0;

	for (unsigned tag = 0; ids && tag < RECORD_TAGS; tag++)
		bytes += ids->cap[tag] * sizeof(*ids->v[0]);
	return bytes;
}

/* ---- definitions ---- */

static int index_recording(struct part_joiner *j, const struct definition_store *t)
{
	int err = definition_joiner_add_all(&j->known, t);

	j->is_indexed = !err;
	return err;
}

/*
 * Gives a definition its id in the recording. 1: it is new; 0: the recording has it, and the store
 * has learned what it lacked.
 */
static int define(struct part_joiner *j, struct part_ids *ids, struct definition_store *t,
		  struct record *rec)
{
	uint32_t *place = record_id(rec), own = *place;
	uint32_t id = definition_joiner_find(&j->known, t, rec);
	bool is_new = id == IX_NONE;

	if (array_reserve(&ids->v[rec->tag], &ids->cap[rec->tag], (size_t)own + 1))
		return -ENOMEM;
	if (is_new)
		id = definition_store_id_end(t, rec->tag) ?: 1;
	ids->v[rec->tag][own] = *place = id;
	if (is_new)
		return definition_joiner_add(&j->known, rec, id) ?: 1;
	return definition_joiner_meet(&j->known, t, rec);
}

/* ---- references ---- */

static uint32_t translated(const struct part_ids *ids, enum record_tag tag, uint32_t id)
{
	return id < ids->cap[tag] ? ids->v[tag][id] : 0;
}

static void translate_fields(const struct part_ids *ids, struct record *rec)
{
	for (const struct field *f = record_layout(rec->tag)->fields; f->at; f++) {
		uint32_t *id = f->to ? (uint32_t *)((char *)rec + f->at) : NULL;

		if (id)
			*id = translated(ids, f->to, *id);
	}
}

static int translate_lines(struct part_joiner *j, const struct part_ids *ids, struct rec_symbol *s)
{
	if (array_reserve(&j->lines, &j->cap_lines, s->nr_lines))
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr_lines; i++) {
		struct rec_line line = s->lines[i];

		line.func = translated(ids, REC_FUNC, line.func);
		line.file = translated(ids, REC_STRING, line.file);
		j->lines[i] = line;
	}
	s->lines = j->lines;
	return s->frame != 0;
}

static void translate_sample(const struct part_ids *ids, struct rec_sample *s)
{
#define TRANSLATE(member, NAME) s->member = translated(ids, REC_##NAME, s->member);
	SAMPLE_REFERENCES(TRANSLATE)
#undef TRANSLATE
}

static int translate(struct part_joiner *j, struct part_ids *ids, struct definition_store *tables,
		     struct record *rec)
{
	translate_fields(ids, rec);
	switch (rec->tag) {
#define DEFINITION(tag, NAME, field, STORED, max_id) case REC_##NAME:
#define RECORD(tag, NAME, field, STORED)
#include "src/model/records.def"
		return define(j, ids, tables, rec);
	case REC_SYMBOL:
		return translate_lines(j, ids, &rec->symbol);
	case REC_PLACE:
		return rec->place.frame != 0;
	case REC_THREADNAME:
		return rec->threadname.thread != 0;
	case REC_SAMPLE:
		translate_sample(ids, &rec->sample);
		return 1;
	case REC_TASKEV: case REC_MAPPING: case REC_RAWSTACK:
		return 0;		/* no report uses them */
	case REC_META: case REC_CLOCK: case REC_REPEAT: case REC_LOST: case REC_SCAN: case REC_NOTE:
	case REC_END:
		break;
	}
	return 1;
}

int part_joiner_record(struct part_joiner *j, struct definition_store *tables, struct record *rec)
{
	struct part *p = &j->v[j->nr - 1];

	assert(j->nr);		/* part_joiner_enter() has made it */
	if (!p->ids)
		return 1;
	if (!j->is_indexed && index_recording(j, tables))
		return -ENOMEM;
	return translate(j, p->ids, tables, rec);
}

bool part_joiner_sample(const struct part_joiner *j, uint32_t segment, struct rec_sample *s)
{
	if (!part_joiner_is_joined(j, segment))
		return false;
	translate_sample(j->v[segment].ids, s);
	return true;
}
