/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/cfi_fixture.h"

/* ---- where functions are ---- */

static void test_gaps(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);

	eh_fde(&f->eh, cie, 0x1000, 0x11, EH_BYTES(DEF_CFA_OFFSET, 16));
	eh_fde(&f->eh, cie, 0x1020, 0x10, EH_BYTES(DEF_CFA_OFFSET, 24)); /* 15 bytes of padding */
	eh_fde(&f->eh, cie, 0x1040, 0x10, EH_BYTES(DEF_CFA_OFFSET, 32)); /* 16: there may be code */
	eh_fde(&f->eh, cie, 0x1058, 0x10, EH_BYTES(UNDEFINED, RIP));	 /* no entry rule to give */
	eh_fde(&f->eh, cie, 0x1068, 0x10, EH_BYTES(DEF_CFA_OFFSET, 40)); /* no gap */
	parse(f);
	assert_rule(at(f, 0x1010), SP_RULE(16));
	assert_rule(at(f, 0x1011), SP_RULE(24));
	assert_rule(at(f, 0x102f), SP_RULE(24));
	assert_rule(at(f, 0x1030), RULE(.cfa = CFA_NONE));
	assert_rule(at(f, 0x1040), SP_RULE(32));
	assert_rule(at(f, 0x1050), RULE(.cfa = CFA_NONE));
	assert_rule(at(f, 0x1058), RULE(.cfa = CFA_ROOT));
	assert_rule(at(f, 0x1068), SP_RULE(40));
	assert_rule(at(f, 0x1078), RULE(.cfa = CFA_NONE));
	assert_int_equal(f->rows.nr, 8);
}

static void test_equal_neighbours_are_one_row(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);

	for (uint64_t i = 0; i < 100; i++)
		eh_fde(&f->eh, cie, LO + 16 * i, 16,
		       EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16, ADVANCE(0), DEF_CFA_OFFSET, 8));
	parse(f);
	assert_int_equal(f->rows.nr, 2);
}

static void test_order_does_not_matter(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);

	for (unsigned i = 0; i < 64; i++) {
		unsigned k = i * 29 % 64;

		eh_fde(&f->eh, cie, LO + 0x100 * k, 0x100,
		       EH_BYTES(DEF_CFA_OFFSET, (uint8_t)(8 + k)));
	}
	parse(f);
	for (unsigned k = 0; k < 64; k++) {
		assert_rule(at(f, LO + 0x100 * k), SP_RULE(8 + (int)k));
		assert_rule(at(f, LO + 0x100 * k + 0xff), SP_RULE(8 + (int)k));
	}
	assert_int_equal(f->rows.stats.overlaps, 0);
}

static void test_overlaps(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);

	eh_fde(&f->eh, cie, 0x1000, 0x100, EH_BYTES(ADVANCE2, 0x90, 0, DEF_CFA_OFFSET, 16));
	eh_fde(&f->eh, cie, 0x1080, 0x10, EH_BYTES(DEF_CFA_OFFSET, 24));
	eh_fde(&f->eh, cie, 0x1080, 0x20,
	       EH_BYTES(DEF_CFA_OFFSET, 32));			      /* the same start: ignored */
	eh_fde(&f->eh, cie, 0x1080, 0, EH_BYTES(DEF_CFA_OFFSET, 40)); /* empty */
	eh_fde(&f->eh, cie, 0, 0x2000, EH_BYTES(DEF_CFA_OFFSET, 48)); /* left out by the linker */
	eh_fde(&f->eh, cie, 0x800, 0x10, EH_NONE); /* not in order: all is sorted */
	parse(f);
	assert_rule(at(f, 0x107f), SP_RULE(8));
	assert_rule(at(f, 0x1080), SP_RULE(24));
	assert_rule(at(f, 0x1090), RULE(.cfa = CFA_NONE));
	assert_int_equal(f->rows.stats.overlaps, 2);
	assert_int_equal(f->rows.stats.nr_fdes, 4);
	assert_int_equal(f->rows.stats.bad_entries, 0);
}

/* ---- how entries are written ---- */

static void test_several_cies(void **state)
{
	struct fixture *f = *state;
	size_t cies[8];

	for (unsigned i = 0; i < 8; i++)
		cies[i] = eh_cie(&f->eh, "zR",
				 EH_BYTES(DEF_CFA, RSP, (uint8_t)(8 + 8 * i), OFFSET(RIP), 1));
	for (unsigned i = 0; i < 64; i++)
		eh_fde(&f->eh, cies[i * 5 % 8], LO + 0x100 * i, 0x100, EH_NONE);
	parse(f);
	for (unsigned i = 0; i < 64; i++)
		assert_rule(at(f, LO + 0x100 * i), SP_RULE(8 + 8 * (int)(i * 5 % 8)));
	assert_int_equal(f->rows.stats.nr_cies, 8);
}

static void test_cie_versions(void **state)
{
	static const uint8_t versions[] = {1, 3, 4};
	struct fixture *f = *state;

	for (unsigned i = 0; i < 3; i++) {
		f->eh.version = versions[i];
		eh_fde(&f->eh, eh_cie(&f->eh, "zR", EH_X86_ENTRY), LO + 0x100 * i, SIZE, EH_NONE);
		eh_fde(&f->eh, eh_cie(&f->eh, "", EH_X86_ENTRY), LO + 0x100 * i + 0x80, SIZE,
		       EH_NONE);
	}
	f->eh.version = 2;
	eh_fde(&f->eh, eh_cie(&f->eh, "zR", EH_X86_ENTRY), 0x2000, SIZE, EH_NONE);
	parse(f);
	for (unsigned i = 0; i < 6; i++)
		assert_rule(at(f, LO + 0x80 * i), SP_RULE(8));
	assert_rule(at(f, 0x2000), RULE(.cfa = CFA_NONE));
	assert_int_equal(f->rows.stats.bad_entries, 2);
}

static void test_long_lengths(void **state)
{
	struct fixture *f = *state;

	f->eh.is_long = true;
	parse_function(f, EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16));
	assert_rule(at(f, LO + 1), SP_RULE(16));
	assert_int_equal(f->rows.stats.bad_entries, 0);
}

static void test_terminator_in_the_middle(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);

	eh_fde(&f->eh, cie, LO, SIZE, EH_NONE);
	bb_u32(&f->eh.b, 0);
	bb_u32(&f->eh.b, 0);
	eh_fde(&f->eh, eh_cie(&f->eh, "zR", EH_X86_ENTRY), LO + 0x100, SIZE, EH_NONE);
	bb_u32(&f->eh.b, 0);
	parse(f);
	assert_rule(at(f, LO + 0x100), SP_RULE(8));
	assert_int_equal(f->rows.stats.bad_entries, 0);
	assert_int_equal(f->rows.stats.nr_fdes, 2);
}

static void bb_pointer(struct byte_buf *b, uint8_t format, uint64_t v)
{
	static const uint8_t sizes[16] = {
		[0] = 8, [2] = 2, [3] = 4, [4] = 8, [8] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8};

	if (sizes[format]) {
		bb_fixed(b, v, sizes[format]);
	} else if (format == 1) {
		bb_uv(b, v);
	} else {
		for (int i = 0; i < 9; i++, v >>= 7)
			bb_u8(b, (uint8_t)(v | 0x80));
		bb_u8(b, v & 1 ? 0x7f : 0);
	}
}

#define TEXT 0x4000
#define GOT 0x5000

/* A function at LO whose address is stored in this way, in a section near enough for two bytes. */
static bool is_found(struct fixture *f, uint8_t encoding)
{
	uint64_t bases[8] = {[2] = TEXT, [3] = GOT};
	size_t cie, fde;

	f->in.vaddr = f->eh.vaddr = 0x3000;
	f->in.text_vaddr = TEXT;
	f->in.got_vaddr = GOT;
	f->eh.fde_encoding = encoding;
	f->eh.b.nr = 0;
	bb_u32(&f->eh.b, 0); /* puts the pointer where it must be aligned */
	cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);
	fde = eh_begin_fde(&f->eh, cie);
	bases[1] = f->eh.vaddr + f->eh.b.nr;
	if ((encoding & 0x70) == 0x50)
		while (f->eh.b.nr % 8)
			bb_u8(&f->eh.b, 0xee);
	bb_pointer(&f->eh.b, encoding & 15, LO - bases[encoding >> 4 & 7]);
	bb_pointer(&f->eh.b, encoding & 15, SIZE);
	bb_uv(&f->eh.b, 0);
	eh_end(&f->eh, fde);
	parse(f);
	return f->rows.nr == 2 && f->rows.v[0].vaddr == LO && f->rows.v[1].vaddr == LO + SIZE;
}

static void test_pointer_encodings(void **state)
{
	struct fixture *f = *state;
	static const uint8_t wide[] = {0x0, 0x4, 0x8, 0x9, 0xb, 0xc},
			     unsigned_only[] = {0x1, 0x2, 0x3, 0xa};

	for (unsigned i = 0; i < sizeof(wide); i++)
		for (uint8_t base = 0; base <= 0x30; base += 0x10)
			assert_true(is_found(f, base | wide[i]));
	for (unsigned i = 0; i < sizeof(unsigned_only); i++)
		assert_true(is_found(f, unsigned_only[i]));
	assert_true(is_found(f, 0x1a)); /* pcrel, two signed bytes */
	assert_true(is_found(f, 0x50));
}

static void test_pointers_that_cannot_be_read(void **state)
{
	struct fixture *f = *state;
	static const uint8_t encodings[] = {0x9b, 0x80, 0x40, 0x60, 0x70, 0x05, 0x0f};

	for (unsigned i = 0; i < sizeof(encodings); i++) {
		assert_false(is_found(f, encodings[i]));
		assert_int_equal(f->rows.nr, 0);
		assert_int_equal(f->rows.stats.bad_entries, 1);
	}
}

static void test_augmentation_data_is_stepped_over(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_begin_cie(&f->eh, "zPLRB"), fde;

	bb_bytes(&f->eh.b, (uint8_t[]){7, 0x9b, 1, 2, 3, 4, 0x1b, 0x1b}, 8);
	bb_bytes(&f->eh.b, EH_X86_ENTRY.v, EH_X86_ENTRY.nr);
	eh_end(&f->eh, cie);
	fde = eh_begin_fde(&f->eh, cie);
	bb_u32(&f->eh.b, (uint32_t)(LO - EH_VADDR - f->eh.b.nr));
	bb_u32(&f->eh.b, SIZE);
	bb_bytes(&f->eh.b, (uint8_t[]){4, 0xff, 0xff, 0xff, 0xff, ADVANCE(1), DEF_CFA_OFFSET, 16},
		 8);
	eh_end(&f->eh, fde);
	parse(f);
	assert_rule(at(f, LO + 1), SP_RULE(16));
	assert_int_equal(f->rows.stats.bad_entries, 0);
}

static void test_augmentation_with_aligned_personality(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_begin_cie(&f->eh, "zPR"), length = f->eh.b.nr;

	bb_u8(&f->eh.b, 0);
	bb_u8(&f->eh.b, 0x50);
	while (f->eh.b.nr % 8)
		bb_u8(&f->eh.b, 0xee);
	bb_u64(&f->eh.b, 0xeeeeeeeeeeeeeeee);
	bb_u8(&f->eh.b, 0);
	f->eh.b.v[length] = (uint8_t)(f->eh.b.nr - length - 1);
	bb_bytes(&f->eh.b, EH_X86_ENTRY.v, EH_X86_ENTRY.nr);
	eh_end(&f->eh, cie);
	eh_fde(&f->eh, cie, LO, SIZE, EH_NONE);
	parse(f);
	assert_rule(at(f, LO), SP_RULE(8));
}

static void test_old_and_unknown_augmentations(void **state)
{
	struct fixture *f = *state;
	size_t eh, unknown, sized;

	f->eh.no_augmentation = true;
	eh = eh_begin(&f->eh);
	bb_bytes(&f->eh.b,
		 (uint8_t[]){0, 0, 0, 0, 1, 'e', 'h', 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x78, RIP}, 19);
	bb_bytes(&f->eh.b, EH_X86_ENTRY.v, EH_X86_ENTRY.nr);
	eh_end(&f->eh, eh);
	eh_fde(&f->eh, eh, LO, SIZE, EH_NONE);

	unknown = eh_begin_cie(&f->eh, "Q");
	bb_bytes(&f->eh.b, EH_X86_ENTRY.v, EH_X86_ENTRY.nr);
	eh_end(&f->eh, unknown);
	eh_fde(&f->eh, unknown, 0x2000, SIZE, EH_NONE);

	f->eh.no_augmentation = false;
	sized = eh_begin_cie(&f->eh, "zRQ");
	bb_bytes(&f->eh.b, (uint8_t[]){3, 0, 1, 2}, 4);
	bb_bytes(&f->eh.b, EH_X86_ENTRY.v, EH_X86_ENTRY.nr);
	eh_end(&f->eh, sized);
	eh_fde(&f->eh, sized, 0x3000, SIZE, EH_NONE);
	parse(f);
	assert_rule(at(f, LO), SP_RULE(8));
	assert_rule(at(f, 0x2000), RULE(.cfa = CFA_NONE));
	assert_rule(at(f, 0x3000), SP_RULE(8));
	assert_int_equal(f->rows.stats.bad_entries, 2);
}

/* ---- damage ---- */

static void test_damaged_instructions(void **state)
{
	const struct eh_bytes tails[] = {
		{(const uint8_t[]){0x3f}, 1},			  /* unknown */
		{(const uint8_t[]){RESTORE_STATE}, 1},		  /* nothing remembered */
		{(const uint8_t[]){DEF_CFA_EXPRESSION, 0x7f}, 2}, /* longer than what is left */
		{(const uint8_t[]){SET_LOC, 1, 0, 0, 0, 0, 0, 0, 0}, 9}, /* backwards */
		{(const uint8_t[]){ADVANCE8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 9},
	};

	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		struct fixture *f = *state;
		size_t cie, fde;

		f->eh.b.nr = 0;
		cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);
		fde = eh_begin_fde(&f->eh, cie);
		bb_u64(&f->eh.b, LO);
		bb_u64(&f->eh.b, SIZE);
		bb_bytes(&f->eh.b, (uint8_t[]){0, ADVANCE(4), DEF_CFA_OFFSET, 16, ADVANCE(4)}, 5);
		bb_bytes(&f->eh.b, tails[i].v, tails[i].nr);
		eh_end(&f->eh, fde);
		eh_fde(&f->eh, cie, LO + SIZE, SIZE, EH_NONE);
		parse(f);
		assert_rule(at(f, LO), SP_RULE(8));
		assert_rule(at(f, LO + 4), SP_RULE(16));
		assert_rule(at(f, LO + 8), RULE(.cfa = CFA_UNSUPPORTED));
		assert_rule(at(f, LO + SIZE - 1), RULE(.cfa = CFA_UNSUPPORTED));
		assert_rule(at(f, LO + SIZE), SP_RULE(8));
		assert_int_equal(f->rows.stats.bad_entries, 1);
	}
}

static void test_too_much_remembered(void **state)
{
	struct fixture *f = *state;
	uint8_t remember[200];

	memset(remember, REMEMBER, sizeof(remember));
	parse_function(f, (struct eh_bytes){remember, sizeof(remember)});
	assert_rule(at(f, LO), RULE(.cfa = CFA_UNSUPPORTED));
}

static void test_damaged_entries(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY), bad;

	eh_fde(&f->eh, cie + 4, LO, SIZE, EH_NONE);		/* no CIE begins there */
	eh_fde(&f->eh, (size_t)-64, LO + 0x100, SIZE, EH_NONE); /* before the section */
	eh_fde(&f->eh, cie, UINT64_MAX - 8, SIZE, EH_NONE);	/* ends behind the address space */
	bad = eh_begin(&f->eh);					/* too short for anything */
	bb_u16(&f->eh.b, 0);
	f->eh.b.v[bad] = 2;
	bad = eh_begin_cie(&f->eh, ""); /* a CIE whose own instructions are damaged */
	bb_u8(&f->eh.b, 0x3f);
	eh_end(&f->eh, bad);
	eh_fde(&f->eh, bad, LO + 0x200, SIZE, EH_NONE);
	eh_fde(&f->eh, cie, LO + 0x300, SIZE, EH_NONE);
	bb_u32(&f->eh.b, 100); /* longer than the section */
	bb_u32(&f->eh.b, 0);
	parse(f);
	assert_int_equal(f->rows.stats.bad_entries, 7);
	assert_int_equal(f->rows.nr, 2);
	assert_rule(at(f, LO + 0x300), SP_RULE(8));
}

static void test_every_truncation(void **state)
{
	struct fixture *f = *state;
	size_t cie, full;

	f->eh.version = 4;
	cie = eh_cie(&f->eh, "zRS", EH_X86_ENTRY);
	eh_fde(&f->eh, cie, LO, SIZE,
	       EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16, ADVANCE4, 1, 0, 0, 0, DEF_CFA_EXPRESSION, 3,
			BREG(RSP), 8, DEREF));
	full = f->eh.b.nr;
	for (size_t len = full; len-- > 0;) {
		f->eh.b.nr = len;
		parse(f);
		assert_int_equal(f->rows.nr, 0);
	}
}

/* ---- the header ---- */

static void test_header(void **state)
{
	static const uint8_t pcrel[] = {1, 0x1b, 0x03, 0x3b, 0xfc, 0x0f, 0, 0};
	static const uint8_t datarel[] = {1, 0x3b, 0x03, 0x3b, 0x00, 0x10, 0, 0};
	uint64_t vaddr = 0;

	(void)state;
	assert_int_equal(cfi_find_by_header(pcrel, sizeof(pcrel), 0x2000, &vaddr), 0);
	assert_int_equal(vaddr, 0x3000);
	assert_int_equal(cfi_find_by_header(datarel, sizeof(datarel), 0x2000, &vaddr), 0);
	assert_int_equal(vaddr, 0x3000);
	assert_true(cfi_find_by_header(pcrel, 7, 0x2000, &vaddr) < 0);
	assert_true(cfi_find_by_header(pcrel + 1, 7, 0x2000, &vaddr) < 0);
	assert_true(cfi_find_by_header((uint8_t[]){1, 0xff, 0, 0, 0, 0, 0, 0}, 8, 0x2000, &vaddr) <
		    0);
}

static void test_terminated_len(void **state)
{
	struct fixture *f = *state;
	const size_t cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);
	size_t len;

	eh_fde(&f->eh, cie, LO, SIZE, EH_NONE);
	f->eh.is_long = true;
	eh_fde(&f->eh, cie, LO + 0x100, SIZE, EH_NONE);
	len = f->eh.b.nr;
	assert_int_equal(cfi_terminated_len(f->eh.b.v, len), len);
	bb_u32(&f->eh.b, 0);
	bb_u64(&f->eh.b, 0x123456789);
	assert_int_equal(cfi_terminated_len(f->eh.b.v, f->eh.b.nr), len + 4);
	assert_int_equal(cfi_terminated_len(f->eh.b.v, len - 3), len - 3);
	assert_int_equal(cfi_terminated_len(f->eh.b.v, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CFI_TEST(test_gaps),
		CFI_TEST(test_equal_neighbours_are_one_row),
		CFI_TEST(test_order_does_not_matter),
		CFI_TEST(test_overlaps),
		CFI_TEST(test_several_cies),
		CFI_TEST(test_cie_versions),
		CFI_TEST(test_long_lengths),
		CFI_TEST(test_terminator_in_the_middle),
		CFI_TEST(test_pointer_encodings),
		CFI_TEST(test_pointers_that_cannot_be_read),
		CFI_TEST(test_augmentation_data_is_stepped_over),
		CFI_TEST(test_augmentation_with_aligned_personality),
		CFI_TEST(test_old_and_unknown_augmentations),
		CFI_TEST(test_damaged_instructions),
		CFI_TEST(test_too_much_remembered),
		CFI_TEST(test_damaged_entries),
		CFI_TEST(test_every_truncation),
		CFI_TEST(test_header),
		CFI_TEST(test_terminated_len),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
