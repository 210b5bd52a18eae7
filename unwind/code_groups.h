/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values that differ by known numbers: a union-find with distances. Internal to code_window.c.
 *
 *	code_groups_init(&g, nr)	each value is a group of its own
 *	code_groups_join(&g, a, b, by)	value a = value b + by, from now on
 *	code_groups_tell(&g, a, ...)	the *level* of a value is known: how far below the CFA it is
 *	code_groups_level(&g, a, &l)
 *	code_groups_release(&g)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a level is known; a stronger one replaces a weaker one. */
enum code_evidence { CODE_UNKNOWN, CODE_BY_FILE, CODE_BY_PROLOGUE, CODE_BY_RETURN, CODE_BY_PATH };

struct code_group {
	uint32_t up;			/* towards the group's root */
	int32_t by;			/* this value minus that of up */
	uint32_t size;			/* of a root: values in its group */
	int32_t level;			/* of a root */
	uint8_t evidence;		/* of a root: enum code_evidence */
	bool is_bad;			/* of a root: it contradicts itself */
	bool is_marked;			/* of a root */
};

struct code_groups {
	struct code_group *v;
	size_t nr;
};

int code_groups_init(struct code_groups *g, size_t nr);		/* 0 or -ENOMEM */
void code_groups_release(struct code_groups *g);

/* The root of a's group; *by: value a minus that of the root. */
uint32_t code_groups_root(struct code_groups *g, uint32_t a, int32_t *by);

/*
 * false: it contradicts what is known, and nothing changes. Groups that are joined may have levels
 * already; if these contradict each other, they are not joined.
 */
bool code_groups_join(struct code_groups *g, uint32_t a, uint32_t b, int32_t by);

void code_groups_tell(struct code_groups *g, uint32_t a, int64_t level, enum code_evidence how);

/* Marks a's group, when all groups are joined. */
void code_groups_mark(struct code_groups *g, uint32_t a);
bool code_groups_is_marked(struct code_groups *g, uint32_t a);

void code_groups_spoil(struct code_groups *g, uint32_t a);	/* its group is bad */

/* false: it is not known, or the group is bad. */
bool code_groups_level(struct code_groups *g, uint32_t a, int32_t *level);
enum code_evidence code_groups_evidence(struct code_groups *g, uint32_t a);
bool code_groups_is_open(struct code_groups *g, uint32_t a);	/* not known, and not bad */
