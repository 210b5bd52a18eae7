/* --help from the option tables: groups, two aligned columns, wrapped. Declared in opt.h. */
#include "src/base/opt.h"

#include <stdio.h>
#include <string.h>

#define LINE_COLUMNS 100
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

static void print_wrapped(FILE *f, const char *text, int indent)
{
	int column = indent;

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (column > indent && column + 1 + n > LINE_COLUMNS) {
			fprintf(f, "\n%*s", indent, "");
			column = indent;
		}
		column += fprintf(f, "%s%.*s", column > indent ? " " : "", n, text);
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

static void print_row(FILE *f, const struct opt *o, int indent)
{
	char left[96];
	int n = format_left(o, left, sizeof(left));

	if (n + 2 > indent)
		fprintf(f, "%s\n%*s", left, indent, "");
	else
		fprintf(f, "%-*s", indent, left);
	print_wrapped(f, o->help ? o->help : "", indent);
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

void opt_print_help(const struct opt_list *lists, size_t nr_lists, void *file)
{
	static const struct opt help = { 'h', "help", NULL, "show this and exit",
					 .parse = opt_flag };
	int indent = left_columns(lists, nr_lists);
	const char *group = NULL;
	FILE *f = file;

	for (size_t l = 0; l < nr_lists; l++) {
		for (size_t i = 0; i < lists[l].nr; i++) {
			const struct opt *o = &lists[l].v[i];

			if (o->group && (!group || strcmp(group, o->group))) {
				group = o->group;
				fprintf(f, "\n%s:\n", group);
			}
			print_row(f, o, indent);
		}
	}
	if (group)
		fputc('\n', f);
	print_row(f, &help, indent);
}
