/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/live_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/recording/record_options.h"

enum { MORE_WORDS = 6 };		/* that are added */

static const struct opt *find_own(const struct opt_list *own, const char *word, bool *has_value)
{
	size_t len = strcspn(word, "=");
	bool is_long = !strncmp(word, "--", 2);

	*has_value = is_long && word[len] == '=';
	for (size_t i = 0; i < own->nr; i++) {
		const struct opt *o = &own->v[i];

		if (!is_long && o->key && word[0] == '-' && word[1] == o->key && !word[2])
			return o;
		if (is_long && strlen(o->name) == len - 2 && !strncmp(o->name, word + 2, len - 2))
			return o;
	}
	return NULL;
}

static void split(struct live_words *w, int argc, char **argv, const struct opt_list *own)
{
	bool has_value = false, is_over = false;

	w->own.v[w->own.nr++] = argv[0];
	w->rest.v[w->rest.nr++] = "record";
	for (int i = 1; i < argc; i++) {
		const struct opt *o = is_over ? NULL : find_own(own, argv[i], &has_value);
		struct words *to = o ? &w->own : &w->rest;

		is_over |= !strcmp(argv[i], "--");
		to->v[to->nr++] = argv[i];
		if (o && o->arg && *o->arg != '[' && !has_value && i + 1 < argc)
			to->v[to->nr++] = argv[++i];
	}
}

int live_words_new(struct live_words *w, int argc, char **argv, const struct opt_list *own)
{
	*w = (struct live_words){ .own.nr = 0 };
	w->own.v = calloc((size_t)argc + 2, sizeof(*w->own.v));
	w->rest.v = calloc((size_t)argc + MORE_WORDS, sizeof(*w->rest.v));
	if (!w->own.v || !w->rest.v)
		return fail(-ENOMEM, "read the command line");
	split(w, argc, argv, own);
	return 0;
}

void live_words_release(struct live_words *w)
{
	free(w->own.v);
	free(w->rest.v);
}

bool live_words_ask_for_help(const struct live_words *w)
{
	const struct words *r = &w->rest;

	for (int i = 1; i < r->nr && strcmp(r->v[i], "--"); i++)
		if (!strcmp(r->v[i], "-h") || !strcmp(r->v[i], "--help"))
			return true;
	return false;
}

/* They stand before the "--" of a command to run. */
void live_words_complete(struct live_words *w, const struct record_args *record)
{
	struct words *r = &w->rest;
	int at = record->command < r->nr ? record->command - 1 : r->nr, more = 0;
	char *words[3];

	if (!record->all && !record->pids.nr && !record->tids.nr && record->command == r->nr)
		words[more++] = "-a";
	if (!record->output) {
		words[more++] = "-o";
		words[more++] = "-";
	}
	memmove(&r->v[at + more], &r->v[at], sizeof(char *) * (size_t)(r->nr - at));
	memcpy(&r->v[at], words, sizeof(char *) * (size_t)more);
	r->nr += more;
}
