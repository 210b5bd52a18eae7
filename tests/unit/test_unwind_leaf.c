/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code without unwind information whose bytes say more than the frame pointer: leaves, and stacks that are scanned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/unwind_world.h"

#define SP (STACK + 0x100)
#define FP (STACK + 0x140)	/* of the function that LEAF was called by */
#define LEAF (BARE + 0x800)
#define CALLER (BARE + 0x400)
#define RET (CALLER + 0x20)	/* return address in CALLER */
#define OUTER_RET (BARE + 0x220)

/* call rel32 that returns to ra. */
static void direct_call(struct world *w, uint64_t ra, uint64_t target)
{
	uint32_t rel = (uint32_t)(target - ra);

	code(w, ra - 5, 0xe8, (uint8_t)rel, (uint8_t)(rel >> 8), (uint8_t)(rel >> 16), (uint8_t)(rel >> 24));
}

/* OUTER calls CALLER, which keeps a frame pointer and calls LEAF; RET is at slot. */
static void stack_of_leaf(struct world *w, uint64_t slot)
{
	outer_rows(w);
	code(w, CALLER, 0x55, 0x48, 0x89, 0xe5);
	direct_call(w, RET, LEAF);
	direct_call(w, OUTER_RET, CALLER);
	poke(w, slot, RET);
	poke(w, FP, STACK + 0x180);
	poke(w, FP + 8, OUTER_RET);
	poke(w, STACK + 0x188, at(0x4010));
}

static void expect_leaf(struct world *w, uint64_t pc, uint64_t fp)
{
	start(w, pc, SP, fp);
	expect(w, UNWIND_ROOT, pc, RET | GUESS, OUTER_RET | GUESS, at(0x4010) | GUESS);
}

/* The chain of frame pointers alone: the leaf's caller is lost. */
static void expect_chain(struct world *w, uint64_t pc)
{
	start(w, pc, SP, FP);
	expect(w, UNWIND_ROOT, pc, OUTER_RET | GUESS, at(0x4010) | GUESS);
}

static void test_prologue(void **state)
{
	struct world *w = *state;

	stack_of_leaf(w, SP);
	code(w, LEAF, 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x31, 0xc0, 0x48, 0x89, 0xe5);
	expect_leaf(w, LEAF, FP);		/* endbr64 */
	expect_leaf(w, LEAF + 4, FP);		/* push %rbp */
	poke(w, SP, FP);
	poke(w, SP + 8, RET);
	expect_leaf(w, LEAF + 5, FP);		/* something in between */
	expect_leaf(w, LEAF + 7, FP);		/* mov %rsp, %rbp */
	/* Behind that the frame is there. */
	start(w, LEAF + 10, SP, SP);
	expect(w, UNWIND_ROOT, LEAF + 10, RET | GUESS, OUTER_RET | GUESS, at(0x4010) | GUESS);
	/* The other encoding of mov. */
	code(w, LEAF + 7, 0x48, 0x8b, 0xec);
	expect_leaf(w, LEAF + 7, FP);
	poke(w, SP, FP + 16);			/* not what a push of the frame pointer leaves */
	expect_chain(w, LEAF + 7);
}

static void test_epilogue(void **state)
{
	struct world *w = *state;

	stack_of_leaf(w, SP);
	code(w, LEAF, 0x55, 0x48, 0x89, 0xe5);
	code(w, LEAF + 0x20, 0x5d, 0xc3);		/* pop %rbp; ret */
	expect_leaf(w, LEAF + 0x21, FP);
	code(w, LEAF + 0x20, 0xc9, 0xf3, 0xc3);		/* leave; rep ret */
	expect_leaf(w, LEAF + 0x21, FP);
	code(w, LEAF + 0x20, 0x5d, 0xc2, 0x08, 0x00);	/* pop %rbp; ret $8 */
	expect_leaf(w, LEAF + 0x21, FP);
	code(w, LEAF + 0x20, 0x5d, 0xe9, 1, 2, 3, 4);	/* pop %rbp; jmp: a tail call */
	expect_leaf(w, LEAF + 0x21, FP);
	code(w, LEAF + 0x20, 0x5d, 0xff, 0xe0);		/* pop %rbp; jmp *%rax */
	expect_leaf(w, LEAF + 0x21, FP);
	code(w, LEAF + 0x20, 0x90, 0xe9, 1, 2, 3, 4);	/* a jump in the body */
	expect_chain(w, LEAF + 0x21);
}

static void test_frameless(void **state)
{
	struct world *w = *state;

	stack_of_leaf(w, SP);
	code(w, LEAF, 0x8d, 0x47, 0x01);		/* lea: no frame */
	expect_leaf(w, LEAF + 3, FP);
	/* One that makes a frame has it by now: the word at sp is an old one. */
	code(w, LEAF, 0x55, 0x48, 0x89, 0xe5);
	expect_chain(w, LEAF + 0x10);
	code(w, LEAF, 0x48, 0x83, 0xec, 0x18);		/* or has room of its own */
	expect_chain(w, LEAF + 0x10);
	code(w, LEAF, 0x90, 0x90, 0x90, 0x90);
	expect_leaf(w, LEAF + 0x10, FP);
	/* A call of something else, which jumped here, from the very function that the frame pointer belongs to. */
	direct_call(w, RET, LEAF + 0x20);
	expect_leaf(w, LEAF + 0x10, FP);
	direct_call(w, RET, LEAF - (1 << 20));
	expect_leaf(w, LEAF + 0x10, FP);
	/* Nobody knows which one that is, or it is nearer than what was called. */
	poke(w, FP + 8, at(0x4010));
	start(w, LEAF + 0x10, SP, FP);
	expect(w, UNWIND_ROOT, LEAF + 0x10, at(0x4010) | GUESS);
	poke(w, FP + 8, OUTER_RET);
	direct_call(w, RET, CALLER - 0x40);
	expect_chain(w, LEAF + 0x10);
	/* No call before it, or the word is no address of code. */
	code(w, RET - 5, 0x90, 0x90, 0x90, 0x90, 0x90);
	expect_chain(w, LEAF + 0x10);
	poke(w, SP, STACK);
	expect_chain(w, LEAF + 0x10);
}

static void test_frameless_through_pointer(void **state)
{
	static const uint8_t calls[][7] = {
		/* call *%rax; *%r11; *(%rdi); *8(%rbx); *0x100(%r12); *0x200(%rip); *8(%rsp); *(%rax,%rcx,8) */
		{ 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 }, { 0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd3 },
		{ 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x17 }, { 0x90, 0x90, 0x90, 0x90, 0xff, 0x53, 0x08 },
		{ 0xff, 0x94, 0x24, 0x00, 0x01, 0x00, 0x00 }, { 0x90, 0xff, 0x15, 0x00, 0x02, 0x00, 0x00 },
		{ 0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 0x08 }, { 0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0xc8 },
	};
	struct world *w = *state;

	stack_of_leaf(w, SP);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		put_code(w, RET - 7, calls[i], sizeof(calls[i]));
		expect_leaf(w, LEAF + 0x10, FP);
	}
	code(w, RET - 7, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0);	/* jmp *%rax is no call */
	expect_chain(w, LEAF + 0x10);
	/* A call from a function that the frame pointer does not belong to. */
	put_code(w, RET - 7, calls[0], sizeof(calls[0]));
	direct_call(w, OUTER_RET, RET + 0x40);
	expect_chain(w, LEAF + 0x10);
}

static void test_leaf_in_frame_pointer_mode(void **state)
{
	struct world *w = *state;

	stack_of_leaf(w, SP);
	w->mode = UNWIND_BY_FRAME_POINTERS;
	code(w, LEAF, 0x55, 0x48, 0x89, 0xe5);
	start(w, LEAF, SP, FP);
	expect(w, UNWIND_FP_END, LEAF, RET | GUESS, OUTER_RET | RA, at(0x4010) | RA);
	start(w, LEAF + 8, SP, FP);
	expect(w, UNWIND_FP_END, LEAF + 8, OUTER_RET | GUESS, at(0x4010) | RA);
}

/*
 * --unwind fp: the table tells the caller of the interrupted frame, whatever it pushed, and the frame
 * pointer those of all others. Where no table does, the caller is marked: one may be left out.
 */
static void test_leaf_by_table(void **state)
{
	struct world *w = *state;

	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	row(w, 0x2100,
	    (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 });
	row(w, 0x2200,
	    (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16, .ra = RULE_GUESSED });
	row(w, 0x2300, (struct unwind_rule){ .cfa = CFA_UNSUPPORTED });
	outer_rows(w);
	w->mode = UNWIND_BY_FRAME_POINTERS | UNWIND_LEAF_BY_TABLE;
	poke(w, SP + 8, at(0x3010));
	poke(w, FP, STACK + 0x180);
	poke(w, FP + 8, at(0x3020));
	poke(w, STACK + 0x188, at(0x4010));
	start(w, at(0x2010), SP, FP);
	expect(w, UNWIND_FP_END, at(0x2010), at(0x3010) | RA, at(0x3020) | RA, at(0x4010) | RA);
	start(w, at(0x2110), SP, FP);
	expect(w, UNWIND_FP_END, at(0x2110), at(0x3020) | RA, at(0x4010) | RA);
	start(w, at(0x2210), SP, FP);
	expect(w, UNWIND_FP_END, at(0x2210), at(0x3010) | GUESS, at(0x3020) | RA, at(0x4010) | RA);
	start(w, at(0x2310), SP, FP);
	expect(w, UNWIND_FP_END, at(0x2310), at(0x3020) | GUESS, at(0x4010) | RA);
	start(w, at(0x4010), SP, FP);
	expect(w, UNWIND_ROOT, at(0x4010));
	for (int i = 0; i < 4; i++) {
		static const uint64_t pcs[] = { BARE + 8, PENDING + 8, JIT + 8, 0x1000 };

		start(w, pcs[i], SP, FP);
		expect(w, UNWIND_FP_END, pcs[i], at(0x3020) | GUESS, at(0x4010) | RA);
	}
}

/*
 * --unwind fp: a handler's frame record leads from its trampoline to the caller of what the signal
 * interrupted. The table tells that it is a trampoline; without one the next frame is marked.
 */
static void test_signal_by_table(void **state)
{
	const uint64_t handler = STACK + 0x20, context = handler + 16 + ARCH_SIGNAL_CONTEXT, sp = STACK + 0x1000;
	struct world *w = *state;

	if (!ARCH_FP_CHAIN_MEETS_SIGNALS)
		return;
	row(w, 0x2000, (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 });
	row(w, 0x27ff, (struct unwind_rule){ .cfa = CFA_SIGNAL });
	row(w, 0x2810, (struct unwind_rule){ .cfa = CFA_NONE });
	row(w, 0x2900, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 24 });
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 });
	w->mode = UNWIND_BY_FRAME_POINTERS | UNWIND_LEAF_BY_TABLE;
	poke(w, handler, sp + 0x100);
	poke(w, handler + 8, at(0x2800));
	poke(w, handler + 16, ARCH_UCONTEXT_FLAGS);
	poke(w, context + ARCH_SIGNAL_PC * 8, at(0x2908));
	poke(w, context + ARCH_SIGNAL_SP * 8, sp);
	poke(w, context + ARCH_SIGNAL_FP * 8, sp + 0x100);
	poke(w, sp + 16, at(0x3010));
	poke(w, sp + 0x108, at(0x3020));
	start(w, at(0x2010), STACK, handler);
	expect(w, UNWIND_FP_END, at(0x2010), at(0x2800) | RA, at(0x2908), at(0x3010) | RA,
	       at(0x3020) | RA);
	/* No table of the trampoline. */
	poke(w, handler + 8, PENDING + 8);
	start(w, at(0x2010), STACK, handler);
	expect(w, UNWIND_FP_END, at(0x2010), (PENDING + 8) | RA, at(0x3020) | GUESS);
	/* Other code with such words on its stack; and no such words: no table is asked. */
	poke(w, handler + 8, at(0x3010));
	start(w, at(0x2010), STACK, handler);
	expect(w, UNWIND_FP_END, at(0x2010), at(0x3010) | RA, at(0x3020) | RA);
	poke(w, handler + 16, ARCH_UCONTEXT_FLAGS + 1);
	poke(w, handler + 8, PENDING + 8);
	start(w, at(0x2010), STACK, handler);
	expect(w, UNWIND_FP_END, at(0x2010), (PENDING + 8) | RA, at(0x3020) | RA);
}

static void test_leaf_needs_readable_code(void **state)
{
	struct world *w = *state;

	stack_of_leaf(w, SP);
	code(w, LEAF, 0x55, 0x48, 0x89, 0xe5);
	expect_leaf(w, LEAF, FP);
	w->has_code = false;
	expect_chain(w, LEAF);
	w->has_code = true;
	w->mode = UNWIND_BY_TABLES;
	start(w, LEAF, SP, FP);
	expect(w, UNWIND_NO_FDE, LEAF);
}

/* ---- code made at run time ---- */

#define METHOD (JIT + 0x400)
#define OTHER (JIT + 0x800)

/* Two methods that do not keep the frame pointer, called from 0x4000; the first one's frame has 0x28 bytes. */
static void stack_of_methods(struct world *w)
{
	outer_rows(w);
	code(w, METHOD, 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20);
	code(w, OTHER, 0x48, 0x81, 0xec, 0x28, 0x00, 0x00, 0x00, 0x48, 0x89, 0x6c, 0x24, 0x20);
	poke(w, SP + 0x20, 0x1234);		/* saved: no frame pointer */
	poke(w, SP + 0x28, OTHER + 0x100);
	poke(w, SP + 0x30 + 0x20, 0x777);
	poke(w, SP + 0x30 + 0x28, at(0x4010));
	/* Left by calls that are over. */
	poke(w, SP + 0x08, STACK + 0x400);
	poke(w, SP + 0x10, OTHER + 0x40);
	poke(w, STACK + 0x408, at(0x3010));
}

static void expect_methods(struct world *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	start(w, pc, sp, fp);
	expect(w, UNWIND_ROOT, pc, (OTHER + 0x100) | GUESS, at(0x4010) | GUESS);
}

static void test_frame_size_from_prologue(void **state)
{
	struct world *w = *state;

	stack_of_methods(w);
	for (uint64_t pc = METHOD + 12; pc < METHOD + 0x200; pc += 13)
		expect_methods(w, pc, SP, 0x1234);
	/* Whatever the frame pointer holds, 0 and what looks like a frame too. */
	expect_methods(w, METHOD + 0x80, SP, 0);
	expect_methods(w, METHOD + 0x80, SP, SP + 0x400);
	/* Through the prologue and the epilogue. */
	expect_methods(w, METHOD, SP + 0x28, 0x1234);
	expect_methods(w, METHOD + 7, SP + 0x28, 0x1234);
	expect_methods(w, METHOD + 8, SP + 0x20, 0x1234);
	/* add $0x20, %rsp; pop %rbp; cmp 0x340(%r15), %rsp; ja; ret */
	code(w, METHOD + 0x100, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0xa7, 0x40, 0x03, 0, 0, 0x0f, 0x87, 1, 0, 0, 0, 0xc3);
	expect_methods(w, METHOD + 0x100, SP, 0x55);
	expect_methods(w, METHOD + 0x104, SP + 0x20, 0x55);
	expect_methods(w, METHOD + 0x105, SP + 0x28, 0x1234);
	expect_methods(w, METHOD + 0x10c, SP + 0x28, 0x1234);
	expect_methods(w, METHOD + 0x112, SP + 0x28, 0x1234);
}

static void test_prologue_says_frame_pointer(void **state)
{
	struct world *w = *state;

	stack_of_methods(w);
	/* push %rbp; mov %rsp, %rbp; sub $0x20, %rsp: the upper one alone would say something else */
	code(w, METHOD, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20);
	poke(w, SP + 0x80, STACK + 0x300);
	poke(w, SP + 0x88, at(0x4010));
	start(w, METHOD + 0x80, SP, SP + 0x80);
	expect(w, UNWIND_ROOT, METHOD + 0x80, at(0x4010) | GUESS);
}

/* No prologue: only a frame pointer that leads on makes a return address believable. */
static void test_stack_is_searched(void **state)
{
	struct world *w = *state;

	const uint64_t sp = STACK + 0x2000, pair = sp + 0x80, up = STACK + 0x3000;

	outer_rows(w);
	code(w, OTHER - 2, 0xff, 0xd0);
	poke(w, sp + 0x18, OTHER);		/* alone */
	poke(w, sp + 0x40, up + 0x200);		/* this one leads nowhere */
	poke(w, sp + 0x48, OTHER);
	poke(w, sp + 0x60, up);
	poke(w, sp + 0x68, OTHER + 1);		/* not behind a call */
	poke(w, pair, up);
	poke(w, pair + 8, OTHER);
	poke(w, up + 8, at(0x4010));
	start(w, METHOD + 0x80, sp, 0x1234);
	expect(w, UNWIND_ROOT, METHOD + 0x80, OTHER | GUESS, at(0x4010) | GUESS);
	/* The last word that is looked at, and the one behind it. */
	start(w, METHOD + 0x80, pair + 8 - 8 * (UNWIND_SEARCH_GAP - 1), 0x1234);
	expect(w, UNWIND_ROOT, METHOD + 0x80, OTHER | GUESS, at(0x4010) | GUESS);
	start(w, METHOD + 0x80, pair + 8 - 8 * UNWIND_SEARCH_GAP, 0x1234);
	expect(w, UNWIND_JIT, METHOD + 0x80);
	w->mode = UNWIND_BY_TABLES;
	start(w, METHOD + 0x80, sp, 0x1234);
	expect(w, UNWIND_JIT, METHOD + 0x80);
}

/* Code of files is never searched, and what a walk may look at is limited. */
static void test_searches_are_limited(void **state)
{
	struct world *w = *state;

	outer_rows(w);
	code(w, BARE + 0x400, 0x55, 0x48, 0x83, 0xec, 0x20);
	code(w, OTHER - 2, 0xff, 0xd0);
	poke(w, SP + 0x28, at(0x4010));
	start(w, BARE + 0x440, SP, 0x1234);
	expect(w, UNWIND_NO_FDE, BARE + 0x440);
	/* A stack full of return addresses. */
	for (uint64_t slot = STACK; slot < STACK + STACK_BYTES; slot += 8)
		poke(w, slot, OTHER);
	start(w, METHOD + 0x80, STACK, 0x1234);
	expect(w, UNWIND_JIT, METHOD + 0x80);
	for (uint64_t slot = STACK; slot < STACK + STACK_BYTES; slot += 16)
		poke(w, slot, STACK + STACK_BYTES - 16);
	go(w);
	assert_true(w->nr > 1 && w->nr < UNWIND_MAX_FRAMES);
	assert_true(w->end == UNWIND_JIT || w->end == UNWIND_ROOT_GUESS);
}

/* Behind the system call that made it, in code without unwind information; the frame pointer is its parent's. */
static void test_new_task(void **state)
{
	struct world *w = *state;

	for (uint64_t call = 55; call < 58; call++) {
		start(w, LEAF, SP, 0x1234);
		w->regs[10] = 0;
		w->regs[15] = call;
		expect(w, call == 56 ? UNWIND_ROOT_GUESS : UNWIND_NO_FDE, LEAF);
	}
	start(w, LEAF, SP, 0x1234);
	w->regs[10] = 0;
	w->regs[15] = 435;
	expect(w, UNWIND_ROOT_GUESS, LEAF);
	w->regs[10] = 4321;			/* the parent: it has a caller */
	expect(w, UNWIND_NO_FDE, LEAF);
	/* Where a caller is found there is one: the stack was copied. */
	stack_of_leaf(w, SP);
	code(w, LEAF, 0x8d, 0x47, 0x01);
	start(w, LEAF + 3, SP, FP);
	w->regs[10] = 0;
	w->regs[15] = 56;
	expect(w, UNWIND_ROOT, LEAF + 3, RET | GUESS, OUTER_RET | GUESS, at(0x4010) | GUESS);
}

/*
 * CPython's -X perf calls the interpreter's loop through code like this. No window tells of it, and
 * where a runtime has frames nobody waits for one.
 */
#define TRAMPOLINE (JIT + 0x400)

static void expect_trampoline(struct world *w, uint64_t pc, uint64_t sp)
{
	start(w, pc, sp, 0x1234);
	poke(w, SP, at(0x4010));
	expect(w, UNWIND_ROOT, pc, at(0x4010) | GUESS);
	poke(w, SP, STACK);				/* no address of code */
	expect(w, UNWIND_JIT, pc);
}

static void test_trampoline(void **state)
{
	struct world *w = *state;

	outer_rows(w);
	code(w, BARE + 0x1e, 0xff, 0xd1);
	/* sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
	code(w, TRAMPOLINE, 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3, 0, 0);
	expect_trampoline(w, TRAMPOLINE, SP);
	expect_trampoline(w, TRAMPOLINE + 4, SP - 8);
	expect_trampoline(w, TRAMPOLINE + 6, SP - 8);
	expect_trampoline(w, TRAMPOLINE + 10, SP);
	/* endbr64 in front, and a register with a prefix: call *%r11. */
	code(w, TRAMPOLINE, 0x90, 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0x41, 0xff, 0xd3);
	code(w, TRAMPOLINE + 12, 0x48, 0x83, 0xc4, 0x08, 0xf3, 0xc3);
	expect_trampoline(w, TRAMPOLINE + 9, SP - 8);
	expect_trampoline(w, TRAMPOLINE + 12, SP - 8);
	/* As the caller of another function, and with the frame pointer in its frame. */
	code(w, TRAMPOLINE, 0x55, 0x48, 0x83, 0xec, 0x10, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3);
	start(w, at(0x3010), SP - 24, 0x1234);
	poke(w, SP, TRAMPOLINE + 7);
	poke(w, SP + 0x18, STACK + 0x180);
	poke(w, SP + 0x20, BARE + 0x20);
	poke(w, STACK + 0x188, at(0x4010));
	expect(w, UNWIND_ROOT, at(0x3010), (TRAMPOLINE + 7) | RA, (BARE + 0x20) | GUESS, at(0x4010) | GUESS);
	/* Something else is between it and the return, and no frame pointer is there. */
	poke(w, SP + 0x18, 3);
	code(w, TRAMPOLINE, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0x90, 0xc3);
	expect(w, UNWIND_JIT, at(0x3010), (TRAMPOLINE + 7) | RA);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_prologue),
		T(test_epilogue),
		T(test_frameless),
		T(test_frameless_through_pointer),
		T(test_leaf_in_frame_pointer_mode),
		T(test_leaf_by_table),
		T(test_signal_by_table),
		T(test_leaf_needs_readable_code),
		T(test_frame_size_from_prologue),
		T(test_prologue_says_frame_pointer),
		T(test_stack_is_searched),
		T(test_searches_are_limited),
		T(test_new_task),
		T(test_trampoline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
