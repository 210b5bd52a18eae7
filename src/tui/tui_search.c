/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_search.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/intern.h"
#include "src/profile/profile.h"

enum { MATCH_STEPS = 100000 };	/* then a name is given up: some expressions take for ever */

bool tui_search_has(const struct tui_search *s, uint32_t name)
{
	return s->names && s->names[name];
}

void tui_search_clear(struct tui_search *s)
{
	free(s->names);
	*s = (struct tui_search){ .names = NULL };
}

/* The weight of stacks with a name that is found: of nested nodes the outermost one counts. */
static void measure(struct tui_search *s, const struct profile *p)
{
	uint32_t at = 0;

	s->covered = s->found = 0;
	while (at != NODE_NONE) {
		const struct node *n = &p->nodes[at];
		bool hit = at && s->names[n->name];

		if (hit) {
			s->covered += n->total;
			s->found++;
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

static bool is_a_name(const struct tui_search *s, const struct profile *p)
{
	uint32_t nr = intern_count(p->names);

	for (uint32_t i = 0; i < nr; i++)
		if (!strcmp(profile_name(p, i), s->text))
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
struct tui_pattern *tui_pattern_new(const struct tui_search *s, const struct profile *profile)
{
	struct tui_pattern *p = s->text[0] ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->code = compile(s->text, profile && is_a_name(s, profile));
	if (!p->code)
		p->code = compile(s->text, true);
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

void tui_search_run(struct tui_search *s, const struct profile *p)
{
	struct tui_pattern *pattern = p ? tui_pattern_new(s, p) : NULL;
	uint32_t nr = p ? intern_count(p->names) : 0;

	free(s->names);
	s->names = pattern ? calloc((size_t)nr + 1, 1) : NULL;
	for (uint32_t i = 0; s->names && i < nr; i++)
		s->names[i] = tui_pattern_finds(pattern, profile_name(p, i));
	tui_pattern_free(pattern);
	if (s->names)
		measure(s, p);
}
