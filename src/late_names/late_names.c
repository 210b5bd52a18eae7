/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/late_names/late_names.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/model/same_definition.h"

struct late_names *late_names_new(bool again)
{
	struct late_names *n = calloc(1, sizeof(*n));
	struct late_binary *none;

	if (!n)
		return NULL;
	n->again = again;
	n->texts = intern_new();
	none = array_push(&n->binaries, &n->nr_binaries, &n->cap_binaries);
	if (none)
		*none = (struct late_binary){ .kind = BINARY_KERNEL, .path = strdup("vmlinux") };
	if (!n->texts || !none || !none->path) {
		late_names_free(n);
		return NULL;
	}
	return n;
}

void late_names_free(struct late_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->nr_segments; i++) {
		definition_store_free(n->segments[i].tables);
		free(n->segments[i].binaries);
		free(n->segments[i].questions);
	}
	for (size_t i = 0; i < n->nr_binaries; i++)
		free(n->binaries[i].path);
	free(n->segments);
	free(n->binaries);
	free(n->questions);
	free(n->lines);
	free(n->funcs);
	ix_release(&n->by_identity);
	ix_release(&n->func_index);
	intern_free(n->texts);
	free(n);
}

/* ---- the first pass ---- */

struct identity_key {
	const struct late_names *n;
	const struct late_binary *b;
};

static bool same_binary(const void *ctx, uint32_t id)
{
	const struct identity_key *k = ctx;
	const struct late_binary *a = &k->n->binaries[id], *b = k->b;

	return a->kind == b->kind && a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
	       a->dev == b->dev && a->ino == b->ino &&
	       a->build_id_len == b->build_id_len && a->has_segments == b->has_segments &&
	       !memcmp(a->build_id, b->build_id, b->build_id_len) && !strcmp(a->path, b->path);
}

/* The index of the binary, added if it is new. *b has its path borrowed. -ENOMEM. */
static int find_binary(struct late_names *n, const struct late_binary *b, uint32_t *index)
{
	uint64_t hash = hash_bytes(hash_u64(b->kind, b->size_bytes), b->path, strlen(b->path));
	struct identity_key k = { n, b };
	struct late_binary *place;

	*index = ix_find(&n->by_identity, hash, same_binary, &k);
	if (*index != IX_NONE) {
		place = &n->binaries[*index];
		if (b->began_ns < place->began_ns)
			place->began_ns = b->began_ns;
		return 0;
	}
	place = array_push(&n->binaries, &n->nr_binaries, &n->cap_binaries);
	if (!place)
		return -ENOMEM;
	*place = *b;
	place->path = strdup(b->path);
	*index = (uint32_t)n->nr_binaries - 1;
	return place->path ? ix_add(&n->by_identity, hash, *index) : -ENOMEM;
}

static int keep_binary(struct late_names *n, struct late_segment *s, const struct rec_binary *r)
{
	struct late_binary b = {
		.kind = r->kind, .build_id_len = r->build_id_len, .size_bytes = r->size_bytes,
		.mtime_ns = r->mtime_ns, .has_segments = r->nr_segments,
		.dev = r->dev, .ino = r->ino, .began_ns = s->began_ns,
	};

	/* An id that the store refused, for one that is far out of order, has no frames there. */
	if (!definition_store_find_binary(s->tables, r->id))
		return 0;
	if (array_reserve(&s->binaries, &s->cap_binaries, (size_t)r->id + 1))
		return -ENOMEM;
	memcpy(b.build_id, r->build_id, b.build_id_len);
	b.path = (char *)definition_store_string(s->tables, r->path, NULL);
	return find_binary(n, &b, &s->binaries[r->id]);
}

static void keep_value(const struct rec_meta *m, const char *key, char *out, size_t size)
{
	if (strcmp(m->key, key) || m->len >= size)
		return;
	memcpy(out, m->value, m->len);
	out[m->len] = 0;
}

static void keep_meta(struct late_segment *s, const struct rec_meta *m)
{
	keep_value(m, "boot_id", s->boot_id, sizeof(s->boot_id));
	keep_value(m, "kernel.release", s->release, sizeof(s->release));
}

static struct late_segment *segment_of(struct late_names *n, uint32_t nr)
{
	while (n->nr_segments <= nr) {
		struct late_segment *s =
			array_push(&n->segments, &n->nr_segments, &n->cap_segments);

		if (!s)
			return NULL;
		s->tables = definition_store_new();
		if (!s->tables)
			return NULL;
	}
	return &n->segments[nr];
}

int late_names_record(struct late_names *n, uint32_t segment, const struct record *rec)
{
	struct late_segment *s = segment_of(n, segment);
	int err = 0;

	if (!s)
		return -ENOMEM;
	if (rec->tag == REC_META)
		keep_meta(s, &rec->meta);
	if (rec->tag == REC_CLOCK && !s->began_ns)
		s->began_ns = (int64_t)rec->clock.real_ns;
	if (rec->tag == REC_STRING || rec->tag == REC_BINARY || rec->tag == REC_FRAME ||
	    rec->tag == REC_FUNC || rec->tag == REC_SYMBOL || rec->tag == REC_PLACE)
		err = definition_store_record(s->tables, rec);
	return !err && rec->tag == REC_BINARY ? keep_binary(n, s, &rec->binary) : err;
}

/* ---- questions ---- */

const struct rec_frame *late_names_frame(const struct late_names *n, const struct late_question *q)
{
	assert(q->segment < n->nr_segments);
	return definition_store_find_frame(n->segments[q->segment].tables, q->frame);
}

uint64_t late_names_address(const struct rec_frame *f)
{
	return f->addr - (f->flags & FRAME_RETURN_ADDRESS && f->addr);
}

static uint32_t binary_of(const struct late_segment *s, const struct rec_frame *f)
{
	return f->binary < s->cap_binaries ? s->binaries[f->binary] : 0;
}

/* Nothing but the kernel has code that belongs to no binary and can be named nevertheless. */
static bool can_be_named(const struct late_names *n, const struct rec_frame *f, uint32_t binary)
{
	return f->kind == FRAME_KERNEL || f->kind == FRAME_BPF ||
	       (binary && n->binaries[binary].kind != BINARY_ANON);
}

static int ask(struct late_names *n, uint32_t segment, uint32_t frame)
{
	struct late_segment *s = &n->segments[segment];
	const struct rec_frame *f = definition_store_find_frame(s->tables, frame);
	const struct table_symbol *sym = definition_store_find_symbol(s->tables, frame);
	bool has_name = sym && sym->nr_lines;
	uint32_t binary = f ? binary_of(s, f) : 0;
	struct late_question *q;

	n->nr_frames += f != NULL;
	n->nr_nameless += f && !has_name;
	if (!f || (has_name && !n->again))
		return 0;
	if (binary)
		n->binaries[binary].nr_nameless += !has_name;
	if (!can_be_named(n, f, binary)) {
		if (binary)
			n->binaries[binary].cause = LATE_GENERATED;
		return 0;
	}
	if (!binary)
		n->binaries[0].nr_nameless += !has_name;
	q = array_push(&n->questions, &n->nr_questions, &n->cap_questions);
	if (!q || array_reserve(&s->questions, &s->cap_questions, (size_t)frame + 1))
		return -ENOMEM;
	*q = (struct late_question){ .segment = segment, .frame = frame, .had_name = has_name,
				     .next = n->binaries[binary].first };
	s->questions[frame] = n->binaries[binary].first = (uint32_t)n->nr_questions;
	return 0;
}

int late_names_ask(struct late_names *n)
{
	int err = 0;

	for (uint32_t s = 0; s < n->nr_segments && !err; s++) {
		uint32_t end = definition_store_id_end(n->segments[s].tables, REC_FRAME);

		for (uint32_t frame = 1; frame < end && !err; frame++)
			err = ask(n, s, frame);
	}
	return err;
}

const struct late_question *late_names_find(const struct late_names *n, uint32_t segment,
					    uint32_t frame)
{
	const struct late_segment *s = segment < n->nr_segments ? &n->segments[segment] : NULL;
	uint32_t at = s && frame < s->cap_questions ? s->questions[frame] : 0;

	assert(at <= n->nr_questions);
	return at ? &n->questions[at - 1] : NULL;
}

/* ---- answers ---- */

uint32_t late_names_text(struct late_names *n, const char *text)
{
	return intern_str(n->texts, text);
}

struct func_key {
	const struct late_names *n;
	const struct rec_func *f;
};

static bool same_func(const void *ctx, uint32_t id)
{
	const struct func_key *k = ctx;

	return func_is_equal(&k->n->funcs[id], k->f);
}

static int find_func(struct late_names *n, const struct rec_func *f, uint32_t *index)
{
	uint64_t hash = func_hash(f);
	struct func_key k = { n, f };
	struct rec_func *place;

	*index = ix_find(&n->func_index, hash, same_func, &k);
	if (*index != IX_NONE)
		return 0;
	place = array_push(&n->funcs, &n->nr_funcs, &n->cap_funcs);
	if (!place)
		return -ENOMEM;
	*place = *f;
	*index = (uint32_t)n->nr_funcs - 1;
	return ix_add(&n->func_index, hash, *index);
}

int late_names_add_line(struct late_names *n, struct late_question *q, const struct rec_func *f,
			const struct rec_line *line)
{
	struct rec_line *place = array_push(&n->lines, &n->nr_lines, &n->cap_lines);

	if (!place || f->name == UINT32_MAX || f->sysname == UINT32_MAX ||
	    f->file == UINT32_MAX || line->file == UINT32_MAX)
		return -ENOMEM;
	if (!q->nr_lines++)
		q->first_line = (uint32_t)n->nr_lines - 1;
	*place = *line;
	return find_func(n, f, &place->func);
}

void late_names_answer(struct late_names *n, struct late_binary *b, struct late_question *q,
		       uint8_t status, enum late_cause cause)
{
	bool is_news = q->nr_lines && !q->had_name;

	q->is_answered = true;
	q->status = status;
	b->nr_named += is_news;
	n->nr_named += is_news;
	n->segments[q->segment].nr_named += is_news;
	if (!q->nr_lines)
		b->cause = cause;
}
