/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of one thread, packed: there are millions of them, and one takes 5 to 8 bytes instead
 * of 40. Ticks ascend, so that most entries are added at the end:
 *
 *	struct page_row row = { 0 };
 *	page_row_add(&row, &entry, usual)	0 or -ENOMEM; usual: what most samples weigh
 *
 *	reader = page_row_read(&row, thread, usual)
 *	while (page_row_next(&reader, &entry)) ...
 *	page_row_release(&row)
 *
 * The newest tick is open: its entries may have any order until page_row_open() takes them off
 * again, to be sorted. page_row_take() reads, too, but frees what has been read, so that a row can
 * be made again from itself: it is empty at once. page_row_drop() frees the rest.
 *
 * An entry is a byte, its activity and which of the numbers in brackets follow, and varints:
 * [ticks since the entry before], node, CPU + 1 (0: none), [scan], [count], [weight]. Blocks begin
 * small, because there may be many threads with few entries, and are never moved.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/render/page/page_entry.h"

struct page_block;

struct page_row {
	struct page_block *first, *last;
	uint8_t *end;			/* of the entries in the last block */
	struct page_block *open;	/* where the newest tick begins; NULL: at the first block */
	uint8_t *open_at;
	uint32_t nr, nr_open;		/* entries, and those of the newest tick */
	uint64_t tick, tick_before;	/* the newest one, and the one before it */
	uint32_t waiting;		/* page_samples.c: the first entry that waits, plus 1 */
	uint32_t nr_sorted;		/* likewise: so many of nr_open are sorted */
};

struct page_row_reader {
	struct page_block *block;
	const struct page_block *last;
	const uint8_t *at, *end;	/* the next entry, and the end of those in this block */
	const uint8_t *last_end;	/* likewise, in the last block */
	uint64_t tick, usual;
	uint32_t thread;
	bool is_taken;
};

int page_row_add(struct page_row *row, const struct page_entry *e, uint64_t usual);
void page_row_release(struct page_row *row);

struct page_row_reader page_row_read(const struct page_row *row, uint32_t thread, uint64_t usual);
struct page_row_reader page_row_take(struct page_row *row, uint32_t thread, uint64_t usual);
bool page_row_next(struct page_row_reader *r, struct page_entry *e);
void page_row_drop(struct page_row_reader *r);

/* Moves the entries of the newest tick to the end of l. 0 or -ENOMEM: then the row is as before. */
int page_row_open(struct page_row *row, uint32_t thread, uint64_t usual, struct page_entries *l);
/* The last entry; false: there is none. */
bool page_row_last(const struct page_row *row, uint32_t thread, uint64_t usual,
		   struct page_entry *e);
