/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/dwp_index.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "src/base/bytes.h"

#define MAX_COLUMNS 16

struct header {
	uint32_t version, columns, units, slots;
};

struct dwp_index {
	struct header head;
	struct byte_reader ids, rows;	/* of the slots of the hash table */
	struct byte_reader table;	/* the kinds of sections, all offsets, and all sizes */
};

static bool read_header(struct byte_reader *r, struct header *h)
{
	h->version = br_u32(r) & 0xffff;	/* of version 5 it is half as long */
	h->columns = br_u32(r);
	h->units = br_u32(r);
	h->slots = br_u32(r);
	return !r->bad && (h->version == 2 || h->version == 5) && h->columns &&
	       h->columns <= MAX_COLUMNS && h->slots && !(h->slots & (h->slots - 1));
}

static bool open_index(const struct debug_bytes *bytes, struct dwp_index *x)
{
	struct byte_reader r = br_make(bytes->v, bytes->len);

	if (!read_header(&r, &x->head))
		return false;
	x->ids = br_sub(&r, (uint64_t)x->head.slots * 8);
	x->rows = br_sub(&r, (uint64_t)x->head.slots * 4);
	x->table = r;
	return !r.bad;
}

static uint32_t u32_at(struct byte_reader r, uint64_t at)
{
	br_bytes(&r, at * 4);
	return br_u32(&r);
}

static uint64_t u64_at(struct byte_reader r, uint64_t at)
{
	br_bytes(&r, at * 8);
	return br_u64(&r);
}

/* The row of a unit, from 1 on; 0: there is none. */
static uint32_t find_row(const struct dwp_index *x, uint64_t id)
{
	uint32_t mask = x->head.slots - 1, at = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t i = 0; i < x->head.slots; i++, at = (at + step) & mask) {
		uint32_t row = u32_at(x->rows, at);

		if (!row)
			return 0;
		if (u64_at(x->ids, at) == id)
			return row <= x->head.units ? row : 0;
	}
	return 0;
}

/* Which section a column is of, by its number there; NR_DEBUG_PARTS: none that is read. */
static enum debug_part part_of(uint32_t version, uint32_t number)
{
	switch (number) {
	case 1: return DEBUG_INFO;
	case 3: return DEBUG_ABBREV;
	case 6: return DEBUG_STR_OFFSETS;
	case 8: return version == 5 ? DEBUG_RNGLISTS : NR_DEBUG_PARTS;
	default: return NR_DEBUG_PARTS;
	}
}

static void cut(const struct debug_bytes *whole, uint64_t offset, uint64_t len,
		struct debug_bytes *out)
{
	if (offset <= whole->len && len <= whole->len - offset)
		*out = (struct debug_bytes){ whole->v + offset, len };
}

int dwp_index_find(const struct debug_bytes *index, const struct debug_sections *package,
		   uint64_t id, struct debug_sections *of)
{
	struct dwp_index x;
	uint32_t row;

	memset(of, 0, sizeof(*of));
	if (!open_index(index, &x))
		return -EBADMSG;
	row = find_row(&x, id);
	for (uint32_t i = 0; row && i < x.head.columns; i++) {
		uint64_t at = (uint64_t)x.head.columns * row + i;
		uint64_t size_at = at + (uint64_t)x.head.columns * x.head.units;
		enum debug_part part = part_of(x.head.version, u32_at(x.table, i));

		if (part != NR_DEBUG_PARTS)
			cut(&package->part[part], u32_at(x.table, at), u32_at(x.table, size_at),
			    &of->part[part]);
	}
	of->part[DEBUG_STR] = package->part[DEBUG_STR];
	return of->part[DEBUG_INFO].len ? 0 : -ENOENT;
}
