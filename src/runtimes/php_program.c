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

/* php_cookie(). */
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
	frame_emit(b, FUNC, OPLINE, COOKIE, EMIT_ADDRESS, RUNTIME_FRAME_INTERPRETED);
}

/* A call by C, or of code without a name. */
static void put_special(struct frame_builder *b, const struct php_layout *l, int loop)
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
	frame_yield(b, loop);
}

int php_program(const struct php_layout *l, struct frame_program *out)
{
	struct frame_builder b;
	int loop, other, no_function, end;

	frame_builder_init(&b);
	loop = frame_label(&b);
	other = frame_label(&b);
	no_function = frame_label(&b);
	end = frame_label(&b);
	frame_load(&b, DATA, CURRENT, 0, 8 | LOAD_DIRECT);
	frame_place(&b, loop);
	frame_jump_if_zero(&b, DATA, end);
	put_calls(&b, l, other, end);
	frame_place(&b, other);
	frame_jump_if_zero(&b, FUNC, no_function);
	put_special(&b, l, loop);
	frame_place(&b, no_function);
	frame_move(&b, DATA, PREVIOUS);
	frame_and(&b, INFO, INFO, PHP_CALLED_BY_C);
	frame_jump_if_zero(&b, INFO, loop);
	frame_yield(&b, loop);
	frame_place(&b, end);
	frame_end(&b);
	return frame_builder_finish(&b, out);
}
