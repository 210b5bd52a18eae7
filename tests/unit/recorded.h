/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink that remembers what was recorded, and checks what every reader relies on: ids ascend by
 * one, and what a record refers to has come before. Include behind cmocka.h.
 *
 *	struct recorded r = { 0 };
 *	recorded_add(&r, rec) ...		a record_fn
 *	recorded_release(&r)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/record.h"

#define RECORDED_MAX 4096
#define RECORDED_TAGS 64

struct recorded {
	uint32_t nr[RECORDED_TAGS];	/* by enum record_tag */
	char *text[RECORDED_MAX];	/* by string id */
	struct rec_binary binary[64];	/* by id, as all that have one */
	struct rec_process process[64];
	struct rec_thread thread[RECORDED_MAX];
	struct rec_frame frame[RECORDED_MAX];
	struct rec_node node[RECORDED_MAX];
	struct rec_func func[64];
	struct rec_event event[8];
	struct rec_symbol symbol[RECORDED_MAX];	/* by frame; its only line's function is .. */
	uint32_t symbol_func[RECORDED_MAX];
	struct rec_sample sample[RECORDED_MAX];	/* in order */
	struct rec_run run[16];		/* of the last REPEAT */
	struct rec_repeat repeat;
	struct rec_scan scan;		/* the last ones */
	struct rec_end end;
	struct rec_rawstack rawstack;
	struct { char key[32], value[64]; } meta[32];
	uint8_t order[RECORDED_MAX];	/* tags as they came */
	uint32_t nr_all;
	int err;			/* answered to all that come, when it is not 0 */
};

#define RECORDED_DEFINE(r, rec, NAME, field, max)                                                  \
	do {                                                                                       \
		assert_int_equal((rec)->field.id, (r)->nr[REC_##NAME]);                            \
		assert_true((rec)->field.id < (max));                                              \
		(r)->field[(rec)->field.id] = (rec)->field;                                        \
	} while (0)

static inline void recorded_frame(struct recorded *r, const struct record *rec)
{
	RECORDED_DEFINE(r, rec, FRAME, frame, RECORDED_MAX);
	assert_true(rec->frame.binary <= r->nr[REC_BINARY]);
}

static inline void recorded_node(struct recorded *r, const struct record *rec)
{
	RECORDED_DEFINE(r, rec, NODE, node, RECORDED_MAX);
	assert_true(rec->node.parent < rec->node.id);
	assert_true(rec->node.frame && rec->node.frame <= r->nr[REC_FRAME]);
}

static inline void recorded_thread(struct recorded *r, const struct record *rec)
{
	RECORDED_DEFINE(r, rec, THREAD, thread, RECORDED_MAX);
	assert_true(rec->thread.process <= r->nr[REC_PROCESS]);
	assert_true(rec->thread.comm <= r->nr[REC_STRING]);
}

static inline void recorded_symbol(struct recorded *r, const struct rec_symbol *s)
{
	assert_true(s->frame && s->frame <= r->nr[REC_FRAME]);
	assert_int_equal(r->symbol[s->frame].frame, 0);		/* once per frame */
	assert_true(s->nr_lines <= 1);
	r->symbol[s->frame] = *s;
	r->symbol_func[s->frame] = s->nr_lines ? s->lines[0].func : 0;
	assert_true(r->symbol_func[s->frame] <= r->nr[REC_FUNC]);
}

static inline void recorded_sample(struct recorded *r, const struct rec_sample *s)
{
	assert_true(r->nr[REC_SAMPLE] <= RECORDED_MAX);
	assert_true(s->event && s->event <= r->nr[REC_EVENT]);
	assert_true(s->thread <= r->nr[REC_THREAD]);
	assert_true(s->ustack <= r->nr[REC_NODE] && s->kstack <= r->nr[REC_NODE]);
	r->sample[r->nr[REC_SAMPLE] - 1] = *s;
}

static inline void recorded_repeat(struct recorded *r, const struct rec_repeat *rep)
{
	assert_true(rep->nr_runs && rep->nr_runs <= 16);
	r->repeat = *rep;
	memcpy(r->run, rep->runs, rep->nr_runs * sizeof(*rep->runs));
}

static inline void recorded_meta(struct recorded *r, const struct rec_meta *m)
{
	uint32_t i = r->nr[REC_META] - 1;

	assert_true(i < 32);
	snprintf(r->meta[i].key, sizeof(r->meta[i].key), "%s", m->key);
	snprintf(r->meta[i].value, sizeof(r->meta[i].value), "%.*s", (int)m->len,
		 (const char *)m->value);
}

static inline int recorded_add(void *ctx, const struct record *rec)
{
	struct recorded *r = ctx;

	if (r->err)
		return r->err;
	assert_true((unsigned)rec->tag < RECORDED_TAGS);
	r->nr[rec->tag]++;
	r->order[r->nr_all++ % RECORDED_MAX] = (uint8_t)rec->tag;
	switch ((int)rec->tag) {
	case REC_META: recorded_meta(r, &rec->meta); break;
	case REC_STRING:
		assert_int_equal(rec->string.id, r->nr[REC_STRING]);
		r->text[rec->string.id] = strndup(rec->string.bytes, rec->string.len);
		break;
	case REC_BINARY: RECORDED_DEFINE(r, rec, BINARY, binary, 64); break;
	case REC_PROCESS: RECORDED_DEFINE(r, rec, PROCESS, process, 64); break;
	case REC_THREAD: recorded_thread(r, rec); break;
	case REC_FRAME: recorded_frame(r, rec); break;
	case REC_NODE: recorded_node(r, rec); break;
	case REC_FUNC: RECORDED_DEFINE(r, rec, FUNC, func, 64); break;
	case REC_EVENT: RECORDED_DEFINE(r, rec, EVENT, event, 8); break;
	case REC_SYMBOL: recorded_symbol(r, &rec->symbol); break;
	case REC_SAMPLE: recorded_sample(r, &rec->sample); break;
	case REC_REPEAT: recorded_repeat(r, &rec->repeat); break;
	case REC_SCAN: r->scan = rec->scan; break;
	case REC_END: r->end = rec->end; break;
	case REC_RAWSTACK: r->rawstack = rec->rawstack; break;
	default: break;
	}
	return 0;
}

static inline void recorded_release(struct recorded *r)
{
	for (size_t i = 0; i < RECORDED_MAX; i++)
		free(r->text[i]);
}

static inline const char *recorded_text(const struct recorded *r, uint32_t string)
{
	return string && r->text[string] ? r->text[string] : "";
}

/* "" when it has none. */
static inline const char *recorded_name(const struct recorded *r, uint32_t frame)
{
	uint32_t func = r->symbol_func[frame];

	return func ? recorded_text(r, r->func[func].name) : "";
}

/* The frame of a stack so many callers above the innermost one; NULL: there are not so many. */
static inline const struct rec_frame *recorded_caller(const struct recorded *r, uint32_t node,
						      unsigned above)
{
	while (node && above--)
		node = r->node[node].parent;
	return node ? &r->frame[r->node[node].frame] : NULL;
}

static inline const char *recorded_meta_value(const struct recorded *r, const char *key)
{
	for (uint32_t i = 0; i < r->nr[REC_META] && i < 32; i++)
		if (!strcmp(r->meta[i].key, key))
			return r->meta[i].value;
	return NULL;
}
