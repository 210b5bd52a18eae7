/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code without unwind information: steps by the frame pointer, and when they are not believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/unwind_world.h"

static void test_gap_by_frame_pointer(void **state)
{
	struct world *w = *state;

	/* 0x5010 has no rule. Its caller has, and stands on the fp that the chain gave back. */
	row(w, 0x3000,
	    (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 });
	row(w, 0x3800, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 32 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	row(w, 0x5000, (struct unwind_rule){ .cfa = CFA_NONE });
	start(w, at(0x5010), STACK, STACK + 0x40);
	poke(w, STACK + 0x40, STACK + 0x80);
	poke(w, STACK + 0x48, at(0x3010));
	poke(w, STACK + 0x88, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x5010), at(0x3010) | GUESS, at(0x4010) | RA);
	/* The stack pointer is known from then on too. */
	poke(w, STACK + 0x48, at(0x3810));
	poke(w, STACK + 0x50 + 24, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x5010), at(0x3810) | GUESS, at(0x4010) | RA);
	w->mode = UNWIND_BY_TABLES;
	expect(w, UNWIND_NO_FDE, at(0x5010));
}

static void test_guess_must_be_believable(void **state)
{
	struct world *w = *state;

	outer_rows(w);
	start(w, at(0x5010), STACK + 0x100, STACK + 0x140);
	poke(w, STACK + 0x140, 3);	/* not a frame pointer */
	poke(w, STACK + 0x148, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x5010), at(0x4010) | GUESS);

	poke(w, STACK + 0x148, TEXT - 0x1000);		/* outside of every mapping */
	expect(w, UNWIND_NO_FDE, at(0x5010));
	poke(w, STACK + 0x148, at(VADDR_END)); /* its call would be the last byte: inside */
	expect(w, UNWIND_NO_FDE, at(0x5010), at(VADDR_END) | GUESS);
	poke(w, STACK + 0x148, at(VADDR_END) + 1);
	expect(w, UNWIND_NO_FDE, at(0x5010));
	poke(w, STACK + 0x148, at(0x4010));

	start(w, at(0x5010), STACK + 0x100, STACK + 0x144);	/* unaligned */
	expect(w, UNWIND_NO_FDE, at(0x5010));
	start(w, at(0x5010), STACK + 0x148, STACK + 0x140);	/* below the stack pointer */
	expect(w, UNWIND_NO_FDE, at(0x5010));
	start(w, at(0x5010), STACK + 0x140 - UNWIND_MAX_GUESS_BYTES, STACK + 0x140);
	expect(w, UNWIND_ROOT, at(0x5010), at(0x4010) | GUESS);
	start(w, at(0x5010), STACK + 0x138 - UNWIND_MAX_GUESS_BYTES,
	      STACK + 0x140); /* too far away */
	expect(w, UNWIND_NO_FDE, at(0x5010));
	start(w, at(0x5010), STACK + 0x100,
	      0); /* not one at all: no frame is known to be outermost */
	expect(w, UNWIND_NO_FDE, at(0x5010));
}

static void test_chain_that_ends_with_zero(void **state)
{
	struct world *w = *state;

	outer_rows(w);
	start(w, at(0x5010), STACK, STACK + 0x40);
	poke(w, STACK + 0x40, 0);
	poke(w, STACK + 0x48, at(0x2820));
	expect(w, UNWIND_ROOT_GUESS, at(0x5010), at(0x2820) | GUESS);
	poke(w, STACK + 0x48, BARE + 0x20);
	expect(w, UNWIND_ROOT_GUESS, at(0x5010), (BARE + 0x20) | GUESS);
	/* Return address 0, as some threads begin. */
	poke(w, STACK + 0x48, 0);
	expect(w, UNWIND_ROOT_GUESS, at(0x5010));
}

static void test_frame_pointer_mode(void **state)
{
	struct world *w = *state;

	/* Tables are not looked at: the rule would lead elsewhere, 0x123 is in no mapping. */
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	w->mode = UNWIND_BY_FRAME_POINTERS;
	start(w, at(0x2010), STACK, STACK + 0x40);
	poke(w, STACK + 8, at(0x4010));
	poke(w, STACK + 0x40, STACK + 0x80);
	poke(w, STACK + 0x48, 0x123);
	poke(w, STACK + 0x80, STACK + 0xc0);
	poke(w, STACK + 0x88, at(0x3010));
	poke(w, STACK + 0xc0, 0);
	poke(w, STACK + 0xc8, at(0x3020));
	expect(w, UNWIND_FP_END, at(0x2010), 0x123 | GUESS, at(0x3010) | RA, at(0x3020) | RA);
	poke(w, STACK + 0x80, STACK + 0x40);	/* a circle */
	expect(w, UNWIND_FP_END, at(0x2010), 0x123 | GUESS, at(0x3010) | RA);
	poke(w, STACK + 0x80, 0x7ff0000000000ull);	/* not stack */
	expect(w, UNWIND_READ_RA, at(0x2010), 0x123 | GUESS, at(0x3010) | RA);
	start(w, at(0x2010), STACK, 0);
	expect(w, UNWIND_FP_END, at(0x2010));
}

static void test_code_without_table(void **state)
{
	struct world *w = *state;

	outer_rows(w);
	start(w, JIT + 8, STACK, STACK + 3);
	expect(w, UNWIND_JIT, JIT + 8);
	start(w, BARE + 8, STACK, STACK + 3);
	expect(w, UNWIND_NO_FDE, BARE + 8);
	start(w, BARE, STACK, STACK + 3);
	expect(w, UNWIND_NO_FDE, BARE);
	start(w, JIT + 8, STACK, STACK + 0x40);
	poke(w, STACK + 0x40, STACK + 0x80);
	poke(w, STACK + 0x48, BARE + 8);
	poke(w, STACK + 0x88, at(0x4010));
	expect(w, UNWIND_ROOT, JIT + 8, (BARE + 8) | GUESS, at(0x4010) | GUESS);
	w->mode = UNWIND_BY_TABLES;
	expect(w, UNWIND_JIT, JIT + 8);
	start(w, BARE + 8, STACK, STACK + 0x40);
	expect(w, UNWIND_NO_FDE, BARE + 8);
}

/* Whoever has the stack walks it again when the table is there: nothing may be guessed meanwhile. */
static void test_table_not_there_yet(void **state)
{
	struct world *w = *state;

	outer_rows(w);
	poke(w, STACK + 0x40, STACK + 0x80);
	poke(w, STACK + 0x48, PENDING + 8);
	poke(w, STACK + 0x88, at(0x4010));
	start(w, PENDING + 8, STACK, STACK + 0x40);
	expect(w, UNWIND_NO_TABLE, PENDING + 8);
	start(w, JIT + 8, STACK, STACK + 0x40);
	expect(w, UNWIND_NO_TABLE, JIT + 8, (PENDING + 8) | GUESS);
	w->mode = UNWIND_BY_TABLES;
	start(w, PENDING + 8, STACK, STACK + 0x40);
	expect(w, UNWIND_NO_TABLE, PENDING + 8);
}

/* Rules that come from reading code lead to guessed frames; the frames behind those are as good as their rules. */
#if ARCH_KNOWS_CALLS
/*
 * The first frame of a coroutine: nobody has called what its return address leads to, in code
 * without call frame information. Whatever is above it on the stack is not asked.
 */
static void test_planted_return_address(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16, .ra = RULE_GUESSED });
	row(w, 0x2800, (struct unwind_rule){ .cfa = CFA_NONE });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	w->has_code = true;
	start(w, at(0x3010), STACK, 0);
	poke(w, STACK + 8, at(0x2020));
	expect(w, UNWIND_ROOT_GUESS, at(0x3010), at(0x2020) | RA);
	poke(w, STACK + 24, at(0x4010));
	expect(w, UNWIND_ROOT_GUESS, at(0x3010), at(0x2020) | RA);
	poke(w, STACK + 8, at(0x2820));
	expect(w, UNWIND_ROOT_GUESS, at(0x3010), at(0x2820) | RA);
	/* One that a call has put there is no end. */
	poke(w, STACK + 8, at(0x2040));
	code(w, at(0x2040) - 5, 0xe8, 0, 0, 0, 0);
	expect(w, UNWIND_ROOT, at(0x3010), at(0x2040) | RA, at(0x4010) | GUESS);
	/* Nor is where the thread is itself, nor one behind a guess, nor one in code not known. */
	start(w, at(0x2020), STACK, 0);
	poke(w, STACK + 8, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x2020), at(0x4010) | GUESS);
	poke(w, STACK + 8, at(0x2030));
	expect(w, UNWIND_ROOT, at(0x2020), at(0x2030) | GUESS, at(0x4010) | GUESS);
	w->has_code = false;
	start(w, at(0x3010), STACK, 0);
	poke(w, STACK + 8, at(0x2020));
	expect(w, UNWIND_ROOT, at(0x3010), at(0x2020) | RA, at(0x4010) | GUESS);
}
#endif

static void test_guessed_rule(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16, .ra = RULE_GUESSED });
	row(w, 0x2800,
	    (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 64, .ra = RA_CFA_OFF | RULE_GUESSED, .aux = -40 });
	row(w, 0x2900, (struct unwind_rule){ .cfa = CFA_SP, .ra = RA_REG | RULE_GUESSED, .reg = REG });
	row(w, 0x2a00, (struct unwind_rule){ .cfa = CFA_ROOT, .ra = RULE_GUESSED });
	outer_rows(w);
	start(w, at(0x2010), STACK, 0);
	poke(w, STACK + 8, at(0x3010));
	outer_frame(w, STACK + 16);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3010) | GUESS, at(0x4010) | RA);
	start(w, at(0x2810), STACK + 0x100, 0);
	poke(w, STACK + 0x100 + 24, at(0x3010));
	outer_frame(w, STACK + 0x140);
	expect(w, UNWIND_ROOT, at(0x2810), at(0x3010) | GUESS, at(0x4010) | RA);
	start(w, at(0x2910), STACK, 0);
	w->regs[arch_dwarf_to_reg[REG]] = at(0x2a10);
	expect(w, UNWIND_ROOT_GUESS, at(0x2910), at(0x2a10) | GUESS);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_gap_by_frame_pointer),	   T(test_guess_must_be_believable),
		T(test_chain_that_ends_with_zero), T(test_frame_pointer_mode),
		T(test_code_without_table),	   T(test_table_not_there_yet),
#if ARCH_KNOWS_CALLS
		T(test_planted_return_address),
#endif
		T(test_guessed_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
