/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/die_ranges.h"

#include <dwarf.h>

#include "src/debug_info/die_cursor.h"

/* Where the list of an entry begins in its section. */
static bool list_offset(const struct die_unit *u, const struct die *d, uint64_t *offset)
{
	struct byte_reader table;
	unsigned size = u->sizes.offset;

	if (!die_number(d, DIE_RANGES, offset))
		return false;
	if (d->value[DIE_RANGES].form != DW_FORM_rnglistx) {
		*offset += u->sizes.version < 5 ? u->ranges_base : 0;
		return true;
	}
	table = debug_bytes_from(u->s, DEBUG_RNGLISTS, u->rnglists_base);
	if (*offset >= br_left(&table) / size)
		return false;
	br_bytes(&table, *offset * size);
	*offset = u->rnglists_base + br_fixed(&table, size);
	return !table.bad;
}

struct die_ranges die_ranges_begin(const struct die_unit *u, const struct die *d)
{
	struct die_ranges it = { .u = u, .base = u->base };
	enum debug_part part = u->sizes.version < 5 ? DEBUG_RANGES : DEBUG_RNGLISTS;
	uint64_t length, offset;

	if (die_address(u, d, DIE_LOW_PC, &it.lo)) {
		it.is_one = die_address(u, d, DIE_HIGH_PC, &it.hi);
		if (!it.is_one && die_number(d, DIE_HIGH_PC, &length)) {
			it.hi = it.lo + length;
			it.is_one = true;
		}
	}
	if (!it.is_one && list_offset(u, d, &offset)) {
		it.r = debug_bytes_from(u->s, part, offset);
		it.is_list = true;
	}
	return it;
}

static bool next_pair(struct die_ranges *it, uint64_t *lo, uint64_t *hi)
{
	unsigned size = it->u->sizes.address;
	uint64_t a = br_fixed(&it->r, size), b = br_fixed(&it->r, size);
	uint64_t all = size < 8 ? UINT32_MAX : UINT64_MAX;

	if (it->r.bad || (!a && !b))
		return false;
	*lo = *hi = 0;
	if (a == all) {
		it->base = b;
		return true;
	}
	*lo = it->base + a;
	*hi = it->base + b;
	return true;
}

static bool address_by_index(struct die_ranges *it, uint64_t *v)
{
	return die_address_at(it->u, br_uv(&it->r), v);
}

static bool next_entry(struct die_ranges *it, uint64_t *lo, uint64_t *hi)
{
	unsigned size = it->u->sizes.address;
	struct byte_reader *r = &it->r;
	bool is_known = true;

	*lo = *hi = 0;
	switch (br_u8(r)) {
	case DW_RLE_base_addressx: is_known = address_by_index(it, &it->base); break;
	case DW_RLE_base_address: it->base = br_fixed(r, size); break;
	case DW_RLE_startx_endx:
		is_known = address_by_index(it, lo) && address_by_index(it, hi);
		break;
	case DW_RLE_startx_length:
		is_known = address_by_index(it, lo);
		*hi = *lo + br_uv(r);
		break;
	case DW_RLE_offset_pair:
		*lo = it->base + br_uv(r);
		*hi = it->base + br_uv(r);
		break;
	case DW_RLE_start_end:
		*lo = br_fixed(r, size);
		*hi = br_fixed(r, size);
		break;
	case DW_RLE_start_length:
		*lo = br_fixed(r, size);
		*hi = *lo + br_uv(r);
		break;
	default: return false;		/* the end, or an unknown kind */
	}
	return is_known && !r->bad;
}

bool die_ranges_next(struct die_ranges *it, uint64_t *lo, uint64_t *hi)
{
	if (it->is_one) {
		it->is_one = false;
		*lo = it->lo;
		*hi = it->hi;
		return true;
	}
	if (!it->is_list)
		return false;
	return it->u->sizes.version < 5 ? next_pair(it, lo, hi) : next_entry(it, lo, hi);
}
