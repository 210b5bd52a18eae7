/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call trees built by hand for tests of renderers, without the code that folds traces.
 *
 *	struct profile p;
 *	tree_init(&p);
 *	tree_add(&p, "main;parse<int>_[i];sys_read_[k] 12");
 *	...
 *	tree_release(&p);
 *
 * A suffix gives the kind: _[k] kernel, _[i] inlined, _[j] JIT, _[b] BPF, _[s] synthetic, _[g] guessed;
 * " @file:line" behind it the source. Each sample weighs 1. Out of memory aborts.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"

static inline uint32_t tree_name(struct profile *p, const char *s, size_t len)
{
	return intern_bytes(p->names, s, len);
}

static inline uint32_t tree_node(struct profile *p, uint32_t parent, uint32_t name)
{
	struct node *nd = array_push(&p->nodes, &p->nr_nodes, &p->cap_nodes);

	if (!nd)
		abort();
	*nd = (struct node){ .parent = parent, .first_child = NODE_NONE, .next_sibling = NODE_NONE,
			     .name = name,
			     .depth = parent == NODE_NONE ? 0 : (uint16_t)(p->nodes[parent].depth + 1) };
	return (uint32_t)(p->nr_nodes - 1);
}

static inline void tree_init(struct profile *p)
{
	memset(p, 0, sizeof(*p));
	p->names = intern_new();
	if (!p->names)
		abort();
	tree_node(p, NODE_NONE, tree_name(p, "all", 3));
	p->facts = (struct profile_facts){ .host = "", .kernel = "", .tool = "", .argv = "", .event = "",
					   .unit = "samples", .noun = "samples", .thing = "samples", .shown = "", .amount = "", .title = "", .warning = "", .stacks = "", .not_whole = "", .scans = "" };
}

static inline void tree_release(struct profile *p)
{
	free(p->nodes);
	intern_free(p->names);
}

/* The child of this name, made in its place in the alphabet if it is new. */
static inline uint32_t tree_child(struct profile *p, uint32_t parent, const char *s, size_t len)
{
	uint32_t name = tree_name(p, s, len), before = NODE_NONE, at = p->nodes[parent].first_child, n;

	while (at != NODE_NONE && strcmp(intern_get(p->names, p->nodes[at].name, NULL),
					 intern_get(p->names, name, NULL)) < 0) {
		before = at;
		at = p->nodes[at].next_sibling;
	}
	if (at != NODE_NONE && p->nodes[at].name == name)
		return at;
	n = tree_node(p, parent, name);
	p->nodes[n].next_sibling = at;
	*(before == NODE_NONE ? &p->nodes[parent].first_child : &p->nodes[before].next_sibling) = n;
	return n;
}

static inline void tree_weigh(struct profile *p, uint32_t n, uint64_t self)
{
	p->nodes[n].self += self;
	p->nodes[n].self_samples += self;
	for (; n != NODE_NONE; n = p->nodes[n].parent) {
		p->nodes[n].total += self;
		p->nodes[n].total_samples += self;
	}
	p->facts.samples += self;
	p->facts.weight += self;
	p->facts.samples_total += self;
}

static inline void tree_mark(struct node *nd, char kind)
{
	nd->kind = kind == 'k' ? FRAME_KERNEL : kind == 'j' || kind == 'n' ? FRAME_JIT : kind == 'b' ? FRAME_BPF :
		kind == 's' ? FRAME_SYNTHETIC : nd->kind;
	nd->flags |= kind == 'i' ? NODE_INLINED : kind == 'g' ? NODE_GUESSED :
		kind == 's' ? NODE_SYNTHETIC : kind == 'n' ? NODE_INTERPRETED : 0;
}

static inline uint32_t tree_frame(struct profile *p, uint32_t parent, const char *s, size_t len)
{
	const char *at = memmem(s, len, " @", 2), *colon;
	size_t name_len = at ? (size_t)(at - s) : len, cut = name_len;
	uint32_t n;

	while (cut > 4 && s[cut - 1] == ']' && s[cut - 3] == '[' && s[cut - 4] == '_')
		cut -= 4;
	n = tree_child(p, parent, s, cut);
	for (size_t i = cut; i < name_len; i += 4)
		tree_mark(&p->nodes[n], s[i + 2]);
	if (at) {
		colon = memchr(at, ':', len - name_len);
		p->nodes[n].file = tree_name(p, at + 2, (size_t)(colon - at) - 2);
		p->nodes[n].line = (uint32_t)atoi(colon + 1);
	}
	return n;
}

/* Adds one folded line; returns its leaf. */
static inline uint32_t tree_add(struct profile *p, const char *folded)
{
	const char *end = strrchr(folded, ' ');
	uint32_t n = 0;

	for (const char *s = folded; s < end;) {
		const char *e = memchr(s, ';', (size_t)(end - s));

		if (!e)
			e = end;
		n = tree_frame(p, n, s, (size_t)(e - s));
		s = e + 1;
	}
	tree_weigh(p, n, strtoull(end + 1, NULL, 10));
	return n;
}
