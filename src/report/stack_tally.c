/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/stack_tally.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"

/*
 * Distinct stacks that are not whole; the others are counted without their place. No recording has
 * so many, and a hostile one has millions of pairs of a stack and an end.
 */
#define MAX_BROKEN (1u << 17)

void stack_tally_release(struct stack_tally *t)
{
	for (size_t i = 0; i < t->nr_segments; i++) {
		free(t->segments[i].stacks);
		free(t->segments[i].kernel_stacks);
		free(t->segments[i].processes);
	}
	free(t->segments);
	free(t->broken);
	ix_release(&t->broken_index);
	memset(t, 0, sizeof(*t));
}

static struct tally_segment *segment_at(struct stack_tally *t, uint32_t segment)
{
	if (segment >= t->nr_segments) {
		if (array_reserve(&t->segments, &t->cap_segments, (size_t)segment + 1))
			return NULL;
		t->nr_segments = (size_t)segment + 1;
	}
	return &t->segments[segment];
}

/*
 * An id that is not defined counts as 0, so that an id made up by a trace cannot make an array
 * grow.
 */
static uint32_t process_of(const struct definition_store *tables, const struct rec_sample *s)
{
	const struct rec_thread *thread = definition_store_find_thread(tables, s->thread);

	return thread && definition_store_find_process(tables, thread->process) ? thread->process
										: 0;
}

static void count(struct tally_process *p, bool is_whole, bool is_guessed, uint64_t nr)
{
	p->stacks += nr;
	p->whole += is_whole ? nr : 0;
	p->whole_guessed += is_whole && is_guessed ? nr : 0;
}

static struct tally_process *process_at(struct tally_segment *seg, uint32_t process)
{
	if (array_reserve(&seg->processes, &seg->cap_processes, (size_t)process + 1))
		return NULL;
	return &seg->processes[process];
}

/* True if the stack was counted. One that was counted before needs no look at the definitions. */
static bool count_again(uint64_t *stacks, size_t cap, uint32_t node, uint64_t nr)
{
	if (!node || node >= cap || !stacks[node])
		return false;
	stacks[node] += nr;
	return true;
}

static int count_first(uint64_t **stacks, size_t *cap, uint32_t node, uint64_t nr)
{
	if (array_reserve(stacks, cap, (size_t)node + 1))
		return -ENOMEM;
	(*stacks)[node] += nr;
	return 0;
}

static int count_kernel(struct tally_segment *seg, const struct definition_store *tables,
			uint32_t node, uint64_t nr)
{
	if (!node || count_again(seg->kernel_stacks, seg->cap_kernel_stacks, node, nr) ||
	    !definition_store_whole_node(tables, node))
		return 0;
	return count_first(&seg->kernel_stacks, &seg->cap_kernel_stacks, node, nr);
}

/* *node becomes 0 if it is not defined. */
static int count_user(struct tally_segment *seg, const struct definition_store *tables,
		      uint32_t *node, uint64_t nr)
{
	if (count_again(seg->stacks, seg->cap_stacks, *node, nr))
		return 0;
	if (!definition_store_whole_node(tables, *node))
		*node = 0;
	return count_first(&seg->stacks, &seg->cap_stacks, *node, nr);
}

struct broken_key {
	const struct tally_broken *v;
	uint32_t segment, ustack;
	uint8_t end;
};

static bool same_broken(const void *ctx, uint32_t id)
{
	const struct broken_key *k = ctx;
	const struct tally_broken *b = &k->v[id];

	return b->segment == k->segment && b->ustack == k->ustack && b->end == k->end;
}

static int count_broken(struct stack_tally *t, uint32_t segment, uint32_t node, uint8_t end,
			uint64_t nr)
{
	struct broken_key k = { t->broken, segment, node, end };
	uint64_t hash = hash_u64(hash_u64(segment, node), end);
	uint32_t id = ix_find(&t->broken_index, hash, same_broken, &k);
	struct tally_broken *b;

	assert(id == IX_NONE || id < t->nr_broken);
	if (id != IX_NONE) {
		t->broken[id].count += nr;
		return 0;
	}
	if (node && t->nr_broken >= MAX_BROKEN)
		return count_broken(t, segment, 0, end, nr);
	b = t->nr_broken < IX_NONE - 2 ? array_push(&t->broken, &t->nr_broken, &t->cap_broken)
				       : NULL;
	if (!b)
		return -ENOMEM;
	*b = (struct tally_broken){ segment, node, end, nr };
	return ix_add(&t->broken_index, hash, (uint32_t)t->nr_broken - 1);
}

int stack_tally_add_many(struct stack_tally *t, uint32_t segment,
			 const struct definition_store *tables, const struct rec_sample *s,
			 uint64_t nr)
{
	bool is_whole = stack_end_is_root(s->end);
	bool is_guessed = s->flags & SAMPLE_HAS_GUESS || s->end == END_ROOT_GUESS;
	struct tally_segment *seg = segment_at(t, segment);
	struct tally_process *process;
	uint32_t node = s->ustack;
	int err = seg ? count_kernel(seg, tables, s->kstack, nr) : -ENOMEM;

	if (err || !stack_end_has_stack(s->end))
		return err;
	process = process_at(seg, process_of(tables, s));
	if (!process)
		return -ENOMEM;
	count(&t->all, is_whole, is_guessed, nr);
	count(process, is_whole, is_guessed, nr);
	t->guessed += s->flags & SAMPLE_HAS_GUESS ? nr : 0;
	err = count_user(seg, tables, &node, nr);
	if (!err && !is_whole)
		err = count_broken(t, segment, node, s->end, nr);
	return err;
}

void stack_tally_expect(const struct stack_tally *t, uint32_t segment, const struct rec_sample *s)
{
	const struct tally_segment *seg = segment < t->nr_segments ? &t->segments[segment] : NULL;

	if (seg && s->ustack < seg->cap_stacks)
		__builtin_prefetch(&seg->stacks[s->ustack], 1);
	if (seg && s->kstack < seg->cap_kernel_stacks)
		__builtin_prefetch(&seg->kernel_stacks[s->kstack], 1);
}

int stack_tally_add(struct stack_tally *t, uint32_t segment, const struct definition_store *tables,
		    const struct rec_sample *s)
{
	return stack_tally_add_many(t, segment, tables, s, 1);
}
