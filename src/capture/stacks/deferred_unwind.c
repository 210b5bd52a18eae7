/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/deferred_unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/capture/stacks/code_pages.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/capture/tables/unwind_slices.h"
#include "src/capture/stacks/wire_decode.h"

struct unwinder;

struct deferred_unwind {
	struct unwind_loader *loader;
	const struct binaries *binaries;
	struct unwind_loader_view tables;
	struct code_pages *code;		/* NULL: no code is read */
	const struct process *process;	/* whose stack is unwound, */
	uint64_t time_ns;		/* as of when */
	struct code_wait wait;		/* for code that was met */
	uint32_t mode, max_frames;
	struct unwind_mapping found;	/* what UNWIND_SEARCH() has found last */
	const struct wire_stack *stack;
	bool is_cut;			/* the last page asked for is beyond the memory kept */
	bool is_elsewhere;		/* that page is below the memory, or its place unknown */
	uint64_t frames[UNWIND_MAX_FRAMES];
};

static int unwind_load_page(void *env, struct unwinder *w, uint64_t addr, uint64_t from);

/* Reads code from the process: a dump holds stack memory and no code. */
static int unwind_read_code(void *env, struct unwinder *w, uint64_t addr);

/*
 * The stretch of a mapping that holds addr, as the kernel's side would read it. The mappings are
 * those that the process had at that time; one that became known later counts as well, if no other
 * one was known at its address then.
 */
static bool stretch_at(const struct deferred_unwind *w, uint64_t addr, uint64_t time_ns,
		       struct unwind_mapping *to)
{
	const struct mapping *m = process_find_mapping(w->process, addr, time_ns);

	return m && unwind_slices_stretch_at(to, w->process, m,
					     binaries_get(w->binaries, m->binary), addr);
}

static int search(void *env, uint64_t pc, const struct unwind_mapping **mp)
{
	struct deferred_unwind *w = env;

	if (!stretch_at(w, pc, w->time_ns, &w->found))
		return UNWIND_NO_MAPPING;
	*mp = &w->found;
	return 0;
}

#define UNWIND_SEARCH(env, w, pc, mp) search(env, pc, mp)

static const struct unwind_binary *unwind_binary_at(void *env, uint32_t i)
{
	return unwind_loader_place(((struct deferred_unwind *)env)->loader, i);
}

static const struct unwind_page *unwind_page_at(void *env, uint32_t i)
{
	const struct unwind_loader_view *v = &((struct deferred_unwind *)env)->tables;

	return i < v->nr_pages ? &v->pages[i] : NULL;
}

static const struct unwind_row *unwind_rows_at(void *env, uint32_t first, uint32_t nr)
{
	return unwind_loader_rows(((struct deferred_unwind *)env)->loader, first, nr);
}

static const struct unwind_rule *unwind_rule_at(void *env, uint32_t i)
{
	return i < UNWIND_MAX_RULES ? &((struct deferred_unwind *)env)->tables.rules[i] : NULL;
}

static uint64_t *unwind_cache_word(void *env, uint32_t i)
{
	(void)env;
	(void)i;
	return NULL;
}

/* What it leads to is not in the stack's memory; a scan can visit the thread again. */
static int unwind_thread_pointer(void *env, uint64_t *value)
{
	(void)value;
	((struct deferred_unwind *)env)->is_cut = true;
	((struct deferred_unwind *)env)->is_elsewhere = true;
	return 1;
}

static int copy_known_frames(struct deferred_unwind *l, struct unwinder *w, uint64_t *frames);
static int has_known_frames(const struct deferred_unwind *l, const struct unwinder *w,
			    const uint64_t *frames);
#define UNWIND_KNOWN_FRAMES(env, w, frames) copy_known_frames(env, w, frames)
#define FRAME_IS_LOOP(env, w, frames, pc) has_known_frames(env, w, frames)
#include "unwind/unwind_step.h"

/* Whether what came has the frame, too, that was just stored, and a word behind it. */
static bool is_same_frame(const struct deferred_unwind *l, const struct unwinder *w,
			  const uint64_t *frames)
{
	uint32_t i = w->nr;

	return i && i < l->stack->head->nr_user &&
	       !((l->stack->user[i - 1] ^ frames[i - 1]) & UNWIND_ADDRESS_MASK);
}

static int has_known_frames(const struct deferred_unwind *l, const struct unwinder *w,
			    const uint64_t *frames)
{
	return is_same_frame(l, w, frames) && l->stack->user[w->nr] & UNWIND_RUNTIME;
}

/*
 * Frames of a runtime lie in memory that did not come with the stack, but the kernel's side may
 * have found them before it met what it could not unwind. Those of the loop whose native frame was
 * just stored follow that frame in what came. 0, or 1: the kernel's side did not get so far.
 */
static int copy_known_frames(struct deferred_unwind *l, struct unwinder *w, uint64_t *frames)
{
	const uint64_t *known = l->stack->user;
	uint32_t i = w->nr, nr = l->stack->head->nr_user;

	if (!is_same_frame(l, w, frames))
		return 1;
	for (; i + 1 < nr && known[i] & UNWIND_RUNTIME; i += 2)
		frame_put(w, frames, known[i], known[i + 1]);
	return 0;
}

static bool is_generated(const struct deferred_unwind *w, uint64_t addr)
{
	struct unwind_mapping m;

	return stretch_at(w, addr, w->time_ns, &m) && m.flags & UNWIND_MAP_GENERATED;
}

/*
 * Code made at run time is read from the process, if it still lives. That is anonymous memory, or
 * was when the mapping was last looked at. Code in mapped files is not read.
 */
static int unwind_read_code(void *env, struct unwinder *w, uint64_t addr)
{
	struct deferred_unwind *l = env;

	if (!l->code || !is_generated(l, addr) || !is_generated(l, addr + sizeof(w->code) - 1))
		return 1;
	return code_pages_get(l->code, l->process, addr, w->code, sizeof(w->code),
			      l->stack->head->time_ns, &l->wait) != 0;
}

/* The byte number at of the memory, and those behind it up to the end of its block. */
static const uint8_t *memory_at(const struct wire_stack *s, uint64_t at)
{
	return s->memory ? s->memory + at : s->blocks[at / WIRE_BLOCK] + at % WIRE_BLOCK;
}

static int unwind_load_page(void *env, struct unwinder *w, uint64_t addr, uint64_t from)
{
	struct deferred_unwind *l = env;
	const struct wire_stack *s = l->stack;
	uint64_t at = wire_stack_at(s, addr);

	l->is_cut = addr >= s->start && at == UINT64_MAX;
	l->is_elsewhere = addr < s->start && at == UINT64_MAX;
	if (at == UINT64_MAX)
		return 1;
	for (size_t i = from / WIRE_BLOCK * WIRE_BLOCK; i < UNWIND_MEMORY_PAGE; i += WIRE_BLOCK)
		memcpy((uint8_t *)w->page + i, memory_at(s, at + i), WIRE_BLOCK);
	return 0;
}

int deferred_unwind_new(struct unwind_loader *loader, const struct binaries *bs, uint32_t mode,
			uint32_t max_frames, struct deferred_unwind **wp)
{
	struct deferred_unwind *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->loader = loader;
	w->binaries = bs;
	w->mode = mode;
	w->max_frames = max_frames;
	unwind_loader_view(loader, &w->tables);
	*wp = w;
	return 0;
}

void deferred_unwind_set_code(struct deferred_unwind *w, struct code_pages *code)
{
	w->code = code;
}

void deferred_unwind_free(struct deferred_unwind *w)
{
	free(w);
}

/*
 * The address whose mapping or rule was missing: of the last frame, or with --unwind fp of the
 * first one for which a table was asked in vain.
 */
static uint64_t where_it_lacks(const struct unwinder *u)
{
	if (u->leaf_end)
		return u->leaf_pc;
	return u->exact ? u->pc : u->pc - 1;
}

static uint32_t page_of(uint64_t pc, uint64_t bias)
{
	return (uint32_t)((pc - bias) >> UNWIND_PAGE_SHIFT);
}

uint32_t deferred_unwind_page_at(const struct deferred_unwind *w, const struct process *p,
				 uint64_t pc, uint64_t time_ns, uint32_t *page)
{
	const struct mapping *m = process_find_mapping(p, pc, time_ns);
	struct unwind_mapping map;

	if (!m || !m->binary)
		return 0;
	unwind_slices_mapping(&map, m, binaries_get(w->binaries, m->binary));
	*page = page_of(pc, map.bias);
	return m->binary;
}

bool deferred_unwind_lacks(uint32_t end)
{
	return end == UNWIND_NO_PROCESS || end == UNWIND_NO_MAPPING || end == UNWIND_NO_TABLE;
}

static uint8_t what_it_lacks(const struct unwinder *w)
{
	if (deferred_unwind_lacks(w->end))
		return (uint8_t)w->end;
	return deferred_unwind_lacks(w->leaf_end) ? (uint8_t)w->leaf_end : 0;
}

void deferred_unwind(struct deferred_unwind *w, const struct process *p,
		    const struct wire_stack *stack, struct deferred_unwind_result *out)
{
	struct unwinder unwinder;

	w->time_ns = stack->head->time_ns;
	w->stack = stack;
	w->is_cut = w->is_elsewhere = false;
	w->process = p;
	w->wait = (struct code_wait){ 0 };
	memcpy(unwinder.regs, stack->regs, sizeof(unwinder.regs));
	unwind_begin(&unwinder, p->tgid, w->mode, w->max_frames);
	for (uint32_t i = 0; i < UNWIND_MAX_STEPS; i++)
		if (unwind_step(w, &unwinder, w->frames))
			break;
	*out = (struct deferred_unwind_result){
		.frames = w->frames,
		.nr = unwinder.nr,
		.end = (uint8_t)unwinder.end,
		.guessed = unwinder.saw_guess,
		.is_cut = w->is_cut &&
			  (unwinder.end == UNWIND_READ_RA || unwinder.end == UNWIND_READ_FP),
		.is_elsewhere = unwinder.run.state == RUN_OVER ||
				(w->is_elsewhere && (unwinder.end == UNWIND_READ_RA ||
						     unwinder.end == UNWIND_READ_FP ||
						     unwinder.end == UNWIND_ROOT_GUESS)),
		.pc = where_it_lacks(&unwinder),
		.lacks = what_it_lacks(&unwinder),
		.leaf_guessed = unwinder.leaf_end,
		.wants_code = unwinder.wants_code,
		.wait = w->wait,
	};
	if (out->lacks == UNWIND_NO_TABLE)
		out->binary = unwinder.map_binary;
	out->page = page_of(out->pc, unwinder.map_bias);
}

/* Who is told of the pages. */
struct hint {
	void (*fn)(void *ctx, uint32_t binary, uint32_t page);
	void *ctx;
};

/* Looks at one page, from byte at on. */
static void hints_of_page(struct deferred_unwind *w, uint64_t at, const struct hint *hint)
{
	uint64_t word, end = (at | (UNWIND_MEMORY_PAGE - 1)) + 1;
	const struct process *p = w->process;
	struct unwind_mapping m;

	for (; at < end; at += sizeof(word)) {
		memcpy(&word, memory_at(w->stack, at), sizeof(word));
		if (word < p->maps[0].start || word > p->maps[p->nr_live - 1].end)
			continue;
		word = arch_strip(word) - 1;
		/* Mappings that have ended are not tried: there may be many for each word. */
		if (stretch_at(w, word, TIME_NEVER - 1, &m) && m.binary)
			hint->fn(hint->ctx, m.binary, page_of(word, m.bias));
	}
}

void deferred_unwind_hints(struct deferred_unwind *w,
			   void (*fn)(void *ctx, uint32_t binary, uint32_t page), void *ctx)
{
	const struct hint hint = { fn, ctx };
	const struct wire_stack *s = w->stack;
	uint64_t sp = (s->regs[ARCH_REG_SP] + 7) & ~7ull;

	for (uint64_t at = 0; at < s->bytes && w->process->nr_live; at += UNWIND_MEMORY_PAGE) {
		if (s->absent >> at / UNWIND_MEMORY_PAGE & 1)
			continue;
		hints_of_page(w, !at && sp - s->start < UNWIND_MEMORY_PAGE ? sp - s->start : at,
			      &hint);
	}
}

void deferred_unwind_look_at(void *ctx, const struct process *p)
{
	struct deferred_unwind *w = ctx;

	w->process = p;
	w->time_ns = now_ns();
}

enum code_place deferred_unwind_look_up(void *ctx, uint64_t addr, struct unwind_rule *rule)
{
	struct deferred_unwind *w = ctx;
	const struct unwind_rule *r;
	struct unwinder unwinder = { .map_begin = 1 };
	uint32_t number;

	*rule = (struct unwind_rule){ .cfa = CFA_NONE };
	if (unwind_find_mapping(w, &unwinder, addr))
		return PLACE_NO_CODE;
	if (!unwind_find_rule(w, &unwinder, addr, &number)) {
		r = unwind_rule_at(w, number);
		*rule = r ? *r : *rule;
	}
	return !unwinder.map_binary || unwinder.map_flags & UNWIND_MAP_GENERATED ? PLACE_GENERATED
										: PLACE_FILE;
}
