/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs frame programs (frame_program.h). unwind_step.h includes this file in its middle.
 *
 * frame_begin() is called when the walker has gone from the loop's frame to its caller, frame_ask()
 * before it steps from generated code (frame_program.h). From then on each step is a turn of the
 * program, until it yields, ends or fails. A step is either native or a turn, so the verifier's
 * work is a sum.
 *
 * Memory is read through two pages that are kept: the page of the native walker, and one of
 * records, because the records of a runtime lie close together, elsewhere.
 *
 * Before including unwind_step.h, a file may define UNWIND_RUNTIMES and these functions; without
 * it no program is ever run, and a mark is at the first loop.
 *
 *	int unwind_load_record(env, w, addr)	copies as much as a page from addr on, which need
 *						not be aligned, to w->record_page: 0, or not
 *	int unwind_load_bytes(env, w, addr, n)	the same of n bytes, below PROGRAM_MAX_RECORD
 *	int unwind_read_word(env, addr, &value)	8 bytes at any address: 0, or not
 *	int unwind_load_object(env, w, i, addr)	see frame_objects.h
 *	const struct unwind_runtimes *unwind_runtimes_of(env, tgid)	or NULL
 *	const struct frame_program *unwind_program_at(env, i)	or NULL
 *
 * UNWIND_MAY_RUN may be defined, too: 0 says that no program is run although there may be some.
 * Where the compiler cannot know it, but the verifier does, it need not look at them then.
 *
 * Without UNWIND_RUNTIMES it may define UNWIND_KNOWN_FRAMES(env, w, frames), which puts the loop's
 * frames behind its native one (frame_put()) and answers 0, or 1: they are not known; and
 * FRAME_IS_LOOP(env, w, frames, pc): whether some are known, for walks by frame pointers.
 */
#pragma once

#include "unwind/frame_program.h"

UNWIND_INLINE int unwind_read(void *env, struct unwinder *w, uint64_t addr, uint64_t *value);
UNWIND_INLINE int unwind_interrupted_register(void *env, struct unwinder *w, uint32_t dwarf,
					      uint64_t *value);
UNWIND_INLINE void unwind_found_caller(struct unwinder *w, int guessed);

#ifndef UNWIND_MAY_RUN
#define UNWIND_MAY_RUN 1
#endif

#ifndef FRAME_TURN
#define FRAME_TURN(env, w, frames) frame_turn(env, w, frames, 1)
#endif
#ifndef FRAME_SELECT
#define FRAME_SELECT frame_select
#endif
#ifndef FRAME_OBJECT_WORD
#define FRAME_OBJECT_WORD frame_object_word
#define FRAME_PLACE frame_place
#endif
#if !defined(FRAME_IS_LOOP) && defined(UNWIND_RUNTIMES)
#define FRAME_IS_LOOP(env, w, frames, pc) frame_is_loop(env, w, pc)
#elif !defined(FRAME_IS_LOOP)
#define FRAME_IS_LOOP(env, w, frames, pc) 0
#endif

/* Called once for each stack. */
UNWIND_INLINE void frame_run_init(struct unwinder *w)
{
	w->run.state = RUN_UNKNOWN;
	w->run.here = HERE_ASK;
	w->run.flags = 0;
	w->run.turns = 0;
	w->run.slot = PROGRAM_SLOTS;
	w->run.is_only = 0;
	w->run.begun = 0;
	w->run.no_loops = 0;
	w->record_addr = 1;
	w->objects.alone = 1;
	for (int i = 0; i < FRAME_OBJECT_PAGES; i++)
		w->objects.addr[i] = 1;
}

/* Puts two words behind the frames, as far as there is room. */
UNWIND_INLINE void frame_put(struct unwinder *w, uint64_t *frames, uint64_t first, uint64_t second)
{
	uint32_t n = w->nr;

	if (n >= UNWIND_MAX_FRAMES - 1 || n + 1 >= w->max_frames) {
		w->run.state = RUN_OVER;
		w->end = UNWIND_TRUNCATED;
		return;
	}
	frames[n & (UNWIND_MAX_FRAMES - 1)] = first;
	frames[(n + 1) & (UNWIND_MAX_FRAMES - 1)] = second;
	w->nr = n + 2;
}

/* The program is not run again for this stack. */
UNWIND_INLINE void frame_end(struct unwinder *w)
{
	w->run.state = w->run.slot < PROGRAM_SLOTS && !w->run.is_only ? RUN_ENDED : RUN_OVER;
}

/* A mark instead of the frames that are missing. The program is not run again. */
UNWIND_INLINE int frame_fail(struct unwinder *w, uint64_t *frames, uint32_t why)
{
	frame_end(w);
	frame_put(w, frames,
		  UNWIND_RUNTIME | (uint64_t)RUNTIME_FRAME_MARK << UNWIND_RUNTIME_KIND_SHIFT, why);
	return 1;
}

/* Whether it is the rule of code that a runtime has made, and not of its loop. */
UNWIND_INLINE int frame_is_owned(const struct unwind_rule *r)
{
	return r->ra & RULE_RUNTIME && (r->cfa == CFA_NONE || r->ra & RULE_GUESSED);
}

/* The walker is in generated code, n frames behind: the program is to be asked first. */
UNWIND_INLINE void frame_ask(struct unwinder *w, uint32_t n, uint64_t pc)
{
	w->nr = n;
	w->run.pc = pc;
	w->run.was = w->run.state;
	w->run.state = RUN_HERE;
}

/* The walker has stepped from the loop's frame, which was at pc, and went from low to w->sp. */
UNWIND_INLINE void frame_begin(struct unwinder *w, uint64_t low, uint64_t pc)
{
	if (!UNWIND_MAY_RUN || w->run.state >= RUN_OVER)
		return;
	w->run.pc = pc;
	w->run.low = low;
	w->run.was = w->run.state;
	w->run.state = RUN_LOOP;
}

#ifdef UNWIND_RUNTIMES

#include "unwind/frame_objects.h"

/* For walks by frame pointers: whether pc is in the loop of a runtime of the process. */
UNWIND_INLINE int frame_is_loop(void *env, struct unwinder *w, uint64_t pc)
{
	const struct unwind_runtimes *all;
	int found = 0;

	if (w->run.no_loops)
		return 0;
	all = unwind_runtimes_of(env, w->tgid);
	w->run.no_loops = !all;
	for (int i = 0; all && i < PROGRAM_LOOPS; i++)
		found |= pc - all->loops[i].lo < all->loops[i].bytes;
	return found;
}

#include "unwind/frame_slots.h"

/* The program begins or goes on, for a frame from low on. */
UNWIND_INLINE void frame_go_on(struct unwinder *w, uint64_t low)
{
	w->run.r[PROGRAM_REG_LOW] = low;
	w->run.r[PROGRAM_REG_HIGH] = w->sp;
	w->run.nr_at_loop = w->nr;
	w->run.stepped = 0;
	w->run.state = RUN_ON;
}

/* Whether a program has to do with generated code, or with loops if owns_code is 0. */
UNWIND_INLINE int frame_is_asked(uint32_t flags, uint32_t owns_code)
{
	const uint32_t both = RUNTIME_OWNS_CODE | RUNTIME_HAS_LOOPS;

	return owns_code ? !!(flags & RUNTIME_OWNS_CODE) : (flags & both) != RUNTIME_OWNS_CODE;
}

/*
 * The step behind frame_begin() and frame_ask(): the program begins or goes on, if the runtime is
 * one that has to do with such frames.
 */
UNWIND_INLINE void frame_start(void *env, struct unwinder *w)
{
	uint32_t owns_code = w->run.state == RUN_HERE ? RUNTIME_OWNS_CODE : 0;

	w->run.turns++;
	w->run.here = owns_code ? HERE_NATIVE : HERE_ASK;
	w->run.state = w->run.was;
	if (!w->run.is_only && FRAME_SELECT(env, w, owns_code) &&
	    unwind_thread_pointer(env, &w->run.r[PROGRAM_REG_THREAD]))
		w->run.r[PROGRAM_REG_THREAD] = PROGRAM_NO_THREAD;
	if (w->run.state != RUN_WAITS || !frame_is_asked(w->run.flags, owns_code))
		return;
	frame_go_on(w, owns_code ? w->sp : w->run.low);
}

/* The program is left, which says how the walker goes on from generated code. */
UNWIND_INLINE int frame_leave(struct unwinder *w, uint32_t state)
{
	w->run.state = state;
	if (w->run.here == HERE_NATIVE)
		w->run.here = w->nr != w->run.nr_at_loop ? HERE_EMITTED
			      : w->run.stepped		       ? HERE_ASK
							       : HERE_NATIVE;
	return 1;
}

/* Makes sure that one of the two pages is that of addr: its place in w->pages, or -1. */
UNWIND_INLINE int64_t frame_page(void *env, struct unwinder *w, uint64_t addr)
{
	uint64_t page = addr & ~(uint64_t)(UNWIND_MEMORY_PAGE - 1);

	if (page == w->record_addr)
		return UNWIND_MEMORY_PAGE;
	if (page == w->page_addr && (addr & (UNWIND_MEMORY_PAGE - 1)) >= w->page_from)
		return 0;
	w->record_addr = 1;
	w->pages_read++;
	if (unwind_load_record(env, w, page))
		return -1;
	w->record_addr = page;
	return UNWIND_MEMORY_PAGE;
}

/*
 * The aligned word at byte at of both pages. The compiler must not know more of at than the
 * verifier does, or it would leave out what bounds it.
 */
UNWIND_INLINE uint64_t frame_word(const struct unwinder *w, uint64_t at)
{
	asm volatile("" : "+r"(at));
	at &= sizeof(w->pages) - 8;
	return *(const uint64_t *)(w->pages + at);
}

/* Up to 8 bytes at addr, without sign. */
UNWIND_INLINE int frame_load(void *env, struct unwinder *w, uint64_t addr, uint32_t how,
			     uint64_t *value)
{
	uint32_t size = how & LOAD_SIZE, in_page = addr & (UNWIND_MEMORY_PAGE - 1);
	uint64_t word = 0;
	int64_t place;

	if (how & LOAD_STACK)
		return unwind_read(env, w, addr, value);
	if (how & LOAD_OBJECT && (in_page & 7) + size <= 8) {
		if (FRAME_OBJECT_WORD(env, w, addr))
			return 1;
		word = w->objects.word;
	} else if (how & LOAD_DIRECT || (in_page & 7) + size > 8) {
		if (unwind_read_word(env, addr, &word))
			return 1;
	} else {
		place = frame_page(env, w, addr);
		if (place < 0)
			return 1;
		word = frame_word(w, (uint64_t)place | in_page) >> (in_page & 7) * 8;
	}
	if (size < 8)
		word &= (1ull << (size * 8 & 63)) - 1;
	*value = word;
	return 0;
}

/*
 * The bytes from a record's start on: its place in w->pages, or -1. One that lies on two pages is
 * copied by itself.
 */
UNWIND_INLINE int64_t frame_record_at(void *env, struct unwinder *w, uint64_t addr, uint32_t bytes)
{
	uint64_t in_page = addr & (UNWIND_MEMORY_PAGE - 1);
	int64_t place;

	if (in_page + bytes > UNWIND_MEMORY_PAGE || addr & 7) {
		w->record_addr = 1;
		w->pages_read++;
		return unwind_load_record(env, w, addr) ? -1 : UNWIND_MEMORY_PAGE;
	}
	place = frame_page(env, w, addr);
	return place < 0 ? place : place + (int64_t)in_page;
}

/* Reads those bytes alone. Returns what frame_record_at() does. */
UNWIND_INLINE int64_t frame_record_alone(void *env, struct unwinder *w, uint64_t addr,
					 uint32_t bytes)
{
	w->record_addr = 1;
	return unwind_load_bytes(env, w, addr, bytes) ? -1 : UNWIND_MEMORY_PAGE;
}

/* The four fields of a record at that place. Those that are not wanted are 0. */
UNWIND_INLINE void frame_fields(struct unwinder *w, const struct frame_op *op, int64_t place)
{
	uint32_t d = op->d & 12;

	for (int i = 0; i < 4; i++) {
		uint32_t lost = 64 - (64 >> (op->n >> (2 * i) & 3));
		uint32_t none = (uint16_t)op->f[i] >> 15;
		uint64_t at = (uint64_t)place + (uint16_t)op->f[i];
		uint64_t word = frame_word(w, at) >> (at & 7) * 8;

		word = word << (lost & 63) >> (lost & 63);
		w->run.r[d + i] = word & ((uint64_t)none - 1);
	}
}

UNWIND_INLINE int frame_record(void *env, struct unwinder *w, const struct frame_op *op,
			       uint64_t addr)
{
	uint32_t bytes = (uint32_t)op->imm & (PROGRAM_MAX_RECORD - 1);
	int64_t place;

	if (op->s & RECORD_DIRECT)
		place = frame_record_alone(env, w, addr, bytes);
	else
		place = frame_record_at(env, w, addr, bytes);
	if (place < 0)
		return 1;
	frame_fields(w, op, place);
	return 0;
}

/*
 * Cookies are remembered for the rest of a stack, because a read of memory costs more than all else
 * of a frame. What is on the stack of a thread stays where it is while the thread does not run, so
 * the same code has the same cookie there. Another stack is another instant: nothing is remembered
 * from one to the next.
 */
UNWIND_INLINE uint32_t frame_memo_of(uint64_t code)
{
	return (uint32_t)(code >> 4 ^ code >> 8 ^ code >> 12) & (FRAME_MEMO - 1);
}

UNWIND_INLINE int frame_recall(const struct unwinder *w, uint64_t code, uint64_t *cookie)
{
	uint32_t i = frame_memo_of(code);

	if (!code || w->run.memo[i].code != code)
		return 0;
	*cookie = w->run.memo[i].cookie;
	return 1;
}

UNWIND_INLINE void frame_remember(struct unwinder *w, uint64_t code, uint64_t cookie)
{
	uint32_t i = frame_memo_of(code);

	w->run.memo[i].code = code;
	w->run.memo[i].cookie = cookie;
}

UNWIND_INLINE void frame_emit(struct unwinder *w, uint64_t *frames, uint64_t kind, uint64_t code,
			      uint64_t instruction, uint64_t cookie)
{
	frame_put(w, frames,
		  UNWIND_RUNTIME | (uint64_t)w->run.slot << UNWIND_RUNTIME_SLOT_SHIFT |
			  (kind & UNWIND_RUNTIME_KINDS) << UNWIND_RUNTIME_KIND_SHIFT |
			  (code & UNWIND_ADDRESS_MASK),
		  cookie << 32 | (uint32_t)instruction);
}

/* The mask of OP_IF_VALUE. */
UNWIND_INLINE uint32_t frame_mask(const struct frame_op *op)
{
	return (uint16_t)op->f[1] | (uint32_t)(uint16_t)op->f[2] << 16;
}

/* Whether a jump is taken. */
UNWIND_INLINE int frame_jumps(const struct frame_op *op, uint64_t d, uint64_t s)
{
	uint32_t code = op->op;

	return code == OP_JUMP || (code == OP_IF_ZERO && !s) || (code == OP_IF_NOT_ZERO && s) ||
	       (code == OP_IF_IS && s == op->n) || (code == OP_IF_IS_NOT && s != op->n) ||
	       (code == OP_IF_EQUAL && d == s) || (code == OP_IF_NOT_EQUAL && d != s) ||
	       (code == OP_IF_LESS && d < s) || (code == OP_NEXT && s) ||
	       (code == OP_IF_NEAR && !((d - s) >> (op->n & 63)));
}

/* What operations of one value make of it. */
UNWIND_INLINE uint64_t frame_compute(const struct frame_op *op, uint64_t d, uint64_t s)
{
	int64_t imm = op->imm;

	switch (op->op) {
	case OP_SET: return (uint64_t)imm;
	case OP_ADD: return s + (uint64_t)imm;
	case OP_AND: return s & (uint64_t)imm;
	case OP_SHIFT_LEFT: return s << (imm & 63);
	case OP_SHIFT_RIGHT: return s >> (imm & 63);
	case OP_PLUS: return d + s;
	case OP_MINUS: return d - s;
	default: return s;
	}
}

/* From frame_operation(): frame_own_operation() knows the operation, or it is a row of frames. */
#define FRAME_OWNER 2
#define FRAME_LIST 3
#define FRAME_CHAIN 4

/* One operation. 1: the turn is over. */
UNWIND_INLINE int frame_operation(void *env, struct unwinder *w, const struct frame_program *p,
				  uint64_t *frames)
{
	uint32_t at = w->run.at & (PROGRAM_MAX_OPS - 1);
	const struct frame_op *op = &p->ops[at];
	uint64_t *dp = &w->run.r[op->d & (PROGRAM_REGS - 1)];
	uint64_t d = *dp, s = w->run.r[op->s & (PROGRAM_REGS - 1)], value = 0;
	uint32_t code = op->op;

	w->run.at = at + 1;
	if (code == OP_RECORD)
		return frame_record(env, w, op, s) && frame_fail(w, frames, RUNTIME_FAILED_READ);
	if (code == OP_LOAD) {
		if (frame_load(env, w, s + (uint64_t)(int64_t)op->imm, op->n, &value) &&
		    !(op->n & LOAD_MAY_FAIL))
			return frame_fail(w, frames, RUNTIME_FAILED_READ);
		*dp = value;
		return 0;
	}
	if (code >= OP_JUMP && code <= OP_NEXT) {
		if (code == OP_NEXT)
			*dp = s;
		if (frame_jumps(op, d, s))
			w->run.at = (uint32_t)op->imm;
		return 0;
	}
	if (code == OP_EMIT) {
		if (op->n & EMIT_REMEMBER)
			frame_remember(w, d, w->run.r[op->n & EMIT_COOKIE]);
		frame_emit(w, frames, (uint32_t)op->imm, d, op->n & EMIT_ADDRESS ? s - d : s,
			   w->run.r[op->n & EMIT_COOKIE]);
		return w->run.state != RUN_ON;
	}
	if (code >= OP_WALKER && code <= OP_STEP_SIZED)
		return FRAME_OWNER;
	if (code >= OP_LIST && code <= OP_CHAIN)
		return code == OP_LIST ? FRAME_LIST : FRAME_CHAIN;
	if (code == OP_IF_VALUE) {
		if (((uint32_t)s & frame_mask(op)) == (uint32_t)op->imm)
			w->run.at = (uint16_t)op->f[0];
		return 0;
	}
	if (code == OP_RECALL) {
		if (op->n & RECALL_REMEMBER)
			frame_remember(w, s, d);
		else if (frame_recall(w, s, dp))
			w->run.at = (uint32_t)op->imm;
		return 0;
	}
	if (code == OP_ADVANCE) {
		*dp = d + (uint64_t)(int64_t)op->imm;
		if (*dp < s)
			w->run.at = (uint16_t)op->f[0];
		return 0;
	}
	if (code >= OP_SET && code <= OP_MINUS) {
		*dp = frame_compute(op, d, s);
		return 0;
	}
	if (code == OP_DROP) {
		w->nr = w->run.nr_at_loop;
		return 0;
	}
	if (code == OP_YIELD) {
		w->run.at = (uint32_t)op->imm;
		return frame_leave(w, RUN_WAITS);
	}
	if (code == OP_END)
		return frame_leave(w, w->run.is_only ? RUN_OVER : RUN_ENDED);
	return frame_fail(w, frames, code == OP_FAIL ? (uint32_t)op->imm : RUNTIME_FAILED_PROGRAM);
}

#include "unwind/frame_list.h"
#include "unwind/frame_own.h"
#include "unwind/frame_chain.h"

/*
 * Some operations. The native walker goes on when w->run.state is no longer RUN_ON. A turn costs
 * as much as some operations do, but each of these is more work for the verifier, and there most
 * where reads may sleep: of_four, a constant, says how many there are. FRAME_LIST, FRAME_CHAIN:
 * frame_list() or frame_chain() is to be called, a function of its own where the stack of BPF
 * programs is short.
 */
UNWIND_INLINE int frame_operations(void *env, struct unwinder *w, uint64_t *frames,
				   const int of_four)
{
	const struct frame_program *p;
	int over;

	if (w->run.state != RUN_ON) {
		frame_start(env, w);
		return 0;
	}
	p = unwind_program_at(env, w->run.program);
	if (!p) {
		frame_fail(w, frames, RUNTIME_FAILED_PROGRAM);
		return 0;
	}
	if (w->run.turns++ >= PROGRAM_MAX_TURNS) {
		frame_fail(w, frames, RUNTIME_FAILED_TURNS);
		return 0;
	}
	/* PROGRAM_TURN_OPS times: compilers do not unroll a loop of this size. */
	over = frame_operation(env, w, p, frames);
	if (!over)
		over = frame_operation(env, w, p, frames);
	if (of_four && !over)
		over = frame_operation(env, w, p, frames);
	if (of_four && !over)
		over = frame_operation(env, w, p, frames);
	if (over == FRAME_OWNER)
		frame_own_operation(env, w, p, frames);
	return over == FRAME_LIST || over == FRAME_CHAIN ? over : 0;
}

/* A turn. */
UNWIND_INLINE void frame_turn(void *env, struct unwinder *w, uint64_t *frames, const int of_four)
{
	int row = frame_operations(env, w, frames, of_four);

	if (row == FRAME_LIST)
		frame_list(env, w, frames, of_four ? 4 : 1);
	else if (row == FRAME_CHAIN)
		frame_chain(env, w, frames, of_four ? 4 : 0);
}

#else

/* Memory other than the stack is not there: unless the frames are known, a mark says so. */
UNWIND_INLINE void frame_turn(void *env, struct unwinder *w, uint64_t *frames, const int of_four)
{
	uint32_t state = w->run.state;

	(void)env;
	(void)of_four;
	w->run.state = w->run.was;
	if (state == RUN_HERE) {
		w->run.here = HERE_NATIVE;
		return;
	}
#ifdef UNWIND_KNOWN_FRAMES
	if (!UNWIND_KNOWN_FRAMES(env, w, frames))
		return;
#endif
	frame_fail(w, frames, RUNTIME_FAILED_READ);
}

#endif
