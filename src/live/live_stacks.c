/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/live_stacks.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/profile/stack_note.h"

int live_stacks_init(struct live_stacks *s, struct intern *strings)
{
	static const struct frame_style style;

	if (tree_builder_init(&s->tree))
		return -ENOMEM;
	s->tree.max_nodes = LIVE_MAX_NODES;
	s->tree.max_name_bytes = LIVE_MAX_NAME_BYTES;
	stack_folder_init(&s->folder, &s->tree, &style);
	s->functions.strings = strings;
	page_functions_begin_tree(&s->functions, s->tree.p->names);
	return 0;
}

void live_stacks_release(struct live_stacks *s)
{
	stack_folder_release(&s->folder);
	page_functions_release(&s->functions);
	tree_builder_release(&s->tree);
	free(s->v);
	ix_release(&s->index);
	free(s->nodes);
	free(s->named);
	idle_cache_release(&s->idle);
	memset(s, 0, sizeof(*s));
}

struct stack_match {
	const struct live_stack *v;
	const struct live_count *c;
	bool folds_idle;
};

static bool is_of(const void *ctx, uint32_t id)
{
	const struct stack_match *m = ctx;
	const struct live_stack *s = &m->v[id];

	return s->kstack == m->c->kstack && s->ustack == m->c->ustack && s->end == m->c->end &&
	       s->folds_idle == m->folds_idle;
}

uint32_t live_stacks_of(struct live_stacks *s, const struct live_count *c, bool folds_idle)
{
	struct stack_match m = { s->v, c, folds_idle };
	uint64_t hash = hash_u64(c->end, (uint64_t)c->kstack << 32 | c->ustack);
	uint32_t id = ix_find(&s->index, hash, is_of, &m);
	struct live_stack *made;

	if (id != IX_NONE)
		return id;
	made = array_push(&s->v, &s->nr, &s->cap);
	if (!made)
		return IX_NONE;
	*made = (struct live_stack){ .kstack = c->kstack, .ustack = c->ustack, .end = c->end,
				     .folds_idle = folds_idle };
	id = (uint32_t)s->nr - 1;
	return ix_add(&s->index, hash, id) ? IX_NONE : id;
}

/* ---- names ---- */

/* What is known of a frame's functions, as one number that is not 0. */
static uint64_t naming_of(const struct definition_store *tables, uint32_t frame)
{
	const struct table_symbol *sym = definition_store_find_symbol(tables, frame);

	if (!sym || !sym->known)
		return 1;
	return (uint64_t)sym->first_line << 32 | (uint64_t)(sym->nr_lines & 0xffffff) << 8 | 3;
}

/*
 * Notes what frames are called now. *is_renamed (by frame, the caller's) is set if one that was
 * looked at before is called otherwise; else it stays NULL.
 */
static int note_names(struct live_stacks *s, const struct definition_store *tables,
		      uint8_t **is_renamed)
{
	uint32_t end = definition_store_id_end(tables, REC_FRAME);

	if (array_reserve(&s->named, &s->cap_named, end))
		return -ENOMEM;
	for (uint32_t i = 1; i < end; i++) {
		uint64_t naming = naming_of(tables, i), before = s->named[i];

		if (naming == before)
			continue;
		s->named[i] = naming;
		if (!before)
			continue;
		if (!*is_renamed)
			*is_renamed = calloc(end, 1);
		if (!*is_renamed)
			return -ENOMEM;
		(*is_renamed)[i] = 1;
	}
	return 0;
}

/* By NODE record: 1 if a frame on the way to it is renamed. */
struct renamed {
	uint8_t *v;
	uint32_t end;
};

/* A parent's id is lower than its own. */
static int find_renamed(const struct definition_store *tables, const uint8_t *is_renamed,
			struct renamed *r)
{
	uint32_t frames = definition_store_id_end(tables, REC_FRAME);

	r->end = definition_store_id_end(tables, REC_NODE);
	r->v = calloc((size_t)r->end + 1, 1);
	for (uint32_t i = 1; r->v && i < r->end; i++) {
		const struct table_node *n = definition_store_find_node(tables, i);

		if (n)
			r->v[i] = (n->frame < frames && is_renamed[n->frame]) ||
				  (n->parent < i && r->v[n->parent]);
	}
	return r->v ? 0 : -ENOMEM;
}

static bool is_renamed_stack(const struct renamed *r, const struct live_stack *s)
{
	return (s->ustack < r->end && r->v[s->ustack]) || (s->kstack < r->end && r->v[s->kstack]);
}

/* ---- nodes ---- */

static enum idle idle_stack(struct live_stacks *s, const struct live_stack *stack)
{
	const struct sleeper sleeper = { stack->kstack, stack->ustack, stack->end };

	return stack->folds_idle ? idle_of_sleeper(&s->idle, s->folder.tables, &sleeper) : IDLE_NOT;
}

static uint32_t fold(struct live_stacks *s, const struct live_stack *stack)
{
	enum idle idle = idle_stack(s, stack);
	char buf[STACK_NOTE_MAX];
	const char *text = stack_note(stack->end, stack->ustack != 0, buf);
	uint32_t at = 0;

	if (s->folder.steps > LIVE_MAX_STEPS)
		return tree_builder_rest(&s->tree, at);
	if (idle)
		return stack_folder_note(&s->folder, at, stack_note_idle(idle, buf));
	if (text)
		at = stack_folder_note(&s->folder, at, text);
	at = stack_folder_add(&s->folder, at, stack->ustack);
	return stack_folder_add(&s->folder, at, stack->kstack);
}

static bool is_told(const struct live_node *told, const struct node *n)
{
	return told->flags == n->flags && told->line == n->line && told->file == n->file;
}

/* Nodes that are new, and those that have got other flags or another line. */
static int tell_nodes(struct live_stacks *s, uint64_t version)
{
	const struct profile *p = s->tree.p;

	assert(s->nr_nodes <= p->nr_nodes);	/* no node of a tree goes */
	if (s->tree.failed || array_reserve(&s->nodes, &s->cap_nodes, p->nr_nodes))
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_nodes; i++) {
		const struct node *n = &p->nodes[i];

		if (i < s->nr_nodes && is_told(&s->nodes[i], n))
			continue;
		s->nodes[i] = (struct live_node){ .function = page_function_of(&s->functions, n),
						  .file = n->file, .line = n->line,
						  .flags = n->flags, .changed = version };
		if (s->nodes[i].function == IX_NONE)
			return -ENOMEM;
	}
	s->nr_nodes = p->nr_nodes;
	return 0;
}

/* Folds the stacks that have no node yet, and those that are renamed. */
static bool fold_all(struct live_stacks *s, const struct renamed *r, uint64_t version)
{
	bool is_changed = s->nr_settled < s->nr;

	assert(s->nr_settled <= s->nr);
	for (size_t i = r->v ? 0 : s->nr_settled; i < s->nr; i++) {
		struct live_stack *stack = &s->v[i];
		uint32_t leaf;

		if (i < s->nr_settled && !is_renamed_stack(r, stack))
			continue;
		leaf = fold(s, stack);
		if (i < s->nr_settled && leaf == stack->leaf)
			continue;
		stack->leaf = leaf;
		stack->changed = version;
		is_changed = true;
	}
	s->nr_settled = s->nr;
	return is_changed;
}

int live_stacks_settle(struct live_stacks *s, const struct definition_store *tables,
		       uint64_t version)
{
	struct renamed r = { NULL, 0 };
	uint8_t *is_renamed = NULL;
	int err = note_names(s, tables, &is_renamed);
	bool is_changed = false;

	stack_folder_enter(&s->folder, tables);
	if (!err && is_renamed) {
		err = find_renamed(tables, is_renamed, &r);
		stack_folder_forget(&s->folder);
		idle_cache_release(&s->idle);	/* it answers by names */
	}
	if (!err) {
		is_changed = fold_all(s, &r, version) || !s->nr_nodes;
		err = is_changed || is_renamed ? tell_nodes(s, version) : 0;
	}
	free(is_renamed);
	free(r.v);
	return err ? err : is_changed;
}
