/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers and stack memory of a thread, for stacks that user space unwinds again: where unwinding
 * ended because the process, the mapping or the table was not known yet, and for --audit.
 */
#pragma once

#include "bpf/stack.bpf.h"

struct stack_dump {
	uint32_t busy, pad;
	struct wire_dump w;
	uint8_t memory[WIRE_DUMP_PAGES * UNWIND_MEMORY_PAGE];
};

_Static_assert(WIRE_DUMP_FRAMES * 8 == sizeof(((struct gather *)0)->frames),
	       "frames are copied as a whole");

#define STACK_DUMP_BYTES (sizeof(struct wire_dump) + WIRE_DUMP_PAGES * UNWIND_MEMORY_PAGE)

/*
 * An entry is too big for a per-CPU map. Each purpose has knobs.shared_slots of them, because a run
 * may be interrupted by another kind of program: one for each CPU, but not more than 64. Where
 * there are more CPUs, several share one, and who finds it busy does without. Few stacks need one:
 * those that come before the tables of their binaries, within the first tenths of a second. Each
 * reader of scans has an entry of its own.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* set by user space */
	__type(key, uint32_t);
	__type(value, struct stack_dump);
} dump_scratch SEC(".maps");

/* The slot of this CPU, or of run number i. */
static __always_inline uint32_t shared_slot(uint32_t i)
{
	return i % knobs.shared_slots;
}

/* Whether user space is to unwind the stack again. */
static __always_inline bool is_deferred(const struct gather *g)
{
	return knobs.deferred &&
	       (is_early(g->head.end) || g->head.flags & (WIRE_LEAF | WIRE_WANTS_CODE));
}

/* The WIRE_ flags of a dump; 0: none is wanted. Every knobs.audit-th user stack (nr) is kept. */
static __always_inline uint16_t dump_flags(const struct gather *g, uint64_t nr)
{
	uint16_t flags = is_deferred(g) ? WIRE_DUMP : 0;

	if (knobs.audit && stack_was_unwound(g) && !(nr % knobs.audit))
		flags = WIRE_DUMP | WIRE_AUDIT;
	return flags;
}

struct dump_loop {
	struct stack_dump *dump;
	struct env *env;
	uint64_t start;
	/* Why a page could not be read, as unwind_load_page() says it. */
	uint64_t why;
};

static __always_inline long copy_page(uint32_t i, struct dump_loop *l, bool sleepable)
{
	uint32_t at = i * UNWIND_MEMORY_PAGE;
	uint8_t *to;
	long err;

	if (at > (WIRE_DUMP_PAGES - 1) * UNWIND_MEMORY_PAGE)
		return 1;
	to = l->dump->memory + at;
	if (sleepable)
		err = copy_task_memory(l->env->g, l->env->task, to, l->start + at,
				     UNWIND_MEMORY_PAGE);
	else
		err = bpf_probe_read_user(to, UNWIND_MEMORY_PAGE, (void *)(l->start + at)) ? 1 : 0;
	if (err) {
		l->why = err;
		return 1;
	}
	l->dump->w.bytes = at + UNWIND_MEMORY_PAGE;
	return 0;
}

static long copy_page_nofault(uint32_t i, struct dump_loop *l)
{
	return copy_page(i, l, false);
}

static long copy_page_sleepable(uint32_t i, struct dump_loop *l)
{
	return copy_page(i, l, true);
}

typedef long (*copy_page_fn)(uint32_t i, struct dump_loop *l);

/*
 * Fills the dump from g. The number of bytes to hand out; 0: there is no dump. If no page of the
 * stack may be read, then the reason for that becomes the end of the stack, since unwinding again
 * is of no use.
 */
static __always_inline uint32_t gather_dump(struct gather *g, struct env *e,
					    struct stack_dump *dump, uint32_t nr_pages,
					    copy_page_fn copy)
{
	struct dump_loop loop = { .dump = dump,
				  .env = e,
				  .start = g->unwinder.regs[ARCH_REG_SP] &
					   ~(uint64_t)(UNWIND_MEMORY_PAGE - 1) };

	dump->w.start = loop.start;
	dump->w.bytes = 0;
	bpf_loop(nr_pages, copy, &loop, 0);
	if (!dump->w.bytes && loop.why > 1) {
		g->head.end = loop.why;
		return 0;
	}
	bpf_probe_read_kernel(&dump->w.head, sizeof(dump->w.head) + sizeof(dump->w.frames),
			      &g->head);
	bpf_probe_read_kernel(dump->w.regs, sizeof(g->unwinder.regs), g->unwinder.regs);
	return dump->w.bytes > sizeof(dump->memory) ? 0 : sizeof(dump->w) + dump->w.bytes;
}
