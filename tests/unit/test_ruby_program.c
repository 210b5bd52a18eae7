/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame program of CRuby over made memory: how the context of a thread is reached, what goes out for which frame, and to which
 * native loop it belongs. That it is right for a real ruby, tests/live/ruby.sh and tests/long/ruby_stacks.sh find out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include ARCH_HEADER
#include "src/runtimes/ruby/ruby_program.h"
#include "tests/unit/ruby_world.h"
#include "unwind/frame_replay.h"

#define THREAD (WORLD_BASE + 0x1000)
#define SLOT (WORLD_BASE + 0x40)
#define MODULES (WORLD_BASE + 0x1400)
#define BLOCK (WORLD_BASE + 0x1600)
#define CONTEXT(i) (WORLD_BASE + 0x1800 + (i) * 0x100)
#define STACK (WORLD_BASE + 0x8000)
#define STACK_BYTES 0x1000
#define METHOD(i) (WORLD_BASE + 0x3000 + (i) * 0x100)
#define ISEQ(i) (WORLD_BASE + 0x4000 + (i) * 0x200)
#define CODE(i) (WORLD_BASE + 0x6000 + (i) * 0x100)
#define VM (WORLD_BASE + 0x1c00)
#define RUBY_THREAD(i) (WORLD_BASE + 0x2000 + (i) * 0x100)

struct fixture {
	struct python_world w;
	struct ruby_image r;
	struct frame_program program;
	struct frame_replay_input in;
	struct frame_replay_result out;
	unsigned nr;			/* of frames */
	uint64_t frame_register;	/* run_generated() */
	char text[4096];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	ruby_layout_of(0x0301, &f->r.layout);
	f->r.way = RUBY_WAY_MODULE;
	f->in = (struct frame_replay_input){ .program = &f->program, .consts = { SLOT, 8, VM }, .thread_pointer = THREAD,
					     .read = world_read, .ctx = &f->w };
	world_u64(&f->w, SLOT, 3);
	world_u64(&f->w, THREAD + 8, MODULES);
	world_u64(&f->w, MODULES + 3 * 16, BLOCK);
	world_u64(&f->w, BLOCK + 8, CONTEXT(0));
	world_u64(&f->w, CONTEXT(0) + RUBY_EC_STACK, STACK);
	world_u64(&f->w, CONTEXT(0) + RUBY_EC_STACK_WORDS, STACK_BYTES / 8);
	for (unsigned i = 0; i < 8; i++) {
		ruby_world_iseq(&f->w, ISEQ(i), CODE(i), 20, 800 + 8 * i, 0, 1);
		ruby_world_method(&f->w, METHOD(i), 0, 0, 700 + i, 0, ISEQ(i));
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* Pushes a frame, the outermost one first. entry: what is in front of its environment. */
static void push(struct fixture *f, uint64_t flags, uint64_t entry, uint64_t iseq, uint64_t pc)
{
	const uint64_t at = STACK + STACK_BYTES - ++f->nr * f->r.layout.frame_bytes, ep = STACK + f->nr * 0x40;

	world_u64(&f->w, at + RUBY_FRAME_PC, pc);
	world_u64(&f->w, at + RUBY_FRAME_ISEQ, iseq);
	world_u64(&f->w, at + RUBY_FRAME_EP, ep);
	world_u64(&f->w, ep - 16, entry);
	world_u64(&f->w, ep, flags);
	for (unsigned i = 0; i < 2; i++)
		world_u64(&f->w, CONTEXT(i) + RUBY_EC_FRAME, at);
}

static void push_method(struct fixture *f, unsigned i, uint64_t flags)
{
	push(f, RUBY_MAGIC_METHOD | flags, METHOD(i), ISEQ(i), CODE(i) + 16);
}

static void push_block(struct fixture *f, unsigned i, uint64_t flags)
{
	push(f, 0x22220000 | flags, 0x123, ISEQ(i), CODE(i) + 16);
}

static void push_c(struct fixture *f, unsigned i, uint64_t flags)
{
	push(f, RUBY_MAGIC_CFUNC | flags, METHOD(i), 0, 0);
}

/* The dummy frame of a thread. */
static void push_thread(struct fixture *f)
{
	push(f, 0x79990001 | RUBY_FRAME_FINISH, 0, 0, 0);
}

/* "m1 b2 | c3": methods, other code, methods in C, of each loop. */
static const char *run(struct fixture *f)
{
	size_t at = 0;
	uint32_t loop = 0;

	assert_int_equal(ruby_program(&f->r, &f->program), 0);
	frame_replay(&f->in, &f->out);
	f->text[0] = 0;
	for (uint32_t i = 0; i + 1 < f->out.nr; i += 2) {
		const uint64_t code = f->out.words[i] & UNWIND_ADDRESS_MASK, cookie = f->out.words[i + 1] >> 32;
		const uint32_t instruction = (uint32_t)f->out.words[i + 1];

		while (loop + 1 < f->out.nr_loops && f->out.loop_at[loop + 1] <= i && ++loop)
			at += (size_t)sprintf(f->text + at, "| ");
		if (f->out.failure && i + 2 >= f->out.nr) {
			at += (size_t)sprintf(f->text + at, "failed %u ", f->out.failure);
		} else if (code < ISEQ(0)) {
			unsigned k = (unsigned)((code - METHOD(0)) / 0x100);

			assert_int_equal(cookie, 700 + k);
			at += (size_t)sprintf(f->text + at, "%c%u ", instruction == 0 - (uint32_t)code ? 'c' : 'm', k);
		} else {
			unsigned k = (unsigned)((code - ISEQ(0)) / 0x200);

			assert_int_equal(code, ISEQ(k) + 64);
			assert_int_equal(cookie, ruby_body_cookie(CODE(k), 800 + 8 * k));
			assert_int_equal(instruction, (uint32_t)(CODE(k) + 16 - code));
			at += (size_t)sprintf(f->text + at, "b%u ", k);
		}
	}
	if (at)
		f->text[at - 1] = 0;
	return f->text;
}

/* main calls each, whose block is run by a loop of its own, and calls a method. */
static void push_usual(struct fixture *f)
{
	push_thread(f);
	push_block(f, 0, RUBY_FRAME_FINISH);
	push_method(f, 1, 0);
	push_c(f, 2, 0);
	push_block(f, 3, RUBY_FRAME_FINISH);
	push_method(f, 4, 0);
}

static void frames_of_loops(void **state)
{
	struct fixture *f = *state;

	push_usual(f);
	assert_string_equal(run(f), "m4 b3 | c2 m1 b0");
	assert_int_equal(f->out.failure, 0);
}

/* A method that has set $~ or $_: its entry is one word further away. */
static void special_variables(void **state)
{
	struct fixture *f = *state;

	world_u64(&f->w, METHOD(7), RUBY_T_IMEMO | RUBY_IMEMO_SVAR << RUBY_IMEMO_SHIFT);
	world_u64(&f->w, METHOD(7) + RUBY_SVAR_ENTRY, METHOD(1));
	push(f, RUBY_MAGIC_METHOD, METHOD(7), ISEQ(1), CODE(1) + 16);
	assert_string_equal(run(f), "m1");
}

/* Pushed, and its loop has not begun: it comes with those of the next loop. */
static void a_frame_before_its_loop(void **state)
{
	struct fixture *f = *state;

	push_usual(f);
	push_c(f, 5, 0);
	push(f, RUBY_MAGIC_METHOD | RUBY_FRAME_FINISH, METHOD(6), ISEQ(6), CODE(6));
	assert_string_equal(run(f), "m6 c5 m4 b3 | c2 m1 b0");
}

/* Blocks in C and frames of the thread have no code. */
static void frames_without_code(void **state)
{
	struct fixture *f = *state;

	push_thread(f);
	push_method(f, 1, RUBY_FRAME_FINISH);
	push(f, 0x66660000, 0x123, ISEQ(5), 0);
	push_method(f, 2, 0);
	assert_string_equal(run(f), "m2 m1");
}

static void other_ways_to_the_context(void **state)
{
	struct fixture *f = *state;

	push_usual(f);
	f->r.way = RUBY_WAY_OFFSET;
	f->in.consts[1] = (uint64_t)-16;
	world_u64(&f->w, THREAD - 16, CONTEXT(0));
	assert_string_equal(run(f), "m4 b3 | c2 m1 b0");
	f->r.way = RUBY_WAY_OFFSET_WORD;
	f->in.consts[1] = 0;
	world_u64(&f->w, SLOT, (uint64_t)-16);
	assert_string_equal(run(f), "m4 b3 | c2 m1 b0");
	world_u64(&f->w, THREAD - 16, 0);
	assert_string_equal(run(f), "failed 4");
}

/* In 2.7 the variable has the context of one thread; the others are in a list. */
static void contexts_of_threads(void **state)
{
	struct fixture *f = *state;
	const struct ruby_layout *l = &f->r.layout;
	const uint64_t head = WORLD_BASE + 0x1d00 + 312;

	ruby_layout_of(0x0207, &f->r.layout);
	f->r.way = RUBY_WAY_GLOBAL;
	world_u64(&f->w, CONTEXT(1) + RUBY_EC_STACK, STACK);
	world_u64(&f->w, CONTEXT(1) + RUBY_EC_STACK_WORDS, STACK_BYTES / 8);
	push_usual(f);
	world_u64(&f->w, VM, WORLD_BASE + 0x1d00);
	world_u64(&f->w, head, RUBY_THREAD(0));
	for (unsigned i = 0; i < 2; i++) {
		world_u64(&f->w, RUBY_THREAD(i), i ? head : RUBY_THREAD(1));
		world_u64(&f->w, RUBY_THREAD(i) + l->pointer_of_thread, i ? THREAD : 0x777);
		world_u64(&f->w, RUBY_THREAD(i) + l->ec_of_thread, CONTEXT(i));
		world_u64(&f->w, CONTEXT(i) + l->thread_of_ec, RUBY_THREAD(i));
	}
	for (unsigned i = 0; i < 2; i++) {
		world_u64(&f->w, SLOT, CONTEXT(i));
		assert_string_equal(run(f), "m4 b3 | c2 m1 b0");
	}
	world_u64(&f->w, SLOT, 0);
	assert_string_equal(run(f), "m4 b3 | c2 m1 b0");
	world_u64(&f->w, RUBY_THREAD(1) + l->pointer_of_thread, 0x778);
	assert_string_equal(run(f), "failed 4");
}

#define TEXT (WORLD_BASE + 0xe000)
#define TEXT_BYTES 0x1000
#define C_STACK (WORLD_BASE + 0xc000)
#define GENERATED 0x123000

static void compiled(struct fixture *f, unsigned back, uint64_t return_to)
{
	world_u64(&f->w, STACK + STACK_BYTES - (f->nr - back) * f->r.layout.frame_bytes + f->r.layout.frame_jit, return_to);
}

/* The walker is in generated code; its stack has the return address at slot. */
static const char *run_generated(struct fixture *f, uint64_t slot, const struct frame_loop *loops, size_t nr)
{
	static struct unwind_runtimes all;
	uint64_t regs[ARCH_NR_REGS] = { 0 };

	all.slots[0] = (struct unwind_runtime){ .flags = RUNTIME_IS_THERE | RUNTIME_OWNS_CODE | RUNTIME_HAS_LOOPS,
						.consts = { SLOT, 8, VM, 0, TEXT, TEXT + TEXT_BYTES },
						.bytes = UINT64_MAX };
	regs[ARCH_REG_PC] = GENERATED;
	regs[ARCH_REG_SP] = C_STACK;
	regs[arch_dwarf_to_reg[13]] = f->frame_register;
	world_u64(&f->w, slot, TEXT + 0x123);
	f->in.runtimes = &all;
	f->in.regs = regs;
	f->in.loops = loops;
	f->in.nr_loops = nr;
	return run(f);
}

/*
 * Compiled code has called compiled code: all frames of the run are where the code is, and the loop around it has none. The innermost
 * method has not stored where it is.
 */
static void frames_of_compiled_code(void **state)
{
	struct fixture *f = *state;
	const struct frame_loop loops[] = { { C_STACK + 0x40, C_STACK + 0x80 }, { C_STACK + 0x100, C_STACK + 0x180 } };

	push_usual(f);
	compiled(f, 0, 0x5555);
	compiled(f, 1, 0x6666);
	/* "c4": a method without an instruction. */
	assert_string_equal(run_generated(f, C_STACK + 24, loops, 2), "c4 b3 | c2 m1 b0");
	assert_int_equal(f->out.nr_loops, 2);
	assert_int_equal(f->out.loop_at[1], 4);
	assert_int_equal(f->out.pc, TEXT + 0x123);
	assert_int_equal(f->out.sp, C_STACK + 32);
	assert_int_equal(f->out.words[0] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS, RUNTIME_FRAME_COMPILED);
	assert_int_equal(f->out.words[4] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS, RUNTIME_FRAME_INTERPRETED);
}

/* The code was interrupted while it made a frame: the register for it is one frame behind. */
static void a_frame_in_the_making(void **state)
{
	struct fixture *f = *state;
	const struct frame_loop loops[] = { { C_STACK + 0x40, C_STACK + 0x80 }, { C_STACK + 0x100, C_STACK + 0x180 } };
	const uint32_t bytes = f->r.layout.frame_bytes;
	uint64_t innermost;

	push_usual(f);
	innermost = STACK + STACK_BYTES - f->nr * bytes;
	f->frame_register = innermost + bytes;
	assert_string_equal(run_generated(f, C_STACK + 24, loops, 2), "b3 | c2 m1 b0");
	/* It has something else, or is not behind. */
	f->frame_register = innermost + 4 * bytes;
	assert_string_equal(run_generated(f, C_STACK + 24, loops, 2), "m4 b3 | c2 m1 b0");
	f->frame_register = innermost - bytes;
	assert_string_equal(run_generated(f, C_STACK + 24, loops, 2), "m4 b3 | c2 m1 b0");
}

/* vm_exec_core() is the loop: it has frames of its own, unless it has called the code itself. */
static void code_that_the_core_has_not_called(void **state)
{
	struct fixture *f = *state;
	const struct frame_loop direct[] = { { C_STACK + 32, C_STACK + 0x80 }, { C_STACK + 0x100, C_STACK + 0x180 } };
	const struct frame_loop other[] = { { C_STACK + 0x100, C_STACK + 0x180 } };

	push_usual(f);
	compiled(f, 0, 0x5555);
	f->r.loop_is_core = 1;
	assert_string_equal(run_generated(f, C_STACK + 24, direct, 2), "c4 b3 | c2 m1 b0");
	assert_int_equal(f->out.loop_at[1], 4);
	assert_string_equal(run_generated(f, C_STACK + 24, other, 1), "c4 b3 c2 m1 b0");
	assert_int_equal(f->out.loop_at[0], 4);
}

/* In the first and last instructions less is on the stack, and more around some calls. */
static void where_compiled_code_returns_to(void **state)
{
	struct fixture *f = *state;
	const struct frame_loop loop = { C_STACK + 0x100, C_STACK + 0x180 };

	push_usual(f);
	for (unsigned at = 0; at < 128; at += 8) {
		run_generated(f, C_STACK + at, &loop, 1);
		assert_int_equal(f->out.pc, TEXT + 0x123);
		assert_int_equal(f->out.sp, C_STACK + at + 8);
		world_u64(&f->w, C_STACK + at, 0);
	}
	/* Code of others: the loop has the frames. */
	assert_string_equal(run_generated(f, C_STACK + 0x400, &loop, 1), "m4 b3");
	assert_int_equal(f->out.pc, GENERATED);
}

static void memory_that_is_not_there(void **state)
{
	struct fixture *f = *state;

	push_usual(f);
	world_u64(&f->w, STACK + STACK_BYTES - 4 * f->r.layout.frame_bytes + RUBY_FRAME_EP, 0x10000);
	assert_string_equal(run(f), "m4 b3 | failed 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(frames_of_loops, setup, teardown),
		cmocka_unit_test_setup_teardown(special_variables, setup, teardown),
		cmocka_unit_test_setup_teardown(a_frame_before_its_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(frames_without_code, setup, teardown),
		cmocka_unit_test_setup_teardown(other_ways_to_the_context, setup, teardown),
		cmocka_unit_test_setup_teardown(contexts_of_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(frames_of_compiled_code, setup, teardown),
		cmocka_unit_test_setup_teardown(a_frame_in_the_making, setup, teardown),
		cmocka_unit_test_setup_teardown(code_that_the_core_has_not_called, setup, teardown),
		cmocka_unit_test_setup_teardown(where_compiled_code_returns_to, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_that_is_not_there, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
