/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls are one list, through all native loops: that of a call which C has made (a callback, a
 * generator that is resumed) says so, and is the outermost one of its loop. Calls of functions in C
 * are in the list as well, where PHP has called them.
 *
 * A generator that delegates (yield from) is no call while the other one runs: between that one's
 * call and that of whoever has asked for the next value is a placeholder, a call without function.
 * It is part of the outermost generator, from which node.parent leads inwards to the one that runs.
 * So the generators between are put the other way round, each of them looked for from the
 * outermost: 80 of them, then the turns are over.
 *
 * Code that the JIT compiler has made is jumped to from the loop, and runs in its frame, or has 16
 * bytes below it. So there the walker is moved to the loop, in whose return address it must find
 * the library; the loop has all calls, as ever. The innermost one of compiled code need not have
 * stored its operation: it has none then, which is told as that of an exception is.
 */
#include "src/runtimes/php/php_program.h"

#include <stddef.h>

#include "unwind/frame_builder.h"

enum {
	CURRENT = PHP_CONST_CURRENT,
	DATA = 1,
	FUNC = 4, OPLINE = 5, PREVIOUS = 6, INFO = 7,		/* of a call */
	COOKIE = 8, TMP = 9,
	/* In generated code. */
	WALKER_PC = 4, WALKER_SP = 5, WALKER_FP = 6, LOOP_SP = 8,
	BODY = PHP_CONST_BODY, RETURN = PHP_CONST_RETURN,
	COMPILED = 10,			/* the next call is that of compiled code */
	TEXT = 11, TEXT_END = 12, OPCODE = PROGRAM_REG_THREAD,
	/* At a placeholder, whose INFO is not needed. */
	INNER = INFO, GENERATOR = PROGRAM_REG_THREAD,
};

#define JIT_BYTES 16			/* below the loop's frame */

static void load_call(struct frame_builder *b)
{
	const struct record_field fields[4] = {
		{ PHP_DATA_FUNC, 8 }, { PHP_DATA_OPLINE, 8 }, { PHP_DATA_PREVIOUS, 8 },
		{ PHP_DATA_INFO, 4 },
	};

	frame_record(b, FUNC, DATA, fields);
}

/* php_cookie(). Words of functions are read alone: a page of them would replace that of calls. */
static void load_cookie(struct frame_builder *b, const struct php_layout *l)
{
	frame_load(b, COOKIE, FUNC, (int32_t)l->line_start, 8 | LOAD_DIRECT);
	frame_shift_right(b, TMP, COOKIE, PHP_COOKIE_LAST_SHIFT);
	frame_plus(b, COOKIE, TMP);
}

/* From DATA on, up to a call by C, one of code without a name, or one without a function. */
static void put_calls(struct frame_builder *b, const struct php_layout *l, int other, int end)
{
	const struct frame_list list = {
		.fields = { { PHP_DATA_FUNC, 8 }, { PHP_DATA_OPLINE, 8 }, { PHP_DATA_PREVIOUS, 8 },
			    { PHP_DATA_INFO, 4 } },
		.special = PHP_CALLED_BY_C | PHP_OF_CODE,
		.cookie = (int32_t)l->line_start,
		.cookie_shift = PHP_COOKIE_LAST_SHIFT,
		.flags = EMIT_ADDRESS,
		.kind = RUNTIME_FRAME_INTERPRETED,
	};

	frame_list(b, FUNC, DATA, &list, other, end);
}

static void emit(struct frame_builder *b)
{
	const int known = frame_label(b), done = frame_label(b);

	frame_jump_if_zero(b, COMPILED, known);
	frame_set(b, COMPILED, 0);
	frame_emit(b, FUNC, CURRENT, COOKIE, EMIT_ADDRESS, RUNTIME_FRAME_COMPILED);
	frame_jump(b, done);
	frame_place(b, known);
	frame_emit(b, FUNC, OPLINE, COOKIE, EMIT_ADDRESS, RUNTIME_FRAME_INTERPRETED);
	frame_place(b, done);
}

/* How many bytes before a return address a call may begin, and how (Intel SDM, CALL). */
static const struct {
	int8_t offset;
	uint8_t code;
} calls[] = { { -5, 0xe8 }, { -6, 0xff }, { -2, 0xff }, { -3, 0xff } };

/* Jumps if the loop's stack pointer is LOOP_SP: its return address is behind a call. */
static void try_loop(struct frame_builder *b, int found)
{
	const int no = frame_label(b);

	frame_move(b, TMP, LOOP_SP);
	frame_plus(b, TMP, RETURN);
	frame_load(b, TMP, TMP, 0, 8 | LOAD_STACK);
	frame_jump_if_less(b, TMP, TEXT, no);
	frame_jump_if_less(b, TEXT_END, TMP, no);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		frame_load(b, OPCODE, TMP, calls[i].offset, 1 | LOAD_DIRECT);
		frame_jump_if_is(b, OPCODE, calls[i].code, found);
	}
	frame_place(b, no);
}

/* Moves the walker from generated code to the loop. */
static void leave_generated(struct frame_builder *b, int again)
{
	const int found = frame_label(b), begun = frame_label(b);

	frame_walker(b, WALKER_PC);
	frame_move(b, LOOP_SP, WALKER_SP);
	try_loop(b, found);
	frame_add(b, LOOP_SP, LOOP_SP, JIT_BYTES);
	try_loop(b, found);
	frame_yield(b, again);
	frame_place(b, found);
	frame_load(b, TMP, CURRENT, 0, 8 | LOAD_DIRECT);
	frame_jump_if_not_equal(b, TMP, DATA, begun);
	frame_set(b, COMPILED, 1);
	frame_place(b, begun);
	frame_move(b, WALKER_PC, BODY);
	frame_move(b, WALKER_SP, LOOP_SP);
	/* This holds where the loop has a frame pointer. */
	frame_move(b, WALKER_FP, LOOP_SP);
	frame_plus(b, WALKER_FP, RETURN);
	frame_add(b, WALKER_FP, WALKER_FP, -8);
	frame_step(b, WALKER_PC);
	frame_yield(b, again);
}

/* A call by C, or of code without a name. */
static void put_special(struct frame_builder *b, const struct php_layout *l, int again, int loop)
{
	const int put = frame_label(b);

	load_cookie(b, l);
	frame_and(b, TMP, INFO, PHP_OF_CODE);
	frame_and(b, INFO, INFO, PHP_CALLED_BY_C);
	frame_jump_if_zero(b, TMP, put);
	frame_load(b, TMP, FUNC, (int32_t)l->filename, 8 | LOAD_DIRECT);
	frame_load(b, TMP, TMP, PHP_STRING_HASH, 8 | LOAD_DIRECT);
	frame_plus(b, COOKIE, TMP);
	frame_plus(b, COOKIE, INFO);
	frame_place(b, put);
	emit(b);
	frame_move(b, DATA, PREVIOUS);
	frame_jump_if_zero(b, INFO, loop);
	frame_yield(b, again);
}

/* At a call without function: the generators that it stands for, if it is a placeholder. */
static void put_generators(struct frame_builder *b, const struct php_layout *l)
{
	const int up = frame_label(b), root = frame_label(b), next = frame_label(b);
	const int look = frame_label(b), found = frame_label(b), done = frame_label(b);
	const int parent = (int)l->generator_parent;

	frame_load(b, GENERATOR, DATA, PHP_DATA_THIS, 8);
	frame_add(b, TMP, GENERATOR, (int32_t)l->generator_fake);
	frame_jump_if_not_equal(b, TMP, DATA, done);
	frame_place(b, up);
	frame_load(b, TMP, GENERATOR, parent, 8 | LOAD_DIRECT);
	frame_jump_if_zero(b, TMP, root);
	frame_move(b, GENERATOR, TMP);
	frame_jump(b, up);
	frame_place(b, root);
	frame_move(b, INNER, GENERATOR);
	frame_place(b, next);
	frame_load(b, GENERATOR, DATA, PHP_DATA_THIS, 8);
	frame_jump_if_equal(b, GENERATOR, INNER, done);
	frame_place(b, look);
	frame_load(b, TMP, GENERATOR, parent, 8 | LOAD_DIRECT);
	frame_jump_if_equal(b, TMP, INNER, found);
	frame_next(b, GENERATOR, TMP, look);
	frame_jump(b, done);
	frame_place(b, found);
	frame_move(b, INNER, GENERATOR);
	frame_load(b, TMP, GENERATOR, (int32_t)l->generator_call, 8 | LOAD_DIRECT);
	frame_load(b, FUNC, TMP, PHP_DATA_FUNC, 8 | LOAD_DIRECT);
	frame_load(b, OPLINE, TMP, PHP_DATA_OPLINE, 8 | LOAD_DIRECT);
	load_cookie(b, l);
	frame_emit(b, FUNC, OPLINE, COOKIE, EMIT_ADDRESS, RUNTIME_FRAME_INTERPRETED);
	frame_jump(b, next);
	frame_place(b, done);
}

int php_program(const struct php_layout *l, struct frame_program *out)
{
	struct frame_builder b;
	int again, loop, list, other, no_function, by_c, end;

	frame_builder_init(&b);
	again = frame_label(&b);
	loop = frame_label(&b);
	list = frame_label(&b);
	other = frame_label(&b);
	no_function = frame_label(&b);
	by_c = frame_label(&b);
	end = frame_label(&b);
	frame_load(&b, DATA, CURRENT, 0, 8 | LOAD_DIRECT);
	frame_move(&b, TEXT, PHP_CONST_TEXT);
	frame_move(&b, TEXT_END, PHP_CONST_TEXT_END);
	frame_place(&b, again);
	frame_jump_if_not_equal(&b, PROGRAM_REG_LOW, PROGRAM_REG_HIGH, loop);
	leave_generated(&b, again);
	frame_place(&b, loop);
	frame_jump_if_zero(&b, DATA, end);
	frame_jump_if_zero(&b, COMPILED, list);
	load_call(&b);
	frame_jump(&b, other);
	frame_place(&b, list);
	put_calls(&b, l, other, end);
	frame_place(&b, other);
	frame_jump_if_zero(&b, FUNC, no_function);
	put_special(&b, l, again, loop);
	frame_place(&b, no_function);
	frame_and(&b, TMP, INFO, PHP_CALLED_BY_C);
	frame_jump_if_not_zero(&b, TMP, by_c);
	put_generators(&b, l);
	frame_move(&b, DATA, PREVIOUS);
	frame_jump(&b, loop);
	frame_place(&b, by_c);
	frame_move(&b, DATA, PREVIOUS);
	frame_yield(&b, again);
	frame_place(&b, end);
	frame_end(&b);
	return frame_builder_finish(&b, out);
}
