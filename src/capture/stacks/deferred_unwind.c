/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/deferred_unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
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
	const struct process *process;	/* whose stack is unwound */
	struct code_wait wait;		/* for code that was met */
	uint32_t mode, max_frames;
	struct unwind_mapping *maps;
	size_t nr_maps, cap_maps;
	const struct wire_stack *stack;
	bool is_cut;			/* the last page asked for is beyond the memory kept */
	bool is_elsewhere;		/* that page is below the memory, or its place unknown */
	uint64_t frames[UNWIND_MAX_FRAMES];
};

static int unwind_load_page(void *env, struct unwinder *w, uint64_t addr);

/* Reads code from the process: a dump holds stack memory and no code. */
static int unwind_read_code(void *env, struct unwinder *w, uint64_t addr);

static int unwind_process_slice(void *env, uint32_t tgid, uint32_t *first, uint32_t *nr)
{
	(void)tgid;
	*first = 0;
	*nr = (uint32_t)((struct deferred_unwind *)env)->nr_maps;
	return 0;
}

static const struct unwind_mapping *unwind_mapping_at(void *env, uint32_t i)
{
	struct deferred_unwind *w = env;

	return i < w->nr_maps ? &w->maps[i] : NULL;
}

static const struct unwind_binary *unwind_binary_at(void *env, uint32_t i)
{
	return i < UNWIND_MAX_BINARIES ? &((struct deferred_unwind *)env)->tables.binaries[i]
				       : NULL;
}

static const struct unwind_page *unwind_page_at(void *env, uint32_t i)
{
	return i < UNWIND_MAX_PAGES ? &((struct deferred_unwind *)env)->tables.pages[i] : NULL;
}

static const struct unwind_row *unwind_rows_at(void *env, uint32_t first)
{
	return unwind_loader_rows(((struct deferred_unwind *)env)->loader, first);
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

/* The mapping that holds addr; NULL: none. */
static const struct unwind_mapping *mapping_of(const struct deferred_unwind *w, uint64_t addr)
{
	size_t after = bisect(w->nr_maps, i, w->maps[i].begin <= addr);

	return after && addr < w->maps[after - 1].end ? &w->maps[after - 1] : NULL;
}

static bool is_generated(const struct deferred_unwind *w, uint64_t addr)
{
	const struct unwind_mapping *m = mapping_of(w, addr);

	return m && m->flags & UNWIND_MAP_GENERATED;
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

/* The octet number at of the memory, and those behind it up to the end of its block. */
static const uint8_t *memory_at(const struct wire_stack *s, uint64_t at)
{
	return s->memory ? s->memory + at : s->blocks[at / WIRE_BLOCK] + at % WIRE_BLOCK;
}

static int unwind_load_page(void *env, struct unwinder *w, uint64_t addr)
{
	struct deferred_unwind *l = env;
	const struct wire_stack *s = l->stack;
	uint64_t at = wire_stack_at(s, addr);

	l->is_cut = addr >= s->start && at == UINT64_MAX;
	l->is_elsewhere = addr < s->start && at == UINT64_MAX;
	if (at == UINT64_MAX)
		return 1;
	for (size_t i = 0; i < UNWIND_MEMORY_PAGE; i += WIRE_BLOCK)
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
	if (!w)
		return;
	free(w->maps);
	free(w);
}

static int by_begin(const void *a, const void *b)
{
	const struct unwind_mapping *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/*
 * The mappings that p had at that time. A mapping that became known later counts as well, if no
 * other one was known at its address then.
 */
static int take_mappings(struct deferred_unwind *w, const struct process *p, uint64_t time_ns)
{
	w->nr_maps = 0;
	for (size_t i = 0; i < p->nr_maps; i++) {
		const struct mapping *m = &p->maps[i];
		const struct binary *b = binaries_get(w->binaries, m->binary);

		/* It cannot be this one, which is quickly seen: there may be many. */
		if (m->died_ns != TIME_NEVER && (m->born_ns > time_ns || time_ns >= m->died_ns))
			continue;
		if (process_find_mapping(p, m->start, time_ns) != m)
			continue;
		if (array_reserve(&w->maps, &w->cap_maps,
				  w->nr_maps + unwind_slices_stretches(NULL, p, m, b)))
			return -ENOMEM;
		w->nr_maps += unwind_slices_stretches(w->maps + w->nr_maps, p, m, b);
	}
	qsort(w->maps, w->nr_maps, sizeof(*w->maps), by_begin);
	return 0;
}

/*
 * The page of its binary's table in which the rule is that was missing: of the last frame, or with
 * --unwind fp of the first one for which a table was asked in vain.
 */
static uint32_t page_of(const struct unwinder *u)
{
	uint64_t pc = u->exact ? u->pc : u->pc - 1;

	if (u->leaf_end)
		pc = u->leaf_pc;
	return (uint32_t)((pc - u->map_bias) >> UNWIND_PAGE_SHIFT);
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

int deferred_unwind(struct deferred_unwind *w, const struct process *p,
		    const struct wire_stack *stack, struct deferred_unwind_result *out)
{
	struct unwinder unwinder;
	int err = take_mappings(w, p, stack->head->time_ns);

	if (err)
		return err;
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
		.page = page_of(&unwinder),
		.lacks = what_it_lacks(&unwinder),
		.leaf_guessed = unwinder.leaf_end,
		.wants_code = unwinder.wants_code,
		.wait = w->wait,
	};
	if (out->lacks == UNWIND_NO_TABLE)
		out->binary = unwinder.map_binary;
	return 0;
}

/* Who is told of the pages. */
struct hint {
	void (*fn)(void *ctx, uint32_t binary, uint32_t page);
	void *ctx;
};

/* Looks at one page, from octet at on. */
static void hints_of_page(struct deferred_unwind *w, uint64_t at, const struct hint *hint)
{
	uint64_t word, end = (at | (UNWIND_MEMORY_PAGE - 1)) + 1;

	for (; at < end; at += sizeof(word)) {
		const struct unwind_mapping *m;

		memcpy(&word, memory_at(w->stack, at), sizeof(word));
		if (word < w->maps[0].begin || word > w->maps[w->nr_maps - 1].end)
			continue;
		word = arch_strip(word) - 1;
		m = mapping_of(w, word);
		if (m && m->binary)
			hint->fn(hint->ctx, m->binary,
				 (uint32_t)((word - m->bias) >> UNWIND_PAGE_SHIFT));
	}
}

void deferred_unwind_hints(struct deferred_unwind *w,
			   void (*fn)(void *ctx, uint32_t binary, uint32_t page), void *ctx)
{
	const struct hint hint = { fn, ctx };
	const struct wire_stack *s = w->stack;
	uint64_t sp = (s->regs[ARCH_REG_SP] + 7) & ~7ull;

	for (uint64_t at = 0; at < s->bytes && w->nr_maps; at += UNWIND_MEMORY_PAGE) {
		if (s->absent >> at / UNWIND_MEMORY_PAGE & 1)
			continue;
		hints_of_page(w, !at && sp - s->start < UNWIND_MEMORY_PAGE ? sp - s->start : at,
			      &hint);
	}
}

int deferred_unwind_look_at(void *ctx, const struct process *p)
{
	return take_mappings(ctx, p, now_ns());
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
