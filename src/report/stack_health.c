/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which code is the cause of stacks that are not whole, and of guessed frames.
 *
 * Unwinding goes from the innermost frame outwards, so a stack stops where no caller was found. The
 * cause is the code that was unwound last:
 *
 *	stack, innermost first		cause
 *	read, parse, A (in libfoo)	libfoo: the caller of A was not found
 *	read, parse, A (not mapped)	the binary of parse: A was taken for its return address
 *	read, parse (guessed), main	the binary of read: no rule of it says where its caller is
 *
 * An end that no code caused (the thread was on a CPU, a limit was reached) has no binary.
 *
 * A look at each frame of each sample would be slow. The tally (stack_tally.h) counts samples by
 * the NODE id of their stacks instead, and the passes here go over nodes. A node's parent is the
 * next frame outwards, and has a lower id:
 *
 *	learn_paths(), ids ascend	parents first: each node knows the node just inside of its
 *					outermost one, and the node nearest to its own end whose
 *					caller was guessed
 *	sum_nodes(), ids descend	children first: the count of each stack is added to all its
 *					frames, which tells how many frames were exact, return
 *					addresses and guesses
 *
 * One segment is summed after the other. Its causes are merged into rows by {path, end}.
 *
 * Limits: the cause is only as good as the frames that were found. A stack that took a wrong turn
 * before it stopped accuses the code where it stopped. A row has one address, that of its most
 * frequent stack.
 */
#include "src/report/stack_health.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/report/stack_cause.h"

struct spot {				/* the code that caused an end or a guess */
	uint32_t path;			/* IX_NONE: out of memory */
	bool has_addr;
	uint64_t addr;
};

struct row_list {			/* one list of a stack_health, while it grows */
	struct health_row **v;
	size_t *nr, *cap;
	struct hash_index index;
};

/* The segment that is being summed. */
struct summing {
	struct stack_health *h;
	const struct definition_store *tables;
	/* By node id: the node nearest to the leaf whose caller was guessed; 0: none. */
	uint32_t *guessed_from;
	/* By node id: the node just inside the outermost one of its stack; 0: none. */
	uint32_t *below_root;
	size_t cap_guessed_from, cap_below_root;
	uint32_t *paths;		/* by binary id: its path plus 1; 0: not known yet */
	size_t cap_paths;
	size_t next_broken;		/* index into the tally's list */
	struct row_list broken, guesses;
};

/* ---- Which code ---- */

/* A path may be long, so it is looked at only once. */
static uint32_t path_of(struct summing *s, const struct rec_binary *b)
{
	const char *name;
	uint32_t path;
	size_t len;

	if (array_reserve(&s->paths, &s->cap_paths,
			  definition_store_id_end(s->tables, REC_BINARY)))
		return IX_NONE;
	if (s->paths[b->id])
		return s->paths[b->id] - 1;
	name = definition_store_string(s->tables, b->path, &len);
	path = intern_bytes(s->h->paths, name, len);
	s->paths[b->id] = path == IX_NONE ? 0 : path + 1;
	return path;
}

static uint32_t binary_path(struct summing *s, const struct rec_frame *f)
{
	const struct rec_binary *b = definition_store_find_binary(s->tables, f->binary);

	if (b && b->path)
		return path_of(s, b);
	if (b && f->kind != FRAME_JIT)
		return intern_str(s->h->paths, binary_kind_name(b->kind));
	return intern_str(s->h->paths, f->flags & FRAME_UNMAPPED ? "(no mapping)" :
				       f->kind == FRAME_JIT ? "(generated code)" : "(no binary)");
}

/* A caller is looked up at its call, not behind it, where the next function may begin. */
static uint64_t lookup_addr(const struct rec_frame *f)
{
	return f->addr - (f->flags & FRAME_RETURN_ADDRESS && f->addr);
}

static struct spot spot_of(struct summing *s, const struct rec_frame *f)
{
	if (!f)
		return (struct spot){ .path = intern_str(s->h->paths, "(no frames)") };
	return (struct spot){ binary_path(s, f), true, lookup_addr(f) };
}

static const struct rec_frame *frame_of_node(const struct summing *s, uint32_t node)
{
	const struct table_node *n = definition_store_whole_node(s->tables, node);

	return n ? definition_store_find_frame(s->tables, n->frame) : NULL;
}

static struct spot broken_spot(struct summing *s, const struct tally_broken *b)
{
	const struct table_node *n = definition_store_whole_node(s->tables, b->ustack);
	const struct rec_frame *f = n ? definition_store_find_frame(s->tables, n->outermost) : NULL;
	const struct rec_frame *inner = n ? frame_of_node(s, s->below_root[b->ustack]) : NULL;

	if (!stack_cause_has_place(b->end))
		return (struct spot){ 0 };
	return spot_of(s, f && f->flags & FRAME_UNMAPPED && inner ? inner : f);
}

/* ---- Rows ---- */

struct row_key {
	const struct health_row *v;
	uint32_t path;
	uint8_t end;
};

static bool same_row(const void *ctx, uint32_t id)
{
	const struct row_key *k = ctx;

	return k->v[id].path == k->path && k->v[id].end == k->end;
}

/* The row of {path, end}, made if it is new. NULL: out of memory. */
static struct health_row *row_of(struct row_list *l, uint32_t path, uint8_t end)
{
	struct row_key k = { *l->v, path, end };
	uint64_t hash = hash_u64(path, end);
	uint32_t id = ix_find(&l->index, hash, same_row, &k);
	struct health_row *row;

	if (id != IX_NONE)
		return &(*l->v)[id];
	row = path == IX_NONE ? NULL : array_push(l->v, l->nr, l->cap);
	if (!row || ix_add(&l->index, hash, (uint32_t)*l->nr - 1))
		return NULL;
	row->path = path;
	row->end = end;
	return row;
}

static int blame(struct row_list *l, struct spot spot, uint8_t end, uint64_t samples,
		 uint64_t frames)
{
	struct health_row *row = row_of(l, spot.path, end);

	if (!row)
		return -ENOMEM;
	row->samples += samples;
	row->frames += frames;
	if (spot.has_addr && samples > row->addr_samples) {
		row->has_addr = true;
		row->addr = spot.addr;
		row->addr_samples = samples;
	}
	return 0;
}

/* ---- One segment ---- */

static bool is_guessed(const struct summing *s, uint32_t node)
{
	const struct rec_frame *f = frame_of_node(s, node);

	return f && f->flags & FRAME_GUESSED;
}

/*
 * Parents have lower ids than their children, so one ascending pass knows each node's way outwards.
 */
static int learn_paths(struct summing *s, uint32_t end)
{
	if (array_reserve(&s->guessed_from, &s->cap_guessed_from, end) ||
	    array_reserve(&s->below_root, &s->cap_below_root, end))
		return -ENOMEM;
	for (uint32_t id = 0; id < end; id++) {
		const struct table_node *n = definition_store_whole_node(s->tables, id), *up;

		s->guessed_from[id] = s->below_root[id] = 0;
		up = n ? definition_store_whole_node(s->tables, n->parent) : NULL;
		if (!up)
			continue;
		s->guessed_from[id] = is_guessed(s, n->parent) ? id : s->guessed_from[n->parent];
		s->below_root[id] = up->parent ? s->below_root[n->parent] : id;
	}
	return 0;
}

static int blame_for_guess(struct summing *s, uint32_t node, uint64_t samples)
{
	uint32_t from = s->guessed_from[node];

	if (is_guessed(s, node))	/* the frame that it called is not known */
		return blame(&s->guesses, spot_of(s, frame_of_node(s, node)), 0, samples, samples);
	return from ? blame(&s->guesses, spot_of(s, frame_of_node(s, from)), 0, samples, 0) : 0;
}

static void count_frame(struct health_frames *n, const struct rec_frame *f, uint64_t samples)
{
	if (f->flags & FRAME_GUESSED)
		n->guessed += samples;
	else if (f->flags & FRAME_RETURN_ADDRESS)
		n->return_address += samples;
	else
		n->exact += samples;
}

/*
 * Children have higher ids than their parents, so one descending pass turns the counts of leaves
 * into how often each node was passed.
 */
static int sum_nodes(struct summing *s, uint64_t *stacks, uint32_t end)
{
	int err = 0;

	for (uint32_t id = end; !err && --id > 0;) {
		const struct table_node *n = definition_store_whole_node(s->tables, id);
		const struct rec_frame *f =
			n ? definition_store_find_frame(s->tables, n->frame) : NULL;

		if (!n || !stacks[id])
			continue;
		stacks[n->parent] += stacks[id];
		if (f)
			count_frame(&s->h->frames, f, stacks[id]);
		if (is_guessed(s, n->parent))
			err = blame(&s->guesses, spot_of(s, f), 0, 0, stacks[id]);
	}
	return err;
}

static int sum_guesses(struct summing *s, const uint64_t *stacks, uint32_t end)
{
	int err = 0;

	for (uint32_t id = 1; !err && id < end; id++) {
		if (stacks[id])
			err = blame_for_guess(s, id, stacks[id]);
	}
	return err;
}

/* The entries of one segment stand together, because segments follow each other in a file. */
static int sum_broken(struct summing *s, const struct stack_tally *t, uint32_t segment)
{
	const struct tally_broken *b;
	int err = 0;

	for (; !err && s->next_broken < t->nr_broken; s->next_broken++) {
		b = &t->broken[s->next_broken];
		if (b->segment != segment)
			break;
		err = blame(&s->broken, broken_spot(s, b), b->end, b->count, 0);
	}
	return err;
}

static int sum_processes(struct stack_health *h, const struct tally_segment *seg, uint32_t segment)
{
	for (size_t i = 0; i < seg->cap_processes; i++) {
		const struct tally_process *p = &seg->processes[i];
		struct health_process *row;

		if (p->whole == p->stacks)
			continue;
		row = array_push(&h->processes, &h->nr_processes, &h->cap_processes);
		if (!row)
			return -ENOMEM;
		*row = (struct health_process){ segment, (uint32_t)i, *p };
	}
	return 0;
}

static int sum_segment(struct summing *s, struct stack_tally *t, uint32_t segment)
{
	struct tally_segment *seg = &t->segments[segment];
	uint32_t end = definition_store_id_end(s->tables, REC_NODE);
	int err;

	if (s->cap_paths)
		memset(s->paths, 0, s->cap_paths * sizeof(*s->paths));
	if (end > seg->cap_stacks)
		end = (uint32_t)seg->cap_stacks;	/* no sample has a higher node */
	err = learn_paths(s, end ? end : 1);
	if (!err)
		err = sum_broken(s, t, segment);
	if (!err)
		err = sum_guesses(s, seg->stacks, end);
	if (!err && end)
		err = sum_nodes(s, seg->stacks, end);
	return err ? err : sum_processes(s->h, seg, segment);
}

/* ---- All segments ---- */

static int by_samples(const void *x, const void *y, void *health)
{
	const struct health_row *a = x, *b = y;
	int order;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->frames != b->frames)
		return a->frames > b->frames ? -1 : 1;
	order = strcmp(stack_health_path(health, a, NULL), stack_health_path(health, b, NULL));
	return order ? order : (int)a->end - (int)b->end;
}

static int by_broken(const void *x, const void *y)
{
	const struct health_process *a = x, *b = y;
	uint64_t broken_a = a->n.stacks - a->n.whole, broken_b = b->n.stacks - b->n.whole;

	if (broken_a != broken_b)
		return broken_a > broken_b ? -1 : 1;
	if (a->segment != b->segment)
		return a->segment < b->segment ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

static void sort(struct stack_health *h)
{
	if (h->nr_broken)
		qsort_r(h->broken, h->nr_broken, sizeof(*h->broken), by_samples, h);
	if (h->nr_guesses)
		qsort_r(h->guesses, h->nr_guesses, sizeof(*h->guesses), by_samples, h);
	if (h->nr_processes)
		qsort(h->processes, h->nr_processes, sizeof(*h->processes), by_broken);
}

int stack_health_init(struct stack_health *h, struct stack_tally *t, health_tables_fn tables_of,
		      const void *ctx)
{
	struct summing s = {
		.h = h, .broken = { &h->broken, &h->nr_broken, &h->cap_broken, { 0 } },
		.guesses = { &h->guesses, &h->nr_guesses, &h->cap_guesses, { 0 } },
	};
	int err;

	memset(h, 0, sizeof(*h));
	h->all = t->all;
	h->guessed = t->guessed;
	h->paths = intern_new();
	err = h->paths ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < t->nr_segments; i++) {
		s.tables = tables_of(ctx, i);
		if (s.tables)
			err = sum_segment(&s, t, i);
	}
	free(s.guessed_from);
	free(s.below_root);
	free(s.paths);
	ix_release(&s.broken.index);
	ix_release(&s.guesses.index);
	if (err)
		stack_health_release(h);
	else
		sort(h);
	return err;
}

void stack_health_release(struct stack_health *h)
{
	free(h->broken);
	free(h->guesses);
	free(h->processes);
	intern_free(h->paths);
	memset(h, 0, sizeof(*h));
}

const char *stack_health_path(const struct stack_health *h, const struct health_row *row,
			      size_t *len)
{
	return intern_get(h->paths, row->path, len);
}
