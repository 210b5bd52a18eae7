/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code made at run time: rows without known starts of functions (unwind/code_window.h). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/code_window.h"

#define BASE 0x7f0000010000ull
#define FAR 0x7f0000200000ull
#define FILE_CODE 0x7f0000300000ull

struct fixture {
	uint8_t code[2][512];
	struct code_piece pieces[2];
	struct code_pin pins[2];
	uint64_t seeds[4];
	struct code_window in;
	struct cfi_rows rows;
	struct code_wants wants;
};

static int setup(void **state)
{
	struct fixture *f = *state = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->in = (struct code_window){ .pieces = f->pieces, .pins = f->pins, .seeds = f->seeds };
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	cfi_rows_release(&f->rows);
	free(f);
	return 0;
}

static void piece(struct fixture *f, uint64_t addr, const uint8_t *code, size_t len)
{
	size_t n = f->in.nr_pieces++;

	memcpy(f->code[n], code, len);
	f->pieces[n] = (struct code_piece){ f->code[n], len, addr };
}

#define PIECE(f, addr, ...) \
	piece(f, addr, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void seed(struct fixture *f, uint64_t addr)
{
	f->seeds[f->in.nr_seeds++] = addr;
}

static void find(struct fixture *f)
{
	cfi_rows_release(&f->rows);
	f->rows = (struct cfi_rows){ 0 };
	assert_int_equal(code_window_rows(&f->in, &f->rows, &f->wants), 0);
}

static struct unwind_rule at(const struct fixture *f, uint64_t offset)
{
	return cfi_rows_find(&f->rows, BASE + offset);
}

/* CFA = sp + off; fp: enum unwind_fp. */
static void expect_sp(const struct fixture *f, uint64_t offset, int off, int fp, int fp_off)
{
	struct unwind_rule r = at(f, offset);

	assert_int_equal(r.cfa, CFA_SP);
	assert_int_equal(r.cfa_off, off);
	assert_int_equal(r.fp, fp);
	assert_int_equal(r.fp_off, fp_off);
	assert_int_equal(r.ra, RULE_GUESSED);
}

#define JMP(from, to) 0xe9, (uint8_t)((to) - (from) - 5), (uint8_t)(((to) - (from) - 5) >> 8), \
	(uint8_t)(((to) - (from) - 5) >> 16), (uint8_t)(((to) - (from) - 5) >> 24)
#define PUSH_RBP 0x55
#define POP_RBP 0x5d
#define PUSH_RBX 0x53
#define POP_RBX 0x5b
#define SUB_RSP(n) 0x48, 0x83, 0xec, n
#define ADD_RSP(n) 0x48, 0x83, 0xc4, n
#define CALL 0xe8, 0, 1, 0, 0		/* somewhere else */
#define RET 0xc3

/* A JIT that saves only rbx: each instruction counts from the return behind it. */
static void test_saves_only_rbx(void **state)
{
	struct fixture *f = *state;

	PIECE(f, BASE, PUSH_RBX, SUB_RSP(16), CALL, ADD_RSP(16), POP_RBX, RET);
	seed(f, BASE + 5);
	find(f);
	expect_sp(f, 0, 8, FP_SAME, 0);
	expect_sp(f, 1, 16, FP_SAME, 0);
	expect_sp(f, 5, 32, FP_SAME, 0);
	expect_sp(f, 10, 32, FP_SAME, 0);
	expect_sp(f, 14, 16, FP_SAME, 0);
	expect_sp(f, 15, 8, FP_SAME, 0);
	assert_int_equal(f->wants.nr, 0);
}

/* The window begins in the middle, and the frame pointer is somebody's data. */
static void test_saved_frame_pointer(void **state)
{
	struct fixture *f = *state;

	/* mov (%rbp),%rax; add $24,%rsp; pop %rbp; ret */
	PIECE(f, BASE, 0x48, 0x8b, 0x45, 0x00, ADD_RSP(24), POP_RBP, RET);
	seed(f, BASE);
	find(f);
	expect_sp(f, 0, 40, FP_CFA, -16);
	expect_sp(f, 8, 16, FP_CFA, -16);
	expect_sp(f, 9, 8, FP_SAME, 0);
}

/* leave: the stack pointer is lost in between, the frame pointer is not. */
static void test_frame_pointer(void **state)
{
	struct fixture *f = *state;
	struct unwind_rule r;

	/* push %rbp; mov %rsp,%rbp; and $-32,%rsp; nop; leave; ret */
	PIECE(f, BASE, PUSH_RBP, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xe0, 0x90, 0xc9, RET);
	seed(f, BASE + 8);
	find(f);
	expect_sp(f, 1, 16, FP_CFA, -16);
	r = at(f, 8);
	assert_int_equal(r.cfa, CFA_FP);
	assert_int_equal(r.cfa_off, 16);
	assert_int_equal(r.fp_off, -16);
	expect_sp(f, 10, 8, FP_SAME, 0);
}

/* Blocks that all jump to one end, as qemu's: it is asked for, and then tells of all of them. */
static void test_shared_end(void **state)
{
	struct fixture *f = *state;

	PIECE(f, BASE, 0x90, JMP(BASE + 1, FAR), 0x90, 0x90, JMP(BASE + 8, FAR));
	seed(f, BASE);
	find(f);
	assert_int_equal(at(f, 0).cfa, CFA_UNSUPPORTED);
	assert_int_equal(f->wants.nr, 1);
	assert_int_equal(f->wants.v[0], FAR);
	PIECE(f, FAR, ADD_RSP(0x40), POP_RBX, POP_RBP, RET);
	seed(f, FAR);
	find(f);
	expect_sp(f, 0, 0x40 + 24, FP_CFA, -16);
	expect_sp(f, 6, 0x40 + 24, FP_CFA, -16);
	assert_int_equal(f->wants.nr, 0);
}

/*
 * HotSpot's code for a loop that never ends: the frame pointer is saved right above the return
 * address, then holds data, some of it kept in the frame, and only a way out through a stub is left.
 */
static void test_saved_and_then_data(void **state)
{
	struct fixture *f = *state;

	/* push %rbp; sub $64; 1: mov %rdx,%rbp; mov %rbp,8(%rsp); mov 8(%rsp),%rbp; js stub; */
	/* jmp 1b; stub: add $64; jmp FAR */
	PIECE(f, BASE, 0x55, SUB_RSP(64), 0x48, 0x89, 0xd5, 0x48, 0x89, 0x6c, 0x24, 8, 0x48, 0x8b,
	      0x6c, 0x24, 8, 0x78, 2, 0xeb, 0xef, ADD_RSP(64), JMP(BASE + 26, FAR));
	f->pins[f->in.nr_pins++] = (struct code_pin){ .addr = FAR, .cfa_off = 16, .fp = FP_SAME };
	seed(f, BASE);
	find(f);
	expect_sp(f, 1, 16, FP_CFA, -16);
	expect_sp(f, 5, 80, FP_CFA, -16);
	expect_sp(f, 13, 80, FP_CFA, -16);
}

/* The same end, but its rule is known already. */
static void test_pin(void **state)
{
	struct fixture *f = *state;

	PIECE(f, BASE, SUB_RSP(8), JMP(BASE + 4, FAR));
	f->pins[f->in.nr_pins++] = (struct code_pin){ .addr = FAR, .cfa_off = 88, .fp = FP_CFA,
						      .fp_off = -16 };
	find(f);
	expect_sp(f, 0, 80, FP_CFA, -16);
	expect_sp(f, 4, 88, FP_CFA, -16);
	assert_int_equal(at(f, 4).aux, 0);
}

/* A trace that leaves for a file's code: the highest stack pointer is meant, or a word above it. */
static void test_exits_to_a_file(void **state)
{
	struct fixture *f = *state;

	/* test %eax,%eax; js exit; jmp back; exit: push $3; jmp FILE_CODE */
	PIECE(f, BASE, 0x85, 0xc0, 0x78, 2, 0xeb, 0xfa, 0x6a, 3, JMP(BASE + 8, FILE_CODE));
	seed(f, BASE);
	find(f);
	assert_int_equal(f->wants.v[0], FILE_CODE);
	f->pins[f->in.nr_pins++] = (struct code_pin){ .addr = FILE_CODE, .cfa_off = 80,
						      .fp = FP_CFA, .fp_off = -16, .is_file = 1 };
	find(f);
	expect_sp(f, 0, 80, FP_CFA, -16);
	assert_int_equal(at(f, 0).aux, CODE_SEARCH_WORDS);
}

/*
 * Two traces share their exits and have frames that differ: only the exits have no level. What is behind a call belongs
 * to its trace, although an exit is all that it leads to.
 */
static void test_shared_exits(void **state)
{
	struct fixture *f = *state;

	PIECE(f, BASE, SUB_RSP(16), 0x85, 0xc0, 0x78, 25,	/* 0: side: sub; 4: test; js exit 0 */
	      CALL, 0x78, 22, 0x85, 0xc0,	/* 13: js exit 1; test */
	      ADD_RSP(16), 0xeb, 0,				/* 17: add $16,%rsp; jmp main */
	      0x85, 0xc0, 0x78, 6, 0x78, 8, 0x74, 0xe1,		/* 23: main: js exit 0; js exit 1; je side */
	      0xeb, 0xf6, 0x6a, 0, 0xeb, 2,			/* 31: jmp main; 33: exit 0: push; jmp */
	      0x6a, 1, JMP(BASE + 39, FILE_CODE));		/* 37: exit 1: push; 39: jmp */
	seed(f, BASE + 23);
	f->pins[f->in.nr_pins++] = (struct code_pin){ .addr = FILE_CODE, .cfa_off = 80, .is_file = 1 };
	find(f);
	for (int i = 0; i < 3; i++) {
		static const int main_at[] = { 0, 21, 23 }, side_at[] = { 4, 13, 17 };

		expect_sp(f, main_at[i], 80, FP_SAME, 0);
		expect_sp(f, side_at[i], 96, FP_SAME, 0);
	}
}

/* An address that is loaded into a register, as PyPy's guards do: known on the way to the jump. */
static void test_jump_through_a_register(void **state)
{
	struct fixture *f = *state;

	/* movabs $FAR-16,%r11; js 1f; ret; 1: lea 16(%r11),%r11; jmp *%r11 */
	PIECE(f, BASE, 0x49, 0xbb, 0xf0, 0xff, 0x1f, 0x00, 0x00, 0x7f, 0, 0, 0x78, 1, RET,
	      0x4d, 0x8d, 0x5b, 0x10, 0x41, 0xff, 0xe3);
	f->code[0][12] = 0x90;	/* no return here */
	seed(f, BASE);
	find(f);
	assert_int_equal(f->wants.nr, 1);
	assert_int_equal(f->wants.v[0], FAR);
}

/* Paths whose stack pointers differ where they meet: what follows has no rule, the rest has. */
static void test_contradiction(void **state)
{
	struct fixture *f = *state;

	/* loop: push %rax; jne loop; ret - how often is not known */
	PIECE(f, BASE, 0x50, 0x75, 0xfd, 0x90, RET);
	seed(f, BASE);
	find(f);
	assert_int_not_equal(at(f, 0).cfa, CFA_SP);
	/* sub 8; js stub; add 8; ret; sub 24; js stub; add 24; ret; stub: jmp *%rax */
	f->in.nr_pieces = 0;
	PIECE(f, BASE, SUB_RSP(8), 0x78, 16, ADD_RSP(8), RET, SUB_RSP(24), 0x78, 5, ADD_RSP(24),
	      RET, 0xff, 0xe0);
	seed(f, BASE + 11);
	find(f);
	expect_sp(f, 4, 16, FP_SAME, 0);
	expect_sp(f, 15, 32, FP_SAME, 0);
	assert_int_equal(at(f, 22).cfa, CFA_UNSUPPORTED);
}

/* A call that never returns is followed by another function. */
static void test_call_that_does_not_return(void **state)
{
	struct fixture *f = *state;

	PIECE(f, BASE, SUB_RSP(24), 0x78, 5, ADD_RSP(24), RET, CALL, SUB_RSP(8), ADD_RSP(8), RET);
	find(f);
	expect_sp(f, 11, 32, FP_SAME, 0);
	expect_sp(f, 16, 8, FP_SAME, 0);
}

/* sljit's fast calls: the callee pops the return address and comes back by push, ret. */
static void test_fast_call(void **state)
{
	struct fixture *f = *state;

	/* call f; add 24; ret; f: pop %rax; nop; push %rax; ret */
	PIECE(f, BASE, 0xe8, 5, 0, 0, 0, ADD_RSP(24), RET, 0x58, 0x90, 0x50, RET);
	find(f);
	expect_sp(f, 0, 32, FP_SAME, 0);
	assert_int_equal(at(f, 11).cfa_off, 32);
	assert_int_equal(at(f, 13).cfa_off, 40);
}

/* A seed may be a return address: the call in front of it has a row, too. */
static void test_return_address(void **state)
{
	struct fixture *f = *state;

	/* Read from the start, the first byte would swallow the call. */
	PIECE(f, BASE, 0xb8, CALL, ADD_RSP(8), RET);
	seed(f, BASE + 6);
	find(f);
	expect_sp(f, 1, 16, FP_SAME, 0);
	expect_sp(f, 5, 16, FP_SAME, 0);
	expect_sp(f, 6, 16, FP_SAME, 0);
}

/* Zeros are code that is not there yet. */
static void test_not_written(void **state)
{
	struct fixture *f = *state;

	PIECE(f, BASE, 0x90, RET, 0, 0, 0, 0, 0, 0, 0x90, RET);
	find(f);
	expect_sp(f, 0, 8, FP_SAME, 0);
	assert_int_equal(at(f, 4).cfa, CFA_NONE);
	expect_sp(f, 8, 8, FP_SAME, 0);

	/* The table of these has no page. */
	f->in.nr_pieces = 0;
	PIECE(f, BASE, 0, 0, 0, 0, 0, 0, 0, 0);
	seed(f, BASE + 2);
	find(f);
	assert_int_equal(f->rows.nr, 0);
}

static void test_limits(void **state)
{
	struct fixture *f = *state;
	static uint8_t big[CODE_WINDOW_BYTES + CODE_BEHIND + 1];

	assert_int_equal(code_window_rows(&f->in, &f->rows, &f->wants), -EINVAL);
	f->pieces[0] = (struct code_piece){ big, sizeof(big), BASE };
	f->in.nr_pieces = 1;
	assert_int_equal(code_window_rows(&f->in, &f->rows, &f->wants), -EINVAL);
	memset(big, 0x90, sizeof(big));
	f->pieces[0].len--;
	find(f);
	/* It goes on behind the window. */
	assert_int_equal(f->wants.v[0], BASE + CODE_WINDOW_BYTES);
	f->pieces[0].addr = UINT64_MAX - 5;
	assert_int_equal(code_window_rows(&f->in, &f->rows, &f->wants), -EINVAL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_saves_only_rbx),
		T(test_saved_frame_pointer),
		T(test_frame_pointer),
		T(test_shared_end),
		T(test_pin),
		T(test_saved_and_then_data),
		T(test_exits_to_a_file),
		T(test_shared_exits),
		T(test_jump_through_a_register),
		T(test_contradiction),
		T(test_call_that_does_not_return),
		T(test_fast_call),
		T(test_return_address),
		T(test_not_written),
		T(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
