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
 */
#include "src/runtimes/ruby_program.h"

#include "src/runtimes/ruby_layout.h"
#include "unwind/frame_builder.h"

enum {
	STATE = RUBY_CONST_STATE,
	OFFSET = RUBY_CONST_OFFSET,
	VM = RUBY_CONST_VM,
	TMP = 0, TMP2 = 1,		/* once the context is found */
	EC = 3,
	PC = 4, ISEQ = 5, EP = 6,	/* of one frame */
	FLAGS = 8, CODE = 9, COOKIE = 10,
	FRAME = 12,
	END = PROGRAM_REG_THREAD,	/* once the context is found */
	THREAD = PROGRAM_REG_THREAD,
	FIRST = PROGRAM_REG_LOW,	/* the innermost frame, at the innermost loop */
};

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
		/* The thread's vector of modules: 16 octets each, the address comes first. */
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
}

/* What an internal object is, is in the upper half of the second octet of its flags. */
#define IMEMO_OCTET 1
#define IMEMO_OCTET_SHIFT 4
_Static_assert(RUBY_IMEMO_SHIFT == 8 * IMEMO_OCTET + IMEMO_OCTET_SHIFT, "where the kind is");

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
	frame_emit(b, CODE, PC, COOKIE, EMIT_ADDRESS | EMIT_REMEMBER, RUNTIME_FRAME_INTERPRETED);
}

/* A frame of other code. */
static void emit_body(struct frame_builder *b)
{
	const int known = frame_label(b);

	frame_load(b, CODE, ISEQ, RUBY_ISEQ_BODY, WORD);
	frame_recall(b, COOKIE, CODE, known);
	frame_load(b, COOKIE, CODE, RUBY_BODY_CODE, WORD);
	frame_load(b, TMP, CODE, RUBY_BODY_LABEL, WORD);
	frame_plus(b, COOKIE, TMP);
	frame_place(b, known);
	frame_emit(b, CODE, PC, COOKIE, EMIT_ADDRESS | EMIT_REMEMBER, RUNTIME_FRAME_INTERPRETED);
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

static void walk(struct frame_builder *b, const struct ruby_layout *l)
{
	const struct record_field fields[4] = {
		{ RUBY_FRAME_PC, 8 }, { RUBY_FRAME_ISEQ, 8 }, { RUBY_FRAME_EP, 8 }, { 0, 0 },
	};
	const int begin = frame_label(b), next = frame_label(b), method = frame_label(b);
	const int other = frame_label(b), emitted = frame_label(b), passed = frame_label(b);
	const int called_by_c = frame_label(b), yields = frame_label(b);

	frame_jump(b, begin);
	frame_place(b, next);
	frame_record(b, PC, FRAME, fields);
	frame_load(b, FLAGS, EP, 0, ENVIRONMENT_WORD);
	frame_load(b, CODE, EP, RUBY_ENVIRONMENT_ENTRY, ENVIRONMENT_WORD);
	frame_jump_if_masked(b, FLAGS, RUBY_FRAME_MAGIC, RUBY_MAGIC_METHOD, method);
	frame_jump_if_masked(b, FLAGS, RUBY_FRAME_MAGIC, RUBY_MAGIC_CFUNC, method);
	/* Frames without code are those of the thread itself and of blocks in C. */
	frame_place(b, other);
	frame_jump_if_zero(b, PC, emitted);
	frame_jump_if_zero(b, ISEQ, emitted);
	emit_body(b);
	frame_jump(b, emitted);
	frame_place(b, method);
	emit_method(b, other);
	frame_place(b, emitted);
	frame_jump_if_masked(b, FLAGS, RUBY_FRAME_FINISH, RUBY_FRAME_FINISH, called_by_c);
	frame_place(b, passed);
	frame_advance(b, FRAME, (int32_t)l->frame_bytes, END, next);
	frame_end(b);
	frame_place(b, begin);
	frame_jump_if_less(b, FRAME, END, next);
	frame_end(b);
	frame_place(b, called_by_c);
	finish(b, passed, yields);
	frame_place(b, yields);
	frame_add(b, FRAME, FRAME, (int32_t)l->frame_bytes);
	frame_yield(b, begin);
}

int ruby_program(const struct ruby_image *r, struct frame_program *out)
{
	struct frame_builder b;

	frame_builder_init(&b);
	find_context(&b, r);
	find_stack(&b);
	walk(&b, &r->layout);
	return frame_builder_finish(&b, out);
}
