/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/record_tee.h"

#include <assert.h>
#include <string.h>

#include "formats/trace/trace_writer.h"
#include "src/base/fail.h"

void record_tee_init(struct record_tee *t, struct trace_writer *writer)
{
	memset(t, 0, sizeof(*t));
	t->writer = writer;
}

void record_tee_add(struct record_tee *t, const struct record_consumer *c)
{
	assert(t->nr < RECORD_TEE_MAX);
	t->consumers[t->nr++] = *c;
}

static void end_consumer(struct record_tee *t, size_t i, int err)
{
	fail(err, "%s, without which the recording goes on", t->consumers[i].name);
	t->nr--;
	memmove(&t->consumers[i], &t->consumers[i + 1], (t->nr - i) * sizeof(t->consumers[0]));
}

static void tell_record(struct record_tee *t, const struct record *rec)
{
	for (size_t i = t->nr; i-- > 0;) {
		int err = t->consumers[i].record(t->consumers[i].ctx, rec);

		if (err)
			end_consumer(t, i, err);
	}
}

/*
 * Tells the consumers when the writer has closed a chunk. It closes one when it is asked to flush,
 * and also by itself when one is full, so the count of closed chunks is compared.
 */
static void tell_chunk_end(struct record_tee *t)
{
	struct trace_writer_stats st;

	trace_writer_stats(t->writer, &st);
	if (st.chunks == t->chunks)
		return;
	t->chunks = st.chunks;
	for (size_t i = t->nr; i-- > 0;) {
		struct record_consumer *c = &t->consumers[i];
		int err = c->chunk_end ? c->chunk_end(c->ctx) : 0;

		if (err)
			end_consumer(t, i, err);
	}
}

int record_tee_record(void *tee, const struct record *rec)
{
	struct record_tee *t = tee;
	int err = trace_writer_record(t->writer, rec);

	if (err || !t->nr)
		return err;
	tell_record(t, rec);
	tell_chunk_end(t);
	return 0;
}

int record_tee_flush(struct record_tee *t)
{
	int err = trace_writer_flush(t->writer);

	if (!err && t->nr)
		tell_chunk_end(t);
	return err;
}

int record_tee_begin_segment(struct record_tee *t)
{
	int err = record_tee_flush(t);

	if (!err)
		err = trace_writer_begin_segment(t->writer);
	for (size_t i = t->nr; i-- > 0 && !err;) {
		struct record_consumer *c = &t->consumers[i];
		int failed = c->segment_begins ? c->segment_begins(c->ctx) : 0;

		if (failed)
			end_consumer(t, i, failed);
	}
	return err;
}
