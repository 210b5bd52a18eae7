/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "src/capture/session/kernel_trim.h"
#include "src/symbolize/kernel_symbols.h"
#include "tests/unit/kernel_fixture.h"

static const char kallsyms[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81001000 T vfs_read\n"
	"ffffffff81001f00 T __sched_text_start\n"
	"ffffffff81002000 T __schedule\n"
	"ffffffff81003000 T schedule\n"
	"ffffffff81003e00 T asm_exc_page_fault\n"
	"ffffffff81003e80 t try_to_wake_up.part.0\n"
	"ffffffff81003f00 T __sched_text_end\n"
	"ffffffff81004000 T asm_sysvec_call_function_single\n"
	"ffffffff81005000 T __flush_smp_call_function_queue\n"
	"ffffffff81006000 T __bpf_trace_sched_switch\n"
	"ffffffff81007000 T el0t_64_irq\n"
	"ffffffff81007200 T asm_common_interrupt\n"
	"ffffffff81007300 T asm_sysvec_apic_timer_interrupt\n"
	"ffffffff81007400 T asm_load_gs_index\n"
	"ffffffff81007500 T irqentry_exit_to_user_mode\n"
	"ffffffff81007600 T irqentry_exit\n"
	"ffffffff81007700 t blk_done_softirq\n"
	"ffffffff81009000 T _etext\n";

#define VFS_READ 0xffffffff81001010
#define IN_SCHEDULE 0xffffffff81002010
#define SCHEDULE 0xffffffff81003010
#define INTERRUPT 0xffffffff81004010
#define QUEUE 0xffffffff81005010
#define TRACE 0xffffffff81006010
#define ARM_INTERRUPT 0xffffffff81007010
#define COMMON 0xffffffff81007210
#define BLOCK 0xffffffff81007710
#define TO_USER 0xffffffff81007510
#define EXIT 0xffffffff81007610

static const struct {
	uint64_t frames[4];
	size_t nr, skip;
	bool exact;
} cases[] = {
	{ { QUEUE, INTERRUPT, VFS_READ, SCHEDULE }, 4, 2, true },	/* interrupted inside of the kernel */
	{ { QUEUE, INTERRUPT }, 2, 2, true },				/* interrupted in the program */
	{ { QUEUE, ARM_INTERRUPT }, 2, 2, true },
	{ { TRACE, IN_SCHEDULE, SCHEDULE, VFS_READ }, 4, 3, false },	/* at its switch-out */
	{ { QUEUE, INTERRUPT, IN_SCHEDULE, SCHEDULE }, 4, 2, true },	/* the first entry counts */
	{ { VFS_READ, QUEUE }, 2, 2, false },				/* not recognised: nothing is believed */
	{ { 0 }, 0, 0, false },
};

static int setup(void **state)
{
	return kernel_fixture(kallsyms, (struct kernel_symbols **)state);
}

static int teardown(void **state)
{
	kernel_symbols_free(*state);
	return 0;
}

static void test_entries(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool exact = !cases[i].exact;

		assert_int_equal(kernel_trim(*state, cases[i].frames, cases[i].nr, &exact), cases[i].skip);
		assert_int_equal(exact, cases[i].exact);
	}
}

static void kept(const struct kernel_symbols *k, const uint64_t *frames, size_t nr, size_t expected)
{
	bool found = kernel_trim_interrupted(k, frames, &nr);

	assert_int_equal(found ? nr : 0, expected);
}

/* Taken in an interrupt: what it interrupted goes, also what an outer interrupt did. */
static void test_interrupted(void **state)
{
	static const uint64_t in_call[] = { QUEUE, INTERRUPT, VFS_READ, SCHEDULE };
	static const uint64_t in_program[] = { QUEUE, ARM_INTERRUPT };
	static const uint64_t twice[] = { QUEUE, ARM_INTERRUPT, QUEUE, INTERRUPT, VFS_READ };
	static const uint64_t on_way_back[] = { QUEUE, COMMON, SCHEDULE, TO_USER, INTERRUPT };
	static const uint64_t preempted[] = { QUEUE, COMMON, SCHEDULE, EXIT, INTERRUPT, VFS_READ };
	static const uint64_t dies[] = { QUEUE, SCHEDULE, TO_USER, INTERRUPT };
	static const uint64_t deferred[] = { QUEUE, BLOCK, SCHEDULE, VFS_READ };
	static const uint64_t none[] = { QUEUE, VFS_READ };

	kept(*state, deferred, 4, 2);
	kept(*state, in_call, 4, 2);
	kept(*state, in_program, 2, 2);
	kept(*state, twice, 5, 4);
	kept(*state, on_way_back, 5, 2);
	kept(*state, preempted, 6, 2);
	kept(*state, dies, 4, 0);
	kept(*state, none, 2, 0);
	kept(NULL, in_call, 4, 0);
}

/* A fault is none of the interrupts, which end where the next function begins. */
static void test_where_entries_lie(void **state)
{
	struct kernel_entries e = kernel_trim_entries(*state), none = kernel_trim_entries(NULL);

	assert_int_equal(e.interrupts.start, 0xffffffff81004000);
	assert_int_equal(e.interrupts.end, 0xffffffff81007400);
	assert_int_equal(e.exits[0].start, 0xffffffff81007500);
	assert_int_equal(e.exits[0].end, 0xffffffff81007600);
	assert_int_equal(e.exits[1].start, 0xffffffff81007600);
	assert_int_equal(e.exits[1].end, 0xffffffff81007700);
	assert_int_equal(e.wake.start, 0xffffffff81003e80);
	assert_int_equal(e.wake.end, 0xffffffff81003f00);
	assert_int_equal(none.interrupts.end, 0);
	assert_int_equal(none.exits[0].end, 0);
}

/* Without names nothing can be told apart. */
static void test_no_symbols(void **state)
{
	bool exact;

	(void)state;
	assert_int_equal(kernel_trim(NULL, cases[0].frames, cases[0].nr, &exact), cases[0].nr);
	assert_false(exact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_where_entries_lie),
		cmocka_unit_test(test_no_symbols),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
