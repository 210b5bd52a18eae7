/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/unwind_world.h"

/*
 * 0x2000 is called by 0x2800, whose CFA counts from REG: at the call, stack is STACK + 0x100, and the callee pushed REG 24
 * bytes below that. 0x2f00 is the callee before it has pushed anything.
 */
#define CALLER_SP (STACK + 0x100)
#define SLOT (CALLER_SP - 24)

static void rows(struct world *w, int32_t slot)
{
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 32 });
	row(w, 0x2800, (struct unwind_rule){ .cfa = CFA_REG, .reg = REG, .cfa_off = 24 });
	row(w, 0x280f, (struct unwind_rule){ .cfa = CFA_CALLEE_SAVED, .reg = REG, .cfa_off = 24, .aux = slot });
	row(w, 0x2810, (struct unwind_rule){ .cfa = CFA_REG, .reg = REG, .cfa_off = 24 });
	row(w, 0x2f00, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 8 });
	outer_rows(w);
	poke(w, CALLER_SP - 8, at(0x2810));
	poke(w, STACK + 0x310, at(0x3010));	/* CFA of the caller: STACK + 0x318 */
	outer_frame(w, STACK + 0x318);
}

static void set_reg(struct world *w, uint64_t value)
{
	w->regs[arch_dwarf_to_reg[REG]] = value;
}

static void test_pushed(void **state)
{
	struct world *w = *state;

	rows(w, -24);
	set_reg(w, 0x1234);
	poke(w, SLOT, STACK + 0x300);
	start(w, at(0x2010), CALLER_SP - 32, 0);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2810) | RA, at(0x3010) | RA, at(0x4010) | RA);
}

/* The place has an old value; one that would be believed. */
static void test_not_pushed_yet(void **state)
{
	struct world *w = *state;

	rows(w, -24);
	set_reg(w, STACK + 0x300);
	poke(w, SLOT, STACK + 0x200);
	start(w, at(0x2f10), CALLER_SP - 8, 0);
	expect(w, UNWIND_ROOT, at(0x2f10), at(0x2810) | RA, at(0x3010) | RA, at(0x4010) | RA);
}

static void test_never_pushed(void **state)
{
	struct world *w = *state;

	rows(w, INT32_MIN);
	set_reg(w, STACK + 0x300);
	start(w, at(0x2010), CALLER_SP - 32, 0);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2810) | RA, at(0x3010) | RA, at(0x4010) | RA);
}

static void test_not_believed(void **state)
{
	struct world *w = *state;
	const uint64_t bad[] = { 0, SLOT, CALLER_SP - 24 - 8, CALLER_SP + UNWIND_MAX_KEPT_BYTES, ~0ull };

	rows(w, -24);
	start(w, at(0x2010), CALLER_SP - 32, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		poke(w, SLOT, bad[i]);
		go(w);
		assert_int_equal(w->nr, 2);
		/* A CFA that is the stack pointer itself would not go further out. */
		assert_int_equal(w->end, bad[i] == SLOT ? UNWIND_SP_BACK : UNWIND_BAD_RULE);
	}
}

static void test_unreadable(void **state)
{
	struct world *w = *state;

	rows(w, -24);
	row(w, 0x6000, (struct unwind_rule){ .cfa = CFA_CALLEE_SAVED, .reg = REG, .cfa_off = 24, .aux = 0x1000 });
	poke(w, CALLER_SP - 8, at(0x6010));
	start(w, at(0x2010), CALLER_SP - 32, 0);
	w->hole = STACK + 0x1000;
	expect(w, UNWIND_BAD_RULE, at(0x2010), at(0x6010) | RA);
	w->hole_code = UNWIND_BUSY;
	expect(w, UNWIND_BUSY, at(0x2010), at(0x6010) | RA);
}

/* Nobody is interrupted in the middle of an instruction, but foreign unwind information may say anything. */
static void test_only_for_callers(void **state)
{
	struct world *w = *state;

	rows(w, -24);
	set_reg(w, STACK + 0x300);
	start(w, at(0x280f), CALLER_SP, 0);
	expect(w, UNWIND_BAD_RULE, at(0x280f));
}

/* A handler runs on another stack; what it interrupted had not pushed yet: the register is in the ucontext. */
static void test_behind_a_signal(void **state)
{
	struct world *w = *state;
	uint64_t frame = STACK + 0x2000, context = frame + ARCH_SIGNAL_CONTEXT;

	rows(w, -24);
	row(w, 0x6000, (struct unwind_rule){ .cfa = CFA_SIGNAL });
	set_reg(w, 0x1234);
	poke(w, SLOT, STACK + 0x200);
	poke(w, context + ARCH_SIGNAL_PC * 8, at(0x2f10));
	poke(w, context + ARCH_SIGNAL_SP * 8, CALLER_SP - 8);
	poke(w, context + arch_dwarf_to_signal[REG] * 8, STACK + 0x300);
	start(w, at(0x6010), frame, 0);
	expect(w, UNWIND_ROOT, at(0x6010), at(0x2f10), at(0x2810) | RA, at(0x3010) | RA, at(0x4010) | RA);
}

/* A handler is no return address: its rule is the one at it, not before it, and its frame says so. */
static void test_handler(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_EH_RETURN, .cfa_off = -8, .fp = FP_DEREF_FP, .ra = RULE_EXACT });
	row(w, 0x2800, (struct unwind_rule){ .cfa = CFA_UNSUPPORTED });
	row(w, 0x2810, (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16 });
	outer_rows(w);
	start(w, at(0x2010), STACK, STACK + 0x80);
	poke(w, STACK + 0x78, STACK + 0x100);		/* the handler's stack pointer, */
	poke(w, STACK + 0x80, STACK + 0x180);		/* its frame pointer, */
	poke(w, STACK + 0xf8, at(0x2810));		/* and where it begins */
	poke(w, STACK + 0x188, at(0x3010));
	outer_frame(w, STACK + 0x190);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2810), at(0x3010) | RA, at(0x4010) | RA);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pushed),
		TEST(test_not_pushed_yet),
		TEST(test_never_pushed),
		TEST(test_not_believed),
		TEST(test_unreadable),
		TEST(test_only_for_callers),
		TEST(test_behind_a_signal),
		TEST(test_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
