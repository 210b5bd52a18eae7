/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/cfi_fixture.h"

/* ---- functions as compilers make them ---- */

static void test_nothing(void **state)
{
	struct fixture *f = *state;

	parse(f);
	assert_int_equal(f->rows.nr, 0);
	assert_rule(at(f, LO), RULE(.cfa = CFA_NONE));
}

static void test_push_and_sub(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(RBP), 2, ADVANCE(4),
				   DEF_CFA_OFFSET, 48, ADVANCE(32), DEF_CFA_OFFSET, 8));
	assert_rule(at(f, LO - 1), RULE(.cfa = CFA_NONE));
	assert_rule(at(f, LO), SP_RULE(8));
	assert_rule(at(f, LO + 1), RULE(.cfa = CFA_SP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16));
	assert_rule(at(f, LO + 4), RULE(.cfa = CFA_SP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16));
	assert_rule(at(f, LO + 5), RULE(.cfa = CFA_SP, .cfa_off = 48, .fp = FP_CFA, .fp_off = -16));
	assert_rule(at(f, LO + SIZE - 1),
		    RULE(.cfa = CFA_SP, .cfa_off = 8, .fp = FP_CFA, .fp_off = -16));
	assert_rule(at(f, LO + SIZE), RULE(.cfa = CFA_NONE));
	assert_int_equal(f->rows.nr, 5);
	assert_int_equal(f->rows.stats.nr_fdes, 1);
	assert_int_equal(f->rows.stats.nr_cies, 1);
	assert_int_equal(f->rows.stats.bad_entries, 0);
	assert_int_equal(f->rows.stats.unsupported, 0);
}

static void test_frame_pointer(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(RBP), 2, ADVANCE(3),
				   DEF_CFA_REGISTER, RBP, ADVANCE(16), DEF_CFA, RSP, 8));
	assert_rule(at(f, LO + 4), RULE(.cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16));
	assert_rule(at(f, LO + 20), RULE(.cfa = CFA_SP, .cfa_off = 8, .fp = FP_CFA, .fp_off = -16));
}

static void test_other_registers_make_no_rows(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(ADVANCE(1), OFFSET(RBX), 3, ADVANCE(1), OFFSET(15), 4,
				   ADVANCE(1), RESTORE(RBX), ADVANCE(1), ARGS_SIZE, 16, ADVANCE(1),
				   UNDEFINED, 12, ADVANCE(1), VAL_EXPRESSION, 13, 1, LIT(0)));
	assert_int_equal(f->rows.nr, 2);
	assert_int_equal(f->rows.stats.bad_entries, 0);
}

static void test_state_remembered_with_cfa(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 32, ADVANCE(9), REMEMBER,
				   DEF_CFA_OFFSET, 8, UNDEFINED, RBP, ADVANCE(1), RESTORE_STATE));
	assert_rule(at(f, LO + 10), RULE(.cfa = CFA_SP, .cfa_off = 8, .fp = FP_UNDEFINED));
	assert_rule(at(f, LO + 11), SP_RULE(32));
}

static void test_restore_is_to_the_cie(void **state)
{
	struct fixture *f = *state;
	size_t cie =
		eh_cie(&f->eh, "zR", EH_BYTES(DEF_CFA, RSP, 8, OFFSET(RIP), 1, OFFSET(RBP), 5));

	eh_fde(&f->eh, cie, LO, SIZE,
	       EH_BYTES(ADVANCE(1), SAME_VALUE, RBP, ADVANCE(1), RESTORE(RBP), ADVANCE(1),
			UNDEFINED, RBP, ADVANCE(1), RESTORE_EXTENDED, RBP));
	parse(f);
	for (uint64_t i = 0; i < 6; i += 2)
		assert_rule(at(f, LO + i),
			    RULE(.cfa = CFA_SP, .cfa_off = 8, .fp = FP_CFA, .fp_off = -40));
	assert_int_equal(at(f, LO + 1).fp, FP_SAME);
	assert_int_equal(at(f, LO + 3).fp, FP_UNDEFINED);
}

static void test_all_ways_to_advance(void **state)
{
	struct fixture *f = *state;
	size_t cie;

	f->eh.code_align = 4;
	cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);
	eh_fde(&f->eh, cie, 0x10000, 0x100000,
	       EH_BYTES(ADVANCE(2), DEF_CFA_OFFSET, 16, ADVANCE1, 3, DEF_CFA_OFFSET, 24, ADVANCE2,
			0, 1, DEF_CFA_OFFSET, 32, ADVANCE4, 0, 1, 0, 0, DEF_CFA_OFFSET, 40,
			ADVANCE8, 1, 0, 0, 0, 0, 0, 0, 0, DEF_CFA_OFFSET, 48, SET_LOC, 0, 0, 2, 0,
			0, 0, 0, 0, DEF_CFA_OFFSET, 56));
	parse(f);
	assert_int_equal(f->rows.nr, 8);
	assert_int_equal(f->rows.v[1].vaddr, 0x10008);
	assert_int_equal(f->rows.v[2].vaddr, 0x10014);
	assert_int_equal(f->rows.v[3].vaddr, 0x10414);
	assert_int_equal(f->rows.v[4].vaddr, 0x10814);
	assert_int_equal(f->rows.v[5].vaddr, 0x10818);
	assert_int_equal(f->rows.v[6].vaddr, 0x20000);
	assert_rule(f->rows.v[6].rule, SP_RULE(56));
}

static void test_all_ways_to_store(void **state)
{
	struct fixture *f = *state;

	parse_function(f,
		       EH_BYTES(ADVANCE(1), OFFSET_EXTENDED, RBP, 2, ADVANCE(1), OFFSET_EXTENDED_SF,
				RBP, 0x7d, ADVANCE(1), NEGATIVE_OFFSET_EXTENDED, RBP, 4, ADVANCE(1),
				DEF_CFA_SF, RSP, 0x7e, ADVANCE(1), DEF_CFA_OFFSET_SF, 0x7d));
	assert_int_equal(at(f, LO + 1).fp_off, -16);
	assert_int_equal(at(f, LO + 2).fp_off, 24);
	assert_int_equal(at(f, LO + 3).fp_off, 32);
	assert_int_equal(at(f, LO + 4).cfa_off, 16);
	assert_int_equal(at(f, LO + 5).cfa_off, 24);
}

static void test_advance_behind_the_end(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(ADVANCE1, SIZE, DEF_CFA_OFFSET, 16));
	assert_int_equal(f->rows.nr, 2);
	assert_rule(at(f, LO + SIZE), RULE(.cfa = CFA_NONE));
}

/* ---- rules that are not "register plus offset" ---- */

static void test_plt(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(DEF_CFA_OFFSET, 16, ADVANCE(6), DEF_CFA_OFFSET, 24, ADVANCE(10),
				   DEF_CFA_EXPRESSION, 11, BREG(RSP), 8, BREG(RIP), 0, LIT(15), AND,
				   LIT(11), GE, LIT(3), SHL, PLUS));
	assert_rule(at(f, LO), SP_RULE(16));
	assert_rule(at(f, LO + 6), SP_RULE(24));
	assert_rule(at(f, LO + 16), RULE(.cfa = CFA_PLT, .aux = 11));
}

static void test_realigned_stack(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(ADVANCE(5), DEF_CFA, R10, 0, ADVANCE(8), EXPRESSION, RBP, 2,
				   BREG(RBP), 0, ADVANCE(4), DEF_CFA_EXPRESSION, 3, BREG(RBP), 0x58,
				   DEREF, ADVANCE(4), DEF_CFA_EXPRESSION, 7, BREG(RSP), 0x88, 0x04,
				   DEREF, PLUS_UCONST, 0x80, 0x01));
	assert_rule(at(f, LO + 5), RULE(.cfa = CFA_REG, .reg = R10));
	assert_rule(at(f, LO + 13), RULE(.cfa = CFA_REG, .reg = R10, .fp = FP_DEREF_FP));
	assert_rule(at(f, LO + 17), RULE(.cfa = CFA_DEREF_FP, .cfa_off = -40, .fp = FP_DEREF_FP));
	assert_rule(at(f, LO + 21),
		    RULE(.cfa = CFA_DEREF_SP, .cfa_off = 520, .aux = 128, .fp = FP_DEREF_FP));
}

/* The same number as lit16 plus: SBCL's call into Lisp. */
static void test_deref_plus_literal(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(ADVANCE(5), DEF_CFA_EXPRESSION, 5, BREG(RBP), 0, DEREF, 0x40,
				   0x22, ADVANCE(4), DEF_CFA_EXPRESSION, 5, BREG(RBP), 0, DEREF,
				   0x40, 0x1c));
	assert_rule(at(f, LO + 5), RULE(.cfa = CFA_DEREF_FP, .aux = 16));
	assert_rule(at(f, LO + 9), RULE(.cfa = CFA_UNSUPPORTED));
}

static void test_cfa_through_another_register(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(DEF_CFA_EXPRESSION, 5, BREG(RBX), 16, DEREF, PLUS_UCONST, 8,
				   ADVANCE(1), DEF_CFA_EXPRESSION, 2, BREG(RSP), 24));
	assert_rule(at(f, LO), RULE(.cfa = CFA_DEREF_REG, .reg = RBX, .cfa_off = 16, .aux = 8));
	assert_rule(at(f, LO + 1), SP_RULE(24));
}

static void test_halves_of_a_cfa_outlive_an_expression(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(DEF_CFA_OFFSET, 56, DEF_CFA_EXPRESSION, 3, BREG(RSP), 8, DEREF,
				   ADVANCE(1), DEF_CFA_REGISTER, RSP));
	assert_rule(at(f, LO + 1), SP_RULE(56));
	assert_int_equal(f->rows.stats.bad_entries, 0);
}

static void test_frame_pointer_stored_by_expression(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(DEF_CFA_OFFSET, 64, EXPRESSION, RBP, 2, BREG(RSP), 16,
				   ADVANCE(1), EXPRESSION, RBP, 3, BREG(RSP), 16, DEREF));
	assert_rule(at(f, LO), RULE(.cfa = CFA_SP, .cfa_off = 64, .fp = FP_CFA, .fp_off = -48));
	assert_rule(at(f, LO + 1), RULE(.cfa = CFA_SP, .cfa_off = 64, .fp = FP_UNDEFINED));
}

static void test_frame_pointer_lost(void **state)
{
	const struct eh_bytes lost[] = {
		{(const uint8_t[]){UNDEFINED, RBP}, 2},
		{(const uint8_t[]){REGISTER, RBP, RAX}, 3},
		{(const uint8_t[]){VAL_OFFSET, RBP, 2}, 3},
		{(const uint8_t[]){VAL_OFFSET_SF, RBP, 2}, 3},
		{(const uint8_t[]){VAL_EXPRESSION, RBP, 2, BREG(RBP), 0}, 5},
	};

	for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++) {
		struct fixture *f = *state;

		f->eh.b.nr = 0;
		parse_function(f, lost[i]);
		assert_rule(at(f, LO), RULE(.cfa = CFA_SP, .cfa_off = 8, .fp = FP_UNDEFINED));
	}
}

static void test_outermost_frame(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(UNDEFINED, RIP, DEF_CFA_EXPRESSION, 1, LIT(0)));
	assert_rule(at(f, LO), RULE(.cfa = CFA_ROOT));
	assert_int_equal(f->rows.stats.unsupported, 0);
}

static void test_return_address_in_register(void **state)
{
	struct fixture *f = *state;

	/* As vfork: the return address is popped and kept in rdi. */
	parse_function(f, EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 0, REGISTER, RIP, RDI, ADVANCE(9),
				   DEF_CFA_OFFSET, 8, OFFSET(RIP), 1, ADVANCE(1), DEF_CFA, RAX, 8,
				   REGISTER, RIP, RDI, ADVANCE(1), DEF_CFA, RSP, 8, REGISTER, RIP,
				   RIP));
	assert_rule(at(f, LO + 1), RULE(.cfa = CFA_SP, .ra = RA_REG, .reg = RDI));
	assert_rule(at(f, LO + 10), SP_RULE(8));
	assert_rule(at(f, LO + 11), RULE(.cfa = CFA_UNSUPPORTED)); /* two registers to name */
	assert_rule(at(f, LO + 12),
		    RULE(.cfa = CFA_UNSUPPORTED)); /* not a register that is saved */
}

static void test_return_address_elsewhere(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(DEF_CFA_OFFSET, 64, OFFSET(RIP), 3, ADVANCE(1), EXPRESSION, RIP,
				   2, BREG(RSP), 48, ADVANCE(1), DEF_CFA_EXPRESSION, 3, BREG(RSP),
				   0, DEREF, OFFSET(RIP), 3, ADVANCE(1), OFFSET(RIP), 1));
	assert_rule(at(f, LO), RULE(.cfa = CFA_SP, .cfa_off = 64, .ra = RA_CFA_OFF, .aux = -24));
	assert_rule(at(f, LO + 1),
		    RULE(.cfa = CFA_SP, .cfa_off = 64, .ra = RA_CFA_OFF, .aux = -16));
	assert_rule(at(f, LO + 2), RULE(.cfa = CFA_UNSUPPORTED)); /* aux is taken */
	assert_rule(at(f, LO + 3), RULE(.cfa = CFA_DEREF_SP));
}

static void test_return_address_below_stack_pointer(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(DEF_CFA_OFFSET, 0, ADVANCE(1), DEF_CFA_OFFSET, 7, ADVANCE(1),
				   DEF_CFA_OFFSET, 8));
	assert_rule(at(f, LO), RULE(.cfa = CFA_UNSUPPORTED));
	assert_rule(at(f, LO + 1), RULE(.cfa = CFA_UNSUPPORTED));
	assert_rule(at(f, LO + 2), SP_RULE(8));
	assert_int_equal(f->rows.stats.unsupported, 1);
}

static void test_other_stack(void **state)
{
	struct fixture *f = *state;

	/* As longjmp: the caller's stack pointer is read from a buffer. */
	parse_function(f, EH_BYTES(VAL_OFFSET, RSP, 0, ADVANCE(1), DEF_CFA, RDI, 0,
				   OFFSET_EXTENDED_SF, RSP, 0x7a, ADVANCE(1), RESTORE(RSP)));
	assert_rule(at(f, LO), SP_RULE(8)); /* what is meant anyway, said aloud */
	assert_rule(at(f, LO + 1), RULE(.cfa = CFA_UNSUPPORTED));
	assert_rule(at(f, LO + 2), RULE(.cfa = CFA_REG, .reg = RDI));
}

static void test_unsupported(void **state)
{
	const struct eh_bytes programs[] = {
		{(const uint8_t[]){DEF_CFA_EXPRESSION, 7, BREG(RSP), 8, BREG(9), 0, LIT(8), MUL,
				   PLUS},
		 9},
		{(const uint8_t[]){DEF_CFA_EXPRESSION, 1, LIT(5)}, 3},
		{(const uint8_t[]){DEF_CFA_EXPRESSION, 0}, 2},
		{(const uint8_t[]){DEF_CFA_EXPRESSION, 1, BREG(RSP)}, 3},
		{(const uint8_t[]){DEF_CFA_EXPRESSION, 4, BREG(RSP), 0, DEREF, PLUS_UCONST}, 6},
		{(const uint8_t[]){DEF_CFA_EXPRESSION, 9, BREG(RSP), 0, DEREF, PLUS_UCONST, 0xff,
				   0xff, 0xff, 0xff, 0x0f},
		 11},
		{(const uint8_t[]){DEF_CFA_EXPRESSION, 2, BREG(RIP), 0}, 4},
		{(const uint8_t[]){DEF_CFA, RIP, 0}, 3},
		{(const uint8_t[]){DEF_CFA, 0xc7, 0x01, 0}, 4},
		{(const uint8_t[]){DEF_CFA_OFFSET, 0xff, 0xff, 0xff, 0xff, 0x0f}, 6},
		{(const uint8_t[]){VAL_OFFSET, RIP, 1}, 3},
		{(const uint8_t[]){VAL_EXPRESSION, RIP, 2, BREG(RSP), 0}, 5},
		{(const uint8_t[]){EXPRESSION, RIP, 2, BREG(RBX), 0}, 5},
		{(const uint8_t[]){SAME_VALUE, RIP}, 2},
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct fixture *f = *state;

		f->eh.b.nr = 0;
		parse_function(f, programs[i]);
		assert_rule(at(f, LO), RULE(.cfa = CFA_UNSUPPORTED));
		assert_int_equal(f->rows.stats.unsupported, 1);
		assert_int_equal(f->rows.stats.bad_entries, 0);
	}
}

/* ---- signal frames ---- */

static void test_signal_trampoline(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_cie(&f->eh, "zRS", EH_X86_ENTRY);

	eh_fde(&f->eh, cie, LO - 1, 10,
	       EH_BYTES(DEF_CFA_EXPRESSION, 4, BREG(RSP), 0xa0, 0x01, DEREF, EXPRESSION, RIP, 3,
			BREG(RSP), 0xa8, 0x01));
	parse(f);
	assert_rule(at(f, LO - 1), RULE(.cfa = CFA_SIGNAL));
	assert_rule(at(f, LO + 8), RULE(.cfa = CFA_SIGNAL));
	assert_rule(at(f, LO + 9), RULE(.cfa = CFA_NONE));
}

static void test_signal_frame_of_another_kind(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_cie(&f->eh, "zRS", EH_X86_ENTRY);

	eh_fde(&f->eh, cie, LO, SIZE, EH_BYTES(ADVANCE(1), UNDEFINED, RIP));
	parse(f);
	assert_rule(at(f, LO), SP_RULE(8));
	assert_rule(at(f, LO + 1), RULE(.cfa = CFA_ROOT));
}

/* ---- arm64 ---- */

enum { X29 = 29, X30 = 30, ARM_SP = 31 };

static size_t arm_cie(struct fixture *f, const char *augmentation)
{
	f->in.machine = CFI_AARCH64;
	f->eh.ra_reg = X30;
	f->eh.code_align = 4;
	return eh_cie(&f->eh, augmentation, EH_BYTES(DEF_CFA, ARM_SP, 0));
}

static void test_arm_function(void **state)
{
	struct fixture *f = *state;
	size_t cie = arm_cie(f, "zR");

	eh_fde(&f->eh, cie, LO, SIZE,
	       EH_BYTES(ADVANCE(1), NEGATE_RA_STATE, ADVANCE(1), DEF_CFA_OFFSET, 32, OFFSET(X29), 4,
			OFFSET(X30), 3, ADVANCE(1), DEF_CFA_REGISTER, X29, ADVANCE(4), DEF_CFA,
			ARM_SP, 0, RESTORE(X30), RESTORE(X29), ADVANCE(1), NEGATE_RA_STATE,
			ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(X30), 1));
	parse(f);
	assert_rule(at(f, LO), RULE(.cfa = CFA_SP, .ra = RA_REG, .reg = X30));
	assert_rule(at(f, LO + 4), RULE(.cfa = CFA_SP, .ra = RA_REG, .reg = X30));
	assert_rule(at(f, LO + 8), RULE(.cfa = CFA_SP, .cfa_off = 32, .fp = FP_CFA, .fp_off = -32,
					.ra = RA_CFA_OFF, .aux = -24));
	assert_rule(at(f, LO + 12), RULE(.cfa = CFA_FP, .cfa_off = 32, .fp = FP_CFA, .fp_off = -32,
					 .ra = RA_CFA_OFF, .aux = -24));
	assert_rule(at(f, LO + 28), RULE(.cfa = CFA_SP, .ra = RA_REG, .reg = X30));
	assert_rule(at(f, LO + 36), SP_RULE(16)); /* the return address where RA_CFA looks */
	assert_int_equal(f->rows.stats.bad_entries, 0);
}

static void test_arm_signal_and_root(void **state)
{
	struct fixture *f = *state;
	size_t cie = arm_cie(f, "zRS");

	eh_fde(&f->eh, cie, LO, SIZE, EH_BYTES(DEF_CFA, X29, 0, OFFSET_EXTENDED_SF, X30, 0x7f));
	eh_fde(&f->eh, cie, LO + SIZE, SIZE, EH_BYTES(UNDEFINED, X30));
	parse(f);
	assert_rule(at(f, LO), RULE(.cfa = CFA_SIGNAL));
	assert_rule(at(f, LO + SIZE), RULE(.cfa = CFA_ROOT));
}

static void test_arm_instruction_on_x86(void **state)
{
	struct fixture *f = *state;

	parse_function(f, EH_BYTES(NEGATE_RA_STATE));
	assert_rule(at(f, LO), RULE(.cfa = CFA_UNSUPPORTED));
	assert_int_equal(f->rows.stats.bad_entries, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CFI_TEST(test_nothing),
		CFI_TEST(test_push_and_sub),
		CFI_TEST(test_frame_pointer),
		CFI_TEST(test_other_registers_make_no_rows),
		CFI_TEST(test_state_remembered_with_cfa),
		CFI_TEST(test_restore_is_to_the_cie),
		CFI_TEST(test_all_ways_to_advance),
		CFI_TEST(test_all_ways_to_store),
		CFI_TEST(test_advance_behind_the_end),
		CFI_TEST(test_plt),
		CFI_TEST(test_realigned_stack),
		CFI_TEST(test_deref_plus_literal),
		CFI_TEST(test_cfa_through_another_register),
		CFI_TEST(test_halves_of_a_cfa_outlive_an_expression),
		CFI_TEST(test_frame_pointer_stored_by_expression),
		CFI_TEST(test_frame_pointer_lost),
		CFI_TEST(test_outermost_frame),
		CFI_TEST(test_return_address_in_register),
		CFI_TEST(test_return_address_elsewhere),
		CFI_TEST(test_return_address_below_stack_pointer),
		CFI_TEST(test_other_stack),
		CFI_TEST(test_unsupported),
		CFI_TEST(test_signal_trampoline),
		CFI_TEST(test_signal_frame_of_another_kind),
		CFI_TEST(test_arm_function),
		CFI_TEST(test_arm_signal_and_root),
		CFI_TEST(test_arm_instruction_on_x86),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
