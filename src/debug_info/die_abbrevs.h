/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Abbreviations: how the entries of a compilation unit are written (DWARF 5, 7.5.3).
 *
 *	die_abbrevs_read(&r, &sizes, &a)	from .debug_abbrev
 *	die_abbrevs_find(a, code)
 *	die_abbrevs_share(a)			for one user more
 *	die_abbrevs_free(a)			by each user
 *
 * An entry begins with the code of an abbreviation, which says its tag and the list of its
 * attributes, each with the form in which its value follows. Most attributes of most entries are of
 * no interest here, and what is of no interest is only in the way. So each list is turned into two
 * lists of steps: one that reads the wanted attributes, and one that comes past the entry. Values
 * of no interest whose sizes are fixed become one step, and most entries have no other ones.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/base/hash_index.h"

/* The attributes that are read. */
enum die_slot {
	DIE_NO_SLOT,
	DIE_SIBLING,
	DIE_NAME,
	DIE_LINKAGE_NAME,
	DIE_MIPS_LINKAGE_NAME,
	DIE_ABSTRACT_ORIGIN,
	DIE_SPECIFICATION,
	DIE_LOW_PC,
	DIE_HIGH_PC,
	DIE_RANGES,
	DIE_ENTRY_PC,
	DIE_DECL_FILE,
	DIE_DECL_LINE,
	DIE_CALL_FILE,
	DIE_CALL_LINE,
	DIE_CALL_COLUMN,
	/* Attributes of units. */
	DIE_COMP_DIR,
	DIE_STMT_LIST,
	DIE_LANGUAGE,
	DIE_STR_OFFSETS_BASE,
	DIE_ADDR_BASE,
	DIE_RNGLISTS_BASE,
	DIE_DWO_NAME,			/* this and the next one: of gcc's extension, too */
	DIE_DWO_ID,
	DIE_GNU_RANGES_BASE,
	DIE_DECLARATION,
	NR_DIE_SLOTS,
};

static inline uint32_t die_bit(enum die_slot slot)
{
	return 1u << slot;
}

/* How the value of a form is written. */
enum form_kind {
	FORM_UNKNOWN,
	FORM_FIXED,		/* size bytes */
	FORM_ADDRESS,		/* becomes FORM_FIXED by the sizes of the unit, as the next two */
	FORM_OFFSET,
	FORM_REFERENCE,		/* an address in DWARF 2, else an offset */
	FORM_UNSIGNED,		/* LEB128 */
	FORM_SIGNED,
	FORM_STRING,		/* up to a NUL */
	FORM_BLOCK,		/* size bytes say how many follow */
	FORM_LONG_BLOCK,	/* a LEB128 says how many */
	FORM_CONST,		/* in the abbreviation */
	FORM_INDIRECT,		/* a LEB128 says which form follows */
};

/* What a value means. */
enum form_class { CLASS_OTHER, CLASS_ADDRESS, CLASS_NUMBER, CLASS_STRING, CLASS_REF };

/* The sizes in bytes that a unit says. */
struct die_sizes {
	uint8_t version, address, offset;
};

/* size 0 for kinds that need none. An unknown form is FORM_UNKNOWN. */
enum form_kind form_kind(unsigned form, const struct die_sizes *sizes, uint32_t *size);
enum form_class form_class(unsigned form);

struct die_step {
	uint8_t kind, slot;
	uint16_t form;
	uint32_t size : 24;
	uint32_t class : 8;
	int64_t value;			/* of FORM_CONST */
};

struct die_abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	uint8_t sibling_size;		/* 0: no sibling, or not at a fixed place */
	uint32_t sibling_at;		/* behind the code */
	uint32_t size;			/* of the values, or DIE_VARIES */
	uint32_t slots;			/* bits of those that it has */
	uint32_t reads, nr_reads;	/* in steps */
	uint32_t skips, nr_skips;
};

#define DIE_VARIES UINT32_MAX

struct die_abbrevs {
	struct die_abbrev *v;
	size_t nr, cap;
	struct die_step *steps;
	size_t nr_steps, cap_steps;
	struct hash_index index;	/* of codes that are not in order */
	struct die_sizes sizes;		/* that it was read for */
	unsigned nr_users;
};

/* Reads up to the end of the table. 0, -EBADMSG, -ENOTSUP (there are too many) or -ENOMEM. */
int die_abbrevs_read(struct byte_reader *r, const struct die_sizes *sizes, struct die_abbrevs **ap);
struct die_abbrevs *die_abbrevs_share(struct die_abbrevs *a);
void die_abbrevs_free(struct die_abbrevs *a);		/* NULL is fine */

const struct die_abbrev *die_abbrevs_find_other(const struct die_abbrevs *a, uint64_t code);

/* NULL: there is none. Compilers count codes from 1 on. */
static inline const struct die_abbrev *die_abbrevs_find(const struct die_abbrevs *a, uint64_t code)
{
	if (code - 1 < a->nr && a->v[code - 1].code == code)
		return &a->v[code - 1];
	return die_abbrevs_find_other(a, code);
}

/* LEB128, of which most numbers have one byte. */
static inline int64_t die_signed(struct byte_reader *r)
{
	if (r->p < r->end && *r->p < 0x40)
		return *r->p++;
	return br_sleb(r);
}

static inline uint64_t die_unsigned(struct byte_reader *r)
{
	if (r->p < r->end && *r->p < 0x80)
		return *r->p++;
	return br_uv(r);
}
