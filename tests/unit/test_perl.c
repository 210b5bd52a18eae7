/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contexts and subs of Perl in made memory: which frames the program finds in which loop, what they are called, and what is refused.
 * That the rows are right for real interpreters, tests/live/perl_running.sh finds out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/runtimes/perl/perl_program.h"
#include "src/runtimes/runtime.h"
#include "tests/unit/python_world.h"
#include "tests/unit/runtime_own.h"
#include "unwind/frame_replay.h"

#define BIAS 0x1000
#define KEY_AT (WORLD_BASE + 0x10)
#define THREAD (WORLD_BASE + 0x100)
#define INTERP (WORLD_BASE + 0x800)
#define STACK(i) (WORLD_BASE + 0xa00 + (i) * 0x40)
#define CONTEXTS(i) (WORLD_BASE + 0x1000 + (i) * 0x800)
#define CV(i) (WORLD_BASE + 0x3000 + (i) * 0x20)
#define BODY(i) (WORLD_BASE + 0x4000 + (i) * 0x100)
#define GLOB(i) (WORLD_BASE + 0x5000 + (i) * 0x20)
#define GLOB_BODY(i) (WORLD_BASE + 0x5800 + (i) * 0x40)
#define GP(i) (WORLD_BASE + 0x6000 + (i) * 0x80)
#define HEK(i) (WORLD_BASE + 0x7000 + (i) * 0x40)
#define STASH (WORLD_BASE + 0x7800)
#define STASH_BODY (WORLD_BASE + 0x7900)
#define BUCKETS (WORLD_BASE + 0x7a00)
#define PACKAGE (WORLD_BASE + 0x7c00)
#define FILE_AT (WORLD_BASE + 0x7d00)
#define COP(line) (WORLD_BASE + 0x8000 + (line) * 0x40)
/* The C stack: loop 0 is the innermost. */
#define LOW(i) (WORLD_BASE + 0xc000 + (i) * 0x200)
#define HIGH(i) (LOW(i) + 0x100)
#define ENV(i) (HIGH(i) + 0x20)		/* between loops i and i + 1 */

struct fixture {
	struct python_world w;
	struct runtime_image image;
	struct frame_program program;
	struct frame_loop loops[6];
	struct frame_replay_result out;
	struct runtime_code *c;
	char text[1024];
};

static void put_hek(struct fixture *f, uint64_t at, const char *text)
{
	world_u32(&f->w, at + 4, (uint32_t)strlen(text));
	world_put(&f->w, at + 8, text, strlen(text) + 1);
}

static void put_sv(struct fixture *f, uint64_t at, uint32_t type, uint64_t any, uint64_t u)
{
	world_u64(&f->w, at, any);
	world_u32(&f->w, at + 12, type | 0x10000);
	world_u64(&f->w, at + 16, u);
}

static void put_sub(struct fixture *f, unsigned i, const char *name)
{
	put_sv(f, CV(i), PERL_SV_CV, BODY(i), 0);
	world_u64(&f->w, BODY(i) + PERL_CV_STASH, STASH);
	world_u64(&f->w, BODY(i) + PERL_CV_ROOT, 0x1000 + i);
	world_u64(&f->w, BODY(i) + PERL_CV_GV, GLOB(i));
	world_u64(&f->w, BODY(i) + PERL_CV_FILE, FILE_AT);
	put_sv(f, GLOB(i), PERL_SV_GV, GLOB_BODY(i), GP(i));
	world_u64(&f->w, GP(i) + PERL_GP_EGV, GLOB(i));
	world_u64(&f->w, GLOB_BODY(i) + PERL_GV_NAME, HEK(i));
	world_u64(&f->w, GLOB_BODY(i) + PERL_GV_STASH, STASH);
	put_hek(f, HEK(i), name);
}

static void put_stack(struct fixture *f, unsigned i, uint64_t previous, int32_t last)
{
	world_u64(&f->w, STACK(i) + 8, CONTEXTS(i));
	world_u64(&f->w, STACK(i) + 16, previous);
	world_u32(&f->w, STACK(i) + 32, (uint32_t)last);
}

/* A context that was begun at a line; of sub number cv, or of an eval. */
static void put_cx(struct fixture *f, unsigned stack, unsigned i, uint8_t type, unsigned line, unsigned cv, int returns)
{
	const uint64_t at = CONTEXTS(stack) + i * 104;

	world_put(&f->w, at, &type, 1);
	world_u64(&f->w, at + 16, line ? COP(line) : 0);
	world_u64(&f->w, at + 48, returns ? 0x5555 : 0);
	world_u64(&f->w, at + 72, CV(cv));
}

static void put_env(struct fixture *f, unsigned stack, unsigned i, uint64_t env)
{
	world_u64(&f->w, CONTEXTS(stack) + i * 104 + 96, env);
}

static int begin(struct fixture *f, uint32_t minor)
{
	memset(&f->w, 0, sizeof(f->w));
	f->image = (struct runtime_image){ .kind = RUNTIME_PERL, .version = 0x05000000 | minor << 16, .is_known = 1,
					   .nr_loops = 1, .loops = { { 1, 2 } }, .state_vaddr = KEY_AT - BIAS };
	if (perl_layout_of(minor, &OWN(perl_image, f->image)->layout) || runtime_program(&f->image, &f->program))
		return -1;
	for (int i = 0; i < 6; i++)
		f->loops[i] = (struct frame_loop){ LOW(i), HIGH(i) };
	world_u32(&f->w, KEY_AT, 2);
	world_u64(&f->w, THREAD + 0x318 + 2 * 16, INTERP);
	world_u64(&f->w, INTERP + OWN(perl_image, f->image)->layout.cop, COP(7));
	world_u64(&f->w, INTERP + OWN(perl_image, f->image)->layout.stack, STACK(0));
	for (uint32_t line = 1; line < 10; line++) {
		world_u32(&f->w, COP(line) + 32, 195 | 0x80000);
		world_u32(&f->w, COP(line) + 36, line);
		world_u64(&f->w, COP(line) + 48, FILE_AT);
	}
	world_put(&f->w, FILE_AT, "/srv/a.pl", 10);
	put_sv(f, STASH, PERL_SV_HV, STASH_BODY, BUCKETS);
	world_u64(&f->w, STASH_BODY + PERL_HV_MAX, 7);
	world_u64(&f->w, OWN(perl_image, f->image)->layout.stash_aux ? STASH_BODY + 32 : BUCKETS + 64, PACKAGE);
	put_hek(f, PACKAGE, "My::Pkg");
	put_sub(f, 0, "zero");
	put_sub(f, 1, "one");
	put_sub(f, 2, "two");
	/* {main} line 1 calls one, which calls zero from line 3, in a block; line 7 runs. */
	put_stack(f, 0, 0, 4);
	put_cx(f, 0, 0, PERL_CX_NULL, 0, 0, 0);
	put_cx(f, 0, 1, 2, 1, 0, 0);
	put_cx(f, 0, 2, PERL_CX_SUB | 64, 1, 1, 1);
	put_cx(f, 0, 3, 8, 2, 0, 0);
	put_cx(f, 0, 4, PERL_CX_SUB, 3, 0, 1);
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = *state = calloc(1, sizeof(*f));

	return begin(f, 36);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_code_free(f->c);
	free(f);
	return 0;
}

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

/* "zero:7 | one:3 {main}:1": the frames of each loop. */
static const char *run(struct fixture *f, size_t nr_loops)
{
	struct unwind_runtime rt;
	struct frame_replay_input in = { .program = &f->program, .thread_pointer = THREAD, .read = world_read, .ctx = &f->w,
					 .loops = f->loops, .nr_loops = nr_loops };
	uint32_t loop = 0, line;
	size_t at = 0;

	runtime_constants(&f->image, BIAS, &rt);
	memcpy(in.consts, rt.consts, sizeof(in.consts));
	frame_replay(&in, &f->out);
	f->text[0] = 0;
	for (uint32_t i = 0; i < f->out.nr || loop + 1 < f->out.nr_loops; i += 2) {
		while (loop + 1 < f->out.nr_loops && f->out.loop_at[loop + 1] <= i) {
			at += (size_t)sprintf(f->text + at, "| ");
			loop++;
		}
		if (i >= f->out.nr)
			break;
		if ((f->out.words[i] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS) == RUNTIME_FRAME_MARK)
			at += (size_t)sprintf(f->text + at, "failed ");
		else if (read_frame(f, i / 2) || runtime_code_line(f->c, (uint32_t)f->out.words[i + 1], &line))
			at += (size_t)sprintf(f->text + at, "gone ");
		else
			at += (size_t)sprintf(f->text + at, "%s:%u ", f->c->name, line);
	}
	f->text[at ? at - 1 : 0] = 0;
	return f->text;
}

static void subs_have_the_lines_that_they_are_at(void **state)
{
	static const uint32_t minors[] = { 32, 34, 36, 38, 40 };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++) {
		assert_int_equal(begin(f, minors[i]), 0);
		assert_string_equal(run(f, 1), "My::Pkg::zero:7 My::Pkg::one:3 {main}:1");
		assert_string_equal(f->c->file, "/srv/a.pl");
	}
}

static void a_sub_that_c_has_called_ends_its_loop(void **state)
{
	struct fixture *f = *state;

	put_cx(f, 0, 4, PERL_CX_SUB, 3, 0, 0);
	assert_string_equal(run(f, 2), "My::Pkg::zero:7 | My::Pkg::one:3 {main}:1");
	/* On a stack of its own, which has no boundary itself. */
	put_stack(f, 0, 0, 3);
	put_stack(f, 1, STACK(0), 0);
	put_cx(f, 1, 0, PERL_CX_SUB, 3, 2, 0);
	world_u64(&f->w, INTERP + OWN(perl_image, f->image)->layout.stack, STACK(1));
	assert_string_equal(run(f, 2), "My::Pkg::two:7 | My::Pkg::one:3 {main}:1");
	/* One that is empty. */
	put_stack(f, 1, STACK(0), -1);
	world_u64(&f->w, INTERP + OWN(perl_image, f->image)->layout.cop, COP(3));
	assert_string_equal(run(f, 1), "My::Pkg::one:3 {main}:1");
}

static void blocks_of_sort_are_frames(void **state)
{
	struct fixture *f = *state;

	put_stack(f, 0, 0, 3);
	put_stack(f, 1, STACK(0), 1);
	put_cx(f, 1, 0, PERL_CX_NULL, 3, 0, 0);
	put_cx(f, 1, 1, PERL_CX_SUB, 5, 2, 1);
	world_u64(&f->w, INTERP + OWN(perl_image, f->image)->layout.stack, STACK(1));
	assert_string_equal(run(f, 2), "My::Pkg::two:7 {block}:5 | My::Pkg::one:3 {main}:1");
}

static void evals_of_strings_and_files_are_frames(void **state)
{
	struct fixture *f = *state;

	put_cx(f, 0, 3, PERL_CX_EVAL, 2, 0, 1);
	put_env(f, 0, 3, LOW(0) - 8);
	assert_string_equal(run(f, 1), "My::Pkg::zero:7 {eval}:3 My::Pkg::one:2 {main}:1");
	world_u64(&f->w, CONTEXTS(0) + 3 * 104 + 64, HEK(0));
	assert_string_equal(run(f, 1), "My::Pkg::zero:7 {require}:3 My::Pkg::one:2 {main}:1");
	put_cx(f, 0, 3, PERL_CX_EVAL | PERL_CX_IS_BLOCK, 2, 0, 1);
	assert_string_equal(run(f, 1), "My::Pkg::zero:7 My::Pkg::one:3 {main}:1");
}

static void loops_of_docatch_have_no_frames_of_their_own(void **state)
{
	struct fixture *f = *state;

	/* Loop 1 runs one, called by C from loop 2; its eval { } has loop 0. */
	put_cx(f, 0, 2, PERL_CX_SUB, 1, 1, 0);
	put_cx(f, 0, 3, PERL_CX_EVAL | PERL_CX_IS_BLOCK, 2, 0, 1);
	put_env(f, 0, 3, ENV(0));
	assert_string_equal(run(f, 3), "My::Pkg::zero:7 My::Pkg::one:3 | | {main}:1");
	/* An eval in the other, too. */
	put_stack(f, 0, 0, 5);
	put_cx(f, 0, 3, PERL_CX_EVAL | PERL_CX_IS_BLOCK, 2, 0, 1);
	put_env(f, 0, 3, ENV(1));
	put_cx(f, 0, 4, PERL_CX_EVAL | PERL_CX_IS_BLOCK, 3, 0, 1);
	put_env(f, 0, 4, ENV(0));
	put_cx(f, 0, 5, PERL_CX_SUB, 3, 0, 1);
	assert_string_equal(run(f, 4), "My::Pkg::zero:7 My::Pkg::one:3 | | | {main}:1");
	/* Its loop has not begun. */
	assert_int_equal(begin(f, 36), 0);
	put_cx(f, 0, 2, PERL_CX_SUB, 1, 1, 0);
	put_cx(f, 0, 3, PERL_CX_EVAL | PERL_CX_IS_BLOCK, 2, 0, 1);
	put_env(f, 0, 3, LOW(0) - 8);
	assert_string_equal(run(f, 2), "My::Pkg::zero:7 My::Pkg::one:3 | {main}:1");
}

/* call_sv(G_EVAL) has an eval around the sub, and something on the C stack, but no loop more. */
static void evals_of_c_are_no_loops(void **state)
{
	struct fixture *f = *state;

	put_cx(f, 0, 1, PERL_CX_EVAL | PERL_CX_IS_BLOCK, 1, 0, 0);
	put_env(f, 0, 1, ENV(1));
	put_cx(f, 0, 2, PERL_CX_SUB, 1, 1, 0);
	put_cx(f, 0, 3, PERL_CX_EVAL | PERL_CX_IS_BLOCK, 2, 0, 1);
	put_env(f, 0, 3, ENV(0));
	assert_string_equal(run(f, 2), "My::Pkg::zero:7 My::Pkg::one:3 | {main}:1");
}

static void threads_without_interpreter_have_no_frames(void **state)
{
	struct fixture *f = *state;

	world_u64(&f->w, THREAD + 0x318 + 2 * 16, 0);
	assert_string_equal(run(f, 1), "");
	world_u32(&f->w, KEY_AT, 40);
	assert_string_equal(run(f, 1), "failed");
	assert_int_equal(f->out.failure, RUNTIME_FAILED_STATE);
	assert_int_equal(begin(f, 36), 0);
	put_cx(f, 0, 4, PERL_CX_SUB, 3, 0x100000, 1);
	assert_string_equal(run(f, 1), "failed");
}

/* The innermost context has its type, and in the place of its sub is something else. */
static void a_call_in_the_making_has_no_frame(void **state)
{
	struct fixture *f = *state;

	put_cx(f, 0, 4, PERL_CX_SUB, 7, 0x100000, 1);
	assert_string_equal(run(f, 1), "My::Pkg::one:7 {main}:1");
}

static void other_code_at_the_address_is_gone(void **state)
{
	struct fixture *f = *state;

	run(f, 1);
	assert_int_equal(read_frame(f, 0), 0);
	world_u64(&f->w, BODY(0) + PERL_CV_ROOT, 0x2000);
	assert_int_equal(read_frame(f, 0), -ESTALE);
	world_u64(&f->w, BODY(0) + PERL_CV_ROOT, 0x1000);
	put_sv(f, CV(0), PERL_SV_HV, BODY(0), 0);
	assert_int_equal(read_frame(f, 0), -ESTALE);
	put_sv(f, CV(0), PERL_SV_CV, BODY(0), 0);
	put_sv(f, GLOB(0), PERL_SV_HV, GLOB_BODY(0), GP(0));
	assert_int_equal(read_frame(f, 0), -ESTALE);
	/* A COP of another line, or what is no COP. */
	assert_int_equal(read_frame(f, 2), 0);
	world_u32(&f->w, COP(1) + 36, 2);
	assert_int_equal(read_frame(f, 2), -ESTALE);
	world_u32(&f->w, COP(1) + 36, 1);
	world_u32(&f->w, COP(1) + 32, 5);
	assert_int_equal(read_frame(f, 2), -ESTALE);
	/* A change while it is read. */
	f->w.change_before = 5;
	f->w.change_at = BODY(1) + PERL_CV_ROOT;
	f->w.change_to = 1;
	assert_int_equal(read_frame(f, 1), -ESTALE);
}

static void subs_without_a_glob_have_names(void **state)
{
	struct fixture *f = *state;

	world_u32(&f->w, BODY(0) + PERL_CV_FLAGS, PERL_CV_IS_NAMED);
	world_u64(&f->w, BODY(0) + PERL_CV_GV, HEK(2));
	assert_string_equal(run(f, 1), "My::Pkg::two:7 My::Pkg::one:3 {main}:1");
	/* A package with several names. */
	world_u64(&f->w, STASH_BODY + 32, BUCKETS);
	world_u64(&f->w, BUCKETS, PACKAGE);
	world_u32(&f->w, STASH_BODY + 32 + PERL_AUX_NAMES, 2);
	assert_string_equal(run(f, 1), "My::Pkg::two:7 My::Pkg::one:3 {main}:1");
}

static void unreadable_is_an_error(void **state)
{
	struct fixture *f = *state;

	run(f, 1);
	f->w.error = -EFAULT;
	for (unsigned i = 1; i < 14; i++) {
		f->w.fail_at = i;
		assert_int_equal(read_frame(f, 0), -EFAULT);
		assert_null(f->c);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(subs_have_the_lines_that_they_are_at), TEST(a_sub_that_c_has_called_ends_its_loop),
		TEST(blocks_of_sort_are_frames), TEST(evals_of_strings_and_files_are_frames),
		TEST(loops_of_docatch_have_no_frames_of_their_own), TEST(evals_of_c_are_no_loops),
		TEST(threads_without_interpreter_have_no_frames), TEST(a_call_in_the_making_has_no_frame),
		TEST(other_code_at_the_address_is_gone),
		TEST(subs_without_a_glob_have_names), TEST(unreadable_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
