/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/live_ids.h"

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
	ids->gaps = 0;
}

void live_ids_release(struct live_ids *ids)
{
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++) {
		forget_segment(&ids->kinds[tag]);
		ix_release(&ids->kinds[tag].index);
	}
	definition_store_free(ids->store);
	free(ids->lines);
	memset(ids, 0, sizeof(*ids));
}

size_t live_ids_bytes(const struct live_ids *ids)
{
	size_t bytes = definition_store_bytes(ids->store);

	for (unsigned tag = 0; tag < RECORD_TAGS; tag++) {
		const struct live_id_kind *k = &ids->kinds[tag];

		bytes += k->cap_own * sizeof(*k->own);
		if (k->index.slots)
			bytes += ((size_t)k->index.mask + 1) * sizeof(*k->index.slots);
	}
	return bytes;
}

/* ---- contents ---- */

static uint64_t two(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

static uint64_t hash_string(const struct record *r)
{
	return hash_bytes(0, r->string.bytes, r->string.len);
}

static bool same_string(const struct definition_store *s, uint32_t id, const struct record *r)
{
	size_t len;
	const char *bytes = definition_store_string(s, id, &len);

	return len == r->string.len && !memcmp(bytes, r->string.bytes, len);
}

static uint64_t hash_binary(const struct record *r)
{
	const struct rec_binary *b = &r->binary;

	return hash_u64(hash_u64(hash_u64(b->ino, b->dev), b->size_bytes), two(b->path, b->kind));
}

static bool same_binary(const struct definition_store *s, uint32_t id, const struct record *r)
{
	const struct rec_binary *a = definition_store_find_binary(s, id), *b = &r->binary;

	return a && a->kind == b->kind && a->path == b->path && a->size_bytes == b->size_bytes &&
	       a->mtime_ns == b->mtime_ns && a->dev == b->dev && a->ino == b->ino &&
	       a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

static uint64_t hash_process(const struct record *r)
{
	const struct rec_process *p = &r->process;

	return hash_u64(hash_u64(p->start_boottime_ns, two(p->tgid, p->comm)), p->exe);
}

static bool same_process(const struct definition_store *s, uint32_t id, const struct record *r)
{
	const struct rec_process *a = definition_store_find_process(s, id), *b = &r->process;

	return a && a->tgid == b->tgid && a->start_boottime_ns == b->start_boottime_ns &&
	       a->comm == b->comm && a->exe == b->exe && a->ns_tgid == b->ns_tgid &&
	       a->uid == b->uid && a->cgroup == b->cgroup && a->cmdline == b->cmdline &&
	       !((a->flags ^ b->flags) & PROCESS_KTHREAD);
}

static uint64_t hash_thread(const struct record *r)
{
	const struct rec_thread *t = &r->thread;

	return hash_u64(hash_u64(t->start_boottime_ns, two(t->tid, t->comm)), t->process);
}

static bool same_thread(const struct definition_store *s, uint32_t id, const struct record *r)
{
	const struct rec_thread *a = definition_store_find_thread(s, id), *b = &r->thread;

	return a && a->process == b->process && a->tid == b->tid && a->comm == b->comm &&
	       a->start_boottime_ns == b->start_boottime_ns && a->ns_tid == b->ns_tid;
}

static uint64_t hash_event(const struct record *r)
{
	return hash_u64(hash_u64(r->event.period, two(r->event.name, r->event.unit)),
			r->event.kind);
}

static bool same_event(const struct definition_store *s, uint32_t id, const struct record *r)
{
	const struct rec_event *a = definition_store_find_event(s, id), *b = &r->event;

	return a && a->name == b->name && a->kind == b->kind && a->freq_mhz == b->freq_mhz &&
	       a->period == b->period && a->unit == b->unit;
}

static uint64_t hash_frame(const struct record *r)
{
	return hash_u64(hash_u64(r->frame.addr, two(r->frame.binary, r->frame.kind)),
			r->frame.flags);
}

static bool same_frame(const struct definition_store *s, uint32_t id, const struct record *r)
{
	const struct rec_frame *a = definition_store_find_frame(s, id), *b = &r->frame;

	return a && a->addr == b->addr && a->binary == b->binary && a->kind == b->kind &&
	       a->flags == b->flags;
}

static uint64_t hash_node(const struct record *r)
{
	return hash_u64(0, two(r->node.parent, r->node.frame));
}

static bool same_node(const struct definition_store *s, uint32_t id, const struct record *r)
{
	const struct table_node *a = definition_store_node_row(s, id);

	return a && a->parent == r->node.parent && a->frame == r->node.frame;
}

static uint64_t hash_func(const struct record *r)
{
	const struct rec_func *f = &r->func;

	return hash_u64(hash_u64(two(f->name, f->sysname), two(f->file, f->start_line)),
			two(f->lang, f->flags));
}

static bool same_func(const struct definition_store *s, uint32_t id, const struct record *r)
{
	const struct rec_func *a = definition_store_find_func(s, id), *b = &r->func;

	return a && a->name == b->name && a->sysname == b->sysname && a->file == b->file &&
	       a->start_line == b->start_line && a->lang == b->lang && a->flags == b->flags;
}

static const struct contents {
	uint64_t (*hash)(const struct record *r);	/* NULL: the type defines nothing */
	bool (*same)(const struct definition_store *s, uint32_t id, const struct record *r);
} contents[RECORD_TAGS] = {
	[REC_STRING] = { hash_string, same_string },
	[REC_BINARY] = { hash_binary, same_binary },
	[REC_PROCESS] = { hash_process, same_process },
	[REC_THREAD] = { hash_thread, same_thread },
	[REC_EVENT] = { hash_event, same_event },
	[REC_FRAME] = { hash_frame, same_frame },
	[REC_NODE] = { hash_node, same_node },
	[REC_FUNC] = { hash_func, same_func },
};

struct search {
	const struct definition_store *store;
	const struct record *rec;
};

static bool is_same(const void *ctx, uint32_t id)
{
	const struct search *s = ctx;

	return contents[s->rec->tag].same(s->store, id, s->rec);
}

/* Memory of a process for code made at run time: nothing says of which one. */
static bool is_nameless(const struct record *rec)
{
	const struct rec_binary *b = &rec->binary;

	return rec->tag == REC_BINARY && b->kind == BINARY_ANON && !b->ino && !b->dev &&
	       !b->size_bytes;
}

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
	struct live_id_kind *k = &ids->kinds[rec->tag];
	const struct search s = { ids->store, rec };
	uint64_t hash = contents[rec->tag].hash(rec);
	struct record copy;

	*id = is_nameless(rec) ? IX_NONE : ix_find(&k->index, hash, is_same, &s);
	if (is_new)
		*is_new = *id == IX_NONE;
	if (*id != IX_NONE)
		return 0;
	copy = *rec;
	*id = *record_id(&copy) = ++k->last;
	if (!definition_store_record(ids->store, &copy) &&
	    (is_nameless(rec) || !ix_add(&k->index, hash, *id)))
		return 0;
	*id = 0;
	return -ENOMEM;
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

int live_ids_take(struct live_ids *ids, const struct record *rec)
{
	if (rec->tag == REC_SYMBOL)
		return take_symbol(ids, &rec->symbol);
	if (rec->tag == REC_PLACE)
		return take_place(ids, &rec->place);
	return contents[rec->tag].hash ? take_definition(ids, rec) : 0;
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
	*out = *in;
	out->event = refer(ids, REC_EVENT, in->event);
	out->kstack = refer(ids, REC_NODE, in->kstack);
	out->ustack = refer(ids, REC_NODE, in->ustack);
	out->variable = refer(ids, REC_FRAME, in->variable);
	out->file = refer(ids, REC_STRING, in->file);
	return refer_thread(ids, in->thread, &out->thread);
}
