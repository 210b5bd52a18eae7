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

struct delta_record {
	struct wire_delta w;
	uint8_t behind[WIRE_BLOCKS * WIRE_BLOCK + DELTA_FRAMES_BYTES];
};

/*
 * State of a CPU. What the loops change is here and not on the stack, where the verifier would go
 * through all values.
 */
struct delta_state {
	uint64_t mirror[WIRE_BLOCKS * DELTA_BLOCK_WORDS];
	uint64_t page[WIRE_PAGE_BLOCKS * DELTA_BLOCK_WORDS];	/* of the stack, as it is now */
	struct delta_record record;
	uint64_t stale;			/* bit of each page of the mirror that user space lacks */
	uint64_t page_stale;		/* of these: the page that is compared, or 0 */
	uint32_t from;			/* octet of that page with which comparing begins */
	uint32_t page_at;		/* its octet in the mirror */
	uint32_t block;			/* number of its first block, counted from the start */
	uint32_t used;			/* octets behind the record's head */
	uint32_t number;
};

/* An entry for each CPU, by its number: too big for a per-CPU map. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* set by user space */
	__type(key, uint32_t);
	__type(value, struct delta_state);
} delta_states SEC(".maps");

struct delta_loop {
	struct delta_state *d;
	uint64_t start, sp;
};

static long compare_block(uint32_t i, struct delta_loop *l)
{
	struct delta_state *d = l->d;
	uint32_t at = (i & (WIRE_PAGE_BLOCKS - 1)) * WIRE_BLOCK, block, used = d->used;
	uint64_t *now = d->page + at / 8, differs = d->page_stale;
	uint64_t *was = d->mirror + ((d->page_at + at) & (WIRE_BLOCKS * WIRE_BLOCK - 1)) / 8;

	if (at < d->from)
		return 0;
#pragma unroll
	for (int k = 0; k < DELTA_BLOCK_WORDS; k++)
		differs |= now[k] ^ was[k];
	if (!differs)
		return 0;
	if (used > (WIRE_BLOCKS - 1) * WIRE_BLOCK)
		return 1;
	bpf_probe_read_kernel(was, WIRE_BLOCK, now);
	bpf_probe_read_kernel(d->record.behind + used, WIRE_BLOCK, now);
	d->used = used + WIRE_BLOCK;
	block = d->block + i;
	d->record.w.changed[block / 64 & (WIRE_BLOCKS / 64 - 1)] |= 1ull << (block & 63);
	return 0;
}

static long compare_page(uint32_t i, struct delta_loop *l)
{
	struct delta_state *d = l->d;
	uint64_t addr = l->start + i * UNWIND_MEMORY_PAGE, bit;
	uint32_t from = 0;

	d->page_at = wire_mirror_at(addr);
	bit = 1ull << (d->page_at / UNWIND_MEMORY_PAGE & (WIRE_DUMP_PAGES - 1));
	d->page_stale = d->stale & bit;
	/* Below the stack pointer is nothing that unwinding needs. */
	if (!i && !d->page_stale)
		from = l->sp & (UNWIND_MEMORY_PAGE - WIRE_BLOCK);
	if (bpf_probe_read_user((uint8_t *)d->page + from, UNWIND_MEMORY_PAGE - from,
				(void *)(addr + from)))
		return 1;
	d->from = from;
	d->block = i * WIRE_PAGE_BLOCKS;
	bpf_loop(WIRE_PAGE_BLOCKS, compare_block, l, 0);
	d->stale &= ~bit;
	d->record.w.bytes = (i + 1) * UNWIND_MEMORY_PAGE;
	return 0;
}

/* Puts the frames behind the blocks. The number of octets to hand out; 0: there is no record. */
static __always_inline uint32_t finish_delta(struct gather *g, struct delta_state *d)
{
	uint32_t nr = g->head.nr_user + g->head.nr_kernel, used = d->used;

	if (nr > UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL || used > WIRE_BLOCKS * WIRE_BLOCK)
		return 0;
	bpf_probe_read_kernel(&d->record.w.head, sizeof(d->record.w.head), &g->head);
	bpf_probe_read_kernel(d->record.w.regs, sizeof(g->unwinder.regs), g->unwinder.regs);
	bpf_probe_read_kernel(d->record.behind + used, nr * 8, g->frames);
	return sizeof(d->record.w) + used + nr * 8;
}

/* Fills the record of this CPU from g. The number of octets to hand out; 0: there is none. */
static __always_inline uint32_t gather_delta(struct gather *g, struct delta_state *d)
{
	struct delta_loop loop = { .d = d, .sp = g->unwinder.regs[ARCH_REG_SP] };

	loop.start = loop.sp & ~(uint64_t)(UNWIND_MEMORY_PAGE - 1);
	d->used = 0;
	d->number++;
	d->record.w.start = loop.start;
	d->record.w.bytes = 0;
	d->record.w.number = d->number;
	d->record.w.changed[0] = 0;
	d->record.w.changed[1] = 0;
	bpf_loop(WIRE_DUMP_PAGES, compare_page, &loop, 0);
	return d->record.w.bytes ? finish_delta(g, d) : 0;
}

/* The record was not handed out: user space's mirror is not known to be the same any more. */
static __always_inline void delta_was_lost(struct delta_state *d)
{
	d->stale = (1ull << WIRE_DUMP_PAGES) - 1;
}
