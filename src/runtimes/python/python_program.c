/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack that calls Python from C from Python passes the interpreter's loop several times, and
 * each of these has frames of its own. Where they begin and end:
 *
 *	3.8 - 3.10	One frame each. Nothing tells which loop a frame belongs to, so the first
 *			loop gets the first frame, and so on.
 *	3.11		A loop has a struct _PyCFrame among its local variables, which is linked to
 *			that of the next loop further out, and leads to the loop's innermost frame.
 *	3.12 on		A loop has a frame without code (the shim) among its local variables, which
 *			is behind its outermost frame.
 *
 * So since 3.11 it is known whether frames belong to a loop: where the object on the C stack lies
 * between the stack pointer and the CFA of the loop. If it lies further out, then the loop was
 * interrupted before it had frames, or after. If it lies further in, then the native unwinder has
 * left a loop out; its frames are not to be lost, and are put before those of this one.
 *
 * A thread may run several interpreters (Py_NewInterpreter: mod_wsgi, uWSGI, jep), each with a
 * state of its own, and one may have called the other. The key under which libc keeps a thread's
 * state has the current one since 3.12, before that the one which was made first. So up to 3.11 the
 * state that has the GIL is looked at. A thread that waits does not have it: if there are several
 * interpreters, its newest state with frames counts. Where the frames of a state are over and there
 * are more loops, those of the thread's next state follow, the newest first.
 */
#include "src/runtimes/python/python_program.h"

#include "unwind/frame_builder.h"

enum {
	HEAD = PYTHON_CONST_HEAD,	/* the interpreter whose states are being looked at */
	SLOT = PYTHON_CONST_SLOT,
	STATE = 2,
	FRAME = 3,
	CODE = 4, INSTRUCTION = 5, PREVIOUS = 6, OWNER = 7,	/* of one record */
	FIRST = 8,			/* the state that was found without the list; or 0 */
	OBJECT = 9,			/* on the C stack: _PyCFrame */
	TMP = 10, TMP2 = 11, COOKIE = 11,
	INNERMOST = 12,
	CALLER = PYTHON_CONST_SLOT,	/* once the state is found */
	THREAD = PROGRAM_REG_THREAD, LOW = PROGRAM_REG_LOW, HIGH = PROGRAM_REG_HIGH,
};

/* Words that stand alone. What is on the C stack is read through the page of the native walker. */
#define WORD (8 | LOAD_DIRECT)
#define ANY_OWNER 255
#define OWNED_BY_GENERATOR 1
#define OWNED_BY_INTERPRETER 3		/* the shim; 3.12 and 3.13: FRAME_OWNED_BY_CSTACK */
#define TAG_BITS 3			/* of references in frames since 3.14 */
/* thread_id is pthread_self(): on x86-64 the thread's pointer, on arm64 less than this below it. */
#define THREAD_BYTES_SHIFT 12

/* Jumps to found if the state in STATE is that of this thread. */
static void is_own_state(struct frame_builder *b, const struct python_layout *l, int found)
{
	frame_load(b, TMP, STATE, (int32_t)l->thread_id, WORD | LOAD_MAY_FAIL);
	frame_jump_if_near(b, THREAD, TMP, THREAD_BYTES_SHIFT, found);
}

/* Jumps to several if the process has more than one interpreter. HEAD is as at first. */
static void if_several(struct frame_builder *b, const struct python_layout *l, int several)
{
	const int single = frame_label(b);

	frame_load(b, TMP, HEAD, (int32_t)l->interpreter_next, WORD | LOAD_MAY_FAIL);
	frame_jump_if_zero(b, TMP, single);
	frame_load(b, TMP, TMP, (int32_t)l->interpreter_next, WORD | LOAD_MAY_FAIL);
	frame_jump_if_not_zero(b, TMP, several);
	frame_place(b, single);
}

/* Jumps to found if the state in STATE has frames. */
static void if_has_frames(struct frame_builder *b, const struct python_layout *l, int found)
{
	frame_load(b, TMP, STATE, (int32_t)l->thread_frame, WORD);
	if (l->minor == 11 || l->minor == 12)
		frame_load(b, TMP, TMP, (int32_t)l->cframe_frame, WORD);
	frame_jump_if_not_zero(b, TMP, found);
}

/* Where the states of a thread are looked for. */
struct search {
	int list, next, found, end;	/* labels */
};

/* The state of this thread that is known without the list goes to STATE and FIRST. */
static void find_first(struct frame_builder *b, const struct python_layout *l,
		       const struct search *s)
{
	const int own = frame_label(b), by_key = frame_label(b);

	if (l->current_state) {
		frame_load(b, STATE, HEAD,
			   (int32_t)(l->current_state - l->interpreters_head + l->interpreter_next),
			   WORD | LOAD_MAY_FAIL);
		frame_jump_if_zero(b, STATE, by_key);
		is_own_state(b, l, own);
		frame_place(b, by_key);
		if_several(b, l, s->list);
	}
	frame_jump_if_zero(b, SLOT, s->list);
	frame_plus(b, SLOT, THREAD);
	frame_load(b, STATE, SLOT, 0, WORD);
	frame_jump_if_zero(b, STATE, s->list);
	is_own_state(b, l, own);
	frame_jump(b, s->list);
	frame_place(b, own);
	frame_move(b, FIRST, STATE);
	frame_jump(b, s->found);
}

/*
 * Goes through the list of all states, from its beginning or from behind STATE, up to one of this
 * thread that has frames. One without counts as found first, so that its thread is not unknown.
 */
static void search_list(struct frame_builder *b, const struct python_layout *l,
			const struct search *s)
{
	const int interpreter = frame_label(b), look = frame_label(b), own = frame_label(b);
	const int none = frame_label(b);

	frame_place(b, s->list);
	frame_place(b, interpreter);
	frame_load(b, HEAD, HEAD, (int32_t)l->interpreter_next, WORD);
	frame_jump_if_zero(b, HEAD, none);
	frame_load(b, STATE, HEAD, (int32_t)l->threads_head, WORD);
	frame_place(b, look);
	frame_jump_if_zero(b, STATE, interpreter);
	is_own_state(b, l, own);
	frame_place(b, s->next);
	frame_load(b, STATE, STATE, (int32_t)l->thread_next, WORD);
	frame_jump(b, look);
	frame_place(b, own);
	frame_jump_if_equal(b, STATE, FIRST, s->next);
	if_has_frames(b, l, s->found);
	frame_jump_if_not_zero(b, FIRST, s->next);
	frame_move(b, FIRST, STATE);
	frame_jump(b, s->next);
	frame_place(b, none);
	frame_jump_if_not_zero(b, FIRST, s->end);
	frame_fail(b, RUNTIME_FAILED_STATE);
}

/* Where the frames of a state are over. FIRST says from now on that the thread is known. */
static void go_to_next_state(struct frame_builder *b, const struct python_layout *l,
			     const struct search *s, int over)
{
	const int listed = frame_label(b);

	frame_place(b, over);
	frame_jump_if_not_equal(b, STATE, FIRST, listed);
	if_several(b, l, s->list);
	frame_place(b, s->end);
	frame_end(b);
	frame_place(b, listed);
	frame_jump_if_not_zero(b, FIRST, s->next);
	frame_move(b, FIRST, STATE);
	frame_jump(b, s->next);
}

/* The cookie is cookie_of() of python_names.c. */
static uint32_t cookie_offset(const struct python_layout *l)
{
	return l->code_version ? l->code_version : l->code_lines;
}

/* 3.8 - 3.10. */
static void load_record(struct frame_builder *b, const struct python_layout *l)
{
	const struct record_field fields[4] = {
		{ (int16_t)l->frame_code, 8 },
		{ (int16_t)l->frame_instruction, 4 },
		{ (int16_t)l->frame_previous, 8 },
	};

	frame_record(b, CODE, FRAME, fields);
}

/* Frames from FRAME on, up to one whose owner has one of these bits. */
static void put_frames(struct frame_builder *b, const struct python_layout *l, uint8_t special,
		       int not_plain, int end)
{
	const struct frame_list list = {
		.fields = { { (int16_t)l->frame_code, 8 }, { (int16_t)l->frame_instruction, 8 },
			    { (int16_t)l->frame_previous, 8 }, { (int16_t)l->frame_owner, 1 } },
		.special = special,
		.tag_bits = l->minor >= 14 ? TAG_BITS : 0,
		.cookie = (int32_t)cookie_offset(l),
		.flags = EMIT_ADDRESS,
		.kind = RUNTIME_FRAME_INTERPRETED,
	};

	frame_list(b, CODE, FRAME, &list, not_plain, end);
}

static void emit(struct frame_builder *b, const struct python_layout *l)
{
	if (l->minor >= 14)
		frame_and(b, CODE, CODE, ~TAG_BITS);
	frame_load(b, COOKIE, CODE, (int32_t)cookie_offset(l), 4 | LOAD_DIRECT);
	frame_emit(b, CODE, INSTRUCTION, COOKIE, l->minor >= 11 ? EMIT_ADDRESS : 0,
		   RUNTIME_FRAME_INTERPRETED);
}

/* 3.8 - 3.10. */
static void walk_objects(struct frame_builder *b, const struct python_layout *l, int over)
{
	const int loop = frame_label(b);

	frame_load(b, FRAME, STATE, l->thread_frame, WORD);
	frame_place(b, loop);
	frame_jump_if_zero(b, FRAME, over);
	load_record(b, l);
	emit(b, l);
	frame_move(b, FRAME, PREVIOUS);
	frame_yield(b, loop);
}

/*
 * A struct _PyCFrame is linked some instructions before it has its innermost frame. Until then it
 * has that of an earlier call, or anything. So what it leads to counts only if the outermost frame
 * there was called by the innermost one of the next struct further out. Small numbers are no
 * addresses.
 */
#define LOWEST_BITS 16

/*
 * OBJECT to TMP, and what it says to FRAME and OBJECT. The outermost one of a thread is in its
 * state, that of the main thread in a static variable: a program that may sleep reads words of it
 * but no page. The walk gets there only where loops are left over, those of another greenlet.
 */
static void load_cframe(struct frame_builder *b, const struct python_layout *l)
{
	const int elsewhere = frame_label(b), loaded = frame_label(b);

	frame_move(b, TMP, OBJECT);
	frame_jump_if_less(b, TMP, LOW, elsewhere);
	frame_load(b, FRAME, TMP, l->cframe_frame, 8);
	frame_load(b, OBJECT, TMP, l->cframe_previous, 8);
	frame_jump(b, loaded);
	frame_place(b, elsewhere);
	frame_load(b, FRAME, TMP, l->cframe_frame, WORD);
	frame_load(b, OBJECT, TMP, l->cframe_previous, WORD);
	frame_place(b, loaded);
}

/* 3.11. */
static void walk_cframes(struct frame_builder *b, const struct python_layout *l, int over)
{
	const int loop = frame_label(b), own = frame_label(b), next = frame_label(b);
	const int entry = frame_label(b), done = frame_label(b), out = frame_label(b);

	frame_load(b, OBJECT, STATE, l->thread_frame, WORD);
	frame_place(b, loop);
	frame_jump_if_zero(b, OBJECT, over);
	frame_jump_if_less(b, OBJECT, HIGH, own);
	frame_yield(b, loop);
	frame_place(b, own);
	load_cframe(b, l);
	frame_shift_right(b, TMP2, FRAME, LOWEST_BITS);
	frame_jump_if_zero(b, TMP2, out);
	frame_place(b, next);
	put_frames(b, l, ANY_OWNER, entry, out);
	frame_place(b, entry);
	emit(b, l);
	frame_jump_if_not_zero(b, OWNER, done);
	frame_next(b, FRAME, PREVIOUS, next);
	frame_jump(b, out);
	frame_place(b, done);
	frame_jump_if_zero(b, OBJECT, out);
	frame_load(b, TMP2, OBJECT, l->cframe_frame, WORD);
	frame_jump_if_equal(b, TMP2, PREVIOUS, out);
	frame_drop(b);
	frame_place(b, out);
	frame_jump_if_less(b, TMP, LOW, loop);
	frame_yield(b, loop);
}

/* 3.12: the innermost frame to FRAME, and to CALLER the one that has called the innermost loop. */
static void begin_by_cframe(struct frame_builder *b, const struct python_layout *l)
{
	const int root = frame_label(b), begin = frame_label(b);

	frame_load(b, OBJECT, STATE, l->thread_frame, WORD);
	frame_load(b, FRAME, OBJECT, l->cframe_frame, 8);
	frame_load(b, TMP, OBJECT, l->cframe_previous, 8);
	frame_jump_if_zero(b, TMP, root);
	frame_load(b, CALLER, TMP, l->cframe_frame, WORD);
	frame_shift_right(b, TMP, FRAME, LOWEST_BITS);
	frame_jump_if_not_zero(b, TMP, begin);
	frame_move(b, FRAME, CALLER);
	frame_place(b, root);
	frame_set(b, OBJECT, 0);	/* nothing is to be checked */
	frame_place(b, begin);
}

/* 3.12, at the innermost loop: drops frames that are not what the loop is at. */
static void check_cframe(struct frame_builder *b, int loop)
{
	const int sound = frame_label(b);

	frame_jump_if_zero(b, OBJECT, sound);
	frame_set(b, OBJECT, 0);
	frame_jump_if_equal(b, FRAME, CALLER, sound);
	frame_drop(b);
	frame_move(b, FRAME, CALLER);
	frame_yield(b, loop);
	frame_place(b, sound);
}

/* 3.12 on. */
static void walk_shims(struct frame_builder *b, const struct python_layout *l, int over)
{
	const int loop = frame_label(b), next = frame_label(b), shim = frame_label(b);
	const int other = frame_label(b), own = frame_label(b), end = frame_label(b);

	if (l->minor == 12)
		begin_by_cframe(b, l);
	else
		frame_load(b, FRAME, STATE, l->thread_frame, WORD);
	frame_place(b, loop);
	frame_jump_if_zero(b, FRAME, over);
	frame_move(b, INNERMOST, FRAME);
	frame_place(b, next);
	put_frames(b, l, ANY_OWNER & ~(unsigned)OWNED_BY_GENERATOR, other, end);
	frame_place(b, other);
	frame_jump_if_is(b, OWNER, OWNED_BY_INTERPRETER, shim);
	emit(b, l);
	frame_next(b, FRAME, PREVIOUS, next);
	frame_place(b, end);
	frame_end(b);
	frame_place(b, shim);
	frame_jump_if_less(b, FRAME, HIGH, own);
	frame_drop(b);
	frame_move(b, FRAME, INNERMOST);
	frame_yield(b, loop);
	frame_place(b, own);
	frame_move(b, TMP, FRAME);
	frame_move(b, FRAME, PREVIOUS);
	if (l->minor == 12)
		check_cframe(b, loop);
	frame_jump_if_less(b, TMP, LOW, loop);
	frame_yield(b, loop);
}

int python_program(const struct python_layout *l, struct frame_program *out)
{
	struct frame_builder b;
	struct search s;
	int over;

	frame_builder_init(&b);
	s = (struct search){ .list = frame_label(&b), .next = frame_label(&b),
			     .found = frame_label(&b), .end = frame_label(&b) };
	over = frame_label(&b);
	find_first(&b, l, &s);
	search_list(&b, l, &s);
	frame_place(&b, s.found);
	if (l->minor <= 10)
		walk_objects(&b, l, over);
	else if (l->minor == 11)
		walk_cframes(&b, l, over);
	else
		walk_shims(&b, l, over);
	go_to_next_state(&b, l, &s, over);
	return frame_builder_finish(&b, out);
}
