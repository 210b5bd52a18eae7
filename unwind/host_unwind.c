/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/host_unwind.h"

#include <stddef.h>
#include <string.h>

struct unwinder;

/*
 * Gives the caller's tables the numbering of the kernel side: the number of a mapping is also that
 * of its binary and its slab, so every table may keep its own numbers.
 */
struct host_env {
	const struct host_unwind_input *in;
	const struct host_mapping *current;
	struct unwind_mapping mapping;
	struct unwind_binary binary;
	struct unwind_page page;
};

static int unwind_load_page(void *env, struct unwinder *w, uint64_t addr, uint64_t from);
static int unwind_read_code(void *env, struct unwinder *w, uint64_t addr);

static int unwind_thread_pointer(void *env, uint64_t *value)
{
	*value = ((struct host_env *)env)->in->thread_pointer;
	return !*value;
}

static int unwind_process_slice(void *env, uint32_t tgid, uint32_t *first, uint32_t *nr)
{
	(void)tgid;
	*first = 0;
	*nr = (uint32_t)((struct host_env *)env)->in->nr_mappings;
	return 0;
}

static const struct unwind_mapping *unwind_mapping_at(void *env, uint32_t i)
{
	struct host_env *e = env;
	const struct host_mapping *m = &e->in->mappings[i];

	if (i >= e->in->nr_mappings)
		return NULL;
	e->current = m;
	e->mapping = (struct unwind_mapping){
		.begin = m->begin,
		.end = m->end,
		.bias = (m->table ? m->table->vaddr_lo : 0) - m->to_vaddr,
		.binary = m->is_file,
	};
	return &e->mapping;
}

static const struct unwind_binary *unwind_binary_at(void *env, uint32_t i)
{
	struct host_env *e = env;
	const struct unwind_table *t = e->current->table;

	(void)i;
	e->binary = (struct unwind_binary){ 0, t ? t->nr_pages : 0 };
	if (e->current->has_no_table || (t && !t->nr_pages))
		e->binary.page0 = UNWIND_TABLE_NEVER;
	return &e->binary;
}

static const struct unwind_page *unwind_page_at(void *env, uint32_t i)
{
	struct host_env *e = env;

	return i < e->current->table->nr_pages ? &e->current->table->pages[i] : NULL;
}

static const struct unwind_row *unwind_rows_at(void *env, uint32_t first, uint32_t nr)
{
	struct host_env *e = env;

	(void)nr;
	return e->current->table->rows + (first & ~(UNWIND_SLAB_ROWS - 1));
}

static const struct unwind_rule *unwind_rule_at(void *env, uint32_t i)
{
	struct host_env *e = env;

	return i < e->current->table->nr_rules ? &e->current->table->rules[i] : NULL;
}

static uint64_t *unwind_cache_word(void *env, uint32_t i)
{
	(void)env;
	(void)i;
	return NULL;	/* the cache must not change an answer */
}

static int unwind_load_record(void *env, struct unwinder *w, uint64_t addr);
static int unwind_load_bytes(void *env, struct unwinder *w, uint64_t addr, uint32_t n);
static int unwind_read_word(void *env, uint64_t addr, uint64_t *value);
static int unwind_load_object(void *env, struct unwinder *w, uint32_t i, uint64_t addr);

static const struct unwind_runtimes *unwind_runtimes_of(void *env, uint32_t tgid)
{
	(void)tgid;
	return ((struct host_env *)env)->in->runtimes;
}

static const struct frame_program *unwind_program_at(void *env, uint32_t i)
{
	const struct host_unwind_input *in = ((struct host_env *)env)->in;

	return i < in->nr_programs ? &in->programs[i] : NULL;
}

#define UNWIND_RUNTIMES
#define UNWIND_MEMO_AT(env, w) ((w)->recall.use ? ((struct host_env *)(env))->in->memo : NULL)
#include "unwind/unwind_step.h"

static int unwind_load_page(void *env, struct unwinder *w, uint64_t addr, uint64_t from)
{
	struct host_env *e = env;

	int err = e->in->read_page(e->in->ctx, addr, w->page);

	memset(w->page, 0xa5, from);		/* is not there, as in the kernel */
	return err;
}

/* The bytes from addr to the end of the next page at most. */
static int read_bytes(const struct host_unwind_input *in, uint64_t addr, void *to, size_t len)
{
	uint64_t in_page = addr & (UNWIND_MEMORY_PAGE - 1);
	uint8_t pages[2 * UNWIND_MEMORY_PAGE];

	if (in->read_page(in->ctx, addr - in_page, pages) ||
	    (in_page + len > UNWIND_MEMORY_PAGE &&
	     in->read_page(in->ctx, addr - in_page + UNWIND_MEMORY_PAGE,
			   pages + UNWIND_MEMORY_PAGE)))
		return 1;
	memcpy(to, pages + in_page, len);
	return 0;
}

static int unwind_load_record(void *env, struct unwinder *w, uint64_t addr)
{
	struct host_env *e = env;

	return read_bytes(e->in, addr, w->record_page, UNWIND_MEMORY_PAGE);
}

static int unwind_load_bytes(void *env, struct unwinder *w, uint64_t addr, uint32_t n)
{
	struct host_env *e = env;

	return read_bytes(e->in, addr, w->record_page, n);
}

static int unwind_read_word(void *env, uint64_t addr, uint64_t *value)
{
	struct host_env *e = env;

	return read_bytes(e->in, addr, value, sizeof(*value));
}

static int unwind_load_object(void *env, struct unwinder *w, uint32_t i, uint64_t addr)
{
	struct host_env *e = env;

	return e->in->read_page(e->in->ctx, addr, w->objects.pages + i * UNWIND_MEMORY_PAGE);
}

static int unwind_read_code(void *env, struct unwinder *w, uint64_t addr)
{
	struct host_env *e = env;

	return !e->in->read_code || e->in->read_code(e->in->ctx, addr, (uint8_t *)w->code);
}

uint32_t host_unwind(const struct host_unwind_input *in, uint64_t frames[UNWIND_MAX_FRAMES],
		     uint32_t *nr_frames)
{
	struct host_env env = { .in = in };
	struct unwinder w;

	memcpy(w.regs, in->regs, sizeof(w.regs));
	memset(&w.objects, 0, offsetof(struct frame_objects, pages));
	unwind_begin(&w, 1, in->mode, in->max_frames ? in->max_frames : UNWIND_MAX_FRAMES);
	if (in->memo)
		unwind_begin_memo(&w, in->memo, &in->memo_key);
	for (uint32_t i = 0; i < UNWIND_MAX_STEPS; i++)
		if (unwind_step(&env, &w, frames))
			break;
	if (in->memo)
		unwind_end_memo(&w, in->memo);
	*nr_frames = w.nr;
	return w.end;
}
