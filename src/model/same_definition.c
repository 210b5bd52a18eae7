/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/same_definition.h"

#include <string.h>

#include "src/base/hash_index.h"

const enum record_tag definition_tags[] = {
#define DEFINITION(tag, NAME, field, STORED, max_id) REC_##NAME,
#include "src/model/records.def"
};
const unsigned nr_definition_tags = sizeof(definition_tags) / sizeof(definition_tags[0]);

static uint64_t two(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/* ---- each type ---- */

static uint64_t string_hash(const struct rec_string *s)
{
	return hash_bytes(0, s->bytes, s->len);
}

static bool string_is_equal(const struct rec_string *a, const struct rec_string *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

static uint64_t binary_hash(const struct rec_binary *b)
{
	return hash_u64(hash_u64(hash_u64(b->ino, b->dev), b->size_bytes), two(b->path, b->kind));
}

static bool is_nameless(const struct rec_binary *b)
{
	return b->kind == BINARY_ANON && !b->ino && !b->dev && !b->size_bytes;
}

bool definition_is_unique(const struct record *rec)
{
	return rec->tag == REC_BINARY && is_nameless(&rec->binary);
}

static bool binary_is_equal(const struct rec_binary *a, const struct rec_binary *b)
{
	return !is_nameless(a) && a->kind == b->kind && a->path == b->path &&
	       a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns && a->dev == b->dev &&
	       a->ino == b->ino && a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

static uint64_t process_hash(const struct rec_process *p)
{
	return hash_u64(p->start_boottime_ns, two(p->tgid, p->comm));
}

static bool process_is_equal(const struct rec_process *a, const struct rec_process *b)
{
	return a->tgid == b->tgid && a->start_boottime_ns == b->start_boottime_ns &&
	       a->comm == b->comm && (a->exe == b->exe || !a->exe || !b->exe);
}

void process_learn(struct rec_process *to, const struct rec_process *from)
{
	to->exe = to->exe ?: from->exe;
	to->parent = to->parent ?: from->parent;
	to->cgroup = to->cgroup ?: from->cgroup;
	to->cmdline = to->cmdline ?: from->cmdline;
	to->ns_tgid = to->ns_tgid ?: from->ns_tgid;
}

uint64_t thread_hash(const struct rec_thread *t)
{
	return hash_u64(hash_u64(t->start_boottime_ns, two(t->tid, t->comm)), t->process);
}

bool thread_is_equal(const struct rec_thread *a, const struct rec_thread *b)
{
	return a->process == b->process && a->tid == b->tid && a->comm == b->comm &&
	       a->start_boottime_ns == b->start_boottime_ns;
}

static uint64_t event_hash(const struct rec_event *e)
{
	return hash_u64(hash_u64(e->period, two(e->name, e->unit)), e->kind);
}

static bool event_is_equal(const struct rec_event *a, const struct rec_event *b)
{
	return a->name == b->name && a->kind == b->kind && a->freq_mhz == b->freq_mhz &&
	       a->period == b->period && a->unit == b->unit;
}

static uint64_t frame_hash(const struct rec_frame *f)
{
	return hash_u64(hash_u64(f->addr, two(f->binary, f->kind)), f->flags);
}

static bool frame_is_equal(const struct rec_frame *a, const struct rec_frame *b)
{
	return a->addr == b->addr && a->binary == b->binary && a->kind == b->kind &&
	       a->flags == b->flags;
}

static uint64_t node_hash(const struct rec_node *n)
{
	return hash_u64(0, two(n->parent, n->frame));
}

static bool node_is_equal(const struct rec_node *a, const struct rec_node *b)
{
	return a->parent == b->parent && a->frame == b->frame;
}

uint64_t func_hash(const struct rec_func *f)
{
	return hash_u64(hash_u64(two(f->name, f->sysname), two(f->file, f->start_line)),
			two(f->lang, f->flags));
}

bool func_is_equal(const struct rec_func *a, const struct rec_func *b)
{
	return a->name == b->name && a->sysname == b->sysname && a->file == b->file &&
	       a->start_line == b->start_line && a->lang == b->lang && a->flags == b->flags;
}

/* ---- all types: one that is forgotten above does not compile here ---- */

uint64_t definition_hash(const struct record *rec)
{
	switch (rec->tag) {
#define DEFINITION(tag, NAME, field, STORED, max_id) \
	case REC_##NAME: return field##_hash(&rec->field);
#define RECORD(tag, NAME, field, STORED) case REC_##NAME: break;
#include "src/model/records.def"
	}
	return 0;
}

bool definition_is_equal(const struct record *a, const struct record *b)
{
	switch (a->tag) {
#define DEFINITION(tag, NAME, field, STORED, max_id) \
	case REC_##NAME: return field##_is_equal(&a->field, &b->field);
#define RECORD(tag, NAME, field, STORED) case REC_##NAME: break;
#include "src/model/records.def"
	}
	return false;
}
