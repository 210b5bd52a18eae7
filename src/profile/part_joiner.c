/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/part_joiner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"

/* What the ids of a part are in its recording, by type and id; 0: not defined. */
struct part_ids {
	uint32_t *v[RECORD_TAGS];
	size_t cap[RECORD_TAGS];
};

static const enum record_tag kinds[] = {
	REC_STRING, REC_BINARY, REC_PROCESS, REC_THREAD, REC_EVENT, REC_FRAME, REC_NODE, REC_FUNC,
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void forget_recording(struct part_joiner *j)
{
	for (size_t i = 0; i < NR_KINDS; i++)
		ix_release(&j->index[kinds[i]]);
	free(j->claimed);
	j->claimed = NULL;
	j->cap_claimed = 0;
	j->is_indexed = false;
}

static void free_ids(struct part_ids *ids)
{
	for (size_t i = 0; ids && i < NR_KINDS; i++)
		free(ids->v[kinds[i]]);
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

	for (size_t i = 0; ids && i < NR_KINDS; i++)
		bytes += ids->cap[kinds[i]] * sizeof(*ids->v[0]);
	return bytes;
}

/* ---- definitions that are equal ---- */

/* The definition of the recording with this id. false: there is none. */
static bool load(const struct definition_store *t, enum record_tag tag, uint32_t id,
		 struct record *out)
{
	const struct table_node *n;
	const void *found = NULL;

	out->tag = tag;
#define LOAD(NAME, field, find) \
	if (tag == REC_##NAME && (found = definition_store_find_##find(t, id))) \
		out->field = *(const struct rec_##field *)found;
	LOAD(BINARY, binary, binary)
	LOAD(PROCESS, process, process)
	LOAD(THREAD, thread, thread)
	LOAD(EVENT, event, event)
	LOAD(FRAME, frame, frame)
	LOAD(FUNC, func, func)
#undef LOAD
	if (tag == REC_STRING) {
		out->string.bytes = definition_store_string(t, id, &out->string.len);
		return true;
	}
	if (tag != REC_NODE)
		return found;
	n = definition_store_node_row(t, id);
	out->node = n ? (struct rec_node){ id, n->parent, n->frame } : (struct rec_node){ 0 };
	return n;
}

static uint64_t hash_of(const struct record *r)
{
	switch ((int)r->tag) {
	case REC_STRING: return hash_bytes(0, r->string.bytes, r->string.len);
	case REC_BINARY: return hash_u64(hash_u64(r->binary.path, r->binary.ino), r->binary.dev);
	case REC_PROCESS: return hash_u64(r->process.tgid, r->process.start_boottime_ns);
	case REC_THREAD:
		return hash_u64(hash_u64(r->thread.tid, r->thread.process), r->thread.comm);
	case REC_EVENT: return hash_u64(r->event.name, r->event.unit);
	case REC_FRAME: return hash_u64(hash_u64(r->frame.addr, r->frame.binary), r->frame.flags);
	case REC_NODE: return hash_u64(hash_u64(7, r->node.parent), r->node.frame);
	case REC_FUNC: return hash_u64(hash_u64(r->func.name, r->func.sysname), r->func.file);
	}
	return 0;
}

static bool same_binary(const struct rec_binary *a, const struct rec_binary *b)
{
	return a->kind == b->kind && (a->kind != BINARY_ANON || a->ino) && a->path == b->path &&
	       a->dev == b->dev && a->ino == b->ino && a->size_bytes == b->size_bytes &&
	       a->mtime_ns == b->mtime_ns && a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

/* What program it runs may have become known later. With another name it is one after an exec. */
static bool same_process(const struct rec_process *a, const struct rec_process *b)
{
	return a->tgid == b->tgid && a->start_boottime_ns == b->start_boottime_ns &&
	       a->comm == b->comm && (a->exe == b->exe || !a->exe || !b->exe);
}

static bool same_thread(const struct rec_thread *a, const struct rec_thread *b)
{
	return a->process == b->process && a->tid == b->tid && a->comm == b->comm &&
	       a->start_boottime_ns == b->start_boottime_ns;
}

static bool same_func(const struct rec_func *a, const struct rec_func *b)
{
	return a->name == b->name && a->sysname == b->sysname && a->file == b->file &&
	       a->start_line == b->start_line && a->lang == b->lang && a->flags == b->flags;
}

static bool is_equal(const struct record *a, const struct record *b)
{
	switch ((int)a->tag) {
	case REC_STRING:
		return a->string.len == b->string.len &&
		       !memcmp(a->string.bytes, b->string.bytes, a->string.len);
	case REC_BINARY: return same_binary(&a->binary, &b->binary);
	case REC_PROCESS:
		return same_process(&a->process, &b->process);
	case REC_THREAD: return same_thread(&a->thread, &b->thread);
	case REC_EVENT:
		return a->event.name == b->event.name && a->event.unit == b->event.unit &&
		       a->event.kind == b->event.kind && a->event.period == b->event.period &&
		       a->event.freq_mhz == b->event.freq_mhz;
	case REC_FRAME:
		return a->frame.addr == b->frame.addr && a->frame.binary == b->frame.binary &&
		       a->frame.kind == b->frame.kind && a->frame.flags == b->frame.flags;
	case REC_NODE:
		return a->node.parent == b->node.parent && a->node.frame == b->node.frame;
	case REC_FUNC: return same_func(&a->func, &b->func);
	}
	return false;
}

struct key {
	const struct part_joiner *j;
	const struct definition_store *tables;
	const struct record *rec;
};

/* A part defines no process twice: two that look equal are one before and one after an exec. */
static bool is_claimed(const struct part_joiner *j, enum record_tag tag, uint32_t id)
{
	return tag == REC_PROCESS && id < j->cap_claimed && j->claimed[id] == j->nr;
}

static bool is_same(const void *ctx, uint32_t id)
{
	const struct key *k = ctx;
	struct record has;

	return load(k->tables, k->rec->tag, id, &has) && is_equal(k->rec, &has) &&
	       !is_claimed(k->j, k->rec->tag, id);
}

static int index_kind(struct part_joiner *j, const struct definition_store *t, enum record_tag tag)
{
	uint32_t end = definition_store_id_end(t, tag);
	struct record has;
	int err = 0;

	for (uint32_t id = 1; id < end && !err; id++)
		if (load(t, tag, id, &has))
			err = ix_add(&j->index[tag], hash_of(&has), id);
	return err;
}

static int index_recording(struct part_joiner *j, const struct definition_store *t)
{
	int err = 0;

	for (size_t i = 0; i < NR_KINDS && !err; i++)
		err = index_kind(j, t, kinds[i]);
	j->is_indexed = !err;
	return err;
}

static int claim(struct part_joiner *j, uint32_t process)
{
	if (array_reserve(&j->claimed, &j->cap_claimed, (size_t)process + 1))
		return -ENOMEM;
	j->claimed[process] = (uint32_t)j->nr;
	return 0;
}

/* Gives a definition its id in the recording. 1: it is new; 0: the recording has it. */
static int define(struct part_joiner *j, struct part_ids *ids, const struct definition_store *t,
		  struct record *rec)
{
	uint32_t *place = record_id(rec), own = *place;
	struct key k = { j, t, rec };
	uint64_t hash = hash_of(rec);
	uint32_t id = ix_find(&j->index[rec->tag], hash, is_same, &k);
	bool is_new = id == IX_NONE;

	if (array_reserve(&ids->v[rec->tag], &ids->cap[rec->tag], (size_t)own + 1))
		return -ENOMEM;
	if (is_new) {
		id = definition_store_id_end(t, rec->tag);
		if (!id)
			id = 1;
		if (ix_add(&j->index[rec->tag], hash, id))
			return -ENOMEM;
	}
	if (rec->tag == REC_PROCESS && claim(j, id))
		return -ENOMEM;
	ids->v[rec->tag][own] = *place = id;
	return is_new;
}

/* ---- references ---- */

static uint32_t translated(const struct part_ids *ids, enum record_tag tag, uint32_t id)
{
	return id < ids->cap[tag] ? ids->v[tag][id] : 0;
}

#define REF(NAME, field) (field) = translated(ids, REC_##NAME, (field))

static int translate_symbol(struct part_joiner *j, const struct part_ids *ids,
			    struct rec_symbol *s)
{
	REF(FRAME, s->frame);
	if (array_reserve(&j->lines, &j->cap_lines, s->nr_lines))
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr_lines; i++) {
		j->lines[i] = s->lines[i];
		REF(FUNC, j->lines[i].func);
		REF(STRING, j->lines[i].file);
	}
	s->lines = j->lines;
	return s->frame != 0;
}

static void translate_sample(const struct part_ids *ids, struct rec_sample *s)
{
	REF(EVENT, s->event);
	REF(THREAD, s->thread);
	REF(NODE, s->kstack);
	REF(NODE, s->ustack);
	REF(FRAME, s->variable);
	REF(STRING, s->file);
}

static void translate_definition(const struct part_ids *ids, struct record *r)
{
	switch ((int)r->tag) {
	case REC_BINARY: REF(STRING, r->binary.path); break;
	case REC_PROCESS:
		REF(PROCESS, r->process.parent);
		REF(STRING, r->process.comm);
		REF(STRING, r->process.cgroup);
		REF(STRING, r->process.cmdline);
		REF(BINARY, r->process.exe);
		break;
	case REC_THREAD:
		REF(PROCESS, r->thread.process);
		REF(STRING, r->thread.comm);
		break;
	case REC_EVENT:
		REF(STRING, r->event.name);
		REF(STRING, r->event.unit);
		break;
	case REC_FRAME: REF(BINARY, r->frame.binary); break;
	case REC_NODE:
		REF(NODE, r->node.parent);
		REF(FRAME, r->node.frame);
		break;
	case REC_FUNC:
		REF(STRING, r->func.name);
		REF(STRING, r->func.sysname);
		REF(STRING, r->func.file);
		break;
	}
}

static int translate(struct part_joiner *j, struct part_ids *ids,
		     const struct definition_store *tables, struct record *rec)
{
	switch (rec->tag) {
	case REC_STRING: case REC_BINARY: case REC_PROCESS: case REC_THREAD: case REC_EVENT:
	case REC_FRAME: case REC_NODE: case REC_FUNC:
		translate_definition(ids, rec);
		return define(j, ids, tables, rec);
	case REC_SYMBOL:
		return translate_symbol(j, ids, &rec->symbol);
	case REC_PLACE:
		REF(FRAME, rec->place.frame);
		REF(STRING, rec->place.file);
		return rec->place.frame != 0;
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

int part_joiner_record(struct part_joiner *j, const struct definition_store *tables,
		       struct record *rec)
{
	struct part *p = &j->v[j->nr - 1];

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
