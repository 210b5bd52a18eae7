/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The payload of a SAMPLES record: rows of struct rec_sample as columns (TRACE.md 5). Each column
 * takes the shortest of the encodings that suit it. A column that is 0 in all rows is left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/model/record.h"

/* Memory for both directions, and the rows that were read last; zero it before first use. */
struct sample_columns {
	uint64_t *values;		/* one column */
	size_t cap_values;
	struct rec_sample *rows;
	size_t cap_rows, nr_rows;
};
void sample_columns_release(struct sample_columns *c);

/* Appends n rows, which must be sorted by time. 0 or -ENOMEM. */
int sample_columns_encode(struct sample_columns *c, struct byte_buf *b,
			  const struct rec_sample *rows, size_t n, uint64_t time_base_ns);

/*
 * Looks at a payload without reading its rows: their number, and how many are of scans. 0 or
 * -EBADMSG: sample_columns_decode() says what is wrong with it.
 */
int sample_columns_peek(struct byte_reader payload, uint64_t *nr_rows, uint64_t *nr_scan_rows);

/*
 * Reads a payload into c->rows. 0, -EBADMSG, -ENOMEM, -EPROTONOSUPPORT (unknown critical column).
 */
int sample_columns_decode(struct sample_columns *c, struct byte_reader *r, uint64_t time_base_ns);
/*
 * Reads the rows of scans alone; of the others it only finds out where they end. Returns what
 * sample_columns_decode() does.
 */
int sample_columns_decode_scans(struct sample_columns *c, struct byte_reader *r,
				uint64_t time_base_ns);
