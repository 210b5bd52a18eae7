/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/go_fixture.h"

#define SPWRITE 2
#define R12 12

#define PUSH_RBP 0x55
#define MOV_RSP_RBP 0x48, 0x89, 0xe5
#define SUB_RSP(n) 0x48, 0x83, 0xec, n
#define MOV_RBP_TO_STACK(n) 0x48, 0x89, 0x6c, 0x24, n
#define LEA_RBP(n) 0x48, 0x8d, 0x6c, 0x24, n
#define MOV_RBP_TO_STACK_FAR(lo, hi) 0x48, 0x89, 0xac, 0x24, lo, hi, 0, 0
#define LEA_RBP_FAR(lo, hi) 0x48, 0x8d, 0xac, 0x24, lo, hi, 0, 0
#define MOV_GOBUF_RSP 0x49, 0x8b, 0x66, 0x38	/* mov 0x38(%r14),%rsp */
#define MOV_RBX_RSP 0x48, 0x89, 0xdc
#define AND_RSP 0x48, 0x83, 0xe4, 0xf0
#define NOP8 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90
#define RET 0xc3

#define SP_RULE(off) ((struct unwind_rule){ .cfa = CFA_SP, .cfa_off = (off) })
#define SAVED_RULE(off) ((struct unwind_rule){ .cfa = CFA_SP, .cfa_off = (off), .fp = FP_CFA, .fp_off = -16 })
#define OTHER_STACK ((struct unwind_rule){ .cfa = CFA_OTHER_STACK, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 })
#define KIND(kind) ((struct unwind_rule){ .cfa = (kind) })

static void assert_rule(struct unwind_rule got, struct unwind_rule want)
{
	assert_int_equal(got.cfa, want.cfa);
	assert_int_equal(got.cfa_off, want.cfa_off);
	assert_int_equal(got.fp, want.fp);
	assert_int_equal(got.fp_off, want.fp_off);
	assert_int_equal(got.ra, want.ra);
	assert_int_equal(got.reg, want.reg);
	assert_int_equal(got.aux, want.aux);
}

static const uint32_t versions[] = { GO_1_2, GO_1_16, GO_1_18, GO_1_20 };

static void add_leaf(struct go_fixture *g, const char *name)
{
	go_add(g, name, 0, CODE(NOP8, RET), DEPTHS({ 0, 9 }));
}

static void test_every_version(void **state)
{
	struct go_fixture *g = *state;

	add_leaf(g, "main.a");
	go_add(g, "main.b", 0, CODE(PUSH_RBP, MOV_RSP_RBP, SUB_RSP(16), NOP8, 0x48, 0x83, 0xc4, 16, 0x5d, RET),
	       DEPTHS({ 0, 1 }, { 8, 7 }, { 24, 12 }, { 8, 1 }, { 0, 1 }));
	add_leaf(g, "main.c");
	for (size_t i = 0; i < 4; i++) {
		go_parse(g, versions[i]);
		assert_int_equal(g->rows.stats.nr_fdes, 3);
		assert_int_equal(g->rows.stats.bad_entries, 0);
		assert_rule(go_at(g, 0, 0), SP_RULE(8));
		assert_rule(go_at(g, 0, 31), SP_RULE(8));
		assert_rule(go_at(g, 1, 0), SP_RULE(8));
		assert_rule(go_at(g, 1, 1), SAVED_RULE(16));
		assert_rule(go_at(g, 1, 8), SAVED_RULE(32));
		assert_rule(go_at(g, 1, 19), SAVED_RULE(32));
		assert_rule(go_at(g, 1, 20), SAVED_RULE(16));
		assert_rule(go_at(g, 1, 21), SP_RULE(8));
		assert_rule(go_at(g, 2, 8), SP_RULE(8));
		assert_rule(go_at(g, 2, 32), KIND(CFA_NONE));
		assert_rule(cfi_rows_find(&g->rows, GO_TEXT - 1), KIND(CFA_NONE));
	}
}

/* Before Go 1.21 there are instructions between making room and saving the frame pointer. */
static void test_old_prologue(void **state)
{
	struct go_fixture *g = *state;

	go_add(g, "main.near", 0, CODE(SUB_RSP(24), MOV_RBP_TO_STACK(16), LEA_RBP(16), NOP8),
	       DEPTHS({ 0, 4 }, { 24, 18 }));
	go_add(g, "main.far", 0, CODE(0x48, 0x81, 0xec, 8, 2, 0, 0, MOV_RBP_TO_STACK_FAR(0, 2), LEA_RBP_FAR(0, 2), NOP8),
	       DEPTHS({ 0, 7 }, { 520, 24 }));
	go_add(g, "main.elsewhere", 0, CODE(SUB_RSP(24), MOV_RBP_TO_STACK(8), LEA_RBP(16)), DEPTHS({ 0, 4 }, { 24, 10 }));
	go_add(g, "main.least", 0, CODE(SUB_RSP(8), 0x48, 0x89, 0x2c, 0x24, 0x48, 0x8d, 0x2c, 0x24, NOP8),
	       DEPTHS({ 0, 4 }, { 8, 16 }));
	go_parse(g, GO_1_18);
	assert_rule(go_at(g, 3, 7), SP_RULE(16));
	assert_rule(go_at(g, 3, 8), SAVED_RULE(16));
	assert_rule(go_at(g, 0, 4), SP_RULE(32));
	assert_rule(go_at(g, 0, 8), SP_RULE(32));
	assert_rule(go_at(g, 0, 9), SAVED_RULE(32));
	assert_rule(go_at(g, 0, 21), SAVED_RULE(32));
	assert_rule(go_at(g, 1, 14), SP_RULE(528));
	assert_rule(go_at(g, 1, 15), SAVED_RULE(528));
	assert_rule(go_at(g, 2, 9), SP_RULE(32));
}

static void test_frame_without_frame_pointer(void **state)
{
	struct go_fixture *g = *state;

	go_add(g, "main.f", 0, CODE(SUB_RSP(24), NOP8), DEPTHS({ 0, 4 }, { 24, 8 }));
	go_add(g, "main.push_r13", 0, CODE(0x41, PUSH_RBP, NOP8), DEPTHS({ 0, 2 }, { 8, 8 }));
	go_parse(g, GO_1_20);
	assert_rule(go_at(g, 0, 10), SP_RULE(32));
	assert_rule(go_at(g, 1, 5), SP_RULE(16));
}

static void test_roots_and_signals(void **state)
{
	static const char *const roots[] = { "runtime.goexit", "runtime.mstart", "runtime.rt0_go", "_rt0_amd64_linux" };
	struct go_fixture *g = *state;

	for (size_t i = 0; i < 4; i++)
		add_leaf(g, roots[i]);
	add_leaf(g, "main.runtime.goexit");
	add_leaf(g, "runtime.sigreturn");
	add_leaf(g, "runtime.sigreturn__sigaction");
	go_parse(g, GO_1_20);
	for (size_t i = 0; i < 4; i++)
		assert_rule(go_at(g, i, 5), KIND(CFA_ROOT));
	assert_rule(go_at(g, 4, 5), SP_RULE(8));
	/* The caller of a handler is looked for one byte before its return address. */
	assert_rule(go_at(g, 5, (uint64_t)-2), SP_RULE(8));
	assert_rule(go_at(g, 5, (uint64_t)-1), KIND(CFA_SIGNAL));
	assert_rule(go_at(g, 5, 8), KIND(CFA_SIGNAL));
	assert_rule(go_at(g, 6, 0), KIND(CFA_SIGNAL));
}

static void test_stack_switch(void **state)
{
	struct go_fixture *g = *state;

	go_add(g, "runtime.asmcgocall", SPWRITE,
	       CODE(PUSH_RBP, MOV_RSP_RBP, NOP8, MOV_GOBUF_RSP, AND_RSP, NOP8, MOV_RBX_RSP, 0x5d, RET),
	       DEPTHS({ 0, 1 }, { 8, 31 }, { 0, 1 }));
	go_add(g, "runtime.asmcgocall", 0, CODE(PUSH_RBP, MOV_RSP_RBP, NOP8, 0x5d, RET),
	       DEPTHS({ 0, 1 }, { 8, 12 }, { 0, 1 }));
	go_add(g, "example.com/asm.aligned", SPWRITE, CODE(PUSH_RBP, MOV_RSP_RBP, AND_RSP, NOP8),
	       DEPTHS({ 0, 1 }, { 8, 15 }));
	go_add(g, "example.com/asm.odd", SPWRITE, CODE(NOP8), DEPTHS({ 0, 8 }));
	go_parse(g, GO_1_20);
	assert_rule(go_at(g, 0, 0), SP_RULE(8));
	assert_rule(go_at(g, 0, 1), SAVED_RULE(16));
	assert_rule(go_at(g, 0, 4), OTHER_STACK);
	assert_rule(go_at(g, 0, 31), OTHER_STACK);
	assert_rule(go_at(g, 0, 32), SP_RULE(8));
	assert_rule(go_at(g, 1, 4), SAVED_RULE(16));
	assert_rule(go_at(g, 2, 10), OTHER_STACK);
	assert_int_equal(go_at(g, 3, 1).ra, RULE_GUESSED);
	/* Versions without flags: by name, and nothing is known of others. */
	go_parse(g, GO_1_2);
	assert_rule(go_at(g, 0, 31), OTHER_STACK);
	assert_rule(go_at(g, 2, 10), SAVED_RULE(16));
}

/* Without a frame of its own (Go before 1.21) the frame pointer is the caller's: its frame is left out. */
static void test_stack_switch_without_frame(void **state)
{
	struct unwind_rule guess = OTHER_STACK;
	struct go_fixture *g = *state;

	guess.ra = RULE_GUESSED;
	go_add(g, "runtime.systemstack", SPWRITE, CODE(NOP8, 0x48, 0x8b, 0x5a, 0x38, MOV_RBX_RSP, NOP8), DEPTHS({ 0, 23 }));
	go_parse(g, GO_1_18);
	assert_rule(go_at(g, 0, 14), SP_RULE(8));
	assert_rule(go_at(g, 0, 15), guess);
	assert_rule(go_at(g, 0, 22), guess);
}

static void test_leaving_a_stack(void **state)
{
	struct go_fixture *g = *state;

	go_add(g, "runtime.mcall", SPWRITE, CODE(PUSH_RBP, MOV_RSP_RBP, MOV_GOBUF_RSP, NOP8), DEPTHS({ 0, 1 }, { 8, 15 }));
	go_add(g, "runtime.clone", SPWRITE, CODE(NOP8, 0x48, 0x89, 0xf4, NOP8), DEPTHS({ 0, 19 }));
	go_add(g, "gogo", SPWRITE, CODE(NOP8, MOV_GOBUF_RSP, NOP8), DEPTHS({ 0, 20 }));
	go_parse(g, GO_1_20);
	assert_rule(go_at(g, 0, 7), SAVED_RULE(16));
	assert_rule(go_at(g, 0, 8), KIND(CFA_ROOT));
	assert_rule(go_at(g, 1, 10), SP_RULE(8));
	assert_rule(go_at(g, 1, 11), KIND(CFA_ROOT));
	assert_rule(go_at(g, 2, 11), SP_RULE(8));
	assert_rule(go_at(g, 2, 12), KIND(CFA_ROOT));
}

#define READ_G 0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff
#define READ_G_BY_RCX(off) 0x48, 0xc7, 0xc1, off, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x01
#define READ_CURG(off) 0x48, 0x8b, 0x58, 0x30, 0x48, 0x8b, 0x83, off, 0, 0, 0
#define RESTORE_SP 0x48, 0x8b, 0x60, 0x38
#define RESTORE_BP 0x48, 0x8b, 0x68, 0x60

/* The goroutine of its thread, by what the code of runtime.systemstack says. */
static struct unwind_rule goroutine_rule(int32_t tls, int32_t curg, int32_t bp, uint8_t ra, uint8_t reg)
{
	return (struct unwind_rule){ .cfa = CFA_GOROUTINE, .cfa_off = tls, .aux = curg, .fp_off = bp, .ra = ra, .reg = reg };
}

static void test_thread_to_goroutine(void **state)
{
	struct unwind_rule next = SP_RULE(8);
	struct go_fixture *g = *state;

	next.ra = RULE_NEXT_GOROUTINE;
	go_add(g, "runtime.execute", 0, CODE(NOP8), DEPTHS({ 0, 8 }));
	go_add(g, "runtime.mcall", SPWRITE, CODE(MOV_GOBUF_RSP, NOP8), DEPTHS({ 0, 12 }));
	go_add(g, "runtime.systemstack", 0, CODE(NOP8, READ_CURG(0xc0)), DEPTHS({ 0, 19 }));
	go_add(g, "runtime.systemstack", SPWRITE, CODE(MOV_GOBUF_RSP, READ_G_BY_RCX(0xf0), READ_CURG(0xb8), RESTORE_SP, RESTORE_BP, RET),
	       DEPTHS({ 0, 35 }));
	go_add(g, "runtime.morestack", SPWRITE, CODE(MOV_GOBUF_RSP, NOP8), DEPTHS({ 0, 12 }));
	go_add(g, "runtime.schedule", 0, CODE(NOP8), DEPTHS({ 0, 8 }));
	go_add(g, "runtime.stopm", 0, CODE(NOP8), DEPTHS({ 0, 8 }));
	go_parse(g, GO_1_20);
	assert_rule(go_at(g, 0, 1), next);
	assert_rule(go_at(g, 1, 3), SP_RULE(8));
	assert_rule(go_at(g, 1, 4), goroutine_rule(-16, 0xb8, 0x60, RA_REG, 1));
	assert_rule(go_at(g, 3, 4), goroutine_rule(-16, 0xb8, 0x60, RA_CFA, 0));
	assert_rule(go_at(g, 3, 29), goroutine_rule(-16, 0xb8, 0x60, RA_CFA, 0));
	assert_rule(go_at(g, 3, 30), SP_RULE(8));
	assert_rule(go_at(g, 4, 4), goroutine_rule(-16, 0xb8, 0x60, RA_REG, 0));
	assert_rule(go_at(g, 5, 1), next);
	assert_rule(go_at(g, 6, 1), next);
}

/* Until Go 1.20 the frame pointer is not read back; here the thread's g is read at once. */
static void test_thread_to_goroutine_of_old_versions(void **state)
{
	struct go_fixture *g = *state;

	go_add(g, "runtime.morestack", SPWRITE, CODE(MOV_GOBUF_RSP, NOP8), DEPTHS({ 0, 12 }));
	go_add(g, "runtime.systemstack", SPWRITE, CODE(MOV_RBX_RSP, READ_G, READ_CURG(0x40), RESTORE_SP, RET), DEPTHS({ 0, 28 }));
	go_parse(g, GO_1_2);
	assert_rule(go_at(g, 0, 4), goroutine_rule(-8, 0x40, 0x68, RA_REG, 0));
	assert_rule(go_at(g, 1, 3), goroutine_rule(-8, 0x40, 0x68, RA_CFA, 0));
	assert_rule(go_at(g, 1, 27), SP_RULE(8));
}

/* Code that says no such thing: the thread's stack ends there, as before. */
static void test_unknown_runtime(void **state)
{
	const struct go_bytes codes[] = {
		CODE(READ_CURG(0xb8), RET),				/* no g */
		CODE(0x64, 0x48, 0x8b, 0x01, READ_CURG(0xb8)),		/* from where? */
		CODE(READ_G, READ_CURG(0xb9)),				/* not aligned */
		CODE(READ_G, 0x48, 0x8b, 0x58, 0x30, 0x48, 0x8b, 0x83, 0, 0, 1, 0),	/* far */
		CODE(READ_G, READ_CURG(0)),				/* this is g0 */
		CODE(READ_G, 0x48, 0x8b, 0x58, 0x28, 0x48, 0x8b, 0x83, 0xb8, 0, 0, 0),	/* another field */
	};
	struct go_fixture *g = *state;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		go_add(g, "runtime.systemstack", 0, codes[i], DEPTHS({ 0, 8 }));
	go_add(g, "runtime.morestack", SPWRITE, CODE(MOV_GOBUF_RSP, NOP8), DEPTHS({ 0, 12 }));
	go_parse(g, GO_1_20);
	assert_rule(go_at(g, g->nr - 1, 4), KIND(CFA_ROOT));
}

static void test_vfork(void **state)
{
	struct go_fixture *g = *state;

	go_add(g, "syscall.rawVforkSyscall", 0, CODE(0x41, 0x5c, 0x0f, 0x05, 0x41, 0x54, RET),
	       DEPTHS({ 0, 2 }, { -8, 4 }, { 0, 1 }));
	go_add(g, "main.odd", 0, CODE(0x58, 0x0f, 0x05, 0x50, RET), DEPTHS({ 0, 1 }, { -8, 3 }, { 0, 1 }));
	go_parse(g, GO_1_20);
	assert_rule(go_at(g, 0, 2), ((struct unwind_rule){ .cfa = CFA_SP, .ra = RA_REG, .reg = R12 }));
	assert_rule(go_at(g, 0, 6), SP_RULE(8));
	assert_rule(go_at(g, 1, 1), KIND(CFA_UNSUPPORTED));
}

static void test_function_without_depths(void **state)
{
	struct go_fixture *g = *state;

	add_leaf(g, "main.a");
	go_add(g, "c_code", 0, CODE(NOP8), NULL);
	add_leaf(g, "main.b");
	go_parse(g, GO_1_20);
	assert_int_equal(g->rows.stats.nr_fdes, 2);
	assert_rule(go_at(g, 0, 8), SP_RULE(8));
	assert_rule(go_at(g, 1, 0), KIND(CFA_NONE));
	assert_rule(go_at(g, 1, 31), KIND(CFA_NONE));
	assert_rule(go_at(g, 2, 0), SP_RULE(8));
}

static void test_damaged_depths(void **state)
{
	struct go_fixture *g = *state;

	add_leaf(g, "main.a");
	go_add(g, "main.too_long", 0, CODE(NOP8), DEPTHS({ 0, 4 }, { 8, 1000 }));
	go_add(g, "main.negative", 0, CODE(NOP8), DEPTHS({ 0, 4 }, { -16, 4 }));
	go_add(g, "main.huge", 0, CODE(NOP8), DEPTHS({ 0, 4 }, { INT32_MAX - 7, 4 }));
	add_leaf(g, "main.b");
	go_parse(g, GO_1_20);
	assert_int_equal(g->rows.stats.bad_entries, 3);
	for (size_t i = 1; i < 4; i++) {
		assert_rule(go_at(g, i, 3), SP_RULE(8));
		assert_rule(go_at(g, i, 4), KIND(CFA_NONE));
	}
	assert_rule(go_at(g, 4, 0), SP_RULE(8));
}

static void test_functions_out_of_order(void **state)
{
	struct go_fixture *g = *state;

	add_leaf(g, "main.a");
	add_leaf(g, "main.b");
	add_leaf(g, "main.c");
	go_write(g, GO_1_20);
	g->table.v[72 + 8] = 0x50; /* main.b begins behind main.c */
	assert_int_equal(go_rows(g), 0);
	assert_rule(go_at(g, 0, 0), SP_RULE(8));
	go_write(g, GO_1_20);
	g->table.v[72] = 0xff; /* main.a is behind the code */
	g->table.v[73] = 0xff;
	assert_int_equal(go_rows(g), 0);
	assert_int_equal(g->rows.stats.nr_fdes, 2);
	assert_rule(go_at(g, 0, 0), KIND(CFA_NONE));
}

static void test_cut_tables(void **state)
{
	struct go_fixture *g = *state;
	size_t full;

	add_leaf(g, "main.a");
	go_add(g, "main.b", 0, CODE(PUSH_RBP, MOV_RSP_RBP, NOP8, 0x5d, RET), DEPTHS({ 0, 1 }, { 8, 12 }, { 0, 1 }));
	for (size_t v = 0; v < 4; v++) {
		go_write(g, versions[v]);
		full = g->table.nr;
		for (size_t len = 0; len < full; len++) {
			int err;

			g->table.nr = len;
			err = go_rows(g);
			assert_true(err == 0 || err == -ENOENT);
		}
	}
}

static void test_no_table(void **state)
{
	struct go_table_input in = { .pclntab = (const uint8_t *)"", .machine = CFI_X86_64 };
	struct go_fixture *g = *state;

	assert_int_equal(go_table_rows(&in, &g->rows), -ENOENT);
	in.machine = CFI_AARCH64;
	assert_int_equal(go_table_rows(&in, &g->rows), -ENOTSUP);
	add_leaf(g, "main.a");
	add_leaf(g, "main.b");
	go_write(g, 0xfffffff2u);
	assert_int_equal(go_rows(g), -ENOENT);
	go_write(g, GO_1_20);
	g->table.v[7] = 4; /* 32-bit */
	assert_int_equal(go_rows(g), -ENOENT);
	go_write(g, GO_1_20);
	g->table.v[8 + 6] = 1; /* more functions than bytes */
	assert_int_equal(go_rows(g), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, go_setup, go_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_version),
		TEST(test_old_prologue),
		TEST(test_frame_without_frame_pointer),
		TEST(test_roots_and_signals),
		TEST(test_stack_switch),
		TEST(test_stack_switch_without_frame),
		TEST(test_leaving_a_stack),
		TEST(test_thread_to_goroutine),
		TEST(test_thread_to_goroutine_of_old_versions),
		TEST(test_unknown_runtime),
		TEST(test_vfork),
		TEST(test_function_without_depths),
		TEST(test_damaged_depths),
		TEST(test_functions_out_of_order),
		TEST(test_cut_tables),
		TEST(test_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
