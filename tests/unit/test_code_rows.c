/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/code_rows.h"

#define BASE 0x401000
#define MAX_CODE 512

struct fixture {
	uint8_t code[MAX_CODE];
	struct code_range gap, stub;
	uint64_t starts[4], noreturn[2];
	struct code_input in;
	struct cfi_rows rows;
	struct code_stats stats;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	cfi_rows_release(&f->rows);
	free(f);
	return 0;
}

/* One stretch of code, all of it a gap, with one function at its start. */
static void build(struct fixture *f, const uint8_t *code, size_t len)
{
	memcpy(f->code, code, len);
	f->gap = (struct code_range){ BASE, BASE + len };
	f->starts[0] = BASE;
	f->in.code = f->code;
	f->in.len = len;
	f->in.vaddr = BASE;
	f->in.gaps = &f->gap;
	f->in.nr_gaps = 1;
	f->in.starts = f->starts;
	f->in.nr_starts = f->in.nr_starts ? f->in.nr_starts : 1;
	assert_int_equal(code_rows_build(&f->in, &f->rows, &f->stats), 0);
}

#define BUILD(f, ...) build(f, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

#define PUSH_RBP 0x55
#define POP_RBP 0x5d
#define PUSH_RBX 0x53
#define POP_RBX 0x5b
#define MOV_RSP_RBP 0x48, 0x89, 0xe5
#define SUB_RSP(n) 0x48, 0x83, 0xec, n
#define ADD_RSP(n) 0x48, 0x83, 0xc4, n
#define AND_RSP 0x48, 0x83, 0xe4, 0xf0
#define LEAVE 0xc9
#define RET 0xc3
#define NOP 0x90
#define XOR_EBP 0x31, 0xed
#define JE(n) 0x74, n
#define JMP(n) 0xeb, n
#define CALL_RAX 0xff, 0xd0
#define JMP_RAX 0xff, 0xe0
#define SYSCALL 0x0f, 0x05

static struct unwind_rule at(const struct fixture *f, uint64_t off)
{
	return cfi_rows_find(&f->rows, BASE + off);
}

/* CFA = sp + n; the caller's rbp at CFA - saved, or in its register. */
static void assert_sp(const struct fixture *f, uint64_t off, int n, int saved)
{
	struct unwind_rule r = at(f, off);

	assert_int_equal(r.cfa, CFA_SP);
	assert_int_equal(r.cfa_off, n);
	assert_int_equal(r.ra, RA_CFA | RULE_GUESSED);
	assert_int_equal(r.fp, saved ? FP_CFA : FP_SAME);
	assert_int_equal(r.fp_off, -saved);
}

static void assert_none(const struct fixture *f, uint64_t off)
{
	assert_int_equal(at(f, off).cfa, CFA_NONE);
}

/* ---- functions ---- */

static void test_push_and_sub(void **state)
{
	struct fixture *f = *state;

	BUILD(f, PUSH_RBP, PUSH_RBX, SUB_RSP(0x18), CALL_RAX, ADD_RSP(0x18), POP_RBX, POP_RBP, RET);
	assert_none(f, -1);
	assert_sp(f, 0, 8, 0);
	assert_sp(f, 1, 16, 16);
	assert_sp(f, 2, 24, 16);
	assert_sp(f, 6, 48, 16);
	assert_sp(f, 8, 48, 16);
	assert_sp(f, 12, 24, 16);
	assert_sp(f, 13, 16, 16);
	assert_sp(f, 14, 8, 0);
	assert_none(f, 15);
	assert_int_equal(f->stats.known_bytes, 15);
	assert_int_equal(f->stats.bytes, 15);
}

static void test_frame_pointer(void **state)
{
	struct fixture *f = *state;

	/* The stack pointer is lost by and, found again by leave. */
	BUILD(f, PUSH_RBP, MOV_RSP_RBP, AND_RSP, CALL_RAX, LEAVE, RET);
	assert_sp(f, 1, 16, 16);
	for (uint64_t off = 4; off <= 10; off++) {
		assert_int_equal(at(f, off).cfa, CFA_FP);
		assert_int_equal(at(f, off).cfa_off, 16);
		assert_int_equal(at(f, off).fp_off, -16);
	}
	assert_sp(f, 11, 8, 0);
}

/* The CFA by a slot at rbp - slot, or in r10 */
static void assert_realigned(const struct fixture *f, uint64_t off, int slot)
{
	struct unwind_rule r = at(f, off);

	assert_int_equal(r.cfa, slot ? CFA_DEREF_FP : CFA_REG);
	assert_int_equal(r.cfa_off, -slot);
	assert_int_equal(r.aux, 0);
	assert_int_equal(r.fp, slot ? FP_DEREF_FP : FP_SAME);
	assert_int_equal(r.fp_off, 0);
	assert_true(slot || r.reg == 10);
}

/* lea 8(%rsp), %r10; and $-64, %rsp; push -8(%r10); push %rbp; mov %rsp, %rbp */
#define REALIGN 0x4c, 0x8d, 0x54, 0x24, 0x08, 0x48, 0x83, 0xe4, 0xc0, 0x41, 0xff, 0x72, 0xf8, PUSH_RBP, MOV_RSP_RBP
#define LEA_R10_RSP 0x49, 0x8d, 0x62, 0xf8

static void test_realigned(void **state)
{
	struct fixture *f = *state;

	/* push %r10; sub; sub %rax, %rsp; call; mov -8(%rbp), %r10; leave; lea -8(%r10), %rsp; ret */
	BUILD(f, REALIGN, 0x41, 0x52, SUB_RSP(0x18), 0x48, 0x29, 0xc4, CALL_RAX, 0x4c, 0x8b, 0x55, 0xf8, LEAVE, LEA_R10_RSP,
	      RET);
	assert_sp(f, 5, 8, 0);
	assert_realigned(f, 9, 0);
	assert_realigned(f, 14, 0);
	for (uint64_t off = 19; off <= 32; off++)
		assert_realigned(f, off, 8);
	assert_realigned(f, 33, 0);
	assert_sp(f, 37, 8, 0);
}

static void test_realigned_and_popped(void **state)
{
	struct fixture *f = *state;

	/* push %r15; push %r10; push %rbx; call; lea -24(%rbp), %rsp; pop %rbx; pop %r10; pop %r15; pop %rbp; lea; ret */
	BUILD(f, REALIGN, 0x41, 0x57, 0x41, 0x52, PUSH_RBX, CALL_RAX, 0x48, 0x8d, 0x65, 0xe8, POP_RBX, 0x41, 0x5a, 0x41, 0x5f,
	      POP_RBP, LEA_R10_RSP, RET);
	for (uint64_t off = 21; off <= 33; off++)
		assert_realigned(f, off, 16);
	assert_realigned(f, 34, 0);
	assert_sp(f, 38, 8, 0);
}

/* rbp is used for something else: the slot is found no more. */
static void test_realigned_and_lost(void **state)
{
	struct fixture *f = *state;

	BUILD(f, REALIGN, 0x41, 0x52, XOR_EBP, CALL_RAX, RET);
	assert_realigned(f, 19, 8);
	assert_int_equal(at(f, 21).cfa, CFA_REG);
	assert_int_equal(at(f, 21).fp, FP_UNDEFINED);
	assert_none(f, 23);
}

static void test_saved_by_mov(void **state)
{
	struct fixture *f = *state;

	BUILD(f, SUB_RSP(0x18), 0x48, 0x89, 0x6c, 0x24, 0x10, XOR_EBP, CALL_RAX, 0x48, 0x8b, 0x6c, 0x24, 0x10, ADD_RSP(0x18),
	      RET);
	assert_sp(f, 4, 32, 0);
	assert_sp(f, 9, 32, 16);
	assert_sp(f, 11, 32, 16);
	assert_sp(f, 22, 8, 0);
}

static void test_lost_frame_pointer(void **state)
{
	struct fixture *f = *state;

	BUILD(f, XOR_EBP, CALL_RAX, RET);
	assert_int_equal(at(f, 2).cfa, CFA_SP);
	assert_int_equal(at(f, 2).fp, FP_UNDEFINED);
}

static void test_both_ways_agree(void **state)
{
	struct fixture *f = *state;

	BUILD(f, PUSH_RBX, JE(2), CALL_RAX, POP_RBX, RET);
	assert_sp(f, 5, 16, 0);
	assert_sp(f, 6, 8, 0);
	assert_int_equal(f->stats.joins_lost, 0);
}

/* A push on one of two ways: nothing is claimed behind their meeting, everything before. */
static void test_ways_disagree(void **state)
{
	struct fixture *f = *state;

	BUILD(f, JE(1), PUSH_RBX, CALL_RAX, RET);
	assert_sp(f, 0, 8, 0);
	assert_sp(f, 2, 8, 0);
	assert_none(f, 3);
	assert_none(f, 5);
	assert_int_equal(f->stats.joins_lost, 1);
}

static void test_behind_the_end(void **state)
{
	struct fixture *f = *state;

	/* hlt; ret that nobody reaches and nothing confirms but its own state */
	BUILD(f, SUB_RSP(8), 0xf4, 0x0f, 0x0b, NOP);
	assert_sp(f, 4, 16, 0);
	assert_none(f, 5);
}

/* pop %rdx; syscall; push %rdx; ret, as vfork does it. */
static void test_return_address_in_register(void **state)
{
	struct fixture *f = *state;

	BUILD(f, 0x5a, SYSCALL, 0x52, RET);
	assert_int_equal(at(f, 1).cfa, CFA_SP);
	assert_int_equal(at(f, 1).cfa_off, 0);
	assert_int_equal(RULE_RA(&(struct unwind_rule){ .ra = at(f, 1).ra }), RA_REG);
	assert_int_equal(at(f, 1).reg, 1);	/* DWARF's number of rdx */
	assert_sp(f, 4, 8, 0);
}

/* lea -0x2000(%rsp),%r11; 1: sub $0x1000,%rsp; orq $0,(%rsp); cmp %r11,%rsp; jne 1b; sub $8,%rsp; call */
static void test_stack_probes(void **state)
{
	struct fixture *f = *state;

	BUILD(f, 0x4c, 0x8d, 0x9c, 0x24, 0, 0xe0, 0xff, 0xff, 0x48, 0x81, 0xec, 0, 0x10, 0, 0, 0x48, 0x83, 0x0c, 0x24, 0, 0x4c,
	      0x39, 0xdc, 0x75, 0xef, SUB_RSP(8), CALL_RAX, 0x48, 0x81, 0xc4, 8, 0x20, 0, 0, RET);
	assert_int_equal(at(f, 15).cfa, CFA_REG);	/* in the loop */
	assert_int_equal(at(f, 15).reg, 11);
	assert_int_equal(at(f, 15).cfa_off, 0x2008);
	assert_sp(f, 29, 0x2010, 0);
	assert_sp(f, 38, 8, 0);
}

/* ---- roots ---- */

/* mov $56,%eax; syscall; test %eax,%eax; jne 1f; xor %ebp,%ebp; pop %rdi; call *%rax; hlt; 1: ret */
static void test_clone(void **state)
{
	struct fixture *f = *state;

	BUILD(f, 0xb8, 0x38, 0, 0, 0, SYSCALL, 0x85, 0xc0, 0x75, 6, XOR_EBP, 0x5f, CALL_RAX, 0xf4, RET);
	assert_sp(f, 7, 8, 0);
	assert_int_equal(at(f, 13).cfa, CFA_ROOT);
	assert_int_equal(at(f, 15).cfa, CFA_ROOT);	/* the last byte of the call: where its return address belongs */
	assert_int_equal(at(f, 13).ra, RULE_GUESSED);
	assert_sp(f, 17, 8, 0);
}

static void test_no_root_when_saved(void **state)
{
	struct fixture *f = *state;

	BUILD(f, PUSH_RBP, SYSCALL, XOR_EBP, CALL_RAX, POP_RBP, RET);
	assert_sp(f, 5, 16, 16);
	assert_sp(f, 8, 8, 0);
}

static void test_entry_point(void **state)
{
	struct fixture *f = *state;

	f->in.entry = BASE;
	BUILD(f, 0x48, 0x31, 0xed, 0x48, 0x89, 0xe7, AND_RSP, CALL_RAX, 0xf4);
	for (uint64_t off = 0; off < 12; off++) {
		assert_int_equal(at(f, off).cfa, CFA_ROOT);
		assert_int_equal(at(f, off).ra, 0);	/* the file says so: not guessed */
	}
}

/* A library has an entry point too, of another kind. */
static void test_entry_of_a_library(void **state)
{
	struct fixture *f = *state;

	f->in.entry = BASE;
	BUILD(f, SUB_RSP(8), CALL_RAX, ADD_RSP(8), RET);
	assert_sp(f, 4, 16, 0);
}

/* ---- from one function to the next ---- */

static void test_noreturn_callee(void **state)
{
	struct fixture *f = *state;

	/* sub; call g; (another function:) push %rbx; pop; ret; g: hlt. Nobody falls from the call into the function. */
	f->starts[1] = BASE + 9;
	f->starts[2] = BASE + 12;
	f->in.nr_starts = 3;
	BUILD(f, SUB_RSP(8), 0xe8, 3, 0, 0, 0, PUSH_RBX, POP_RBX, RET, 0xf4);
	assert_sp(f, 8, 16, 0);
	assert_sp(f, 9, 8, 0);
	assert_sp(f, 10, 16, 0);
	assert_int_equal(f->stats.joins_lost, 0);
}

static void test_frame_behind_call(void **state)
{
	struct fixture *f = *state;

	/*
	 * A function of 16 bytes whose last instruction calls one that nobody knows not to come back; then, without padding,
	 * push %rbp; mov %rsp,%rbp; push %rbx; pop; pop; ret.
	 */
	BUILD(f, PUSH_RBP, MOV_RSP_RBP, SUB_RSP(16), NOP, NOP, CALL_RAX, CALL_RAX, CALL_RAX, PUSH_RBP, MOV_RSP_RBP, PUSH_RBX, POP_RBX,
	      POP_RBP, RET);
	assert_int_equal(at(f, 15).cfa, CFA_FP);
	assert_sp(f, 16, 8, 0);
	assert_sp(f, 17, 16, 16);
	assert_int_equal(at(f, 20).cfa, CFA_FP);
	assert_int_equal(at(f, 21).cfa, CFA_FP);
	assert_int_equal(f->stats.joins_lost, 0);
}

static void test_unaligned_frame_behind_call(void **state)
{
	BUILD((struct fixture *)*state, SUB_RSP(8), CALL_RAX, PUSH_RBP, MOV_RSP_RBP, PUSH_RBX, POP_RBX, POP_RBP, RET);
	assert_sp(*state, 4, 16, 0);
	assert_sp(*state, 6, 8, 0);
}

static void test_noreturn_slot(void **state)
{
	struct fixture *f = *state;

	/* call *slot(%rip), with abort's slot; pop %rbx; ret is reached with another frame */
	f->noreturn[0] = BASE + 0x1000;
	f->in.noreturn = f->noreturn;
	f->in.nr_noreturn = 1;
	BUILD(f, PUSH_RBX, JE(10), SUB_RSP(16), 0xff, 0x15, 0xf3, 0x0f, 0, 0, POP_RBX, RET);
	assert_sp(f, 7, 32, 0);
	assert_sp(f, 13, 16, 0);
	assert_sp(f, 14, 8, 0);
	assert_int_equal(f->stats.joins_lost, 0);
}

/* sub; call g; add; ret; g: test; je over; hlt; over: ret. An assertion that holds lets g return. */
static void test_exit_behind_stop(void **state)
{
	struct fixture *f = *state;

	BUILD(f, SUB_RSP(8), 0xe8, 5, 0, 0, 0, ADD_RSP(8), RET, 0x85, 0xc0, JE(1), 0xf4, RET);
	assert_sp(f, 9, 16, 0);
	assert_sp(f, 13, 8, 0);
	assert_sp(f, 19, 8, 0);
}

#define SPECULATION_TRAP 0xf3, 0x90, 0x0f, 0xae, 0xe8, JMP(-7)

/* push %rbx; call thunk; pop %rbx; ret; thunk: call over; (trap) over: mov %rax, (%rsp); ret. The thunk comes back. */
static void test_retpoline(void **state)
{
	struct fixture *f = *state;

	BUILD(f, PUSH_RBX, 0xe8, 2, 0, 0, 0, POP_RBX, RET, 0xe8, 7, 0, 0, 0, SPECULATION_TRAP, 0x48, 0x89, 0x04, 0x24, RET);
	assert_sp(f, 6, 16, 0);
	assert_sp(f, 8, 8, 0);
	assert_none(f, 13);
	assert_sp(f, 20, 16, 0);
	assert_sp(f, 24, 16, 0);
}

/* push %rcx; mov %r10, 8(%rsp); jmp g; g: push %rbp; ret: an argument is where the return address was. */
static void test_return_address_overwritten(void **state)
{
	struct fixture *f = *state;

	BUILD(f, 0x51, 0x4c, 0x89, 0x54, 0x24, 0x10, NOP, JMP(0), PUSH_RBP, RET);
	assert_sp(f, 6, 16, 0);
	assert_sp(f, 10, 24, 24);
	f->rows.nr = 0;
	BUILD(f, 0x51, 0x4c, 0x89, 0x54, 0x24, 0x08, NOP, JMP(0), PUSH_RBP, RET);
	assert_sp(f, 1, 16, 0);
	assert_none(f, 6);
	assert_none(f, 9);
	assert_none(f, 10);
	f->rows.nr = 0;
	BUILD(f, 0x51, 0x48, 0xc7, 0x44, 0x24, 0x08, 1, 0, 0, 0, NOP, RET);
	assert_none(f, 10);
}

/* ret; zeros up to 16; f: push %rbx; ...; ret; zeros up to 32; the caller of f. An odd number of zeros comes first. */
static void test_filled_up_with_zeros(void **state)
{
	struct fixture *f = *state;

	BUILD(f, RET, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, PUSH_RBX, POP_RBX, PUSH_RBX, NOP, NOP, NOP, NOP, NOP,
	      NOP, NOP, NOP, NOP, NOP, POP_RBX, RET, 0, SUB_RSP(8), 0xe8, 0xe7, 0xff, 0xff, 0xff, ADD_RSP(8), RET);
	assert_sp(f, 16, 8, 0);
	assert_sp(f, 17, 16, 0);
	assert_sp(f, 30, 8, 0);
	assert_sp(f, 36, 16, 0);
	assert_sp(f, 45, 8, 0);
	assert_int_equal(f->stats.bytes, f->stats.known_bytes);
}

/* mov $g, %edi; ret; g: mov %rax, %rbx; jmp g. Nothing but its address says that g is a function. */
static void test_address_in_constant(void **state)
{
	struct fixture *f = *state;

	BUILD(f, 0xbf, 0x06, 0x10, 0x40, 0x00, RET, 0x48, 0x89, 0xc3, JMP(-5));
	assert_sp(f, 6, 8, 0);
	assert_sp(f, 9, 8, 0);
}

/* A function that only a call names. */
static void test_called_function(void **state)
{
	struct fixture *f = *state;

	BUILD(f, 0xe8, 1, 0, 0, 0, RET, PUSH_RBX, POP_RBX, RET);
	assert_sp(f, 6, 8, 0);
	assert_sp(f, 7, 16, 0);
	assert_int_equal(f->stats.functions, 2);
}

/* A jump into a part of the function that lies elsewhere takes its frame along. */
static void test_cold_part(void **state)
{
	struct fixture *f = *state;

	BUILD(f, SUB_RSP(24), JE(5), ADD_RSP(24), RET, CALL_RAX, JMP(-9));
	assert_sp(f, 11, 32, 0);
	assert_sp(f, 13, 32, 0);
	assert_sp(f, 10, 8, 0);
}

/* ---- switches ---- */

/* cmp $1,%eax; ja out; lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax; two cases; out */
#define SWITCH_HEAD 0x83, 0xf8, 0x01, 0x77, 22, 0x48, 0x8d, 0x15, 0xf0, 0x0f, 0, 0, 0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, \
	JMP_RAX

/* lea ends at 16: the table is at BASE + 16 + 0xff0 */
static bool read_table(void *ctx, uint64_t vaddr, void *out, size_t size)
{
	static const int32_t table[2] = { 25 - 0x1000, 28 - 0x1000 };
	uint64_t at = vaddr - (BASE + 0x1000);

	(void)ctx;
	if (at > sizeof(table) || sizeof(table) - at < size)
		return false;
	memcpy(out, (const char *)table + at, size);
	return true;
}

static void test_switch(void **state)
{
	struct fixture *f = *state;

	f->in.read_data = read_table;
	BUILD(f, SUB_RSP(8), SWITCH_HEAD, CALL_RAX, JMP(2), CALL_RAX, ADD_RSP(8), RET);
	assert_int_equal(f->stats.unknown_jumps, 0);
	assert_sp(f, 25, 16, 0);
	assert_sp(f, 29, 16, 0);
}

/* Without the table the cases are tried with the frame of the jump; where they lead says that it is right. */
static void test_switch_without_table(void **state)
{
	struct fixture *f = *state;

	BUILD(f, SUB_RSP(8), SWITCH_HEAD, CALL_RAX, JMP(2), CALL_RAX, ADD_RSP(8), RET);
	assert_int_equal(f->stats.unknown_jumps, 1);
	assert_sp(f, 25, 16, 0);
	assert_sp(f, 27, 16, 0);
}

/* What leads nowhere is not claimed. */
static void test_unconfirmed_case(void **state)
{
	struct fixture *f = *state;

	BUILD(f, SUB_RSP(8), JMP_RAX, CALL_RAX, 0x0f, 0x0b);
	assert_sp(f, 4, 16, 0);
	assert_none(f, 6);
	assert_none(f, 8);
}

/* A case that would return with the stack elsewhere contradicts. */
static void test_contradicted_case(void **state)
{
	struct fixture *f = *state;

	BUILD(f, SUB_RSP(8), JMP_RAX, CALL_RAX, ADD_RSP(24), RET);
	assert_none(f, 6);
	assert_none(f, 12);
}

/* ---- stubs ---- */

static void test_lazy_plt(void **state)
{
	struct fixture *f = *state;

	f->stub = (struct code_range){ BASE, BASE + 48 };
	f->in.stubs = &f->stub;
	f->in.nr_stubs = 1;
	f->in.nr_starts = 1;
	f->gap = (struct code_range){ BASE, BASE + 48 };
	memcpy(f->code, (const uint8_t[]){
		0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0,
		0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0xe0, 0xff, 0xff, 0xff,
		0xff, 0x25, 0, 0, 0, 0, 0x68, 1, 0, 0, 0, 0xe9, 0xd0, 0xff, 0xff, 0xff }, 48);
	f->in.code = f->code;
	f->in.len = 48;
	f->in.vaddr = BASE;
	f->in.gaps = &f->gap;
	f->in.nr_gaps = 1;
	f->in.nr_starts = 0;
	assert_int_equal(code_rows_build(&f->in, &f->rows, &f->stats), 0);
	assert_sp(f, 0, 16, 0);
	assert_sp(f, 6, 24, 0);
	for (uint64_t stub = 16; stub < 48; stub += 16) {
		assert_sp(f, stub, 8, 0);
		assert_sp(f, stub + 6, 8, 0);
		assert_sp(f, stub + 11, 16, 0);
	}
}

/* ---- input ---- */

static void test_only_gaps_are_read(void **state)
{
	struct fixture *f = *state;
	struct code_range gap = { BASE + 4, BASE + 7 };

	memcpy(f->code, (const uint8_t[]){ PUSH_RBX, POP_RBX, RET, NOP, PUSH_RBX, POP_RBX, RET, PUSH_RBX, RET }, 9);
	f->starts[0] = BASE + 4;
	f->in = (struct code_input){ .code = f->code, .len = 9, .vaddr = BASE, .gaps = &gap, .nr_gaps = 1,
				     .starts = f->starts, .nr_starts = 1 };
	assert_int_equal(code_rows_build(&f->in, &f->rows, &f->stats), 0);
	assert_none(f, 3);
	assert_sp(f, 4, 8, 0);
	assert_sp(f, 5, 16, 0);
	assert_none(f, 7);
}

static void test_bad_input(void **state)
{
	struct fixture *f = *state;
	struct code_range gaps[2] = { { BASE, BASE + 8 }, { BASE + 4, BASE + 12 } };

	f->in = (struct code_input){ .code = f->code, .len = 16, .vaddr = BASE, .gaps = gaps, .nr_gaps = 2 };
	assert_int_equal(code_rows_build(&f->in, &f->rows, &f->stats), -EINVAL);
	gaps[1] = (struct code_range){ BASE + 8, BASE + 17 };
	assert_int_equal(code_rows_build(&f->in, &f->rows, &f->stats), -EINVAL);
	f->in.len = CODE_MAX_BYTES + 1ul;
	assert_int_equal(code_rows_build(&f->in, &f->rows, &f->stats), -EFBIG);
	assert_int_equal(f->rows.nr, 0);
}

static void test_unwanted(void **state)
{
	struct fixture *f = *state;
	atomic_bool unwanted = false;

	BUILD(f, SUB_RSP(8), CALL_RAX, ADD_RSP(8), RET);
	f->in.unwanted = &unwanted;
	f->rows.nr = 0;
	assert_int_equal(code_rows_build(&f->in, &f->rows, &f->stats), 0);
	assert_int_not_equal(f->rows.nr, 0);
	f->rows.nr = 0;
	atomic_store(&unwanted, true);
	assert_int_equal(code_rows_build(&f->in, &f->rows, &f->stats), -ECANCELED);
	assert_int_equal(f->rows.nr, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_push_and_sub), TEST(test_frame_pointer), TEST(test_saved_by_mov), TEST(test_realigned),
		TEST(test_realigned_and_popped), TEST(test_realigned_and_lost), TEST(test_lost_frame_pointer),
		TEST(test_both_ways_agree), TEST(test_ways_disagree), TEST(test_behind_the_end),
		TEST(test_return_address_in_register), TEST(test_stack_probes), TEST(test_clone),
		TEST(test_no_root_when_saved), TEST(test_entry_point), TEST(test_entry_of_a_library),
		TEST(test_exit_behind_stop), TEST(test_retpoline), TEST(test_return_address_overwritten),
		TEST(test_filled_up_with_zeros),
		TEST(test_address_in_constant), TEST(test_noreturn_callee), TEST(test_frame_behind_call), TEST(test_unwanted), TEST(test_noreturn_slot),
		TEST(test_address_in_constant), TEST(test_noreturn_callee), TEST(test_unaligned_frame_behind_call), TEST(test_unwanted), TEST(test_noreturn_slot),
		TEST(test_called_function), TEST(test_cold_part), TEST(test_switch), TEST(test_switch_without_table),
		TEST(test_unconfirmed_case), TEST(test_contradicted_case), TEST(test_lazy_plt),
		TEST(test_only_gaps_are_read), TEST(test_bad_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
