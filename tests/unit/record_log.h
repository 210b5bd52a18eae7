/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps records as bytes, to compare what went into a trace with what came out of it.
 *
 *	struct record_log log = { 0 };
 *	record_log_add(&log, rec) ...		a record_fn
 *	record_log_release(&log)
 *
 * all has them in the order they came, by_tag the same for each type alone (a trace keeps only the
 * latter).
 */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/record_codec.h"
#include "formats/trace/trace_reader.h"
#include "src/base/bytes.h"
#include "src/model/record.h"

struct record_log {
	struct byte_buf all, by_tag[RECORD_TAGS];
	size_t nr;
};

static inline void record_log_put(struct byte_buf *b, const struct record *rec)
{
	const struct record_codec codec = { 0 };
	const struct rec_sample *s = &rec->sample;

	bb_u8(b, (uint8_t)rec->tag);
	if (rec->tag != REC_SAMPLE) {
		bb_u32(b, record_defines(rec));
		record_encode(&codec, b, rec);
		return;
	}
	bb_u64(b, s->time_ns);
	bb_u32(b, s->event);
	bb_u32(b, s->thread);
	bb_u32(b, s->cpu);
	bb_u32(b, s->kstack);
	bb_u32(b, s->ustack);
	bb_u64(b, s->weight);
	bb_u8(b, s->state);
	bb_u8(b, s->end);
	bb_u32(b, s->flags);
	bb_u32(b, s->scan);
}

static inline int record_log_add(void *ctx, const struct record *rec)
{
	struct record_log *log = ctx;

	record_log_put(&log->all, rec);
	record_log_put(&log->by_tag[rec->tag], rec);
	log->nr++;
	return 0;
}

/* All that a reader has; its last answer (0 or -errno). */
static inline int record_log_read(struct record_log *log, struct trace_reader *r)
{
	struct record rec;
	int rc;

	while ((rc = trace_reader_next(r, &rec)) > 0)
		record_log_add(log, &rec);
	return rc;
}

static inline void record_log_release(struct record_log *log)
{
	bb_release(&log->all);
	for (size_t i = 0; i < RECORD_TAGS; i++)
		bb_release(&log->by_tag[i]);
	log->nr = 0;
}

static inline bool bytes_equal(const struct byte_buf *a, const struct byte_buf *b)
{
	return a->nr == b->nr && (!a->nr || !memcmp(a->v, b->v, a->nr));
}

/* The same records, each type in the same order. */
static inline bool record_log_same(const struct record_log *a, const struct record_log *b)
{
	bool same = a->nr == b->nr;

	for (size_t i = 0; i < RECORD_TAGS; i++)
		same &= bytes_equal(&a->by_tag[i], &b->by_tag[i]);
	return same;
}

/* Every record of part is the beginning of whole, in this order. */
static inline bool record_log_is_prefix(const struct record_log *part,
					const struct record_log *whole)
{
	return part->all.nr <= whole->all.nr &&
	       (!part->all.nr || !memcmp(part->all.v, whole->all.v, part->all.nr));
}
