/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a Firefox profile that all threads share: strings, functions, frames, stacks and the
 * files that they are in. Tables are objects of columns, and refer to each other by row.
 *
 *	firefox_tables_make(rep, tracks, &t)
 *	firefox_tables_put_libs(t, &writer)	the member "libs" of the profile
 *	firefox_tables_put_categories(&writer)	the member "categories" of its meta
 *	firefox_tables_put(t, &writer)		the member "shared"
 *	firefox_stack(node)			the row of the stack that ends in a node of the tree
 *	firefox_tables_free(t)
 *
 * Format: docs-developer/CHANGELOG-formats.md and src/types/profile.ts of the project
 * firefox-devtools/profiler; preprocessedProfileVersion 60.
 */
#pragma once

#include <stdint.h>

struct firefox_tables;
struct json_writer;
struct report;
struct thread_tracks;

/* The row of the string that names a state, enum activity. */
#define FIREFOX_STATE_STRING(activity) (activity)

/* 0 or -ENOMEM. Both are borrowed. */
int firefox_tables_make(const struct report *rep, const struct thread_tracks *tracks,
			struct firefox_tables **tp);
void firefox_tables_free(struct firefox_tables *t);	/* NULL is fine */

void firefox_tables_put_libs(const struct firefox_tables *t, struct json_writer *w);
void firefox_tables_put_categories(struct json_writer *w);
void firefox_tables_put(const struct firefox_tables *t, struct json_writer *w);

/* The category of a state, for markers. */
uint32_t firefox_state_category(unsigned activity);

/* The root of the tree is no stack. node is not 0. */
static inline uint32_t firefox_stack(uint32_t node)
{
	return node - 1;
}
