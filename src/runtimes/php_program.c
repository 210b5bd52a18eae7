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
	COOKIE = 8, TMP = 9,
};

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

static void emit(struct frame_builder *b)
{
	frame_emit(b, FUNC, OPLINE, COOKIE, EMIT_ADDRESS, RUNTIME_FRAME_INTERPRETED);
}

/* A call by C, or of code without a name. */
static void put_special(struct frame_builder *b, const struct php_layout *l, int loop)
{
	const int put = frame_label(b);

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
	frame_yield(b, loop);
}

/* The usual calls come first, in as few operations as possible. */
int php_program(const struct php_layout *l, struct frame_program *out)
{
	struct frame_builder b;
	int loop, next, special, no_function, end;

	frame_builder_init(&b);
	loop = frame_label(&b);
	next = frame_label(&b);
	special = frame_label(&b);
	no_function = frame_label(&b);
	end = frame_label(&b);
	frame_load(&b, DATA, CURRENT, 0, 8 | LOAD_DIRECT);
	frame_place(&b, loop);
	frame_jump_if_zero(&b, DATA, end);
	frame_place(&b, next);
	load_call(&b);
	frame_jump_if_zero(&b, FUNC, no_function);
	load_cookie(&b, l);
	frame_and(&b, TMP, INFO, PHP_CALLED_BY_C | PHP_OF_CODE);
	frame_jump_if_not_zero(&b, TMP, special);
	emit(&b);
	frame_next(&b, DATA, PREVIOUS, next);
	frame_place(&b, end);
	frame_end(&b);
	frame_place(&b, special);
	put_special(&b, l, loop);
	frame_place(&b, no_function);
	frame_move(&b, DATA, PREVIOUS);
	frame_and(&b, INFO, INFO, PHP_CALLED_BY_C);
	frame_jump_if_zero(&b, INFO, loop);
	frame_yield(&b, loop);
	return frame_builder_finish(&b, out);
}
