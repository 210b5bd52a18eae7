/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/commands/pager.h"

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

/* At most 100 columns, because longer lines are hard to read. */
static unsigned help_columns(unsigned terminal)
{
	return !terminal ? 80 : terminal < 60 ? 60 : terminal > 100 ? 100 : terminal;
}

/* Prints the usage line; further lines begin under the part after "usage: probee NAME ". */
static void print_usage(const struct command *c, unsigned columns)
{
	int indent = printf("usage: probee %s%s", c->name, c->usage[0] ? " " : "");
	int column = indent;

	for (const char *p = c->usage; *p;) {
		/* A part such as "[-d TIME]" is not broken. */
		size_t n = *p == '[' || *p == '(' ? strcspn(p, "])") : 0;

		n += strcspn(p + n, " ");
		if (column > indent && column + 1 + (int)n > (int)columns) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		column += printf("%s%.*s", column > indent ? " " : "", (int)n, p);
		p += n;
		p += strspn(p, " ");
	}
	putchar('\n');
}

int command_help(const struct command_table *all, const char *name, const struct opt_list *lists,
		 size_t nr_lists)
{
	const struct command *c = command_find(all, name);
	struct pager pager;

	pager_begin(&pager, 0);
	print_usage(c, help_columns(pager.columns));
	printf("\nprobee %s: %s\n", c->name, c->summary);
	opt_print_help(lists, nr_lists, help_columns(pager.columns), stdout);
	return pager_end(&pager) ? EXIT_FAILED : EXIT_OK;
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
