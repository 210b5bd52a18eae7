/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/cfi_fixture.h"

/*
 * A function like _Unwind_RaiseException, by its essentials: at 0x00 push %rbp; mov %rsp, %rbp; push %rdx; push %rax; at 0x06
 * je 0x30; at 0x08 call; at 0x0d mov -0x58(%rbp), %rsi; mov -0x60(%rbp), %rdi; at 0x15 call; at 0x1a mov %rsi, 8(%rbp,%rdx);
 * lea 8(%rbp,%rdx), %rcx; nops; at 0x2a pop %rbp; at 0x2b mov %rcx, %rsp; pop %rcx; jmp *%rcx; at 0x31 ret.
 */
#define SECOND_CALL 0x15
#define STORED 0x1f		/* from here on the handler's address is where return addresses are */
#define EPILOGUE 0x2a

static const uint8_t raise_code[SIZE] = {
	0x55, 0x48, 0x89, 0xe5, 0x52, 0x50, 0x74, 0x29, 0xe8, 0, 1, 0, 0, 0x48, 0x8b, 0x75, 0xa8, 0x48, 0x8b, 0x7d, 0xa0,
	0xe8, 0, 1, 0, 0, 0x48, 0x89, 0x74, 0x15, 0x08, 0x48, 0x8d, 0x4c, 0x15, 0x08, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	0x5d, 0x48, 0x89, 0xcc, 0x59, 0xff, 0xe1, 0xc3,
};

#define FRAME ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(RBP), 2, ADVANCE(3), DEF_CFA_REGISTER, RBP
#define SAVES ADVANCE(2), OFFSET(1), 3, OFFSET(RAX), 4
#define END ADVANCE(0x24), DEF_CFA, 2, 8, RESTORE(RBP), ADVANCE(3), DEF_CFA_REGISTER, RSP, ADVANCE(4), DEF_CFA, RBP, 16, \
	OFFSET(RBP), 2

static int read_bytes(void *ctx, uint64_t vaddr, uint8_t *buf, size_t len)
{
	if (vaddr < LO || vaddr + len > LO + SIZE)
		return -1;
	memcpy(buf, (const uint8_t *)ctx + (vaddr - LO), len);
	return 0;
}

static void parse_code(struct fixture *f, uint8_t code[SIZE], struct eh_bytes cfi)
{
	f->eh.b.nr = 0;
	f->in.read_code = read_bytes;
	f->in.ctx = code;
	parse_function(f, cfi);
}

static const struct unwind_rule own = { .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 };
static const struct unwind_rule handlers = { .cfa = CFA_EH_RETURN, .cfa_off = -0x60, .fp = FP_DEREF_FP };
static const struct unwind_rule handlers_exact = {
	.cfa = CFA_EH_RETURN, .cfa_off = -0x60, .fp = FP_DEREF_FP, .ra = RULE_EXACT,
};

static void test_from_call_to_epilogue(void **state)
{
	struct fixture *f = *state;
	uint8_t code[SIZE];

	memcpy(code, raise_code, SIZE);
	parse_code(f, code, EH_BYTES(FRAME, SAVES, END));
	assert_rule(at(f, LO + 0x0b), own);
	for (uint64_t i = 0x0c; i < EPILOGUE; i++)
		assert_rule(at(f, LO + i), i < STORED ? handlers : handlers_exact);
	assert_rule(at(f, LO + EPILOGUE), RULE(.cfa = CFA_REG, .reg = 2, .cfa_off = 8, .ra = RULE_EXACT));
	assert_rule(at(f, LO + EPILOGUE + 3), RULE(.cfa = CFA_SP, .cfa_off = 8, .ra = RULE_EXACT));
	assert_rule(at(f, LO + 0x31), own);
}

/* The address first and by another register, as GCC 11 does: mov -0x58(%rbp), %r9; ... mov %r9, %rsi. */
static void test_by_another_register(void **state)
{
	struct fixture *f = *state;
	uint8_t code[SIZE];

	memcpy(code, raise_code, SIZE);
	code[0x0d] = 0x4c;
	code[0x0f] = 0x4d;
	parse_code(f, code, EH_BYTES(FRAME, SAVES, END));
	assert_rule(at(f, LO + 0x0c), handlers);
}

struct change {
	uint8_t at, byte;
};

/* One byte makes it something else. */
static void test_what_is_not_so(void **state)
{
	static const struct change changes[] = {
		{ 0x07, 0x08 },		/* a jump into the stretch */
		{ 0x10, 0xb0 },		/* two fields that are not side by side */
		{ 0x13, 0x75 },		/* no first argument from the frame */
		{ 0x15, 0xe9 },		/* a jump, and no second call */
		{ 0x24, 0xc3 },		/* a way out */
		{ 0x29, 0x06 },		/* no instruction */
	};
	struct fixture *f = *state;
	uint8_t code[SIZE];

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		memcpy(code, raise_code, SIZE);
		code[changes[i].at] = changes[i].byte;
		parse_code(f, code, EH_BYTES(FRAME, SAVES, END));
		assert_rule(at(f, LO + 0x0c), own);
		assert_rule(at(f, LO + SECOND_CALL), own);
	}
	/* Nor any function that does not save what a handler is handed, or without a frame pointer. */
	memcpy(code, raise_code, SIZE);
	parse_code(f, code, EH_BYTES(FRAME, ADVANCE(2), OFFSET(RBX), 4, END));
	assert_rule(at(f, LO + 0x0c), own);
	parse_code(f, code, EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16, SAVES));
	assert_rule(at(f, LO + 0x0c), SP_RULE(16));
}

/* Up to the end of the function there must be an epilogue with rules of its own. */
static void test_no_epilogue(void **state)
{
	struct fixture *f = *state;
	uint8_t code[SIZE];

	memcpy(code, raise_code, SIZE);
	parse_code(f, code, EH_BYTES(FRAME, SAVES));
	assert_rule(at(f, LO + 0x0c), own);
	f->in.read_code = NULL;
	f->eh.b.nr = 0;
	parse_function(f, EH_BYTES(FRAME, SAVES, END));
	assert_rule(at(f, LO + 0x0c), own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CFI_TEST(test_from_call_to_epilogue),
		CFI_TEST(test_by_another_register),
		CFI_TEST(test_what_is_not_so),
		CFI_TEST(test_no_epilogue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
