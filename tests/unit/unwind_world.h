/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small world for the walker: a binary of virtual addresses VADDR .. VADDR_END mapped at TEXT, a
 * stack of four pages, and a hole in it where a test wants one. Other mappings: JIT is anonymous
 * code, BARE a file without a table, PENDING one whose table is not there yet.
 *
 *	row(w, vaddr, rule) ...		the table, by ascending address
 *	poke(w, addr, value) ...	the stack
 *	code(w, addr, bytes...)	machine code in BARE, JIT or at VADDR_CODE; all nop at first, unknown unless has_code
 *	start(w, pc, sp, fp)		registers; others are w->regs[]
 *	expect(w, UNWIND_ROOT, frames...)	walks and compares
 *
 * The includer has included cmocka. world_setup and world_teardown are fixtures.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "unwind/host_unwind.h"

#include ARCH_HEADER

#define VADDR 0x1000ull
#define VADDR_END 0x41000ull
#define VADDR_CODE 0x2000ull
#define TEXT 0x5500000000ull
#define JIT 0x6600000000ull
#define BARE 0x6700000000ull
#define PENDING 0x6800000000ull
#define OTHER_BYTES 0x10000ull
#define STACK 0x7ff000000000ull
#define STACK_BYTES (4 * 4096ull)
#define REG 3 /* some DWARF register that is neither the stack nor the frame pointer */

#define RA UNWIND_RETURN_ADDRESS
#define GUESS (UNWIND_RETURN_ADDRESS | UNWIND_GUESSED)

struct world {
	struct cfi_row rows[32];
	struct cfi_rows cfi;
	struct unwind_table *table;
	uint64_t stack[STACK_BYTES / 8];
	uint64_t hole;			/* page that cannot be read */
	int hole_code;
	uint8_t bare[4096], jit[4096];
	uint8_t text[4096];		/* at VADDR_CODE */
	bool has_code;
	uint64_t regs[ARCH_NR_REGS], thread_pointer;
	uint32_t mode, max_frames;
	uint64_t frames[UNWIND_MAX_FRAMES];
	uint32_t nr, end, reads;
	const struct frame_program *program;	/* NULL, or those of runtimes */
	uint64_t consts[PROGRAM_CONSTS];
	uint32_t runtime_flags;
	struct unwind_heap heaps[PROGRAM_HEAPS];
	uint32_t nr_programs;		/* 0: one, of the above; else they are of: */
	struct unwind_runtimes runtimes;
	struct unwind_memo memo;	/* used by all of them */
	struct unwind_memo_key key;
};

static inline int world_setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	w->mode = UNWIND_BY_TABLES | UNWIND_BY_FRAME_POINTERS;
	w->hole_code = 1;
	w->cfi.v = w->rows;
	memset(w->bare, 0x90, sizeof(w->bare));
	memset(w->jit, 0x90, sizeof(w->jit));
	*state = w;
	return 0;
}

static inline int world_teardown(void **state)
{
	struct world *w = *state;

	unwind_table_free(w->table);
	test_free(w);
	return 0;
}

/* Address of a virtual address of the binary. */
static inline uint64_t at(uint64_t vaddr)
{
	return TEXT + (vaddr - VADDR);
}

static inline void row(struct world *w, uint64_t vaddr, struct unwind_rule rule)
{
	assert_true(w->cfi.nr < 32);
	w->rows[w->cfi.nr++] = (struct cfi_row){ vaddr, rule };
}

static inline void poke(struct world *w, uint64_t addr, uint64_t value)
{
	assert_true(addr >= STACK && addr < STACK + STACK_BYTES && addr % 8 == 0);
	w->stack[(addr - STACK) / 8] = value;
}

static inline uint8_t *code_at(struct world *w, uint64_t addr, size_t nr)
{
	uint64_t text = TEXT + VADDR_CODE - VADDR, offset;
	uint8_t *base = addr - JIT < OTHER_BYTES ? w->jit
			: addr - text < 4096	 ? w->text
						 : w->bare;

	offset = addr - (base == w->jit ? JIT : base == w->text ? text : BARE);

	return offset < sizeof(w->jit) && nr <= sizeof(w->jit) - offset ? base + offset : NULL;
}

#define code(w, addr, ...) put_code((w), (addr), (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static inline void put_code(struct world *w, uint64_t addr, const uint8_t *bytes, size_t nr)
{
	assert_non_null(code_at(w, addr, nr));
	memcpy(code_at(w, addr, nr), bytes, nr);
	w->has_code = true;
}

static inline void start(struct world *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	w->regs[ARCH_REG_PC] = pc;
	w->regs[ARCH_REG_SP] = sp;
	w->regs[ARCH_REG_FP] = fp;
}

static inline int read_page(void *ctx, uint64_t addr, uint8_t page[4096])
{
	struct world *w = ctx;

	assert_int_equal(addr % 4096, 0);
	w->reads++;
	if (w->hole && addr == w->hole)
		return w->hole_code;
	if (w->has_code && addr == JIT) {
		memcpy(page, w->jit, sizeof(w->jit));
		return 0;
	}
	if (addr < STACK || addr >= STACK + STACK_BYTES)
		return 1;
	memcpy(page, (const uint8_t *)w->stack + (addr - STACK), 4096);
	return 0;
}

static inline int read_code(void *ctx, uint64_t addr, uint8_t bytes[16])
{
	struct world *w = ctx;
	const uint8_t *from = w->has_code ? code_at(w, addr, 16) : NULL;

	if (!from)
		return 1;
	memcpy(bytes, from, 16);
	return 0;
}

/* The same stack, once without and twice with what the last one has left: that must not show. */
static inline void go_with_memo(struct world *w, struct host_unwind_input *in)
{
	static uint64_t frames[UNWIND_MAX_FRAMES];
	uint32_t reads = w->reads, nr;

	in->memo = &w->memo;
	w->key.mappings = 1;
	w->key.tables++;
	in->memo_key = w->key;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(host_unwind(in, frames, &nr), w->end);
		assert_int_equal(nr, w->nr);
		assert_memory_equal(frames, w->frames, nr * sizeof(*frames));
	}
	w->reads = reads;
}

/* Walks over what was set up; tables are made anew each time. */
static inline void go(struct world *w)
{
	struct host_mapping maps[] = {
		{ at(VADDR), at(VADDR_END), VADDR - TEXT, NULL, .is_file = 1 },
		{ .begin = JIT, .end = JIT + OTHER_BYTES },
		{ BARE, BARE + OTHER_BYTES, 0x1000 - BARE, NULL, .is_file = 1, .has_no_table = 1 },
		{ PENDING, PENDING + OTHER_BYTES, 0x1000 - PENDING, NULL, .is_file = 1 },
	};
	struct host_unwind_input in = {
		.regs = w->regs,
		.mappings = maps,
		.nr_mappings = sizeof(maps) / sizeof(maps[0]),
		.mode = w->mode,
		.max_frames = w->max_frames,
		.read_page = read_page,
		.read_code = read_code,
		.ctx = w,
		.thread_pointer = w->thread_pointer,
		.runtimes = w->program ? &w->runtimes : NULL,
		.programs = w->program,
		.nr_programs = w->nr_programs ? w->nr_programs : 1,
	};
	struct unwind_runtime *only = &w->runtimes.slots[0];

	if (!w->nr_programs) {
		*only = (struct unwind_runtime){ .flags = w->runtime_flags | RUNTIME_IS_THERE,
						 .bytes = UINT64_MAX };
		memcpy(only->consts, w->consts, sizeof(w->consts));
		memcpy(only->heaps, w->heaps, sizeof(w->heaps));
	}
	unwind_table_free(w->table);
	w->table = NULL;
	assert_int_equal(unwind_table_build(&w->cfi, VADDR, VADDR_END, &w->table), 0);
	maps[0].table = w->table;
	memset(w->frames, 0xee, sizeof(w->frames));
	w->reads = 0;
	w->end = host_unwind(&in, w->frames, &w->nr);
	go_with_memo(w, &in);
}

#define expect(w, why, ...) expect_frames((w), (why), (const uint64_t[]){ __VA_ARGS__ }, \
					  sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

static inline void expect_frames(struct world *w, uint32_t end, const uint64_t *frames, size_t nr)
{
	go(w);
	assert_int_equal(w->nr, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(w->frames[i], frames[i]);
	assert_int_equal(w->end, end);
}

/* 0x2000: the function under test (a test adds its row), 0x3000: its caller, 0x4000: outermost. */
static inline void outer_rows(struct world *w)
{
	row(w, 0x3000, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 32 });
	row(w, 0x4000, (struct unwind_rule){ .cfa = CFA_ROOT });
	row(w, 0x5000, (struct unwind_rule){ .cfa = CFA_NONE });
}

/* Return address of the 0x3000 function when its stack pointer is sp. */
static inline void outer_frame(struct world *w, uint64_t sp)
{
	poke(w, sp + 24, at(0x4010));
}
