/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contexts lie in an array, the innermost one last. The line that a sub is at is not in its
 * context: it is PL_curcop for the innermost one, and what the context further in has saved for the
 * others.
 *
 * Boundaries. C that calls a sub gives it no operation to return to, so it is the outermost one of
 * its loop. A block that sort has called is a context of no type, on a stack of its own.
 *
 * An eval is run in a new loop, although its context is like others, where an exception could not
 * jump past C otherwise (docatch() in pp_ctl.c): in callbacks. That leaves its struct JMPENV on the
 * C stack, between both loops, and the eval says where. Contexts do not tell where the new loop
 * begins. So all up to the boundary are frames of the inner loop, and the ones that are further out
 * on the C stack, up to the last struct JMPENV, have none. With G_EVAL C that calls a sub makes an
 * eval around it, and a JMPENV without a loop.
 */
#include "src/runtimes/perl/perl_program.h"

#include "unwind/frame_builder.h"

enum {
	KEY = PERL_CONST_KEY,
	ENV = PERL_CONST_KEY,		/* once the interpreter is found */
	STACK = 1, CX = 2, FIRST = 3,
	/* Registers while a stack is read. */
	CONTEXTS = 4, PREVIOUS = 5, INDEX = 6,
	/* Registers while a context is read. */
	TYPE = 4, OLD_COP = 5, RETOP = 6, CV = 7,
	/* Registers while a sub is read. */
	COOKIE = 8, LINE = 9, ROOT = 10,
	TMP = 8, TMP2 = 9, TMP3 = 10,
	KIND = 11,
	COP = 12,
	THREAD = PROGRAM_REG_THREAD, LOW = PROGRAM_REG_LOW, HIGH = PROGRAM_REG_HIGH,
};

#define WORD (8 | LOAD_DIRECT)
#define GUESS (WORD | LOAD_MAY_FAIL)	/* of an object that may be none */
/* struct pthread of glibc, x86-64: .specific_1stblock, whose entries are a number and the data. */
#define KEYS_OFFSET 0x310
#define KEYS_NR 32
#define KEY_SHIFT 4

struct labels {
	int stack, context, sub, eval, block, end;
};

static void find_interpreter(struct frame_builder *b, const struct perl_layout *l, int none)
{
	const int near = frame_label(b);

	frame_load(b, TMP, KEY, 0, 4 | LOAD_DIRECT);
	frame_set(b, TMP2, KEYS_NR);
	frame_jump_if_less(b, TMP, TMP2, near);
	frame_fail(b, RUNTIME_FAILED_STATE);
	frame_place(b, near);
	frame_shift_left(b, TMP, TMP, KEY_SHIFT);
	frame_plus(b, TMP, THREAD);
	frame_load(b, TMP, TMP, KEYS_OFFSET + 8, WORD);
	frame_jump_if_zero(b, TMP, none);
	frame_load(b, COP, TMP, (int32_t)l->cop, WORD);
	frame_load(b, STACK, TMP, (int32_t)l->stack, WORD);
	frame_set(b, ENV, 0);
}

/* A frame of other code than subs. KIND is added to COP. */
static void emit_code(struct frame_builder *b)
{
	frame_load(b, LINE, COP, PERL_COP_LINE, 4 | LOAD_DIRECT);
	frame_plus(b, KIND, COP);
	frame_emit(b, KIND, LINE, LINE, 0, RUNTIME_FRAME_INTERPRETED);
}

/* CX to behind the last context of the stack. Without one, to the end. */
static void begin_stack(struct frame_builder *b, const struct labels *to)
{
	const struct record_field fields[4] = {
		{ PERL_STACK_CONTEXTS, 8 }, { PERL_STACK_PREVIOUS, 8 }, { PERL_STACK_INDEX, 4 },
	};

	frame_place(b, to->stack);
	frame_jump_if_zero(b, STACK, to->end);
	frame_record_direct(b, CONTEXTS, STACK, fields);
	frame_move(b, FIRST, CONTEXTS);
	frame_move(b, STACK, PREVIOUS);
	/* The number of the last one has 32 bits, and is -1 if there is none. */
	frame_add(b, INDEX, INDEX, 1);
	frame_shift_left(b, INDEX, INDEX, 32);
	frame_shift_right(b, INDEX, INDEX, 32);
	frame_shift_left(b, CX, INDEX, 6);
	frame_shift_left(b, TMP2, INDEX, 5);
	frame_plus(b, CX, TMP2);
	frame_shift_left(b, TMP2, INDEX, 3);
	frame_plus(b, CX, TMP2);
	frame_plus(b, CX, FIRST);
}

static void next_context(struct frame_builder *b, const struct labels *to)
{
	const struct record_field fields[4] = {
		{ PERL_CX_TYPE, 1 }, { PERL_CX_OLD_COP, 8 }, { PERL_CX_RETOP, 8 },
		{ PERL_CX_CV, 8 },
	};

	frame_place(b, to->context);
	frame_jump_if_equal(b, FIRST, CX, to->stack);
	frame_add(b, CX, CX, -PERL_CX_BYTES);
	frame_record(b, TYPE, CX, fields);
	frame_jump_if_masked(b, TYPE, PERL_CX_TYPES, PERL_CX_SUB, to->sub);
	frame_and(b, TMP, TYPE, PERL_CX_TYPES);
	frame_jump_if_is(b, TMP, PERL_CX_FORMAT, to->sub);
	frame_jump_if_is(b, TMP, PERL_CX_EVAL, to->eval);
	frame_jump_if_is_not(b, TMP, PERL_CX_NULL, to->context);
	/* The outermost context of all has no type either. */
	frame_jump_if_zero(b, STACK, to->context);
	frame_jump(b, to->block);
}

static void put_sub(struct frame_builder *b, const struct labels *to, int boundary)
{
	const int known = frame_label(b), is_sub = frame_label(b);

	/*
	 * Words that lie alone: their pages would take that of contexts. A context has its type
	 * before its sub. Where what was there before is no sub any more, no statement of the new
	 * one has begun, and it is passed over.
	 */
	frame_place(b, to->sub);
	frame_recall(b, COOKIE, CV, known);
	frame_load(b, COOKIE, CV, PERL_SV_ANY, GUESS);
	frame_load(b, ROOT, COOKIE, PERL_CV_ROOT, GUESS);
	frame_jump_if_not_zero(b, ROOT, is_sub);
	frame_jump_if_equal(b, OLD_COP, COP, to->context);
	frame_fail(b, RUNTIME_FAILED_READ);
	frame_place(b, is_sub);
	frame_plus(b, COOKIE, ROOT);
	frame_place(b, known);
	frame_load(b, LINE, COP, PERL_COP_LINE, 4 | LOAD_DIRECT);
	frame_emit(b, CV, LINE, COOKIE, EMIT_REMEMBER, RUNTIME_FRAME_INTERPRETED);
	frame_move(b, COP, OLD_COP);
	frame_jump_if_not_zero(b, RETOP, to->context);
	frame_jump(b, boundary);
}

/* A sub was called by C. With G_EVAL the next context is an eval that does not return either. */
static void put_boundary(struct frame_builder *b, int boundary, int out)
{
	const struct record_field fields[4] = {
		{ PERL_CX_TYPE, 1 }, { PERL_CX_OLD_COP, 8 }, { PERL_CX_RETOP, 8 },
	};

	frame_place(b, boundary);
	frame_jump_if_equal(b, FIRST, CX, out);
	frame_add(b, TMP3, CX, -PERL_CX_BYTES);
	frame_record(b, TYPE, TMP3, fields);
	frame_and(b, TYPE, TYPE, PERL_CX_TYPES | PERL_CX_IS_BLOCK);
	frame_jump_if_is_not(b, TYPE, PERL_CX_EVAL | PERL_CX_IS_BLOCK, out);
	frame_jump_if_not_zero(b, RETOP, out);
	frame_set(b, ENV, 0);
	frame_jump(b, out);
}

static void put_eval(struct frame_builder *b, const struct labels *to, int out)
{
	const int code = frame_label(b), string = frame_label(b);

	frame_place(b, to->eval);
	/* Further in than this loop, the new one has not begun yet. */
	frame_load(b, TMP, CX, PERL_CX_ENV, 8);
	frame_jump_if_less(b, TMP, ENV, code);
	frame_jump_if_less(b, TMP, HIGH, code);
	frame_move(b, ENV, TMP);
	frame_place(b, code);
	frame_and(b, TMP, TYPE, PERL_CX_IS_BLOCK);
	frame_jump_if_not_zero(b, TMP, to->context);
	frame_set(b, KIND, PERL_EVAL);
	frame_load(b, TMP, CX, PERL_CX_NAME, 8);
	frame_jump_if_zero(b, TMP, string);
	frame_set(b, KIND, PERL_REQUIRE);
	frame_place(b, string);
	emit_code(b);
	frame_move(b, COP, OLD_COP);
	frame_jump_if_not_zero(b, RETOP, to->context);
	frame_set(b, ENV, 0);
	frame_jump(b, out);
}

static void put_block(struct frame_builder *b, const struct labels *to, int out)
{
	frame_place(b, to->block);
	frame_set(b, KIND, PERL_BLOCK);
	emit_code(b);
	frame_move(b, COP, OLD_COP);
	frame_jump(b, out);
}

static void put_main(struct frame_builder *b, const struct labels *to)
{
	const int none = frame_label(b);

	frame_place(b, to->end);
	frame_jump_if_zero(b, COP, none);
	frame_set(b, KIND, PERL_MAIN);
	emit_code(b);
	frame_place(b, none);
	frame_end(b);
}

int perl_program(const struct perl_layout *l, struct frame_program *out)
{
	struct frame_builder b;
	struct labels to;
	int none, boundary, leave, again;

	frame_builder_init(&b);
	to = (struct labels){ frame_label(&b), frame_label(&b), frame_label(&b), frame_label(&b),
			      frame_label(&b), frame_label(&b) };
	none = frame_label(&b);
	boundary = frame_label(&b);
	leave = frame_label(&b);
	again = frame_label(&b);
	find_interpreter(&b, l, none);
	begin_stack(&b, &to);
	next_context(&b, &to);
	put_sub(&b, &to, boundary);
	put_boundary(&b, boundary, leave);
	put_eval(&b, &to, leave);
	put_block(&b, &to, leave);
	/* At the next loop the walk goes on, unless docatch() has run the one that was left. */
	frame_place(&b, leave);
	frame_yield(&b, again);
	frame_place(&b, again);
	frame_jump_if_zero(&b, ENV, to.context);
	frame_jump_if_less(&b, HIGH, ENV, leave);
	frame_set(&b, ENV, 0);
	frame_jump(&b, leave);
	put_main(&b, &to);
	frame_place(&b, none);
	frame_end(&b);
	return frame_builder_finish(&b, out);
}
