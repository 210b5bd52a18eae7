/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts the stacks of a trace into a call tree, each below a node that the caller chooses.
 *
 *	stack_folder_init(&f, &tree, &style)	all zero before; both are borrowed
 *	stack_folder_enter(&f, tables)		ids are those of this segment from now on
 *	at = stack_folder_add(&f, base, stack)	the node of the innermost function of stack, a NODE
 *						record; base if there is no stack
 *	stack_folder_forget(&f)			frames have got other names since they were added
 *	stack_folder_release(&f)
 *
 * Names of a stack are expensive: each frame has to be looked up, may stand for several inlined
 * functions, and each of these is found among the children of a node by hashing. So the nodes that
 * a frame stands for are made once per frame, and stacks share the work for their callers. A stack
 * is the id of its innermost NODE record, which names its frame and its parent, the node one caller
 * further out. A memo {base, stack} -> node says: the path that begins below the tree's node "base"
 * and takes all frames of "stack" ends at "node". A stack is followed outwards only until a memo is
 * found, and added inwards from there:
 *
 *	NODE 1 main, 2 main;parse, 3 main;parse;read, 4 main;parse;eat
 *
 *	(app, 3)	no memo: adds main, parse and read below "app", and keeps the
 *			memos {app, 1}, {app, 2} and {app, 3}
 *	(app, 4)	finds the memo {app, 2} and adds only eat
 *
 * With style.fold_recursion, functions that call each other in turn are there once: of "a;b;a;b;c"
 * the path "a;b;c" is left. Cycles of up to FOLD_CYCLE functions are found. The folder counts how
 * often a path comes back to the same node; a path that leaves it for another cycle begins anew.
 *
 * Running out of memory is remembered by the tree. There are at most MAX_MEMOS memos; without one,
 * a stack is added from its outermost frame, which costs only time. A stack whose callers were lost
 * with a damaged chunk begins with "[missing]".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/base/hash_index.h"
#include "src/profile/frame_style.h"
#include "src/profile/profile.h"

#define FOLD_CYCLE 8

struct definition_store;
struct tree_builder;

/*
 * A path that was added before: from the tree's node base down all frames of stack it leads to
 * node.
 */
struct stack_memo {
	uint32_t base, stack, node;
};

/* The node that a path came back to last, and how often. */
struct fold_turn {
	uint32_t node, times;
};

/* keys[first ..] are those of one frame, outermost first; nr 0: not made yet */
struct frame_keys {
	uint32_t first, nr;
};

struct stack_folder {
	struct tree_builder *tree;
	struct frame_style style;
	uint64_t steps;			/* frames looked at so far */
	uint32_t *levels;		/* profile.levels of the tree; NULL: nothing was folded */
	size_t cap_levels;

	/* All members below hold ids of one segment and are emptied when the next one begins. */
	const struct definition_store *tables;
	struct frame_keys *frames;	/* by frame id */
	size_t cap_frames;
	struct node *keys;
	size_t nr_keys, cap_keys;
	uint32_t *strings;		/* by string id: its name plus 1; 0: not known yet */
	size_t cap_strings;
	struct stack_memo *memos;
	size_t nr_memos, cap_memos;
	struct hash_index memo_index;
	struct fold_turn *turns;	/* by memo; only if recursion is folded */
	size_t cap_turns;
	struct fold_turn turn;		/* of the path that is being added */
	uint32_t *path;			/* the part of a stack without a memo, innermost first */
	size_t nr_path, cap_path;
	struct byte_buf text;		/* of a name that is put together */
};

void stack_folder_init(struct stack_folder *f, struct tree_builder *tree,
		       const struct frame_style *style);
void stack_folder_release(struct stack_folder *f);
void stack_folder_enter(struct stack_folder *f, const struct definition_store *tables);

/* Stacks that are added from now on have the names that their frames have now. */
void stack_folder_forget(struct stack_folder *f);

uint32_t stack_folder_add(struct stack_folder *f, uint32_t base, uint32_t stack);

/* The levels of the nr nodes of the tree, which are the caller's; NULL: nothing was folded. */
uint32_t *stack_folder_take_levels(struct stack_folder *f, size_t nr);

/* The tree's name for a string of the segment; a long one is looked at only once. */
uint32_t stack_folder_name(struct stack_folder *f, uint32_t string);

/* The child of a node that is no function but a note. */
uint32_t stack_folder_note(struct stack_folder *f, uint32_t at, const char *text);
