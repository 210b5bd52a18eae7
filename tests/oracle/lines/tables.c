// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tables FILE [ALTERNATE]: makes the table of each unit twice, by libdw and by the reader of bytes, and compares them byte by
 * byte. ALTERNATE is the file that dwz has made. Split units are in FILE.dwp, or in the files that they name, in the current
 * directory. Partial tables are compared with the whole ones. Prints the counts; fails at a difference, or if the reader gives up.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/debug_info/debug_sections.h"
#include "src/debug_info/die_units.h"
#include "src/debug_info/split_file.h"
#include "src/debug_info/unit_reader.h"
#include "src/debug_info/unit_table.h"
#include "tests/oracle/lines/libdw_package.h"
#include "tests/oracle/lines/libdw_split.h"
#include "tests/oracle/lines/libdw_table.h"

#define FOR_EVER (UINT64_MAX / 2)
#define MAX_CODE 16
#define MAX_PLACES 256

struct file {
	Elf *elf;
	Dwarf *dwarf;
	struct debug_sections sections;
	struct die_units *units;
	struct addr_range code[MAX_CODE];
	size_t nr_code;
};

static int open_file(const char *path, struct file *f)
{
	GElf_Phdr p;
	int fd = open(path, O_RDONLY);
	size_t nr;

	elf_version(EV_CURRENT);
	f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (!f->dwarf || elf_getphdrnum(f->elf, &nr))
		return -1;
	for (size_t i = 0; i < nr && f->nr_code < MAX_CODE; i++)
		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X)
			f->code[f->nr_code++] = (struct addr_range){ p.p_vaddr, p.p_vaddr + p.p_memsz };
	return debug_sections_read(f->elf, &f->sections) || die_units_new(&f->sections, &f->units);
}

static int set_alternate(struct file *f, struct file *alt, const char *path)
{
	if (open_file(path, alt))
		return -1;
	dwarf_setalt(f->dwarf, alt->dwarf);
	die_units_set_alternate(f->units, alt->units);
	return 0;
}

static int differs(const struct byte_buf *a, const struct byte_buf *b)
{
	return a->nr != b->nr || (a->nr && memcmp(a->v, b->v, a->nr));
}

/* The file with the other half of a unit, for both readers. */
struct other_half {
	struct libdw_package *package;
	struct split_file *file;
	Elf *elf;
	struct libdw_split *split;
};

static void open_other(const char *path, struct file *f, struct libdw_source *src, struct other_half *o)
{
	const char *name = libdw_split_name(&src->skeleton);
	uint64_t id = libdw_split_id(&src->skeleton);
	char package[4096];
	uint32_t lack;
	int fd;

	if (!name)
		return;
	snprintf(package, sizeof(package), "%s.dwp", path);
	fd = open(access(package, R_OK) ? name : package, O_RDONLY);
	if (fd < 0 || libdw_package_open(fd, &o->package) || split_file_open(fd, &o->file, &lack))
		return;
	close(fd);
	for (unsigned i = 0; !o->split && (o->elf = libdw_package_elf(o->package, id, i)); i++)
		if (libdw_split_open(&src->skeleton, f->elf, o->elf, &o->split))
			elf_end(o->elf);
	src->split = o->split;
	if (src->split)
		src->die = libdw_split_die(src->split);
}

static void close_other(struct other_half *o)
{
	libdw_split_close(o->split);
	elf_end(o->elf);
	libdw_package_close(o->package);
	split_file_close(o->file);
}

struct counts {
	size_t units, bad, split, bytes, places;
};

static int same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static int same_place(const struct unit_place *a, const struct unit_place *b)
{
	return same_text(a->name, b->name) && same_text(a->file, b->file) && a->line == b->line && a->column == b->column &&
	       same_text(a->decl_file, b->decl_file) && a->decl_line == b->decl_line && a->entry == b->entry && same_text(a->scoped, b->scoped) && a->is_lambda == b->is_lambda &&
	       a->func_entry == b->func_entry;
}

/* Whether two tables say the same of an address. */
static int same_answer(const struct unit_table *a, const struct unit_table *b, uint64_t addr)
{
	static struct unit_place v[MAX_PLACES], w[MAX_PLACES];
	size_t nr = unit_table_find(a, addr, v, MAX_PLACES);

	if (nr != unit_table_find(b, addr, w, MAX_PLACES))
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (!same_place(&v[i], &w[i]))
			return 0;
	return 1;
}

/* A partial table has what is wanted, and what it has is what the whole table says. */
static size_t check_partial(const struct unit_table *whole, const struct unit_table *part, const struct unit_wanted *w,
			    struct counts *c)
{
	size_t bad = 0;

	for (size_t i = 0; i < w->nr; i++)
		bad += !unit_table_covers(part, w->v[i]);
	for (uint32_t i = 0; i < whole->head->nr_segments; i++) {
		uint64_t addr = whole->head->base + whole->segments[i].addr;

		if (!unit_table_covers(part, addr))
			continue;
		bad += !same_answer(whole, part, addr);
		c->places++;
	}
	return bad;
}

/* Makes a partial table for each nth segment of the whole one. */
static size_t compare_partial(const struct unit_source *src, struct file *f, const struct split_parts *split,
			      const struct byte_buf *table, unsigned n, struct counts *c)
{
	struct unit_source some = *src;
	struct unit_table whole, part;
	struct byte_buf out = { 0 };
	uint64_t *wanted;
	size_t bad = 0;

	if (unit_table_open(table->v, table->nr, &whole))
		return 0;
	wanted = calloc(whole.head->nr_segments + 1, sizeof(*wanted));
	for (uint32_t i = n / 2; i < whole.head->nr_segments; i += n)
		wanted[some.wanted.nr++] = whole.head->base + whole.segments[i].addr;
	some.wanted.v = wanted;
	some.wanted.nr_partial = 1;
	if (some.wanted.nr)
		bad = unit_read(&some, f->units, split, &out) || unit_table_open(out.v, out.nr, &part) ||
		      check_partial(&whole, &part, &some.wanted, c);
	free(wanted);
	bb_release(&out);
	return bad;
}

/* Compares the tables of one unit. */
static void compare(const char *path, struct file *f, Dwarf_Die *die, struct counts *c)
{
	struct libdw_source src = { .die = *die, .skeleton = *die };
	struct byte_buf old = { 0 }, new = { 0 };
	struct other_half o = { 0 };
	int want, have, bad = 0;

	src.src = (struct unit_source){ .number = dwarf_dieoffset(die), .code = f->code, .nr_code = f->nr_code,
					.until_ns = FOR_EVER };
	open_other(path, f, &src, &o);
	want = libdw_table(&src, &old);
	have = unit_read(&src.src, f->units, o.file ? split_file_parts(o.file) : NULL, &new);
	if (want != have || differs(&old, &new))
		printf("unit 0x%llx: libdw %d, %zu bytes; the reader %d, %zu bytes\n", (unsigned long long)src.src.number,
		       want, old.nr, have, new.nr);
	for (unsigned n = 2; !have && n < 1000; n = n * 5 + 1)
		bad |= compare_partial(&src.src, f, o.file ? split_file_parts(o.file) : NULL, &new, n, c) != 0;
	if (bad)
		printf("unit 0x%llx: a partial table says something else\n", (unsigned long long)src.src.number);
	c->bad += bad || want != have || differs(&old, &new);
	c->units++;
	c->split += src.split != NULL;
	c->bytes += old.nr;
	close_other(&o);
	bb_release(&old);
	bb_release(&new);
}

int main(int argc, char **argv)
{
	static struct file f, alt;
	struct counts c = { 0 };
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	if (argc < 2 || open_file(argv[1], &f) || (argc > 2 && set_alternate(&f, &alt, argv[2])))
		return 1;
	while (!dwarf_get_units(f.dwarf, cu, &cu, NULL, NULL, &die, NULL))
		if (dwarf_tag(&die) == DW_TAG_compile_unit || dwarf_tag(&die) == DW_TAG_skeleton_unit)
			compare(argv[1], &f, &die, &c);
	printf("%zu of %zu tables equal, %zu of split units, %zu bytes; %zu places of partial ones\n", c.units - c.bad, c.units,
	       c.split, c.bytes, c.places);
	return c.bad || !c.bytes;
}
