/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives each record of a recording to the trace writer, and then to every live consumer.
 *
 *	record_tee_init(&tee, writer)
 *	record_tee_add(&tee, &consumer) ...	before the first record
 *	record_tee_record(&tee, rec)		a record_fn: the recorder's sink
 *	record_tee_flush(&tee)			trace_writer_flush()
 *
 * The trace is what a recording is for: an error of the writer is returned and ends the recording.
 * An error of a consumer ends that consumer alone. One line says so, it is given no more records,
 * and the recording goes on.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"

struct trace_writer;

struct record_consumer {
	const char *name;		/* what fails: "rows written while it records" */
	record_fn record;		/* silent, so that the tee can say it */
	/*
	 * The writer has closed a chunk that ends with the record given last. Only what depends on
	 * the order of samples in the file needs to know. NULL: it does not. 0 or -errno.
	 */
	int (*chunk_end)(void *ctx);
	void *ctx;
};

#define RECORD_TEE_MAX 4

struct record_tee {
	struct trace_writer *writer;	/* the caller's */
	struct record_consumer consumers[RECORD_TEE_MAX];
	size_t nr;
	uint64_t chunks;		/* closed ones that the consumers were told of */
};

void record_tee_init(struct record_tee *t, struct trace_writer *writer);
void record_tee_add(struct record_tee *t, const struct record_consumer *c);
int record_tee_record(void *tee, const struct record *rec);
int record_tee_flush(struct record_tee *t);
