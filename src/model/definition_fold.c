/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which frames definition_store_fold() leaves out. */
#include <string.h>

#include "src/model/definition_parts.h"
#include "src/model/definition_store.h"

/* HotSpot's interpreter is generated code, too: it has no loop in the JVM's file. */
static bool is_java(const struct definition_store *t, const struct rec_frame *f)
{
	static const char begin[] = "[java ";
	const struct rec_binary *b =
		f->flags & FRAME_RUNTIME ? definition_store_find_binary(t, f->binary) : NULL;

	return b && !strncmp(definition_store_string(t, b->path, NULL), begin, strlen(begin));
}

/*
 * Native code comes to Java through a stub alone, which is like compiled code. A native function
 * that Java has called is no loop, but that of a native method, or of the JVM.
 */
static bool is_java_stub(const struct definition_store *t, const struct rec_frame *f,
			 const struct rec_frame *caller)
{
	return caller->kind == FRAME_USER && f->flags & FRAME_COMPILED &&
	       !(f->flags & FRAME_INLINED) && is_java(t, f);
}

/* Whether the node is the loop of the interpreted function that has called it, or leads to one. */
static bool is_loop(const struct definition_store *t, const struct rec_node *r)
{
	const struct table_node *parent = definition_store_node_row(t, r->parent);
	const struct rec_frame *f = definition_store_find_frame(t, r->frame),
			       *caller = parent && !parent->is_folded
						 ? definition_store_find_frame(t, parent->frame)
						 : NULL;

	if (!f || f->flags & FRAME_TRAMPOLINE || !caller)
		return f && f->flags & FRAME_TRAMPOLINE;
	if (f->kind == FRAME_USER && caller->flags & FRAME_RUNTIME)
		return !is_java(t, caller);
	return is_java_stub(t, f, caller);
}

static bool is_of_runtime(const struct definition_store *t, const struct rec_node *r)
{
	const struct rec_frame *f = definition_store_find_frame(t, r->frame);

	return f && (f->flags & FRAME_RUNTIME ||
		     (f->kind == FRAME_SYNTHETIC && f->addr >= FRAME_MISSING));
}

bool definition_store_folds(const struct definition_store *t, const struct rec_node *r)
{
	return (t->folding == FOLD_LOOPS && is_loop(t, r)) ||
	       (t->folding == FOLD_RUNTIMES && is_of_runtime(t, r));
}
