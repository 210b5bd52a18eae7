/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame programs of CPython over made memory: which frames belong to which native loop, also where a loop was interrupted before
 * it had frames. That they are right for real interpreters, tests/long/python_stacks.sh and tests/live/python_*.sh find out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/runtimes/python/python_program.h"
#include "tests/unit/python_world.h"
#include "unwind/frame_replay.h"

#define THREAD (WORLD_BASE + 0x8000)
#define SLOT 0x310
#define HEAD (WORLD_BASE + 0x40)
#define INTERPRETER(i) (WORLD_BASE + 0x200 + (i) * 0x100)
#define STATE(i) (WORLD_BASE + 0x1000 + (i) * 0x200)
#define FRAME(i) (WORLD_BASE + 0x4000 + (i) * 0x80)
#define CODE(i) (WORLD_BASE + 0xa000 + (i) * 0x100)
/* The C stack: loop 0 is the innermost; its frame has 256 bytes, with an object of its own in the middle. */
#define LOOP_LOW(i) (WORLD_BASE + 0xc000 + (i) * 0x100)
#define OBJECT(i) (LOOP_LOW(i) + 0x80)

struct fixture {
	struct python_world w;
	struct python_layout l;
	struct frame_program program;
	struct frame_loop loops[8];
	struct frame_replay_input in;
	struct frame_replay_result out;
	char text[16384];
};

static int begin(struct fixture *f, uint32_t minor)
{
	int err = python_layout_of(minor, &f->l);

	if (err) {
		/* Of 3.13 on, what matters here. */
		f->l = (struct python_layout){ .minor = minor, .interpreter_next = 0x18, .threads_head = 0x20,
			.thread_next = 8, .thread_interpreter = 16, .thread_id = 152, .thread_frame = 72,
			.frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 74,
			.code_version = 92, .code_bytes = 208 };
	}
	memset(&f->w, 0, sizeof(f->w));
	f->in = (struct frame_replay_input){ .program = &f->program, .consts = { python_before_first(&f->l, HEAD), SLOT }, .thread_pointer = THREAD,
					     .read = world_read, .ctx = &f->w, .loops = f->loops };
	world_u64(&f->w, THREAD + SLOT, STATE(0));
	world_u64(&f->w, STATE(0) + f->l.thread_id, THREAD);
	for (int i = 0; i < 8; i++)
		f->loops[i] = (struct frame_loop){ LOOP_LOW(i), LOOP_LOW(i) + 0x100 };
	for (uint32_t i = 0; i < 16; i++)
		world_u32(&f->w, CODE(i) + (f->l.code_version ? f->l.code_version : f->l.code_lines), 700 + i);
	return python_program(&f->l, &f->program);
}

/* Frame i runs code i, at instruction 2 * i. */
static void put_frame(struct fixture *f, unsigned i, uint64_t previous, uint8_t owner)
{
	const uint64_t code = CODE(i) | (f->l.minor >= 14 ? 1 : 0);

	world_u64(&f->w, FRAME(i) + f->l.frame_code, code);
	world_u64(&f->w, FRAME(i) + f->l.frame_previous, previous);
	world_u64(&f->w, FRAME(i) + f->l.frame_instruction, f->l.minor >= 11 ? CODE(i) + 2 * i : 2 * i);
	if (f->l.minor >= 11)
		world_put(&f->w, FRAME(i) + f->l.frame_owner, &owner, 1);
}

/* "0 1 | 2 | | END": the frames of each loop, by the number of their code. */
static const char *run(struct fixture *f, size_t nr_loops)
{
	size_t at = 0;
	uint32_t loop = 0;

	f->in.nr_loops = nr_loops;
	frame_replay(&f->in, &f->out);
	f->text[0] = 0;
	for (uint32_t i = 0; i + 1 < f->out.nr || loop + 1 < f->out.nr_loops; i += 2) {
		while (loop + 1 < f->out.nr_loops && f->out.loop_at[loop + 1] <= i) {
			at += (size_t)sprintf(f->text + at, "| ");
			loop++;
		}
		if (i + 1 >= f->out.nr)
			break;
		if ((f->out.words[i] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS) == RUNTIME_FRAME_MARK) {
			at += (size_t)sprintf(f->text + at, "failed %u ", (unsigned)f->out.words[i + 1]);
			continue;
		}
		uint64_t code = ((f->out.words[i] & UNWIND_ADDRESS_MASK) - CODE(0)) / 0x100;

		at += (size_t)sprintf(f->text + at, "%u ", (unsigned)code);
		assert_int_equal(f->out.words[i + 1] >> 32, 700 + code);
		assert_int_equal((uint32_t)f->out.words[i + 1], 2 * code);
	}
	if (at)
		f->text[at - 1] = 0;
	return f->text;
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void up_to_3_10_a_loop_has_a_frame(void **state)
{
	struct fixture *f = *state;

	for (uint32_t minor = 8; minor <= 10; minor++) {
		assert_int_equal(begin(f, minor), 0);
		world_u64(&f->w, STATE(0) + f->l.thread_frame, FRAME(0));
		put_frame(f, 0, FRAME(1), 0);
		put_frame(f, 1, FRAME(2), 0);
		put_frame(f, 2, 0, 0);
		assert_string_equal(run(f, 3), "0 | 1 | 2");
		assert_string_equal(run(f, 2), "0 | 1");
	}
}

/* Two loops with frames 0, 1 and 2. */
static void make_3_11(struct fixture *f)
{
	assert_int_equal(begin(f, 11), 0);
	world_u64(&f->w, STATE(0) + f->l.thread_frame, OBJECT(0));
	world_u64(&f->w, OBJECT(0) + f->l.cframe_frame, FRAME(0));
	world_u64(&f->w, OBJECT(0) + f->l.cframe_previous, OBJECT(1));
	world_u64(&f->w, OBJECT(1) + f->l.cframe_frame, FRAME(2));
	world_u64(&f->w, OBJECT(1) + f->l.cframe_previous, STATE(0) + 0x100);
	put_frame(f, 0, FRAME(1), 0);
	put_frame(f, 1, FRAME(2), 1);
	put_frame(f, 2, 0, 1);
}

static void in_3_11_by_the_c_stack(void **state)
{
	struct fixture *f = *state;

	make_3_11(f);
	assert_string_equal(run(f, 2), "0 1 | 2");
	/* Interrupted before the innermost loop was linked. */
	world_u64(&f->w, STATE(0) + f->l.thread_frame, OBJECT(1));
	assert_string_equal(run(f, 2), "| 2");
	/* A loop that the native walker has left out. */
	make_3_11(f);
	f->loops[0] = f->loops[1];
	assert_string_equal(run(f, 1), "0 1 2");
}

/* A static variable of the interpreter, of which a program that may sleep reads words alone. */
static int read_no_page_of_states(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (len > 8 && addr < STATE(0) + 0x1000 && addr + len > STATE(0))
		return -1;
	return world_read(ctx, addr, buf, len);
}

/* A loop that is left over is of another greenlet: it has no frames, and that is no failure. */
static void in_3_11_the_outermost_is_in_static_memory(void **state)
{
	struct fixture *f = *state;

	make_3_11(f);
	f->in.read = read_no_page_of_states;
	assert_string_equal(run(f, 3), "0 1 | 2 |");
}

static void in_3_11_stale_frames_do_not_count(void **state)
{
	struct fixture *f = *state;

	/* What is left of an earlier call, by frame 3. */
	make_3_11(f);
	put_frame(f, 1, FRAME(3), 1);
	assert_string_equal(run(f, 2), "| 2");
	/* Nothing is there yet, or a small number. */
	make_3_11(f);
	world_u64(&f->w, OBJECT(0) + f->l.cframe_frame, 0);
	assert_string_equal(run(f, 2), "| 2");
	world_u64(&f->w, OBJECT(0) + f->l.cframe_frame, 446);
	assert_string_equal(run(f, 2), "| 2");
}

/* The same, with shims 8 and 9 in the frames of the loops. */
static void make_shims(struct fixture *f, uint32_t minor)
{
	uint8_t shim = 3;

	assert_int_equal(begin(f, minor), 0);
	if (minor == 12) {
		world_u64(&f->w, STATE(0) + f->l.thread_frame, OBJECT(0) - 0x40);
		world_u64(&f->w, OBJECT(0) - 0x40 + f->l.cframe_frame, FRAME(0));
		world_u64(&f->w, OBJECT(0) - 0x40 + f->l.cframe_previous, OBJECT(1) - 0x40);
		world_u64(&f->w, OBJECT(1) - 0x40 + f->l.cframe_frame, FRAME(2));
	} else {
		world_u64(&f->w, STATE(0) + f->l.thread_frame, FRAME(0));
	}
	put_frame(f, 0, FRAME(1), 0);
	put_frame(f, 1, OBJECT(0), 1);
	world_u64(&f->w, OBJECT(0) + f->l.frame_previous, FRAME(2));
	put_frame(f, 2, OBJECT(1), 0);
	for (int i = 0; i < 2; i++)
		world_put(&f->w, OBJECT(i) + f->l.frame_owner, &shim, 1);
}

static void since_3_12_by_the_shim(void **state)
{
	struct fixture *f = *state;

	for (uint32_t minor = 12; minor <= 14; minor++) {
		make_shims(f, minor);
		assert_string_equal(run(f, 2), "0 1 | 2");
		/* Entered, and no frame yet. */
		if (minor > 12) {
			world_u64(&f->w, STATE(0) + f->l.thread_frame, OBJECT(0));
			assert_string_equal(run(f, 2), "| 2");
		}
		/* Interrupted before anything was linked: frame 2 is that of the next loop. */
		make_shims(f, minor);
		world_u64(&f->w, STATE(0) + f->l.thread_frame, minor == 12 ? OBJECT(1) - 0x40 : FRAME(2));
		assert_string_equal(run(f, 2), "| 2");
		make_shims(f, minor);
		f->loops[0] = f->loops[1];
		assert_string_equal(run(f, 1), "0 1 2");
	}
}

static void in_3_12_stale_frames_do_not_count(void **state)
{
	struct fixture *f = *state;

	make_shims(f, 12);
	world_u64(&f->w, OBJECT(0) + f->l.frame_previous, FRAME(3));
	assert_string_equal(run(f, 2), "| 2");
	make_shims(f, 12);
	world_u64(&f->w, OBJECT(0) - 0x40 + f->l.cframe_frame, 446);
	assert_string_equal(run(f, 2), "| 2");
}

/* Without a slot, or with one that leads to another thread's state. */
static void the_list_of_threads_is_searched(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++) {
		make_3_11(f);
		world_u64(&f->w, STATE(0) + f->l.thread_id, THREAD + 0x4000);
		world_u64(&f->w, STATE(1) + f->l.thread_id, THREAD);
		world_u64(&f->w, STATE(1) + f->l.thread_frame, OBJECT(0));
		world_u64(&f->w, HEAD, INTERPRETER(0));
		world_u64(&f->w, INTERPRETER(0) + f->l.interpreter_next, INTERPRETER(1));
		world_u64(&f->w, INTERPRETER(1) + f->l.threads_head, STATE(0));
		world_u64(&f->w, STATE(0) + f->l.thread_next, STATE(1));
		f->in.consts[PYTHON_CONST_SLOT] = i ? SLOT : 0;
		assert_string_equal(run(f, 2), "0 1 | 2");
		world_u64(&f->w, STATE(0) + f->l.thread_next, 0);
		assert_string_equal(run(f, 2), "failed 4");
	}
}

/*
 * The main interpreter (INTERPRETER(1), its states 0 and 2) has called another one, which is the newer one (INTERPRETER(0), its
 * states 1 and 3) on the same thread: loop 0 belongs to state 1, loop 1 to state 0. States 2 and 3 are another thread's.
 */
static void make_two_interpreters(struct fixture *f, uint32_t minor)
{
	uint8_t shim = 3;

	assert_int_equal(begin(f, minor), 0);
	world_u64(&f->w, HEAD, INTERPRETER(0));
	world_u64(&f->w, INTERPRETER(0) + f->l.interpreter_next, INTERPRETER(1));
	world_u64(&f->w, INTERPRETER(0) + f->l.threads_head, STATE(3));
	world_u64(&f->w, STATE(3) + f->l.thread_next, STATE(1));
	world_u64(&f->w, INTERPRETER(1) + f->l.threads_head, STATE(2));
	world_u64(&f->w, STATE(2) + f->l.thread_next, STATE(0));
	for (int i = 0; i < 4; i++)
		world_u64(&f->w, STATE(i) + f->l.thread_id, i < 2 ? THREAD : THREAD + 0x2000);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t state = STATE(1 - i), object = OBJECT(i) - 0x40;

		put_frame(f, i, minor >= 12 ? OBJECT(i) : 0, minor == 11);
		world_u64(&f->w, state + f->l.thread_frame, minor == 11 || minor == 12 ? object : FRAME(i));
		if (minor == 11 || minor == 12) {
			world_u64(&f->w, object + f->l.cframe_frame, FRAME(i));
			world_u64(&f->w, object + f->l.cframe_previous, state + 0x100);
		}
		if (minor >= 12)
			world_put(&f->w, OBJECT(i) + f->l.frame_owner, &shim, 1);
	}
}

static void an_interpreter_calls_another(void **state)
{
	struct fixture *f = *state;

	for (uint32_t minor = 8; minor <= 14; minor++) {
		make_two_interpreters(f, minor);
		/* The key has what was first up to 3.11, and the current one later. */
		world_u64(&f->w, THREAD + SLOT, STATE(minor >= 12));
		if (f->l.current_state)
			f->in.consts[PYTHON_CONST_HEAD] = HEAD;
		assert_string_equal(run(f, 2), "0 | 1");
		/* Without the key, and where a loop is left over (of another greenlet). */
		f->in.consts[PYTHON_CONST_SLOT] = 0;
		assert_string_equal(run(f, 3), "0 | 1 |");
	}
}

/* Up to 3.11, of the two states of a thread that with the GIL is the current one, whichever was made first. */
static void the_state_with_the_gil_counts(void **state)
{
	struct fixture *f = *state;

	for (uint32_t minor = 8; minor <= 11; minor++) {
		make_two_interpreters(f, minor);
		f->l.current_state = f->l.interpreters_head + 0x20;
		assert_int_equal(python_program(&f->l, &f->program), 0);
		/* The thread is in the main interpreter now, called by the other one. */
		world_u64(&f->w, HEAD + 0x20, STATE(0));
		world_u64(&f->w, STATE(0) + f->l.thread_frame, minor == 11 ? OBJECT(0) - 0x40 : FRAME(0));
		world_u64(&f->w, STATE(1) + f->l.thread_frame, minor == 11 ? OBJECT(1) - 0x40 : FRAME(1));
		assert_string_equal(run(f, 2), "0 | 1");
		/* Another thread has the GIL: the newest one with frames. */
		world_u64(&f->w, HEAD + 0x20, STATE(3));
		world_u64(&f->w, STATE(1) + f->l.thread_frame, minor == 11 ? STATE(1) + 0x100 : 0);
		assert_string_equal(run(f, 1), "0");
		/* No state has frames, but the thread is known. */
		world_u64(&f->w, STATE(0) + f->l.thread_frame, minor == 11 ? STATE(0) + 0x100 : 0);
		assert_string_equal(run(f, 1), "");
		world_u64(&f->w, STATE(0) + f->l.thread_id, THREAD + 0x2000);
		world_u64(&f->w, STATE(1) + f->l.thread_id, THREAD + 0x2000);
		assert_string_equal(run(f, 1), "failed 4");
	}
}

/* On arm64 the kernel may not know the pointer yet; a state that has no thread so far must not fit then. */
static void an_unknown_thread_has_no_state(void **state)
{
	struct fixture *f = *state;

	make_3_11(f);
	world_u64(&f->w, STATE(0) + f->l.thread_id, 0);
	world_u64(&f->w, HEAD, INTERPRETER(0));
	world_u64(&f->w, INTERPRETER(0) + f->l.threads_head, STATE(0));
	f->in.consts[PYTHON_CONST_SLOT] = 0;
	f->in.thread_pointer = 0;
	assert_string_equal(run(f, 2), "failed 4");
}

/* On arm64 pthread_self() lies below the thread's pointer. */
static void the_thread_may_begin_below_its_pointer(void **state)
{
	struct fixture *f = *state;
	static const struct { uint64_t below; const char *frames; } cases[] = {
		{ 0x740, "0 1 | 2" }, { 0xfff, "0 1 | 2" }, { 0x1000, "failed 4" }, { -(uint64_t)8, "failed 4" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_3_11(f);
		world_u64(&f->w, STATE(0) + f->l.thread_id, THREAD - cases[i].below);
		world_u64(&f->w, HEAD, INTERPRETER(0));
		world_u64(&f->w, INTERPRETER(0) + f->l.threads_head, STATE(0));
		f->in.consts[PYTHON_CONST_SLOT] = 0;
		assert_string_equal(run(f, 2), cases[i].frames);
	}
}

static void circles_and_holes_end(void **state)
{
	struct fixture *f = *state;

	make_3_11(f);
	put_frame(f, 1, FRAME(0), 0);
	run(f, 2);
	assert_true(f->out.failure == RUNTIME_FAILED_TURNS || f->out.end == UNWIND_TRUNCATED);
	make_3_11(f);
	put_frame(f, 0, 0x10000, 0);
	assert_string_equal(run(f, 2), "0 failed 1");
	make_shims(f, 14);
	world_u64(&f->w, FRAME(1) + f->l.frame_previous, 0);
	assert_string_equal(run(f, 2), "0 1");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(up_to_3_10_a_loop_has_a_frame), TEST(in_3_11_by_the_c_stack),
		TEST(in_3_11_the_outermost_is_in_static_memory),
		TEST(in_3_11_stale_frames_do_not_count), TEST(since_3_12_by_the_shim),
		TEST(in_3_12_stale_frames_do_not_count), TEST(the_list_of_threads_is_searched),
		TEST(an_interpreter_calls_another), TEST(the_state_with_the_gil_counts),
		TEST(an_unknown_thread_has_no_state), TEST(the_thread_may_begin_below_its_pointer),
		TEST(circles_and_holes_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
