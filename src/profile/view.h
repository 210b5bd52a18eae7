/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways to look at a call tree: upside down, or only what calls one function, or what it calls.
 *
 *	struct view v = { 0 };			the tree as it is
 *	view_apply(&v, &limits, &p)		replaces *p by the tree that is to be shown
 *
 *	samples			main;a;b 3	main;b 2	main;c 1
 *	.inverted		all 6, b 5 (a 3 (main 3), main 2), c 1 (main 1)
 *	.callers "b"		all 5, b 5 (a 3 (main 3), main 2)
 *	.callees "main"		all 6, main 6 (a 3 (b 3), b 2, c 1)
 *
 * The levels of fold_roots.h stay at the root of an inverted tree if .keeps_levels; otherwise they
 * are the outermost callers. The samples of a function are those of its stacks: of a function that
 * calls itself, the outermost call counts, so none counts twice.
 *
 * A name is that of a function or, if no function has it, a regular expression (PCRE2) that finds
 * some. Self weights of an inverted tree are those of the outermost callers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct report_limits;

struct view {
	bool inverted;
	bool keeps_levels;
	bool by_line;			/* the tree has nodes by line, and keeps them */
	const char *callers, *callees;	/* NULL: all; not both */
};

/* True if the tree is shown as it is. */
bool view_is_plain(const struct view *v);

/*
 * 0, -ENOMEM (silently), or -ENODATA and -EINVAL after one line: no function has that name. *p
 * stays the caller's, and as it was if this fails.
 */
int view_apply(const struct view *v, const struct report_limits *limits, struct profile **p);

/*
 * Does what view_apply() does. *place becomes an array, by node of the old tree: the node of the
 * new one to whose self the node's self was added; NODE_NONE: it is not in the new tree. The caller
 * frees it.
 */
int view_apply_placed(const struct view *v, const struct report_limits *limits,
		      struct profile **p, uint32_t **place);
