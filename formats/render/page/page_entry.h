/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a page keeps of samples of one thread that are alike: an entry. Lists of entries have an
 * order, in which those that are alike stand beside each other and can be joined.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_entry {
	uint64_t tick;			/* time in units of the page's tick_ns */
	uint64_t weight;
	uint32_t thread;		/* index in the page */
	uint32_t node;			/* index in the profile */
	uint32_t count;			/* number of samples */
	uint32_t cpu;			/* UINT32_MAX: on none */
	uint32_t scan;			/* number in the whole trace; 0: of none */
	uint8_t activity;		/* enum activity */
};

struct page_entries {
	struct page_entry *v;
	size_t nr, cap;
	struct page_entry *room;	/* for sorting */
	size_t cap_room;
};

/* Whether all is equal but the weight and the count, and the sum of the counts has room. */
static inline bool page_entry_is_like(const struct page_entry *a, const struct page_entry *b)
{
	return a->tick == b->tick && a->node == b->node && a->thread == b->thread &&
	       a->scan == b->scan && a->activity == b->activity && a->cpu == b->cpu &&
	       a->count <= UINT32_MAX - b->count;
}

void page_entry_join(struct page_entry *to, const struct page_entry *from);

/* Room for nr entries more. 0 or -ENOMEM */
int page_entries_reserve(struct page_entries *l, size_t nr);
/* Sorts entries by thread, tick and the rest, and joins those that are alike. */
void page_entries_sort(struct page_entries *l);
void page_entries_release(struct page_entries *l);
