/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Definitions of several segments of one recording, recognised by their contents.
 *
 * The problem. An endless recording begins a new segment now and then, with ids from 1 on, and
 * defines all that it refers to again. A view that is open for days must not take the same stack
 * for another one each time.
 *
 * The idea. The view has ids of its own. Each definition that comes is looked for by its contents:
 * a string by its bytes, a frame by binary and address, a node by frame and parent, and so on,
 * where the references are own ids already, because what is referred to came before. An equal one
 * gives its own id, else there is a new one. A table leads from the ids of the segment that is
 * being read to own ids. It is dropped when the next segment begins.
 *
 *	part 1	STRING 1 "main", STRING 2 "read"	own ids 1 and 2
 *	part 2	STRING 1 "read"				own id 2: the table says 1 -> 2
 *
 *	live_ids_init(&ids)			0 or -ENOMEM, as all that return int
 *	live_ids_take(&ids, rec) ...		keeps a definition; other records are ignored
 *	live_ids_sample(&ids, &in, &out)	a sample with own ids
 *	live_ids_begin_segment(&ids)		the ids of the next segment mean other things
 *	live_ids_release(&ids)
 *
 * A reference to what the segment does not define becomes an own id that nothing defines, one for
 * each type, so that "[missing]" stays "[missing]". Each id of an undefined thread gets an own one,
 * because a REPEAT tells them apart.
 *
 * Limits. What can change while a thing stays the same is not compared (same_definition.h). The
 * first definition counts, as for the names of a frame, and learns what it lacked. Memory for code
 * made at run time (BINARY_ANON without a file) looks the same in all processes; each definition of
 * it is another one, so stacks in such code differ between segments, and have equal names.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/model/definition_joiner.h"
#include "src/model/record.h"

struct definition_store;

struct live_id_kind {
	uint32_t last;			/* own id that was given last */
	uint32_t missing;		/* own id that nothing defines; 0: none was needed yet */
	uint32_t *own;			/* by id of the segment; 0: not defined */
	size_t nr_own, cap_own;
};

struct live_ids {
	struct definition_store *store;	/* what own ids mean */
	struct definition_joiner known;	/* own ids by contents */
	struct live_id_kind kinds[RECORD_TAGS];
	struct rec_line *lines;		/* of the SYMBOL that is being translated */
	size_t cap_lines;
	uint64_t gaps;			/* ids that the segment has left out */
	uint32_t lost_threads;		/* undefined ones that have own ids */
	uint64_t refused;		/* definitions whose ids are out of all proportion */
};

int live_ids_init(struct live_ids *ids);
void live_ids_release(struct live_ids *ids);
void live_ids_begin_segment(struct live_ids *ids);

int live_ids_take(struct live_ids *ids, const struct record *rec);
/* Own ids for all that a sample refers to. 0 or -ENOMEM. */
int live_ids_sample(struct live_ids *ids, const struct rec_sample *in, struct rec_sample *out);
/* The own id of something of the segment; 0: the segment does not define it. */
uint32_t live_ids_own(const struct live_ids *ids, enum record_tag tag, uint32_t id);

/*
 * The own id of a definition whose references are own ids, made if it is new; *id is 0 after
 * -ENOMEM. Then *is_new says which, if it is not NULL.
 */
int live_ids_define(struct live_ids *ids, const struct record *rec, uint32_t *id, bool *is_new);
/* After a copy into ids, whose segment is being read: it may define other processes. */
int live_ids_reclaim(struct live_ids *ids);
uint32_t live_ids_missing(struct live_ids *ids, enum record_tag tag);
/* An own id that nothing defines, and nothing else has. */
uint32_t live_ids_undefined(struct live_ids *ids, enum record_tag tag);

/* Bytes of all this, the definitions included. */
size_t live_ids_bytes(const struct live_ids *ids);
