/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame of a function has its context and the function below the frame pointer; frames of stubs
 * and of entries from C++ have a small number instead of the context, and are left to the native
 * walker. Which tier a function's code is of follows from where the instruction is:
 *
 *	in a builtin	the function is interpreted, or a builtin itself
 *	elsewhere	it is baseline code, if it is within that of the function; else optimized.
 *			But where each function has a copy of the builtin that enters the
 *			interpreter (--interpreted-frames-native-stack), it may be interpreted.
 *
 * The interrupted instruction may be in a part of the code where the frame pointer is still, or
 * again, that of the caller:
 *
 *	in builtins	One register has the bytecodes while a handler of the interpreter runs, and
 *			the frame has them, too. Another one has the offset of the bytecode; the
 *			slot in the frame has that of the last call. Baseline code begins with the
 *			call of a builtin that makes its frame: then that register has the
 *			bytecodes of the function in the callee's register.
 *	elsewhere	The code should be that of the frame's function. If it is that of the
 *			function in the callee's register, this is the callee's beginning, where it
 *			has no frame yet. If it is of neither, it was compiled for a loop that runs
 *			(on-stack replacement).
 */
#include "src/runtimes/v8/v8_program.h"

#include <stdbool.h>
#include <stddef.h>

#include "unwind/frame_builder.h"

enum {
	BLOB = V8_CONST_BLOB, BYTES = V8_CONST_BLOB_BYTES, IS_CODE = V8_CONST_CODE,
	GENERATED = 3,			/* 0: the walker is in a builtin */
	PC = 4, SP = 5, FP = 6, STATE = 7,			/* of the walker */
	OFFSET = 8, FUNCTION = 9, CONTEXT = 10,		/* of the frame */
	START = OFFSET, TMP2 = CONTEXT,				/* once those were looked at */
	IS_COMPILED = 11,		/* no copy of the interpreter enters the function */
	DATA = 12, SCRIPT = 13, COOKIE = 14,		/* of the SharedFunctionInfo */
	SHARED = SCRIPT,				/* once that was looked at */
	TMP = 15,
};

/* STATE: of the walker, whether the frame was interrupted; then whose code is looked at. */
enum {
	AFTER_CALL,
	OF_FRAME,
	OF_REGISTER,			/* the function in the register; there is a frame, too */
	OF_REGISTER_ALONE,
	OF_LOOP,			/* of the frame, but no code that it leads to */
	OF_RETURN,			/* the function in the register, whose frame is made */
};

#define WORD (8 | LOAD_DIRECT)
#define STACK (8 | LOAD_STACK)
#define GUESS LOAD_MAY_FAIL		/* of an object that may be none */
#define SMALL_INTEGER_SHIFT 32
#define TAG_MASK 3
#define NR_FUNCTION_TYPES 17		/* JSFunction and constructors, one after the other */
#define PUSH_FP (int32_t)0xe5894855	/* what makes a frame: push %rbp, mov %rsp,%rbp */
#define SET_FP 0x56e58948		/* the next ones: mov %rsp,%rbp, push %rsi */
#define FRAME_IN_MAKING 32		/* then the frame pointer is less above the stack pointer */
/* DWARF numbers of the registers with the bytecodes, the offset, and the callee, on x86-64. */
#define BYTECODE_REGISTER 12
#define OFFSET_REGISTER 9
#define FUNCTION_REGISTER 5

struct program {
	struct frame_builder b;
	const struct v8_layout *l;
	/* Labels. */
	int next, typed, no_frame, builtin, marked, code, plain, emit, other, take, done, step;
	int native;
};

/* Jumps to label if FUNCTION cannot be an object. */
static void if_no_object(struct frame_builder *b, bool may_be_number, int label)
{
	frame_and(b, TMP, FUNCTION, TAG_MASK);
	frame_jump_if_is_not(b, TMP, V8_TAG, label);
	if (!may_be_number)
		return;
	frame_shift_right(b, TMP, FUNCTION, SMALL_INTEGER_SHIFT);
	frame_jump_if_zero(b, TMP, label);
}

static void load_frame(struct program *p)
{
	const struct record_field fields[4] = {
		{ 0, 8 },
		{ V8_FRAME_FUNCTION - V8_FRAME_OFFSET, 8 },
		{ V8_FRAME_CONTEXT - V8_FRAME_OFFSET, 8 },
		{ 0, 0 },			/* IS_COMPILED = 0 */
	};
	struct frame_builder *b = &p->b;

	/* What is below the stack pointer is not there yet. */
	frame_add(b, TMP, FP, V8_FRAME_FUNCTION);
	frame_jump_if_less(b, TMP, SP, p->no_frame);
	frame_and(b, TMP, FP, 7);
	frame_jump_if_not_zero(b, TMP, p->no_frame);
	/* The page of the native walker has the frame, then, too. */
	frame_load(b, TMP, FP, 0, STACK);
	frame_add(b, TMP, FP, V8_FRAME_OFFSET);
	frame_record(b, OFFSET, TMP, fields);
	frame_and(b, TMP, CONTEXT, V8_TAG);
	frame_jump_if_zero(b, TMP, p->typed);
	/* In code of regular expressions there may be numbers, if it has no marker. */
	if_no_object(b, p->l->has_bare_regexp, p->no_frame);
}

/* What FUNCTION says: DATA, SHARED and COOKIE; without the first, if the others are remembered. */
static void load_shared(struct program *p, bool without_data)
{
	const struct record_field fields[4] = {
		{ (int16_t)p->l->shared_data, 8 },
		{ (int16_t)p->l->shared_script, 8 },
		{ (int16_t)p->l->shared_literal, 4 },
		{ 0, 0 },
	};
	struct frame_builder *b = &p->b;
	const int known = frame_label(b);

	frame_load(b, TMP2, FUNCTION, (int32_t)p->l->function_shared - V8_TAG, WORD);
	if (without_data)
		frame_recall(b, COOKIE, TMP2, known);
	frame_add(b, TMP, TMP2, -V8_TAG);
	frame_record_direct(b, DATA, TMP, fields);
	frame_load(b, TMP, SCRIPT, V8_SCRIPT_ID - V8_TAG + 4, 4 | LOAD_DIRECT);
	frame_shift_left(b, TMP, TMP, V8_COOKIE_SHIFT);
	frame_plus(b, COOKIE, TMP);
	frame_place(b, known);
	frame_move(b, SHARED, TMP2);
}

/* TMP: how far PC is from the beginning of the Code in TMP2; jumps to other if not within it. */
static void is_in_code(struct program *p, int other)
{
	const struct v8_layout *l = p->l;
	struct frame_builder *b = &p->b;

	frame_move(b, TMP, PC);
	if (l->code_start)
		frame_load(b, START, TMP2, (int32_t)l->code_start - V8_TAG, WORD);
	else
		frame_add(b, START, TMP2, (int32_t)l->stream_header - V8_TAG);
	frame_minus(b, TMP, START);
	frame_load(b, TMP2, TMP2, (int32_t)l->code_size - V8_TAG, 4 | LOAD_DIRECT);
	frame_jump_if_less(b, TMP2, TMP, other);
}

/* begin, size: registers, or -1. */
static void keep(struct program *p, int begin, int size)
{
	const struct frame_keep k = { FUNCTION, SHARED, COOKIE, begin, size, IS_COMPILED };

	frame_keep_function(&p->b, &k);
}

/* START and TMP2 at optimized: where the code is that is not the one. */
static void emit_baseline(struct program *p, int none, int optimized)
{
	struct frame_builder *b = &p->b;
	const int emit = frame_label(b), own = frame_label(b);

	frame_and(b, TMP, DATA, V8_TAG);
	frame_jump_if_zero(b, TMP, none);
	frame_move(b, TMP2, DATA);
	is_in_code(p, optimized);
	/* A return address may be the first byte behind what it belongs to. */
	frame_jump_if_not_zero(b, STATE, emit);
	frame_add(b, TMP, TMP, -1);
	keep(p, START, TMP2);
	frame_place(b, emit);
	frame_jump_if_is_not(b, STATE, OF_RETURN, own);
	frame_register(b, TMP2, BYTECODE_REGISTER);
	frame_load(b, START, DATA, (int32_t)p->l->code_data - V8_TAG, WORD);
	frame_jump_if_not_equal(b, START, TMP2, p->native);
	frame_place(b, own);
	frame_add(b, SHARED, SHARED, V8_IS_BASELINE);
	frame_emit(b, SHARED, TMP, COOKIE, 0, RUNTIME_FRAME_COMPILED);
	frame_jump(b, p->done);
}

/* Jumps to other if the interrupted code is not that of FUNCTION. */
static void is_own_code(struct program *p)
{
	struct frame_builder *b = &p->b;

	if (p->l->function_code) {
		frame_load(b, TMP2, FUNCTION, (int32_t)p->l->function_code - V8_TAG, WORD);
		is_in_code(p, p->other);
		return;
	}
	/* Nothing leads to it. At its beginning it is that of the function in the register. */
	frame_jump_if_is_not(b, STATE, OF_FRAME, p->emit);
	frame_load(b, TMP, PC, 0, 4 | LOAD_DIRECT);
	frame_jump_if_value(b, TMP, PUSH_FP, p->other);
	frame_jump_if_value(b, TMP, SET_FP, p->other);
}

/*
 * Jumps to plain if a caller is in the copy of the builtin that its function is entered by. Where
 * that runs as optimized code by now, the frame may still have what the interpreter has put there.
 */
static void if_interpreted(struct program *p)
{
	struct frame_builder *b = &p->b;
	const int none = frame_label(b), compiled = frame_label(b);

	if (p->l->type_interpreter) {
		frame_jump_if_not_zero(b, STATE, none);
		frame_shift_left(b, TMP, OFFSET, SMALL_INTEGER_SHIFT);
		frame_jump_if_not_zero(b, TMP, none);
		frame_load(b, TMP2, DATA, -V8_TAG, WORD | GUESS);
		frame_load(b, TMP, TMP2, V8_MAP_TYPE - V8_TAG, 2 | LOAD_DIRECT | GUESS);
		frame_add(b, TMP, TMP, -(int32_t)p->l->type_interpreter);
		frame_jump_if_not_zero(b, TMP, compiled);
		frame_load(b, TMP2, DATA, V8_INTERPRETER_COPY - V8_TAG, WORD);
		is_in_code(p, none);
		frame_load(b, OFFSET, FP, V8_FRAME_OFFSET, STACK);
		frame_jump(b, p->plain);
	}
	frame_place(b, compiled);
	frame_set(b, IS_COMPILED, 1);
	frame_place(b, none);
}

static void emit_code(struct program *p)
{
	struct frame_builder *b = &p->b;
	const int none = frame_label(b), optimized = frame_label(b), put = frame_label(b);
	const int call = frame_label(b);

	frame_place(b, p->code);
	load_shared(p, false);
	if_interpreted(p);
	emit_baseline(p, none, optimized);
	frame_place(b, none);
	frame_set(b, START, 0);
	frame_set(b, TMP2, 0);
	frame_place(b, optimized);
	frame_jump_if_zero(b, STATE, call);
	frame_jump_if_is(b, STATE, OF_LOOP, p->emit);
	frame_jump_if_is(b, STATE, OF_RETURN, p->native);
	is_own_code(p);
	frame_jump(b, p->emit);
	frame_place(b, call);
	keep(p, START, TMP2);
	frame_place(b, p->emit);
	frame_move(b, TMP, IS_CODE);
	frame_jump_if_zero(b, STATE, put);
	frame_shift_right(b, TMP, IS_CODE, V8_CODE_BIT - V8_INTERRUPTED_BIT);
	frame_plus(b, TMP, IS_CODE);
	frame_place(b, put);
	frame_plus(b, TMP, PC);
	frame_emit(b, TMP, COOKIE, COOKIE, 0, RUNTIME_FRAME_COMPILED);
	frame_jump(b, p->done);
}

/* Frames that are not of functions. */
static void emit_marked(struct program *p)
{
	struct frame_builder *b = &p->b;

	frame_place(b, p->typed);
	frame_jump_if_is(b, CONTEXT, V8_WASM_MARKER, p->marked);
	if (p->l->regexp_marker)
		frame_jump_if_is(b, CONTEXT, (uint8_t)p->l->regexp_marker, p->marked);
	frame_place(b, p->no_frame);
	frame_jump_if_zero(b, STATE, p->native);
	frame_jump_if_zero(b, GENERATED, p->native);
	frame_set(b, STATE, OF_REGISTER_ALONE);
	frame_jump(b, p->take);
}

/* The code is not of the function that was thought of: another one is, or there is none. */
static void try_others(struct program *p)
{
	struct frame_builder *b = &p->b;
	const int loop = frame_label(b), none = frame_label(b);

	emit_marked(p);
	frame_place(b, p->other);
	frame_jump_if_is(b, STATE, OF_REGISTER_ALONE, p->native);
	frame_jump_if_is(b, STATE, OF_REGISTER, loop);
	frame_set(b, STATE, OF_REGISTER);
	frame_place(b, p->take);
	frame_register(b, FUNCTION, FUNCTION_REGISTER);
	if_no_object(b, false, none);
	frame_load(b, TMP2, FUNCTION, -V8_TAG, WORD | GUESS);
	frame_load(b, TMP, TMP2, V8_MAP_TYPE - V8_TAG, 2 | LOAD_DIRECT | GUESS);
	frame_add(b, TMP, TMP, -(int32_t)p->l->type_function);
	frame_set(b, TMP2, NR_FUNCTION_TYPES);
	frame_jump_if_less(b, TMP, TMP2, p->code);
	frame_place(b, none);
	frame_jump_if_is_not(b, STATE, OF_REGISTER, p->native);
	frame_place(b, loop);
	frame_set(b, STATE, OF_LOOP);
	frame_load(b, FUNCTION, FP, V8_FRAME_FUNCTION, STACK);
	frame_jump(b, p->code);
}

/* In frames of baseline code no number is where interpreted ones have their offset. */
static void emit_interpreted(struct program *p)
{
	struct frame_builder *b = &p->b;
	const int emit = frame_label(b), none = frame_label(b), other = frame_label(b);

	frame_place(b, p->builtin);
	load_shared(p, true);
	frame_shift_left(b, TMP, OFFSET, SMALL_INTEGER_SHIFT);
	frame_jump_if_not_zero(b, TMP, none);
	frame_place(b, p->plain);
	keep(p, -1, -1);
	frame_shift_right(b, TMP, OFFSET, SMALL_INTEGER_SHIFT);
	frame_jump_if_zero(b, STATE, emit);
	frame_register(b, TMP, BYTECODE_REGISTER);
	frame_load(b, TMP2, FP, V8_FRAME_BYTECODE, STACK);
	frame_jump_if_not_equal(b, TMP, TMP2, other);
	frame_register(b, TMP, OFFSET_REGISTER);
	frame_jump(b, emit);
	frame_place(b, none);
	frame_jump_if_not_zero(b, STATE, other);
	frame_set(b, TMP, (int32_t)V8_NO_OFFSET);
	frame_place(b, emit);
	frame_emit(b, SHARED, TMP, COOKIE, EMIT_REMEMBER, RUNTIME_FRAME_INTERPRETED);
	frame_jump(b, p->step);
	frame_place(b, other);
	frame_load(b, PC, SP, 0, STACK);
	frame_add(b, SP, SP, 8);
	frame_set(b, STATE, OF_RETURN);
	frame_jump(b, p->take);
}

/* The function has no frame yet: the return address is on top of the stack. */
static void step_from_beginning(struct program *p)
{
	struct frame_builder *b = &p->b;
	const int top = frame_label(b);

	/* The frame has no function yet, but the frame pointer is its own. */
	frame_move(b, TMP, FP);
	frame_minus(b, TMP, SP);
	frame_set(b, TMP2, FRAME_IN_MAKING);
	frame_jump_if_less(b, TMP, TMP2, p->step);
	frame_load(b, TMP, PC, 0, 4 | LOAD_DIRECT);
	frame_move(b, START, SP);
	frame_set(b, TMP2, SET_FP);
	frame_jump_if_not_equal(b, TMP, TMP2, top);
	frame_add(b, START, START, 8);
	frame_place(b, top);
	frame_load(b, PC, START, 0, STACK);
	frame_add(b, SP, START, 8);
}

static void step(struct program *p)
{
	struct frame_builder *b = &p->b;
	const int moved = frame_label(b), beginning = frame_label(b);

	frame_place(b, p->marked);
	frame_emit(b, IS_CODE, CONTEXT, CONTEXT, 0, RUNTIME_FRAME_COMPILED);
	frame_jump(b, p->step);
	frame_place(b, p->done);
	frame_jump_if_is(b, STATE, OF_REGISTER, beginning);
	frame_jump_if_is(b, STATE, OF_REGISTER_ALONE, beginning);
	frame_jump_if_is(b, STATE, OF_RETURN, beginning);
	frame_place(b, p->step);
	frame_load(b, PC, FP, 8, STACK);
	frame_add(b, SP, FP, 16);
	frame_load(b, FP, FP, 0, STACK);
	frame_jump(b, moved);
	frame_place(b, beginning);
	step_from_beginning(p);
	frame_place(b, moved);
	frame_step(b, PC);
}

/*
 * To the caller, and to its callers for as long as they are known. In another place than the
 * constant one a builtin is found by the walker, too.
 */
static void go_on(struct program *p)
{
	const struct frame_chain chain = {
		.begin = BLOB, .place = GENERATED, .shared = IS_CODE,
		.instruction = V8_FRAME_OFFSET, .function = V8_FRAME_FUNCTION,
		.context = V8_FRAME_CONTEXT, .own = V8_IS_BASELINE,
		.flags = p->l->has_bare_regexp ? CHAIN_NUMBERS : 0,
	};

	frame_chain(&p->b, PC, &chain);
	frame_jump_if_is_not(&p->b, GENERATED, CHAIN_ELSEWHERE, p->next);
}

static void make_labels(struct program *p)
{
	int *const labels[] = { &p->next, &p->typed, &p->no_frame, &p->builtin, &p->marked,
				&p->code, &p->plain, &p->emit, &p->other, &p->take, &p->done,
				&p->step, &p->native };

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		*labels[i] = frame_label(&p->b);
}

int v8_program(const struct v8_layout *l, struct frame_program *out)
{
	struct program p = { .l = l };
	struct frame_builder *b = &p.b;
	int begin;

	frame_builder_init(b);
	begin = frame_label(b);
	make_labels(&p);
	frame_place(b, begin);
	frame_walker_place(b, PC, GENERATED);
	frame_place(b, p.next);
	load_frame(&p);
	frame_jump_if_zero(b, GENERATED, p.builtin);
	emit_code(&p);
	emit_interpreted(&p);
	try_others(&p);
	step(&p);
	go_on(&p);
	frame_place(b, p.native);
	frame_yield(b, begin);
	return frame_builder_finish(b, out);
}
