/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies what is still needed of the definitions of a live profile into a new table, so that all
 * else can be freed.
 *
 *	live_copy_init(&c, from, to)		0 or -ENOMEM
 *	live_copy_id(&c, tag, id) ...		the id in the new table, with all that it refers to
 *	live_copy_older(&c)			the stack "[older stacks]"
 *	c.failed				memory was short: the copy is of no use
 *	live_copy_release(&c)
 *
 * What is not defined stays undefined.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"

struct definition_store;
struct live_ids;

struct live_copy {
	const struct definition_store *from;
	struct live_ids *to;
	uint32_t *ids[RECORD_TAGS];	/* by old id; 0: not copied */
	uint32_t end[RECORD_TAGS];
	uint32_t *path;			/* of the stack that is being copied */
	size_t cap_path;
	struct rec_line *lines;
	size_t cap_lines;
	uint32_t older;			/* the node of "[older stacks]"; 0: not made yet */
	bool failed;
};

int live_copy_init(struct live_copy *c, const struct definition_store *from, struct live_ids *to);
void live_copy_release(struct live_copy *c);

uint32_t live_copy_id(struct live_copy *c, enum record_tag tag, uint32_t id);
/*
 * The id of a definition that the old table does not have; its references are ids of the new one.
 */
uint32_t live_copy_define(struct live_copy *c, const struct record *rec);
uint32_t live_copy_string(struct live_copy *c, const char *s);
/* A stack of one frame without code, which stands for stacks that are not told apart any more. */
uint32_t live_copy_older(struct live_copy *c);
