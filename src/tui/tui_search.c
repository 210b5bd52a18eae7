/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A regular expression in the names of a tree, and how much of the weight has it on its stacks. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/intern.h"
#include "src/tui/tui_state.h"

enum { MATCH_STEPS = 100000 };	/* then a name is given up: some expressions take for ever */

bool tui_search_has(const struct tui *t, uint32_t name)
{
	return t->search.names && t->search.names[name];
}

void tui_search_clear(struct tui *t)
{
	free(t->search.names);
	t->search = (struct tui_search){ .names = NULL };
}

/* The weight of stacks with a name that is found: of nested nodes the outermost one counts. */
static void measure(struct tui *t)
{
	const struct profile *p = t->profile;
	uint32_t at = 0;

	t->search.covered = t->search.found = 0;
	while (at != NODE_NONE) {
		const struct node *n = &p->nodes[at];
		bool hit = at && t->search.names[n->name];

		if (hit) {
			t->search.covered += n->total;
			t->search.found++;
		}
		if (!hit && n->first_child != NODE_NONE) {
			at = n->first_child;
			continue;
		}
		while (at != NODE_NONE && p->nodes[at].next_sibling == NODE_NONE)
			at = p->nodes[at].parent;
		if (at != NODE_NONE)
			at = p->nodes[at].next_sibling;
	}
}

struct tui_pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

static pcre2_code *compile(const char *text, bool literal)
{
	int err;
	PCRE2_SIZE at;

	return pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
			     literal ? PCRE2_LITERAL : PCRE2_NEVER_BACKSLASH_C, &err, &at, NULL);
}

static bool is_a_name(const struct tui *t)
{
	uint32_t nr = intern_count(t->profile->names);

	for (uint32_t i = 0; i < nr; i++)
		if (!strcmp(profile_name(t->profile, i), t->search.text))
			return true;
	return false;
}

void tui_pattern_free(struct tui_pattern *p)
{
	if (!p)
		return;
	pcre2_match_context_free(p->limits);
	pcre2_match_data_free(p->data);
	pcre2_code_free(p->code);
	free(p);
}

/*
 * A text that is no expression is looked for as it is, as is the name of a function, which is full
 * of parentheses and stars.
 */
struct tui_pattern *tui_pattern_new(const struct tui *t)
{
	struct tui_pattern *p = t->search.text[0] ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->code = compile(t->search.text, t->profile && is_a_name(t));
	if (!p->code)
		p->code = compile(t->search.text, true);
	p->data = pcre2_match_data_create(1, NULL);
	p->limits = pcre2_match_context_create(NULL);
	if (!p->code || !p->data || !p->limits) {
		tui_pattern_free(p);
		return NULL;
	}
	pcre2_set_match_limit(p->limits, MATCH_STEPS);
	return p;
}

bool tui_pattern_finds(const struct tui_pattern *p, const char *text)
{
	return pcre2_match(p->code, (PCRE2_SPTR)text, strlen(text), 0, 0, p->data, p->limits) >= 0;
}

void tui_search_run(struct tui *t)
{
	struct tui_pattern *p = t->profile ? tui_pattern_new(t) : NULL;
	uint32_t nr = t->profile ? intern_count(t->profile->names) : 0;

	free(t->search.names);
	t->search.names = p ? calloc((size_t)nr + 1, 1) : NULL;
	for (uint32_t i = 0; t->search.names && i < nr; i++)
		t->search.names[i] = tui_pattern_finds(p, profile_name(t->profile, i));
	tui_pattern_free(p);
	if (t->search.names)
		measure(t);
}
