/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/debug_file.h"

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
#include "src/debug_info/dwp_index.h"
#include "src/debug_info/split_file.h"
#include "src/debug_info/split_unit.h"
#include "src/debug_info/unit_reader.h"
#include "src/debug_info/unit_source.h"
#include "src/debug_info/work_limit.h"
#include "src/elf/plain_elf.h"

/* Pages of the file are given back when units of so many bytes were read. */
#define REST_BYTES (8u << 20)

/* A file that is read, and its units. */
struct units_file {
	struct plain_elf *plain;	/* NULL: there is none */
	struct debug_sections sections;
	struct die_units *units;
};

struct debug_file {
	struct units_file own;
	struct units_file alt;		/* of dwz */
	struct addr_range *code;
	size_t nr_code, cap_code;
	uint64_t read_bytes;		/* of units, since pages were given back */
	struct split_file *package;
	uint32_t lack;
};

/* ---- the file ---- */

static int read_code(struct debug_file *f, Elf *elf)
{
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return -EBADMSG;
	for (size_t i = 0; i < nr && i < UINT16_MAX; i++) {
		struct addr_range *r;
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		r = array_push(&f->code, &f->nr_code, &f->cap_code);
		if (!r)
			return -ENOMEM;
		*r = (struct addr_range){ p.p_vaddr, p.p_vaddr + p.p_memsz };
	}
	return f->nr_code ? 0 : -ENOENT;
}

static int open_units(struct units_file *x)
{
	int err = debug_sections_read(plain_elf_get(x->plain), &x->sections);

	return err ? err : die_units_new(&x->sections, &x->units);
}

static void close_units(struct units_file *x)
{
	die_units_free(x->units);
	plain_elf_close(x->plain);
	*x = (struct units_file){ 0 };
}

int debug_file_open(int fd, struct debug_file **fp, uint32_t *lack)
{
	struct debug_file *f = calloc(1, sizeof(*f));
	int err = f ? debug_section_open(fd, &f->own.plain, lack) : -ENOMEM;

	if (!err)
		err = open_units(&f->own);
	if (!err && !f->own.sections.part[DEBUG_INFO].len)
		err = -ENOENT;
	if (!err)
		err = read_code(f, plain_elf_get(f->own.plain));
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

size_t debug_file_bytes(const struct debug_file *f)
{
	size_t bytes = plain_elf_bytes(f->own.plain);

	if (f->alt.plain)
		bytes += plain_elf_bytes(f->alt.plain);
	return f->package ? bytes + split_file_bytes(f->package) : bytes;
}

bool debug_file_has_alternate(const struct debug_file *f)
{
	return f->alt.plain;
}

bool debug_file_has_package(const struct debug_file *f)
{
	return f->package;
}

void debug_file_close(struct debug_file *f)
{
	if (!f)
		return;
	close_units(&f->own);
	close_units(&f->alt);
	split_file_close(f->package);
	free(f->code);
	free(f);
}

void debug_file_rest(const struct debug_file *f)
{
	plain_elf_rest(f->own.plain);
	if (f->alt.plain)
		plain_elf_rest(f->alt.plain);
}

size_t debug_file_alternate(struct debug_file *f, const char **name, const void **build_id)
{
	return alternate_name_read(plain_elf_get(f->own.plain), name, build_id);
}

static bool is_alternate(struct debug_file *f, const struct units_file *alt)
{
	const void *want, *have;
	const char *name;
	size_t len = debug_file_alternate(f, &name, &want);

	return len && alternate_name_own(plain_elf_get(alt->plain), &have) == len &&
	       !memcmp(have, want, len);
}

int debug_file_set_alternate(struct debug_file *f, int fd)
{
	struct units_file alt = { 0 };

	if (f->alt.plain || debug_section_open(fd, &alt.plain, &f->lack))
		return -ENOENT;
	if (!is_alternate(f, &alt)) {
		close_units(&alt);
		return -ENOENT;
	}
	f->alt = alt;
	if (!open_units(&f->alt))	/* where its sections are from now on */
		die_units_set_alternate(f->own.units, f->alt.units);
	return 0;
}

/* ---- the index ---- */

struct ranges {
	const struct debug_file *f;
	uint64_t unit;
	struct index_range *v;
	size_t nr, cap;
};

static int put_range(void *ctx, uint64_t lo, uint64_t hi)
{
	struct ranges *r = ctx;
	struct index_range *x;

	if (hi <= lo || !unit_is_code(r->f->code, r->f->nr_code, lo))
		return 0;
	x = array_push(&r->v, &r->nr, &r->cap);
	if (!x)
		return -ENOMEM;
	*x = (struct index_range){ lo, hi, r->unit };
	return 0;
}

/* Units of an unknown version have no lines. */
static int index_units(struct debug_file *f, uint64_t until_ns, struct ranges *r)
{
	struct unit_source src = { .code = f->code, .nr_code = f->nr_code, .until_ns = until_ns };
	int err = 0;

	for (size_t i = 0; i < die_units_nr(f->own.units) && !err; i++) {
		src.number = r->unit = die_units_entry(f->own.units, i);
		err = unit_read_code(&src, f->own.units, put_range, r);
		if (err == -ENOTSUP)
			err = 0;
		if (unit_time_is_up(until_ns))
			err = -ETIMEDOUT;
	}
	return err;
}

int debug_file_index(struct debug_file *f, uint64_t until_ns, struct byte_buf *out)
{
	struct ranges r = { .f = f };
	int err = index_units(f, until_ns, &r);

	if (!err)
		err = debug_index_make(r.v, r.nr, out);
	free(r.v);
	return err;
}

/* ---- units ---- */

/* A unit by its number; NULL: it is damaged. */
static const struct die_unit *unit_of(struct debug_file *f, uint64_t unit, struct work_limit *w)
{
	int err;

	return die_units_open(f->own.units, unit, w, &err);
}

bool debug_file_is_split(struct debug_file *f, uint64_t unit, const char **name, const char **dir)
{
	struct work_limit w = { .until_ns = UINT64_MAX };
	const struct die_unit *u = unit_of(f, unit, &w);

	return u && split_unit_name(u, name, dir);
}

int debug_file_set_package(struct debug_file *f, int fd)
{
	struct split_file *x = NULL;
	int err = f->package ? -EEXIST : split_file_open(fd, &x, &f->lack);

	if (!err && !split_file_parts(x)->index.len)
		err = -ENOENT;
	if (err)
		split_file_close(x);
	else
		f->package = x;
	return err;
}

bool debug_file_is_in_package(struct debug_file *f, uint64_t unit)
{
	struct work_limit w = { .until_ns = UINT64_MAX };
	const struct die_unit *u = f->package ? unit_of(f, unit, &w) : NULL;
	const struct split_parts *p = u ? split_file_parts(f->package) : NULL;
	struct debug_sections s;

	return p && !dwp_index_find(&p->index, &p->s, u->id, &s);
}

int debug_file_unit(struct debug_file *f, uint64_t unit, const struct unit_wanted *wanted,
		    int dwo_fd, uint64_t until_ns, struct byte_buf *out)
{
	struct unit_source src = { .number = unit, .code = f->code, .nr_code = f->nr_code,
				   .until_ns = until_ns, .wanted = *wanted };
	struct split_file *dwo = NULL, *split = f->package;
	int err;

	if (dwo_fd >= 0)
		split = split_file_open(dwo_fd, &dwo, &f->lack) ? NULL : dwo;
	err = unit_read(&src, f->own.units, split ? split_file_parts(split) : NULL, out);
	split_file_close(dwo);
	f->read_bytes += die_units_bytes(f->own.units, unit);
	if (f->read_bytes >= REST_BYTES) {
		f->read_bytes = 0;
		debug_file_rest(f);
	}
	return err;
}
