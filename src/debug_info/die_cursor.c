/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/die_cursor.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "src/debug_info/work_limit.h"

#define STRING_STEP 64			/* bytes of a string that count as a step */

/* ---- values ---- */

static inline uint64_t fixed_of(struct byte_reader *r, uint32_t size)
{
	const uint8_t *p = br_bytes(r, size);
	uint64_t v = 0;

	if (!p)
		return 0;
	if (size == 4)
		return (uint32_t)(p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24);
	if (size == 1)
		return *p;
	memcpy(&v, p, size < 8 ? size : 8);
	return v;
}

static void skip_string(struct byte_reader *r)
{
	const uint8_t *end = r->bad ? NULL : memchr(r->p, 0, br_left(r));

	br_bytes(r, end ? (uint64_t)(end - r->p) + 1 : UINT64_MAX);
}

/* Reads a value whose form is known; that of a string is where it is behind begin. */
static uint64_t value_of(struct byte_reader *r, unsigned kind, uint32_t size, const uint8_t *begin)
{
	uint64_t v = 0;

	switch (kind) {
	case FORM_FIXED: return fixed_of(r, size);
	case FORM_UNSIGNED: return die_unsigned(r);
	case FORM_SIGNED: return (uint64_t)br_sleb(r);
	case FORM_BLOCK: br_bytes(r, br_fixed(r, size)); break;
	case FORM_LONG_BLOCK: br_bytes(r, die_unsigned(r)); break;
	case FORM_STRING:
		v = (uint64_t)(r->p - begin);
		skip_string(r);
		break;
	default: r->bad = true;
	}
	return v;
}

bool die_read_value(struct byte_reader *r, const struct die_sizes *sizes, unsigned form,
		    const uint8_t *begin, struct die_value *v)
{
	uint32_t size;
	enum form_kind kind = form_kind(form, sizes, &size);

	*v = (struct die_value){ value_of(r, kind, size, begin), (uint16_t)form,
				  (uint8_t)form_class(form) };
	return !r->bad;
}

static void read_step(const struct die_unit *u, struct byte_reader *r, const struct die_step *s,
		      struct die_value *v)
{
	const uint8_t *begin = u->s->part[DEBUG_INFO].v;
	uint64_t form;

	v->form = s->form;
	v->class = s->class;
	if (s->kind == FORM_CONST) {
		v->v = (uint64_t)s->value;
	} else if (s->kind == FORM_INDIRECT) {
		form = die_unsigned(r);
		if (form > UINT16_MAX || !die_read_value(r, &u->sizes, (unsigned)form, begin, v))
			r->bad = true;
	} else {
		v->v = value_of(r, s->kind, s->size, begin);
	}
}

/* ---- entries ---- */

struct byte_reader die_reader(const struct die_unit *u, uint64_t offset)
{
	const struct debug_bytes *info = &u->s->part[DEBUG_INFO];
	struct byte_reader r = br_make(info->v, u->end);

	br_bytes(&r, offset);
	return r;
}

/* Strings are searched for their ends, which takes time that their number does not say. */
static void count(struct work_limit *w, uint32_t nr_steps, const uint8_t *from, const uint8_t *to)
{
	work_go_on(w, nr_steps + (uint64_t)(to - from) / STRING_STEP);
}

void die_read(const struct die_unit *u, struct byte_reader *r, struct die *d, struct work_limit *w)
{
	const struct die_step *s = u->abbrevs->steps + d->abbrev->reads;
	const uint8_t *from = r->p;
	struct die_value ignored;

	d->have = d->abbrev->slots;
	for (uint32_t i = 0; i < d->abbrev->nr_reads; i++, s++) {
		if (s->kind != FORM_FIXED)
			read_step(u, r, s, s->slot ? &d->value[s->slot] : &ignored);
		else if (s->slot)
			d->value[s->slot] = (struct die_value){ fixed_of(r, s->size), s->form,
								s->class };
		else
			br_bytes(r, s->size);
	}
	count(w, d->abbrev->nr_reads, from, r->p);
}

/* Goes to a sibling, which is an offset in the unit. false: it does not lead forward. */
static bool jump(const struct die_unit *u, struct byte_reader *r, uint64_t sibling)
{
	const uint8_t *to;

	if (r->bad || sibling >= u->end - u->offset)
		return false;
	to = u->s->part[DEBUG_INFO].v + u->offset + sibling;
	if (to <= r->p)
		return false;
	r->p = to;
	return true;
}

/* *sibling: 0 if there is none. */
static void skip_steps(const struct die_unit *u, struct byte_reader *r, const struct die_abbrev *a,
		       uint64_t *sibling, struct work_limit *w)
{
	const struct die_step *s = u->abbrevs->steps + a->skips;
	const uint8_t *from = r->p;
	struct die_value v = { 0 };

	for (uint32_t i = 0; i < a->nr_skips; i++, s++) {
		if (!s->slot && s->kind == FORM_FIXED) {
			br_bytes(r, s->size);
			continue;
		}
		if (!s->slot && s->kind == FORM_LONG_BLOCK) {
			br_bytes(r, die_unsigned(r));
			continue;
		}
		if (!s->slot && s->kind == FORM_UNSIGNED) {
			die_unsigned(r);
			continue;
		}
		read_step(u, r, s, &v);
		if (s->slot && v.class == CLASS_REF && v.form != DW_FORM_ref_addr)
			*sibling = v.v;
	}
	count(w, a->nr_skips, from, r->p);
}

static inline void skip(const struct die_unit *u, struct byte_reader *r, const struct die_abbrev *a,
			uint64_t *sibling, struct work_limit *w)
{
	struct byte_reader at = *r;

	if (a->size == DIE_VARIES) {
		skip_steps(u, r, a, sibling, w);
		return;
	}
	work_go_on(w, 1);
	br_bytes(r, a->size);
	if (a->sibling_size && !r->bad) {
		at.p += a->sibling_at;
		*sibling = fixed_of(&at, a->sibling_size);
	}
}

void die_skip(const struct die_unit *u, struct byte_reader *r, const struct die_abbrev *a,
	      struct work_limit *w)
{
	uint64_t sibling;

	skip(u, r, a, &sibling, w);
}

void die_skip_tree(const struct die_unit *u, struct byte_reader *r, const struct die_abbrev *a,
		   struct work_limit *w)
{
	enum die_found found = DIE_ENTRY;
	uint64_t depth = 0, sibling;

	do {
		if (found == DIE_ENTRY) {
			sibling = 0;
			skip(u, r, a, &sibling, w);
			depth += a->has_children && !(sibling && jump(u, r, sibling));
		} else {
			depth--;
		}
		found = depth ? die_next_abbrev(u, r, &a) : DIE_END;
	} while (depth && found != DIE_DAMAGED && !w->is_up);
	r->bad |= found == DIE_DAMAGED;
}

void die_skip_children(const struct die_unit *u, struct byte_reader *r, const struct die *d,
		       struct work_limit *w)
{
	const struct die_value *v = &d->value[DIE_SIBLING];
	const struct die_abbrev *a;
	enum die_found found;

	if (!d->abbrev->has_children)
		return;
	if (die_has(d, DIE_SIBLING) && v->class == CLASS_REF && v->form != DW_FORM_ref_addr &&
	    jump(u, r, v->v))
		return;
	while (!r->bad && !w->is_up && (found = die_next_abbrev(u, r, &a)) != DIE_END) {
		if (found == DIE_DAMAGED)
			r->bad = true;
		else
			die_skip_tree(u, r, a, w);
	}
}

/* ---- what values stand for ---- */

/* An entry of a table of numbers. */
static bool table_at(const struct die_unit *u, enum debug_part part, uint64_t base, uint64_t index,
		     unsigned size, uint64_t *v)
{
	struct byte_reader r = debug_bytes_from(u->s, part, base);

	if (index >= br_left(&r) / size)
		return false;
	br_bytes(&r, index * size);
	*v = fixed_of(&r, size);
	return !r.bad;
}

bool die_address_at(const struct die_unit *u, uint64_t index, uint64_t *v)
{
	return table_at(u, DEBUG_ADDR, u->addr_base, index, u->sizes.address, v);
}

bool die_address(const struct die_unit *u, const struct die *d, enum die_slot slot, uint64_t *v)
{
	const struct die_value *x = &d->value[slot];

	if (!die_has(d, slot) || x->class != CLASS_ADDRESS)
		return false;
	if (x->form != DW_FORM_addr)
		return die_address_at(u, x->v, v);
	*v = x->v;
	return true;
}

const char *die_string(const struct die_unit *u, const struct die_value *v)
{
	uint64_t at = v->v;

	switch (v->form) {
	case DW_FORM_string: return (const char *)u->s->part[DEBUG_INFO].v + at;
	case DW_FORM_strp: return debug_string_at(u->s, DEBUG_STR, at);
	case DW_FORM_line_strp: return debug_string_at(u->s, DEBUG_LINE_STR, at);
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup: return u->alt ? debug_string_at(u->alt, DEBUG_STR, at) : NULL;
	default: break;
	}
	if (v->class != CLASS_STRING ||
	    !table_at(u, DEBUG_STR_OFFSETS, u->str_offsets_base, at, u->sizes.offset, &at))
		return NULL;
	return debug_string_at(u->s, DEBUG_STR, at);
}

/* ---- units ---- */

/*
 * The base that an attribute says; without it, that behind the header of the first table. Before
 * DWARF 5 tables have no headers.
 */
static uint64_t base_of(const struct die_unit *u, enum die_slot slot, unsigned header)
{
	uint64_t v = u->sizes.version < 5 ? 0 : header + (u->sizes.offset == 8 ? 8 : 0);

	die_number(&u->entry, slot, &v);
	return v;
}

/* Addresses are in the skeleton's file. */
static void take_bases(struct die_unit *u, const struct die_skeleton *k)
{
	u->addr_base = k->addr_base;
	u->ranges_base = k->ranges_base;
	u->base = k->base;
}

int die_unit_begin(struct die_unit *u, struct work_limit *w)
{
	struct byte_reader r = die_reader(u, u->first);

	u->entry.have = 0;
	if (die_next(u, &r, &u->entry) != DIE_ENTRY)
		return -EBADMSG;
	die_read(u, &r, &u->entry, w);
	if (r.bad)
		return -EBADMSG;
	u->str_offsets_base = base_of(u, DIE_STR_OFFSETS_BASE, 8);
	u->addr_base = base_of(u, DIE_ADDR_BASE, 8);
	u->rnglists_base = base_of(u, DIE_RNGLISTS_BASE, 12);
	u->ranges_base = u->base = 0;
	if (!u->id)
		die_number(&u->entry, DIE_DWO_ID, &u->id);
	if (u->skeleton)
		take_bases(u, u->skeleton);
	else if (!die_address(u, &u->entry, DIE_LOW_PC, &u->base))
		die_address(u, &u->entry, DIE_ENTRY_PC, &u->base);
	return 0;
}
