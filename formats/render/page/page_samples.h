/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of one event as a page keeps them: by thread, and of each thread in the order of
 * time. Samples of a thread that are alike and follow each other within one tick are one entry.
 *
 *	page_samples_init(&s, tick_ns)
 *	page_samples_add(&s, &entry) ...	.tick is a time in ns here
 *	page_samples_end(&s)			sorts
 *	page_samples_release(&s)
 *
 * There are at most PAGE_MAX_ENTRIES. When there would be more, ticks are made longer, so that more
 * entries are alike: then .tick_ns has grown, and the page says so. Weights and counts stay exact.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PAGE_MAX_ENTRIES 1600000u

struct page_entry {
	uint64_t tick;			/* time in units of tick_ns */
	uint64_t weight;
	uint32_t thread;		/* index in the page */
	uint32_t node;			/* index in the profile */
	uint32_t count;			/* number of samples */
	uint32_t cpu;			/* UINT32_MAX: on none */
	uint32_t scan;			/* number in the whole trace; 0: of none */
	uint8_t activity;		/* enum activity */
};

/* The entries of one thread. */
struct page_row {
	struct page_entry *v;
	size_t nr, cap;
};

struct page_samples {
	struct page_row *rows;		/* by thread */
	size_t nr_rows, cap_rows;
	size_t nr;			/* entries of all threads, and those that wait */
	size_t last;			/* the thread whose last entry a sample may join */
	struct page_entry *waiting;	/* entries that are not in their rows yet */
	size_t nr_waiting;
	struct page_entry *room;	/* for sorting */
	size_t cap_room;
	uint64_t tick_ns;
	uint64_t coarser;		/* how often ticks were made longer */
};

/* All entries, by thread: row and entry are variables. */
#define page_samples_each(s, row, entry) \
	for ((row) = (s)->rows; (row) && (row) < (s)->rows + (s)->nr_rows; (row)++) \
		for ((entry) = (row)->v; (entry) && (entry) < (row)->v + (row)->nr; (entry)++)

void page_samples_init(struct page_samples *s, uint64_t tick_ns);
int page_samples_add(struct page_samples *s, const struct page_entry *e);	/* 0 or -ENOMEM */
int page_samples_end(struct page_samples *s);				/* 0 or -ENOMEM */
void page_samples_release(struct page_samples *s);
