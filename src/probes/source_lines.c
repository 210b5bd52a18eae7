/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/source_lines.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

/* Whether the path ends with the name, at the beginning of a part of the path. */
static bool is_file(const char *path, const char *name)
{
	size_t len = path ? strlen(path) : 0, want = strlen(name);

	if (len < want || strcmp(path + len - want, name))
		return false;
	return len == want || *name == '/' || path[len - want - 1] == '/';
}

static int take_line(Dwarf_Line *line, const char *source, uint32_t want, struct source_lines *out)
{
	bool is_statement = false, is_end = false;
	Dwarf_Addr address;
	uint64_t *v;
	int number;

	if (dwarf_lineno(line, &number) || number < 0 || (uint32_t)number < want ||
	    dwarf_linebeginstatement(line, &is_statement) || !is_statement ||
	    dwarf_lineendsequence(line, &is_end) || is_end)
		return 0;
	if ((uint32_t)number > want && out->next && (uint32_t)number >= out->next)
		return 0;
	if (dwarf_lineaddr(line, &address) || !is_file(dwarf_linesrc(line, NULL, NULL), source))
		return 0;
	if ((uint32_t)number > want) {
		out->next = (uint32_t)number;
		return 0;
	}
	v = array_push(&out->v, &out->nr, &out->cap);
	if (!v)
		return -ENOMEM;
	*v = address;
	return 0;
}

static int take_unit(Dwarf_Die *unit, const char *source, uint32_t want, struct source_lines *out)
{
	Dwarf_Lines *lines;
	Dwarf_Files *files;
	size_t nr_lines, nr_files;
	bool has_it = false;
	int err = 0;

	if (dwarf_getsrclines(unit, &lines, &nr_lines) ||
	    dwarf_getsrcfiles(unit, &files, &nr_files))
		return 0;
	for (size_t i = 0; i < nr_files && !has_it; i++)
		has_it = is_file(dwarf_filesrc(files, i, NULL, NULL), source);
	for (size_t i = 0; has_it && i < nr_lines && !err; i++)
		err = take_line(dwarf_onesrcline(lines, i), source, want, out);
	return err;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void drop_doubles(struct source_lines *l)
{
	size_t nr = 0;

	if (l->nr)
		qsort(l->v, l->nr, sizeof(*l->v), compare);
	for (size_t i = 0; i < l->nr; i++)
		if (!nr || l->v[i] != l->v[nr - 1])
			l->v[nr++] = l->v[i];
	l->nr = nr;
}

int source_lines_find(Elf *elf, const char *source, uint32_t line, struct source_lines *out)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int err = 0;

	memset(out, 0, sizeof(*out));
	while (dwarf && !err && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		err = take_unit(&die, source, line, out);
	dwarf_end(dwarf);
	drop_doubles(out);
	return err;
}

void source_lines_free(struct source_lines *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
