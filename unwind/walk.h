/*
 * One step outwards: from a frame's registers to its caller's. Freestanding: the same code runs in the BPF
 * programs (bpf/stack.bpf.h) and on the host (unwind/host_walk.c), so what is tested is what the kernel runs.
 *
 * The includer defines, before including this file, how to reach memory and tables. env is the includer's; the
 * functions must be inlined; pointers they return are valid until the next call:
 *
 *	int walk_load_page(env, w, addr)		copy the aligned 4 KiB of user memory at addr to w->page:
 *							0, or the code the walk ends with (WALK_BUSY) or 1
 *	int walk_read_code(env, w, addr)		copy 16 octets of code at addr to w->code: 0, or 1: unknown
 *	int walk_process(env, tgid, &first, &nr)	the process's slice of the mappings: 0 or 1
 *	const struct unwind_mapping *walk_mapping(env, i)
 *	const struct unwind_binary *walk_binary(env, i)
 *	const struct unwind_page *walk_page(env, i)
 *	const struct unwind_row *walk_rows(env, first)	base of the slab that holds row number first
 *	const struct unwind_rule *walk_rule(env, i)
 *	uint64_t *walk_cache(env, i)			word i of the rule cache, or NULL
 *
 * It may also define WALK_LOOK_UP(env, w, pc) and WALK_PROLOGUE_MASK(code, next) as calls of functions that do the same as
 * those named below: the kernel's verifier looks at a global function once, and at others on each way that leads there.
 *
 * walk_begin() takes the registers, walk_step() is called until it returns 1 (at most WALK_MAX_STEPS times).
 * Frames come out innermost first; w->end says why the walk ended.
 */
#pragma once

#include <stdint.h>

#include ARCH_HEADER
#include "unwind/row.h"
#include "unwind/walk_limits.h"

struct walk {
	uint64_t pc, sp, fp;		/* of the frame being unwound */
	uint64_t signal_context;	/* user address of the registers interrupted last; 0: regs holds them */
	uint64_t interrupted_sp;	/* sp among them */
	uint64_t page_addr;		/* user address of page[]; 1: none */
	uint64_t map_begin, map_end, map_bias;	/* mapping used last; empty at first */
	uint32_t map_page0, map_nr_pages, map_binary;
	uint32_t tgid;
	uint32_t nr;			/* frames so far */
	uint32_t end;			/* enum walk_end */
	uint32_t exact;			/* pc is the very instruction, not a return address */
	uint32_t flags_next;		/* top half of the WALK_ flags for the next frame */
	uint32_t mode, max_frames;
	uint32_t saw_guess, pages_read;
	uint32_t guess;			/* enum walk_guess: 0, or what is being tried for this frame */
	uint32_t guess_end;		/* how the walk ends when nothing is found */
	uint64_t scan_at, scan_prev;	/* what is looked at next, and the stack word below it */
	uint32_t scan_left, scan_budget;	/* steps: for this frame, for this walk */
	int64_t frame_bytes;		/* from arch_prologue_at() */
	uint64_t code[2];		/* from walk_read_code() */
	uint64_t regs[ARCH_NR_REGS];	/* the kernel's saved user registers */
	uint8_t page[WALK_PAGE];
};

/* Not aligned, so nothing is ever read through it; and not 0, which ends a chain. */
#define WALK_LOST_FP 1

/* Reads both halves of a struct unwind_binary at once. */
typedef uint64_t __attribute__((may_alias)) walk_word;

#define WALK_INLINE static inline __attribute__((always_inline))

#ifndef WALK_LOOK_UP
#define WALK_LOOK_UP walk_find_other_mapping
#define WALK_PROLOGUE_MASK arch_prologue_mask
#endif

#define WALK_END(w, code) ({ (w)->end = (code); 1; })

/*
 * A field of a rule read again. What the verifier knows of the one read before, as it went one way or another, it would
 * carry through all that follows, and look at that once for each way.
 */
#define WALK_ANEW(x) (*(const volatile typeof(x) *)&(x))

/* Starts a walk at w->regs. */
WALK_INLINE void walk_begin(struct walk *w, uint32_t tgid, uint32_t mode, uint32_t max_frames)
{
	w->pc = w->regs[ARCH_REG_PC];
	w->sp = w->regs[ARCH_REG_SP];
	w->fp = w->regs[ARCH_REG_FP];
	w->signal_context = 0;
	w->interrupted_sp = w->sp;
	w->page_addr = 1;
	w->map_begin = 1;
	w->map_end = 0;
	w->tgid = tgid;
	w->nr = 0;
	w->end = WALK_NOT_DONE;
	w->exact = 1;
	w->flags_next = 0;
	w->mode = mode;
	w->max_frames = max_frames;
	w->saw_guess = 0;
	w->pages_read = 0;
	w->guess = 0;
	w->scan_budget = WALK_SCAN_TOTAL;
}

/* Reads one aligned word of user memory through the page kept in w: a page costs what a word costs. */
WALK_INLINE int walk_read(void *env, struct walk *w, uint64_t addr, uint64_t *value)
{
	uint64_t page = addr & ~(uint64_t)(WALK_PAGE - 1);

	if (addr & 7)
		return 1;
	if (page != w->page_addr) {
		int err = walk_load_page(env, w, page);

		w->pages_read++;
		w->page_addr = page | (uint32_t)err;	/* no page's address when it could not be read */
		if (err)
			return err;
	}
	*value = *(uint64_t *)(w->page + (addr & (WALK_PAGE - 8)));
	return 0;
}

/* Ends the walk at a word that could not be read: with code, or with what the memory itself said (WALK_BUSY). */
WALK_INLINE int walk_unread(struct walk *w, int err, int code)
{
	return WALK_END(w, err > 1 ? err : code);
}

/* Finds the mapping that holds pc and keeps it in w. 0 or an end code. */
WALK_INLINE int walk_find_other_mapping(void *env, struct walk *w, uint64_t pc)
{
	const struct unwind_mapping *m;
	const struct unwind_binary *b;
	uint32_t first = 0, nr = 0;
	uint64_t place;

	if (walk_process(env, w->tgid, &first, &nr))
		return WALK_NO_PROCESS;
	if (!nr)
		return WALK_NO_MAPPING;
	for (int i = 0; i < 14 && nr > 1; i++) {
		uint32_t half = nr / 2;

		m = walk_mapping(env, first + half);
		if (!m)
			return WALK_BUG;
		if (m->begin <= pc)
			first += half;
		nr -= half;
	}
	m = walk_mapping(env, first);
	if (!m)
		return WALK_BUG;
	if (pc < m->begin || pc >= m->end)
		return WALK_NO_MAPPING;
	w->map_begin = m->begin;
	w->map_end = m->end;
	w->map_bias = m->bias;
	w->map_binary = m->binary;
	b = walk_binary(env, w->map_binary);
	place = b ? *(const volatile walk_word *)b : 0;
	w->map_page0 = (uint32_t)place;
	w->map_nr_pages = place >> 32;
	return 0;
}

/* The same, but first a look at the one that is kept. */
WALK_INLINE int walk_find_mapping(void *env, struct walk *w, uint64_t pc)
{
	return pc >= w->map_begin && pc < w->map_end ? 0 : WALK_LOOK_UP(env, w, pc);
}

/*
 * Last row of rows[b .. b + nr - 1] that starts at or before key; nr >= 1. Without branches: a branchy search in a
 * frame loop makes the verifier's work explode.
 */
WALK_INLINE uint32_t walk_search(const struct unwind_row *rows, uint32_t b, uint32_t nr, uint32_t key)
{
	for (int i = 0; i < 17; i++) {
		uint32_t half, mid;
		int64_t before;

		if (nr <= 1)
			break;
		half = nr >> 1;
		mid = (b + half) & (WALK_SLAB_ROWS - 1);
		before = (int64_t)rows[mid].pc_lo - (int64_t)key - 1;
		b += half & (uint32_t)(before >> 63);
		nr -= half;
	}
	return b & (WALK_SLAB_ROWS - 1);
}

/* Number of the rule in force at pc, inside the mapping kept in w. 0 or an end code. */
WALK_INLINE int walk_find_rule(void *env, struct walk *w, uint64_t pc, uint32_t *rule)
{
	uint64_t rel = pc - w->map_bias, tag;
	uint64_t index = rel >> UNWIND_PAGE_SHIFT;
	uint32_t k = w->map_page0 + (uint32_t)index, key = rel & 0xffff, nr, b;
	const struct unwind_page *page;
	const struct unwind_row *rows;
	uint64_t *word;

	if (!w->map_nr_pages)
		return !w->map_binary ? WALK_JIT : w->map_page0 == WALK_TABLE_NEVER ? WALK_NO_FDE : WALK_NO_TABLE;
	if (index >= w->map_nr_pages)
		return WALK_NO_FDE;

	/* One 64-bit load or store, so a torn entry cannot be seen: page:32 | pc_lo:16 | rule:16. */
	tag = (uint64_t)k << 32 | (uint64_t)key << 16;
	word = walk_cache(env, ((uint32_t)(rel >> 1) ^ (uint32_t)(rel >> 13) ^ k * 0x9e37u) & (WALK_CACHE_WORDS - 1));
	if (word) {
		uint64_t hit = *(volatile uint64_t *)word;

		if ((hit & ~0xffffull) == tag) {
			*rule = hit & 0xffff;
			return 0;
		}
	}
	page = walk_page(env, k);
	if (!page)
		return WALK_BUG;
	nr = page->nr;
	*rule = page->carry;
	if (nr) {
		b = page->first;
		rows = walk_rows(env, b);
		if (!rows)
			return WALK_BUG;
		b &= WALK_SLAB_ROWS - 1;
		if (rows[b].pc_lo <= key)
			*rule = rows[walk_search(rows, b, nr, key)].rule;
	}
	if (word)
		*(volatile uint64_t *)word = tag | *rule;
	return 0;
}

/* A register as it was at the interrupted instruction. */
WALK_INLINE int walk_interrupted_register(void *env, struct walk *w, uint32_t dwarf, uint64_t *value)
{
	uint32_t i;

	if (dwarf > ARCH_DWARF_REGS_MASK)
		return 1;
	dwarf &= ARCH_DWARF_REGS_MASK;
	if (w->signal_context) {
		i = arch_dwarf_to_signal[dwarf];
		return walk_read(env, w, w->signal_context + i * 8, value);
	}
	i = arch_dwarf_to_reg[dwarf];
	if (i >= ARCH_NR_REGS)
		return 1;
	*value = w->regs[i];
	return 0;
}

/* w is now a frame that was found through a return address. */
WALK_INLINE void walk_found_caller(struct walk *w, int guessed)
{
	w->exact = 0;
	w->flags_next = (uint32_t)((guessed ? WALK_RETURN_ADDRESS | WALK_GUESSED : WALK_RETURN_ADDRESS) >> 32);
	if (guessed)
		w->saw_guess = 1;
}

#include "unwind/walk_guess.h"

/*
 * One step by the frame pointer: 0, or the code the walk ends with. check: in code that has no table, between frames
 * that may have one; code is why there is none, and the answer when the frame pointer is not believable. Without check
 * (--unwind fp) the chain is followed as it is, and nothing says whether its end is the stack's.
 */
WALK_INLINE int walk_step_fp(void *env, struct walk *w, int code, const int check)
{
	uint64_t fp = w->fp, next = 0, ra = 0;
	int at_zero = check ? WALK_ROOT_GUESS : WALK_FP_END;
	int err;

	if (!fp)
		return w->nr > 1 ? at_zero : code;
	if (fp < w->sp || (check && fp - w->sp > WALK_MAX_GUESS_BYTES))
		return check ? code : WALK_FP_END;
	err = walk_read(env, w, fp, &next);
	if (!err)
		err = walk_read(env, w, fp + 8, &ra);
	if (err)
		return err > 1 ? err : check ? code : WALK_READ_RA;
	ra = arch_strip(ra);
	if (!ra)
		return at_zero;
	if (check && walk_find_mapping(env, w, ra - 1))
		return code;
	w->pc = ra;
	w->sp = fp + 16;
	w->fp = next;
	walk_found_caller(w, check);
	return 0;
}

/* The registers that a signal interrupted, from the ucontext above the trampoline. */
WALK_INLINE int walk_step_signal(void *env, struct walk *w)
{
	uint64_t context = w->sp + ARCH_SIGNAL_CONTEXT, pc = 0, sp = 0, fp = 0;
	int err = walk_read(env, w, context + ARCH_SIGNAL_PC * 8, &pc);

	if (!err)
		err = walk_read(env, w, context + ARCH_SIGNAL_SP * 8, &sp);
	if (!err)
		err = walk_read(env, w, context + ARCH_SIGNAL_FP * 8, &fp);
	if (err)
		return walk_unread(w, err, WALK_READ_RA);
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->signal_context = context;
	w->interrupted_sp = sp;
	w->exact = 1;
	w->flags_next = 0;
	return 0;
}

/*
 * The register that a CFA counts from: known in a frame that was interrupted, or further out if the callee keeps it. In a
 * callee that has not pushed it yet, or has popped it, the place where it is pushed lies below the interrupted stack pointer
 * and the register holds it.
 */
WALK_INLINE int walk_base_register(void *env, struct walk *w, const struct unwind_rule *r, uint32_t kind, uint64_t *value)
{
	uint64_t slot = w->sp + r->aux;

	if ((kind == CFA_KEPT_REG) == !!w->exact)
		return 1;
	if (kind == CFA_KEPT_REG && slot >= w->interrupted_sp)
		return walk_read(env, w, slot, value);
	return walk_interrupted_register(env, w, r->reg, value);
}

/* Canonical frame address by the rule: 0, or the code that ends the walk. */
WALK_INLINE int walk_cfa(void *env, struct walk *w, const struct unwind_rule *r, uint32_t kind, uint64_t *cfa)
{
	uint64_t base = w->sp;
	int err = 0;

	if (kind == CFA_SP) {
		*cfa = base + r->cfa_off;
		return 0;
	}
	if (kind == CFA_PLT) {
		*cfa = base + 8 + ((w->pc & 15) >= (uint32_t)r->aux ? 8 : 0);
		return 0;
	}
	if (kind == CFA_FP || kind == CFA_DEREF_FP || kind == CFA_OTHER_STACK || kind == CFA_HANDLER)
		base = w->fp;
	else if (kind == CFA_REG || kind == CFA_DEREF_REG || kind == CFA_KEPT_REG)
		err = walk_base_register(env, w, r, kind, &base);
	if (err)
		return err > 1 ? err : WALK_BAD_RULE;
	base += r->cfa_off;
	if (kind == CFA_DEREF_SP || kind == CFA_DEREF_FP || kind == CFA_DEREF_REG || kind == CFA_HANDLER) {
		err = walk_read(env, w, base, &base);
		if (err)
			return err > 1 ? err : WALK_READ_RA;
		base += r->aux;
	}
	if (kind == CFA_KEPT_REG && base - w->sp > WALK_MAX_KEPT_BYTES)
		return WALK_BAD_RULE;
	*cfa = base;
	return 0;
}

/* One step by a rule of the table. */
WALK_INLINE int walk_step_rule(void *env, struct walk *w, const struct unwind_rule *r, uint32_t kind)
{
	uint64_t cfa = 0, fp = w->fp, ra = 0;
	uint32_t fp_kind, ra_kind;
	int err = walk_cfa(env, w, r, kind, &cfa);

	if (err)
		return WALK_END(w, err);
	fp_kind = WALK_ANEW(r->fp);
	/* The saved frame pointer lies below the return address: reading it first keeps the page. */
	if (fp_kind == FP_CFA || fp_kind == FP_DEREF_FP) {
		uint64_t at = (fp_kind == FP_CFA ? cfa : w->fp) + r->fp_off;

		err = walk_read(env, w, at, &fp);
		if (err)
			return walk_unread(w, err, WALK_READ_FP);
	} else if (fp_kind == FP_UNDEFINED) {
		fp = WALK_LOST_FP;
	}
	ra_kind = WALK_ANEW(r->ra) & RULE_RA_MASK;
	if (ra_kind == RA_REG)
		err = w->exact ? walk_interrupted_register(env, w, r->reg, &ra) : 1;
	else
		err = walk_read(env, w, cfa + (ra_kind == RA_CFA_OFF ? r->aux : ARCH_RA_CFA_OFF), &ra);
	if (err)
		return walk_unread(w, err, ra_kind == RA_REG ? WALK_BAD_RULE : WALK_READ_RA);
	ra = arch_strip(ra);
	/*
	 * What a new coroutine finds where others have a return address. Behind a guess it is a sign that that was wrong; of an
	 * interrupted frame, that it was just changing stacks.
	 */
	if (!ra)
		return WALK_END(w, w->exact || w->saw_guess || r->ra & RULE_GUESSED ? WALK_RA_ZERO : WALK_ROOT_GUESS);
	/* Only a frame that was interrupted may have pushed nothing yet: anything else would loop. */
	if (cfa <= w->sp && !w->exact && WALK_ANEW(r->cfa) != CFA_OTHER_STACK)
		return WALK_END(w, WALK_SP_BACK);
	w->pc = ra;
	w->sp = cfa;
	w->fp = fp;
	walk_found_caller(w, r->ra & RULE_GUESSED);
	if (r->ra & RULE_EXACT) {
		w->exact = 1;
		w->flags_next = 0;
	}
	return 0;
}

/* Begins to guess the caller of the frame in w. */
WALK_INLINE void walk_begin_guess(struct walk *w, int code)
{
	w->guess_end = code;
	w->guess = w->exact ? GUESS_LEAF : walk_guess_after_leaf(w);
}

/* A step by the frame pointer, in code without unwind information or because nothing else is wanted. */
WALK_INLINE int walk_guess_fp(void *env, struct walk *w)
{
	const uint32_t code = w->guess_end;

	w->guess = GUESS_NOTHING;
	w->guess_end = w->mode & WALK_TABLES ? walk_step_fp(env, w, code, 1) : walk_step_fp(env, w, code, 0);
	if (!w->guess_end)
		return 0;
	/* clone's code ends its FDE before the call: in a new thread nothing is on the stack yet. */
	if (w->exact && w->guess_end == WALK_NO_FDE && arch_is_new_task(w->regs))
		w->guess_end = WALK_ROOT_GUESS;
	/* In code made at run time the frame pointer may be anything, 0 too. */
	if (code != WALK_JIT || (w->guess_end != WALK_JIT && w->guess_end != WALK_ROOT_GUESS))
		return WALK_END(w, w->guess_end);
	w->guess = GUESS_STACK;
	w->scan_at = w->sp;
	w->scan_prev = 0;
	w->scan_left = WALK_SCAN_GAP;
	return 0;
}

/* Stores the current frame and moves to its caller, unless that must be guessed: then w->guess is set. */
WALK_INLINE int walk_step_known(void *env, struct walk *w, uint64_t *frames)
{
	uint32_t n = w->nr, rule = 0, kind;
	const struct unwind_rule *r;
	uint64_t pc;
	int code;

	if (n >= WALK_MAX_FRAMES || n >= w->max_frames)
		return WALK_END(w, WALK_TRUNCATED);
	frames[n & (WALK_MAX_FRAMES - 1)] = (w->pc & WALK_ADDRESS_MASK) | (uint64_t)w->flags_next << 32;
	w->nr = n + 1;

	if (!(w->mode & WALK_TABLES)) {
		walk_begin_guess(w, WALK_FP_END);
		return 0;
	}
	pc = w->exact ? w->pc : w->pc - 1;
	code = walk_find_mapping(env, w, pc);
	if (code)
		return WALK_END(w, code);
	code = walk_find_rule(env, w, pc, &rule);
	if (code == WALK_BUG || code == WALK_NO_TABLE)
		return WALK_END(w, code);
	kind = CFA_NONE;
	r = 0;
	if (!code) {
		r = walk_rule(env, rule);
		if (!r)
			return WALK_END(w, WALK_BUG);
		kind = r->cfa;
		code = WALK_NO_FDE;
	}
	if (kind == CFA_NONE) {
		if (!(w->mode & WALK_FRAME_POINTERS))
			return WALK_END(w, code);
		walk_begin_guess(w, code);
		return 0;
	}
	if (kind == CFA_ROOT)
		return WALK_END(w, r->ra & RULE_GUESSED ? WALK_ROOT_GUESS : WALK_ROOT);
	if (kind == CFA_SIGNAL)
		return walk_step_signal(env, w);
	if (kind == CFA_UNSUPPORTED)
		return WALK_END(w, WALK_BAD_RULE);
	return walk_step_rule(env, w, r, kind);
}

/* One step: each kind has its own way through here, so that the verifier's work is a sum and not a product. */
WALK_INLINE int walk_step(void *env, struct walk *w, uint64_t *frames)
{
	if (w->guess == GUESS_LEAF)
		return walk_leaf(env, w);
	if (w->guess == GUESS_PROLOGUE)
		return walk_search_prologue(env, w);
	if (w->guess == GUESS_IS_PROLOGUE)
		return walk_is_prologue(env, w);
	if (w->guess == GUESS_FRAME_SIZE)
		return walk_by_frame_size(env, w);
	if (w->guess == GUESS_STACK)
		return walk_scan(env, w);
	if (w->guess == GUESS_NOTHING && walk_step_known(env, w, frames))
		return 1;
	return w->guess == GUESS_FRAME_POINTER ? walk_guess_fp(env, w) : 0;
}
