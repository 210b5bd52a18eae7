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

/* A record: code, instruction, previous, entry. Field entry at 24 is one octet. */
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
		cmocka_unit_test(loads_have_sizes),
		cmocka_unit_test(computes),
		cmocka_unit_test(frames_of_another_loop_are_taken_back),
		cmocka_unit_test(unknown_operations_fail),
		cmocka_unit_test(builder_refuses_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
