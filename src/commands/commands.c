/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"

static bool holds(const struct command_set *set, const struct command *c)
{
	for (const struct command *own = set->commands; own->name; own++)
		if (own == c)
			return true;
	return false;
}

const struct command *command_next(const struct command_table *all, const struct command *c)
{
	const struct command_set *const *s = all->sets;

	if (c && c[1].name)
		return c + 1;
	while (c && !holds(*s, c))
		s++;
	if (c)
		s++;
	return *s ? (*s)->commands : NULL;
}

const struct command *command_find(const struct command_table *all, const char *name)
{
	for (const struct command *c = NULL; (c = command_next(all, c));)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

char *command_trace(int nr, char **argv)
{
	static char name[] = DEFAULT_TRACE;

	if (nr)
		return argv[1];
	if (!access(name, F_OK))
		return name;
	fail_why(-ENOENT, "%s needs a trace, and there is no %s here. Try: probee record -a -d 10",
		 argv[0], name);
	return NULL;
}

int command_usage(const struct command_table *all, const char *name)
{
	const struct command *c = command_find(all, name);
	size_t len = strlen(c->usage);
	bool ends_in_dots = len && c->usage[len - 1] == '.';	/* "[--csv] ..." */

	fail_why(0, "usage: probee %s%s%s%s Try: probee %s --help", c->name, len ? " " : "",
		 c->usage, ends_in_dots ? "" : ".", c->name);
	return EXIT_USAGE;
}

int exit_code_of(int err)
{
	return err == -EPERM || err == -ENOTSUP ? EXIT_CANNOT : EXIT_FAILED;
}
