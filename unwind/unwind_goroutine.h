/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a thread's own stack to the goroutine that it works for. Go's runtime does some work on the
 * stack of a thread ("g0"), not on the goroutine's, which is small: it grows stacks there
 * (runtime.morestack), parks goroutines (runtime.mcall) and runs what must not be stopped
 * (runtime.systemstack). These three functions keep the goroutine's registers in its struct g and
 * load the stack pointer of g0; nothing on g0's stack leads back. Go's own traceback follows the
 * thread's g, and so does this (unwinder.resolveInternal() of runtime/traceback.go):
 *
 *	thread pointer + cfa_off -> g; g.m -> m; m.curg -> the goroutine; its sched has sp, pc, bp
 *
 * The thread may be done with that goroutine already and look for another one, and m.curg is then
 * nil or the next one. So nothing is taken unless the goroutine says that it belongs to this m, and
 * the frame is the first one on the stack of m.g0. Otherwise the stack ends here, as a thread's
 * stack does. In runtime.schedule the thread has left its goroutine, and after runtime.execute
 * m.curg is the one that will run next: rules of these say so (RULE_NEXT_GOROUTINE), and nothing is
 * read. Structs of the first thread are static variables, in a page of the program's file perhaps,
 * which a scan may not read. unwind_step.h includes this file in its middle.
 *
 * Layout: struct g, m and gobuf of runtime/runtime2.go. g.m, g.sched.sp, g.sched.pc and m.g0 are
 * where they are here in Go 1.12 to 1.26; the rule has the others, which go_runtime.c finds in the
 * code.
 */
#pragma once

#define GO_G_M 0x30
#define GO_G_SCHED_SP 0x38
#define GO_G_SCHED_PC 0x40
#define GO_M_G0 0

struct unwind_goroutine {
	uint64_t g, m, g0, g0_sp, curg, curg_m, sp, pc, fp;
};

/* Follows the pointers; 0, or the error that reading gave. */
UNWIND_INLINE int unwind_read_goroutine(void *env, struct unwinder *w, const struct unwind_rule *r,
					struct unwind_goroutine *go)
{
	uint64_t thread = 0;
	int err = unwind_thread_pointer(env, &thread);

	if (!err)
		err = unwind_read(env, w, thread + r->cfa_off, &go->g);
	if (!err)
		err = unwind_read(env, w, go->g + GO_G_M, &go->m);
	if (!err)
		err = unwind_read(env, w, go->m + r->aux, &go->curg);
	if (!err)
		err = unwind_read(env, w, go->m + GO_M_G0, &go->g0);
	if (!err)
		err = unwind_read(env, w, go->g0 + GO_G_SCHED_SP, &go->g0_sp);
	if (err || !go->curg)
		return err;
	err = unwind_read(env, w, go->curg + GO_G_M, &go->curg_m);
	if (!err)
		err = unwind_read(env, w, go->curg + r->fp_off, &go->fp);
	if (!err)
		err = unwind_read(env, w, go->curg + GO_G_SCHED_PC, &go->pc);
	if (!err)
		err = unwind_read(env, w, go->curg + GO_G_SCHED_SP, &go->sp);
	return err;
}

/* Steps to the goroutine's frame. 0, or 1 when unwinding ended. */
UNWIND_INLINE int unwind_step_goroutine(void *env, struct unwinder *w, const struct unwind_rule *r)
{
	struct unwind_goroutine go = { 0 };
	uint32_t has_pc = RULE_RA(r) == RA_REG;
	int err;

	if (w->next_goroutine)
		return UNWIND_END(w, UNWIND_ROOT);
	err = unwind_read_goroutine(env, w, r, &go);
	/* Most stacks that begin in mcall() are those of threads that look for work. */
	if (err && r->reg)
		return unwind_unread(w, err == UNWIND_NOT_READ ? 1 : err, UNWIND_ROOT_GUESS);
	if (err)
		return unwind_unread(w, err, UNWIND_READ_RA);
	if (!go.curg || go.curg_m != go.m)
		return UNWIND_END(w, UNWIND_ROOT);
	/* mcall() pushes its argument there. */
	if (go.g0_sp - w->sp > 8)
		return UNWIND_END(w, has_pc ? UNWIND_ROOT : UNWIND_BAD_RULE);
	if (!has_pc) {
		err = unwind_read(env, w, go.sp, &go.pc);
		if (err)
			return unwind_unread(w, err, UNWIND_READ_RA);
		go.sp += 8;
	}
	if (!go.pc)
		return UNWIND_END(w, UNWIND_RA_ZERO);
	w->pc = go.pc;
	w->sp = go.sp;
	w->fp = go.fp;
	unwind_found_caller(w, 0);
	return 0;
}
