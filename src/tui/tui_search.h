/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A regular expression in the names of a tree, and how much of the weight has it on its stacks.
 *
 *	s->text is set, tui_search_run(s, profile)	again for each other tree
 *	tui_search_has(s, name)
 *	tui_search_clear(s)			all zero before and after
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct profile;

#define SEARCH_TEXT_MAX 200

struct tui_search {
	char text[SEARCH_TEXT_MAX];	/* "": nothing is searched for */
	uint8_t *names;			/* by name: 1 where it is found; NULL: none */
	uint64_t covered;		/* weight of stacks in which it is found */
	uint32_t found;			/* nodes */
};

/* Looks for s->text in the names of the profile; NULL: there is none yet, and nothing is found. */
void tui_search_run(struct tui_search *s, const struct profile *p);
void tui_search_clear(struct tui_search *s);
bool tui_search_has(const struct tui_search *s, uint32_t name);

/* The expression of a search, for texts that are no names. NULL: nothing is searched for. */
struct tui_pattern;
struct tui_pattern *tui_pattern_new(const struct tui_search *s, const struct profile *p);
bool tui_pattern_finds(const struct tui_pattern *p, const char *text);
void tui_pattern_free(struct tui_pattern *p);		/* NULL is fine */
