/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/die_units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/debug_info/line_program.h"
#include "src/debug_info/work_limit.h"

#define MAX_UNITS (1u << 20)
#define NR_OPEN 16
#define STEP_BYTES 2			/* of abbreviations, that count as a step */
#define LONG_FORMAT 0xffffffffu		/* DWARF 5, 7.4 */

struct unit_header {
	uint64_t offset, end;
	uint64_t abbrevs;		/* offset in .debug_abbrev */
	uint64_t id;			/* of a split unit or its skeleton, from version 5 on */
	struct die_sizes sizes;
	uint8_t len;			/* of the header */
	uint8_t type;			/* DW_UT_... */
	bool is_unknown;		/* of another version, or with other sizes */
};

struct open_unit {
	struct die_unit u;
	struct die_abbrevs *abbrevs;
	uint64_t abbrevs_at;
	struct line_program *lines;
	bool are_lines_tried;
	uint64_t used;			/* 0: free */
};

struct die_units {
	const struct debug_sections *s;
	struct die_units *alt;
	struct die_skeleton skeleton;
	bool has_skeleton;
	struct unit_header *v;
	size_t nr, cap;
	struct open_unit open[NR_OPEN];
	uint64_t nr_uses;
	unsigned last;			/* the one that was opened or found last */
	const struct die_unit *kept;	/* NULL: none */
};

/* ---- headers ---- */

/* What follows the address of the abbreviations, by the type of a unit of DWARF 5. */
static void read_more(struct byte_reader *r, struct unit_header *h)
{
	switch (h->type) {
	case DW_UT_skeleton:
	case DW_UT_split_compile: h->id = br_u64(r); break;
	case DW_UT_type:
	case DW_UT_split_type: br_bytes(r, 8u + h->sizes.offset); break;
	default: break;
	}
}

static void read_sizes(struct byte_reader *r, struct unit_header *h)
{
	h->type = DW_UT_compile;
	h->sizes.version = (uint8_t)br_u16(r);
	if (h->sizes.version >= 5) {
		h->type = br_u8(r);
		h->sizes.address = br_u8(r);
		h->abbrevs = br_fixed(r, h->sizes.offset);
	} else {
		h->abbrevs = br_fixed(r, h->sizes.offset);
		h->sizes.address = br_u8(r);
	}
	read_more(r, h);
	h->is_unknown = h->sizes.version < 2 || h->sizes.version > 5 ||
			(h->sizes.address != 4 && h->sizes.address != 8) || r->bad;
}

/* Reads the header at r, and goes behind its unit. */
static bool read_header(struct byte_reader *r, uint64_t offset, struct unit_header *h)
{
	const uint8_t *begin = r->p;
	uint64_t len = br_u32(r);
	struct byte_reader unit;

	*h = (struct unit_header){ .offset = offset, .sizes.offset = 4 };
	if (len == LONG_FORMAT) {
		len = br_u64(r);
		h->sizes.offset = 8;
	}
	unit = br_sub(r, len);
	if (r->bad)
		return false;
	h->end = offset + (uint64_t)(r->p - begin);
	read_sizes(&unit, h);
	h->len = (uint8_t)(unit.p - begin);
	return true;
}

int die_units_new(const struct debug_sections *s, struct die_units **usp)
{
	struct die_units *us = calloc(1, sizeof(*us));
	struct byte_reader r = debug_bytes_from(s, DEBUG_INFO, 0);
	struct unit_header h = { 0 }, *x;

	if (!us)
		return -ENOMEM;
	us->s = s;
	while (br_left(&r) && us->nr < MAX_UNITS && read_header(&r, h.end, &h)) {
		x = array_push(&us->v, &us->nr, &us->cap);
		if (!x) {
			die_units_free(us);
			return -ENOMEM;
		}
		*x = h;
	}
	*usp = us;
	return 0;
}

static void close_unit(struct open_unit *o)
{
	die_abbrevs_free(o->abbrevs);
	line_program_free(o->lines);
	o->abbrevs = NULL;
	o->lines = NULL;
	o->are_lines_tried = false;
	o->used = 0;
}

void die_units_free(struct die_units *us)
{
	if (!us)
		return;
	for (unsigned i = 0; i < NR_OPEN; i++)
		close_unit(&us->open[i]);
	free(us->v);
	free(us);
}

void die_units_set_alternate(struct die_units *us, struct die_units *alt)
{
	us->alt = alt;
	us->kept = NULL;
	for (unsigned i = 0; i < NR_OPEN; i++)
		close_unit(&us->open[i]);
}

void die_units_set_skeleton(struct die_units *us, const struct die_skeleton *skeleton)
{
	us->skeleton = *skeleton;
	us->has_skeleton = true;
}

size_t die_units_nr(const struct die_units *us)
{
	return us->nr;
}

uint64_t die_units_entry(const struct die_units *us, size_t i)
{
	return us->v[i].offset + us->v[i].len;
}

/* ---- units ---- */

/* The header of the unit around an offset, or NULL. */
static const struct unit_header *header_of(const struct die_units *us, uint64_t offset)
{
	size_t after = bisect(us->nr, i, us->v[i].offset <= offset);

	return after && offset < us->v[after - 1].end ? &us->v[after - 1] : NULL;
}

uint64_t die_units_bytes(const struct die_units *us, uint64_t offset)
{
	const struct unit_header *h = header_of(us, offset);

	return h ? h->end - h->offset : 0;
}

/* The place of the unit that was not used for longest. */
static struct open_unit *free_place(struct die_units *us)
{
	struct open_unit *o = NULL;

	for (unsigned i = 0; i < NR_OPEN; i++)
		if (&us->open[i].u != us->kept && (!o || us->open[i].used < o->used))
			o = &us->open[i];
	return o;
}

void die_units_keep(struct die_units *us, const struct die_unit *u)
{
	us->kept = u;
}

/* Those of a unit that is open, if it has the same ones, or NULL. */
static struct die_abbrevs *find_abbrevs(struct die_units *us, const struct unit_header *h)
{
	for (unsigned i = 0; i < NR_OPEN; i++) {
		struct open_unit *o = &us->open[i];

		if (o->used && o->abbrevs_at == h->abbrevs &&
		    !memcmp(&o->abbrevs->sizes, &h->sizes, sizeof(h->sizes)))
			return die_abbrevs_share(o->abbrevs);
	}
	return NULL;
}

/* All units of a program may have the same abbreviations (clang's, optimised when linking). */
static int need_abbrevs(struct die_units *us, const struct unit_header *h, struct open_unit *o,
			struct work_limit *w)
{
	struct byte_reader r = debug_bytes_from(us->s, DEBUG_ABBREV, h->abbrevs);
	struct die_abbrevs *known = find_abbrevs(us, h);
	const uint8_t *begin = r.p;
	int err = 0;

	close_unit(o);
	o->abbrevs = known;
	o->abbrevs_at = h->abbrevs;
	if (!known)
		err = die_abbrevs_read(&r, &h->sizes, &o->abbrevs);
	work_go_on(w, (size_t)(r.p - begin) / STEP_BYTES);	/* also of a damaged one */
	return err;
}

static int begin_unit(struct die_units *us, const struct unit_header *h, struct open_unit *o,
		      struct work_limit *w)
{
	int err;

	if (h->is_unknown)
		return -ENOTSUP;
	err = need_abbrevs(us, h, o, w);
	o->u = (struct die_unit){ .s = us->s, .alt = us->alt ? us->alt->s : NULL,
				  .offset = h->offset, .end = h->end,
				  .first = h->offset + h->len, .sizes = h->sizes,
				  .abbrevs = o->abbrevs, .id = h->id,
				  .skeleton = us->has_skeleton ? &us->skeleton : NULL };
	if (!err)
		err = die_unit_begin(&o->u, w);
	if (err)
		close_unit(o);
	return err;
}

static struct open_unit *find_open(struct die_units *us, uint64_t offset)
{
	for (unsigned i = 0; i < NR_OPEN; i++) {
		struct open_unit *o = &us->open[(us->last + i) % NR_OPEN];

		if (o->used && offset >= o->u.offset && offset < o->u.end)
			return o;
	}
	return NULL;
}

const struct die_unit *die_units_open(struct die_units *us, uint64_t offset, struct work_limit *w,
				      int *err)
{
	struct open_unit *o = find_open(us, offset);
	const struct unit_header *h = o ? NULL : header_of(us, offset);

	*err = o || h ? 0 : -EBADMSG;
	if (h) {
		o = free_place(us);
		*err = begin_unit(us, h, o, w);
	}
	if (*err)
		return NULL;
	o->used = ++us->nr_uses;
	us->last = (unsigned)(o - us->open);
	return &o->u;
}

const struct die_unit *die_units_find_split(struct die_units *us, uint64_t id,
					    struct work_limit *w, int *err)
{
	for (size_t i = 0; i < us->nr && work_go_on(w, 1); i++) {
		const struct unit_header *h = &us->v[i];
		const struct die_unit *u;

		/* In gcc's extension of version 4 only the entry says which unit it is. */
		if (h->sizes.version >= 5 && (h->type != DW_UT_split_compile || h->id != id))
			continue;
		u = die_units_open(us, h->offset, w, err);
		if (u && u->id == id && u->entry.abbrev->tag == DW_TAG_compile_unit)
			return u;
	}
	*err = w->is_up ? -ETIMEDOUT : -ENOENT;
	return NULL;
}

struct line_program *die_units_lines(struct die_units *us, const struct die_unit *u,
				     struct work_limit *w)
{
	struct open_unit *o = find_open(us, u->offset);

	if (o && !o->are_lines_tried) {
		o->are_lines_tried = true;
		if (line_program_open(&o->u, w, &o->lines))
			o->lines = NULL;
	}
	return o ? o->lines : NULL;
}

/* ---- references ---- */

bool die_units_refer(struct die_units *us, const struct die_unit *u, const struct die *d,
		    enum die_slot slot, struct die_ref *ref)
{
	const struct die_value *v = &d->value[slot];

	if (!die_has(d, slot) || v->class != CLASS_REF)
		return false;
	*ref = (struct die_ref){ us, v->v };
	switch (v->form) {
	case DW_FORM_ref_sig8: return false;
	case DW_FORM_ref_addr: return true;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8: ref->units = us->alt; return us->alt != NULL;
	default: ref->offset += u->offset; return v->v < u->end - u->offset;
	}
}

const struct die_unit *die_units_read(const struct die_ref *ref, struct work_limit *w,
				      struct die *d)
{
	int err;
	const struct die_unit *u = die_units_open(ref->units, ref->offset, w, &err);
	struct byte_reader r;

	if (!u)
		return NULL;
	r = die_reader(u, ref->offset);
	if (ref->offset < u->first || die_next(u, &r, d) != DIE_ENTRY)
		return NULL;
	die_read(u, &r, d, w);
	return r.bad ? NULL : u;
}
