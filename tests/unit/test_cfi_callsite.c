/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/cfi_fixture.h"

/* Two functions and their code: the caller at LO, whose CFA is a register, calls the callee at once. */
#define CALLEE (LO + 0x100)
#define SITE (LO + 8)		/* behind push %rbx, mov %rsp, %rbx and the call */

enum { R11 = 11 };

struct bytes {
	uint8_t v[0x200];
};

static int read_bytes(void *ctx, uint64_t vaddr, uint8_t *buf, size_t len)
{
	const struct bytes *o = ctx;

	if (vaddr < LO || vaddr + len > LO + sizeof(o->v))
		return -1;
	memcpy(buf, o->v + (vaddr - LO), len);
	return 0;
}

static struct bytes program(struct eh_bytes callee)
{
	static const uint8_t caller[] = { 0x53, 0x48, 0x89, 0xe3, 0xe8, 0xf7, 0, 0, 0, 0x5b, 0xc3 };
	struct bytes o;

	memset(o.v, 0x90, sizeof(o.v));
	memcpy(o.v, caller, sizeof(caller));
	memcpy(o.v + (CALLEE - LO), callee.v, callee.nr);
	return o;
}

/* The rule at the last byte of the call, when the caller's CFA counts from reg. */
static struct unwind_rule rule_at_call(struct fixture *f, uint8_t reg, struct eh_bytes callee, struct eh_bytes cfi)
{
	struct bytes code = program(callee);
	size_t cie;

	f->eh.b.nr = 0;
	f->in.read_code = read_bytes;
	f->in.ctx = &code;
	cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);
	eh_fde(&f->eh, cie, LO, SIZE, EH_BYTES(ADVANCE(4), DEF_CFA, reg, 16));
	eh_fde(&f->eh, cie, CALLEE, callee.nr, cfi);
	parse(f);
	assert_rule(at(f, SITE - 1), RULE(.cfa = CFA_REG, .reg = reg, .cfa_off = 16));
	assert_rule(at(f, SITE + 1), RULE(.cfa = CFA_REG, .reg = reg, .cfa_off = 16));
	return at(f, SITE);
}

#define KEPT(r, at) RULE(.cfa = CFA_CALLEE_SAVED, .reg = (r), .cfa_off = 16, .aux = (at))
#define NOT_KEPT(r) RULE(.cfa = CFA_REG, .reg = (r), .cfa_off = 16)

/* push %r12; push %rbx; sub $8, %rsp; xor %ebx, %ebx; call; add $8, %rsp; pop %rbx; pop %r12; ret */
#define PUSHES 0x41, 0x54, 0x53, 0x48, 0x83, 0xec, 0x08
#define BODY 0x31, 0xdb, 0xe8, 0, 0, 0, 0
#define POPS 0x48, 0x83, 0xc4, 0x08, 0x5b, 0x41, 0x5c, 0xc3
#define PUSHES_CFI \
	ADVANCE(2), DEF_CFA_OFFSET, 16, OFFSET(12), 2, ADVANCE(1), DEF_CFA_OFFSET, 24, OFFSET(RBX), 3, ADVANCE(4), \
		DEF_CFA_OFFSET, 32
#define POPS_CFI ADVANCE(4), DEF_CFA_OFFSET, 24, ADVANCE(1), DEF_CFA_OFFSET, 16, ADVANCE(2), DEF_CFA_OFFSET, 8

static void test_pushed(void **state)
{
	struct fixture *f = *state;

	assert_rule(rule_at_call(f, RBX, EH_BYTES(PUSHES, BODY, POPS), EH_BYTES(PUSHES_CFI, ADVANCE(7), POPS_CFI)),
		    KEPT(RBX, -24));
}

/* push %rbp; mov %rsp, %rbp; push %r12; push %rbx; xor %ebx, %ebx; call; pop %rbx; pop %r12; pop %rbp; ret */
static void test_frame_pointer(void **state)
{
	struct fixture *f = *state;
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x53, BODY, 0x5b, 0x41, 0x5c, 0x5d, 0xc3 };
	struct eh_bytes callee = { code, sizeof(code) };

	assert_rule(rule_at_call(f, RBX, callee,
				 EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(RBP), 2, ADVANCE(3), DEF_CFA_REGISTER, RBP,
					  ADVANCE(3), OFFSET(12), 3, OFFSET(RBX), 4, ADVANCE(11), DEF_CFA, RSP, 8)),
		    KEPT(RBX, -32));
	/* As GCC says it: only where the register changes. The last byte of it here would be too late. */
	assert_rule(rule_at_call(f, RBX, callee,
				 EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(RBP), 2, ADVANCE(3), DEF_CFA_REGISTER, RBP,
					  ADVANCE(5), OFFSET(12), 3, OFFSET(RBX), 4, ADVANCE(9), DEF_CFA, RSP, 8)),
		    NOT_KEPT(RBX));
}

static void test_untouched(void **state)
{
	struct fixture *f = *state;

	/* mov (%r11), %rcx; xor %eax, %eax; je behind it; ret */
	struct eh_bytes callee = EH_BYTES(0x49, 0x8b, 0x0b, 0x31, 0xc0, 0x74, 0, 0xc3);

	assert_rule(rule_at_call(f, R11, callee, EH_NONE), KEPT(R11, INT32_MIN));
	assert_rule(rule_at_call(f, RBX, callee, EH_NONE), KEPT(RBX, INT32_MIN));
	assert_rule(rule_at_call(f, RAX, callee, EH_NONE), NOT_KEPT(RAX));
	assert_rule(rule_at_call(f, 2, callee, EH_NONE), NOT_KEPT(2));	/* rcx */
}

/* Each is like one above but for something that loses the register. */
static void test_lost(void **state)
{
	struct fixture *f = *state;

	/* Called code, a jump to elsewhere, through a register; syscall, of which nothing is written at its name */
	assert_rule(rule_at_call(f, R11, EH_BYTES(0xe8, 0, 0, 0, 0, 0xc3), EH_NONE), NOT_KEPT(R11));
	assert_rule(rule_at_call(f, R11, EH_BYTES(0x31, 0xc0, 0xe9, 0, 1, 0, 0), EH_NONE), NOT_KEPT(R11));
	assert_rule(rule_at_call(f, R11, EH_BYTES(0xff, 0xe1, 0x90), EH_NONE), NOT_KEPT(R11));
	assert_rule(rule_at_call(f, R11, EH_BYTES(0x0f, 0x05, 0xc3), EH_NONE), NOT_KEPT(R11));
	assert_rule(rule_at_call(f, R11, EH_BYTES(0x06, 0xc3), EH_NONE), NOT_KEPT(R11));	/* no instruction */
	/* A register that callers do not expect back may be pushed, too; but who knows what for. */
	assert_rule(rule_at_call(f, R11, EH_BYTES(0x41, 0x53, 0x45, 0x31, 0xdb, 0x41, 0x5b, 0xc3),
				 EH_BYTES(ADVANCE(2), DEF_CFA_OFFSET, 16, OFFSET(R11), 2)), NOT_KEPT(R11));
	/* xor %ebx, %ebx before the push; a call before it; stored by mov; a jump to another function behind pop */
	assert_rule(rule_at_call(f, RBX, EH_BYTES(0x31, 0xdb, PUSHES, BODY, POPS),
				 EH_BYTES(ADVANCE(2), PUSHES_CFI, ADVANCE(7), POPS_CFI)), NOT_KEPT(RBX));
	assert_rule(rule_at_call(f, RBX, EH_BYTES(0xe8, 0, 0, 0, 0, PUSHES, BODY, POPS),
				 EH_BYTES(ADVANCE(5), PUSHES_CFI, ADVANCE(7), POPS_CFI)), NOT_KEPT(RBX));
	assert_rule(rule_at_call(f, RBX, EH_BYTES(0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x5c, 0x24, 0x10, 0x31, 0xdb, 0xc3),
				 EH_BYTES(ADVANCE(4), DEF_CFA_OFFSET, 32, ADVANCE(5), OFFSET(RBX), 2)), NOT_KEPT(RBX));
	assert_rule(rule_at_call(f, RBX, EH_BYTES(0x53, 0x31, 0xdb, 0x5b, 0xe9, 0, 1, 0, 0),
				 EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(RBX), 2, ADVANCE(3), DEF_CFA_OFFSET, 8)),
		    NOT_KEPT(RBX));
	/* Unwind information that says another place than the push */
	assert_rule(rule_at_call(f, RBX, EH_BYTES(0x53, 0x31, 0xdb, 0x5b, 0xc3),
				 EH_BYTES(ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(RBX), 3, ADVANCE(3), DEF_CFA_OFFSET, 8)),
		    NOT_KEPT(RBX));
}

/* Behind the last instruction of the caller, and where its code is not to be had. */
static void test_no_code(void **state)
{
	struct fixture *f = *state;
	size_t cie = eh_cie(&f->eh, "zR", EH_X86_ENTRY);
	struct bytes code = program(EH_BYTES(0xc3));

	f->in.read_code = read_bytes;
	f->in.ctx = &code;
	eh_fde(&f->eh, cie, LO - 0x800, SIZE, EH_BYTES(DEF_CFA, RBX, 16));
	eh_fde(&f->eh, cie, LO, SIZE, EH_BYTES(ADVANCE(4), DEF_CFA, RBX, 16));
	parse(f);			/* and nobody knows a function at CALLEE */
	assert_rule(at(f, LO - 0x800), RULE(.cfa = CFA_REG, .reg = RBX, .cfa_off = 16));
	assert_rule(at(f, SITE), RULE(.cfa = CFA_REG, .reg = RBX, .cfa_off = 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CFI_TEST(test_pushed),
		CFI_TEST(test_frame_pointer),
		CFI_TEST(test_untouched),
		CFI_TEST(test_lost),
		CFI_TEST(test_no_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
