/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/fold_stacks.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/frame_name.h"
#include "src/profile/profile.h"
#include "src/profile/tree_builder.h"

#define MAX_MEMOS (1u << 20)
#define MAX_KEYS (1u << 18)		/* of frames, before all are made anew */

void stack_folder_init(struct stack_folder *f, struct tree_builder *tree,
		       const struct frame_style *style)
{
	f->tree = tree;
	f->style = *style;
}

static void forget_segment(struct stack_folder *f)
{
	free(f->frames);
	free(f->strings);
	f->frames = NULL;
	f->strings = NULL;
	f->cap_frames = f->cap_strings = f->nr_keys = f->nr_memos = 0;
	ix_release(&f->memo_index);
}

void stack_folder_release(struct stack_folder *f)
{
	forget_segment(f);
	free(f->levels);
	free(f->turns);
	free(f->keys);
	free(f->memos);
	free(f->path);
	bb_release(&f->text);
	memset(f, 0, sizeof(*f));
}

void stack_folder_enter(struct stack_folder *f, const struct definition_store *tables)
{
	if (f->tables != tables)
		forget_segment(f);
	f->tables = tables;
}

void stack_folder_forget(struct stack_folder *f)
{
	if (f->cap_frames)
		memset(f->frames, 0, f->cap_frames * sizeof(*f->frames));
	f->nr_keys = f->nr_memos = 0;
	ix_release(&f->memo_index);
}

uint32_t stack_folder_name(struct stack_folder *f, uint32_t string)
{
	uint32_t end = definition_store_id_end(f->tables, REC_STRING), *name = NULL, id;
	const char *s;
	size_t len;

	if (string < end && !array_reserve(&f->strings, &f->cap_strings, end))
		name = &f->strings[string];
	if (name && *name)
		return *name - 1;
	s = definition_store_string(f->tables, string, &len);
	id = tree_builder_name(f->tree, s, len);
	if (name && id != IX_NONE)
		*name = id + 1;
	return id;
}

static uint32_t view_name(struct stack_folder *f, const struct frame_view *v)
{
	bool offset = f->style.offsets && v->has_offset;
	bool line = f->style.lines && v->line;

	if (!offset && !line)
		return v->string ? stack_folder_name(f, v->string)
				 : tree_builder_name(f->tree, v->name, v->len);
	frame_name(f->tables, v, offset, line, &f->text);
	f->tree->failed |= f->text.bad;
	return tree_builder_name(f->tree, (const char *)f->text.v, f->text.nr);
}

static const uint8_t flag_of_tier[(FUNC_TIERS >> FUNC_TIER_SHIFT) + 1] = {
	[TIER_INTERPRETED] = NODE_INTERPRETED, [TIER_BASELINE] = NODE_BASELINE,
	[TIER_OPTIMIZED] = NODE_OPTIMIZED,     [TIER_COMPILED] = NODE_COMPILED,
	[TIER_BUILTIN] = NODE_BUILTIN,
};

static uint32_t line_of(const struct frame_style *style, const struct frame_view *v)
{
	if (style->lines)
		return v->line;
	if (style->by_line)
		return v->line_file == v->file ? v->line : 0;
	return v->start_line ? v->start_line : v->line;
}

/* Functions that probes in an interpreter tell of have no code, but are run like others. */
static uint8_t kind_of(const struct rec_frame *rec, const struct frame_view *v)
{
	if (!rec)
		return FRAME_SYNTHETIC;
	return rec->kind == FRAME_SYNTHETIC && v->tier ? FRAME_JIT : rec->kind;
}

/* A key that all frames of a binary have, and all of a script. */
static void be_binary(struct stack_folder *f, struct node *key)
{
	size_t len;
	const char *path = intern_get(f->tree->p->names, key->binary, &len), *slash;

	key->line = 0;
	key->file = 0;
	key->flags &= NODE_SYNTHETIC | NODE_GUESSED;
	if (!key->binary && key->kind == FRAME_JIT)
		key->name = tree_builder_name(f->tree, "[jit]", strlen("[jit]"));
	if (!key->binary)
		return;
	slash = memrchr(path, '/', len);
	if (slash)
		len -= (size_t)(slash + 1 - path);
	f->text.nr = 0;			/* a name that is added may move the others */
	bb_bytes(&f->text, slash ? slash + 1 : path, len);
	f->tree->failed |= f->text.bad;
	key->name = tree_builder_name(f->tree, (const char *)f->text.v, f->text.nr);
}

/* Makes the keys of the nodes that a frame stands for, outermost first. 0 or -ENOMEM. */
static int make_keys(struct stack_folder *f, uint32_t frame, struct frame_keys *made)
{
	const struct rec_frame *rec = definition_store_find_frame(f->tables, frame);
	const struct rec_binary *binary =
		rec ? definition_store_find_binary(f->tables, rec->binary) : NULL;
	uint32_t all = definition_store_frame_depth(f->tables, frame);
	uint32_t nr = f->style.binaries ? 1 : frame_style_depth(&f->style, all);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (f->nr_keys + nr >= UINT32_MAX || array_reserve(&f->keys, &f->cap_keys, f->nr_keys + nr))
		return -ENOMEM;
	*made = (struct frame_keys){ (uint32_t)f->nr_keys, nr };
	for (uint32_t i = nr; i-- > 0;) {
		struct node *key = &f->keys[f->nr_keys++];

		definition_store_frame_view(f->tables, frame,
					    frame_style_nth(&f->style, all, i), buf, &v);
		*key = (struct node){
			.name = view_name(f, &v),
			.binary = binary ? stack_folder_name(f, binary->path) : 0,
			.kind = kind_of(rec, &v),
			.line = line_of(&f->style, &v),
			.flags = (uint8_t)((v.inlined ? NODE_INLINED : 0) |
					   (rec ? 0 : NODE_SYNTHETIC) | flag_of_tier[v.tier]),
		};
		if (f->style.lines && v.line)
			v.file = v.line_file;
		if (v.file)
			key->file = stack_folder_name(f, v.file);
		/* All generated code is in one binary, so the script tells namesakes apart. */
		if (key->kind == FRAME_JIT && key->file)
			key->binary = key->file;
		if (rec && rec->flags & FRAME_GUESSED)
			key->flags |= NODE_GUESSED;
		if (f->style.binaries)
			be_binary(f, key);
	}
	return 0;
}

/* Forgets the keys of all frames when there are too many, or when none could find them again. */
static void limit_keys(struct stack_folder *f)
{
	if (f->nr_keys < MAX_KEYS)
		return;
	if (f->cap_frames)
		memset(f->frames, 0, f->cap_frames * sizeof(*f->frames));
	f->nr_keys = 0;
}

static bool same_key(const struct node *n, const struct node *key)
{
	return n->name == key->name && n->binary == key->binary && n->kind == key->kind &&
	       !((n->flags ^ key->flags) & (NODE_INLINED | NODE_SYNTHETIC));
}

/*
 * The node to which a path that ends in at goes back when key is added to it, because the last
 * functions then repeat those before them; NODE_NONE: they do not.
 *
 *	a b a + b: the cycle has two functions, and the path goes back to the first b
 */
static uint32_t cycle_start(const struct tree_builder *b, uint32_t at, const struct node *key)
{
	const struct node *nodes = b->p->nodes;
	uint32_t back = at;

	for (unsigned len = 1; len <= FOLD_CYCLE && back; len++, back = nodes[back].parent) {
		uint32_t x = at, y = nodes[back].parent;
		unsigned same = 1;

		if (!same_key(&nodes[back], key))
			continue;
		for (; same < len && y && same_key(&nodes[y], &nodes[x]); same++) {
			x = nodes[x].parent;
			y = nodes[y].parent;
		}
		if (same == len)
			return back;
	}
	return NODE_NONE;
}

/* The path that is being added comes back to a node. */
static void turn_back(struct stack_folder *f, uint32_t node)
{
	if (f->turn.node != node)
		f->turn = (struct fold_turn){ node, 0 };
	f->turn.times++;
	if (array_reserve(&f->levels, &f->cap_levels, f->tree->p->nr_nodes)) {
		f->tree->failed = true;
		return;
	}
	assert(node < f->cap_levels);
	if (f->levels[node] < f->turn.times + 1)
		f->levels[node] = f->turn.times + 1;
}

static uint32_t add_key(struct stack_folder *f, uint32_t at, const struct node *key)
{
	uint32_t back = f->style.fold_recursion ? cycle_start(f->tree, at, key) : NODE_NONE;

	if (f->style.binaries && at && same_key(&f->tree->p->nodes[at], key))
		return at;
	if (back == NODE_NONE)
		return tree_builder_child(f->tree, at, key);
	turn_back(f, back);
	return back;
}

uint32_t *stack_folder_take_levels(struct stack_folder *f, size_t nr)
{
	uint32_t *levels = f->levels;

	if (!levels)
		return NULL;
	f->tree->failed |= array_reserve(&f->levels, &f->cap_levels, nr) != 0;
	levels = f->levels;
	f->levels = NULL;
	f->cap_levels = 0;
	return levels;
}

static uint32_t add_frame(struct stack_folder *f, uint32_t at, uint32_t frame)
{
	struct frame_keys none = { 0, 0 }, *k = &none;
	uint32_t end = definition_store_id_end(f->tables, REC_FRAME);

	if (frame < end) {
		if (array_reserve(&f->frames, &f->cap_frames, end)) {
			f->tree->failed = true;
			return at;
		}
		k = &f->frames[frame];
	}
	if (!k->nr) {
		limit_keys(f);
		if (make_keys(f, frame, k)) {
			f->tree->failed = true;
			return at;
		}
	}
	assert(k->first + k->nr <= f->nr_keys);
	for (uint32_t i = 0; i < k->nr; i++)
		at = add_key(f, at, &f->keys[k->first + i]);
	f->steps += k->nr;
	return at;
}

uint32_t stack_folder_note(struct stack_folder *f, uint32_t at, const char *text)
{
	struct node key = { .name = tree_builder_name(f->tree, text, strlen(text)),
			    .kind = FRAME_SYNTHETIC, .flags = NODE_SYNTHETIC };

	return tree_builder_child(f->tree, at, &key);
}

struct memo_key {
	const struct stack_memo *v;
	uint32_t base, stack;
};

static bool same_memo(const void *ctx, uint32_t id)
{
	const struct memo_key *k = ctx;

	return k->v[id].base == k->base && k->v[id].stack == k->stack;
}

static uint64_t memo_hash(uint32_t base, uint32_t stack)
{
	return hash_u64(0, (uint64_t)base << 32 | stack);
}

static uint32_t find_memo(struct stack_folder *f, uint32_t base, uint32_t stack)
{
	const struct memo_key k = { f->memos, base, stack };
	uint32_t id = ix_find(&f->memo_index, memo_hash(base, stack), same_memo, &k);

	if (id == IX_NONE)
		return NODE_NONE;
	assert(id < f->nr_memos);
	if (f->style.fold_recursion)
		f->turn = f->turns[id];
	return f->memos[id].node;
}

/* A memo that cannot be kept costs only time. */
static void add_memo(struct stack_folder *f, uint32_t base, uint32_t stack, uint32_t node)
{
	struct stack_memo *m =
		f->nr_memos < MAX_MEMOS ? array_push(&f->memos, &f->nr_memos, &f->cap_memos) : NULL;

	if (!m)
		return;
	*m = (struct stack_memo){ base, stack, node };
	if (f->style.fold_recursion && array_reserve(&f->turns, &f->cap_turns, f->nr_memos)) {
		f->nr_memos--;
		return;
	}
	if (f->style.fold_recursion)
		f->turns[f->nr_memos - 1] = f->turn;
	if (ix_add(&f->memo_index, memo_hash(base, stack), (uint32_t)f->nr_memos - 1))
		f->nr_memos--;
}

uint32_t stack_folder_add(struct stack_folder *f, uint32_t base, uint32_t stack)
{
	const struct table_node *n;
	uint32_t at = NODE_NONE, *slot;

	f->nr_path = 0;
	f->turn = (struct fold_turn){ NODE_NONE, 0 };
	while (stack && (at = find_memo(f, base, stack)) == NODE_NONE) {
		n = definition_store_find_node(f->tables, stack);
		slot = n ? array_push(&f->path, &f->nr_path, &f->cap_path) : NULL;
		f->tree->failed |= n && !slot;
		if (!slot)
			break;
		*slot = stack;
		stack = n->parent;
	}
	f->steps += f->nr_path;
	/* No memo: the whole stack is new, and a note stands for callers that were lost. */
	if (at == NODE_NONE)
		at = stack && !definition_store_hidden(f->tables, stack)
			     ? stack_folder_note(f, base, "[missing]")
			     : base;
	while (f->nr_path && !tree_builder_is_rest(f->tree, at)) {
		stack = f->path[--f->nr_path];
		at = add_frame(f, at, definition_store_find_node(f->tables, stack)->frame);
		add_memo(f, base, stack, at);
	}
	return at;
}
