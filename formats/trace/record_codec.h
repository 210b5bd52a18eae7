/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the payload of one record into a struct record and back (TRACE.md 4), by the lists of
 * record_fields.h. Samples are not here: they are stored in columns (sample_columns.h).
 *
 * STRING, FRAME, NODE, FUNC and SYMBOL are batched on disk: one record holds a head and many items,
 * and record_encode() and record_decode() handle one item. Ids of batched items are not in the
 * item: they are consecutive from the id in the head (SYMBOL has no id of its own).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/model/record.h"

/*
 * What decoding needs besides the bytes. Zero it, set time_base_ns for each chunk, release it at
 * the end.
 */
struct record_codec {
	uint64_t time_base_ns;
	char key[64];			/* of the META handed out last */
	struct rec_segment *segments;	/* of the BINARY handed out last */
	size_t cap_segments;
	struct rec_line *lines;		/* of the SYMBOL handed out last */
	size_t cap_lines;
	struct rec_run *runs;		/* of the REPEAT handed out last */
	size_t cap_runs;
};
void record_codec_release(struct record_codec *c);

/*
 * Appends the payload (or item) of rec to b. Too long texts and lists are cut to the limits of
 * TRACE.md 7. -EINVAL: this record cannot be written. Out of memory is in b->bad.
 */
int record_encode(const struct record_codec *c, struct byte_buf *b, const struct record *rec);

/*
 * Reads a payload (or item) of rec->tag. Sets all of *rec except the tag and the id of a batched
 * item, which the caller sets before (NODE needs it). Pointers in *rec go to the bytes read or
 * into *c. 0, -EBADMSG, -ENOMEM.
 */
int record_decode(struct record_codec *c, struct byte_reader *r, struct record *rec);
