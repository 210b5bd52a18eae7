/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of each function in a call tree, wherever it was called: its self, and its total, which
 * counts once where the function calls itself. Functions are told apart by name, kind and binary.
 * Synthetic nodes are not functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct profile;

struct function_cost {
	uint32_t name, binary;		/* profile_name() */
	uint8_t kind;			/* enum frame_kind */
	uint8_t flags;			/* NODE_... of all its nodes */
	uint64_t self, total;		/* weight */
	uint64_t self_samples, total_samples;
	uint32_t on_path;	/* while counting: number of its nodes on the way to the root */
};

struct function_list {
	struct function_cost *v;	/* by self, then total, both descending, then name */
	size_t nr, cap;
};

int function_list_init(struct function_list *l, const struct profile *p);	/* 0 or -ENOMEM */
void function_list_release(struct function_list *l);
