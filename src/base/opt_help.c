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
	bool is_alone;			/* one group is all that is printed */
};

/* The first len bytes of text. */
static void print_wrapped(const struct page *p, const char *text, size_t len)
{
	const char *end = text + len;
	int column = p->indent;

	while (text < end) {
		int n = (int)strcspn(text, " ");

		n = n < end - text ? n : (int)(end - text);
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

enum { BRIEF_BYTES = 100 };

/* The part of a help text that -h shows: what stands before the details. */
static size_t brief_length(const char *help)
{
	size_t len = strcspn(help, ";");
	const char *colon = strstr(help, ": "), *open = memrchr(help, '(', len);

	if (len > BRIEF_BYTES && colon && colon < help + len)
		return (size_t)(colon - help);
	/* No parenthesis is cut in two. */
	if (open && !memchr(open, ')', len - (size_t)(open - help)))
		return (size_t)(open - help);
	return len;
}

static void print_row(const struct page *p, const struct opt *o, bool is_brief)
{
	const char *help = o->help ? o->help : "";
	char left[96];
	int n = format_left(o, left, sizeof(left));

	if (n + 2 > p->indent)
		fprintf(p->f, "%s\n%*s", left, p->indent, "");
	else
		fprintf(p->f, "%-*s", p->indent, left);
	print_wrapped(p, help, is_brief ? brief_length(help) : strlen(help));
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
		fprintf(p->f, "%s%s:\n", p->is_alone ? "" : "\n", group);
	for (size_t i = 0; (row = row_at(p, i)).o; i++) {
		if (!strcmp(row.group, group))
			print_row(p, row.o, false);
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

bool opt_has_heading(const char *headings, const char *heading)
{
	size_t len = strlen(heading);

	for (const char *p = headings ? headings : ""; *p; p += strspn(p, "|")) {
		size_t n = strcspn(p, "|");

		if (n == len && !memcmp(p, heading, n))
			return true;
		p += n;
	}
	return false;
}

/* One row for each word; a word that is no option of these lists has none. */
static void print_named(const struct page *p, const char *names)
{
	struct row row;

	fputs("\nOptions:\n", p->f);
	for (const char *name = names; *name; name += strspn(name, " ")) {
		size_t len = strcspn(name, " ");

		for (size_t i = 0; (row = row_at(p, i)).o; i++)
			if (strlen(row.o->name) == len && !strncmp(row.o->name, name, len))
				break;
		if (row.o)
			print_row(p, row.o, true);
		name += len;
	}
}

static bool is_wanted(const struct opt_selection *s, const char *heading)
{
	return s->heading ? !strcmp(s->heading, heading) : !opt_has_heading(s->left_out, heading);
}

void opt_print_help(const struct opt_list *lists, size_t nr_lists, const struct opt_selection *s,
		    unsigned columns, void *file)
{
	static const struct opt help = { 'h', "help", NULL,
					 "show help: -h in short, --help=all in full",
					 .parse = opt_flag };
	struct page p = { file, lists, nr_lists, (int)columns, left_columns(lists, nr_lists),
			  s->heading != NULL };
	struct row row;
	bool any_group = false;

	if (s->options) {
		print_named(&p, s->options);
		return;
	}
	for (size_t i = 0; (row = row_at(&p, i)).o; i++) {
		if (is_first_of_group(&p, i) && is_wanted(s, row.group))
			print_group(&p, row.group);
		any_group |= *row.group != 0;
	}
	if (s->heading)
		return;
	if (any_group)
		fputc('\n', p.f);
	print_row(&p, &help, false);
}
