/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/knobs.h"
#include "src/capture/session/interrupted.h"
#include "src/capture/session/kernel_trim.h"
#include "src/model/record.h"
#include "src/capture/session/vector_names.h"
#include "src/symbolize/kernel_symbols.h"
#include "tests/unit/kernel_fixture.h"

static const char kallsyms[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81001000 T tcp_sendmsg\n"
	"ffffffff81002000 T net_rx_action\n"
	"ffffffff81003000 T asm_sysvec_apic_timer_interrupt\n"
	"ffffffff81004000 T hrtimer_wakeup\n"
	"ffffffff81009000 T _etext\n";

#define SEND 0xffffffff81001010
#define RECEIVE 0xffffffff81002010
#define TIMER 0xffffffff81003010
#define WAKE 0xffffffff81004010

static int setup(void **state)
{
	return kernel_fixture(kallsyms, (struct kernel_symbols **)state);
}

static int teardown(void **state)
{
	kernel_symbols_free(*state);
	return 0;
}

static struct wire_sample thread(uint16_t flags)
{
	return (struct wire_sample){ .tgid = 7, .tid = 8, .nr_user = 1, .nr_kernel = 3,
				     .weight = 5, .time_ns = 9, .event = 2, .flags = flags,
				     .comm = "talker" };
}

static void test_of_a_thread(void **state)
{
	static const uint64_t user[] = { 0x1000 }, sends[] = { WAKE, RECEIVE, SEND };
	struct wire_sample h = thread(WIRE_INTERRUPT), head;
	struct wire_stack w = { .head = &h, .user = user, .kernel = sends }, out;

	assert_false(interrupted_stack(*state, &w, &head, &out));
	assert_false(interrupted_stack(NULL, &w, &head, &out));	/* no names of the kernel */
}

static void test_of_an_interrupt(void **state)
{
	static const uint64_t user[] = { 0x1000 }, timer[] = { WAKE, TIMER, SEND };
	struct wire_sample h = thread(WIRE_INTERRUPT), head;
	struct wire_stack w = { .head = &h, .user = user, .kernel = timer }, out;

	assert_true(interrupted_stack(*state, &w, &head, &out));
	assert_ptr_equal(out.head, &head);
	assert_int_equal(head.tgid, 0);
	assert_int_equal(head.tid, 0);
	assert_string_equal(head.comm, "interrupt");
	assert_int_equal(head.nr_user, 0);
	assert_int_equal(out.end, END_KTHREAD);
	assert_int_equal(head.weight, 5);
	assert_int_equal(head.event, 2);
	assert_int_equal(head.nr_kernel, 3);
	assert_ptr_equal(out.kernel, timer);
	assert_false(interrupted_stack(*state, &out, &h, &w));	/* it is one already */
}

/* arm64 handles it on the stack of interrupts, too. */
static void test_of_one_in_the_program(void **state)
{
	static const uint64_t user[] = { 0x1000 }, timer[] = { WAKE, TIMER };
	struct wire_sample h = thread(WIRE_INTERRUPT), head;
	struct wire_stack w = { .head = &h, .user = user, .kernel = timer }, out;

	h.nr_kernel = 2;
	assert_true(interrupted_stack(*state, &w, &head, &out));
	assert_int_equal(head.tid, 0);
}

static void test_not_on_the_stack_of_interrupts(void **state)
{
	static const uint64_t timer[] = { WAKE, TIMER, SEND };
	struct wire_sample h = thread(0), head;
	struct wire_stack w = { .head = &h, .kernel = timer }, out;

	assert_false(interrupted_stack(*state, &w, &head, &out));
}

/* The innermost interrupt counts: a handler may have been interrupted itself. */
static void test_of_a_handler(void **state)
{
	static const uint64_t nested[] = { WAKE, TIMER, RECEIVE, TIMER, SEND };
	static const uint64_t own[] = { RECEIVE, SEND };
	size_t nr = 5;

	assert_int_equal(kernel_trim_handler(*state, nested, 5), 2);
	assert_true(kernel_trim_interrupted(*state, nested, &nr));
	assert_int_equal(nr, 4);
	assert_int_equal(kernel_trim_handler(*state, own, 2), 2);
	assert_int_equal(kernel_trim_handler(NULL, nested, 5), 5);
}

static void named(uint32_t vector, const char *name)
{
	char text[192];

	interrupt_name(vector, text, sizeof(text));
	assert_string_equal(text, name);
}

static void test_names(void **state)
{
	(void)state;
	named(IRQ_VECTOR(IRQ_SOFT, 3), "softirq NET_RX");
	named(IRQ_VECTOR(IRQ_SOFT, 9), "softirq RCU");
	named(IRQ_VECTOR(IRQ_SOFT, 10), "softirq 10");
	named(IRQ_VECTOR(IRQ_LINE, 0x7ffff0), "irq 8388592");	/* there is no such line */
	named(IRQ_VECTOR(IRQ_LOCAL, 3), "irq vector 3");
#ifdef __x86_64__
	named(IRQ_VECTOR(IRQ_LOCAL, 0xec), "irq local_timer");
	named(IRQ_VECTOR(IRQ_LOCAL, 0xec | IRQ_OWN), "irq local_timer (ticks of probee)");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_a_thread),
		cmocka_unit_test(test_of_an_interrupt),
		cmocka_unit_test(test_of_one_in_the_program),
		cmocka_unit_test(test_not_on_the_stack_of_interrupts),
		cmocka_unit_test(test_of_a_handler),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
