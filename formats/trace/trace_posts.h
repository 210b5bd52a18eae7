/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the chunks of a trace are that have samples, and when these were taken. A reader notes them
 * in its first pass; later ones look up here which part of the file they need.
 *
 *	trace_posts_forget(p, true)
 *	trace_posts_add(p, &post) ...		in the order of the file
 *	if (p->are_whole) ... p->v[0 .. p->nr)
 *	trace_posts_release(p)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/trace_layout.h"

struct post {
	uint64_t begin, end;		/* bytes, with its signpost */
	struct signpost signpost;
	uint64_t first_ns, last_ns;	/* times of its rows, those of REPEATs included */
};

struct trace_posts {
	struct post *v;
	size_t nr, cap;
	bool are_whole;			/* they were not too many, and they are wanted */
};
void trace_posts_forget(struct trace_posts *p, bool are_wanted);
void trace_posts_add(struct trace_posts *p, const struct post *post);
void trace_posts_release(struct trace_posts *p);

/* From the first of some chunks to the last one. */
struct extent {
	bool is_known;
	uint64_t begin, end;		/* bytes; end 0: there is none */
	struct signpost first;
};
void extent_add(struct extent *e, const struct post *post);
