/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/help.h"

#include <stdio.h>
#include <string.h>

#include "src/base/opt.h"
#include "src/commands/command.h"
#include "src/commands/pager.h"

static const struct text {
	const char *command, *options, *topics, *examples;
} texts[] = {
#define HELP(command, options, topics, examples) { command, options, topics, examples },
#define TOPIC(name, command, heading, what)
#define RECIPE(question, command)
#include "src/commands/help_texts.def"
#undef HELP
#undef TOPIC
#undef RECIPE
};

static const struct topic {
	const char *name, *command, *heading, *what;
} topics[] = {
#define HELP(command, options, topics, examples)
#define TOPIC(name, command, heading, what) { name, command, heading, what },
#define RECIPE(question, command)
#include "src/commands/help_texts.def"
#undef HELP
#undef TOPIC
#undef RECIPE
};

static const struct recipe {
	const char *question, *command;
} recipes[] = {
#define HELP(command, options, topics, examples)
#define TOPIC(name, command, heading, what)
#define RECIPE(question, command) { question, command },
#include "src/commands/help_texts.def"
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static const struct text *find_text(const char *command)
{
	for (size_t i = 0; i < NR(texts); i++)
		if (!strcmp(texts[i].command, command))
			return &texts[i];
	return NULL;
}

static const struct topic *find_topic(const char *name)
{
	for (size_t i = 0; i < NR(topics); i++)
		if (!strcmp(topics[i].name, name))
			return &topics[i];
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

/* Each example is two lines, because command lines are long. */
static void print_examples(const char *examples)
{
	printf("\nExamples:\n");
	for (const char *p = examples; *p;) {
		size_t command = strcspn(p, "\t"), line = strcspn(p, "\n");

		printf("  %.*s\n      %.*s\n", (int)command, p, (int)(line - command - 1),
		       p + command + 1);
		p += line + 1;
	}
}

/* "More: probee help output, help flight": the topics whose headings were left out. */
static void print_left_out(const char *headings)
{
	const char *before = "\nMore: probee help ";

	for (size_t i = 0; i < NR(topics); i++) {
		if (!opt_has_heading(headings, topics[i].heading))
			continue;
		printf("%s%s", before, topics[i].name);
		before = ", probee help ";
	}
	putchar('\n');
}

static void print_brief(const struct command *c, const struct text *t,
			const struct opt_list *lists, size_t nr_lists, unsigned columns)
{
	struct opt_selection s = { .options = t ? t->options : "" };

	opt_print_help(lists, nr_lists, &s, columns, stdout);
	if (t)
		print_examples(t->examples);
	printf("\nAll options: probee %s --help. By question: probee help recipes.\n", c->name);
}

int command_help(const struct command_table *all, const char *name, int how,
		 const struct opt_list *lists, size_t nr_lists)
{
	const struct command *c = command_find(all, name);
	const struct text *t = find_text(name);
	struct opt_selection s = { .options = NULL };
	struct pager pager;
	unsigned columns;

	pager_begin(&pager, 0);
	columns = help_columns(pager.columns);
	if (how > OPT_HELP_TOPIC) {
		print_usage(c, columns);
		printf("\nprobee %s: %s\n", c->name, c->summary);
	}
	if (how == OPT_HELP_BRIEF) {
		print_brief(c, t, lists, nr_lists, columns);
		return pager_end(&pager) ? EXIT_FAILED : EXIT_OK;
	}
	if (how <= OPT_HELP_TOPIC)
		s.heading = topics[OPT_HELP_TOPIC - how].heading;
	else if (how == OPT_HELP && t)
		s.left_out = t->topics;
	opt_print_help(lists, nr_lists, &s, columns, stdout);
	if (t && how > OPT_HELP_TOPIC)
		print_examples(t->examples);
	if (s.left_out && *s.left_out)
		print_left_out(s.left_out);
	return pager_end(&pager) ? EXIT_FAILED : EXIT_OK;
}

static void print_recipes(void)
{
	for (size_t i = 0; i < NR(recipes); i++)
		printf("%s%s\n    %s\n", i ? "\n" : "", recipes[i].question, recipes[i].command);
}

bool help_topic(const char *word, const char **command, char option[HELP_OPTION_BYTES])
{
	const struct topic *t = find_topic(word);

	*command = t ? t->command : NULL;
	if (t)
		snprintf(option, HELP_OPTION_BYTES, "--help=%d", (int)(t - topics));
	if (!strcmp(word, "recipes"))
		print_recipes();
	return t || !strcmp(word, "recipes");
}

void help_list_topics(void)
{
	printf("  %-12s %s\n", "recipes", "which command answers which question");
	for (size_t i = 0; i < NR(topics); i++)
		printf("  %-12s %s\n", topics[i].name, topics[i].what);
}
