/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints --help from the option tables: groups, two aligned columns, wrapped. See opt.h. */
#include "src/base/opt.h"

#include <stdio.h>
#include <string.h>

#define LEFT_MAX 34		/* a longer option gets a line of its own */

/* "  -F, --freq HZ" into buf; its length. */
static int format_left(const struct opt *o, char *buf, size_t size)
{
	const char *space = o->arg && o->arg[0] != '[' ? " " : "";
	const char *arg = o->arg ? o->arg : "";
	int n;

	if (o->key)
		n = snprintf(buf, size, "  -%c, --%s%s%s", o->key, o->name, space, arg);
	else
		n = snprintf(buf, size, "      --%s%s%s", o->name, space, arg);
	return n < (int)size ? n : (int)size - 1;
}

/* What is printed, and where. */
struct page {
	FILE *f;
	const struct opt_list *lists;
	size_t nr_lists;
	int columns, indent;
};

static void print_wrapped(const struct page *p, const char *text)
{
	int column = p->indent;

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (column > p->indent && column + 1 + n > p->columns) {
			fprintf(p->f, "\n%*s", p->indent, "");
			column = p->indent;
		}
		column += fprintf(p->f, "%s%.*s", column > p->indent ? " " : "", n, text);
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', p->f);
}

static void print_row(const struct page *p, const struct opt *o)
{
	char left[96];
	int n = format_left(o, left, sizeof(left));

	if (n + 2 > p->indent)
		fprintf(p->f, "%s\n%*s", left, p->indent, "");
	else
		fprintf(p->f, "%-*s", p->indent, left);
	print_wrapped(p, o->help ? o->help : "");
}

struct row {
	const struct opt *o;		/* NULL: there are no more */
	const char *group;		/* the heading above it; "": none */
};

static struct row row_at(const struct page *p, size_t at)
{
	struct row row = { NULL, "" };

	for (size_t l = 0; l < p->nr_lists; l++) {
		for (size_t i = 0; i < p->lists[l].nr; i++, at--) {
			row.o = &p->lists[l].v[i];
			row.group = row.o->group ? row.o->group : row.group;
			if (!at)
				return row;
		}
	}
	return (struct row){ NULL, "" };
}

static bool is_first_of_group(const struct page *p, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (!strcmp(row_at(p, i).group, row_at(p, at).group))
			return false;
	}
	return true;
}

static void print_group(const struct page *p, const char *group)
{
	struct row row;

	if (*group)
		fprintf(p->f, "\n%s:\n", group);
	for (size_t i = 0; (row = row_at(p, i)).o; i++) {
		if (!strcmp(row.group, group))
			print_row(p, row.o);
	}
}

static int left_columns(const struct opt_list *lists, size_t nr_lists)
{
	char left[96];
	int widest = 0;

	for (size_t l = 0; l < nr_lists; l++) {
		for (size_t i = 0; i < lists[l].nr; i++) {
			int n = format_left(&lists[l].v[i], left, sizeof(left)) + 2;

			if (n > widest && n <= LEFT_MAX)
				widest = n;
		}
	}
	return widest ? widest : LEFT_MAX;
}

void opt_print_help(const struct opt_list *lists, size_t nr_lists, unsigned columns, void *file)
{
	static const struct opt help = { 'h', "help", NULL, "show this and exit",
					 .parse = opt_flag };
	struct page p = { file, lists, nr_lists, (int)columns, left_columns(lists, nr_lists) };
	struct row row;
	bool any_group = false;

	for (size_t i = 0; (row = row_at(&p, i)).o; i++) {
		if (is_first_of_group(&p, i))
			print_group(&p, row.group);
		any_group |= *row.group != 0;
	}
	if (any_group)
		fputc('\n', p.f);
	print_row(&p, &help);
}
