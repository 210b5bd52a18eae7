/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of unwind_loader.c share. A table (struct placed) is
 *
 *	PLACE_FREE	an unused entry of tables[]
 *	PLACE_LIVE	published: binaries refer to its pages (unwind_loader_table())
 *	PLACE_RETIRED	evicted: no binary refers to it, but a program may still read it
 *
 * and then PLACE_FREE again when its epoch is over (unwind_loader_reclaim()).
 *
 *	unwind_loader.c		what is published, and how
 *	unwind_loader_places.c	by which number the kernel's side finds it
 *	unwind_loader_room.c	who has to go for it
 */
#pragma once

#include "src/base/extents.h"
#include "src/capture/tables/epoch.h"
#include "src/capture/tables/mapped_array.h"
#include "src/capture/tables/room_owners.h"
#include "src/capture/tables/room_promise.h"
#include "src/capture/tables/table_numbers.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/capture/tables/unwind_rules.h"
#include "src/capture/tables/unwind_slabs.h"
#include "src/capture/tables/unwind_slices.h"

enum placed_state { PLACE_FREE, PLACE_LIVE, PLACE_RETIRED };

/* A table in the slabs. */
struct placed {
	uint8_t state;			/* enum placed_state */
	uint8_t owner;			/* his place in room_owners */
	uint32_t page0, nr_pages;
	uint32_t number;		/* by which the kernel side knows it; 0: none yet */
	uint32_t binary;		/* that it was built for */
	uint32_t nr_refs;		/* binaries that use it */
	uint64_t nr_rows;
	/* Numbers of the rules that it uses, some more than once; owned. */
	uint16_t *rules;
	size_t nr_rules, cap_rules;
	uint32_t nr_new_rules;		/* that no other table had */
	uint64_t used_ns;		/* time of the last stack that needed it */
	struct retired_at retired;
};

/* What is known of the table of a binary, or of a window. */
struct table_ref {
	struct unwind_binary place;	/* as the kernel side has it by its number */
	uint32_t table;			/* index of its table + 1; 0: none */
	uint32_t wants;			/* stacks that asked for it, since it had one */
};

struct unwind_loader {
	struct unwind_loader_options opts;
	struct mapped_array page_array, rule_array, mapping_array, binary_array;
	/* What is in these. */
	struct unwind_page *pages;
	struct unwind_rule *rule_table;
	struct unwind_mapping *mappings;
	struct unwind_binary *binaries;		/* by number */
	uint64_t *rule_cache;			/* as a whole */
	struct epoch epoch;
	struct unwind_slabs slabs;
	struct unwind_rules rules;
	struct unwind_slices slices;
	struct extents free_pages;
	struct table_numbers numbers;
	struct room_owners owners;
	struct placed *tables;
	size_t nr_tables, cap_tables;
	size_t first_free;			/* no table before this one is PLACE_FREE */
	uint32_t max_numbers;
	uint64_t retired_rows, retired_pages, retired_numbers;	/* of tables PLACE_RETIRED */
	struct table_ref *refs;			/* by index of the binary */
	size_t cap_refs;
	struct table_ref windows[UNWIND_MAX_WINDOWS];
	struct room_promise promise;
	uint64_t nr_taken_said;			/* slices taken back that are in stats.refused */
	struct unwind_loader_stats stats;
};

/* What a table needs, and whose it is. */
struct table_need {
	uint64_t rows, pages, numbers;
	unsigned owner;			/* his place in room_owners */
};

static inline bool unwind_loader_is_window(uint32_t binary)
{
	return binary >= UNWIND_FIRST_WINDOW;
}

/* NULL: nothing is known of it. */
static inline struct table_ref *unwind_loader_ref(struct unwind_loader *l, uint32_t binary)
{
	if (unwind_loader_is_window(binary))
		return binary - UNWIND_FIRST_WINDOW < UNWIND_MAX_WINDOWS
			       ? &l->windows[binary - UNWIND_FIRST_WINDOW]
			       : NULL;
	return binary < l->cap_refs ? &l->refs[binary] : NULL;
}

/* The words in front of the tables that count their changes. */
uint64_t *unwind_loader_versions(struct unwind_loader *l);
/* Called after each change: what memos keep of the tables before does not hold any more. */
void unwind_loader_changed(struct unwind_loader *l);
/* The number by which slices refer to the table of a binary or window. */
uint32_t unwind_loader_number(void *loader, uint32_t binary);
/* binary has the table of that index + 1 from now on, or none (0), and its place is that. */
void unwind_loader_refer(struct unwind_loader *l, uint32_t binary, struct table_ref *ref,
			 uint32_t table, struct unwind_binary place);
/* Makes sure that something can be published by that number. 0 or -errno. */
int unwind_loader_need_number(struct unwind_loader *l, uint32_t number);
/* A program finds this by number from now on. */
void unwind_loader_publish(struct unwind_loader *l, uint32_t number, struct unwind_binary place);

/* Adds what p has to its owner's account (1), or takes it from there (-1). */
void unwind_loader_charge(struct unwind_loader *l, const struct placed *p, int sign);

/* Makes everything that a table holds free again. No program reads it. */
void unwind_loader_reclaim(struct unwind_loader *l, struct placed *t);
/* Reclaims all retired tables whose epoch is over. */
void unwind_loader_reclaim_all(struct unwind_loader *l);
/* No binary refers to it any more. */
void unwind_loader_retire(struct unwind_loader *l, struct placed *t);
/* Evicts tables that no stack has needed lately, as long as little is free. */
void unwind_loader_keep_reserve(struct unwind_loader *l);
/*
 * There was no place for t, because what room[] is called was full. -EAGAIN: there will be; else
 * as unwind_loader_table().
 */
int unwind_loader_no_place(struct unwind_loader *l, const struct unwind_table *t,
			   const struct table_need *need, enum room what);
/* Counts and says that something was refused; returns err. */
int unwind_loader_refuse(struct unwind_loader *l, int err, const char *what);
