/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/frame_builder.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* n of OP_RECORD has two bits for each field: 8 bytes shifted right by them. */
#define RECORD_SIZE_BITS 2

void frame_builder_init(struct frame_builder *b)
{
	memset(b, 0, sizeof(*b));
}

int frame_label(struct frame_builder *b)
{
	if (b->nr_labels == PROGRAM_MAX_LABELS) {
		b->err = -EINVAL;
		return 0;
	}
	b->places[b->nr_labels] = -1;
	return b->nr_labels++;
}

void frame_place(struct frame_builder *b, int label)
{
	if (label < 0 || label >= b->nr_labels || b->places[label] >= 0)
		b->err = -EINVAL;
	else
		b->places[label] = (int32_t)b->program.nr;
}

static struct frame_op *put(struct frame_builder *b, enum frame_opcode op, int d, int s, int n,
			    int32_t imm)
{
	static const struct frame_op none;
	struct frame_op *to;

	if (b->program.nr == PROGRAM_MAX_OPS || d < 0 || d >= PROGRAM_REGS || s < 0 ||
	    s >= PROGRAM_REGS) {
		b->err = -EINVAL;
		b->program.nr = 0;	/* of no use any more, and there is room again */
	}
	to = &b->program.ops[b->program.nr];
	b->is_jump[b->program.nr++] = false;
	*to = none;
	to->op = (uint8_t)op;
	to->d = (uint8_t)d;
	to->s = (uint8_t)s;
	to->n = (uint8_t)n;
	to->imm = imm;
	return to;
}

static void put_jump(struct frame_builder *b, enum frame_opcode op, int d, int s, int n, int label)
{
	if (label < 0 || label >= b->nr_labels)
		b->err = -EINVAL;
	put(b, op, d, s, n, label);
	b->is_jump[b->program.nr - 1] = true;
}

static int place_labels_of_list(const struct frame_builder *b, struct frame_op *op)
{
	for (int i = 2; i < 4; i++) {
		int32_t place = b->places[op->f[i]];

		if (place < 0 || place >= (int32_t)b->program.nr)
			return -EINVAL;
		op->f[i] = (int16_t)place;
	}
	return 0;
}

int frame_builder_finish(const struct frame_builder *b, struct frame_program *out)
{
	if (b->err || !b->program.nr)
		return -EINVAL;
	*out = b->program;
	for (uint32_t i = 0; i < out->nr; i++) {
		struct frame_op *op = &out->ops[i];
		bool in_field = op->op == OP_IF_VALUE || op->op == OP_ADVANCE;
		int32_t label = in_field ? op->f[0] : op->imm;
		int32_t place = b->is_jump[i] ? b->places[label] : 0;

		if (op->op == OP_LIST_HOW) {
			if (place_labels_of_list(b, op))
				return -EINVAL;
			continue;
		}
		if (place < 0 || place >= (int32_t)out->nr)
			return -EINVAL;
		if (in_field)
			op->f[0] = (int16_t)place;
		else if (b->is_jump[i])
			op->imm = place;
	}
	return 0;
}

static bool is_size(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

void frame_load(struct frame_builder *b, int d, int s, int32_t offset, int size)
{
	const int stack = size & LOAD_STACK;

	if (!is_size(size & LOAD_SIZE) || (stack && (size & ~LOAD_MAY_FAIL) != (8 | LOAD_STACK)))
		b->err = -EINVAL;
	put(b, OP_LOAD, d, s, size, offset);
}

void frame_record(struct frame_builder *b, int d, int s, const struct record_field fields[4])
{
	static const uint8_t shifts[] = { [8] = 0, [4] = 1, [2] = 2, [1] = 3 };
	struct frame_op *op = put(b, OP_RECORD, d, s, 0, 0);

	if (d % 4)
		b->err = -EINVAL;
	for (int i = 0; i < 4; i++) {
		op->f[i] = -1;
		if (!fields[i].size)
			continue;
		if (!is_size(fields[i].size) || fields[i].offset < 0 ||
		    fields[i].offset % fields[i].size ||
		    fields[i].offset > PROGRAM_MAX_RECORD - 16) {
			b->err = -EINVAL;
			continue;
		}
		op->f[i] = fields[i].offset;
		if (op->imm < fields[i].offset + 8)
			op->imm = fields[i].offset + 8;
		op->n |= (uint8_t)(shifts[fields[i].size] << (RECORD_SIZE_BITS * i));
	}
}

void frame_record_direct(struct frame_builder *b, int d, int s,
			 const struct record_field fields[4])
{
	frame_record(b, d, s, fields);
	b->program.ops[b->program.nr - 1].s |= RECORD_DIRECT;
}

void frame_set(struct frame_builder *b, int d, int32_t value)
{
	put(b, OP_SET, d, 0, 0, value);
}

void frame_move(struct frame_builder *b, int d, int s)
{
	put(b, OP_MOVE, d, s, 0, 0);
}

void frame_add(struct frame_builder *b, int d, int s, int32_t value)
{
	put(b, OP_ADD, d, s, 0, value);
}

void frame_and(struct frame_builder *b, int d, int s, int32_t mask)
{
	put(b, OP_AND, d, s, 0, mask);
}

void frame_shift_left(struct frame_builder *b, int d, int s, int bits)
{
	put(b, OP_SHIFT_LEFT, d, s, 0, bits & 63);
}

void frame_shift_right(struct frame_builder *b, int d, int s, int bits)
{
	put(b, OP_SHIFT_RIGHT, d, s, 0, bits & 63);
}

void frame_plus(struct frame_builder *b, int d, int s)
{
	put(b, OP_PLUS, d, s, 0, 0);
}

void frame_minus(struct frame_builder *b, int d, int s)
{
	put(b, OP_MINUS, d, s, 0, 0);
}

void frame_jump(struct frame_builder *b, int label)
{
	put_jump(b, OP_JUMP, 0, 0, 0, label);
}

void frame_jump_if_zero(struct frame_builder *b, int s, int label)
{
	put_jump(b, OP_IF_ZERO, 0, s, 0, label);
}

void frame_jump_if_not_zero(struct frame_builder *b, int s, int label)
{
	put_jump(b, OP_IF_NOT_ZERO, 0, s, 0, label);
}

void frame_jump_if_is(struct frame_builder *b, int s, uint8_t value, int label)
{
	put_jump(b, OP_IF_IS, 0, s, value, label);
}

void frame_jump_if_is_not(struct frame_builder *b, int s, uint8_t value, int label)
{
	put_jump(b, OP_IF_IS_NOT, 0, s, value, label);
}

void frame_jump_if_equal(struct frame_builder *b, int d, int s, int label)
{
	put_jump(b, OP_IF_EQUAL, d, s, 0, label);
}

void frame_jump_if_not_equal(struct frame_builder *b, int d, int s, int label)
{
	put_jump(b, OP_IF_NOT_EQUAL, d, s, 0, label);
}

void frame_jump_if_less(struct frame_builder *b, int d, int s, int label)
{
	put_jump(b, OP_IF_LESS, d, s, 0, label);
}

void frame_next(struct frame_builder *b, int d, int s, int label)
{
	put_jump(b, OP_NEXT, d, s, 0, label);
}

void frame_jump_if_masked(struct frame_builder *b, int s, uint32_t mask, uint32_t value, int label)
{
	struct frame_op *op;

	put_jump(b, OP_IF_VALUE, 0, s, 0, label);
	op = &b->program.ops[b->program.nr - 1];
	op->f[0] = (int16_t)label;
	op->f[1] = (int16_t)mask;
	op->f[2] = (int16_t)(mask >> 16);
	op->imm = (int32_t)value;
}

void frame_jump_if_value(struct frame_builder *b, int s, int32_t value, int label)
{
	frame_jump_if_masked(b, s, UINT32_MAX, (uint32_t)value, label);
}

void frame_jump_if_near(struct frame_builder *b, int d, int s, int bits, int label)
{
	put_jump(b, OP_IF_NEAR, d, s, bits & 63, label);
}

void frame_recall(struct frame_builder *b, int d, int s, int label)
{
	put_jump(b, OP_RECALL, d, s, 0, label);
}

void frame_remember(struct frame_builder *b, int d, int s)
{
	put(b, OP_RECALL, d, s, RECALL_REMEMBER, 0);
}

void frame_advance(struct frame_builder *b, int d, int32_t value, int s, int label)
{
	put_jump(b, OP_ADVANCE, d, s, 0, label);
	b->program.ops[b->program.nr - 1].f[0] = (int16_t)label;
	b->program.ops[b->program.nr - 1].imm = value;
}

#define LIST_FLAGS 0xffff
#define LIST_MOST_OFFSET ((1 << LIST_SHIFT) - 1)

void frame_list(struct frame_builder *b, int d, int s, const struct frame_list *list,
		int not_plain, int end)
{
	const int shift = list->special ? __builtin_ctz(list->special) : 0;
	struct frame_op *how;

	if (not_plain < 0 || not_plain >= b->nr_labels || end < 0 || end >= b->nr_labels ||
	    list->special >> shift > LIST_FLAGS || list->cookie < 0 ||
	    list->cookie > LIST_MOST_OFFSET || list->cookie_shift < 0 || list->cookie_shift > 63 ||
	    list->flags & ~EMIT_ADDRESS || list->kind >= RUNTIME_FRAME_MARK)
		b->err = -EINVAL;
	frame_record(b, d, s, list->fields);
	b->program.ops[b->program.nr - 1].op = OP_LIST;
	how = put(b, OP_LIST_HOW, 0, 0, shift, list->cookie | list->cookie_shift << LIST_SHIFT);
	how->d = (uint8_t)list->kind;
	how->s = (uint8_t)list->flags;
	how->f[0] = (int16_t)(list->special >> shift);
	how->f[1] = (int16_t)list->tag_bits;
	how->f[2] = (int16_t)not_plain;
	how->f[3] = (int16_t)end;
}

static void put_four(struct frame_builder *b, enum frame_opcode op, int d)
{
	if (d % 4)
		b->err = -EINVAL;
	put(b, op, d, 0, 0, 0);
}

void frame_walker(struct frame_builder *b, int d)
{
	put_four(b, OP_WALKER, d);
}

void frame_walker_place(struct frame_builder *b, int d, int generated)
{
	if (d % 4)
		b->err = -EINVAL;
	put(b, OP_WALKER, d, generated, WALKER_PLACE, 0);
}

void frame_step(struct frame_builder *b, int d)
{
	put_four(b, OP_STEP, d);
}

void frame_register(struct frame_builder *b, int d, int dwarf)
{
	put(b, OP_REGISTER, d, 0, 0, dwarf);
}

void frame_step_to(struct frame_builder *b, int d, int label)
{
	if (d % 4)
		b->err = -EINVAL;
	put_jump(b, OP_STEP, d, 0, STEP_JUMPS, label);
}

void frame_step_sized(struct frame_builder *b, int d, int s, int shift, int label)
{
	if (d % 4)
		b->err = -EINVAL;
	put_jump(b, OP_STEP_SIZED, d, s, STEP_JUMPS, label);
	b->program.ops[b->program.nr - 1].f[0] = (int16_t)(shift & 63);
}

void frame_segmap(struct frame_builder *b, int d, int s, int32_t offset)
{
	put(b, OP_SEGMAP, d, s, 0, offset);
}

static bool is_register(int r)
{
	return r >= 0 && r < PROGRAM_REGS;
}

void frame_keep_function(struct frame_builder *b, const struct frame_keep *k)
{
	struct frame_op *op;

	if (!is_register(k->cookie) || !is_register(k->is_compiled) ||
	    (k->begin != -1 && (!is_register(k->begin) || !is_register(k->size))))
		b->err = -EINVAL;
	op = put(b, OP_KEEP, k->function, k->code, k->cookie, 0);
	op->f[0] = (int16_t)k->begin;
	op->f[1] = (int16_t)k->size;
	op->f[2] = (int16_t)k->is_compiled;
}

static bool is_slot(int16_t offset)
{
	return offset < 0 && offset > -PROGRAM_MAX_RECORD && !(offset % 8);
}

void frame_chain(struct frame_builder *b, int d, const struct frame_chain *c)
{
	struct frame_op *op;

	if (d % 4 || !is_register(c->begin + 1) || !is_register(c->place) ||
	    !is_register(c->shared) ||
	    !is_slot(c->instruction) || !is_slot(c->function) || !is_slot(c->context) ||
	    c->instruction > c->function || c->instruction > c->context || c->own < 0 ||
	    c->flags & ~CHAIN_NUMBERS)
		b->err = -EINVAL;
	op = put(b, OP_CHAIN, d, c->begin, c->place | c->flags, c->shared);
	op->f[0] = c->instruction;
	op->f[1] = c->function;
	op->f[2] = c->context;
	op->f[3] = c->own;
}

void frame_emit(struct frame_builder *b, int code, int instruction, int cookie, int flags,
		enum runtime_frame_kind kind)
{
	if (cookie < 0 || cookie >= PROGRAM_REGS || flags & ~(EMIT_ADDRESS | EMIT_REMEMBER) ||
	    kind >= RUNTIME_FRAME_MARK)
		b->err = -EINVAL;
	put(b, OP_EMIT, code, instruction, cookie | flags, (int32_t)kind);
}

void frame_drop(struct frame_builder *b)
{
	put(b, OP_DROP, 0, 0, 0, 0);
}

void frame_yield(struct frame_builder *b, int label)
{
	put_jump(b, OP_YIELD, 0, 0, 0, label);
}

void frame_end(struct frame_builder *b)
{
	put(b, OP_END, 0, 0, 0, 0);
}

void frame_fail(struct frame_builder *b, enum runtime_failure why)
{
	put(b, OP_FAIL, 0, 0, 0, (int32_t)why);
}
