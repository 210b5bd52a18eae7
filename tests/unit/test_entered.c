/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/unwind_world.h"
#include "unwind/code_rows.h"
#include "unwind/entered.h"

#define NOP 0x90
#define RET 0xc3
#define CALL 0xe8, 0x10, 0, 0, 0
#define BLR 0x20, 0, 0x3f, 0xd6
#define RESTORER 0xb8, 15, 0, 0, 0, 0x0f, 0x05
#define LONG_RESTORER 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05

static const struct unwind_rule none = { .cfa = CFA_NONE }, plain = { .cfa = CFA_SP, .cfa_off = 8 },
	deep = { .cfa = CFA_SP, .cfa_off = 16 }, root = { .cfa = CFA_ROOT }, sig = { .cfa = CFA_SIGNAL };

/* ---- rules of the byte before ---- */

static uint8_t code_before[8];		/* of 0x2000 */

static int read_bytes(void *ctx, uint64_t vaddr, uint8_t *buf, size_t len)
{
	(void)ctx;
	if (vaddr != 0x2000 - sizeof(code_before) || len != sizeof(code_before))
		return -1;
	memcpy(buf, code_before, len);
	return 0;
}

#define BEHIND(before, rule, ...) behind(CFI_X86_64, (before), (rule), (const uint8_t[]){ __VA_ARGS__ }, \
					 sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* The rule that 0x1fff gets where one changes at 0x2000 behind these bytes. 0x1ffe must keep its own. */
static struct unwind_rule behind(enum cfi_machine machine, struct unwind_rule before, struct unwind_rule rule,
				 const uint8_t *bytes, size_t nr)
{
	struct cfi_input in = { .machine = machine, .read_code = read_bytes };
	struct cfi_rows rows = { .v = calloc(2, sizeof(*rows.v)), .nr = 2, .cap = 2 };
	struct unwind_rule got, kept;

	assert_non_null(rows.v);
	rows.v[0] = (struct cfi_row){ 0x1f00, before };
	rows.v[1] = (struct cfi_row){ 0x2000, rule };
	memset(code_before, NOP, sizeof(code_before));
	memcpy(code_before + sizeof(code_before) - nr, bytes, nr);
	assert_int_equal(entered_rows_add(&in, &rows), 0);
	got = cfi_rows_find(&rows, 0x1fff);
	kept = cfi_rows_find(&rows, 0x1ffe);
	assert_memory_equal(&kept, &before, sizeof(before));
	kept = cfi_rows_find(&rows, 0x2000);
	assert_memory_equal(&kept, &rule, sizeof(rule));
	for (size_t i = 1; i < rows.nr; i++)
		assert_true(rows.v[i - 1].vaddr < rows.v[i].vaddr);
	cfi_rows_release(&rows);
	return got;
}

static void assert_same(struct unwind_rule got, struct unwind_rule want)
{
	assert_memory_equal(&got, &want, sizeof(got));
}

static void test_padding_before(void **state)
{
	(void)state;
	assert_same(BEHIND(none, sig, NOP), sig);
	assert_same(BEHIND(none, root, NOP), root);
	assert_same(BEHIND(none, sig, RET), sig);
	assert_same(BEHIND(deep, root, 0xf4), root);
}

static void test_call_before(void **state)
{
	(void)state;
	assert_same(BEHIND(deep, sig, CALL), deep);
	assert_same(BEHIND(deep, root, CALL), deep);
	assert_same(BEHIND(none, root, CALL), none);
	assert_same(BEHIND(deep, root, CALL, NOP), root);
}

/* Code that is interrupted at a ret has its own rule; what returns to the address behind it has another one. */
static void test_return_before(void **state)
{
	struct unwind_rule both = { .cfa = CFA_SIGNAL, .cfa_off = 8, .ra = RULE_ENTERED }, guess = plain;

	(void)state;
	assert_same(BEHIND(plain, sig, RET), both);
	both.cfa = CFA_ROOT;
	assert_same(BEHIND(plain, root, RET), both);
	guess.ra = RULE_GUESSED;
	both.ra |= RULE_GUESSED;
	assert_same(BEHIND(guess, root, RET), both);
	/* This ret is part of something else. */
	assert_same(BEHIND(deep, sig, RET), deep);
}

static void test_other_functions(void **state)
{
	(void)state;
	assert_same(BEHIND(deep, plain, NOP), deep);
	assert_same(BEHIND(none, plain, NOP), none);
	assert_same(BEHIND(none, (struct unwind_rule){ .cfa = CFA_UNSUPPORTED }, NOP), none);
	assert_same(BEHIND(plain, deep, RET), plain);
}

/* The byte before is never the first one of an instruction there. */
/* The row before is one byte long, and goes. */
static void test_short_row_before(void **state)
{
	struct cfi_input in = { .machine = CFI_X86_64, .read_code = read_bytes };
	struct cfi_rows rows = { .v = calloc(3, sizeof(*rows.v)), .nr = 3, .cap = 3 };

	(void)state;
	assert_non_null(rows.v);
	rows.v[0] = (struct cfi_row){ 0x1f00, plain };
	rows.v[1] = (struct cfi_row){ 0x1fff, none };
	rows.v[2] = (struct cfi_row){ 0x2000, sig };
	memset(code_before, NOP, sizeof(code_before));
	assert_int_equal(entered_rows_add(&in, &rows), 0);
	assert_int_equal(rows.nr, 2);
	assert_same(cfi_rows_find(&rows, 0x1ffe), plain);
	assert_same(cfi_rows_find(&rows, 0x1fff), sig);
	cfi_rows_release(&rows);
}

static void test_arm64(void **state)
{
	static const uint8_t ret[] = { 0xc0, 0x03, 0x5f, 0xd6 }, blr[] = { BLR };

	(void)state;
	assert_same(behind(CFI_AARCH64, deep, sig, ret, 4), sig);
	assert_same(behind(CFI_AARCH64, deep, sig, blr, 4), deep);
}

static void test_unreadable_code(void **state)
{
	struct cfi_input in = { .machine = CFI_X86_64, .read_code = read_bytes };
	struct cfi_row v[] = { { 2, none }, { 4, sig }, { 0x3000, none }, { 0x4000, root } };
	struct cfi_rows rows = { .v = v, .nr = 4, .cap = 4 };

	(void)state;
	assert_int_equal(entered_rows_add(&in, &rows), 0);
	assert_int_equal(rows.nr, 4);
	assert_same(cfi_rows_find(&rows, 0x3fff), none);
}

/* ---- such rules while unwinding ---- */

static void test_unwinding(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, plain);
	row(w, 0x2fff, (struct unwind_rule){ .cfa = CFA_ROOT, .cfa_off = 8, .ra = RULE_ENTERED });
	row(w, 0x3000, root);
	row(w, 0x4000, root);
	start(w, at(0x2010), STACK + 0x100, 0);
	poke(w, STACK + 0x100, at(0x3000));
	expect(w, UNWIND_ROOT, at(0x2010), at(0x3000) | RA);
	/* Interrupted at the ret itself. */
	start(w, at(0x2fff), STACK + 0x100, 0);
	poke(w, STACK + 0x100, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x2fff), at(0x4010) | RA);
}

/* ---- restorers in code without unwind information ---- */

#define FIND(rows, ...) find(rows, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void find(struct cfi_rows *rows, const uint8_t *bytes, size_t nr)
{
	struct code_range gap = { 0x1000, 0x1000 + nr };
	uint64_t first = 0x1000;
	struct code_input in = { .code = bytes, .len = nr, .vaddr = 0x1000, .gaps = &gap, .nr_gaps = 1,
				 .starts = &first, .nr_starts = 1 };
	struct code_stats stats = { 0 };

	cfi_rows_release(rows);
	assert_int_equal(code_rows_build(&in, rows, &stats), 0);
}

static void test_restorers(void **state)
{
	struct cfi_rows rows = { 0 };

	(void)state;
	FIND(&rows, LONG_RESTORER, NOP, NOP);
	assert_same(cfi_rows_find(&rows, 0x1000), sig);
	assert_same(cfi_rows_find(&rows, 0x1008), sig);
	assert_int_not_equal(cfi_rows_find(&rows, 0x1009).cfa, CFA_SIGNAL);
	/* Nothing leads there. */
	FIND(&rows, RET, NOP, NOP, RESTORER, RET);
	assert_int_equal(cfi_rows_find(&rows, 0x1000).cfa, CFA_SP);
	assert_same(cfi_rows_find(&rows, 0x1002), none);
	assert_same(cfi_rows_find(&rows, 0x1003), sig);
	assert_same(cfi_rows_find(&rows, 0x1009), sig);
	assert_int_not_equal(cfi_rows_find(&rows, 0x100a).cfa, CFA_SIGNAL);
	/* The frame would be elsewhere: push %rbx comes before. */
	FIND(&rows, 0x53, RESTORER, 0x5b, RET);
	assert_int_equal(cfi_rows_find(&rows, 0x1001).cfa, CFA_SP);
	/* Another system call; cut off. */
	FIND(&rows, 0xb8, 16, 0, 0, 0, 0x0f, 0x05, RET);
	assert_int_equal(cfi_rows_find(&rows, 0x1000).cfa, CFA_SP);
	FIND(&rows, RET, 0xb8, 15, 0, 0, 0, 0x0f);
	assert_int_not_equal(cfi_rows_find(&rows, 0x1001).cfa, CFA_SIGNAL);
	cfi_rows_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_padding_before),
		cmocka_unit_test(test_call_before),
		cmocka_unit_test(test_return_before),
		cmocka_unit_test(test_other_functions),
		cmocka_unit_test(test_short_row_before),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_unreadable_code),
		cmocka_unit_test_setup_teardown(test_unwinding, world_setup, world_teardown),
		cmocka_unit_test(test_restorers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
