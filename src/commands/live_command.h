/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines of commands that record and show at the same time: "probee top", "probee serve".
 * Their own options are about what is shown, all others are those of "probee record".
 *
 *	live_words_new(&w, argc, argv, lists, nr)	splits the words; lists: its own options,
 *						at most LIVE_LISTS, each for opt_parse()
 *	live_words_check(command, &record)	refuses what cannot be shown
 *	live_words_complete(&w, &record)	adds -a, -o -, --segment-size, unless said
 *	live_words_release(&w)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct opt_list;
struct record_args;

struct words {
	char **v;
	int nr;
};

#define LIVE_LISTS 3

struct live_words {
	/* By list of options: the words of these, behind the command's name. */
	struct words own[LIVE_LISTS];
	struct words rest;		/* behind "record" */
};

/* 0 or -ENOMEM, which was reported. The words themselves are borrowed. */
int live_words_new(struct live_words *w, int argc, char **argv, const struct opt_list *lists,
		   size_t nr_lists);
void live_words_release(struct live_words *w);

/* enum opt_help; 0: they do not ask for help. */
int live_words_help(const struct live_words *w);
/*
 * A recording that goes to no file is in memory, in segments. The last of them are kept, for
 * reports that need the samples.
 */
#define LIVE_KEPT_BYTES (16u << 20)
#define LIVE_SEGMENT_SIZE "6M"

/* record: what .rest was parsed to. 0, or -EINVAL, explained. */
int live_words_check(const char *command, const struct record_args *record);
/* The recording goes to standard output if it goes nowhere. */
void live_words_complete(struct live_words *w, const struct record_args *record);
