/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Help in tiers: -h is one screen with the options that matter and two examples, --help all groups
 * but those that are topics, `probee help TOPIC` one of these, --help=all everything (for the
 * manual page and completion). The texts are help_texts.def, the options those of the tables.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct command_table;
struct opt_list;

/*
 * Prints usage, summary and options to stdout; how is what opt_parse() has returned. Returns
 * EXIT_OK, or EXIT_FAILED when it cannot be shown.
 */
int command_help(const struct command_table *all, const char *name, int how,
		 const struct opt_list *lists, size_t nr_lists);

/*
 * `probee help WORD` where WORD is no command: recipes, or a topic, whose options another command
 * has; that one is to be called with option then. false: it is neither. *command is
 * NULL when all was printed.
 */
#define HELP_OPTION_BYTES 24
bool help_topic(const char *word, const char **command, char option[HELP_OPTION_BYTES]);
/* The lines of `probee help` about topics. */
void help_list_topics(void);
