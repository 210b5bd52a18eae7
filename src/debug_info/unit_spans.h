/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of the nodes of a unit, while its table is made. Internal to src/debug_info. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A part of the code of a node. */
struct unit_span {
	uint64_t lo, hi;
	uint32_t node;			/* or UNIT_UNREAD: of an entry that was not read */
	uint32_t around;		/* UNIT_UNREAD: the node that it is in */
};

/*
 * Sorts spans by where they begin. Those of the same address stay in the order in which they were
 * added: a node is after those that it is inlined in, and these begin no later. The array may be
 * replaced by another one. 0 or -ENOMEM.
 */
int unit_spans_sort(struct unit_span **v, size_t *cap, size_t nr);
