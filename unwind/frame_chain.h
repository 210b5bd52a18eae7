/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OP_KEEP and OP_CHAIN: frames of generated code whose functions the stack has shown before,
 * without an operation for each of their parts. frame_step.h includes this file in its middle.
 */
#pragma once

UNWIND_INLINE struct frame_known *frame_known(struct unwinder *w, uint64_t function)
{
	return &w->run.known[frame_memo_of(function)];
}

UNWIND_INLINE void frame_note_function(struct unwinder *w, const struct frame_op *op,
				       uint64_t function)
{
	struct frame_known *k = frame_known(w, function);
	uint32_t none = (uint16_t)op->f[0] >> 15;

	if (k->function != function)
		k->is_compiled = 0;
	else if (none)
		return;
	k->is_compiled |= w->run.r[op->f[2] & (PROGRAM_REGS - 1)];
	k->function = function;
	k->code = w->run.r[op->s & (PROGRAM_REGS - 1)];
	k->cookie = w->run.r[op->n & (PROGRAM_REGS - 1)];
	k->begin = w->run.r[op->f[0] & (PROGRAM_REGS - 1)];
	k->size = none ? UINT64_MAX : w->run.r[op->f[1] & (PROGRAM_REGS - 1)];
}

UNWIND_INLINE int unwind_find_mapping(void *env, struct unwinder *w, uint64_t pc);
UNWIND_INLINE int unwind_find_rule(void *env, struct unwinder *w, uint64_t pc, uint32_t *rule);

/* Where the walker is: CHAIN_... What is not in the one place that is known, it asks the tables. */
UNWIND_INLINE uint32_t frame_place(void *env, struct unwinder *w, uint64_t begin, uint64_t bytes)
{
	const struct unwind_rule *r;
	uint32_t rule = 0;

	if (w->pc - begin < bytes)
		return CHAIN_INTERPRETER;
	if (unwind_find_mapping(env, w, w->pc - 1))
		return CHAIN_ELSEWHERE;
	if (!w->map_binary || w->map_flags & UNWIND_MAP_GENERATED)
		return CHAIN_GENERATED;
	if (unwind_find_rule(env, w, w->pc - 1, &rule))
		return CHAIN_ELSEWHERE;
	r = unwind_rule_at(env, rule);
	return r && frame_is_owned(r) ? CHAIN_INTERPRETER : CHAIN_ELSEWHERE;
}

UNWIND_INLINE uint32_t frame_place_of(void *env, struct unwinder *w, const struct frame_op *op)
{
	return FRAME_PLACE(env, w, w->run.r[op->s & (PROGRAM_REGS - 1)],
			   w->run.r[(op->s + 1) & (PROGRAM_REGS - 1)]);
}

/* The word of the walker's page that lies so far from its frame pointer. */
UNWIND_INLINE uint64_t frame_at_fp(const struct unwinder *w, int16_t offset)
{
	return frame_word(w, (w->fp + (uint64_t)(int64_t)offset) & (UNWIND_MEMORY_PAGE - 1));
}

/* Whether the words that op wants of the frame are there, and all in the walker's page. */
UNWIND_INLINE int frame_has_words(void *env, struct unwinder *w, const struct frame_op *op)
{
	uint64_t fp = w->fp, below = (uint16_t)-op->f[0], in_page = fp & (UNWIND_MEMORY_PAGE - 1);
	uint64_t any;

	return fp + (uint64_t)(int64_t)op->f[1] >= w->sp && in_page >= below &&
	       in_page <= UNWIND_MEMORY_PAGE - 16 && !unwind_read(env, w, fp, &any);
}

/* The two words that go out for a frame of k. 0, or 1: it is not plain. */
UNWIND_INLINE int frame_put_known(struct unwinder *w, const struct frame_op *op,
				  const struct frame_known *k, uint32_t place, uint64_t *frames)
{
	uint64_t number = frame_at_fp(w, op->f[0]), from = w->pc - k->begin, code = k->code;
	uint64_t instruction = number >> 32, kind = RUNTIME_FRAME_INTERPRETED;

	if (place == CHAIN_INTERPRETER && (uint32_t)number)
		return 1;
	if (place == CHAIN_GENERATED) {
		if (k->size == UINT64_MAX || (!(uint32_t)number && !k->is_compiled))
			return 1;
		kind = RUNTIME_FRAME_COMPILED;
		instruction = k->cookie;
		if (from <= k->size) {
			code += (uint16_t)op->f[3];
			instruction = from - 1;
		} else {
			code = w->pc + w->run.r[(uint32_t)op->imm & (PROGRAM_REGS - 1)];
		}
	}
	frame_emit(w, frames, kind, code, instruction, k->cookie);
	return 0;
}

/* One frame. 0: the walker is at its caller; 1: it is not known, or the stack is full. */
UNWIND_INLINE int frame_of_chain(void *env, struct unwinder *w, const struct frame_op *op,
				 uint64_t *frames)
{
	uint32_t place = frame_place_of(env, w, op);
	const struct frame_known *k;
	uint64_t function, sp = w->fp + 16, pc;

	w->run.r[op->n & (PROGRAM_REGS - 1)] = place;
	if (place == CHAIN_ELSEWHERE || w->exact || !frame_has_words(env, w, op))
		return 1;
	function = frame_at_fp(w, op->f[1]);
	pc = frame_at_fp(w, 8);
	k = frame_known(w, function);
	if ((function & 3) != 1 || !(frame_at_fp(w, op->f[2]) & 1) || k->function != function ||
	    (op->n & CHAIN_NUMBERS && !(function >> 32)) || !pc || sp <= w->sp)
		return 1;
	if (frame_put_known(w, op, k, place, frames))
		return 1;
	w->pc = pc;
	w->sp = sp;
	w->fp = frame_at_fp(w, 0);
	w->run.stepped = 1;
	w->run.nr_at_loop = w->nr;
	return w->run.state != RUN_ON;
}

/*
 * The operation before w->run.at, for up to most frames, a constant. 1: there may be more, so it
 * may be called again.
 */
UNWIND_INLINE int frame_chain(void *env, struct unwinder *w, uint64_t *frames, const int most)
{
	const struct frame_program *p = unwind_program_at(env, w->run.program);
	const struct frame_op *op;
	uint64_t *r;
	int i = 0;

	if (!p)
		return 0;
	op = &p->ops[(w->run.at - 1) & (PROGRAM_MAX_OPS - 1)];
	if (op->op == OP_KEEP) {
		frame_note_function(w, op, w->run.r[op->d & (PROGRAM_REGS - 1)]);
		return 0;
	}
	if (!most)
		w->run.r[op->n & (PROGRAM_REGS - 1)] = frame_place_of(env, w, op);
	for (; i < most; i++) {
		/* The loop is not unrolled, nor what is read of op kept: that needs stack. */
		asm volatile("" : "+r"(i), "+r"(op));
		if (frame_of_chain(env, w, op, frames))
			break;
	}
	r = &w->run.r[op->d & 12];
	r[0] = w->pc;
	r[1] = w->sp;
	r[2] = w->fp;
	r[3] = w->exact;
	if (most && i == most) {
		w->run.at = (w->run.at - 1) & (PROGRAM_MAX_OPS - 1);
		return 1;
	}
	return 0;
}
