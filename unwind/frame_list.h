/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OP_LIST: the frames that most are, without an operation for each of their parts. frame_step.h
 * includes this file in its middle.
 */
#pragma once

/* The cookie of code, which lies where how says. */
UNWIND_INLINE int frame_cookie(void *env, struct unwinder *w, const struct frame_op *how,
			       uint64_t code, uint64_t *cookie)
{
	uint32_t offset = (uint32_t)how->imm & ((1u << LIST_SHIFT) - 1);
	uint32_t shift = (uint32_t)how->imm >> LIST_SHIFT & 63;
	uint64_t word;

	if (frame_recall(w, code, cookie))
		return 0;
	if (FRAME_OBJECT_WORD(env, w, code + offset))
		return 1;
	word = w->objects.word;
	if (shift)
		word += word >> shift;
	frame_remember(w, code, word);
	*cookie = word;
	return 0;
}

/* One record. 1: the turn is over. */
UNWIND_INLINE int frame_of_list(void *env, struct unwinder *w, const struct frame_op *op,
				const struct frame_op *how, uint64_t *frames)
{
	uint64_t *at = &w->run.r[op->s & (PROGRAM_REGS - 1)];
	uint64_t *r = &w->run.r[op->d & 12], code, cookie = 0;
	int64_t place = frame_record_at(env, w, *at, (uint32_t)op->imm & (PROGRAM_MAX_RECORD - 1));

	if (place < 0)
		return frame_fail(w, frames, RUNTIME_FAILED_READ);
	frame_fields(w, op, place);
	code = r[0] & ~(uint64_t)(uint16_t)how->f[1];
	if (!code || r[3] >> (how->n & 63) & (uint16_t)how->f[0]) {
		w->run.at = (uint16_t)how->f[2];
		return 1;
	}
	if (frame_cookie(env, w, how, code, &cookie))
		return frame_fail(w, frames, RUNTIME_FAILED_READ);
	frame_emit(w, frames, how->d, code, how->s & EMIT_ADDRESS ? r[1] - code : r[1], cookie);
	*at = r[2];
	if (!r[2])
		w->run.at = (uint16_t)how->f[3];
	return !r[2] || w->run.state != RUN_ON;
}

/*
 * The operation before w->run.at, for up to most records, a constant. 1: there are more of them, so
 * it may be called again.
 */
UNWIND_INLINE int frame_list(void *env, struct unwinder *w, uint64_t *frames, const int most)
{
	const struct frame_program *p = unwind_program_at(env, w->run.program);
	uint32_t at = (w->run.at - 1) & (PROGRAM_MAX_OPS - 1);
	const struct frame_op *op, *how;

	if (!p)
		return 0;
	op = &p->ops[at];
	how = &p->ops[(at + 1) & (PROGRAM_MAX_OPS - 1)];
	w->run.at = at;
	for (int i = 0; i < most; i++) {
		/* The loop is not unrolled, nor what is read of op kept: that needs stack. */
		asm volatile("" : "+r"(i), "+r"(op), "+r"(how));
		if (frame_of_list(env, w, op, how, frames))
			return 0;
	}
	return 1;
}
