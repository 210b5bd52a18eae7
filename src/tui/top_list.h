/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that the Top view lists, and those of the mark. Adding them up takes time in
 * proportion to the tree, so it is done once for each tree and not for each key.
 *
 *	top_list(t)		of the tree that is shown, in the order that is chosen; NULL: out of
 *				memory. Borrowed until the tree is another one
 *	top_list_then(t, f)	what a function cost when the mark was set; NULL: it was not there
 *	top_list_release(l)	all zero before and after
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/render/function_list.h"

struct minute_function;
struct tui;

struct top_list {
	struct function_list all;
	uint64_t tree;			/* t->tree_serial of it; 0: there is none */
	bool by_total;
	struct minute_function *then;
	size_t nr_then;
	uint64_t mark;			/* t->mark_serial likewise */
};

const struct function_list *top_list(struct tui *t);
const struct minute_function *top_list_then(struct tui *t, const struct function_cost *f);
void top_list_release(struct top_list *l);
