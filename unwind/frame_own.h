/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations of frame programs that own generated code (frame_program.h): those on the walker
 * and on heaps of code. frame_step.h includes this file in its middle.
 */
#pragma once

/*
 * Moves the walker to a caller, which is further out on the stack; or to the loop, in whose frame
 * generated code may run.
 */
UNWIND_INLINE void frame_walk(struct unwinder *w, uint64_t *frames, uint32_t d)
{
	uint64_t pc = w->run.r[d], sp = w->run.r[d + 1];

	if (!pc || sp < w->sp + !(w->run.flags & RUNTIME_HAS_LOOPS)) {
		frame_fail(w, frames, RUNTIME_FAILED_STACK);
		return;
	}
	w->pc = pc;
	w->sp = sp;
	w->fp = w->run.r[d + 2];
	w->run.r[d + 3] = 0;
	w->run.stepped = 1;
	w->run.nr_at_loop = w->nr;
	unwind_found_caller(w, 0);
}

/* Moves the walker to the caller of a frame of that many bytes, at r[d + 1]. */
UNWIND_INLINE void frame_walk_sized(void *env, struct unwinder *w, uint64_t *frames, uint32_t d,
				    uint64_t bytes)
{
	uint64_t sp = w->run.r[d + 1] + bytes, fp = 0, pc = 0;

	if (unwind_read(env, w, sp - 16, &fp) || unwind_read(env, w, sp - 8, &pc)) {
		frame_fail(w, frames, RUNTIME_FAILED_READ);
		return;
	}
	w->run.r[d] = pc;
	w->run.r[d + 1] = sp;
	w->run.r[d + 2] = fp;
	frame_walk(w, frames, d);
}

/* The heap that has addr, or one that has not. */
UNWIND_INLINE const struct unwind_heap *frame_heap(const struct unwinder *w, uint64_t addr)
{
	const struct unwind_heap *h = &w->run.heaps[0];

	for (int i = 1; i < PROGRAM_HEAPS; i++)
		if (addr - h->begin >= h->bytes)
			h = &w->run.heaps[i];
	return h;
}

/* Two looks at the map of a heap; the operation is repeated until the block is found. */
UNWIND_INLINE int frame_segmap(void *env, struct unwinder *w, uint64_t addr, uint64_t *block)
{
	uint64_t from = w->run.hop ? w->run.hop : addr, byte = 0;
	const struct unwind_heap *h = frame_heap(w, from);
	const uint64_t begin = h->begin, map = h->map, shift = h->shift & 63;

	*block = 0;
	w->run.hop = 0;
	if (from - begin >= h->bytes)
		return 0;
	from = (from - begin) >> shift;
	for (int i = 0; i < 2; i++) {
		if (unwind_read_word(env, map + from, &byte))
			return 1;
		byte &= 255;
		if (byte == 255 || byte > from)
			return 0;
		from -= byte;
		if (!byte) {
			*block = begin + (from << shift);
			return 0;
		}
	}
	w->run.hop = begin + (from << shift);
	w->run.at--;
	return 0;
}

/* An operation of programs that own code. */
UNWIND_INLINE void frame_own_operation(void *env, struct unwinder *w,
				       const struct frame_program *p, uint64_t *frames)
{
	const struct frame_op *op = &p->ops[(w->run.at - 1) & (PROGRAM_MAX_OPS - 1)];
	uint64_t *d = &w->run.r[op->d & (PROGRAM_REGS - 1)];
	uint32_t four = op->d & 12;

	if (op->op == OP_STEP || op->op == OP_STEP_SIZED) {
		if (op->n & STEP_JUMPS)
			w->run.at = (uint32_t)op->imm;
		if (op->op == OP_STEP)
			frame_walk(w, frames, four);
		else
			frame_walk_sized(env, w, frames, four,
					 w->run.r[op->s & (PROGRAM_REGS - 1)] << (op->f[0] & 63));
	} else if (op->op == OP_WALKER) {
		w->run.r[four] = w->pc;
		w->run.r[four + 1] = w->sp;
		w->run.r[four + 2] = w->fp;
		w->run.r[four + 3] = w->exact;
		if (op->n & WALKER_PLACE)
			w->run.r[op->s & (PROGRAM_REGS - 1)] = w->generated;
	} else if (op->op == OP_REGISTER) {
		*d = 0;
		if (w->exact)
			unwind_interrupted_register(env, w, (uint32_t)op->imm, d);
	} else if (frame_segmap(env, w, w->run.r[op->s & (PROGRAM_REGS - 1)], d)) {
		frame_fail(w, frames, RUNTIME_FAILED_READ);
	} else if (*d) {
		*d += (uint64_t)(int64_t)op->imm;
	}
}
