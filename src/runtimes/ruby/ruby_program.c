/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame with the flag FINISH was called by C: it is pushed by the caller, then the loop runs it
 * and all that it calls, and returns once it is popped. So the frames of a loop end with one
 * that has the flag. Methods in C have no loop of their own: their frames are among those of the
 * loop that is further out.
 *
 * There are two moments at which the numbers of loops and of such frames differ: the frame is
 * pushed and its loop has not begun, or it is popped and its loop has not returned. In the first
 * case the frame's program counter is at its first instruction, and the frame is then put with
 * those of the next loop further out. In the other case the loop gets the next frames, and so do
 * those further out. So no frame is lost, and their order is right; what can be wrong is between
 * which native frames they are.
 *
 * YJIT (since 3.1). Compiled methods have control frames, too; that which runs need not have stored
 * where it is, so it has no line. All compiled code is one native frame, which a loop or
 * rb_vm_exec() has called: calls between compiled methods do not use the native stack. So the
 * walker meets it once for each FINISH, emits all frames of the run of the loop there, and goes on
 * at the caller itself: three registers are pushed below the return address; less than that at the
 * very begin and end, and more around some calls. The loop around it has no frames left then.
 */
#include "src/runtimes/ruby/ruby_program.h"

#include "src/runtimes/ruby/ruby_layout.h"
#include "unwind/frame_builder.h"

enum {
	STATE = RUBY_CONST_STATE,
	OFFSET = RUBY_CONST_OFFSET,
	VM = RUBY_CONST_VM,
	TMP = 0, TMP2 = 1,		/* once the context is found */
	EC = 3,
	PC = 4, ISEQ = 5, EP = 6,	/* of one frame */
	FLAGS = 8, CODE = 9, COOKIE = 10,
	FIRST = 11,			/* the innermost frame of the thread */
	FRAME = 12,
	END = PROGRAM_REG_THREAD,	/* once the context is found */
	THREAD = PROGRAM_REG_THREAD,
	/* Once the context is found. */
	TEXT = 1, TEXT_END = 3,
	CALLER_SP = 2,			/* of the last generated code, until the next loop; or 0 */
	RETURN = 7,			/* of one frame: where YJIT returns to from it */
	WALKER_PC = 4, WALKER_SP = 5, WALKER_FP = 6,
};

#define PUSHED (3 * 8)			/* by the prologue of compiled code */
#define MOST_PUSHED (16 * 8)
#define TWO_FRAMES_BITS 7
#define YJIT_FRAME_REGISTER 13		/* r13: the innermost frame, by its own account */

#define WORD (8 | LOAD_DIRECT)
/* Environments lie on the VM stack, one near the other; frames are read by the other page. */
#define ENVIRONMENT_WORD (8 | LOAD_STACK)

/* 2.7: the variable has the context of the thread that runs; others are in the list. */
static void find_by_threads(struct frame_builder *b, const struct ruby_layout *l)
{
	const int found = frame_label(b), next = frame_label(b), none = frame_label(b);
	const int list = frame_label(b);

	frame_load(b, EC, STATE, 0, WORD);
	frame_jump_if_zero(b, EC, list);
	frame_load(b, TMP2, EC, (int32_t)l->thread_of_ec, WORD);
	frame_load(b, TMP2, TMP2, (int32_t)l->pointer_of_thread, WORD);
	frame_jump_if_equal(b, TMP2, THREAD, found);
	frame_place(b, list);
	frame_load(b, VM, VM, 0, WORD);
	frame_jump_if_zero(b, VM, none);
	frame_add(b, VM, VM, (int32_t)l->threads_of_vm);
	frame_load(b, TMP, VM, 0, WORD);
	frame_place(b, next);
	frame_jump_if_equal(b, TMP, VM, none);
	frame_load(b, TMP2, TMP, (int32_t)l->pointer_of_thread, WORD);
	frame_load(b, EC, TMP, (int32_t)l->ec_of_thread, WORD);
	frame_jump_if_equal(b, TMP2, THREAD, found);
	frame_load(b, TMP, TMP, 0, WORD);
	frame_jump(b, next);
	frame_place(b, none);
	frame_fail(b, RUNTIME_FAILED_STATE);
	frame_place(b, found);
}

/* Puts the context of this thread into EC. */
static void find_context(struct frame_builder *b, const struct ruby_image *r)
{
	const int found = frame_label(b);

	if (r->way == RUBY_WAY_GLOBAL) {
		find_by_threads(b, &r->layout);
		return;
	}
	if (r->way == RUBY_WAY_MODULE) {
		/* The thread's vector of modules: 16 bytes each, the address comes first. */
		frame_load(b, TMP, STATE, 0, WORD);
		frame_shift_left(b, TMP, TMP, 4);
		frame_load(b, EC, THREAD, 8, WORD);
		frame_plus(b, EC, TMP);
		frame_load(b, EC, EC, 0, WORD);
	} else {
		frame_move(b, EC, THREAD);
	}
	if (r->way == RUBY_WAY_OFFSET_WORD)
		frame_load(b, OFFSET, STATE, 0, WORD);
	frame_plus(b, EC, OFFSET);
	frame_load(b, EC, EC, 0, WORD);
	frame_jump_if_not_zero(b, EC, found);
	frame_fail(b, RUNTIME_FAILED_STATE);
	frame_place(b, found);
}

static void find_stack(struct frame_builder *b)
{
	frame_load(b, FRAME, EC, RUBY_EC_FRAME, WORD);
	frame_load(b, TMP, EC, RUBY_EC_STACK_WORDS, WORD);
	frame_shift_left(b, TMP, TMP, 3);
	frame_load(b, END, EC, RUBY_EC_STACK, WORD);
	frame_plus(b, END, TMP);
	frame_move(b, FIRST, FRAME);
	frame_move(b, TEXT, RUBY_CONST_TEXT);
	frame_move(b, TEXT_END, RUBY_CONST_TEXT_END);
	frame_set(b, CALLER_SP, 0);
}

/* What an internal object is, is in the upper half of the second byte of its flags. */
#define IMEMO_OCTET 1
#define IMEMO_OCTET_SHIFT 4
_Static_assert(RUBY_IMEMO_SHIFT == 8 * IMEMO_OCTET + IMEMO_OCTET_SHIFT, "where the kind is");

/* Emits a frame: a compiled one if compiled code runs it and YJIT returns from it. */
static void emit(struct frame_builder *b)
{
	const int interpreted = frame_label(b), done = frame_label(b);

	frame_jump_if_zero(b, RETURN, interpreted);
	frame_jump_if_not_equal(b, PROGRAM_REG_LOW, PROGRAM_REG_HIGH, interpreted);
	frame_emit(b, CODE, PC, COOKIE, EMIT_ADDRESS | EMIT_REMEMBER, RUNTIME_FRAME_COMPILED);
	frame_jump(b, done);
	frame_place(b, interpreted);
	frame_emit(b, CODE, PC, COOKIE, EMIT_ADDRESS | EMIT_REMEMBER,
		   RUNTIME_FRAME_INTERPRETED);
	frame_place(b, done);
}

/* A frame whose environment says that CODE is its method entry, or has it one word further away. */
static void emit_method(struct frame_builder *b, int other)
{
	const int again = frame_label(b), entry = frame_label(b), known = frame_label(b);

	frame_place(b, again);
	frame_recall(b, COOKIE, CODE, known);
	frame_load(b, COOKIE, CODE, IMEMO_OCTET, 1 | LOAD_DIRECT);
	frame_shift_right(b, COOKIE, COOKIE, IMEMO_OCTET_SHIFT);
	frame_jump_if_is(b, COOKIE, RUBY_IMEMO_METHOD, entry);
	frame_jump_if_is_not(b, COOKIE, RUBY_IMEMO_SVAR, other);
	frame_load(b, CODE, CODE, RUBY_SVAR_ENTRY, WORD);
	frame_jump_if_not_zero(b, CODE, again);
	frame_jump(b, other);
	frame_place(b, entry);
	frame_load(b, COOKIE, CODE, RUBY_ENTRY_DEFINITION, WORD);
	frame_load(b, COOKIE, COOKIE, RUBY_DEFINITION_SERIAL, 4 | LOAD_DIRECT);
	frame_place(b, known);
	emit(b);
}

/* A frame of other code, unless it has none: that of the thread itself, and of blocks in C. */
static void emit_body(struct frame_builder *b, int none)
{
	const int body = frame_label(b), known = frame_label(b);

	frame_jump_if_zero(b, ISEQ, none);
	frame_jump_if_not_zero(b, PC, body);
	frame_jump_if_not_equal(b, FRAME, FIRST, none);
	frame_jump_if_zero(b, RETURN, none);
	frame_place(b, body);
	frame_load(b, CODE, ISEQ, RUBY_ISEQ_BODY, WORD);
	frame_recall(b, COOKIE, CODE, known);
	frame_load(b, COOKIE, CODE, RUBY_BODY_CODE, WORD);
	frame_load(b, TMP, CODE, RUBY_BODY_LABEL, WORD);
	frame_plus(b, COOKIE, TMP);
	frame_place(b, known);
	emit(b);
}

/* Behind a frame that C has called: yields at it, unless its loop has not begun. */
static void finish(struct frame_builder *b, int passed, int yields)
{
	frame_jump_if_not_equal(b, FRAME, FIRST, yields);
	frame_jump_if_zero(b, PC, yields);
	frame_load(b, TMP, ISEQ, RUBY_ISEQ_BODY, WORD);
	frame_load(b, TMP, TMP, RUBY_BODY_CODE, WORD);
	frame_jump_if_equal(b, TMP, PC, passed);
}

/* Jumps if the word at CODE leads into the library. */
static void try_return(struct frame_builder *b, int found)
{
	const int no = frame_label(b);

	frame_load(b, TMP, CODE, 0, ENVIRONMENT_WORD);
	frame_jump_if_less(b, TMP, TEXT, no);
	frame_jump_if_less(b, TMP, TEXT_END, found);
	frame_place(b, no);
}

/*
 * Generated code that calls or returns changes the stack of frames in steps: while the innermost
 * one is not filled, or is gone already, a register has the one before it.
 */
static void pass_frame_in_the_making(struct frame_builder *b)
{
	const int passed = frame_label(b), settled = frame_label(b);

	frame_register(b, TMP, YJIT_FRAME_REGISTER);
	frame_jump_if_near(b, TMP, FRAME, TWO_FRAMES_BITS, passed);
	frame_jump(b, settled);
	frame_place(b, passed);
	frame_move(b, FRAME, TMP);
	frame_place(b, settled);
}

/*
 * In generated code: finds where it returns to, and begins. If that is not found, it is none of
 * Ruby's.
 */
static void begin_generated(struct frame_builder *b, int again, int begin)
{
	const int search = frame_label(b), found = frame_label(b);

	frame_walker(b, WALKER_PC);
	frame_add(b, CODE, WALKER_SP, PUSHED);
	try_return(b, found);
	frame_move(b, CODE, WALKER_SP);
	frame_add(b, COOKIE, WALKER_SP, MOST_PUSHED);
	frame_place(b, search);
	try_return(b, found);
	frame_add(b, CODE, CODE, 8);
	frame_jump_if_less(b, CODE, COOKIE, search);
	frame_yield(b, again);
	frame_place(b, found);
	frame_add(b, CALLER_SP, CODE, 8);
	pass_frame_in_the_making(b);
	frame_jump(b, begin);
}

/* Moves the walker to the caller of the generated code. */
static void end_generated(struct frame_builder *b, int again)
{
	const int step = frame_label(b);

	frame_walker(b, WALKER_PC);
	frame_load(b, WALKER_PC, CALLER_SP, -8, ENVIRONMENT_WORD);
	frame_move(b, WALKER_SP, CALLER_SP);
	/* With --yjit-perf it has a frame pointer. */
	frame_add(b, TMP, CALLER_SP, -16);
	frame_jump_if_not_equal(b, TMP, WALKER_FP, step);
	frame_load(b, WALKER_FP, TMP, 0, ENVIRONMENT_WORD);
	frame_place(b, step);
	frame_step(b, WALKER_PC);
	frame_yield(b, again);
}

/*
 * At a loop: yields if it has called generated code whose frames it would have. rb_vm_exec() is the
 * next one in any case, as it calls the code, or vm_exec_core() which does. If that is the loop, it
 * must have called the code itself.
 */
static void begin_loop(struct frame_builder *b, const struct ruby_image *r, int again, int begin)
{
	frame_jump_if_zero(b, CALLER_SP, begin);
	frame_move(b, TMP, CALLER_SP);
	frame_set(b, CALLER_SP, 0);
	if (r->loop_is_core)
		frame_jump_if_not_equal(b, PROGRAM_REG_LOW, TMP, begin);
	frame_yield(b, again);
}

/* Reads a frame. That which runs compiled code need not have stored its program counter. */
static void load_frame(struct frame_builder *b, const struct ruby_layout *l)
{
	const struct record_field fields[4] = {
		{ RUBY_FRAME_PC, 8 }, { RUBY_FRAME_ISEQ, 8 }, { RUBY_FRAME_EP, 8 },
		{ (int16_t)l->frame_jit, l->frame_jit ? 8 : 0 },
	};
	const int known = frame_label(b);

	frame_record(b, PC, FRAME, fields);
	if (!l->frame_jit)
		return;
	frame_jump_if_not_equal(b, PROGRAM_REG_LOW, PROGRAM_REG_HIGH, known);
	frame_jump_if_not_equal(b, FRAME, FIRST, known);
	frame_jump_if_zero(b, RETURN, known);
	frame_set(b, PC, 0);
	frame_place(b, known);
}

/* The frame that was read, if it has code. */
static void put_frame(struct frame_builder *b)
{
	const int method = frame_label(b), in_c = frame_label(b), other = frame_label(b);
	const int emitted = frame_label(b);

	frame_load(b, FLAGS, EP, 0, ENVIRONMENT_WORD);
	frame_load(b, CODE, EP, RUBY_ENVIRONMENT_ENTRY, ENVIRONMENT_WORD);
	frame_jump_if_masked(b, FLAGS, RUBY_FRAME_MAGIC, RUBY_MAGIC_METHOD, method);
	frame_jump_if_masked(b, FLAGS, RUBY_FRAME_MAGIC, RUBY_MAGIC_CFUNC, in_c);
	frame_place(b, other);
	emit_body(b, emitted);
	frame_jump(b, emitted);
	frame_place(b, in_c);
	frame_set(b, RETURN, 0);
	frame_place(b, method);
	emit_method(b, other);
	frame_place(b, emitted);
}

/* Behind a frame that C has called, in a loop or in generated code. */
static void leave(struct frame_builder *b, const struct ruby_layout *l, int again, int passed)
{
	const int yields = frame_label(b), generated = frame_label(b);

	frame_jump_if_equal(b, PROGRAM_REG_LOW, PROGRAM_REG_HIGH, generated);
	finish(b, passed, yields);
	frame_place(b, yields);
	frame_add(b, FRAME, FRAME, (int32_t)l->frame_bytes);
	frame_yield(b, again);
	frame_place(b, generated);
	frame_add(b, FRAME, FRAME, (int32_t)l->frame_bytes);
	end_generated(b, again);
}

static void walk(struct frame_builder *b, const struct ruby_image *r)
{
	const struct ruby_layout *l = &r->layout;
	const int again = frame_label(b), loop = frame_label(b), begin = frame_label(b);
	const int next = frame_label(b), passed = frame_label(b), called_by_c = frame_label(b);

	frame_place(b, again);
	if (l->frame_jit) {
		frame_jump_if_not_equal(b, PROGRAM_REG_LOW, PROGRAM_REG_HIGH, loop);
		begin_generated(b, again, begin);
	}
	frame_place(b, loop);
	begin_loop(b, r, again, begin);
	frame_place(b, next);
	load_frame(b, l);
	put_frame(b);
	frame_jump_if_masked(b, FLAGS, RUBY_FRAME_FINISH, RUBY_FRAME_FINISH, called_by_c);
	frame_place(b, passed);
	frame_advance(b, FRAME, (int32_t)l->frame_bytes, END, next);
	frame_end(b);
	frame_place(b, begin);
	frame_jump_if_less(b, FRAME, END, next);
	frame_end(b);
	frame_place(b, called_by_c);
	leave(b, l, again, passed);
}

int ruby_program(const struct ruby_image *r, struct frame_program *out)
{
	struct frame_builder b;

	frame_builder_init(&b);
	find_context(&b, r);
	find_stack(&b);
	walk(&b, r);
	return frame_builder_finish(&b, out);
}
