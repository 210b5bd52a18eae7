/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/unwind_world.h"

/* A function on this stack that was called from one further down in memory: Go's systemstack. */
static void two_stacks(struct world *w, uint8_t kind)
{
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x2800, (struct unwind_rule){ .cfa = kind, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 });
	outer_rows(w);
	start(w, at(0x2010), STACK + 0x2000, STACK + 0x100);
	poke(w, STACK + 0x2008, at(0x2810));
	poke(w, STACK + 0x100, STACK + 0x180);
	poke(w, STACK + 0x108, at(0x3010));
	outer_frame(w, STACK + 0x110);
}

static void test_caller_on_another_stack(void **state)
{
	struct world *w = *state;

	two_stacks(w, CFA_OTHER_STACK);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2810) | RA, at(0x3010) | RA, at(0x4010) | RA);
}

static void test_only_by_that_rule(void **state)
{
	struct world *w = *state;

	two_stacks(w, CFA_FP);
	expect(w, UNWIND_SP_BACK, at(0x2010), at(0x2810) | RA);
}

static void test_unreadable(void **state)
{
	struct world *w = *state;

	two_stacks(w, CFA_OTHER_STACK);
	w->hole = STACK;
	expect(w, UNWIND_READ_FP, at(0x2010), at(0x2810) | RA);
}

/* A frame pointer that leads back to itself. */
static void test_circle_ends(void **state)
{
	struct world *w = *state;

	two_stacks(w, CFA_OTHER_STACK);
	poke(w, STACK + 0x100, STACK + 0x100);
	poke(w, STACK + 0x108, at(0x2810));
	go(w);
	assert_int_equal(w->end, UNWIND_TRUNCATED);
	assert_int_equal(w->nr, UNWIND_MAX_FRAMES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_caller_on_another_stack),
		TEST(test_only_by_that_rule),
		TEST(test_unreadable),
		TEST(test_circle_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
