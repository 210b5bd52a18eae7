/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/waits/thread_frames.h"

#include "src/model/record.h"

struct choice {
	const struct definition_store *t;
	bool native, has_runtime, is_kernel;
	uint32_t nr;			/* nodes so far */
	thread_frame_fn fn;
	void *ctx;
};

static bool is_runtime(const struct definition_store *t, const struct table_node *n)
{
	const struct rec_frame *f = definition_store_find_frame(t, n->frame);

	return f && (f->flags & FRAME_RUNTIME || f->kind == FRAME_JIT);
}

static bool has_runtime(const struct definition_store *t, uint32_t stack)
{
	const struct table_node *n;

	for (; stack && (n = definition_store_find_node(t, stack)); stack = n->parent)
		if (is_runtime(t, n))
			return true;
	return false;
}

static int give_node(struct choice *c, const struct table_node *n)
{
	uint32_t depth = definition_store_frame_depth(c->t, n->frame);
	bool runtime = is_runtime(c->t, n);
	bool is_first = !c->nr++;
	int err = 0;

	if (!c->native && c->has_runtime && !runtime && !is_first)
		return 0;
	for (uint32_t i = 0; i < depth && !err; i++) {
		struct thread_frame f = { .is_kernel = c->is_kernel, .is_runtime = runtime };

		definition_store_frame_view(c->t, n->frame, i, f.buf, &f.view);
		err = c->fn(c->ctx, &f);
	}
	return err;
}

static int give_stack(struct choice *c, uint32_t stack)
{
	const struct table_node *n;
	int err = 0;

	for (; !err && stack && (n = definition_store_find_node(c->t, stack)); stack = n->parent)
		err = give_node(c, n);
	return err;
}

int thread_frames_each(const struct definition_store *t, const struct rec_sample *rec, bool native,
		       thread_frame_fn fn, void *ctx)
{
	bool is_stuck = task_state_is_disk(rec->state);
	struct choice c = { .t = t, .native = true, .is_kernel = true, .fn = fn, .ctx = ctx };
	int err = native || is_stuck || !rec->ustack ? give_stack(&c, rec->kstack) : 0;

	c.is_kernel = false;
	c.native = native;
	c.nr = 0;
	c.has_runtime = has_runtime(t, rec->ustack);
	return err ? err : give_stack(&c, rec->ustack);
}
