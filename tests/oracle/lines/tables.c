// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tables FILE [ALTERNATE]: makes the table of each unit twice, by libdw and by the reader of bytes, and compares them byte by
 * byte. ALTERNATE is the file that dwz has made. Prints the counts; fails at a difference, or if the reader gives up.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

#include "src/debug_info/debug_sections.h"
#include "src/debug_info/die_units.h"
#include "src/debug_info/split_unit.h"
#include "src/debug_info/unit_builder.h"
#include "src/debug_info/unit_reader.h"

#define FOR_EVER (UINT64_MAX / 2)
#define MAX_CODE 16

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

/* Compares the tables of one unit; 1: they differ. */
static int compare(struct file *f, Dwarf_Die *die, size_t *bytes)
{
	struct unit_source src = { .die = *die, .skeleton = *die, .number = dwarf_dieoffset(die), .code = f->code,
				   .nr_code = f->nr_code, .until_ns = FOR_EVER };
	struct byte_buf old = { 0 }, new = { 0 };
	int want = unit_build(&src, &old), have = unit_read(&src, f->units, &new);
	int bad = want != have || differs(&old, &new);

	if (bad)
		printf("unit 0x%llx: libdw %d, %zu bytes; the reader %d, %zu bytes\n", (unsigned long long)src.number, want,
		       old.nr, have, new.nr);
	*bytes += old.nr;
	bb_release(&old);
	bb_release(&new);
	return bad;
}

int main(int argc, char **argv)
{
	static struct file f, alt;
	size_t units = 0, bad = 0, bytes = 0;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	if (argc < 2 || open_file(argv[1], &f) || (argc > 2 && set_alternate(&f, &alt, argv[2])))
		return 1;
	while (!dwarf_get_units(f.dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		if (dwarf_tag(&die) != DW_TAG_compile_unit && dwarf_tag(&die) != DW_TAG_skeleton_unit)
			continue;
		units++;
		bad += (size_t)compare(&f, &die, &bytes);
	}
	printf("%zu of %zu tables equal, %zu bytes\n", units - bad, units, bytes);
	return bad || !bytes;
}
