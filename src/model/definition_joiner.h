/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds definitions of a recording by their contents, for readers that make one recording of
 * several segments. Each segment defines again what it refers to, with ids of its own.
 *
 *	definition_joiner_begin(j)		the next segment
 *	id = definition_joiner_find(j, t, rec)	of the recording; IX_NONE: it has no equal one
 *	definition_joiner_add(j, rec, id)	it has now, with this id; or
 *	definition_joiner_meet(j, t, rec)	it has one
 *
 * rec: a definition whose references are ids of the recording. t: what its ids mean. What makes two
 * definitions the same stands in same_definition.h. Besides, a segment defines no process twice: if
 * two of them look equal, one is before an exec and the other behind it. Only a process without a
 * number (tgid 0), which stands for others, may come again.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "src/model/record.h"

struct definition_store;

/* All 0 at first. */
struct definition_joiner {
	struct hash_index index[RECORD_TAGS];	/* ids of the recording by contents */
	uint32_t *claimed;		/* by process: the number of the segment that has it */
	size_t cap_claimed;
	uint32_t segment;		/* 0, 1, ...: calls of begin */
};

void definition_joiner_release(struct definition_joiner *j);
void definition_joiner_begin(struct definition_joiner *j);
uint32_t definition_joiner_find(const struct definition_joiner *j, const struct definition_store *t,
				const struct record *rec);
/* 0 or -ENOMEM, as the next ones. */
int definition_joiner_add(struct definition_joiner *j, const struct record *rec, uint32_t id);
/*
 * The segment has a definition that was found, rec, with the id that it has in the recording. What
 * the first definition lacked goes into t.
 */
int definition_joiner_meet(struct definition_joiner *j, struct definition_store *t,
			   const struct record *rec);
/* The segment has this process, or any other definition: of those nothing is kept. */
int definition_joiner_claim(struct definition_joiner *j, enum record_tag tag, uint32_t id);
/* Adds all that a store has. The segment has none of it. */
int definition_joiner_add_all(struct definition_joiner *j, const struct definition_store *t);
size_t definition_joiner_memory(const struct definition_joiner *j);	/* bytes */
