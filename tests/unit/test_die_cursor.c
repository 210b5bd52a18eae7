/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Abbreviations, all forms of values, lists of ranges, references, and the order of spans. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/debug_info/die_ranges.h"
#include "src/debug_info/die_units.h"
#include "src/debug_info/unit_spans.h"
#include "src/debug_info/work_limit.h"
#include "tests/unit/dwarf_fixture.h"

static struct work_limit late = { .until_ns = UINT64_MAX / 2 };

/* ---- abbreviations ---- */

static int read_abbrevs(const struct byte_buf *b, struct die_abbrevs **a)
{
	static const struct die_sizes sizes = { 5, 8, 4 };
	struct byte_reader r = br_make(b->v, b->nr);

	return die_abbrevs_read(&r, &sizes, a);
}

static void test_codes(void **state)
{
	static const int codes[] = { 1, 2, 70000, 3, 128, 2 };
	struct byte_buf b = { 0 };
	struct die_abbrevs *a;

	(void)state;
	for (int i = 0; i < 6; i++)
		DW_NUMBERS(&b, codes[i], 100 + i, i % 2, 0, 0);
	assert_int_equal(read_abbrevs(&b, &a), 0);	/* the section ends, and so does the table */
	die_abbrevs_free(a);
	bb_u8(&b, 0);
	DW_NUMBERS(&b, 4, 100, 0, 0, 0);
	assert_int_equal(read_abbrevs(&b, &a), 0);
	for (int i = 0; i < 5; i++) {
		assert_non_null(die_abbrevs_find(a, (uint64_t)codes[i]));
		assert_int_equal(die_abbrevs_find(a, (uint64_t)codes[i])->tag, 100 + i);
		assert_int_equal(die_abbrevs_find(a, (uint64_t)codes[i])->has_children, i % 2);
	}
	assert_null(die_abbrevs_find(a, 4));
	assert_null(die_abbrevs_find(a, UINT64_MAX));
	die_abbrevs_free(a);
	bb_release(&b);
}

static void test_too_many(void **state)
{
	struct byte_buf b = { 0 };
	struct die_abbrevs *a;

	(void)state;
	for (int i = 1; i < 140000; i++)
		DW_NUMBERS(&b, i, 1, 0, 0, 0);
	assert_int_equal(read_abbrevs(&b, &a), -ENOTSUP);
	b.nr = 0;
	DW_NUMBERS(&b, 1, 1, 0);
	for (int i = 0; i < 5000; i++)
		DW_NUMBERS(&b, DW_AT_name, DW_FORM_string);
	assert_int_equal(read_abbrevs(&b, &a), -ENOTSUP);
	b.nr = 0;
	DW_NUMBERS(&b, 1, 1, 0, DW_AT_name, 0x2d, 0, 0, 0);
	assert_int_equal(read_abbrevs(&b, &a), -EBADMSG);
	bb_release(&b);
}

/* ---- values ---- */

struct value_case {
	int form;
	const char *bytes;
	size_t len;
	uint64_t v;
};

static const struct value_case values[] = {
	{ DW_FORM_data1, "\xfe", 1, 0xfe },
	{ DW_FORM_data2, "\1\2", 2, 0x201 },
	{ DW_FORM_data4, "\1\2\3\xff", 4, 0xff030201 },
	{ DW_FORM_data8, "\1\2\3\4\5\6\7\xff", 8, 0xff07060504030201 },
	{ DW_FORM_data16, "\1\0\0\0\0\0\0\0abcdefgh", 16, 1 },
	{ DW_FORM_addr, "\1\2\3\4\5\6\7\x8", 8, 0x0807060504030201 },
	{ DW_FORM_addrx3, "\1\2\3", 3, 0x30201 },
	{ DW_FORM_udata, "\xe5\x8e\x26", 3, 624485 },
	{ DW_FORM_sdata, "\x9b\xf1\x59", 3, (uint64_t)-624485 },
	{ DW_FORM_sdata, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, (uint64_t)1 << 63 },
	{ DW_FORM_sec_offset, "\1\2\3\4", 4, 0x04030201 },
	{ DW_FORM_flag_present, "", 0, 0 },
	{ DW_FORM_string, "abc", 4, 0 },
	{ DW_FORM_block1, "\2ab", 3, 0 },
	{ DW_FORM_block2, "\2\0ab", 4, 0 },
	{ DW_FORM_block4, "\2\0\0\0ab", 6, 0 },
	{ DW_FORM_exprloc, "\2ab", 3, 0 },
	{ DW_FORM_GNU_ref_alt, "\1\2\3\4", 4, 0x04030201 },
};

/* A reference to another unit was an address once. */
static void test_sizes(void **state)
{
	uint32_t size;

	(void)state;
	assert_int_equal(form_kind(DW_FORM_ref_addr, &(struct die_sizes){ 2, 8, 4 }, &size), FORM_FIXED);
	assert_int_equal(size, 8);
	assert_int_equal(form_kind(DW_FORM_ref_addr, &(struct die_sizes){ 3, 8, 4 }, &size), FORM_FIXED);
	assert_int_equal(size, 4);
	assert_int_equal(form_kind(DW_FORM_strp, &(struct die_sizes){ 5, 4, 8 }, &size), FORM_FIXED);
	assert_int_equal(size, 8);
	assert_int_equal(form_kind(0x7777, &(struct die_sizes){ 5, 8, 4 }, &size), FORM_UNKNOWN);
}

/* Each value, and each with a byte less. */
static void test_values(void **state)
{
	static const struct die_sizes sizes = { 5, 8, 4 };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (size_t cut = 0; cut < 2 && cut <= values[i].len; cut++) {
			size_t len = values[i].len - cut;
			uint8_t *copy = malloc(len + 1);
			struct byte_reader r = br_make(copy, len);
			struct die_value v;

			memcpy(copy, values[i].bytes, len);
			assert_int_equal(die_read_value(&r, &sizes, (unsigned)values[i].form, copy, &v), !cut);
			if (!cut) {
				assert_int_equal(br_left(&r), 0);
				assert_true(v.v == values[i].v);
			}
			free(copy);
		}
}

/* ---- an entry with strings and addresses by number ---- */

static void put_entry(struct dwarf_parts *d)
{
	struct byte_buf *b = &d->part[DEBUG_INFO], *a = &d->part[DEBUG_ABBREV];

	DW_NUMBERS(a, 1, DW_TAG_compile_unit, 0, DW_AT_str_offsets_base, DW_FORM_sec_offset, DW_AT_addr_base, DW_FORM_sec_offset,
		   DW_AT_rnglists_base, DW_FORM_sec_offset, DW_AT_low_pc, DW_FORM_addrx, DW_AT_name, DW_FORM_strx1,
		   DW_AT_linkage_name, DW_FORM_line_strp, DW_AT_ranges, DW_FORM_rnglistx, DW_AT_decl_line, DW_FORM_implicit_const, 42,
		   DW_AT_call_line, DW_FORM_indirect, 0, 0, 0);
	dw_begin(d, DEBUG_INFO);
	bb_u16(b, 5);
	bb_u8(b, DW_UT_compile);
	bb_u8(b, 8);
	bb_u32(b, 0);
	bb_u8(b, 1);
	bb_u32(b, 8);
	bb_u32(b, 8);
	bb_u32(b, 12);
	bb_uv(b, 1);
	bb_u8(b, 1);
	bb_u32(b, 2);
	bb_uv(b, 1);
	DW_NUMBERS(b, DW_FORM_udata, 300);
	dw_end(d, DEBUG_INFO);
}

static void put_tables(struct dwarf_parts *d)
{
	struct byte_buf *lists = &d->part[DEBUG_RNGLISTS];

	bb_bytes(&d->part[DEBUG_STR], "no\0yes", 7);
	bb_bytes(&d->part[DEBUG_LINE_STR], "a\0line", 7);
	bb_bytes(&d->part[DEBUG_STR_OFFSETS], "headhead\0\0\0\0\3\0\0\0", 16);
	bb_bytes(&d->part[DEBUG_ADDR], "headhead", 8);
	bb_u64(&d->part[DEBUG_ADDR], 0x100);
	bb_u64(&d->part[DEBUG_ADDR], 0x5000);
	bb_bytes(lists, "headheadhead", 12);
	bb_u32(lists, 0);
	bb_u32(lists, 8);
	bb_bytes(lists, "\4\1\2", 3);			/* from the base, which is the low_pc of the unit */
	bb_bytes(lists, "\1\0\4\1\2", 5);		/* another base by its number */
	bb_bytes(lists, "\2\0\1", 3);			/* both ends by their numbers */
	bb_bytes(lists, "\3\1\7", 3);
	bb_u8(lists, DW_RLE_base_address);
	bb_u64(lists, 0x7000);
	bb_bytes(lists, "\4\1\2", 3);
	bb_u8(lists, DW_RLE_start_end);
	bb_u64(lists, 0x8000);
	bb_u64(lists, 0x8001);
	bb_u8(lists, DW_RLE_start_length);
	bb_u64(lists, 0x9000);
	bb_uv(lists, 200);
	bb_bytes(lists, "\0\4\1\2", 4);			/* nothing behind the end */
}

static void check_entry(const struct die_unit *u)
{
	static const uint64_t want[][2] = { { 0x5001, 0x5002 }, { 0, 0 }, { 0x101, 0x102 }, { 0x100, 0x5000 }, { 0x5000, 0x5007 },
					    { 0, 0 }, { 0x7001, 0x7002 }, { 0x8000, 0x8001 }, { 0x9000, 0x90c8 } };
	struct die_ranges it = die_ranges_begin(u, &u->entry);
	uint64_t lo, hi, v;
	size_t nr = 0;

	assert_string_equal(die_string(u, &u->entry.value[DIE_NAME]), "yes");
	assert_string_equal(die_string(u, &u->entry.value[DIE_LINKAGE_NAME]), "line");
	assert_true(die_address(u, &u->entry, DIE_LOW_PC, &v));
	assert_int_equal(v, 0x5000);
	assert_true(die_number(&u->entry, DIE_DECL_LINE, &v));
	assert_int_equal(v, 42);
	assert_true(die_number(&u->entry, DIE_CALL_LINE, &v));
	assert_int_equal(v, 300);
	assert_false(die_number(&u->entry, DIE_CALL_COLUMN, &v));
	assert_false(die_number(&u->entry, DIE_NAME, &v));
	for (; die_ranges_next(&it, &lo, &hi); nr++) {
		assert_int_equal(lo, want[nr][0]);
		assert_int_equal(hi, want[nr][1]);
	}
	assert_int_equal(nr, sizeof(want) / sizeof(want[0]));
}

static void test_tables(void **state)
{
	struct dwarf_parts d = { .len_at = 0 };
	const struct die_unit *u;
	struct die_units *us;
	int err;

	(void)state;
	put_entry(&d);
	put_tables(&d);
	dw_sections(&d, NR_DEBUG_PARTS, 0);
	assert_int_equal(die_units_new(&d.s, &us), 0);
	u = die_units_open(us, die_units_entry(us, 0), &late, &err);
	assert_non_null(u);
	check_entry(u);
	assert_null(die_units_open(us, d.part[DEBUG_INFO].nr, &late, &err));
	assert_int_equal(err, -EBADMSG);
	die_units_free(us);
	dw_release(&d);
}

/* ---- references ---- */

/* More units than are kept open: each is read again, and one that is kept stays. */
static void test_many_units(void **state)
{
	struct dwarf_parts d, one;
	const struct die_unit *first, *u;
	const struct die_abbrevs *abbrevs;
	struct die_units *us;
	int err;

	(void)state;
	dw_program(&one, 4);
	dw_program(&d, 4);
	for (unsigned i = 1; i < 40; i++)
		bb_bytes(&d.part[DEBUG_INFO], one.part[DEBUG_INFO].v, one.part[DEBUG_INFO].nr);
	dw_sections(&d, NR_DEBUG_PARTS, 0);
	assert_int_equal(die_units_new(&d.s, &us), 0);
	assert_int_equal(die_units_nr(us), 40);
	first = die_units_open(us, 0, &late, &err);
	die_units_keep(us, first);
	abbrevs = first->abbrevs;
	for (size_t i = 0; i < 80; i++) {
		u = die_units_open(us, die_units_entry(us, i % 40), &late, &err);
		assert_non_null(u);
		assert_int_equal(u->offset, i % 40 * one.part[DEBUG_INFO].nr);
		assert_int_equal(first->offset, 0);
		assert_ptr_equal(u->abbrevs, abbrevs);	/* read once, because all have the same ones */
		assert_non_null(die_units_lines(us, u, &late));
	}
	die_units_free(us);
	dw_release(&d);
	dw_release(&one);
}

/* What is read in vain counts, too, or many references to such units would take for ever. */
static void test_steps_of_damage(void **state)
{
	struct work_limit w = { .until_ns = 0 };
	struct dwarf_parts d;
	struct die_units *us;
	int err;

	(void)state;
	dw_program(&d, 4);
	d.part[DEBUG_ABBREV].nr = 0;
	for (int i = 1; i < 30000; i++)
		DW_NUMBERS(&d.part[DEBUG_ABBREV], i, 1, 0, 0, 0);
	bb_bytes(&d.part[DEBUG_ABBREV], "\1\1\0\1", 4);
	dw_sections(&d, NR_DEBUG_PARTS, 0);
	assert_int_equal(die_units_new(&d.s, &us), 0);
	assert_null(die_units_open(us, 0, &w, &err));
	assert_int_equal(err, -EBADMSG);
	assert_true(w.is_up);
	die_units_free(us);
	dw_release(&d);
}

struct ref_case {
	uint16_t form;
	uint64_t v;
	bool leads;
	uint64_t offset;
};

static void test_references(void **state)
{
	static const struct ref_case cases[] = {
		{ DW_FORM_ref4, 11, true, 111 }, { DW_FORM_ref_udata, 99, true, 199 }, { DW_FORM_ref4, 100, false, 0 },
		{ DW_FORM_ref_addr, 7, true, 7 }, { DW_FORM_ref_sig8, 7, false, 0 }, { DW_FORM_GNU_ref_alt, 7, false, 0 },
		{ DW_FORM_data4, 7, false, 0 },
	};
	static const struct debug_sections none;
	const struct die_unit u = { .s = &none, .offset = 100, .end = 200 };
	struct die_units *us;
	struct die_ref ref;

	(void)state;
	assert_int_equal(die_units_new(&none, &us), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct die d = { .have = die_bit(DIE_SPECIFICATION) };

		d.value[DIE_SPECIFICATION] =
			(struct die_value){ cases[i].v, cases[i].form, (uint8_t)form_class(cases[i].form) };
		assert_int_equal(die_units_refer(us, &u, &d, DIE_SPECIFICATION, &ref), cases[i].leads);
		if (cases[i].leads)
			assert_int_equal(ref.offset, cases[i].offset);
		assert_false(die_units_refer(us, &u, &d, DIE_ABSTRACT_ORIGIN, &ref));
	}
	die_units_free(us);
}

/* ---- spans ---- */

static void test_spans(void **state)
{
	static const uint64_t bases[] = { 0, 0x401000, UINT64_MAX - 0xffffffff };
	struct unit_span *v;
	uint64_t x = 1;
	size_t cap;

	(void)state;
	for (size_t nr = 0; nr < 3000; nr = nr * 2 + 1)
		for (size_t k = 0; k < 3; k++) {
			v = malloc((nr + 1) * sizeof(*v));
			cap = nr + 1;
			for (size_t i = 0; i < nr; i++) {
				x = x * 6364136223846793005ull + 1442695040888963407ull;
				v[i] = (struct unit_span){ bases[k] + (x >> 34) % 5000 * 800000, 0, (uint32_t)i, 0 };
			}
			assert_int_equal(unit_spans_sort(&v, &cap, nr), 0);
			for (size_t i = 1; i < nr; i++)
				assert_true(v[i - 1].lo < v[i].lo || (v[i - 1].lo == v[i].lo && v[i - 1].node < v[i].node));
			free(v);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_many_units),
		cmocka_unit_test(test_steps_of_damage),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
