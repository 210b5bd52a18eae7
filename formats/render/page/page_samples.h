/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of one event as a page keeps them: by thread, and of each thread in the order of
 * time. Samples of a thread that are alike within one tick are one entry (page_entry.h).
 *
 *	page_samples_init(&s, tick_ns)
 *	page_samples_add(&s, &entry) ...	.tick is a time in ns here
 *	page_samples_end(&s)
 *	reader = page_samples_read(&s, thread); page_row_next(&reader, &entry) ...
 *	page_samples_release(&s)
 *
 * There are at most PAGE_MAX_ENTRIES. When there would be more, ticks are made longer, so that more
 * entries are alike: then .tick_ns has grown, and the page says so. Weights and counts stay exact.
 *
 * Entries are packed (page_row.h), so they have to come in order. They wait until there are many;
 * then those of each thread are added to its row. Samples come nearly always in the order of time,
 * so they are newer than what the row has, or of its newest tick, which is sorted when it ends, and
 * whenever it has become three times as long. What is older is late: it is kept aside until it is a
 * quarter of all entries, then sorted into rows that are made again. So the cost of a sample does
 * not grow with their number, in whatever order they come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/render/page/page_entry.h"
#include "formats/render/page/page_row.h"

#define PAGE_MAX_ENTRIES 1600000u

struct page_samples {
	struct page_row *rows;		/* by thread */
	size_t nr_rows, cap_rows;
	size_t nr;			/* entries; too many as long as some wait or are late */
	uint64_t usual;			/* the weight of the first sample */
	struct page_entry last;		/* that a sample may join */
	bool has_last;
	struct page_entry *waiting;
	uint32_t *next;			/* the next one of the same thread, plus 1 */
	size_t nr_waiting;
	struct page_entries late;
	struct page_entries group;	/* for sorting */
	uint64_t tick_ns;
	uint64_t coarser;		/* how often ticks were made longer */
};

void page_samples_init(struct page_samples *s, uint64_t tick_ns);
int page_samples_add(struct page_samples *s, const struct page_entry *e);	/* 0 or -ENOMEM */
int page_samples_end(struct page_samples *s);				/* 0 or -ENOMEM */
void page_samples_release(struct page_samples *s);

/* The entries of a thread below nr_rows; take: they are freed as they are read. */
struct page_row_reader page_samples_read(const struct page_samples *s, size_t thread);
struct page_row_reader page_samples_take(struct page_samples *s, size_t thread);
