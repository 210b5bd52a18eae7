/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/live_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/recording/record_options.h"

enum { MORE_WORDS = 6 };		/* that are added */

/* Whether a word is this option: "-f", "--follow", "--view=top". */
static bool is_option(const struct opt *o, const char *word)
{
	size_t len = strcspn(word, "=");

	if (strncmp(word, "--", 2) != 0)
		return o->key && word[0] == '-' && word[1] == o->key && !word[2];
	return strlen(o->name) == len - 2 && !strncmp(o->name, word + 2, len - 2);
}

static const struct opt *find(const struct opt_list *list, const char *word)
{
	for (size_t i = 0; i < list->nr; i++)
		if (is_option(&list->v[i], word))
			return &list->v[i];
	return NULL;
}

static void split(struct live_words *w, int argc, char **argv, const struct opt_list *lists,
		  size_t nr_lists)
{
	bool is_over = false;

	for (int i = 1; i < argc; i++) {
		struct words *to = &w->rest;
		const struct opt *o = NULL;

		is_over |= !strcmp(argv[i], "--");
		for (size_t l = 0; l < nr_lists && !o && !is_over; l++) {
			o = find(&lists[l], argv[i]);
			to = o ? &w->own[l] : to;
		}
		to->v[to->nr++] = argv[i];
		if (o && o->arg && !strchr(argv[i], '=') && i + 1 < argc)
			to->v[to->nr++] = argv[++i];
	}
}

static int begin(struct words *w, int most, char *first)
{
	w->v = calloc((size_t)most, sizeof(*w->v));
	if (!w->v)
		return fail(-ENOMEM, "read the command line");
	w->v[w->nr++] = first;
	return 0;
}

int live_words_new(struct live_words *w, int argc, char **argv, const struct opt_list *lists,
		   size_t nr_lists)
{
	int err;

	*w = (struct live_words){ .rest.nr = 0 };
	err = begin(&w->rest, argc + MORE_WORDS, "record");
	for (size_t l = 0; l < nr_lists && !err; l++)
		err = begin(&w->own[l], argc + 2, argv[0]);
	if (!err)
		split(w, argc, argv, lists, nr_lists);
	return err;
}

void live_words_release(struct live_words *w)
{
	for (size_t l = 0; l < LIVE_LISTS; l++)
		free(w->own[l].v);
	free(w->rest.v);
}

int live_words_help(const struct live_words *w)
{
	const struct words *r = &w->rest;
	int how = 0;

	for (int i = 1; i < r->nr && strcmp(r->v[i], "--") && !how; i++)
		how = opt_help_of(r->v[i]);
	return how;
}

int live_words_check(const char *command, const struct record_args *record)
{
	if (record->output && !strcmp(record->output, "-"))
		return fail_why(-EINVAL, "%s shows what it records: -o needs the name of a file",
				command);
	if (record->flight.keep_ns)
		return fail_why(-EINVAL, "--flight keeps what is not shown. Try: probee record "
				"--flight, without %s", command);
	return 0;
}

/* Where the command to run begins, with the "--" before it, if there is one. */
static int command_start(const struct words *r, int command)
{
	if (command >= r->nr)
		return r->nr;
	return strcmp(r->v[command - 1], "--") ? command : command - 1;
}

/* They stand before a command to run. */
void live_words_complete(struct live_words *w, const struct record_args *record)
{
	struct words *r = &w->rest;
	int at = command_start(r, record->command), more = 0;
	char *words[MORE_WORDS];

	if (!record->all && !record_args_have_target(record) && record->command == r->nr)
		words[more++] = "-a";
	if (!record->output) {
		words[more++] = "-o";
		words[more++] = "-";
	}
	if (!record->output && !record->segment_bytes) {
		words[more++] = "--segment-size";
		words[more++] = LIVE_SEGMENT_SIZE;
	}
	memmove(&r->v[at + more], &r->v[at], sizeof(char *) * (size_t)(r->nr - at));
	memcpy(&r->v[at], words, sizeof(char *) * (size_t)more);
	r->nr += more;
}
