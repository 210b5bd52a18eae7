/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/frame_builder.h"
#include "unwind/frame_replay.h"

#define BASE 0x10000ull
#define MEMORY (4 * 4096ull)
#define CODE(i) (0x7000ull + 0x100 * (i))

struct world {
	uint8_t memory[MEMORY];
	struct frame_program program;
	struct frame_replay_input in;
	struct frame_replay_result out;
};

static struct world w;

static int read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	(void)ctx;
	if (addr < BASE || addr - BASE > MEMORY - len)
		return 1;
	memcpy(buf, w.memory + (addr - BASE), len);
	return 0;
}

static void poke(uint64_t addr, uint64_t value)
{
	memcpy(w.memory + (addr - BASE), &value, sizeof(value));
}

static void begin(struct frame_builder *b)
{
	memset(&w, 0, sizeof(w));
	w.in = (struct frame_replay_input){ .program = &w.program, .read = read_memory };
	frame_builder_init(b);
}

static void run(struct frame_builder *b)
{
	assert_int_equal(frame_builder_finish(b, &w.program), 0);
	frame_replay(&w.in, &w.out);
}

/* The code of frame i, which must be none of a mark. */
static uint64_t code_at(uint32_t i)
{
	assert_true(2 * i + 1 < w.out.nr);
	assert_true(w.out.words[2 * i] & UNWIND_RUNTIME);
	return w.out.words[2 * i] & UNWIND_ADDRESS_MASK;
}

/* A record: code, instruction, previous, entry. Field entry at 24 is one byte. */
static void record_at(uint64_t addr, uint64_t code, uint64_t instruction, uint64_t previous,
		      uint8_t entry)
{
	poke(addr, code);
	poke(addr + 8, instruction);
	poke(addr + 16, previous);
	poke(addr + 24, entry | 0xffffffffffffff00ull);
}

static const struct record_field fields[4] = { { 0, 8 }, { 8, 8 }, { 16, 8 }, { 24, 1 } };

/* Walks records from constant 0 on, and yields behind those that have entry 1. */
static void build_walk(struct frame_builder *b)
{
	int next = frame_label(b), on = frame_label(b), end = frame_label(b);

	frame_move(b, 3, 0);
	frame_jump_if_zero(b, 3, end);
	frame_place(b, next);
	frame_record(b, 4, 3, fields);
	frame_emit(b, 4, 5, 12, EMIT_ADDRESS, RUNTIME_FRAME_INTERPRETED);
	frame_move(b, 3, 6);
	frame_jump_if_is_not(b, 7, 1, on);
	frame_yield(b, on);
	frame_place(b, on);
	frame_next(b, 3, 6, next);
	frame_place(b, end);
	frame_end(b);
}

static void walks_a_list(void **state)
{
	struct frame_builder b;

	(void)state;
	begin(&b);
	build_walk(&b);
	record_at(BASE + 0x100, CODE(1), CODE(1) + 40, BASE + 0x200, 0);
	record_at(BASE + 0x200, CODE(2), CODE(2) + 6, BASE + 0x1ff0, 1);
	/* This one lies on two pages. */
	record_at(BASE + 0x1ff0, CODE(3), CODE(3) - 2, 0, 0);
	w.in.consts[0] = BASE + 0x100;
	run(&b);
	assert_int_equal(w.out.nr, 6);
	assert_int_equal(code_at(0), CODE(1));
	assert_int_equal(code_at(1), CODE(2));
	assert_int_equal(code_at(2), CODE(3));
	assert_int_equal(w.out.words[1], 40);
	assert_int_equal(w.out.words[3], 6);
	assert_int_equal(w.out.words[5], (uint32_t)-2);
	assert_int_equal(w.out.failure, RUNTIME_FAILED_NONE);
	assert_int_equal(w.out.nr_loops, 2);
	assert_int_equal(w.out.loop_at[1], 4);
}

static void a_circle_ends(void **state)
{
	struct frame_builder b;
	int next;

	(void)state;
	begin(&b);
	next = frame_label(&b);
	frame_move(&b, 3, 0);
	frame_place(&b, next);
	frame_load(&b, 3, 3, 0, 8);
	frame_jump_if_not_zero(&b, 3, next);
	frame_end(&b);
	poke(BASE, BASE);
	w.in.consts[0] = BASE;
	run(&b);
	assert_int_equal(w.out.failure, RUNTIME_FAILED_TURNS);
	assert_int_equal(w.out.nr, 2);
	assert_int_equal(w.out.turns, PROGRAM_MAX_TURNS + 1);
}

static void too_many_frames_are_truncated(void **state)
{
	struct frame_builder b;

	(void)state;
	begin(&b);
	build_walk(&b);
	record_at(BASE, CODE(1), CODE(1), BASE, 0);
	w.in.consts[0] = BASE;
	run(&b);
	assert_int_equal(w.out.end, UNWIND_TRUNCATED);
	assert_int_equal(w.out.nr, UNWIND_MAX_FRAMES);
}

static void what_cannot_be_read_is_marked(void **state)
{
	struct frame_builder b;

	(void)state;
	begin(&b);
	build_walk(&b);
	record_at(BASE + 0x100, CODE(1), CODE(1), BASE + MEMORY, 0);
	w.in.consts[0] = BASE + 0x100;
	run(&b);
	assert_int_equal(w.out.nr, 4);
	assert_int_equal(code_at(0), CODE(1));
	assert_int_equal(w.out.failure, RUNTIME_FAILED_READ);
}

static void loads_may_fail(void **state)
{
	struct frame_builder b;

	(void)state;
	begin(&b);
	w.in.consts[0] = BASE + MEMORY;
	frame_set(&b, 8, 3);
	frame_set(&b, 9, 5);
	frame_load(&b, 8, 0, 0, 8 | LOAD_DIRECT | LOAD_MAY_FAIL);
	frame_emit(&b, 8, 9, 9, 0, RUNTIME_FRAME_INTERPRETED);
	frame_load(&b, 8, 0, 0, 8 | LOAD_DIRECT);
	frame_end(&b);
	run(&b);
	assert_int_equal(code_at(0), 0);
	assert_int_equal(w.out.nr, 4);
	assert_int_equal(w.out.failure, RUNTIME_FAILED_READ);
}

static void loads_have_sizes(void **state)
{
	static const int sizes[] = { 1, 2, 4, 8 };
	struct frame_builder b;

	(void)state;
	begin(&b);
	for (int i = 0; i < 4; i++) {
		frame_load(&b, 8, 0, 3, sizes[i]);
		frame_load(&b, 9, 0, 3, sizes[i] | LOAD_DIRECT);
		frame_emit(&b, 8, 9, 10, 0, RUNTIME_FRAME_COMPILED);
	}
	frame_end(&b);
	poke(BASE, 0x8877665544332211ull);
	poke(BASE + 8, 0x00eeddccbbaa99ull);
	w.in.consts[0] = BASE;
	run(&b);
	assert_int_equal(w.out.nr, 8);
	assert_int_equal(code_at(0), 0x44);
	assert_int_equal(code_at(1), 0x5544);
	assert_int_equal(code_at(2), 0x77665544);
	assert_int_equal(code_at(3), 0xbbaa998877665544 & UNWIND_ADDRESS_MASK);
	assert_int_equal(w.out.words[3], 0x5544);
	assert_int_equal(w.out.words[0] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS,
			 RUNTIME_FRAME_COMPILED);
}

static void computes(void **state)
{
	struct frame_builder b;
	int less;

	(void)state;
	begin(&b);
	less = frame_label(&b);
	frame_set(&b, 8, 100);
	frame_add(&b, 8, 8, -1);		/* 99 */
	frame_shift_left(&b, 9, 8, 4);		/* 1584 */
	frame_shift_right(&b, 9, 9, 1);		/* 792 */
	frame_and(&b, 9, 9, ~7);		/* 792 */
	frame_minus(&b, 9, 8);			/* 693 */
	frame_plus(&b, 9, 8);			/* 792 */
	frame_jump_if_less(&b, 8, 9, less);
	frame_fail(&b, RUNTIME_FAILED_STATE);
	frame_place(&b, less);
	frame_emit(&b, 9, 8, 8, 0, RUNTIME_FRAME_INLINED);
	frame_end(&b);
	run(&b);
	assert_int_equal(w.out.nr, 2);
	assert_int_equal(code_at(0), 792);
	assert_int_equal(w.out.words[1], 99ull << 32 | 99);
}

/* Frames whose object on the C stack lies further out belong to the next loop. */
static void frames_of_another_loop_are_taken_back(void **state)
{
	static const struct frame_loop loops[] = { { 0x100, 0x200 }, { 0x300, 0x400 } };
	struct frame_builder b;
	int loop, own;

	(void)state;
	begin(&b);
	loop = frame_label(&b);
	own = frame_label(&b);
	frame_place(&b, loop);
	frame_set(&b, 8, 0x350);		/* of the outer loop */
	frame_emit(&b, 8, 9, 9, 0, RUNTIME_FRAME_INTERPRETED);
	frame_jump_if_less(&b, 8, PROGRAM_REG_HIGH, own);
	frame_drop(&b);
	frame_yield(&b, loop);
	frame_place(&b, own);
	frame_end(&b);
	w.in.loops = loops;
	w.in.nr_loops = 2;
	run(&b);
	assert_int_equal(w.out.nr_loops, 2);
	assert_int_equal(w.out.loop_at[1], 0);
	assert_int_equal(w.out.nr, 2);
}

static void unknown_operations_fail(void **state)
{
	struct frame_builder b;

	(void)state;
	begin(&b);
	frame_end(&b);
	assert_int_equal(frame_builder_finish(&b, &w.program), 0);
	w.program.ops[0].op = OP_NR;
	frame_replay(&w.in, &w.out);
	assert_int_equal(w.out.failure, RUNTIME_FAILED_PROGRAM);
}

/* Code in words of memory: a cookie is the word 32 bytes behind it. */
#define OBJECT(i) (BASE + 0x2000 + 0x40 * (i))

static const struct frame_list plain = {
	.fields = { { 0, 8 }, { 8, 8 }, { 16, 8 }, { 24, 4 } },
	.special = 3 << 17,
	.tag_bits = 3,
	.cookie = 32,
	.cookie_shift = 16,
	.flags = EMIT_ADDRESS,
	.kind = RUNTIME_FRAME_INLINED,
};

/* Walks a list from constant 0 on, and yields at each record that is not plain. */
static void build_list(struct frame_builder *b)
{
	int next = frame_label(b), other = frame_label(b), end = frame_label(b);

	frame_move(b, 3, 0);
	frame_place(b, next);
	frame_list(b, 4, 3, &plain, other, end);
	frame_place(b, end);
	frame_end(b);
	frame_place(b, other);
	frame_emit(b, 7, 7, 7, 0, RUNTIME_FRAME_COMPILED);
	frame_move(b, 3, 6);
	frame_yield(b, next);
}

static void item_at(uint64_t addr, int i, uint64_t previous, uint32_t what)
{
	poke(addr, OBJECT(i) | 1);
	poke(addr + 8, OBJECT(i) + 0x10 + (uint64_t)i);
	poke(addr + 16, previous);
	poke(addr + 24, what | 0xffffffff00000000ull);
	poke(OBJECT(i) + 32, 0x0007000500000000ull | (uint64_t)i);
}

/* Plain ones are more than a turn has, and lie on two pages. */
static void goes_through_a_list(void **state)
{
	struct frame_builder b;

	(void)state;
	begin(&b);
	build_list(&b);
	for (int i = 0; i < 11; i++)
		item_at(BASE + 0xec8 + 0x40 * (uint64_t)i, i, BASE + 0xf08 + 0x40 * (uint64_t)i, 1 << 16);
	item_at(BASE + 0x1188, 11, BASE + 0x100, 1 << 18);
	item_at(BASE + 0x100, 12, 0, 8);
	w.in.consts[0] = BASE + 0xec8;
	run(&b);
	assert_int_equal(w.out.failure, RUNTIME_FAILED_NONE);
	assert_int_equal(w.out.nr, 26);
	for (uint32_t i = 0; i < 13; i++) {
		if (i == 11)
			continue;
		assert_int_equal(code_at(i), OBJECT(i));
		assert_int_equal(w.out.words[2 * i] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS,
				 RUNTIME_FRAME_INLINED);
		assert_int_equal(w.out.words[2 * i + 1], (0x50000ull + i) << 32 | (0x10 + i));
	}
	assert_int_equal(code_at(11), 1 << 18);
	assert_int_equal(w.out.nr_loops, 2);
	assert_int_equal(w.out.loop_at[1], 24);
}

static void a_record_without_code_is_not_plain(void **state)
{
	struct frame_builder b;

	(void)state;
	begin(&b);
	build_list(&b);
	item_at(BASE, 1, BASE + 0x40, 0);
	item_at(BASE + 0x40, 2, 0, 0);
	poke(BASE + 0x40, 3);
	w.in.consts[0] = BASE;
	w.in.loops = (const struct frame_loop[]){ { 0x100, 0x200 } };
	w.in.nr_loops = 1;
	run(&b);
	assert_int_equal(w.out.nr, 4);
	assert_int_equal(code_at(0), OBJECT(1));
	assert_int_equal(code_at(1), 0);
}

/* The same code has the same cookie in a stack, wherever it is remembered, and another in the next. */
static void cookies_are_those_of_their_stack(void **state)
{
	struct frame_builder b;

	(void)state;
	for (uint64_t round = 0; round < 2; round++) {
		begin(&b);
		build_list(&b);
		for (uint64_t i = 0; i < 40; i++)
			item_at(BASE + 0x40 * i, (int)(i * 7 % 20), i < 39 ? BASE + 0x40 * (i + 1) : 0, 0);
		for (uint64_t i = 0; i < 20; i++)
			poke(OBJECT(i) + 32, 100 * round + i);
		w.in.consts[0] = BASE;
		run(&b);
		assert_int_equal(w.out.nr, 80);
		for (uint32_t i = 0; i < 40; i++) {
			assert_int_equal(code_at(i), OBJECT(i * 7 % 20));
			assert_int_equal(w.out.words[2 * i + 1] >> 32, 100 * round + i * 7 % 20);
		}
	}
}

static void lists_end(void **state)
{
	struct frame_builder b;

	(void)state;
	begin(&b);
	build_list(&b);
	item_at(BASE, 1, BASE, 0);
	w.in.consts[0] = BASE;
	run(&b);
	assert_int_equal(w.out.end, UNWIND_TRUNCATED);
	/* A record, and a cookie, that are not there. */
	item_at(BASE, 1, BASE + MEMORY, 0);
	frame_replay(&w.in, &w.out);
	assert_int_equal(w.out.failure, RUNTIME_FAILED_READ);
	assert_int_equal(w.out.nr, 4);
	poke(BASE, BASE + MEMORY);
	frame_replay(&w.in, &w.out);
	assert_int_equal(w.out.failure, RUNTIME_FAILED_READ);
	assert_int_equal(w.out.nr, 2);
}

/* What tells how is no operation, and a list at the end of a program has nothing behind it. */
static void half_lists_fail(void **state)
{
	struct frame_builder b;

	(void)state;
	begin(&b);
	build_list(&b);
	assert_int_equal(frame_builder_finish(&b, &w.program), 0);
	assert_int_equal(w.program.ops[1].op, OP_LIST);
	w.program.ops[1].op = OP_MOVE;
	frame_replay(&w.in, &w.out);
	assert_int_equal(w.out.failure, RUNTIME_FAILED_PROGRAM);
}

/* Each jump is taken or not as it should be; a mark says which was not. */
static void jumps_of_several_kinds(void **state)
{
	struct frame_builder b;
	int bad, on[6];

	(void)state;
	begin(&b);
	bad = frame_label(&b);
	for (int i = 0; i < 6; i++)
		on[i] = frame_label(&b);
	frame_set(&b, 8, 0x7f5320);
	frame_shift_left(&b, 9, 8, 40);
	frame_plus(&b, 8, 9);
	frame_jump_if_masked(&b, 8, 0xfff0000, 0x7e0000, bad);
	frame_jump_if_value(&b, 8, 0x20, bad);
	frame_jump_if_masked(&b, 8, 0xffff0020, 0x7f0020, on[0]);
	frame_jump(&b, bad);
	frame_place(&b, on[0]);
	frame_add(&b, 9, 8, -255);
	frame_jump_if_near(&b, 8, 9, 7, bad);
	frame_jump_if_near(&b, 9, 8, 8, bad);
	frame_jump_if_near(&b, 8, 9, 8, on[1]);
	frame_jump(&b, bad);
	frame_place(&b, on[1]);
	frame_set(&b, 10, 56);
	frame_set(&b, 11, 40);
	frame_advance(&b, 11, 16, 10, bad);	/* 56 */
	frame_advance(&b, 11, -1, 10, on[2]);
	frame_jump(&b, bad);
	frame_place(&b, on[2]);
	frame_recall(&b, 12, 8, bad);
	frame_recall(&b, 12, 7, bad);		/* 0 is no code */
	frame_emit(&b, 8, 8, 11, 0, RUNTIME_FRAME_INTERPRETED);
	frame_recall(&b, 12, 8, bad);
	frame_emit(&b, 8, 8, 11, EMIT_REMEMBER, RUNTIME_FRAME_INTERPRETED);
	frame_recall(&b, 12, 9, bad);
	frame_recall(&b, 12, 8, on[3]);
	frame_place(&b, bad);
	frame_fail(&b, RUNTIME_FAILED_STATE);
	for (int i = 3; i < 6; i++)
		frame_place(&b, on[i]);
	frame_emit(&b, 8, 8, 12, 0, RUNTIME_FRAME_INTERPRETED);
	frame_end(&b);
	run(&b);
	assert_int_equal(w.out.failure, RUNTIME_FAILED_NONE);
	assert_int_equal(w.out.nr, 6);
	assert_int_equal(w.out.words[5] >> 32, 55);
}

/* frame_replay() leaves there what a stack before might have remembered. */
static void nothing_is_remembered_from_stack_to_stack(void **state)
{
	struct frame_builder b;
	int known;

	(void)state;
	begin(&b);
	known = frame_label(&b);
	frame_recall(&b, 8, 0, known);
	frame_emit(&b, 0, 0, 0, EMIT_REMEMBER, RUNTIME_FRAME_INTERPRETED);
	frame_place(&b, known);
	frame_end(&b);
	w.in.consts[0] = CODE(1);
	run(&b);
	assert_int_equal(w.out.nr, 2);
}

static void builder_refuses_lists(void **state)
{
	struct frame_list bad[6] = { plain, plain, plain, plain, plain, plain };
	struct frame_builder b;
	int label;

	(void)state;
	bad[0].special = 0x10001;
	bad[1].cookie = 1 << LIST_SHIFT;
	bad[2].cookie_shift = 64;
	bad[3].kind = RUNTIME_FRAME_MARK;
	bad[4].flags = 1;
	bad[5].fields[0].size = 3;
	for (int i = 0; i < 8; i++) {
		begin(&b);
		label = frame_label(&b);
		if (i != 7)
			frame_place(&b, label);		/* 7: without a place */
		frame_list(&b, 4, 3, i < 6 ? &bad[i] : &plain, label, i == 6 ? 9 : label);
		frame_end(&b);
		assert_int_not_equal(frame_builder_finish(&b, &w.program), 0);
	}
}

static void builder_refuses_mistakes(void **state)
{
	static const struct record_field bad[4] = { { 0, 3 } };
	struct frame_builder b;

	(void)state;
	begin(&b);
	assert_int_not_equal(frame_builder_finish(&b, &w.program), 0);	/* empty */
	begin(&b);
	frame_jump(&b, frame_label(&b));	/* a label without a place */
	assert_int_not_equal(frame_builder_finish(&b, &w.program), 0);
	begin(&b);
	frame_move(&b, PROGRAM_REGS, 0);
	assert_int_not_equal(frame_builder_finish(&b, &w.program), 0);
	begin(&b);
	frame_record(&b, 4, 0, bad);
	assert_int_not_equal(frame_builder_finish(&b, &w.program), 0);
	begin(&b);
	for (int i = 0; i <= PROGRAM_MAX_OPS; i++)
		frame_end(&b);
	assert_int_not_equal(frame_builder_finish(&b, &w.program), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_a_list),
		cmocka_unit_test(a_circle_ends),
		cmocka_unit_test(too_many_frames_are_truncated),
		cmocka_unit_test(what_cannot_be_read_is_marked),
		cmocka_unit_test(loads_may_fail),
		cmocka_unit_test(loads_have_sizes),
		cmocka_unit_test(computes),
		cmocka_unit_test(frames_of_another_loop_are_taken_back),
		cmocka_unit_test(unknown_operations_fail),
		cmocka_unit_test(goes_through_a_list),
		cmocka_unit_test(a_record_without_code_is_not_plain),
		cmocka_unit_test(cookies_are_those_of_their_stack),
		cmocka_unit_test(lists_end),
		cmocka_unit_test(half_lists_fail),
		cmocka_unit_test(jumps_of_several_kinds),
		cmocka_unit_test(nothing_is_remembered_from_stack_to_stack),
		cmocka_unit_test(builder_refuses_lists),
		cmocka_unit_test(builder_refuses_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
