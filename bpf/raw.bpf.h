/*
 * Registers and stack memory of a thread, for stacks that user space unwinds (again): where a walk ended because the
 * process, the mapping or the table was not known yet, and for --audit.
 */
#pragma once

#include "bpf/stack.bpf.h"

struct raw_stack {
	struct wire_raw w;
	uint8_t memory[WIRE_RAW_PAGES * WALK_PAGE];
};

_Static_assert(WIRE_RAW_FRAMES * 8 == sizeof(((struct gather *)0)->frames), "frames are copied as a whole");

/* Too big for a per-CPU map: one each by number, and behind them one for each reader of the walk over the tasks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* set by user space */
	__type(key, uint32_t);
	__type(value, struct raw_stack);
} raw_scratch SEC(".maps");

/* What more knowledge would have helped; asked after the walk. */
static __always_inline bool ended_too_early(const struct gather *g)
{
	uint8_t end = g->head.end;

	return end == WALK_NO_PROCESS || end == WALK_NO_MAPPING || end == WALK_NO_TABLE;
}

/* nr counts user stacks: every knobs.audit-th is kept. */
static __always_inline uint16_t raw_flags(const struct gather *g, uint64_t nr)
{
	uint16_t flags = 0;

	if (knobs.audit && stack_was_walked(g) && !(nr % knobs.audit))
		flags = WIRE_RAW | WIRE_AUDIT;
	if (knobs.late && ended_too_early(g))
		flags |= WIRE_RAW;
	return flags;
}

struct raw_loop {
	struct raw_stack *raw;
	struct env *env;
	uint64_t start;
	uint64_t why;			/* the end that a page asked for, as in walk_load_page() */
};

static __always_inline long copy_page(uint32_t i, struct raw_loop *l, bool sleepable)
{
	uint32_t at = i * WALK_PAGE;
	uint8_t *to;
	long err;

	if (at > (WIRE_RAW_PAGES - 1) * WALK_PAGE)
		return 1;
	to = l->raw->memory + at;
	if (sleepable)
		err = load_task_page(l->env->g, l->env->task, to, l->start + at);
	else
		err = bpf_probe_read_user(to, WALK_PAGE, (void *)(l->start + at)) ? 1 : 0;
	if (err) {
		l->why = err;
		return 1;
	}
	l->raw->w.bytes = at + WALK_PAGE;
	return 0;
}

static long copy_page_nofault(uint32_t i, struct raw_loop *l)
{
	return copy_page(i, l, false);
}

static long copy_page_sleepable(uint32_t i, struct raw_loop *l)
{
	return copy_page(i, l, true);
}

typedef long (*copy_page_fn)(uint32_t i, struct raw_loop *l);

/*
 * Fills the scratch from g; the number of bytes to hand out, 0: it cannot be. Where nothing of the stack may be read that
 * is the end, not what the walk did not know yet.
 */
static __always_inline uint32_t gather_raw(struct gather *g, struct env *e, struct raw_stack *raw, uint32_t nr_pages,
					   copy_page_fn copy)
{
	struct raw_loop loop = { .raw = raw, .env = e, .start = g->walk.regs[ARCH_REG_SP] & ~(uint64_t)(WALK_PAGE - 1) };

	raw->w.start = loop.start;
	raw->w.bytes = 0;
	bpf_loop(nr_pages, copy, &loop, 0);
	if (!raw->w.bytes && loop.why > 1) {
		g->head.end = loop.why;
		return 0;
	}
	bpf_probe_read_kernel(&raw->w.head, sizeof(raw->w.head) + sizeof(raw->w.frames), &g->head);
	bpf_probe_read_kernel(raw->w.regs, sizeof(g->walk.regs), g->walk.regs);
	return raw->w.bytes > sizeof(raw->memory) ? 0 : sizeof(raw->w) + raw->w.bytes;
}
