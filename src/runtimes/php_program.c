/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls are one list, through all native loops: that of a call which C has made (a callback, a
 * generator that is resumed) says so, and is the outermost one of its loop. Calls of functions in C
 * are in the list as well, where PHP has called them.
 */
#include "src/runtimes/php_program.h"

#include "unwind/frame_builder.h"

enum {
	CURRENT = PHP_CONST_CURRENT,
	DATA = 1,
	FUNC = 4, OPLINE = 5, PREVIOUS = 6, INFO = 7,		/* of a call */
	TYPE = 8, NAME = 9, OPCODES = 10, LINES = 11,		/* of a function */
	COOKIE = 12,
};

static void load_call(struct frame_builder *b)
{
	const struct record_field fields[4] = {
		{ PHP_DATA_FUNC, 8 }, { PHP_DATA_OPLINE, 8 }, { PHP_DATA_PREVIOUS, 8 },
		{ PHP_DATA_INFO, 4 },
	};

	frame_record(b, FUNC, DATA, fields);
	frame_and(b, INFO, INFO, PHP_CALLED_BY_C);
}

/* To COOKIE, php_cookie() of a function that is not written in C. */
static void make_cookie(struct frame_builder *b, const struct php_layout *l)
{
	const int named = frame_label(b);

	frame_jump_if_not_zero(b, NAME, named);
	frame_load(b, NAME, FUNC, (int32_t)l->filename, 8 | LOAD_DIRECT);
	frame_load(b, NAME, NAME, PHP_STRING_HASH, 8 | LOAD_DIRECT);
	frame_plus(b, NAME, TYPE);
	frame_plus(b, NAME, INFO);
	frame_place(b, named);
	frame_shift_left(b, COOKIE, LINES, PHP_COOKIE_FIRST_SHIFT);
	frame_shift_right(b, LINES, LINES, PHP_COOKIE_LAST_SHIFT);
	frame_plus(b, COOKIE, LINES);
	frame_plus(b, COOKIE, NAME);
	frame_plus(b, COOKIE, OPCODES);
}

static void emit(struct frame_builder *b, const struct php_layout *l)
{
	const struct record_field fields[4] = {
		{ PHP_FUNC_TYPE, 1 }, { PHP_FUNC_NAME, 8 }, { (int16_t)l->opcodes, 8 },
		{ (int16_t)l->line_start, 8 },
	};
	const int put = frame_label(b), user = frame_label(b);

	frame_record_direct(b, TYPE, FUNC, fields);
	frame_jump_if_is_not(b, TYPE, PHP_INTERNAL, user);
	frame_set(b, COOKIE, 0);
	frame_move(b, OPLINE, FUNC);
	frame_jump(b, put);
	frame_place(b, user);
	make_cookie(b, l);
	frame_place(b, put);
	frame_emit(b, FUNC, OPLINE, COOKIE, EMIT_ADDRESS, RUNTIME_FRAME_INTERPRETED);
}

int php_program(const struct php_layout *l, struct frame_program *out)
{
	struct frame_builder b;
	int loop, no_function, end;

	frame_builder_init(&b);
	loop = frame_label(&b);
	no_function = frame_label(&b);
	end = frame_label(&b);
	frame_load(&b, DATA, CURRENT, 0, 8 | LOAD_DIRECT);
	frame_place(&b, loop);
	frame_jump_if_zero(&b, DATA, end);
	load_call(&b);
	frame_move(&b, DATA, PREVIOUS);
	frame_jump_if_zero(&b, FUNC, no_function);
	emit(&b, l);
	frame_place(&b, no_function);
	frame_jump_if_zero(&b, INFO, loop);
	frame_yield(&b, loop);
	frame_place(&b, end);
	frame_end(&b);
	return frame_builder_finish(&b, out);
}
