/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/unwind_world.h"

static void test_by_stack_pointer(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	outer_rows(w);
	start(w, at(0x2010), STACK, 0);
	poke(w, STACK + 8, at(0x3010));
	outer_frame(w, STACK + 16);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3010) | RA, at(0x4010) | RA);
	assert_int_equal(w->reads, 1);
}

static void test_by_frame_pointer(void **state)
{
	struct world *w = *state;

	/* Both frames stand on fp: the second one is only found when the first gives fp back. */
	row(w, 0x2000,
	    (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 });
	row(w, 0x3000,
	    (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 24, .fp = FP_CFA, .fp_off = -24 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	start(w, at(0x2010), STACK, STACK + 0x100);
	poke(w, STACK + 0x100, STACK + 0x200);
	poke(w, STACK + 0x108, at(0x3010));
	poke(w, STACK + 0x210, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3010) | RA, at(0x4010) | RA);
}

static void test_lost_frame_pointer_is_not_used(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16, .fp = FP_UNDEFINED });
	row(w, 0x3000,
	    (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	row(w, 0x5000, (struct unwind_rule){ .cfa = CFA_NONE });
	start(w, at(0x2010), STACK, STACK + 0x100);
	poke(w, STACK + 8, at(0x3010));
	poke(w, STACK + 0x108, at(0x4010));
	expect(w, UNWIND_READ_FP, at(0x2010), at(0x3010) | RA);
	/* Nor is it a chain that ended. */
	poke(w, STACK + 8, at(0x5010));
	expect(w, UNWIND_NO_FDE, at(0x2010), at(0x5010) | RA);
}

/* push %rbp; push %rbp; mov %rsp,%rbp; call: the callee pops the frame pointer before it returns. */
static void test_frame_pointer_pushed_for_the_callee(void **state)
{
	struct world *w = *state;
	const uint64_t outer = STACK + 0x200;

	row(w, 0x2000,
	    (struct unwind_rule){ .cfa = CFA_DEREF_FP, .aux = 16, .fp = FP_CFA, .fp_off = -16 });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA,
					     .fp_off = -16 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	poke(w, STACK + 0x100, outer);
	poke(w, STACK + 0x108, at(0x2020));
	poke(w, outer, STACK + 0x300);
	poke(w, outer + 8, at(0x4010));
	/* Interrupted before the call, and in the callee. */
	start(w, at(0x2010), STACK, STACK + 0x100);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x4010) | RA);
	start(w, at(0x3010), STACK, STACK + 0x100);
	expect(w, UNWIND_ROOT, at(0x3010), at(0x2020) | RA, at(0x4010) | RA);
}

static void test_realigned_stack(void **state)
{
	struct world *w = *state;

	/* DRAP: *(fp - 8) is the CFA, *fp the caller's fp. */
	row(w, 0x2000,
	    (struct unwind_rule){
		    .cfa = CFA_DEREF_FP, .cfa_off = -8, .fp = FP_DEREF_FP, .fp_off = 0 });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	start(w, at(0x2010), STACK, STACK + 0x100);
	poke(w, STACK + 0xf8, STACK + 0x1f0);
	poke(w, STACK + 0x1e8, at(0x3010));
	poke(w, STACK + 0x100, STACK + 0x300);
	poke(w, STACK + 0x308, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3010) | RA, at(0x4010) | RA);
}

static void test_deref_of_stack_pointer(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_DEREF_SP, .cfa_off = 40, .aux = 8 });
	outer_rows(w);
	start(w, at(0x2010), STACK, 0);
	poke(w, STACK + 40, STACK + 0x100);
	poke(w, STACK + 0x100, at(0x3010));
	outer_frame(w, STACK + 0x108);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3010) | RA, at(0x4010) | RA);
}

static void test_plt(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_PLT, .aux = 11 });
	outer_rows(w);
	/* Before the push of the relocation's number ... */
	start(w, at(0x202a), STACK, 0);
	poke(w, STACK, at(0x3010));
	outer_frame(w, STACK + 8);
	expect(w, UNWIND_ROOT, at(0x202a), at(0x3010) | RA, at(0x4010) | RA);
	/* ... and behind it. */
	start(w, at(0x202b), STACK, 0);
	poke(w, STACK, 7);
	poke(w, STACK + 8, at(0x3020));
	outer_frame(w, STACK + 16);
	expect(w, UNWIND_ROOT, at(0x202b), at(0x3020) | RA, at(0x4010) | RA);
}

static void test_register_in_leaf(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_REG, .reg = REG, .cfa_off = 8 });
	row(w, 0x2800,
	    (struct unwind_rule){ .cfa = CFA_DEREF_REG, .reg = REG, .cfa_off = -8, .aux = 16 });
	outer_rows(w);
	w->regs[arch_dwarf_to_reg[REG]] = STACK + 0x80;
	start(w, at(0x2010), STACK, 0);
	poke(w, STACK + 0x80, at(0x3010));
	outer_frame(w, STACK + 0x88);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3010) | RA, at(0x4010) | RA);

	start(w, at(0x2810), STACK, 0);
	poke(w, STACK + 0x78, STACK + 0xf0);
	poke(w, STACK + 0xf8, at(0x3020));
	outer_frame(w, STACK + 0x100);
	expect(w, UNWIND_ROOT, at(0x2810), at(0x3020) | RA, at(0x4010) | RA);
}

static void test_register_of_a_caller_is_unknown(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_REG, .reg = REG, .cfa_off = 8 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_SP, .ra = RA_REG, .reg = REG });
	row(w, 0x5000, (struct unwind_rule){ .cfa = CFA_UNSUPPORTED });
	row(w, 0x6000, (struct unwind_rule){ .cfa = CFA_REG, .reg = ARCH_DWARF_REGS_MASK + 1 + REG });
	w->regs[arch_dwarf_to_reg[REG]] = STACK + 0x80;
	start(w, at(0x6010), STACK, 0);		/* no such register, even in a leaf */
	expect(w, UNWIND_BAD_RULE, at(0x6010));
	start(w, at(0x2010), STACK, 0);
	for (uint64_t vaddr = 0x3010; vaddr < 0x6000; vaddr += 0x1000) {
		poke(w, STACK + 8, at(vaddr));
		expect(w, UNWIND_BAD_RULE, at(0x2010), at(vaddr) | RA);
	}
}

static void test_return_address_in_register(void **state)
{
	struct world *w = *state;

	/* Nothing pushed yet: the stack pointer stays, which only the innermost frame may do. */
	row(w, 0x2000,
	    (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 0, .ra = RA_REG, .reg = REG });
	outer_rows(w);
	w->regs[arch_dwarf_to_reg[REG]] = at(0x3010);
	start(w, at(0x2010), STACK, 0);
	outer_frame(w, STACK);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3010) | RA, at(0x4010) | RA);
}

static void test_return_address_elsewhere(void **state)
{
	struct world *w = *state;

	row(w, 0x2000,
	    (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 64, .ra = RA_CFA_OFF, .aux = -40 });
	outer_rows(w);
	start(w, at(0x2010), STACK, 0);
	poke(w, STACK + 24, at(0x3010));
	poke(w, STACK + 56, at(0x3020));
	outer_frame(w, STACK + 64);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3010) | RA, at(0x4010) | RA);
}

/* Stack of a handler at 0x2000, called by the trampoline at 0x2800; where the registers are. */
static uint64_t signal_frame(struct world *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	uint64_t context = STACK + 16 + ARCH_SIGNAL_CONTEXT;

	start(w, at(0x2010), STACK, 0);
	poke(w, STACK + 8, at(0x2800));
	poke(w, context + ARCH_SIGNAL_PC * 8, pc);
	poke(w, context + ARCH_SIGNAL_SP * 8, sp);
	poke(w, context + ARCH_SIGNAL_FP * 8, fp);
	return context;
}

static void signal_rows(struct world *w)
{
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x27ff,
	    (struct unwind_rule){ .cfa = CFA_SIGNAL }); /* one before: looked up by pc - 1 */
	row(w, 0x2810, (struct unwind_rule){ .cfa = CFA_NONE });
}

static void test_signal_frame(void **state)
{
	struct world *w = *state;

	signal_rows(w);
	row(w, 0x2900,
	    (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 });
	outer_rows(w);
	/* The interrupted frame is at its very first instruction: pc - 1 would be in the gap. */
	signal_frame(w, at(0x2900), STACK + 0x1000, STACK + 0x1100);
	poke(w, STACK + 0x1108, at(0x3010));
	outer_frame(w, STACK + 0x1110);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2800) | RA, at(0x2900), at(0x3010) | RA,
	       at(0x4010) | RA);
}

static void test_registers_of_interrupted_code(void **state)
{
	struct world *w = *state;
	uint64_t context;

	signal_rows(w);
	row(w, 0x2900, (struct unwind_rule){ .cfa = CFA_REG, .reg = REG, .cfa_off = 8 });
	outer_rows(w);
	context = signal_frame(w, at(0x2908), STACK + 0x1000, 0);
	w->regs[arch_dwarf_to_reg[REG]] = STACK + 0x2000;	/* the handler's, not to be used */
	poke(w, context + arch_dwarf_to_signal[REG] * 8ull, STACK + 0x1200);
	poke(w, STACK + 0x1200, at(0x3010));
	outer_frame(w, STACK + 0x1208);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2800) | RA, at(0x2908), at(0x3010) | RA,
	       at(0x4010) | RA);
	/* One frame further they are gone again. */
	poke(w, STACK + 0x1200, at(0x2908));
	expect(w, UNWIND_BAD_RULE, at(0x2010), at(0x2800) | RA, at(0x2908), at(0x2908) | RA);
}

static void test_signal_stack_may_lie_above(void **state)
{
	struct world *w = *state;

	/* sigaltstack: the interrupted stack is below the handler's. */
	signal_rows(w);
	outer_rows(w);
	signal_frame(w, at(0x3010), STACK + 0x100, 0);
	start(w, at(0x2010), STACK + 0x2000, 0);
	memmove((uint8_t *)w->stack + 0x2000, w->stack, 0x400);
	outer_frame(w, STACK + 0x100);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2800) | RA, at(0x3010), at(0x4010) | RA);
}

static void test_address_in_no_mapping(void **state)
{
	static const uint64_t outside[] = {
		0, 1, TEXT - 1, JIT - 1, JIT + OTHER_BYTES, PENDING + OTHER_BYTES, ~0ull
	};
	struct world *w = *state;

	outer_rows(w);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		start(w, outside[i], STACK, STACK + 0x40);
		expect(w, UNWIND_NO_MAPPING, outside[i] & UNWIND_ADDRESS_MASK);
	}
}

static void test_call_as_last_instruction(void **state)
{
	struct world *w = *state;

	/* A call that never returns ends the function: it would return into the next one. */
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 48 });
	row(w, 0x3800, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 8 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	start(w, at(0x2000), STACK, 0);
	poke(w, STACK + 8, at(0x3800));
	poke(w, STACK + 16 + 40, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x2000), at(0x3800) | RA, at(0x4010) | RA);
	/* The interrupted instruction itself is looked up exactly. */
	start(w, at(0x3800), STACK, 0);
	poke(w, STACK, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x3800), at(0x4010) | RA);
}

static void test_rule_carried_over_pages(void **state)
{
	struct world *w = *state;

	/* The function at 0x2000 is longer than a page of the table. Pages count from VADDR. */
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	/* Page 1 has rows of its own, further on. */
	row(w, 0x19000, (struct unwind_rule){ .cfa = CFA_UNSUPPORTED });
	row(w, 0x1a000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x31000, (struct unwind_rule){ .cfa = CFA_ROOT });	/* first byte of page 3 */
	start(w, at(0x2a000), STACK, 0);
	poke(w, STACK + 8, at(0x11000));	/* last call of page 0 */
	poke(w, STACK + 24, at(0x11001));	/* first byte of page 1 */
	poke(w, STACK + 40, at(0x31000));	/* last of page 2 */
	poke(w, STACK + 56, at(0x31001));	/* first of page 3 */
	expect(w, UNWIND_ROOT, at(0x2a000), at(0x11000) | RA, at(0x11001) | RA, at(0x31000) | RA,
	       at(0x31001) | RA);
}

static void test_unreadable_stack(void **state)
{
	struct world *w = *state;

	row(w, 0x2000,
	    (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 0x1010, .fp = FP_CFA, .fp_off = -24 });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_DEREF_SP, .cfa_off = 0x1000 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	poke(w, STACK + 0x1008, at(0x4010));
	start(w, at(0x2010), STACK, 0);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x4010) | RA);
	w->hole = STACK + 0x1000;
	expect(w, UNWIND_READ_RA, at(0x2010));
	w->hole = STACK;	/* there lies the saved fp */
	expect(w, UNWIND_READ_FP, at(0x2010));
	w->hole = STACK + 0x1000;
	start(w, at(0x3010), STACK, 0);
	expect(w, UNWIND_READ_RA, at(0x3010));
	start(w, at(0x2010), STACK + 4, 0);	/* unaligned stack */
	expect(w, UNWIND_READ_FP, at(0x2010));
}

/* "I could not look now" is another answer than "there is nothing". */
static void test_busy_memory(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x2100,
	    (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 24, .fp = FP_CFA, .fp_off = -16 });
	row(w, 0x2200, (struct unwind_rule){ .cfa = CFA_DEREF_SP, .cfa_off = 8 });
	row(w, 0x2300, (struct unwind_rule){ .cfa = CFA_SIGNAL });
	row(w, 0x2400, (struct unwind_rule){ .cfa = CFA_NONE });
	w->hole = STACK;
	w->hole_code = UNWIND_BUSY;
	for (uint64_t vaddr = 0x2010; vaddr < 0x2500; vaddr += 0x100) {
		start(w, at(vaddr), STACK, STACK + 0x40);
		expect(w, UNWIND_BUSY, at(vaddr));
	}
	w->mode = UNWIND_BY_FRAME_POINTERS;
	expect(w, UNWIND_BUSY, at(0x2410));
}

static void test_stack_pointer_must_grow(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	start(w, at(0x2010), STACK + 0x100, STACK + 0x100);
	poke(w, STACK + 0x108, at(0x3010));
	expect(w, UNWIND_SP_BACK, at(0x2010), at(0x3010) | RA);
	start(w, at(0x2010), STACK + 0x100, STACK + 0x108);
	poke(w, STACK + 0x110, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3010) | RA, at(0x4010) | RA);
}

static void test_return_address_zero(void **state)
{
	struct world *w = *state;

	/* As coroutines begin, where all that led there is known. */
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	start(w, at(0x2010), STACK, 0);
	poke(w, STACK + 8, at(0x2020));
	expect(w, UNWIND_ROOT_GUESS, at(0x2010), at(0x2020) | RA);
	/* The innermost frame may be in the middle of a change of stacks (swapcontext). */
	start(w, at(0x2010), STACK, 0);
	poke(w, STACK + 8, 0);
	expect(w, UNWIND_RA_ZERO, at(0x2010));
}

/* In code without unwind information, and behind it. */
static void test_return_address_zero_behind_guess(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16, .ra = RA_CFA | RULE_GUESSED });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	start(w, at(0x2010), STACK, 0);
	expect(w, UNWIND_RA_ZERO, at(0x2010));
	start(w, at(0x2010), STACK, 0);
	poke(w, STACK + 8, at(0x3010));
	expect(w, UNWIND_RA_ZERO, at(0x2010), at(0x3010) | RA | UNWIND_GUESSED);
}

static void test_truncated(void **state)
{
	struct world *w = *state;

	/* A recursion of eight bytes a frame, 2,048 of them in the stack. */
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 8 });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_ROOT });
	for (uint64_t sp = STACK; sp < STACK + STACK_BYTES; sp += 8)
		poke(w, sp, at(0x2020));
	start(w, at(0x2010), STACK, 0);
	for (w->max_frames = 1; w->max_frames <= 127; w->max_frames += 42) {
		go(w);
		assert_int_equal(w->nr, w->max_frames);
		assert_int_equal(w->end, UNWIND_TRUNCATED);
		assert_int_equal(w->frames[w->nr - 1], w->nr == 1 ? at(0x2010) : (at(0x2020) | RA));
		assert_int_equal(w->frames[w->nr], 0xeeeeeeeeeeeeeeeeull);
	}
	w->max_frames = 0;
	go(w);
	assert_int_equal(w->nr, UNWIND_MAX_FRAMES);
	assert_int_equal(w->end, UNWIND_TRUNCATED);
	w->max_frames = 5000;
	go(w);
	assert_int_equal(w->nr, UNWIND_MAX_FRAMES);
	assert_int_equal(w->end, UNWIND_TRUNCATED);
	/* One that fits exactly is whole. */
	poke(w, STACK + 8 * 1022, at(0x3010));
	go(w);
	assert_int_equal(w->nr, 1024);
	assert_int_equal(w->end, UNWIND_ROOT);
	poke(w, STACK + 8 * 1022, at(0x2020));
	poke(w, STACK + 8 * 1023, at(0x3010));
	go(w);
	assert_int_equal(w->nr, 1024);
	assert_int_equal(w->end, UNWIND_TRUNCATED);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_by_stack_pointer),
		T(test_by_frame_pointer),
		T(test_lost_frame_pointer_is_not_used),
		T(test_frame_pointer_pushed_for_the_callee),
		T(test_realigned_stack),
		T(test_deref_of_stack_pointer),
		T(test_plt),
		T(test_register_in_leaf),
		T(test_register_of_a_caller_is_unknown),
		T(test_return_address_in_register),
		T(test_return_address_elsewhere),
		T(test_signal_frame),
		T(test_registers_of_interrupted_code),
		T(test_signal_stack_may_lie_above),
		T(test_address_in_no_mapping),
		T(test_call_as_last_instruction),
		T(test_rule_carried_over_pages),
		T(test_unreadable_stack),
		T(test_busy_memory),
		T(test_stack_pointer_must_grow),
		T(test_return_address_zero), T(test_return_address_zero_behind_guess),
		T(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
