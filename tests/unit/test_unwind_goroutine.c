/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/unwind_world.h"

/* The first page has the thread's structs, the second its stack, the third the goroutine's. */
#define TLS (STACK + 0x100)
#define G (STACK + 0x200)	/* the thread's g: g0, or gsignal while it handles a signal */
#define M (STACK + 0x300)
#define G0 (STACK + 0x400)
#define CURG (STACK + 0x600)
#define G0_SP (STACK + 0x1f00)
#define GOROUTINE_SP (STACK + 0x2800)

#define G_M 0x30
#define G_SP 0x38
#define G_PC 0x40
#define G_BP 0x60
#define M_CURG 0xb8

static const struct unwind_rule grows = {
	.cfa = CFA_GOROUTINE, .cfa_off = -8, .aux = M_CURG, .fp_off = G_BP, .ra = RA_REG,
};

/* 0x2000 was called by 0x2800 on the thread's stack, and that by 0x3010 on the goroutine's. */
static void on_g0(struct world *w, struct unwind_rule rule)
{
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x2800, rule);
	outer_rows(w);
	start(w, at(0x2010), G0_SP - 16, 0);
	poke(w, G0_SP - 8, at(0x2810));
	w->thread_pointer = TLS;
	poke(w, TLS - 8, G);
	poke(w, G + G_M, M);
	poke(w, M, G0);
	poke(w, M + M_CURG, CURG);
	poke(w, G0 + G_SP, G0_SP);
	poke(w, CURG + G_M, M);
	poke(w, CURG + G_SP, GOROUTINE_SP);
	poke(w, CURG + G_PC, at(0x3010));
	poke(w, CURG + G_BP, GOROUTINE_SP + 0x100);
	outer_frame(w, GOROUTINE_SP);
}

static void expect_end_at_g0(struct world *w, uint32_t end)
{
	expect(w, end, at(0x2010), at(0x2810) | RA);
}

static void test_goroutine_that_called(void **state)
{
	struct world *w = *state;

	on_g0(w, grows);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2810) | RA, at(0x3010) | RA, at(0x4010) | RA);
	assert_int_equal(w->reads, 3);	/* one for each page */
}

/* mcall() has pushed a word, as systemstack() of old Go does; more than that is another frame. */
static void test_first_frame_of_g0(void **state)
{
	struct world *w = *state;

	on_g0(w, grows);
	poke(w, G0 + G_SP, G0_SP + 8);
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2810) | RA, at(0x3010) | RA, at(0x4010) | RA);
	poke(w, G0 + G_SP, G0_SP + 16);
	expect_end_at_g0(w, UNWIND_ROOT);
	poke(w, G0 + G_SP, G0_SP - 8);
	expect_end_at_g0(w, UNWIND_ROOT);
}

/* Its registers are elsewhere: sched.sp points to the return address. */
static void test_systemstack(void **state)
{
	struct unwind_rule rule = grows;
	struct world *w = *state;

	rule.ra = RA_CFA;
	on_g0(w, rule);
	poke(w, CURG + G_SP, GOROUTINE_SP - 8);
	poke(w, CURG + G_PC, at(0x2f00));
	poke(w, GOROUTINE_SP - 8, at(0x3010));
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2810) | RA, at(0x3010) | RA, at(0x4010) | RA);
	poke(w, GOROUTINE_SP - 8, 0);
	expect_end_at_g0(w, UNWIND_RA_ZERO);
	poke(w, CURG + G_M, 0);
	expect_end_at_g0(w, UNWIND_ROOT);
}

static void test_frame_pointer_of_the_goroutine(void **state)
{
	struct world *w = *state;

	on_g0(w, grows);
	w->rows[2].rule = (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16 };
	poke(w, GOROUTINE_SP + 0x108, at(0x4020));
	expect(w, UNWIND_ROOT, at(0x2010), at(0x2810) | RA, at(0x3010) | RA, at(0x4020) | RA);
}

/* The thread has left the goroutine: it has none, or one that does not run on it. */
static void test_left(void **state)
{
	struct world *w = *state;

	on_g0(w, grows);
	poke(w, CURG + G_M, 0);
	expect_end_at_g0(w, UNWIND_ROOT);
	poke(w, CURG + G_M, M + 8);
	expect_end_at_g0(w, UNWIND_ROOT);
	poke(w, CURG + G_M, M);
	poke(w, M + M_CURG, 0);
	expect_end_at_g0(w, UNWIND_ROOT);
}

/* The thread has taken another goroutine, which it will run next. */
static void test_next_goroutine(void **state)
{
	struct world *w = *state;

	on_g0(w, grows);
	w->rows[0].rule.ra = RULE_NEXT_GOROUTINE;
	expect_end_at_g0(w, UNWIND_ROOT);
	w->hole = STACK;			/* it is not asked for */
	expect_end_at_g0(w, UNWIND_ROOT);
}

static void test_unreadable(void **state)
{
	struct world *w = *state;

	on_g0(w, grows);
	w->hole = STACK;
	expect_end_at_g0(w, UNWIND_READ_RA);
	w->hole_code = UNWIND_NOT_READ;
	expect_end_at_g0(w, UNWIND_NOT_READ);
	w->rows[1].rule.reg = 1;		/* mcall(), whose goroutine has mostly gone */
	expect_end_at_g0(w, UNWIND_ROOT_GUESS);
	w->hole_code = 1;
	expect_end_at_g0(w, UNWIND_ROOT_GUESS);
	w->hole_code = UNWIND_BUSY;
	expect_end_at_g0(w, UNWIND_BUSY);
	w->hole = 0;
	w->thread_pointer = 0;
	expect_end_at_g0(w, UNWIND_ROOT_GUESS);
	w->thread_pointer = 0x123456789000;
	expect_end_at_g0(w, UNWIND_ROOT_GUESS);
}

/* A goroutine whose saved registers lead to g0 again. */
static void test_circle_ends(void **state)
{
	struct world *w = *state;

	on_g0(w, grows);
	poke(w, CURG + G_SP, G0_SP);
	poke(w, CURG + G_PC, at(0x2810));
	go(w);
	assert_int_equal(w->end, UNWIND_TRUNCATED);
	assert_int_equal(w->nr, UNWIND_MAX_FRAMES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_goroutine_that_called),
		TEST(test_first_frame_of_g0),
		TEST(test_systemstack),
		TEST(test_frame_pointer_of_the_goroutine),
		TEST(test_left),
		TEST(test_next_goroutine),
		TEST(test_unreadable),
		TEST(test_circle_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
