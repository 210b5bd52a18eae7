/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/debug_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/debug_info/alternate_name.h"
#include "src/debug_info/debug_index.h"
#include "src/debug_info/debug_section.h"
#include "src/debug_info/debug_sections.h"
#include "src/debug_info/die_units.h"
#include "src/debug_info/dwo_package.h"
#include "src/debug_info/split_unit.h"
#include "src/debug_info/unit_builder.h"
#include "src/debug_info/unit_reader.h"
#include "src/elf/plain_elf.h"

#define MAX_UNITS (1u << 20)
#define MAX_UNIT_RANGES 65536
/*
 * The handle is renewed when tables of so many bytes were made. For a large C++ unit libdw keeps
 * several times as much as its table has, and it ends the process when it gets no memory.
 */
#define ROOM_BYTES (2u << 20)

struct debug_file {
	struct plain_elf *plain;
	Elf *elf;			/* of plain */
	Dwarf *dwarf;
	struct addr_range *code;
	size_t nr_code, cap_code;
	size_t made_bytes;		/* of tables, since the handle was opened */
	struct plain_elf *alt_plain;	/* of dwz */
	Dwarf *alt;
	struct dwo_package *package;
	uint32_t lack;
	struct debug_sections sections, alt_sections;
	struct die_units *units, *alt_units;	/* NULL: libdw alone reads the file */
};

/* ---- the file ---- */

static int read_code(struct debug_file *f)
{
	size_t nr;

	if (elf_getphdrnum(f->elf, &nr))
		return -EBADMSG;
	for (size_t i = 0; i < nr && i < UINT16_MAX; i++) {
		struct addr_range *r;
		GElf_Phdr p;

		if (!gelf_getphdr(f->elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		r = array_push(&f->code, &f->nr_code, &f->cap_code);
		if (!r)
			return -ENOMEM;
		*r = (struct addr_range){ p.p_vaddr, p.p_vaddr + p.p_memsz };
	}
	return f->nr_code ? 0 : -ENOENT;
}

/* A file without .debug_info has nothing to ask libdw for, which would read its unwind tables. */
static bool has_debug_info(Elf *elf)
{
	return debug_section(elf, ".debug_info");
}

static int open_units(Elf *elf, struct debug_sections *s, struct die_units **us)
{
	return debug_sections_read(elf, s) ? 0 : die_units_new(s, us);
}

static int read_file(struct debug_file *f)
{
	int err;

	f->elf = plain_elf_get(f->plain);
	if (!has_debug_info(f->elf))
		return -ENOENT;
	err = read_code(f);
	if (err)
		return err;
	f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	return f->dwarf ? open_units(f->elf, &f->sections, &f->units) : -EBADMSG;
}

/* Opens one of the files; *lack: as of debug_file_open(). */
static int open_plain(int fd, struct plain_elf **pp, uint32_t *lack)
{
	int err = plain_elf_open(fd, PLAIN_ALL, 0, pp);

	if (err == -EFBIG || err == -ENOMEM)
		*lack = DEBUG_LACKS_MEMORY;
	if (!err && plain_elf_unknown_packing(*pp))
		*lack = plain_elf_unknown_packing(*pp);
	return err;
}

int debug_file_open(int fd, struct debug_file **fp, uint32_t *lack)
{
	struct debug_file *f = calloc(1, sizeof(*f));
	int err = f ? open_plain(fd, &f->plain, lack) : -ENOMEM;

	if (!err)
		err = read_file(f);
	if (err)
		debug_file_close(f);
	else
		*fp = f;
	return err;
}

uint32_t debug_file_lack(const struct debug_file *f)
{
	return f->lack;
}

void debug_file_close(struct debug_file *f)
{
	if (!f)
		return;
	die_units_free(f->units);
	die_units_free(f->alt_units);
	dwarf_end(f->dwarf);
	plain_elf_close(f->plain);
	dwarf_end(f->alt);
	plain_elf_close(f->alt_plain);
	dwo_package_close(f->package);
	free(f->code);
	free(f);
}

void debug_file_rest(const struct debug_file *f)
{
	plain_elf_rest(f->plain);
	if (f->alt_plain)
		plain_elf_rest(f->alt_plain);
}

static int renew(struct debug_file *f)
{
	if (f->made_bytes < ROOM_BYTES)
		return 0;
	f->made_bytes = 0;
	dwarf_end(f->dwarf);
	plain_elf_rest(f->plain);
	f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (f->dwarf && f->alt)
		dwarf_setalt(f->dwarf, f->alt);
	return f->dwarf ? 0 : -ENOMEM;
}

size_t debug_file_alternate(struct debug_file *f, const char **name, const void **build_id)
{
	return alternate_name_read(f->elf, name, build_id);
}

int debug_file_set_alternate(struct debug_file *f, int fd)
{
	struct plain_elf *plain = NULL;
	const void *want, *have;
	const char *name;
	size_t len = debug_file_alternate(f, &name, &want);
	Elf *elf;

	if (f->alt || !len || open_plain(fd, &plain, &f->lack))
		return -ENOENT;
	elf = plain_elf_get(plain);
	if (alternate_name_own(elf, &have) != len || memcmp(have, want, len)) {
		plain_elf_close(plain);
		return -ENOENT;
	}
	f->alt_plain = plain;
	f->alt = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!f->alt)
		return -ENOENT;
	dwarf_setalt(f->dwarf, f->alt);
	if (f->units && !open_units(elf, &f->alt_sections, &f->alt_units) && f->alt_units)
		die_units_set_alternate(f->units, f->alt_units);
	return 0;
}

/* ---- units ---- */

static bool has_code(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit;
}

struct ranges {
	struct index_range *v;
	size_t nr, cap;
};

static int add_range(const struct debug_file *f, uint64_t lo, uint64_t hi, uint64_t unit,
		     struct ranges *r)
{
	struct index_range *x;

	if (hi <= lo || !unit_is_code(f->code, f->nr_code, lo))
		return 0;
	x = array_push(&r->v, &r->nr, &r->cap);
	if (!x)
		return -ENOMEM;
	*x = (struct index_range){ lo, hi, unit };
	return 0;
}

/* The code of a unit by its sequences of lines. */
static int add_sequences(const struct debug_file *f, Dwarf_Die *die, struct ranges *r)
{
	Dwarf_Lines *lines;
	Dwarf_Addr lo = 0, addr;
	bool is_end, is_open = false;
	size_t nr;
	int err = 0;

	if (dwarf_getsrclines(die, &lines, &nr))
		return 0;
	for (size_t i = 0; i < nr && !err; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);

		if (!line || dwarf_lineaddr(line, &addr) || dwarf_lineendsequence(line, &is_end))
			continue;
		if (is_end && is_open)
			err = add_range(f, lo, addr, dwarf_dieoffset(die), r);
		if (!is_end && !is_open)
			lo = addr;
		is_open = !is_end;
	}
	return err;
}

static int add_unit(const struct debug_file *f, Dwarf_Die *die, struct ranges *r)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	int err = 0;

	for (unsigned n = 0; n < MAX_UNIT_RANGES && !err; n++) {
		at = dwarf_ranges(die, at, &base, &lo, &hi);
		if (at <= 0)
			return n && unit_says_ranges(die) ? 0 : add_sequences(f, die, r);
		err = add_range(f, lo, hi, dwarf_dieoffset(die), r);
	}
	return err;
}

struct unit_ranges {
	const struct debug_file *f;
	uint64_t unit;
	struct ranges *r;
};

static int put_range(void *ctx, uint64_t lo, uint64_t hi)
{
	const struct unit_ranges *x = ctx;

	return add_range(x->f, lo, hi, x->unit, x->r);
}

/* A unit that is not read here is left to libdw. */
static int index_unit(struct debug_file *f, const struct unit_source *src, struct ranges *r)
{
	struct unit_ranges x = { f, src->number, r };
	Dwarf_Die die;
	int err = unit_read_code(src, f->units, put_range, &x);

	if (err == -ENOTSUP)
		err = dwarf_offdie(f->dwarf, src->number, &die) && has_code(&die)
			      ? add_unit(f, &die, r)
			      : 0;
	return err;
}

static int index_units(struct debug_file *f, uint64_t until_ns, struct ranges *r)
{
	struct unit_source src = { .code = f->code, .nr_code = f->nr_code, .until_ns = until_ns };
	int err = 0;

	for (size_t i = 0; i < die_units_nr(f->units) && !err; i++) {
		src.number = die_units_entry(f->units, i);
		err = index_unit(f, &src, r);
		if (unit_time_is_up(until_ns))
			err = -ETIMEDOUT;
	}
	return err;
}

static int index_by_libdw(struct debug_file *f, uint64_t until_ns, struct ranges *r)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	int err = 0;

	for (unsigned i = 0; !err && i < MAX_UNITS; i++) {
		if (dwarf_get_units(f->dwarf, cu, &cu, NULL, NULL, &die, NULL))
			break;
		if (has_code(&die))
			err = add_unit(f, &die, r);
		if (unit_time_is_up(until_ns))
			err = -ETIMEDOUT;
	}
	return err;
}

int debug_file_index(struct debug_file *f, uint64_t until_ns, struct byte_buf *out)
{
	struct ranges r = { 0 };
	int err = renew(f);

	if (!err)
		err = f->units ? index_units(f, until_ns, &r) : index_by_libdw(f, until_ns, &r);
	if (!err)
		err = debug_index_make(r.v, r.nr, out);
	free(r.v);
	return err;
}

bool debug_file_is_split(struct debug_file *f, uint64_t unit, const char **name, const char **dir)
{
	Dwarf_Die die;

	return !renew(f) && dwarf_offdie(f->dwarf, unit, &die) && has_code(&die) &&
	       split_unit_name(&die, name, dir);
}

int debug_file_set_package(struct debug_file *f, int fd)
{
	return f->package ? -EEXIST : dwo_package_open(fd, &f->package, &f->lack);
}

bool debug_file_is_in_package(struct debug_file *f, uint64_t unit)
{
	Dwarf_Die die;
	Elf *elf = NULL;

	if (f->package && dwarf_offdie(f->dwarf, unit, &die))
		elf = dwo_package_elf(f->package, split_unit_id(&die));
	elf_end(elf);
	return elf != NULL;
}

/* The .dwo file of a unit, and who has it. */
struct dwo_file {
	Elf *elf;			/* NULL: there is none */
	struct plain_elf *plain;	/* elf is its; or else the caller's */
	struct dwo_package *object;
};

/* A file of its own, or an object file that has the unit in it. */
static void open_dwo_file(struct debug_file *f, int fd, struct dwo_file *dwo)
{
	if (open_plain(fd, &dwo->plain, &f->lack))
		return;
	dwo->elf = plain_elf_get(dwo->plain);
	if (!has_debug_info(dwo->elf))
		return;
	dwo->elf = NULL;
	plain_elf_close(dwo->plain);
	dwo->plain = NULL;
	if (!dwo_package_open_object(fd, &dwo->object, &f->lack))
		dwo->elf = dwo_package_elf(dwo->object, 0);
}

static void close_dwo(struct dwo_file *dwo)
{
	if (!dwo->plain)
		elf_end(dwo->elf);
	plain_elf_close(dwo->plain);
	dwo_package_close(dwo->object);
}

/* With the help of libdw, which also joins the halves of a unit that is split. */
static int build_unit(struct debug_file *f, struct unit_source *src, int dwo_fd,
		      struct byte_buf *out)
{
	struct split_unit *split = NULL;
	struct dwo_file dwo = { 0 };
	int err;

	if (!dwarf_offdie(f->dwarf, src->number, &src->die) || !has_code(&src->die))
		return -EBADMSG;
	src->skeleton = src->die;
	if (dwo_fd >= 0)
		open_dwo_file(f, dwo_fd, &dwo);
	else if (f->package)
		dwo.elf = dwo_package_elf(f->package, split_unit_id(&src->skeleton));
	if (dwo.elf && !split_unit_open(&src->skeleton, f->elf, dwo.elf, &split)) {
		src->split = split;
		src->die = split_unit_die(split);
	}
	err = unit_build(src, out);
	split_unit_close(split);
	close_dwo(&dwo);
	return err;
}

int debug_file_unit(struct debug_file *f, uint64_t unit, int dwo_fd, uint64_t until_ns,
		    struct byte_buf *out)
{
	struct unit_source src = { .number = unit, .code = f->code, .nr_code = f->nr_code,
				   .until_ns = until_ns };
	size_t before = out->nr;
	int err = renew(f);

	if (err)
		return err;
	err = f->units && dwo_fd < 0 && !f->package ? unit_read(&src, f->units, out) : -ENOTSUP;
	if (err == -ENOTSUP)
		err = build_unit(f, &src, dwo_fd, out);
	f->made_bytes += out->nr - before;
	return err;
}
