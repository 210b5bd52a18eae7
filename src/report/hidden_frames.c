/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that a report does not show: those of native code (--script-only), and those of functions
 * whose names a user does not want to see (--hide). Their weight is their callers'.
 */
#include <errno.h>

#include "src/base/fail.h"
#include "src/model/definition_store.h"
#include "src/report/report_parts.h"

/* Code of a runtime without a name is one of its stubs. */
static bool is_script(const struct rec_frame *f, const struct frame_view *v)
{
	return f->flags & FRAME_RUNTIME ||
	       (f->kind == FRAME_SYNTHETIC && f->addr >= FRAME_MISSING) ||
	       (f->kind == FRAME_JIT && v->named && !(f->flags & FRAME_TRAMPOLINE));
}

static bool hides(void *ctx, const struct rec_frame *f, const struct frame_view *v)
{
	const struct query *q = ctx;

	return (q->script_only && !is_script(f, v)) ||
	       (q->hidden.nr && stack_filter_hides(&q->hidden, v->name, v->len));
}

int report_hide_frames(struct report *rep)
{
	const struct query *q = rep->query;
	const char *text = q && q->script_only && !q->hidden.nr ? "[native]" : "[hidden]";
	int err = 0;

	if (!q || (!q->script_only && !q->hidden.nr))
		return 0;
	for (size_t i = 0; i < rep->nr_segments && !err; i++)
		err = definition_store_hide(rep->segments[i].tables, hides, (void *)q, text);
	return err ? fail(err, "%s", rep->path) : 0;
}
