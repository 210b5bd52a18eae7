/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes frame programs (frame_program.h), as an assembler does.
 *
 *	struct frame_builder b;
 *
 *	frame_builder_init(&b);
 *	next = frame_label(&b);
 *	done = frame_label(&b);
 *	frame_load(&b, 8, PROGRAM_REG_THREAD, -8, 8 | LOAD_DIRECT);
 *	frame_jump_if_zero(&b, 8, done);
 *	frame_place(&b, next);
 *	...
 *	frame_next(&b, 8, 11, next);
 *	frame_place(&b, done);
 *	frame_end(&b);
 *	err = frame_builder_finish(&b, &program);
 *
 * A label may be jumped to before and after it has its place. Mistakes (a register or a size that
 * does not exist, too many operations, a label without a place) are kept until
 * frame_builder_finish(), so that calls need no checks. Nothing is to be freed.
 */
#pragma once

#include <stdint.h>

#include "unwind/frame_program.h"

#define PROGRAM_MAX_LABELS 64

struct frame_builder {
	struct frame_program program;
	int32_t places[PROGRAM_MAX_LABELS];	/* operation of each label; -1: none yet */
	uint8_t is_jump[PROGRAM_MAX_OPS];		/* imm is a label */
	int nr_labels;
	int err;
};

/* The fields of a record: offset, and size in bytes (1, 2, 4, 8). A size of 0: r[d + i] = 0. */
struct record_field {
	int16_t offset;
	uint8_t size;
};

void frame_builder_init(struct frame_builder *b);
int frame_label(struct frame_builder *b);
void frame_place(struct frame_builder *b, int label);	/* of the next operation */
/* 0 or -EINVAL. */
int frame_builder_finish(const struct frame_builder *b, struct frame_program *out);

/*
 * size: 1, 2, 4 or 8, or'ed with LOAD_DIRECT and LOAD_OBJECT; or 8 | LOAD_STACK; and
 * LOAD_MAY_FAIL.
 */
void frame_load(struct frame_builder *b, int d, int s, int32_t offset, int size);
/* d is a multiple of 4. A field without size is not read, and its register is 0. */
void frame_record(struct frame_builder *b, int d, int s, const struct record_field fields[4]);
/* Reads no more than up to the last field, which costs less where records lie far apart. */
void frame_record_direct(struct frame_builder *b, int d, int s,
			 const struct record_field fields[4]);
void frame_set(struct frame_builder *b, int d, int32_t value);
void frame_move(struct frame_builder *b, int d, int s);
void frame_add(struct frame_builder *b, int d, int s, int32_t value);
void frame_and(struct frame_builder *b, int d, int s, int32_t mask);	/* sign-extended */
void frame_shift_left(struct frame_builder *b, int d, int s, int bits);
void frame_shift_right(struct frame_builder *b, int d, int s, int bits);
void frame_plus(struct frame_builder *b, int d, int s);
void frame_minus(struct frame_builder *b, int d, int s);

void frame_jump(struct frame_builder *b, int label);
void frame_jump_if_zero(struct frame_builder *b, int s, int label);
void frame_jump_if_not_zero(struct frame_builder *b, int s, int label);
void frame_jump_if_is(struct frame_builder *b, int s, uint8_t value, int label);
void frame_jump_if_is_not(struct frame_builder *b, int s, uint8_t value, int label);
void frame_jump_if_equal(struct frame_builder *b, int d, int s, int label);
void frame_jump_if_not_equal(struct frame_builder *b, int d, int s, int label);
void frame_jump_if_less(struct frame_builder *b, int d, int s, int label);	/* d < s */
/* The low 32 bits of s; those of mask. */
void frame_jump_if_value(struct frame_builder *b, int s, int32_t value, int label);
void frame_jump_if_masked(struct frame_builder *b, int s, uint32_t mask, uint32_t value, int label);
void frame_jump_if_near(struct frame_builder *b, int d, int s, int bits, int label);
void frame_recall(struct frame_builder *b, int d, int s, int label);
void frame_remember(struct frame_builder *b, int d, int s);
void frame_advance(struct frame_builder *b, int d, int32_t value, int s, int label);
void frame_next(struct frame_builder *b, int d, int s, int label);

/*
 * A list of records (OP_LIST). Fields are code, instruction, the next record, and flags, which go
 * to d, d + 1, d + 2, d + 3; s has the record. Records whose flags have any of the bits of special,
 * or that have no code, are left to the operations at not_plain.
 */
struct frame_list {
	struct record_field fields[4];
	uint32_t special;		/* 16 bits in a row at most */
	uint16_t tag_bits;		/* bits of the code that are none of its address */
	int32_t cookie;			/* offset of 8 bytes from the code on; */
	int cookie_shift;		/* with these, shifted to the right, added; or 0 */
	int flags;			/* 0 or EMIT_ADDRESS */
	enum runtime_frame_kind kind;
};

void frame_list(struct frame_builder *b, int d, int s, const struct frame_list *list,
		int not_plain, int end);

/*
 * For programs that own generated code (RUNTIME_OWNS_CODE). d of frame_walker() and frame_step() is
 * a multiple of 4: pc, sp, fp, and whether the frame was interrupted.
 */
void frame_walker(struct frame_builder *b, int d);
/*
 * Begins likewise, and generated = 1: the pc is in a mapping without a file, 0: in one of a file.
 */
void frame_walker_place(struct frame_builder *b, int d, int generated);
void frame_step(struct frame_builder *b, int d);
void frame_register(struct frame_builder *b, int d, int dwarf);
/* Steps likewise, and goes on at the label. */
void frame_step_to(struct frame_builder *b, int d, int label);
/* From a frame of s << shift bytes. */
void frame_step_sized(struct frame_builder *b, int d, int s, int shift, int label);
void frame_segmap(struct frame_builder *b, int d, int s, int32_t offset);

/* The frames of functions that frame_keep_function() has kept (OP_CHAIN). */
struct frame_chain {
	int begin;			/* register; the next one has the size */
	int place;			/* register */
	int shared;			/* register: what is added to the address of shared code */
	/* From the frame pointer on, multiples of 8. The first is the lowest. */
	int16_t instruction, function, context;
	int16_t own;			/* is added to a function's code in code of its own */
	int flags;			/* 0 or CHAIN_NUMBERS */
};

/* A function: registers. */
struct frame_keep {
	int function, code, cookie;	/* what goes out for it */
	int begin, size;		/* of its own code; -1: it is not known if it has any */
	int is_compiled;		/* is 0 if in generated code it may be interpreted */
};

void frame_keep_function(struct frame_builder *b, const struct frame_keep *keep);
void frame_chain(struct frame_builder *b, int d, const struct frame_chain *chain);

/* cookie: a register; flags: EMIT_ADDRESS, EMIT_REMEMBER. */
void frame_emit(struct frame_builder *b, int code, int instruction, int cookie, int flags,
		enum runtime_frame_kind kind);
void frame_drop(struct frame_builder *b);
void frame_yield(struct frame_builder *b, int label);	/* where it goes on at the next loop */
void frame_end(struct frame_builder *b);
void frame_fail(struct frame_builder *b, enum runtime_failure why);
