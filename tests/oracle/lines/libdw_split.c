/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/oracle/lines/libdw_split.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/debug_info/debug_section.h"
#include "tests/oracle/lines/libdw_table.h"

#define MAX_UNITS 65536			/* of a .dwo file that are looked at */
#define RNGLISTS_HEADER 12		/* bytes, of the 32-bit format (DWARF 5, 7.28) */

struct libdw_split {
	Elf *elf;			/* of the .dwo file; borrowed */
	Dwarf *dwarf;
	Dwarf_Die die;
	struct byte_reader info;	/* .debug_info.dwo, where attributes are */
	struct byte_reader addrs;	/* .debug_addr, from the part of this unit on */
	struct byte_reader ranges;	/* the section that range lists are in */
	uint64_t ranges_base;
	uint64_t base;			/* address that range lists begin with */
	bool is_5;			/* DWARF 5 */
};

static const char *string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, name, &a) ? dwarf_formstring(&a) : NULL;
}

const char *libdw_split_name(Dwarf_Die *skeleton)
{
	const char *name = string_of(skeleton, DW_AT_dwo_name);

	return name ? name : string_of(skeleton, DW_AT_GNU_dwo_name);
}

/* ---- opening ---- */

static struct byte_reader section_of(Elf *elf, const char *name)
{
	Elf_Scn *scn = debug_section(elf, name);
	const Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	return br_make(data ? data->d_buf : NULL, data && data->d_buf ? data->d_size : 0);
}

static uint64_t number_of(Dwarf_Die *die, unsigned name, unsigned gnu_name)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	if (!dwarf_attr(die, name, &a) && !dwarf_attr(die, gnu_name, &a))
		return 0;
	return dwarf_formudata(&a, &v) ? 0 : v;
}

uint64_t libdw_split_id(Dwarf_Die *die)
{
	uint64_t id = 0;

	if (dwarf_cu_info(die->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL))
		return 0;
	return id ? id : number_of(die, DW_AT_GNU_dwo_id, DW_AT_GNU_dwo_id);
}

static int find_unit(struct libdw_split *u, uint64_t id)
{
	Dwarf_CU *cu = NULL;

	for (unsigned i = 0; i < MAX_UNITS; i++) {
		if (dwarf_get_units(u->dwarf, cu, &cu, NULL, NULL, &u->die, NULL))
			return -ENOENT;
		if (dwarf_tag(&u->die) == DW_TAG_compile_unit && libdw_split_id(&u->die) == id)
			return 0;
	}
	return -ENOENT;
}

static void read_bases(struct libdw_split *u, Dwarf_Die *skeleton, Elf *elf)
{
	Dwarf_Half version = 4;
	Dwarf_Addr low;

	dwarf_cu_info(skeleton->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
	u->is_5 = version >= 5;
	u->info = section_of(u->elf, ".debug_info.dwo");
	u->addrs = section_of(elf, ".debug_addr");
	br_bytes(&u->addrs, number_of(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base));
	u->ranges = u->is_5 ? section_of(u->elf, ".debug_rnglists.dwo")
			    : section_of(elf, ".debug_ranges");
	u->ranges_base = RNGLISTS_HEADER;
	if (!u->is_5)
		u->ranges_base = number_of(skeleton, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
	u->base = dwarf_lowpc(skeleton, &low) ? 0 : low;
}

int libdw_split_open(Dwarf_Die *skeleton, Elf *elf, Elf *dwo, struct libdw_split **up)
{
	struct libdw_split *u = calloc(1, sizeof(*u));
	int err = 0;

	if (!u)
		return -ENOMEM;
	u->elf = dwo;
	u->dwarf = u->elf ? dwarf_begin_elf(u->elf, DWARF_C_READ, NULL) : NULL;
	err = u->dwarf ? find_unit(u, libdw_split_id(skeleton)) : -EBADMSG;
	if (!err)
		read_bases(u, skeleton, elf);
	if (err)
		libdw_split_close(u);
	else
		*up = u;
	return err;
}

void libdw_split_close(struct libdw_split *u)
{
	if (!u)
		return;
	dwarf_end(u->dwarf);
	free(u);
}

Dwarf_Die libdw_split_die(const struct libdw_split *u)
{
	return u->die;
}

/* ---- addresses ---- */

/* An address by its number. false: there is none. */
static bool addr_at(const struct libdw_split *u, uint64_t index, uint64_t *addr)
{
	struct byte_reader r = u->addrs;

	if (index >= br_left(&r) / 8)
		return false;
	br_bytes(&r, index * 8);
	*addr = br_u64(&r);
	return !r.bad;
}

/* Reads the value of an attribute from where it is in .debug_info.dwo. */
static struct byte_reader value_of(const struct libdw_split *u, const Dwarf_Attribute *a)
{
	struct byte_reader r = u->info;

	if (a->valp < r.p || a->valp > r.end)
		return br_make(NULL, 0);
	r.p = a->valp;
	return r;
}

static bool address_of(const struct libdw_split *u, Dwarf_Attribute *a, uint64_t *addr)
{
	struct byte_reader r = value_of(u, a);
	uint64_t index;

	switch (dwarf_whatform(a)) {
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index: index = br_uv(&r); break;
	case DW_FORM_addrx1: index = br_fixed(&r, 1); break;
	case DW_FORM_addrx2: index = br_fixed(&r, 2); break;
	case DW_FORM_addrx3: index = br_fixed(&r, 3); break;
	case DW_FORM_addrx4: index = br_fixed(&r, 4); break;
	case DW_FORM_addr: *addr = br_u64(&r); return !r.bad;
	default: return false;
	}
	return !r.bad && addr_at(u, index, addr);
}

bool libdw_split_entry(const struct libdw_split *u, Dwarf_Die *die, uint64_t *addr)
{
	Dwarf_Attribute a;

	return (dwarf_attr(die, DW_AT_entry_pc, &a) || dwarf_attr(die, DW_AT_low_pc, &a)) &&
	       address_of(u, &a, addr);
}

struct list {
	struct addr_range *v;
	size_t nr, max;
};

static void put(struct list *l, uint64_t lo, uint64_t hi)
{
	if (hi > lo && l->nr < l->max)
		l->v[l->nr++] = (struct addr_range){ lo, hi };
}

/* Adds one entry of a list of DWARF 5 (7.25). false: it was the last one. */
static bool put_entry(const struct libdw_split *u, struct byte_reader *r, uint64_t *base,
		      struct list *l)
{
	uint64_t lo = 0, hi = 0;
	uint8_t kind = br_u8(r);

	switch (kind) {
	case DW_RLE_base_addressx: return addr_at(u, br_uv(r), base);
	case DW_RLE_base_address: *base = br_u64(r); return !r->bad;
	case DW_RLE_startx_endx:
		if (!addr_at(u, br_uv(r), &lo) || !addr_at(u, br_uv(r), &hi))
			return false;
		break;
	case DW_RLE_startx_length:
		if (!addr_at(u, br_uv(r), &lo))
			return false;
		hi = lo + br_uv(r);
		break;
	case DW_RLE_offset_pair:
		lo = *base + br_uv(r);
		hi = *base + br_uv(r);
		break;
	case DW_RLE_start_end:
		lo = br_u64(r);
		hi = br_u64(r);
		break;
	case DW_RLE_start_length:
		lo = br_u64(r);
		hi = lo + br_uv(r);
		break;
	default: return false;
	}
	if (!r->bad)
		put(l, lo, hi);
	return !r->bad;
}

/* Adds one entry of .debug_ranges (DWARF 4, 2.17.3). false: it was the last one. */
static bool put_pair(struct byte_reader *r, uint64_t *base, struct list *l)
{
	uint64_t lo = br_u64(r), hi = br_u64(r);

	if (r->bad || (!lo && !hi))
		return false;
	if (lo == UINT64_MAX)
		*base = hi;
	else
		put(l, *base + lo, *base + hi);
	return true;
}

/* Where the list of an attribute begins in its section. */
static bool list_offset(const struct libdw_split *u, Dwarf_Attribute *a, uint64_t *offset)
{
	struct byte_reader value = value_of(u, a), table = u->ranges;
	uint64_t index;

	if (dwarf_whatform(a) != DW_FORM_rnglistx) {
		*offset = br_fixed(&value, 4);
		*offset += u->is_5 ? 0 : u->ranges_base;
		return !value.bad;
	}
	index = br_uv(&value);
	if (value.bad || index > br_left(&table) / 4)
		return false;
	br_bytes(&table, u->ranges_base + index * 4);
	*offset = u->ranges_base + br_fixed(&table, 4);
	return !table.bad;
}

static void put_list(const struct libdw_split *u, Dwarf_Attribute *a, struct list *l)
{
	struct byte_reader r = u->ranges;
	uint64_t base = u->base, offset;

	if (!list_offset(u, a, &offset))
		return;
	br_bytes(&r, offset);
	while (l->nr < l->max && !r.bad &&
	       (u->is_5 ? put_entry(u, &r, &base, l) : put_pair(&r, &base, l)))
		;
}

size_t libdw_split_ranges(const struct libdw_split *u, Dwarf_Die *die, struct addr_range *v,
			 size_t max)
{
	struct list l = { .v = v, .max = max };
	uint64_t lo, hi;
	Dwarf_Attribute a;
	Dwarf_Word len;

	if (dwarf_attr(die, DW_AT_low_pc, &a) && address_of(u, &a, &lo) &&
	    dwarf_attr(die, DW_AT_high_pc, &a)) {
		if (address_of(u, &a, &hi))
			put(&l, lo, hi);
		else if (!dwarf_formudata(&a, &len))
			put(&l, lo, lo + len);
	} else if (dwarf_attr(die, DW_AT_ranges, &a)) {
		put_list(u, &a, &l);
	}
	return l.nr;
}
