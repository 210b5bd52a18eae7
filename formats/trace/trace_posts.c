/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_posts.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

enum { MAX_POSTS = 1 << 16 };

void trace_posts_forget(struct trace_posts *p, bool are_wanted)
{
	p->nr = 0;
	p->are_whole = are_wanted;
}

void trace_posts_add(struct trace_posts *p, const struct post *post)
{
	struct post *last;

	if (!p->are_whole)
		return;
	last = p->nr < MAX_POSTS ? array_push(&p->v, &p->nr, &p->cap) : NULL;
	p->are_whole = last != NULL;
	if (last)
		*last = *post;
}

void trace_posts_release(struct trace_posts *p)
{
	free(p->v);
	memset(p, 0, sizeof(*p));
}

void extent_add(struct extent *e, const struct post *post)
{
	if (!e->end) {
		e->begin = post->begin;
		e->first = post->signpost;
	}
	e->end = post->end;
}
