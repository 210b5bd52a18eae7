/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/habit.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct habit habits[] = {
#define COMMAND(typed, meant, say) { NULL, typed, NULL, meant, say },
#define NO_COMMAND(typed, say) { NULL, typed, NULL, NULL, say },
#define NO_COMMAND_OF(typed, next, say) { NULL, typed, next, NULL, say },
#define OPTION(commands, typed, value, meant, say) { commands, typed, value, meant, say },
#define NO_OPTION(commands, typed, value, say) { commands, typed, value, NULL, say },
#include "src/base/habits.def"
};

/* Whether a list of words with blanks between them has this one. */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		if (n == len && !memcmp(p, word, n))
			return true;
		p += n;
	}
	return false;
}

static bool is_number(const char *value)
{
	size_t len = strspn(value, "0123456789");

	return len && !value[len];
}

static bool value_fits(const char *wanted, const char *value)
{
	if (!wanted)
		return true;
	if (!value)
		return false;
	return !strcmp(wanted, "#") ? is_number(value) : !fnmatch(wanted, value, 0);
}

const struct habit *habit_of_option(const char *command, const char *typed, const char *value)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
		const struct habit *h = &habits[i];

		if (h->commands && has_word(h->typed, typed) &&
		    (!strcmp(h->commands, "*") || has_word(h->commands, command)) &&
		    value_fits(h->value, value))
			return h;
	}
	return NULL;
}

const struct habit *habit_of_command(const char *typed, const char *next)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		if (!habits[i].commands && has_word(habits[i].typed, typed) &&
		    value_fits(habits[i].value, next))
			return &habits[i];
	return NULL;
}
