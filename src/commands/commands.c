#include "src/commands/command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"

static bool holds(const struct command_set *set, const struct command *c)
{
	for (const struct command *own = set->commands; own->name; own++)
		if (own == c)
			return true;
	return false;
}

const struct command *command_next(const struct command *c)
{
	const struct command_set *const *s = command_sets;

	if (c && c[1].name)
		return c + 1;
	while (c && !holds(*s, c))
		s++;
	if (c)
		s++;
	return *s ? (*s)->commands : NULL;
}

const struct command *command_find(const char *name)
{
	for (const struct command *c = NULL; (c = command_next(c));)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

int command_help(const char *name, const struct opt_list *lists, size_t nr_lists)
{
	const struct command *c = command_find(name);

	printf("usage: probee %s%s%s\n\nprobee %s: %s\n", c->name, c->usage[0] ? " " : "", c->usage,
	       c->name, c->summary);
	opt_print_help(lists, nr_lists, stdout);
	return EXIT_OK;
}

int command_usage(const char *name)
{
	const struct command *c = command_find(name);
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
