/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/die_abbrevs.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"

/* The largest units of C++ have 3,000 with 20 attributes each; these are 33 MiB. */
#define MAX_ABBREVS (128u << 10)
#define MAX_STEPS (1u << 20)
#define MAX_ATTRS 4096			/* of one */

/* ---- forms ---- */

struct form {
	uint8_t kind, size, class;
};

static const struct form standard[] = {
	[DW_FORM_addr] = { FORM_ADDRESS, 0, CLASS_ADDRESS },
	[DW_FORM_block2] = { FORM_BLOCK, 2, CLASS_OTHER },
	[DW_FORM_block4] = { FORM_BLOCK, 4, CLASS_OTHER },
	[DW_FORM_data2] = { FORM_FIXED, 2, CLASS_NUMBER },
	[DW_FORM_data4] = { FORM_FIXED, 4, CLASS_NUMBER },
	[DW_FORM_data8] = { FORM_FIXED, 8, CLASS_NUMBER },
	[DW_FORM_string] = { FORM_STRING, 0, CLASS_STRING },
	[DW_FORM_block] = { FORM_LONG_BLOCK, 0, CLASS_OTHER },
	[DW_FORM_block1] = { FORM_BLOCK, 1, CLASS_OTHER },
	[DW_FORM_data1] = { FORM_FIXED, 1, CLASS_NUMBER },
	[DW_FORM_flag] = { FORM_FIXED, 1, CLASS_OTHER },
	[DW_FORM_sdata] = { FORM_SIGNED, 0, CLASS_NUMBER },
	[DW_FORM_strp] = { FORM_OFFSET, 0, CLASS_STRING },
	[DW_FORM_udata] = { FORM_UNSIGNED, 0, CLASS_NUMBER },
	[DW_FORM_ref_addr] = { FORM_REFERENCE, 0, CLASS_REF },
	[DW_FORM_ref1] = { FORM_FIXED, 1, CLASS_REF },
	[DW_FORM_ref2] = { FORM_FIXED, 2, CLASS_REF },
	[DW_FORM_ref4] = { FORM_FIXED, 4, CLASS_REF },
	[DW_FORM_ref8] = { FORM_FIXED, 8, CLASS_REF },
	[DW_FORM_ref_udata] = { FORM_UNSIGNED, 0, CLASS_REF },
	[DW_FORM_indirect] = { FORM_INDIRECT, 0, CLASS_OTHER },
	[DW_FORM_sec_offset] = { FORM_OFFSET, 0, CLASS_NUMBER },
	[DW_FORM_exprloc] = { FORM_LONG_BLOCK, 0, CLASS_OTHER },
	[DW_FORM_flag_present] = { FORM_FIXED, 0, CLASS_OTHER },
	[DW_FORM_strx] = { FORM_UNSIGNED, 0, CLASS_STRING },
	[DW_FORM_addrx] = { FORM_UNSIGNED, 0, CLASS_ADDRESS },
	[DW_FORM_ref_sup4] = { FORM_FIXED, 4, CLASS_REF },
	[DW_FORM_strp_sup] = { FORM_OFFSET, 0, CLASS_STRING },
	[DW_FORM_data16] = { FORM_FIXED, 16, CLASS_OTHER },
	[DW_FORM_line_strp] = { FORM_OFFSET, 0, CLASS_STRING },
	[DW_FORM_ref_sig8] = { FORM_FIXED, 8, CLASS_REF },
	[DW_FORM_implicit_const] = { FORM_CONST, 0, CLASS_NUMBER },
	[DW_FORM_loclistx] = { FORM_UNSIGNED, 0, CLASS_NUMBER },
	[DW_FORM_rnglistx] = { FORM_UNSIGNED, 0, CLASS_NUMBER },
	[DW_FORM_ref_sup8] = { FORM_FIXED, 8, CLASS_REF },
	[DW_FORM_strx1] = { FORM_FIXED, 1, CLASS_STRING },
	[DW_FORM_strx2] = { FORM_FIXED, 2, CLASS_STRING },
	[DW_FORM_strx3] = { FORM_FIXED, 3, CLASS_STRING },
	[DW_FORM_strx4] = { FORM_FIXED, 4, CLASS_STRING },
	[DW_FORM_addrx1] = { FORM_FIXED, 1, CLASS_ADDRESS },
	[DW_FORM_addrx2] = { FORM_FIXED, 2, CLASS_ADDRESS },
	[DW_FORM_addrx3] = { FORM_FIXED, 3, CLASS_ADDRESS },
	[DW_FORM_addrx4] = { FORM_FIXED, 4, CLASS_ADDRESS },
};

#define GNU_FORMS 0x1f00

static const struct form gnu[] = {
	[DW_FORM_GNU_addr_index - GNU_FORMS] = { FORM_UNSIGNED, 0, CLASS_ADDRESS },
	[DW_FORM_GNU_str_index - GNU_FORMS] = { FORM_UNSIGNED, 0, CLASS_STRING },
	[DW_FORM_GNU_ref_alt - GNU_FORMS] = { FORM_OFFSET, 0, CLASS_REF },
	[DW_FORM_GNU_strp_alt - GNU_FORMS] = { FORM_OFFSET, 0, CLASS_STRING },
};

static struct form form_of(uint64_t form)
{
	if (form < sizeof(standard) / sizeof(standard[0]))
		return standard[form];
	if (form >= GNU_FORMS && form - GNU_FORMS < sizeof(gnu) / sizeof(gnu[0]))
		return gnu[form - GNU_FORMS];
	return (struct form){ 0 };
}

enum form_kind form_kind(unsigned form, const struct die_sizes *sizes, uint32_t *size)
{
	struct form f = form_of(form);

	*size = f.size;
	if (f.kind == FORM_ADDRESS || (f.kind == FORM_REFERENCE && sizes->version < 3))
		*size = sizes->address;
	else if (f.kind == FORM_OFFSET || f.kind == FORM_REFERENCE)
		*size = sizes->offset;
	else
		return f.kind;
	return FORM_FIXED;
}

enum form_class form_class(unsigned form)
{
	return form_of(form).class;
}

/* ---- attributes ---- */

static const uint8_t slots[] = {
	[DW_AT_sibling] = DIE_SIBLING,
	[DW_AT_name] = DIE_NAME,
	[DW_AT_linkage_name] = DIE_LINKAGE_NAME,
	[DW_AT_abstract_origin] = DIE_ABSTRACT_ORIGIN,
	[DW_AT_specification] = DIE_SPECIFICATION,
	[DW_AT_low_pc] = DIE_LOW_PC,
	[DW_AT_high_pc] = DIE_HIGH_PC,
	[DW_AT_ranges] = DIE_RANGES,
	[DW_AT_entry_pc] = DIE_ENTRY_PC,
	[DW_AT_decl_file] = DIE_DECL_FILE,
	[DW_AT_decl_line] = DIE_DECL_LINE,
	[DW_AT_call_file] = DIE_CALL_FILE,
	[DW_AT_call_line] = DIE_CALL_LINE,
	[DW_AT_call_column] = DIE_CALL_COLUMN,
	[DW_AT_comp_dir] = DIE_COMP_DIR,
	[DW_AT_stmt_list] = DIE_STMT_LIST,
	[DW_AT_language] = DIE_LANGUAGE,
	[DW_AT_str_offsets_base] = DIE_STR_OFFSETS_BASE,
	[DW_AT_addr_base] = DIE_ADDR_BASE,
	[DW_AT_rnglists_base] = DIE_RNGLISTS_BASE,
	[DW_AT_dwo_name] = DIE_DWO_NAME,
	[DW_AT_declaration] = DIE_DECLARATION,
};

/* What came before the split units of DWARF 5 (https://gcc.gnu.org/wiki/DebugFission). */
static uint8_t gnu_slot_of(uint64_t name)
{
	switch (name) {
	case DW_AT_MIPS_linkage_name: return DIE_MIPS_LINKAGE_NAME;
	case DW_AT_GNU_dwo_name: return DIE_DWO_NAME;
	case DW_AT_GNU_dwo_id: return DIE_DWO_ID;
	case DW_AT_GNU_ranges_base: return DIE_GNU_RANGES_BASE;
	case DW_AT_GNU_addr_base: return DIE_ADDR_BASE;
	default: return DIE_NO_SLOT;
	}
}

static uint8_t slot_of(uint64_t name)
{
	return name < sizeof(slots) ? slots[name] : gnu_slot_of(name);
}

/* The attributes of one abbreviation. */
struct attrs {
	struct die_step v[MAX_ATTRS];
	size_t nr;
};

/* Appends a step to a list that begins at first; steps of no interest and fixed size are joined. */
static int put_step(struct die_abbrevs *a, uint32_t first, const struct die_step *step,
		    bool is_wanted)
{
	struct die_step *last = a->nr_steps > first ? &a->steps[a->nr_steps - 1] : NULL;
	bool is_fixed = step->kind == FORM_FIXED || step->kind == FORM_CONST;

	if (!is_wanted && is_fixed) {
		if (step->kind == FORM_CONST || !step->size)
			return 0;
		if (last && last->kind == FORM_FIXED && last->slot == DIE_NO_SLOT) {
			last->size += step->size;
			return 0;
		}
	}
	if (a->nr_steps >= MAX_STEPS)
		return -ENOTSUP;
	last = array_push(&a->steps, &a->nr_steps, &a->cap_steps);
	if (!last)
		return -ENOMEM;
	*last = *step;
	if (!is_wanted)
		last->slot = DIE_NO_SLOT;
	return 0;
}

static int put_lists(struct die_abbrevs *a, struct die_abbrev *x, const struct attrs *attrs)
{
	int err = 0;

	x->reads = (uint32_t)a->nr_steps;
	for (size_t i = 0; i < attrs->nr && !err; i++)
		err = put_step(a, x->reads, &attrs->v[i], attrs->v[i].slot != DIE_NO_SLOT);
	x->skips = (uint32_t)a->nr_steps;
	x->nr_reads = x->skips - x->reads;
	for (size_t i = 0; i < attrs->nr && !err; i++)
		err = put_step(a, x->skips, &attrs->v[i], attrs->v[i].slot == DIE_SIBLING);
	x->nr_skips = (uint32_t)a->nr_steps - x->skips;
	return err;
}

/* Where the sibling is, and how long the entry is, as far as that is fixed. */
static void measure(struct die_abbrev *x, const struct attrs *attrs)
{
	uint32_t at = 0;

	for (size_t i = 0; i < attrs->nr; i++) {
		const struct die_step *s = &attrs->v[i];

		if (s->slot)
			x->slots |= die_bit(s->slot);
		if (s->kind == FORM_CONST)
			continue;
		if (s->kind != FORM_FIXED)
			at = DIE_VARIES;
		if (at == DIE_VARIES)
			continue;
		if (s->slot == DIE_SIBLING && s->class == CLASS_REF &&
		    s->form != DW_FORM_ref_addr && s->size <= 8) {
			x->sibling_at = at;
			x->sibling_size = (uint8_t)s->size;
		}
		at += s->size;
	}
	x->size = at;
}

static int read_attrs(struct byte_reader *r, const struct die_sizes *sizes, struct attrs *attrs)
{
	for (attrs->nr = 0; attrs->nr < MAX_ATTRS; attrs->nr++) {
		uint64_t name = br_uv(r), form = br_uv(r);
		struct die_step *s = &attrs->v[attrs->nr];
		uint32_t size;

		if (r->bad || form > UINT16_MAX)
			return -EBADMSG;
		if (!name && !form)
			return 0;
		*s = (struct die_step){ .slot = slot_of(name), .form = (uint16_t)form };
		s->kind = (uint8_t)form_kind((unsigned)form, sizes, &size);
		s->class = (uint8_t)form_class((unsigned)form);
		s->size = size & 0xffffff;
		if (s->kind == FORM_CONST)
			s->value = br_sleb(r);
		if (s->kind == FORM_UNKNOWN)
			return -EBADMSG;
	}
	return -ENOTSUP;
}

/* ---- the table ---- */

static bool same_code(const void *ctx, uint32_t id)
{
	const struct die_abbrev *v = ((const void *const *)ctx)[0];

	return v[id].code == *(const uint64_t *)((const void *const *)ctx)[1];
}

const struct die_abbrev *die_abbrevs_find_other(const struct die_abbrevs *a, uint64_t code)
{
	const void *ctx[2] = { a->v, &code };
	uint32_t id = ix_find(&a->index, hash_u64(0, code), same_code, ctx);

	return id == IX_NONE ? NULL : &a->v[id];
}

static int read_one(struct byte_reader *r, const struct die_sizes *sizes, uint64_t code,
		    struct die_abbrevs *a, struct attrs *attrs)
{
	uint64_t tag = br_uv(r);
	bool has_children = br_u8(r) != 0;
	struct die_abbrev *x;
	int err = read_attrs(r, sizes, attrs);

	if (err)
		return err;
	if (a->nr >= MAX_ABBREVS)
		return -ENOTSUP;
	x = array_push(&a->v, &a->nr, &a->cap);
	if (!x)
		return -ENOMEM;
	x->code = code;
	x->tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	x->has_children = has_children;
	measure(x, attrs);
	err = put_lists(a, x, attrs);
	if (!err && code != a->nr && !die_abbrevs_find_other(a, code))
		err = ix_add(&a->index, hash_u64(0, code), (uint32_t)a->nr - 1);
	return err;
}

int die_abbrevs_read(struct byte_reader *r, const struct die_sizes *sizes, struct die_abbrevs **ap)
{
	struct die_abbrevs *a = calloc(1, sizeof(*a));
	struct attrs *attrs = malloc(sizeof(*attrs));
	int err = a && attrs && !array_reserve(&a->steps, &a->cap_steps, 1) ? 0 : -ENOMEM;

	while (!err && br_left(r)) {
		uint64_t code = br_uv(r);

		if (r->bad)
			err = -EBADMSG;
		else if (!code)
			break;
		else
			err = read_one(r, sizes, code, a, attrs);
	}
	free(attrs);
	if (err) {
		die_abbrevs_free(a);
		return err;
	}
	a->sizes = *sizes;
	*ap = die_abbrevs_share(a);
	return 0;
}

struct die_abbrevs *die_abbrevs_share(struct die_abbrevs *a)
{
	a->nr_users++;
	return a;
}

void die_abbrevs_free(struct die_abbrevs *a)
{
	if (!a || (a->nr_users && --a->nr_users))
		return;
	free(a->v);
	free(a->steps);
	ix_release(&a->index);
	free(a);
}
