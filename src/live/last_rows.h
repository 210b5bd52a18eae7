/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last row of a scan that each thread had; a REPEAT counts it again.
 *
 *	row = last_rows_at(&r, thread)		the thread's, new and zeroed if it had none
 *	row = last_rows_find(&r, thread)
 *	last_rows_release(&r)			all zero before and after
 *
 * On a machine where programs come and go, most threads are over before a scan sees them. So a
 * thread has a number here, and only one that had a row has a row.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"

struct last_row {
	uint32_t count;			/* index plus 1; 0: it had none */
	uint32_t segment;		/* a REPEAT of another one does not mean this row */
	uint64_t weight;
	struct rec_sample rec;		/* with the time and scan of the last REPEAT */
};

struct last_rows {
	struct last_row *v;		/* in the order in which they came */
	size_t nr, cap;
	uint32_t *places;		/* by thread: its row plus 1; 0: none */
	size_t nr_threads, cap_threads;	/* nr: no thread from here on has a row */
};

/* Both: borrowed until the next last_rows_at(). NULL: out of memory, or none. */
struct last_row *last_rows_at(struct last_rows *r, uint32_t thread);
struct last_row *last_rows_find(const struct last_rows *r, uint32_t thread);
void last_rows_release(struct last_rows *r);
