/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/hotspot/hotspot_program.h"

#include "unwind/frame_builder.h"

/* Registers of the program. */
enum { BEGIN_OF_INTERPRETER = HOTSPOT_CONST_INTERPRETER,
       END_OF_INTERPRETER = HOTSPOT_CONST_INTERPRETER_END,
       VTABLE_TEXT = HOTSPOT_CONST_VTABLE, ADAPTER_TEXT = HOTSPOT_CONST_ADAPTER,
       KIND = 4, SIZE = 5, LIMIT = 6, ID = 7,	/* of the block, one record */
       PC = 8, SP = 9, FP = 10, EXACT = 11,
       POOL = 4, CLASS = 6,		/* instead of these */
       CODE = 12, CODE_BYTES = 13, T = 14, U = 15, BCP = CODE_BYTES, FAR = CODE_BYTES };

/* Numbers of kinds (CodeBlobKind). */
enum { KIND_NMETHOD = 1, KIND_ADAPTER = 3, KIND_VTABLE = 4 };

/* Words of an interpreter's frame, from its frame pointer on: frame_x86.hpp. */
enum { SENDER_SP = -8, METHOD = -24, BYTECODE = -64 };
#define REG_R13 13			/* DWARF: the bytecode that is interpreted */
#define BYTECODE_BITS 17		/* of an offset: a method has 64 KiB at most */

#define WORD_SHIFT 3
#define FRAME_BYTES_SHIFT 20		/* a frame is smaller */

#define STACK_WORD (8 | LOAD_STACK)

struct writer {
	struct frame_builder *b;
	const struct hotspot_layout *l;
	int top, loop, interpreter, nmethod, by_size, at_sp, at_sp_8, by_fp, step, leave;
};

static bool has(uint32_t offset)
{
	return offset != HOTSPOT_ABSENT;
}

/* Reads the block at CODE. LIMIT: where its frame is complete, or of callers the deopt handler. */
static void read_block(const struct writer *w, bool is_exact)
{
	const struct hotspot_layout *l = w->l;
	const bool is_short = has(l->blob_kind);	/* offsets of 16 bits since 23 */
	const struct record_field kind =
		is_short ? (struct record_field){ (int16_t)l->blob_kind, 1 }
			 : (struct record_field){ (int16_t)l->blob_header_size, 4 };
	const struct record_field deopt =
		has(l->nm_deopt_begin) ? (struct record_field){ (int16_t)l->nm_deopt_begin, 8 }
				       : (struct record_field){ (int16_t)l->nm_deopt_offset, 4 };
	const struct record_field complete = { (int16_t)l->blob_frame_complete, is_short ? 2 : 4 };
	const struct record_field f[4] = { kind, { (int16_t)l->blob_frame_size, 4 },
					   is_exact ? complete : deopt,
					   { (int16_t)l->nm_compile_id, 4 } };

	frame_record_direct(w->b, KIND, CODE, f);
}

/* Goes to the label if the block is a compiled method. */
static void choose_method(const struct writer *w, int label)
{
	if (has(w->l->blob_kind))
		frame_jump_if_is(w->b, KIND, KIND_NMETHOD, label);
	else
		frame_jump_if_value(w->b, KIND, (int32_t)w->l->nm_bytes, label);
}

/* Goes to at_sp if the block is code that jumps to a method, and has no frame. */
static void choose_entry(const struct writer *w)
{
	if (has(w->l->blob_kind)) {
		frame_jump_if_is(w->b, KIND, KIND_VTABLE, w->at_sp);
		frame_jump_if_is(w->b, KIND, KIND_ADAPTER, w->at_sp);
		return;
	}
	/* The text of a name may not be in memory, but its address tells. */
	frame_load(w->b, T, CODE, (int32_t)w->l->blob_name, 8 | LOAD_DIRECT);
	frame_jump_if_equal(w->b, T, VTABLE_TEXT, w->at_sp);
	frame_jump_if_equal(w->b, T, ADAPTER_TEXT, w->at_sp);
}

static void emit_compiled(const struct writer *w, int instruction)
{
	frame_emit(w->b, CODE, instruction, ID, EMIT_ADDRESS, RUNTIME_FRAME_COMPILED);
}

/* T = what CODE_BYTES has from bit on, as far as mask. */
static void take_bytes(const struct writer *w, int bit, int32_t mask)
{
	if (bit)
		frame_shift_right(w->b, T, CODE_BYTES, bit);
	frame_and(w->b, T, bit ? T : CODE_BYTES, mask);
}

/*
 * The eight bytes from pc - 1 on say whether the frame is on the stack: all that HotSpot's
 * compilers write before ret, and push %rbp.
 */
static void write_epilogue(const struct writer *w)
{
	struct frame_builder *b = w->b;
	const int not_branch = frame_label(b);

	frame_load(b, CODE_BYTES, PC, -1, 8 | LOAD_DIRECT);
	take_bytes(w, 8, 0xff);
	frame_jump_if_is(b, T, 0xc3, w->at_sp);		/* ret */
	frame_jump_if_is(b, T, 0x5d, w->at_sp_8);	/* pop %rbp */
	frame_jump_if_is(b, T, 0x55, w->at_sp);		/* push %rbp */
	take_bytes(w, 0, 0xffffff);
	frame_jump_if_value(b, T, 0x3b495d, w->at_sp);	/* behind pop, cmp disp(%r15), %rsp */
	frame_shift_right(b, T, CODE_BYTES, 56);
	frame_jump_if_is_not(b, T, 0xc3, not_branch);
	take_bytes(w, 8, 0xffff);
	frame_jump_if_value(b, T, 0x870f, w->at_sp);	/* ja, ret */
	frame_place(b, not_branch);
}

/* pc is before the place where the frame is complete. */
static void write_prologue(const struct writer *w)
{
	struct frame_builder *b = w->b;
	const int move = frame_label(b);

	take_bytes(w, 8, 0xffff);
	frame_jump_if_value(b, T, 0x8948, move);
	take_bytes(w, 0, 0xff);
	frame_jump_if_is(b, T, 0x55, w->at_sp_8);	/* behind push %rbp */
	frame_jump(b, w->at_sp);
	/* mov %rbp, disp(%rsp): it has its size, but fp is the caller's still. */
	frame_place(b, move);
	frame_shift_left(b, SIZE, SIZE, WORD_SHIFT);
	frame_plus(b, SP, SIZE);
	frame_load(b, PC, SP, -8, STACK_WORD);
	frame_jump(b, w->step);
}

/* Goes on if the size of a stub's frame is known. Those of size 0 or -1 keep frame pointers. */
static void check_size(const struct writer *w)
{
	frame_jump_if_zero(w->b, SIZE, w->by_fp);
	frame_shift_right(w->b, T, SIZE, FRAME_BYTES_SHIFT - WORD_SHIFT);
	frame_jump_if_not_zero(w->b, T, w->by_fp);
}

/* Where compiled code was interrupted. */
static void write_interrupted(const struct writer *w)
{
	struct frame_builder *b = w->b;
	const int method = frame_label(b), prologue = frame_label(b);

	read_block(w, true);
	frame_add(b, FAR, PC, INT32_MIN);		/* HOTSPOT_INTERRUPTED */
	emit_compiled(w, FAR);
	write_epilogue(w);
	choose_method(w, method);
	choose_entry(w);
	take_bytes(w, 0, 0xff);
	frame_jump_if_is(b, T, 0x55, w->at_sp_8);	/* behind push %rbp */
	check_size(w);
	frame_jump(b, w->by_size);
	frame_place(b, method);
	if (has(w->l->blob_code_begin)) {
		frame_load(b, U, CODE, (int32_t)w->l->blob_code_begin, 8 | LOAD_DIRECT);
	} else {
		frame_load(b, U, CODE, (int32_t)w->l->blob_code_offset, 4 | LOAD_DIRECT);
		frame_plus(b, U, CODE);
	}
	frame_plus(b, LIMIT, U);
	frame_jump_if_less(b, PC, LIMIT, prologue);
	frame_jump(b, w->by_size);
	frame_place(b, prologue);
	write_prologue(w);
}

/* pc is a return address: the frame has its size, unless it is a stub that keeps frame pointers. */
static void write_caller(const struct writer *w)
{
	const struct hotspot_layout *l = w->l;
	struct frame_builder *b = w->b;
	const int method = frame_label(b), emit = frame_label(b);

	read_block(w, false);
	choose_method(w, method);
	emit_compiled(w, PC);
	check_size(w);
	frame_step_sized(b, PC, SIZE, WORD_SHIFT, w->loop);
	frame_place(b, method);
	if (!has(l->nm_deopt_begin))
		frame_plus(b, LIMIT, CODE);
	frame_jump_if_not_equal(b, LIMIT, PC, emit);
	/* It will be interpreted from there on; where it was is kept in its frame. */
	frame_load(b, T, CODE, (int32_t)l->nm_orig_pc, 4 | LOAD_DIRECT);
	frame_plus(b, T, SP);
	frame_load(b, PC, T, 0, STACK_WORD);
	frame_place(b, emit);
	emit_compiled(w, PC);
	frame_step_sized(b, PC, SIZE, WORD_SHIFT, w->loop);
}

/* Goes to the label if FP does not lead to a frame. */
static void check_fp(const struct writer *w, int label)
{
	frame_and(w->b, T, FP, 7);
	frame_jump_if_not_zero(w->b, T, label);
	frame_move(w->b, T, FP);
	frame_minus(w->b, T, SP);
	frame_shift_right(w->b, T, T, FRAME_BYTES_SHIFT);
	frame_jump_if_not_zero(w->b, T, label);
}

#define OBJECT_WORD (8 | LOAD_DIRECT | LOAD_OBJECT)

/*
 * Adds the symbol of the class's name and its number to ID. U has a ConstMethod of the class. Its
 * methods have their pool of constants in common, so the reads behind it are spared where this
 * stack has shown another one.
 */
static void add_class_name(const struct writer *w, uint32_t number)
{
	const int word = OBJECT_WORD | LOAD_MAY_FAIL, known = frame_label(w->b);

	frame_load(w->b, POOL, U, (int32_t)w->l->const_constants, word);
	frame_recall(w->b, CLASS, POOL, known);
	frame_load(w->b, T, POOL, (int32_t)w->l->pool_holder, word);
	frame_load(w->b, CLASS, T, (int32_t)w->l->klass_name, word);
	/* 16 bits, in one half of a word of 32. */
	frame_load(w->b, T, CLASS, (int32_t)(number & ~3u),
		   4 | LOAD_DIRECT | LOAD_OBJECT | LOAD_MAY_FAIL);
	frame_shift_left(w->b, T, T, number & 2 ? 32 : 48);
	frame_shift_right(w->b, T, T, 48);
	frame_shift_left(w->b, T, T, 16);
	frame_plus(w->b, CLASS, T);
	frame_remember(w->b, CLASS, POOL);
	frame_place(w->b, known);
	frame_plus(w->b, ID, CLASS);
}

/*
 * The method of the frame at FP to CODE, its ConstMethod to U, and HOTSPOT_METHOD_COOKIE to ID. Of
 * classes that came with the JVM the number may not be in memory: they stay, and need none. The
 * reads that lead to the number are spared where this stack has shown the method before.
 */
static void load_method(const struct writer *w)
{
	const uint32_t number = hotspot_symbol_number(w->l);
	const int known = frame_label(w->b);

	frame_load(w->b, CODE, FP, METHOD, STACK_WORD);
	frame_load(w->b, U, CODE, (int32_t)w->l->method_const, OBJECT_WORD);
	if (has(number))
		frame_recall(w->b, ID, CODE, known);
	frame_shift_right(w->b, ID, U, 3);
	if (has(number))
		add_class_name(w, number);
	frame_place(w->b, known);
}

/* The interpreter was interrupted in a frame. */
static void write_interpreting(const struct writer *w)
{
	struct frame_builder *b = w->b;
	const int emit = frame_label(b);

	frame_register(b, BCP, REG_R13);
	frame_minus(b, BCP, U);
	frame_shift_right(b, T, BCP, BYTECODE_BITS);
	frame_jump_if_zero(b, T, emit);
	frame_load(b, BCP, FP, BYTECODE, STACK_WORD);
	frame_minus(b, BCP, U);
	frame_shift_right(b, T, BCP, BYTECODE_BITS);
	frame_jump_if_zero(b, T, emit);
	frame_set(b, BCP, 0);		/* a native method has none */
	frame_place(b, emit);
	frame_emit(b, CODE, BCP, ID, EMIT_REMEMBER, RUNTIME_FRAME_INTERPRETED);
	frame_load(b, SP, FP, SENDER_SP, STACK_WORD);
	frame_load(b, PC, FP, 8, STACK_WORD);
	frame_load(b, FP, FP, 0, STACK_WORD);
	frame_jump(b, w->step);
}

/* A caller that is interpreted: most of its frame is read at once. */
static void write_interpreter(const struct writer *w)
{
	const struct record_field f[4] = { { 8 - BYTECODE, 8 }, { SENDER_SP - BYTECODE, 8 },
					   { -BYTECODE, 8 }, { 0, 8 } };
	struct frame_builder *b = w->b;
	const int emit = frame_label(b), interpreting = frame_label(b), load = frame_label(b);

	frame_place(b, w->interpreter);
	frame_jump_if_zero(b, EXACT, load);
	/* Before its frame is there, fp is the caller's: of compiled code, anything. */
	check_fp(w, w->at_sp);
	frame_place(b, load);
	load_method(w);
	frame_jump_if_not_zero(b, EXACT, interpreting);
	frame_add(b, T, FP, BYTECODE);
	frame_record(b, PC, T, f);			/* the last field: to EXACT */
	frame_minus(b, EXACT, U);
	frame_shift_right(b, T, EXACT, BYTECODE_BITS);
	frame_jump_if_zero(b, T, emit);
	frame_set(b, EXACT, 0);		/* a native method has none */
	frame_place(b, emit);
	frame_emit(b, CODE, EXACT, ID, EMIT_REMEMBER, RUNTIME_FRAME_INTERPRETED);
	frame_step_to(b, PC, w->loop);
	frame_place(b, interpreting);
	write_interpreting(w);
}

/* The ways to the caller. */
static void write_steps(const struct writer *w)
{
	struct frame_builder *b = w->b;
	const int go = frame_label(b);

	frame_place(b, w->by_size);
	frame_shift_left(b, SIZE, SIZE, WORD_SHIFT);
	frame_plus(b, SP, SIZE);
	frame_load(b, FP, SP, -16, STACK_WORD);
	frame_load(b, PC, SP, -8, STACK_WORD);
	frame_jump(b, w->step);
	frame_place(b, w->at_sp);
	frame_load(b, PC, SP, 0, STACK_WORD);
	frame_add(b, SP, SP, 8);
	frame_jump(b, w->step);
	frame_place(b, w->at_sp_8);
	frame_move(b, FP, SP);
	frame_place(b, w->by_fp);
	check_fp(w, w->leave);
	frame_load(b, PC, FP, 8, STACK_WORD);
	frame_add(b, SP, FP, 16);
	frame_load(b, FP, FP, 0, STACK_WORD);
	frame_place(b, w->step);
	frame_jump_if_zero(b, EXACT, go);
	/* Stubs have code of other shapes. What was interrupted was called from a block. */
	frame_segmap(b, T, PC, 0);
	frame_jump_if_zero(b, T, w->leave);
	frame_place(b, go);
	frame_step_to(b, PC, w->loop);
}

int hotspot_program(const struct hotspot_layout *l, struct frame_program *out)
{
	struct frame_builder b;
	struct writer w = { .b = &b, .l = l };
	int blocks, interrupted;

	frame_builder_init(&b);
	for (int *label = &w.top; label <= &w.leave; label++)
		*label = frame_label(&b);
	blocks = frame_label(&b);
	interrupted = frame_label(&b);
	frame_place(&b, w.top);
	frame_walker(&b, PC);
	frame_place(&b, w.loop);
	frame_jump_if_less(&b, PC, BEGIN_OF_INTERPRETER, blocks);
	frame_jump_if_less(&b, PC, END_OF_INTERPRETER, w.interpreter);
	frame_place(&b, blocks);
	frame_segmap(&b, CODE, PC, (int32_t)l->block_header);
	frame_jump_if_zero(&b, CODE, w.leave);
	frame_jump_if_not_zero(&b, EXACT, interrupted);
	write_caller(&w);
	write_interpreter(&w);
	frame_place(&b, interrupted);
	write_interrupted(&w);
	write_steps(&w);
	frame_place(&b, w.leave);
	frame_yield(&b, w.top);
	return frame_builder_finish(&b, out);
}
