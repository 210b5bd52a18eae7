/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls and functions of PHP 8.2 in made memory: which frames the program finds, what they are called, and what is refused. That the
 * rows are right for real interpreters, tests/live/php_running.sh finds out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include ARCH_HEADER
#include "src/runtimes/php/php_program.h"
#include "src/runtimes/runtime.h"
#include "tests/unit/python_world.h"
#include "tests/unit/runtime_own.h"
#include "unwind/frame_replay.h"

#define BIAS 0x1000
#define GLOBALS (WORLD_BASE + 0x100)
#define CURRENT (GLOBALS + 488)
#define CALL(i) (WORLD_BASE + 0x1000 + (i) * 0x60)
#define FUNC(i) (WORLD_BASE + 0x2000 + (i) * 0x100)
#define OPS(i) (WORLD_BASE + 0x4000 + (i) * 0x100)
#define NAME(i) (WORLD_BASE + 0x6000 + (i) * 0x80)
#define FILE_AT (WORLD_BASE + 0x7000)
#define CLASS (WORLD_BASE + 0x7800)
#define CLASS_NAME (WORLD_BASE + 0x7900)
#define NR_OPS 4

struct fixture {
	struct python_world w;
	struct runtime_image image;
	struct frame_program program;
	struct frame_loop loops[4];
	struct frame_replay_result out;
	struct runtime_code *c;
};

static void put_string(struct fixture *f, uint64_t at, const char *text)
{
	world_u32(&f->w, at + 4, 6 | 0x100);
	world_u64(&f->w, at + 8, 0x8000000000001234 + strlen(text));
	world_u64(&f->w, at + 16, strlen(text));
	world_put(&f->w, at + 24, text, strlen(text) + 1);
}

/* Function i has its operations on lines 10 * i + 1 and so on. */
static void put_function(struct fixture *f, unsigned i, uint8_t type, const char *name)
{
	world_put(&f->w, FUNC(i), &type, 1);
	world_u64(&f->w, FUNC(i) + 8, name ? NAME(i) : 0);
	if (name)
		put_string(f, NAME(i), name);
	if (type == PHP_INTERNAL)
		return;
	world_u32(&f->w, FUNC(i) + 80, NR_OPS);
	world_u64(&f->w, FUNC(i) + 88, OPS(i));
	world_u64(&f->w, FUNC(i) + 152, FILE_AT);
	world_u32(&f->w, FUNC(i) + 160, 10 * i);
	world_u32(&f->w, FUNC(i) + 164, 10 * i + 9);
	for (unsigned k = 0; k < NR_OPS; k++)
		world_u32(&f->w, OPS(i) + k * 32 + 24, 10 * i + 1 + k);
}

/* Call i runs function func, at its operation 1. */
static void put_call(struct fixture *f, unsigned i, unsigned func, uint64_t previous, int by_c)
{
	world_u64(&f->w, CALL(i), OPS(func) + 32);
	world_u64(&f->w, CALL(i) + 24, func == 9 ? 0 : FUNC(func));
	world_u32(&f->w, CALL(i) + 40, 0x302 | (by_c ? PHP_CALLED_BY_C : 0) | (func == 4 ? PHP_OF_CODE : 0));
	world_u64(&f->w, CALL(i) + 48, previous);
}

static int setup(void **state)
{
	struct fixture *f = *state = calloc(1, sizeof(*f));

	f->image = (struct runtime_image){ .kind = RUNTIME_PHP, .version = 0x08022400, .is_known = 1, .nr_loops = 1,
					   .loops = { { 1, 2 } }, .state_vaddr = GLOBALS - BIAS };
	if (php_layout_of(0x0802, &OWN(php_image, f->image)->layout) || runtime_program(&f->image, &f->program))
		return -1;
	for (int i = 0; i < 4; i++)
		f->loops[i] = (struct frame_loop){ 0, UINT64_MAX };
	put_string(f, FILE_AT, "/srv/a.php");
	put_string(f, CLASS_NAME, "App\\K");
	world_u64(&f->w, CLASS + 8, CLASS_NAME);
	put_function(f, 0, PHP_INTERNAL, "strlen");
	put_function(f, 1, PHP_USER, "inner");
	put_function(f, 2, PHP_INTERNAL, "map");
	world_u64(&f->w, FUNC(2) + 16, CLASS);
	put_function(f, 3, PHP_USER, "m");
	world_u64(&f->w, FUNC(3) + 16, CLASS);
	put_function(f, 4, PHP_USER, NULL);
	put_function(f, 5, PHP_EVAL, NULL);
	/* strlen < inner; called by map < m < a file that was included < the script. */
	world_u64(&f->w, CURRENT, CALL(0));
	put_call(f, 0, 0, CALL(1), 0);
	put_call(f, 1, 1, CALL(2), 1);
	put_call(f, 2, 2, CALL(3), 0);
	put_call(f, 3, 3, CALL(4), 0);
	put_call(f, 4, 4, CALL(5), 0);
	put_call(f, 5, 4, 0, 1);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_code_free(f->c);
	free(f);
	return 0;
}

static void run(struct fixture *f, size_t nr_loops)
{
	struct unwind_runtime rt;
	struct frame_replay_input in = { .program = &f->program, .read = world_read, .ctx = &f->w, .loops = f->loops,
					 .nr_loops = nr_loops };

	runtime_constants(&f->image, BIAS, &rt);
	assert_true(rt.consts[PHP_CONST_CURRENT] == CURRENT);
	memcpy(in.consts, rt.consts, sizeof(in.consts));
	frame_replay(&in, &f->out);
}

/* Reads the function of frame i. */
static int read_frame(struct fixture *f, unsigned i)
{
	const struct target_memory m = { world_read, &f->w };

	runtime_code_free(f->c);
	f->c = NULL;
	f->w.reads = 0;
	return runtime_code_read(&f->image, BIAS, &m, RUNTIME_FRAME_INTERPRETED,
				 f->out.words[2 * i] & UNWIND_ADDRESS_MASK,
				 (uint32_t)(f->out.words[2 * i + 1] >> 32), &f->c);
}

static int line_of(struct fixture *f, unsigned i)
{
	uint32_t line;
	int err = runtime_code_line(f->c, (uint32_t)f->out.words[2 * i + 1], &line);

	return err ? err : (int)line;
}

static void frames_are_named(void **state)
{
	static const struct { const char *name, *file; int line; } want[] = {
		{ "strlen", NULL, -ENODATA }, { "inner", "/srv/a.php", 12 }, { "App\\K::map", NULL, -ENODATA },
		{ "App\\K::m", "/srv/a.php", 32 }, { "{include}", "/srv/a.php", 42 }, { "{main}", "/srv/a.php", 42 },
	};
	struct fixture *f = *state;

	run(f, 2);
	assert_int_equal(f->out.failure, 0);
	assert_int_equal(f->out.nr, 12);
	assert_int_equal(f->out.loop_at[1], 4);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(read_frame(f, i), 0);
		assert_string_equal(f->c->name, want[i].name);
		if (want[i].file)
			assert_string_equal(f->c->file, want[i].file);
		else
			assert_null(f->c->file);
		assert_int_equal(line_of(f, i), want[i].line);
	}
}

static void calls_without_function_are_left_out(void **state)
{
	struct fixture *f = *state;

	put_call(f, 0, 9, CALL(1), 0);
	run(f, 1);
	assert_int_equal(f->out.nr, 2);
	/* They can be a boundary as well. */
	put_call(f, 0, 9, CALL(1), 1);
	run(f, 2);
	assert_int_equal(f->out.loop_at[1], 0);
	assert_int_equal(f->out.nr, 2);
	world_u64(&f->w, CURRENT, 0);
	run(f, 1);
	assert_int_equal(f->out.nr, 0);
	assert_int_equal(f->out.failure, 0);
}

static void other_functions_at_the_address_are_gone(void **state)
{
	static const struct { uint64_t at; uint32_t value; } changes[] = {
		{ FUNC(1) + 160, 11 }, { FUNC(1) + 164, 20 }, { FUNC(1), 3 }, { FUNC(1) + 8, 0 },
	};
	struct fixture *f = *state;

	run(f, 2);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		uint32_t old, other = changes[i].value;

		memcpy(&old, f->w.bytes + (changes[i].at - WORLD_BASE), 4);
		world_u32(&f->w, changes[i].at, other);
		assert_int_equal(read_frame(f, 1), -ESTALE);
		world_u32(&f->w, changes[i].at, old);
	}
	assert_int_equal(read_frame(f, 1), 0);
	/* One with other operations. */
	world_u64(&f->w, FUNC(1) + 88, OPS(3));
	assert_int_equal(read_frame(f, 1), 0);
	assert_int_equal(line_of(f, 1), -ESTALE);
	/* Code of a file: by the hash of the file's name. */
	world_u64(&f->w, FILE_AT + 8, 77);
	assert_int_equal(read_frame(f, 4), -ESTALE);
	run(f, 2);
	assert_int_equal(read_frame(f, 4), 0);
	world_u32(&f->w, FUNC(4), PHP_EVAL);
	assert_int_equal(read_frame(f, 4), 0);
	assert_string_equal(f->c->name, "{eval}");
	/* A change while it is read. */
	f->w.change_before = 3;
	f->w.change_at = FUNC(3) + 88;
	f->w.change_to = OPS(1);
	assert_int_equal(read_frame(f, 3), -ESTALE);
}

static void what_is_no_string_is_no_name(void **state)
{
	struct fixture *f = *state;

	run(f, 2);
	world_u32(&f->w, NAME(1) + 4, 7);
	assert_int_equal(read_frame(f, 1), -ESTALE);
	world_u32(&f->w, NAME(1) + 4, 6);
	world_u64(&f->w, NAME(1) + 16, 4);		/* not where the NUL is */
	assert_int_equal(read_frame(f, 1), -ESTALE);
	world_u64(&f->w, NAME(1) + 16, UINT64_MAX);
	assert_int_equal(read_frame(f, 1), -ESTALE);
	world_u64(&f->w, NAME(1) + 16, 5);
	for (unsigned i = 1; i < 7; i++) {
		f->w.fail_at = i;
		f->w.error = -EFAULT;
		assert_int_equal(read_frame(f, 1), -EFAULT);
		assert_null(f->c);
	}
}

static void operations_that_a_function_has_not_are_refused(void **state)
{
	struct fixture *f = *state;
	uint32_t line;

	run(f, 2);
	assert_int_equal(read_frame(f, 1), 0);
	assert_int_equal(runtime_code_line(f->c, (uint32_t)(OPS(1) - FUNC(1)) + 32 * NR_OPS, &line), -ESTALE);
	assert_int_equal(runtime_code_line(f->c, (uint32_t)(OPS(1) - FUNC(1)) + 8, &line), -ESTALE);
	assert_int_equal(runtime_code_line(f->c, (uint32_t)(OPS(1) - FUNC(1)) - 32, &line), -ESTALE);
	/* While an exception is thrown, the operation is one of executor_globals. */
	assert_int_equal(runtime_code_line(f->c, (uint32_t)(GLOBALS + 0x200 - FUNC(1)), &line), -ENODATA);
	world_u32(&f->w, FUNC(1) + 80, 0);
	assert_int_equal(read_frame(f, 1), -ESTALE);
	world_u32(&f->w, FUNC(1) + 80, UINT32_MAX);
	assert_int_equal(read_frame(f, 1), -ESTALE);
}

static void closures_of_8_4_tell_their_class(void **state)
{
	struct fixture *f = *state;

	put_string(f, NAME(3), "{closure:App\\K::m():5}");
	run(f, 2);
	assert_int_equal(read_frame(f, 3), 0);
	assert_string_equal(f->c->name, "{closure:App\\K::m():5}");
	put_string(f, NAME(3), "{closure}");
	assert_int_equal(read_frame(f, 3), 0);
	assert_string_equal(f->c->name, "App\\K::{closure}");
}

static void long_names_are_cut(void **state)
{
	struct fixture *f = *state;
	static char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	put_string(f, WORLD_BASE + 0x9000, text);
	world_u64(&f->w, CLASS + 8, WORLD_BASE + 0x9000);
	run(f, 2);
	assert_int_equal(read_frame(f, 3), 0);
	assert_int_equal(strlen(f->c->name), RUNTIME_NAME_BYTES - 1);
}

#define TEXT (WORLD_BASE + 0xe000)
#define C_STACK (WORLD_BASE + 0xc000)
#define FRAME_BYTES 0xa0
#define BODY (TEXT + 0x100)

/* The walker is in generated code; the loop's stack pointer is so far above its own. */
static void run_generated(struct fixture *f, uint64_t above)
{
	static struct unwind_runtimes all;
	const uint8_t call = 0xe8;
	uint64_t regs[ARCH_NR_REGS] = { 0 };
	const struct frame_replay_input in = { .program = &f->program, .read = world_read, .ctx = &f->w, .loops = f->loops,
					       .nr_loops = 1, .runtimes = &all, .regs = regs };

	all.slots[0] = (struct unwind_runtime){ .flags = RUNTIME_IS_THERE | RUNTIME_OWNS_CODE | RUNTIME_HAS_LOOPS,
						.consts = { CURRENT, 0, BODY, FRAME_BYTES - 8, TEXT, TEXT + 0x1000 },
						.bytes = UINT64_MAX };
	regs[ARCH_REG_PC] = 0x123000;
	regs[ARCH_REG_SP] = C_STACK;
	/* Another address of the library where the return address would be in the other case. */
	world_u64(&f->w, C_STACK + 16 + FRAME_BYTES - 8, TEXT + 0x300);
	world_u64(&f->w, C_STACK + above + FRAME_BYTES - 8, TEXT + 0x205);
	world_put(&f->w, TEXT + 0x200, &call, 1);
	frame_replay(&in, &f->out);
}

/* Compiled code runs in the loop's frame: the loop has the calls, and the innermost has no line. */
static void frames_of_compiled_code(void **state)
{
	struct fixture *f = *state;

	world_u64(&f->w, CURRENT, CALL(1));
	for (unsigned above = 0; above <= 16; above += 16) {
		run_generated(f, above);
		assert_int_equal(f->out.pc, BODY);
		assert_int_equal(f->out.sp, C_STACK + above);
		assert_int_equal(f->out.loop_at[0], 0);
		assert_int_equal(f->out.nr, 2);
		assert_int_equal(f->out.words[0] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS,
				 RUNTIME_FRAME_COMPILED);
		assert_int_equal(read_frame(f, 0), 0);
		assert_string_equal(f->c->name, "inner");
		assert_int_equal(line_of(f, 0), -ENODATA);
		world_u64(&f->w, C_STACK + above + FRAME_BYTES - 8, 0);
	}
	/* Other code: there is no return address behind a call. */
	run_generated(f, 0x800);
	assert_int_equal(f->out.pc, 0x123000);
	assert_int_equal(line_of(f, 0), 12);
}

static void rows_are_sound(void **state)
{
	static const uint32_t known[] = { 0x0704, 0x0800, 0x0801, 0x0802, 0x0803, 0x0804 };
	struct runtime_image image = { .kind = RUNTIME_PHP, .is_known = 1 };
	struct frame_program program;
	char title[RUNTIME_TITLE_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(php_layout_of(known[i], &OWN(php_image, image)->layout), 0);
		assert_true(runtime_image_is_sound(&image));
		assert_int_equal(runtime_program(&image, &program), 0);
	}
	OWN(php_image, image)->layout.filename = 100000;
	assert_false(runtime_image_is_sound(&image));
	assert_int_equal(php_layout_of(0x0703, &OWN(php_image, image)->layout), -ENOTSUP);
	assert_int_equal(php_layout_of(0x0805, &OWN(php_image, image)->layout), -ENOTSUP);
	image.version = 0x08010200;
	OWN(php_image, image)->has_threads = 1;
	runtime_title(&image, title);
	assert_string_equal(title, "php 8.1.2 with threads");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/*
 * Generators 0 to 2 in calls 6 to 8: generator 0 is asked for the next value, and delegates to 1, which delegates to 2, which runs.
 * Behind its call (7, of function 1) is the placeholder of generator 0, then who asks (call 3, of function 3).
 */
#define GENERATOR(i) (WORLD_BASE + 0x8000 + (i) * 0x200)
#define PLACEHOLDER (GENERATOR(0) + 184)

static void put_generators(struct fixture *f)
{
	for (unsigned i = 0; i < 3; i++) {
		world_u64(&f->w, GENERATOR(i) + 56, CALL(6 + i));
		world_u64(&f->w, GENERATOR(i) + 152, i < 2 ? GENERATOR(i + 1) : 0);
	}
	put_call(f, 6, 2, 0, 1);
	put_call(f, 7, 3, 0, 1);
	put_call(f, 8, 1, PLACEHOLDER, 1);
	world_u64(&f->w, PLACEHOLDER + 24, 0);
	world_u64(&f->w, PLACEHOLDER + 32, GENERATOR(0));
	world_u32(&f->w, PLACEHOLDER + 40, 0x308);
	world_u64(&f->w, PLACEHOLDER + 48, CALL(3));
	world_u64(&f->w, CURRENT, CALL(8));
}

static uint64_t function_of(const struct fixture *f, unsigned i)
{
	return ((f->out.words[2 * i] & UNWIND_ADDRESS_MASK) - FUNC(0)) / 0x100;
}

static void generators_that_delegate_have_frames(void **state)
{
	static const uint64_t whole[] = { 1, 3, 2, 3, 4, 4 };
	struct fixture *f = *state;

	put_generators(f);
	run(f, 2);
	assert_int_equal(f->out.nr, 12);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(function_of(f, i), whole[i]);
	/* A call without function that is no placeholder, and parents that lead nowhere or in a circle. */
	world_u64(&f->w, PLACEHOLDER + 32, GENERATOR(1));
	run(f, 2);
	assert_int_equal(f->out.nr, 8);
	world_u64(&f->w, PLACEHOLDER + 32, GENERATOR(0));
	world_u64(&f->w, GENERATOR(1) + 152, 0x1000);
	run(f, 2);
	assert_int_equal(f->out.failure, RUNTIME_FAILED_READ);
	world_u64(&f->w, GENERATOR(1) + 152, GENERATOR(0));
	run(f, 2);
	assert_int_equal(f->out.failure, RUNTIME_FAILED_TURNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(generators_that_delegate_have_frames, setup, teardown),
		TEST(frames_are_named), TEST(calls_without_function_are_left_out),
		TEST(other_functions_at_the_address_are_gone), TEST(what_is_no_string_is_no_name),
		TEST(operations_that_a_function_has_not_are_refused), TEST(closures_of_8_4_tell_their_class),
		TEST(long_names_are_cut), TEST(frames_of_compiled_code),
		cmocka_unit_test(rows_are_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
