/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers and changed stack memory of a sample that user space unwinds again: the kernel's side
 * of the mirrors (struct wire_delta). A record that the ring refuses leaves user space behind; then
 * each page is sent whole when it comes up next.
 */
#pragma once

#include "bpf/stack_dump.bpf.h"

#define DELTA_FRAMES_BYTES ((UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL) * 8)
#define DELTA_BLOCK_WORDS (WIRE_BLOCK / 8)
#define DELTA_PART_BYTES (knobs.part_pages * UNWIND_MEMORY_PAGE)
#define DELTA_MIRROR_BYTES (2 * DELTA_PART_BYTES)
/* So many pages in a row that cannot be read are the end of the stack. */
#define DELTA_MAX_HOLE 16
#define DELTA_MAX_STACK (1ull << 30)	/* bytes; beyond that it is none */

/*
 * A mirror. What the loops change is here and not on the stack, where the verifier would go
 * through all values.
 */
struct delta_state {
	uint64_t page[WIRE_PAGE_BLOCKS * DELTA_BLOCK_WORDS];	/* of the stack, as it is now */
	uint64_t stale;			/* bit of each page of the mirror that user space lacks */
	uint64_t page_stale;		/* of these: the page that is compared, or 0 */
	uint32_t from;			/* byte of that page with which comparing begins */
	uint32_t page_at;		/* its byte in the mirror */
	uint32_t block;			/* number of its first block, counted from the start */
	uint32_t used;			/* bytes behind the record's head */
	uint32_t most;			/* bytes of blocks in this record */
	uint32_t last_page;		/* the last one that could be read */
	uint32_t number;
	uint32_t busy;
	uint64_t sp;
	uint32_t first;			/* page of the part: 0 or WIRE_PART_PAGES */
	uint32_t pad;
	/*
	 * The record: behind its head DELTA_MIRROR_BYTES for blocks and DELTA_FRAMES_BYTES. Then
	 * comes the mirror, and with it the map's values end: they are shorter where parts are.
	 */
	struct wire_delta record;
	uint8_t behind[2 * WIRE_BLOCKS * WIRE_BLOCK + DELTA_FRAMES_BYTES];
};


/*
 * Mirrors are shared by CPUs like the slots of dump_scratch. The stack of another CPU's thread
 * differs in more blocks, and that is all.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* set by user space */
	__type(key, uint32_t);
	__type(value, struct delta_state);
} delta_states SEC(".maps");

struct delta_loop {
	struct delta_state *d;
};

/* The block of the mirror that byte at is in. */
static __always_inline uint64_t *mirror_at(struct delta_state *d, uint32_t at)
{
	return (uint64_t *)(d->behind + DELTA_MIRROR_BYTES + DELTA_FRAMES_BYTES +
			    (at & (DELTA_MIRROR_BYTES - WIRE_BLOCK)));
}

/*
 * Compares block i of the page that was read. 1: there is no room for more. No global function: the
 * map's values may be shorter than struct delta_state.
 */
static long compare_block(uint32_t i, struct delta_loop *l)
{
	struct delta_state *d = l->d;
	uint32_t at = (i & (WIRE_PAGE_BLOCKS - 1)) * WIRE_BLOCK, block, used = d->used;
	uint64_t *now = d->page + at / 8, differs = d->page_stale;
	uint64_t *was = mirror_at(d, d->page_at + at);

	if (at < d->from)
		return 0;
#pragma unroll
	for (int k = 0; k < DELTA_BLOCK_WORDS; k++) {
		differs |= now[k] ^ was[k];
		/*
		 * Word by word, or the compiler loads many first, for which it needs stack: kernels
		 * allow a chain of calls 512 bytes.
		 */
		asm volatile("" : "+r"(differs));
	}
	if (!differs)
		return 0;
	if (used > DELTA_MIRROR_BYTES - WIRE_BLOCK)
		return 1;
	bpf_probe_read_kernel(was, WIRE_BLOCK, now);
	bpf_probe_read_kernel(d->behind + used, WIRE_BLOCK, now);
	d->used = used + WIRE_BLOCK;
	block = d->block + i;
	d->record.changed[block / 64 & (WIRE_BLOCKS / 64 - 1)] |= 1ull << (block & 63);
	return 0;
}

static long compare_page(uint32_t in_part, struct delta_loop *l)
{
	struct delta_state *d = l->d;
	uint32_t i, from = 0, place;
	uint64_t addr;

	if (d->used > d->most - UNWIND_MEMORY_PAGE)
		return 1;
	i = d->first + in_part;
	addr = (d->first ? d->record.outer : d->record.start) + in_part * UNWIND_MEMORY_PAGE;
	place = (d->first ? knobs.part_pages : 0) |
		((uint32_t)(addr / UNWIND_MEMORY_PAGE) & (knobs.part_pages - 1));
	d->page_at = place * UNWIND_MEMORY_PAGE;
	d->page_stale = d->stale >> (place & (WIRE_DELTA_PAGES - 1)) & 1;
	/* Below the stack pointer is nothing that unwinding needs. */
	if (!i && !d->page_stale)
		from = d->sp & (UNWIND_MEMORY_PAGE - WIRE_BLOCK);
	if (bpf_probe_read_user((uint8_t *)d->page + from, UNWIND_MEMORY_PAGE - from,
				(void *)(addr + from)))
		return in_part - d->last_page >= DELTA_MAX_HOLE;
	d->last_page = in_part;
	d->from = from;
	d->block = i * WIRE_PAGE_BLOCKS;
	bpf_loop(WIRE_PAGE_BLOCKS, compare_block, l, 0);
	d->stale &= ~(1ull << (place & (WIRE_DELTA_PAGES - 1)));
	d->record.absent &= ~(1ull << (i & (WIRE_DELTA_PAGES - 1)));
	d->record.bytes = (i + 1) * UNWIND_MEMORY_PAGE;
	return 0;
}


/*
 * The highest address of the current thread's stack, or one that has nothing to do with it: then
 * the pages around it are of no use. The C libraries put a thread's own data there, and the main
 * thread's stack is known to the kernel.
 */
static __always_inline uint64_t stack_top(struct task_struct *task, uint64_t sp)
{
#if defined(__TARGET_ARCH_x86)
	uint64_t top = task->thread.fsbase;

	if (top > sp && top - sp < DELTA_MAX_STACK)
		return top;
#endif
	/*
	 * Not task->mm: where a pointer is loaded from a trusted one, the verifier searches all
	 * types of the kernel, and it comes here in many states.
	 */
	return BPF_CORE_READ(task, mm, start_stack);
}

/* Compares the outermost pages, those that the first part does not have. */
static __always_inline void compare_outer(struct delta_loop *l)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct delta_state *d = l->d;
	uint64_t top = stack_top(task, d->sp), end = d->record.start + DELTA_PART_BYTES;
	uint64_t outer = (top | (UNWIND_MEMORY_PAGE - 1)) + 1 - DELTA_PART_BYTES;

	if (top < end || top - d->sp >= DELTA_MAX_STACK)
		return;
	d->record.outer = outer < end ? end : outer;
	d->last_page = 0;
	d->first = WIRE_PART_PAGES;
	bpf_loop(knobs.part_pages, compare_page, l, 0);
}

/* Puts the frames behind the blocks. The number of bytes to hand out; 0: there is no record. */
static __always_inline uint32_t finish_delta(struct gather *g, struct delta_state *d)
{
	uint32_t nr = g->head.nr_user + g->head.nr_kernel, used = d->used;

	if (nr > UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL || used > DELTA_MIRROR_BYTES)
		return 0;
	bpf_probe_read_kernel(&d->record.head, sizeof(d->record.head), &g->head);
	bpf_probe_read_kernel(d->record.regs, sizeof(g->unwinder.regs), g->unwinder.regs);
	bpf_probe_read_kernel(d->behind + used, nr * 8, g->frames);
	return sizeof(d->record) + used + nr * 8;
}

/*
 * Fills the record of a mirror from g. ring_bytes: those that wait in the ring. The number of
 * bytes to hand out; 0: there is none.
 */
static __always_inline uint32_t gather_delta(struct gather *g, struct delta_state *d,
					      uint32_t mirror, uint64_t ring_bytes)
{
	struct delta_loop loop = { .d = d };

	d->sp = g->unwinder.regs[ARCH_REG_SP];
	d->first = 0;
	d->used = 0;
	d->number++;
	d->record.start = d->sp & ~(uint64_t)(UNWIND_MEMORY_PAGE - 1);
	d->record.bytes = 0;
	d->record.number = d->number;
	d->record.part_pages = knobs.part_pages;
	d->record.mirror = mirror;
	d->record.outer = 0;
	d->record.absent = WIRE_ALL_PAGES;
	d->last_page = 0;
	d->most = ring_bytes > knobs.ring_room / 4 ? WIRE_DELTA_BYTES : DELTA_MIRROR_BYTES;
	__builtin_memset(d->record.changed, 0, sizeof(d->record.changed));
	bpf_loop(knobs.part_pages, compare_page, &loop, 0);
	compare_outer(&loop);
	return d->record.bytes ? finish_delta(g, d) : 0;
}

/* The record was not handed out: user space's mirror is not known to be the same any more. */
static __always_inline void delta_was_lost(struct delta_state *d)
{
	d->stale = WIRE_ALL_PAGES;
}
