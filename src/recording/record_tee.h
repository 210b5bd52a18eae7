/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives each record of a recording to the trace writer, and then to every live consumer.
 *
 * The problem. Rows can be written while the recording runs (live_rows.h). They must be the same
 * bytes that a report of the finished trace would have, so their consumer must see what the trace
 * holds: the same records, in the same order. And however a consumer fails, the trace must not
 * suffer, because the trace is what the recording is for.
 *
 * The idea. Like tee(1), this sits where the recorder believes its writer to be. A record goes to
 * the writer first, then to each consumer. The two kinds of failure are treated differently:
 *
 *	the writer fails	the error is returned and ends the recording
 *	a consumer fails	one line says so, this consumer gets no more records, and the
 *				recording goes on
 *
 * The order within a file is not quite the order of the calls: the writer gathers records into a
 * chunk and sorts them there by type (records.def). A consumer that depends on that order is
 * therefore also told where each chunk ends.
 *
 * Example: a chunk that holds thread 7, a sample of it, thread 8, a sample of that.
 *
 *	calls of the recorder		THREAD 7, SAMPLE, THREAD 8, SAMPLE, flush
 *	a consumer sees			the same four records, then chunk_end()
 *	a reader of the file sees	THREAD 7, THREAD 8, SAMPLE, SAMPLE
 *
 * Limits. All runs in the caller's thread, so a consumer must not block. There are at most
 * RECORD_TEE_MAX consumers, and none can join after the first record. A consumer hears of a chunk's
 * end after the record that filled the chunk, never in the middle of one.
 *
 *	record_tee_init(&tee, writer)
 *	record_tee_add(&tee, &consumer) ...	before the first record
 *	record_tee_record(&tee, rec)		a record_fn: the recorder's sink
 *	record_tee_flush(&tee)			trace_writer_flush(), and chunk ends are told
 *	record_tee_begin_segment(&tee)		likewise trace_writer_begin_segment()
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"

struct trace_writer;

struct record_consumer {
	const char *name;		/* for the message: "rows written while it records" */
	record_fn record;		/* prints nothing: the tee reports its error */
	/*
	 * The writer has closed a chunk, which ends with the record given last. 0 or -errno. NULL:
	 * the consumer does not depend on the order of samples in the file.
	 */
	int (*chunk_end)(void *ctx);
	/*
	 * The next record is the first of another segment: ids begin at 1 again. After the
	 * chunk_end() of the last chunk. 0 or -errno. NULL: the consumer keeps no ids.
	 */
	int (*segment_begins)(void *ctx);
	void *ctx;
};

#define RECORD_TEE_MAX 4

struct record_tee {
	struct trace_writer *writer;	/* borrowed */
	struct record_consumer consumers[RECORD_TEE_MAX];
	size_t nr;
	uint64_t chunks;		/* how many closed chunks the consumers were told of */
};

void record_tee_init(struct record_tee *t, struct trace_writer *writer);
void record_tee_add(struct record_tee *t, const struct record_consumer *c);
int record_tee_record(void *tee, const struct record *rec);
int record_tee_flush(struct record_tee *t);
int record_tee_begin_segment(struct record_tee *t);
