/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes one chunk of records (TRACE.md 3). They are collected by type and laid out in an order in
 * which definitions come before their use, in whichever order they were added. Samples are sorted
 * by time, but rows of scans stay on their side of each REPEAT. Those of samplers, to which no
 * REPEAT refers, stand before them.
 *
 *	chunk_encoder_add(c, rec) ...		until chunk_encoder_is_full(c)
 *	chunk_encoder_split(c, ...)		1: the bytes of a chunk without samples of samplers
 *	chunk_encoder_finish(c, ...)		the chunk's bytes; c is empty again
 *	chunk_encoder_release(c)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/record_codec.h"
#include "formats/trace/sample_columns.h"
#include "formats/trace/trace_layout.h"
#include "src/base/bytes.h"
#include "src/model/record.h"

/* All records of one type. The last record of a batched type is still open, in body. */
struct chunk_section {
	struct byte_buf done;		/* whole records */
	struct byte_buf body;		/* payload of the open record, without its head */
	uint32_t first_id, nr_items;	/* of body */
};

/* Samples that are not encoded yet. */
struct chunk_rows {
	struct rec_sample *v;
	size_t nr, cap;
};

struct chunk_encoder {
	struct record_codec codec;
	struct chunk_section sections[RECORD_TAGS];
	struct sample_columns columns;
	struct chunk_rows scans;	/* rows of scans since the last REPEAT */
	struct chunk_rows samples;	/* of samplers */
	struct byte_buf own;		/* their SAMPLES record, when the chunk is closed */
	struct signpost post;		/* of rows of scans that are encoded already */
	struct signpost own_post;	/* of those of samplers */
	uint64_t nr_repeated;		/* rows that REPEATs stand for */
	bool has_time_base;
	size_t bytes;			/* estimate of the raw size */
	struct byte_buf scratch;
};
void chunk_encoder_release(struct chunk_encoder *c);

/* 0, -ENOMEM, or -EINVAL: the record cannot be written. */
int chunk_encoder_add(struct chunk_encoder *c, const struct record *rec);
bool chunk_encoder_is_full(const struct chunk_encoder *c);
bool chunk_encoder_is_empty(const struct chunk_encoder *c);

/*
 * Who wants samples of a few seconds may leave out all other chunks of samples alone (TRACE.md
 * 2.2). So samples of samplers that are worth it get a chunk of their own: this one appends a chunk
 * of all the other records to out, as chunk_encoder_finish() does, which makes theirs then.
 * 1; 0: all records are to stay together; -ENOMEM.
 */
int chunk_encoder_split(struct chunk_encoder *c, struct byte_buf *out, struct signpost *sp);

/*
 * Appends the chunk to out, with its head. segment and seq are taken from sp; everything else in sp
 * is set, except data_size. 0 or -ENOMEM.
 */
int chunk_encoder_finish(struct chunk_encoder *c, struct byte_buf *out, struct signpost *sp);
