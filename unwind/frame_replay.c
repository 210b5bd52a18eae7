/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/frame_replay.h"

#include <string.h>

struct unwinder;

/* Only what frame programs ask for: there are no tables. */

static int unwind_load_page(void *env, struct unwinder *w, uint64_t addr, uint64_t from);

static int unwind_read_code(void *env, struct unwinder *w, uint64_t addr)
{
	(void)env;
	(void)w;
	(void)addr;
	return 1;
}

static int unwind_thread_pointer(void *env, uint64_t *value)
{
	*value = ((const struct frame_replay_input *)env)->thread_pointer;
	return !*value;
}

static int unwind_process_slice(void *env, uint32_t tgid, uint32_t *first, uint32_t *nr)
{
	(void)env;
	(void)tgid;
	(void)first;
	(void)nr;
	return 1;
}

#define NOTHING_AT(T, name)				\
	static T name(void *env, uint32_t i)		\
	{						\
		(void)env;				\
		(void)i;				\
		return NULL;				\
	}

NOTHING_AT(const struct unwind_mapping *, unwind_mapping_at)
NOTHING_AT(const struct unwind_binary *, unwind_binary_at)
NOTHING_AT(const struct unwind_page *, unwind_page_at)
NOTHING_AT(const struct unwind_rule *, unwind_rule_at)
NOTHING_AT(uint64_t *, unwind_cache_word)

static const struct unwind_row *unwind_rows_at(void *env, uint32_t first, uint32_t nr)
{
	(void)env;
	(void)first;
	(void)nr;
	return NULL;
}

static int unwind_load_record(void *env, struct unwinder *w, uint64_t addr);
static int unwind_load_bytes(void *env, struct unwinder *w, uint64_t addr, uint32_t n);
static int unwind_load_object(void *env, struct unwinder *w, uint32_t i, uint64_t addr);

static int unwind_read_word(void *env, uint64_t addr, uint64_t *value)
{
	const struct frame_replay_input *in = env;

	return in->read(in->ctx, addr, value, sizeof(*value));
}

static const struct unwind_runtimes *unwind_runtimes_of(void *env, uint32_t tgid)
{
	/* frame_replay() fills the registers in. */
	static const struct unwind_runtimes any = {
		.slots = { { .flags = RUNTIME_IS_THERE, .bytes = UINT64_MAX } }
	};
	const struct frame_replay_input *in = env;

	(void)tgid;
	return in->runtimes ? in->runtimes : &any;
}

static const struct frame_program *unwind_program_at(void *env, uint32_t i)
{
	(void)i;
	return ((const struct frame_replay_input *)env)->program;
}

#define UNWIND_RUNTIMES
#include "unwind/unwind_step.h"

static int unwind_load_record(void *env, struct unwinder *w, uint64_t addr)
{
	const struct frame_replay_input *in = env;

	return in->read(in->ctx, addr, w->record_page, UNWIND_MEMORY_PAGE);
}

static int unwind_load_bytes(void *env, struct unwinder *w, uint64_t addr, uint32_t n)
{
	const struct frame_replay_input *in = env;

	return in->read(in->ctx, addr, w->record_page, n);
}

static int unwind_load_object(void *env, struct unwinder *w, uint32_t i, uint64_t addr)
{
	const struct frame_replay_input *in = env;

	return in->read(in->ctx, addr, w->objects.pages + i * UNWIND_MEMORY_PAGE,
			UNWIND_MEMORY_PAGE);
}

static int unwind_load_page(void *env, struct unwinder *w, uint64_t addr, uint64_t from)
{
	const struct frame_replay_input *in = env;

	return in->read(in->ctx, addr + from, w->page + from, UNWIND_MEMORY_PAGE - from);
}

/* Runs until the program leaves the generated code, or is over. */
static void run_here(void *env, struct unwinder *w, struct frame_replay_result *out)
{
	frame_ask(w, 0, w->pc);
	while (w->run.state >= RUN_ON && w->end == UNWIND_NOT_DONE)
		frame_turn(env, w, out->words, 1);
}

/* Runs until the program waits for the next loop, or is over. */
static void run_loop(void *env, struct unwinder *w, struct frame_replay_result *out)
{
	const struct frame_replay_input *in = env;
	uint32_t i = out->nr_loops;
	struct frame_loop loop = { 0, UINT64_MAX };

	if (in->loops)
		loop = in->loops[i];
	out->loop_at[out->nr_loops++] = w->nr;
	w->sp = loop.high;
	frame_begin(w, loop.low, 0);
	frame_turn(env, w, out->words, 1);
	if (!i && !in->runtimes)
		memcpy(w->run.r, in->consts, sizeof(in->consts));
	while (w->run.state == RUN_ON && w->end == UNWIND_NOT_DONE)
		frame_turn(env, w, out->words, 1);
}

void frame_replay(const struct frame_replay_input *in, struct frame_replay_result *out)
{
	size_t max = in->loops && in->nr_loops < UNWIND_MAX_FRAMES ? in->nr_loops
								   : UNWIND_MAX_FRAMES;
	const uint32_t flags = in->runtimes ? in->runtimes->slots[0].flags : 0;
	struct unwinder w;

	memset(&w, 0, sizeof(w));
	if (in->regs)
		memcpy(w.regs, in->regs, sizeof(w.regs));
	/* The memo has what another stack left: it must not be used. */
	for (int i = 0; i < FRAME_MEMO; i++) {
		w.run.memo[i].code = in->consts[0];
		w.run.memo[i].cookie = UINT64_MAX;
	}
	unwind_begin(&w, 1, UNWIND_BY_TABLES, UNWIND_MAX_FRAMES);
	out->nr_loops = 0;
	out->failure = RUNTIME_FAILED_NONE;
	if (flags & RUNTIME_OWNS_CODE)
		run_here((void *)in, &w, out);
	out->pc = w.pc;
	out->sp = w.sp;
	if (!(flags & RUNTIME_OWNS_CODE) || flags & RUNTIME_HAS_LOOPS)
		do
			run_loop((void *)in, &w, out);
		while (w.run.state == RUN_WAITS && out->nr_loops < max);
	out->nr = w.nr;
	out->end = w.end;
	out->turns = w.run.turns;
	out->pages_read = w.pages_read;
	if (w.nr >= 2 && out->words[w.nr - 2] >> UNWIND_RUNTIME_KIND_SHIFT ==
				 (UNWIND_RUNTIME >> UNWIND_RUNTIME_KIND_SHIFT |
				  RUNTIME_FRAME_MARK))
		out->failure = (uint32_t)out->words[w.nr - 1];
}
